"""Driving by a BasicNavigator of nav2_simple_commander, or a class derived from it, in a thread of its own.

Its waits know no end. Whoever wants to drive waits for it by the deadlines of the client, and the thread is
called out of a wait from beneath: by a timer wherever BasicNavigator spins, and by its log, which each turn
of its other loops writes to.
"""

import importlib
import math
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.task import Future

from remembr_ros.errors import InvalidRequest, NavigationFailed, NavigationTimedOut, NavigationUnavailable
from remembr_ros.nodes.base.conversions import stamped_pose_to_msg
from remembr_ros.nodes.base.services import STEADY
from remembr_ros.nodes.base.worker_pool import settle
from remembr_ros.nodes.nav2.action import Nav2Action, Nav2Drive
from remembr_ros.nodes.nav2.parameters import NavigationParameters

TICK_S = 0.05  # [s] a cancel waits for so long at most, while BasicNavigator spins
SLICE_S = 0.1  # [s] so long as isTaskComplete spins
FLUSH_S = 1.0  # [s] a node that ends waits for so long until its cancels are on their way

_REFUSED = SimpleNamespace(accepted=False)
_SPINNING = threading.Lock()  # BasicNavigator spins the one executor that all of a process have in common


class _OverError(Exception):
    """Raised into a wait of BasicNavigator that is to end."""


class _HookedNode(Node):
    """Between BasicNavigator and rclpy's node: calls what is hooked to its ticks and to its logging."""

    on_tick: Callable[[], None] = staticmethod(lambda: None)
    on_log: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # The arguments of the process would name and place this node like the agent's.
        super().__init__(*arguments, use_global_arguments=False, **options)
        self.create_timer(TICK_S, self._on_timer, clock=STEADY)

    def get_logger(self) -> Any:
        self.on_log()
        return super().get_logger()  # type: ignore[no-untyped-call]

    def _on_timer(self) -> None:
        self.on_tick()


class CommandedGoal:
    """Stands for rclpy's handle of a goal, which only the commander's thread may use."""

    accepted = True

    def __init__(self, handle: Any, cancel: Callable[[], Future]) -> None:
        self.goal_id = handle.goal_id
        self.result = Future()
        self.cancel_goal_async = cancel

    def get_result_async(self) -> Future:
        return self.result


class SimpleCommander:
    """A BasicNavigator and its thread, which begins with waitUntilNav2Active.

    :raises InvalidRequest: there is no such class, or nav2_simple_commander is not installed
    """

    def __init__(self, node: Node, parameters: NavigationParameters) -> None:
        self._node = node
        self._class = _navigator_class(parameters.simple_commander_class)
        self._namespace = parameters.nav2_namespace.rstrip('/')
        self._server_timeout_s = parameters.nav2_server_timeout
        self._drive_timeout_s = parameters.drive_timeout
        self._navigator: Any = None
        self._goals: queue.SimpleQueue[tuple[Nav2Drive, Future] | None] = queue.SimpleQueue()
        self._soon: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()  # done by the next tick
        self._awaited: dict[Future, tuple[Future, float]] = {}  # BasicNavigator's: for whom, until when
        self._present: Nav2Drive | None = None
        self._feedback: Any = None
        self._goal_until = self._until = math.inf
        self.active = False
        """Whether Nav2 is, so that goals are sent."""
        self._thread = threading.Thread(target=self._run, name='simple_commander', daemon=True)
        self._thread.start()

    def send(self, drive: Nav2Drive) -> Future:
        """Have a goal sent; what completes has the handle of the goal."""
        sent = Future()
        self._goals.put((drive, sent))
        return sent

    def close(self) -> None:
        """Wait until all cancels are on their way, not for long; the thread ends when they are answered."""
        sent = threading.Event()
        self._soon.put(sent.set)
        if self._awaited and self._thread.is_alive():
            sent.wait(FLUSH_S)
        limit_s = self._server_timeout_s if self._awaited else 0.0
        if self._goal_until < math.inf:  # Nav2 may still accept it, when nobody wants it any more
            limit_s = self._drive_timeout_s
        self._until = time.monotonic() + limit_s
        self._goals.put(None)

    def _run(self) -> None:
        try:
            while not _SPINNING.acquire(timeout=SLICE_S):  # of the drives before the node was cleaned up
                self._raise_if_over()
        except _OverError:
            return
        try:
            options = {'namespace': self._namespace} if self._namespace else {}
            self._navigator = self._class(**options)
            self._navigator.on_tick, self._navigator.on_log = self._tick, self._raise_if_over
            # With any other localizer it could tell AMCL that the robot stands at the map's origin.
            self._navigator.waitUntilNav2Active(localizer='robot_localization')
            self.active = True
            while self._until == math.inf or self._awaited:
                self._go_on()
        except _OverError:
            pass
        except Exception as error:  # noqa: BLE001  the top of a thread
            if rclpy.ok() and self._until == math.inf:
                self._node.get_logger().error(f'{self._failed(error)}; there are no drives any more')
        finally:
            self.active = False
            while not self._goals.empty():
                if (waiting := self._goals.get()) is not None:
                    settle(self._node, waiting[1], _REFUSED)
            with suppress(Exception):  # rclpy may be shut down by now
                self._navigator.on_log = lambda: None
                self._navigator.destroy_node()
            _SPINNING.release()

    def _go_on(self) -> None:
        try:
            wanted = self._goals.get(block=not self._awaited and self._soon.empty())
        except queue.Empty:
            self._spin()
        else:
            if wanted is not None:
                self._take(*wanted)

    def _spin(self) -> None:
        self._raise_if_over()
        try:
            if self._navigator.isTaskComplete():
                rclpy.spin_once(self._navigator, timeout_sec=SLICE_S)
        except _OverError:
            raise
        except Exception as error:  # noqa: BLE001  the class may be anybody's
            self._give_up(error)
            with suppress(Exception):  # for the cancel, whatever else fails again
                rclpy.spin_once(self._navigator, timeout_sec=SLICE_S)

    def _take(self, drive: Nav2Drive, sent: Future) -> None:
        if drive.stopped.done():  # nobody waits for it any more
            settle(self._node, sent, _REFUSED)
            return
        poses = [stamped_pose_to_msg(goal) for goal in drive.goals]
        before = self._navigator.goal_handle
        failure: NavigationFailed | None = None
        self._goal_until = time.monotonic() + self._drive_timeout_s
        try:
            if len(poses) == 1:
                self._navigator.goToPose(poses[0])
            else:
                self._navigator.followWaypoints(poses)
        except _OverError:
            failure = NavigationTimedOut(
                f'{self._class.__name__} has not sent a goal within {self._drive_timeout_s:g} s; see its log'
            )
        except Exception as error:  # noqa: BLE001  the class may be anybody's
            failure = NavigationUnavailable(self._failed(error))
        finally:
            self._goal_until = math.inf
        # Not what was returned, which a class that adds to BasicNavigator's may well forget to hand on.
        handle = self._navigator.goal_handle
        taken = handle is not before and handle is not None and handle.accepted
        if failure is not None or not taken:
            if taken:
                self._cancel(handle, self._navigator.result_future)
            settle(self._node, sent, _REFUSED, error=failure)
            return
        theirs = self._navigator.result_future
        goal = CommandedGoal(handle, partial(self._cancel, handle, theirs))
        self._awaited[theirs] = (goal.result, math.inf)
        self._present = drive
        settle(self._node, sent, goal)

    def _cancel(self, handle: Any, result: Future) -> Future:
        response = Future()

        def cancel() -> None:
            # A server that has gone answers neither, and nobody waits for that any longer.
            until = time.monotonic() + self._server_timeout_s
            self._awaited[handle.cancel_goal_async()] = (response, until)
            if result in self._awaited:
                self._awaited[result] = (self._awaited[result][0], until)

        self._soon.put(cancel)
        self._goals.put(None)  # which wakes the thread
        return response

    def _tick(self) -> None:
        while not self._soon.empty():
            self._soon.get()()
        for theirs, (ours, until) in list(self._awaited.items()):
            if theirs.done():
                settle(self._node, ours, theirs.result())
            if theirs.done() or time.monotonic() > until:
                del self._awaited[theirs]
        self._raise_if_over()
        drive, executor = self._present, self._node.executor
        if drive is None or drive.result is None or drive.result.done() or executor is None:
            return
        try:
            feedback = self._navigator.getFeedback()
        except Exception as error:  # noqa: BLE001  not into a wait for Nav2's yes, which would be lost
            self._give_up(error)
            return
        if feedback is not None and feedback is not self._feedback:
            self._feedback = feedback
            executor.create_task(partial(drive.heard, SimpleNamespace(feedback=feedback)))

    def _give_up(self, error: Exception) -> None:
        if self._present is not None:
            settle(self._node, self._present.stopped, NavigationUnavailable(self._failed(error)))
            self._present = None

    def _raise_if_over(self) -> None:
        if not rclpy.ok() or time.monotonic() > min(self._until, self._goal_until):
            raise _OverError

    def _failed(self, error: Exception) -> str:
        return f'{self._class.__name__} failed: {type(error).__name__}: {error}'


class CommanderAction(Nav2Action):
    """An action of Nav2's whose goals the commander sends."""

    def __init__(self, node: Node, kind: type[Any], name: str, commander: SimpleCommander) -> None:
        super().__init__(node, kind, name)
        self._commander = commander

    def close(self) -> None:
        self._commander.close()

    def is_ready(self) -> bool:
        return self._commander.active and super().is_ready()

    def send(self, drive: Nav2Drive) -> Future:
        return self._commander.send(drive)


def _navigator_class(given: str) -> type[Any]:
    module, _, name = given.partition(':')
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidRequest(
            f'there is no {given!r} to drive with ({error}): apt install '
            "ros-$ROS_DISTRO-nav2-simple-commander, give simple_commander_class as 'module:Class', or set "
            'navigation to nav2'
        ) from error
    if not (isinstance(found, type) and issubclass(found, Node)):
        raise InvalidRequest(f'simple_commander_class {given!r} is no class that derives from BasicNavigator')
    return type(found.__name__, (found, _HookedNode), {})
