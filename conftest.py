"""What holds for every test: one thread for each library's sums, and no clock on an example."""

import faulthandler
import os
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

# Before numpy and torch are there: a test runs on each core, and threads that wait for each other there spin.
for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ.setdefault(name, '1')

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

# Before pytest, which names tests by their folders, takes one of two folders for the whole of test.unit, and
# remembr_bench/ for the package of that name.
import test.unit  # noqa: E402, F401

with suppress(ImportError):
    import remembr_bench  # noqa: F401

settings.register_profile('remembr', deadline=None)
settings.load_profile('remembr')

_CRASHES = pytest.StashKey[IO[str]]()

LONG = (
    'test_real_models.py',
    'test_scene_text_building.py',
    'test_loop_unbreakable.py',
    'test_small_model.py',
    'test_page_outage.py',
    'test_replay.py',
    'test_demo_documented.py',
)
"""Files whose few tests take minutes: begun last, one of three workers would be left alone with them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files for xdist, which takes them as they come: those first, then by the number of tests."""
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path.name not in LONG, -tests[item.path]))


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a long text by its beginning: some have megabytes, which workers would hand about with tests."""
    return f'{val[:30]!r}...{len(val)}' if isinstance(val, str | bytes) and len(val) > 200 else None


@pytest.hookimpl(trylast=True)  # after pytest's own, whose traces go by with all else that is printed
def pytest_configure(config: pytest.Config) -> None:
    """Have a worker that crashes say where in a file, which is shown at the end."""
    if not hasattr(config, 'workerinput'):  # else a worker, which inherits the name and ends first
        path = Path(tempfile.gettempdir(), f'{os.getpid()}.crashes')
        path.write_text('')
        os.environ['TEST_CRASHES'] = str(path)
        config.add_cleanup(path.unlink)
    config.stash[_CRASHES] = open(os.environ['TEST_CRASHES'], 'a')  # noqa: SIM115  kept open
    faulthandler.enable(config.stash[_CRASHES])


@pytest.hookimpl(optionalhook=True)  # of xdist, which runs the test again in a new worker
def pytest_handlecrashitem(report: Any) -> None:
    """Take it for no failure of a test that Fast DDS crashed while a node of it was destroyed.

    Seen once with a trace (Fast DDS 2.14.5): a segmentation fault below rclpy's destroy_node in the main
    thread, as a robot was closed, while no other thread of Python was in rclpy. Every other crash fails.
    """
    crashed = Path(os.environ['TEST_CRASHES']).read_text().rpartition('Fatal Python error')[2]
    where = crashed.partition('Current thread')[2].splitlines()[1:2]
    if where and 'rclpy/node.py' in where[0] and where[0].endswith('in destroy_node'):
        report.outcome = 'skipped'
        report.longrepr = (str(report.fspath), 0, f'Skipped: Fast DDS crashed{where[0]}; run again')


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show where workers crashed."""
    if traces := Path(os.environ['TEST_CRASHES']).read_text():
        terminalreporter.section('crashes')
        terminalreporter.write_line(traces)
