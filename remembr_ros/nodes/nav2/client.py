"""Driving by Nav2's actions: NavigateToPose for one place, FollowWaypoints for several.

Everything here runs in the executor's thread, and no wait is without an end, whoever sends the goals: this
node, or a BasicNavigator of nav2_simple_commander (docs/navigation.md).
"""

import time
from functools import partial

from rclpy.node import Node

from remembr_ros.errors import (
    Cancelled,
    NavigationRefused,
    NavigationTimedOut,
    NavigationUnavailable,
    Preempted,
    RemembrError,
)
from remembr_ros.nodes.base.services import STEADY, first_of, until
from remembr_ros.nodes.base.worker_pool import settle
from remembr_ros.nodes.nav2.action import Cancelling, MakeAction, Nav2Action, Nav2Drive, nav2_actions
from remembr_ros.nodes.nav2.parameters import NavigationParameters
from remembr_ros.nodes.nav2.simple_commander import CommanderAction, SimpleCommander

WATCH_S = 0.1  # so often a drive is looked after [s]
GONE_S = 1.0  # a server not there for so long has gone; discovery may lose sight of it for a moment [s]


class Nav2Client:
    """Sends the robot to places; a newer drive takes the place of an older one.

    :raises InvalidRequest: nav2_msgs is not installed
    """

    def __init__(self, node: Node, parameters: NavigationParameters) -> None:
        self._node = node
        self.parameters = parameters
        """Of the next drives."""
        self._server_timeout_s = parameters.nav2_server_timeout
        make: MakeAction = partial(Nav2Action, node)
        if parameters.navigation == 'simple_commander':
            make = partial(CommanderAction, node, commander=SimpleCommander(node, parameters))
        self._one, self._several = nav2_actions(make, parameters.nav2_namespace)
        self._present: Nav2Drive | None = None
        self._drives: set[Nav2Drive] = set()
        self._cancelling = Cancelling(node, self._server_timeout_s, self._destroy_when_idle)
        self._closed = False

    def __len__(self) -> int:
        """Return how many drives, and responses that have to be acted on, are awaited."""
        return len(self._drives) + len(self._cancelling)

    @property
    def drives(self) -> bool:
        """Whether the robot is being driven, by whoever asked for it."""
        return bool(self._drives)

    def stop(self, error: RemembrError) -> None:
        """End every drive with this error, and have Nav2 cancel it."""
        for drive in list(self._drives):
            if not drive.stopped.done():
                settle(self._node, drive.stopped, error)
                self._cancelling.cancel(drive)

    def close(self) -> None:
        """End every drive and give the clients back, as soon as nothing has to be cancelled any more."""
        self._closed = True
        self.stop(Cancelled('the node was cleaned up'))
        self._one.close()  # at once: the process may end next
        self._destroy_when_idle()

    async def drive(self, drive: Nav2Drive) -> None:
        """Return when the robot has been at every place.

        :raises NavigationFailed: it has not; the class says how it ended
        :raises Cancelled: the drive was stopped with this
        """
        for older in self._drives - {self._present}:
            # Nav2 may take it later than this one, which would then give way to it.
            settle(self._node, older.stopped, Preempted('a newer question drives elsewhere'))
        self._drives.add(drive)
        try:
            server = drive.server = self._one if len(drive.goals) == 1 else self._several
            await self._find_server(drive, server)
            await self._make_way(drive)
            await self._send(drive, server)
            failure = await self._follow(drive, server)
        finally:
            self._drives.discard(drive)
            if self._present is drive:
                self._present = None
            self._destroy_when_idle()
        if failure is not None:
            raise failure

    async def _find_server(self, drive: Nav2Drive, server: Nav2Action) -> None:
        ready = await until(self._node, self._server_timeout_s, server.is_ready, drive.stopped)
        drive.raise_if_stopped()
        if not ready:
            raise NavigationUnavailable(
                f'there is no active action server {server.name}: start Nav2, set nav2_namespace, or set '
                'navigation to goal_pose'
            )

    async def _make_way(self, drive: Nav2Drive) -> None:
        """End a drive by the other action first; the same action hands over without a stop.

        Nav2's waypoint follower, when it is cancelled, cancels whatever drives: the newer drive, too.
        """
        older = self._present
        if older is not None and older.server is not drive.server:
            self._preempt(older)
            assert older.result is not None
            await first_of(self._node, self._server_timeout_s, older.result, drive.stopped)

    async def _send(self, drive: Nav2Drive, server: Nav2Action) -> None:
        limit_s = self._server_timeout_s
        drive.raise_if_stopped()
        drive.heard_at = time.monotonic()
        sent = server.send(drive)
        await first_of(self._node, limit_s, sent, drive.stopped)
        if not sent.done():
            # Nav2 may still accept it, when nobody wants it any more.
            self._cancelling.cancel_if_accepted(drive, sent, self.parameters.drive_timeout)
            drive.raise_if_stopped()
            silent = NavigationTimedOut(
                f'{server.name} did not say within {limit_s:g} s whether it takes the goal; see its log'
            )
            settle(self._node, drive.stopped, silent)
            raise silent
        handle = drive.handle = sent.result()
        if not handle.accepted:
            raise NavigationRefused(
                f'{server.name} refused the goal: is Nav2 active (ros2 lifecycle get /bt_navigator), and the '
                'robot localised?'
            )
        if drive.stopped.done():
            self._cancelling.cancel(drive)
            drive.raise_if_stopped()

    async def _follow(self, drive: Nav2Drive, server: Nav2Action) -> RemembrError | None:
        assert drive.handle is not None
        result = drive.result = drive.handle.get_result_async()
        if self._present is not None:
            self._preempt(self._present)
        self._present = drive
        drive.heard_at = time.monotonic()
        drive.on_taken()
        timeout_s = self.parameters.drive_timeout
        timer = self._node.create_timer(WATCH_S, lambda: self._watch(drive, server), clock=STEADY)
        try:
            await first_of(self._node, timeout_s, result, drive.stopped)
        finally:
            self._node.destroy_timer(timer)
        if drive.stopped.done():
            self._cancelling.cancel(drive)
            error: RemembrError = drive.stopped.result()
            return error
        if result.done():
            return server.verdict(drive)
        self._cancelling.cancel(drive)
        return NavigationTimedOut(
            f'the robot did not arrive within {timeout_s:g} s; raise drive_timeout, or ask again'
        )

    def _watch(self, drive: Nav2Drive, server: Nav2Action) -> None:
        now = time.monotonic()
        name = server.name
        silence_s = self.parameters.nav2_silence_timeout
        if server.is_ready():
            drive.missing_since = None
        elif drive.missing_since is None:
            drive.missing_since = now
        elif now - drive.missing_since > GONE_S:
            gone = NavigationUnavailable(f'the action server {name} has gone; start Nav2 again and ask again')
            settle(self._node, drive.stopped, gone)
        if now - drive.heard_at > silence_s:
            silent = NavigationTimedOut(
                f'{name} has not told of its way for {silence_s:g} s; see its log, or raise '
                'nav2_silence_timeout'
            )
            settle(self._node, drive.stopped, silent)

    def _preempt(self, older: Nav2Drive) -> None:
        settle(self._node, older.stopped, Preempted('a newer question sends the robot elsewhere'))
        self._cancelling.cancel(older)

    def _destroy_when_idle(self) -> None:
        if self._closed and not len(self):
            self._one.destroy()
            self._several.destroy()
