"""What holds for every test: one thread for each library's sums, and no clock on an example."""

import os

for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ.setdefault(
        name, '1'
    )  # before numpy and torch are there: as many tests run at once as there are cores

from hypothesis import settings  # noqa: E402

settings.register_profile('remembr', deadline=None)
settings.load_profile('remembr')
