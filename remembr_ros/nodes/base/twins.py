"""Notices another node of the same name: either would answer."""

import os
import secrets
import socket
import time
from contextlib import ExitStack

from rclpy.node import Node
from std_msgs.msg import String

from remembr_ros.errors import NodeUnavailable
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import MAX_NAME
from remembr_ros.printable import printable

STALE_S = 5.0  # [s] a twin that has said nothing for so long is gone; DDS knows a killed one for up to 20 s


class TwinWatch:
    """Tells who this node is and its state, on topic ~/instance, and hears who else has its name.

    Only those count that are configured, and so may answer. A process that was killed stays in DDS for a
    while, but says nothing any more.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._own = f'process {os.getpid()} on {socket.gethostname()}, {secrets.token_hex(3)}'
        self._heard_at: dict[str, float] = {}  # replaced, never changed: other threads read it
        self._publisher = node.create_publisher(String, '~/instance', qos.MARKERS)
        self._state = self._told = ''
        self.say('new')

    def say(self, state: str = '') -> None:
        """Tell the state: new, unconfigured, configuring, inactive or active; empty: the same again."""
        self._state = state or self._state
        self._publisher.publish(String(data=f'{self._state}: {self._own}'))

    def open(self, ends: ExitStack) -> None:
        """Listen for others until the node is cleaned up."""
        hears = self._node.create_subscription(String, '~/instance', self._on_word, qos.TF_STATIC)
        ends.callback(setattr, self, '_heard_at', {})
        ends.callback(self._node.destroy_subscription, hears)
        self.say('configuring')

    @property
    def problem(self) -> str:
        """Who else is called so, and what to do; empty: nobody, as far as is known."""
        twins = ', '.join(self._heard_at)
        if not twins or self._node.count_publishers(self._publisher.topic_name) < 2:
            return ''
        name = self._node.get_fully_qualified_name()
        return (
            f'another node is called {name}, {twins}; this one is {self._own}: end one of them (a leftover '
            'of an earlier run?), or give each robot a namespace (namespace:=robot1)'
        )

    def raise_if_any(self) -> None:
        """Return if this node is the only one that answers under its name.

        :raises NodeUnavailable: it is not; says who else does
        """
        if problem := self.problem:
            raise NodeUnavailable(f'not answered, for two would answer: {problem}')

    def look(self) -> None:
        """Look for others, and tell the log of a change; called once a second."""
        since = time.monotonic() - STALE_S
        self._heard_at = {who: at for who, at in self._heard_at.items() if at > since}
        if self._heard_at:
            self.say()
        problem = self.problem
        if problem != self._told:
            log = self._node.get_logger()
            log.error(problem) if problem else log.info('no other node is called so any more')
            self._told = problem

    def _on_word(self, msg: String) -> None:
        state, _, who = printable(msg.data[:MAX_NAME]).partition(': ')
        if who == self._own:
            return
        known, counts = who in self._heard_at, state not in ('new', 'unconfigured')
        others = {name: at for name, at in self._heard_at.items() if name != who}
        self._heard_at = others | {who: time.monotonic()} if counts else others
        if counts and not known:
            self.say()  # at once: it may be asked next
            self.look()
