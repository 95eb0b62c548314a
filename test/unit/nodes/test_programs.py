"""The nodes' programs in their first moments. Real processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from test.programs import console_scripts

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = {
    name: (module, function)
    for name, module, function in console_scripts(ROOT / 'setup.py')
    if name.endswith('_node')
}
INTERRUPTED = """
import os
import signal

os.kill(os.getpid(), signal.{})
raise SystemExit(3)
"""
"""Stands for the first of ROS that a node imports."""


def run(folder: Path, name: str, number: str) -> 'subprocess.CompletedProcess[str]':
    """Start a program, which gets a signal as soon as it imports anything of ROS."""
    for package in ('rclpy', 'remembr_msgs', 'lifecycle_msgs', 'diagnostic_msgs'):
        (folder / f'{package}.py').write_text(INTERRUPTED.format(number))
    module, function = PROGRAMS[name]
    return subprocess.run(
        [sys.executable, '-c', f'from {module} import {function}\n{function}()'],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join((str(folder), str(ROOT)))},
        capture_output=True,
        text=True,
        timeout=100.0,
        check=False,
    )


@pytest.mark.parametrize('name', PROGRAMS)
def test_a_ctrl_c_while_a_node_is_imported_ends_it_quietly(tmp_path: Path, name: str) -> None:
    ended = run(tmp_path, name, 'SIGINT')
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, '', '')


def test_so_does_sigterm(tmp_path: Path) -> None:
    ended = run(tmp_path, 'memory_node', 'SIGTERM')
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, '', '')


def test_a_signal_that_came_before_python_was_there_ends_it_as_quietly() -> None:
    module, function = PROGRAMS['memory_node']
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:  # which the program inherits, as from the launch file
        process = subprocess.Popen(
            [sys.executable, '-c', f'from {module} import {function}\n{function}()'],
            cwd=ROOT,
            stderr=subprocess.PIPE,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100.0)
    assert (process.returncode, err) == (0, b'')


def test_a_program_imports_next_to_nothing_before_it_listens_to_signals() -> None:
    shown = 'import sys; from remembr_ros.nodes import programs; print(*sys.modules)'
    done = subprocess.run([sys.executable, '-c', shown], cwd=ROOT, capture_output=True, text=True, check=True)
    own = {name for name in done.stdout.split() if name.startswith('remembr_ros')}
    assert own == {'remembr_ros', 'remembr_ros.nodes', 'remembr_ros.nodes.programs', 'remembr_ros.stop'}
    assert not {'rclpy', 'numpy', 'asyncio'} & set(done.stdout.split())
