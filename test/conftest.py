"""What holds for every test: one thread for each library's sums, and no clock on an example."""

import os

# Before numpy and torch are there: a test runs on each core, and threads that wait for each other there spin.
for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ.setdefault(name, '1')

from hypothesis import settings  # noqa: E402

settings.register_profile('remembr', deadline=None)
settings.load_profile('remembr')
