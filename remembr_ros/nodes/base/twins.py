"""Notices another node of the same name, or with the same services: either would answer."""

import os
import secrets
import socket
import time
from contextlib import ExitStack, suppress

from rclpy.node import Node, NodeNameNonExistentError
from std_msgs.msg import String

from remembr_ros.errors import NodeUnavailable
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import MAX_NAME
from remembr_ros.printable import printable

STALE_S = 5.0  # [s] a twin that has said nothing for so long is gone; DDS knows a killed one for up to 20 s


class TwinWatch:
    """Tells who this node is and its state, on topic ~/instance, and hears who else has its name.

    Only those count that are configured, and so may answer. A process that was killed stays in DDS for a
    while, but says nothing any more. Other nodes that offer the same services are known by the graph alone.

    :param node: spins; its services are those that are added to services
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._own = f'process {os.getpid()} on {socket.gethostname()}, {secrets.token_hex(3)}'
        self._heard_at: dict[str, float] = {}  # replaced, never changed: other threads read it
        self._others: set[str] = set()
        self.services: list[str] = []
        """Names, in full, of what is offered now."""
        self._publisher = node.create_publisher(String, '~/instance', qos.MARKERS)
        self._told = ''
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
        """Who else is called or answers so, and what to do; empty: nobody, as far as is known."""
        name, twins = self._node.get_fully_qualified_name(), self._heard_at
        if twins and self._node.count_publishers(self._publisher.topic_name) < 2:
            twins = {}
        if not twins and not self._others:
            return ''
        found = [f'another node is called {name}, {who}; this one is {self._own}' for who in twins]
        found += [f'{other} offers the services of {name}, too' for other in sorted(self._others)]
        return (
            f'{"; ".join(found)}: end one of them (a leftover of an earlier run?), or give each robot a '
            'namespace (namespace:=robot1)'
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
        self._others = self._with_the_same_services()
        problem = self.problem
        if problem != self._told:
            log = self._node.get_logger()
            log.error(problem) if problem else log.info('no other node is called so any more')
            self._told = problem

    def _on_word(self, msg: String) -> None:
        state, _, who = printable(msg.data[:MAX_NAME]).partition(': ')
        if who == self._own:
            return
        others = {name: at for name, at in self._heard_at.items() if name != who}
        known = len(others) < len(self._heard_at)
        counts = state not in ('new', 'unconfigured')
        self._heard_at = others | ({who: time.monotonic()} if counts else {})
        if counts and not known:
            self.say()  # at once: it may be asked next
            self.look()

    def _with_the_same_services(self) -> set[str]:
        if all(self._node.count_services(service) < 2 for service in self.services):
            return set()
        own = self._node.get_fully_qualified_name()
        found = set()
        for name, namespace in self._node.get_node_names_and_namespaces():
            full = f'{namespace.rstrip("/")}/{name}'
            with suppress(NodeNameNonExistentError):  # gone meanwhile
                offered = {s for s, _ in self._node.get_service_names_and_types_by_node(name, namespace)}
                if full != own and not offered.isdisjoint(self.services):
                    found.add(full)
        return found
