"""A node with nothing to do sleeps. Real processes, whose threads' wakeups the kernel counts."""

from itertools import pairwise
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray

if not Path('/proc/self/task').is_dir():
    pytest.skip('needs /proc, as of Linux', allow_module_level=True)

BEATS = 4
"""Diagnostics, of which a node publishes one a second."""


def wakeups(pid: int) -> int:
    """Return how often the process's threads have waited so far; those of DDS and gRPC have names."""
    count = 0
    for task in Path(f'/proc/{pid}/task').iterdir():
        status = dict(line.split(':', 1) for line in (task / 'status').read_text().splitlines())
        if status['Name'].strip().startswith(('python', 'pytest')):
            count += int(status['voluntary_ctxt_switches'])
    return count


@pytest.mark.timeout(120)
def test_a_node_that_idles_wakes_for_little_more_than_its_diagnostics(robot, processes, tmp_path):
    heard = robot.listen(DiagnosticArray, '/diagnostics')
    options = {
        'memory': {'uri': tmp_path / 'm.db', 'embedder': 'hashing', 'autostart': True},
        'captioner': {'captioner': 'none', 'pose_source': 'none', 'flush_after': 0.5, 'autostart': True},
        'agent': {'pose_source': 'none', 'autostart': True},
        'events': {'pose_source': 'none', 'autostart': True},
        'speech': {},
    }
    running = {name: processes.start(name, **given) for name, given in options.items()}

    def active(name: str) -> bool:
        told = [one for array in heard for one in array.status if one.name == f'/remembr/{name}: status']
        return bool(told) and (told[-1].message not in ('unconfigured', 'inactive') or name == 'speech')

    def beats(name: str) -> int:
        return sum(array.status[0].name == f'/remembr/{name}: status' for array in heard)

    for name in running:
        robot.wait(lambda name=name: active(name), f'{name} active', 60.0)

    def reading() -> dict[str, tuple[int, int]]:
        return {name: (beats(name), wakeups(process.pid)) for name, process in running.items()}

    readings = [reading()]
    for _ in range(BEATS):
        told = readings[-1]
        robot.wait(lambda told=told: all(beats(name) > told[name][0] for name in running), 'diagnostics')
        readings.append(reading())
    for name in running:
        # Threads that wait for a core wake more often (16 times for 8): the quietest time counts.
        each = min(
            (after[name][1] - before[name][1]) / (after[name][0] - before[name][0])
            for before, after in pairwise(readings)
        )
        # Of the memory node's, a second one is the markers'; of the captioner's, two are its flush_after.
        # The events node hears everybody's diagnostics.
        most = 10.0 + (len(running) if name == 'events' else 0)
        assert each < most, f'{name} wakes {each:.0f} times a second'
