"""Launch files as they are installed, ended with the test."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from test.programs import console_scripts

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = '#!{python}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n'


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """An install space of the package, as colcon makes it."""
    prefix = tmp_path / 'install'
    index = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'remembr_ros').touch()
    share = prefix / 'share' / 'remembr_ros'
    share.mkdir()
    for folder in ('config', 'launch'):
        (share / folder).symlink_to(ROOT / folder)
    programs = prefix / 'lib' / 'remembr_ros'
    programs.mkdir(parents=True)
    for name, module, function in console_scripts(ROOT / 'setup.py'):
        program = programs / name
        program.write_text(PROGRAM.format(python=sys.executable, module=module, function=function))
        program.chmod(0o755)
    return prefix


@pytest.fixture
def start(prefix: Path, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Starts a launch file; one at a time."""
    from test.launch.launched import Launched

    made: list[Launched] = []

    def start(name: str, **arguments: Any) -> Any:
        made.append(Launched(prefix, tmp_path, name, **arguments))
        return made[-1]

    yield start
    for launched in made:
        launched.close()
