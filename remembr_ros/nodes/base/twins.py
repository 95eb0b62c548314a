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
    """Tells, on topic ~/instance, who this node is, and hears who else says that of the same name.

    Other nodes that offer the same services are known by the graph alone. A process that was killed stays in
    it for a while, but under the name that its successor has, and says nothing any more.

    :param node: spins; its services are those that are added to services
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._own = f'process {os.getpid()} on {socket.gethostname()}, {secrets.token_hex(3)}'
        self._heard_at: dict[str, float] = {}  # replaced, never changed: other threads read it
        self._others: set[str] = set()
        self.services: list[str] = []
        """Names, in full, of what is offered now."""
        self._topic = node.resolve_topic_name('~/instance')
        self._said = ''

    def open(self, ends: ExitStack) -> None:
        """Say who this node is from now on, which will answer, until it is cleaned up.

        :param ends: what is closed then
        """
        self._publisher = self._node.create_publisher(String, self._topic, qos.MARKERS)
        hears = self._node.create_subscription(String, self._topic, self._on_word, qos.TF_STATIC)
        ends.callback(self._node.destroy_publisher, self._publisher)
        ends.callback(self._node.destroy_subscription, hears)
        ends.callback(setattr, self, '_heard_at', {})
        self._say()

    @property
    def problem(self) -> str:
        """Who else is called or answers so, and what to do; empty: nobody, as far as is known."""
        name, twins = self._node.get_fully_qualified_name(), self._heard_at
        if twins and self._node.count_publishers(self._topic) < 2:
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
            self._say()
        self._others = self._with_the_same_services()
        problem = self.problem
        if problem != self._said:
            log = self._node.get_logger()
            log.error(problem) if problem else log.info('no other node is called so any more')
            self._said = problem

    def _say(self) -> None:
        self._publisher.publish(String(data=self._own))

    def _on_word(self, msg: String) -> None:
        who, now = printable(msg.data[:MAX_NAME]), time.monotonic()
        if who == self._own:
            return
        known, self._heard_at = who in self._heard_at, self._heard_at | {who: now}
        if not known:
            self._say()  # at once: it may be asked next
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
