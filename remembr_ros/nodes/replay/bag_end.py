"""Waits at the end of a replayed bag until its captions are stored, or nothing goes on.

    python -m remembr_ros.nodes.replay.bag_end /remembr/captioner ... [--patience 300]

Exit code 1: something is left, and standard error says what.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from std_srvs.srv import Trigger

from remembr_ros.nodes.base.lifecycle import spinning, until_signal
from remembr_ros.nodes.base.managed_node import NAMESPACE

PATIENCE_S = 300.0  # for the next caption [s]
LEFT = ('not placed yet', 'waiting', 'not stored yet')  # in diagnostics: what is still to be done
SURE = 2  # so often in a row nothing has to be left: the last images may just be coming in


class Remainder:
    """What captioners have left to do, by their diagnostics.

    :param captioners: their full names
    :param flush: has the captioner of a name end the segment that it is at
    """

    def __init__(self, captioners: Sequence[str], flush: Callable[[str], None]) -> None:
        self._left: dict[str, dict[str, int] | None] = dict.fromkeys(captioners)
        self._done = dict.fromkeys(captioners, 0)
        self._flush = flush
        self.progress_at = time.monotonic()  # when one of the figures last changed

    @property
    def is_nothing(self) -> bool:
        """Whether all is stored."""
        return all(times >= SURE for times in self._done.values())

    def hear(self, status: DiagnosticStatus) -> None:
        """Take what one node says; a captioner that is not active has nothing left."""
        name = status.name.partition(':')[0]
        if name not in self._left:
            return
        figures = {value.key: int(value.value) for value in status.values if value.key in LEFT}
        if figures != self._left[name]:
            self._left[name] = figures
            self.progress_at = time.monotonic()
        self._done[name] = 0 if any(figures.values()) else self._done[name] + 1
        if figures.get(LEFT[0]):
            self._flush(name)

    def __str__(self) -> str:
        parts = []
        for name, figures in self._left.items():
            if figures is None:
                parts.append(f'{name} says nothing')
            elif any(figures.values()):
                parts.append(f'{name}: ' + ', '.join(f'{count} {unit}' for unit, count in figures.items()))
        return '; '.join(parts)


def wait(captioners: Sequence[str], patience_s: float) -> int:
    """Wait until nothing is left, nothing has changed for so long, or a signal comes.

    :return: exit code: 1 if something is left though there was time
    """
    with until_signal([]) as stop:
        node = Node('bag_end', namespace=NAMESPACE)
        clients = {name: node.create_client(Trigger, f'{name}/flush') for name in captioners}

        def flush(name: str) -> None:
            # No response is waited for, since DDS may lose it: the figures tell.
            if clients[name].service_is_ready():
                clients[name].call_async(Trigger.Request())

        left = Remainder(captioners, flush)

        def hear(array: DiagnosticArray) -> None:
            for status in array.status:
                left.hear(status)
            if left.is_nothing:
                stop.set()

        node.create_subscription(DiagnosticArray, '/diagnostics', hear, 100)
        given_up = False
        with spinning(node):
            while not given_up and not stop.wait(max(0.0, left.progress_at + patience_s - time.monotonic())):
                given_up = time.monotonic() >= left.progress_at + patience_s
    if given_up:
        sys.stderr.write(
            f'not all of the bag is remembered, and nothing has changed for {patience_s:g} s: {left}. '
            'See the log of the nodes; what is kept without a caption is described by: remembr recaption\n'
        )
    return int(given_up)


def main(arguments: Sequence[str] | None = None) -> None:
    """Wait until all is remembered."""
    parser = argparse.ArgumentParser(prog='bag_end', description=(__doc__ or '').splitlines()[0])
    parser.add_argument('captioner', nargs='+', help='full name of a node, such as /remembr/captioner')
    parser.add_argument('--patience', type=float, default=PATIENCE_S, help='for the next caption [s]')
    options = parser.parse_args(arguments)
    sys.exit(wait(options.captioner, options.patience))


if __name__ == '__main__':
    main()
