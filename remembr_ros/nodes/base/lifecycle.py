"""Running a node as a process, and bringing up nodes that run elsewhere."""

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.exceptions import ParameterException
from rclpy.executors import Executor, ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from remembr_ros.errors import NodeUnavailable
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.stop import stop_on_signals

_STEPS = {
    State.PRIMARY_STATE_UNCONFIGURED: (Transition.TRANSITION_CONFIGURE, 'configured'),
    State.PRIMARY_STATE_INACTIVE: (Transition.TRANSITION_ACTIVATE, 'activated'),
}


TRY_S = 5.0
"""A call to a node that is brought up is made again after this time [s]."""

LOADING_S = 1.0
"""A node that loads is given so long to finish before its process ends [s]."""


def run(make_node: Callable[[], ManagedNode], args: Sequence[str] | None = None) -> int:
    """Run a lifecycle node until SIGINT or SIGTERM, then let it finish its work.

    :return: exit code: 0 after a signal, 1 when the node cannot be made
    """
    stop = stop_on_signals()
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = make_node_or_explain(make_node)
        if node is None:
            return 1
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        ended = threading.Event()
        thread = threading.Thread(target=spin, args=(executor, ended), name='executor', daemon=True)
        thread.start()
        if node.parameters.autostart:
            executor.create_task(autostart, node)  # not waited for: a signal may come while a model loads
        stop.wait()
        node.ending = True
        node.linger()
        if not wound_down(executor, node) or node.is_busy_behind():
            leave_at_once(node)
        ended.set()
        executor.shutdown(timeout_sec=2.0)
        thread.join(2.0)
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
    return 0


def make_node_or_explain(make_node: Callable[[], Any]) -> Any:
    """Return the node; None, with the reason on standard error, if its parameters are wrong."""
    try:
        return make_node()
    except ParameterException as error:
        sys.stderr.write(f'wrong parameter: {error}\n')
        return None


def spin(executor: Executor, ended: threading.Event) -> None:
    """Execute callbacks until ended is set (and the executor woken); a callback that fails is logged."""
    log = rclpy.logging.get_logger('remembr.executor')
    while not ended.is_set():
        try:
            executor.spin_once()
        except (ExternalShutdownException, ShutdownException):
            return
        except Exception as error:  # noqa: BLE001  the top of a thread; e.g. a message with broken text
            log.error(f'a callback failed: {type(error).__name__}: {error}')


def wound_down(executor: Executor, node: ManagedNode) -> bool:
    """Take a node out of service in its executor's thread; return False if it will not come to that soon.

    Its own work is waited for; a model that loads is not, for there is nothing to save yet.
    """
    begun, done = threading.Event(), threading.Event()

    def end() -> None:
        begun.set()
        try:
            wind_down(node)
        finally:
            done.set()

    executor.create_task(end)
    patient_until = time.monotonic() + LOADING_S
    while not begun.wait(0.05):
        if node.loading and time.monotonic() > patient_until:
            return False
    done.wait()
    return True


def leave_at_once(node: ManagedNode) -> None:
    """End the process while a library is still busy in another thread: an orderly end would wait for it."""
    node.get_logger().warning('ended while it was loading')
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def autostart(node: ManagedNode) -> bool:
    """Configure and activate a node from within its process; the log says why it does not work."""
    success = TransitionCallbackReturn.SUCCESS
    started = node.trigger_configure() == success and node.trigger_activate() == success
    if not started:
        name = node.get_fully_qualified_name()
        node.get_logger().error(f'not started; when the cause is gone: ros2 lifecycle set {name} configure')
    return started


def wind_down(node: ManagedNode) -> None:
    """Take a node out of service, whatever state it is in."""
    if not node.finalized:
        node.trigger_shutdown()


def bring_up(node: Node, names: Sequence[str], timeout_s: float = 60.0) -> None:
    """Configure and activate lifecycle nodes, in this order; those that are active already stay so.

    :param node: makes the calls; it may be spinning in another thread, or not at all
    :param names: full names of the nodes, such as '/remembr/memory'
    :param timeout_s: for all of them together [s]
    :raises NodeUnavailable: a node does not answer in time, or refuses a transition
    """
    deadline = time.monotonic() + timeout_s
    for name in names:
        while (state := _state(node, name, deadline)) != State.PRIMARY_STATE_ACTIVE:
            if state not in _STEPS:
                raise NodeUnavailable(f'{name} is in state {state} and cannot be brought up; start it again')
            transition, done = _STEPS[state]
            request = ChangeState.Request(transition=Transition(id=transition))
            try:
                soon = min(deadline, time.monotonic() + TRY_S)
                response = call(node, ChangeState, f'{name}/change_state', request, soon)
            except NodeUnavailable:
                continue  # it may be at it all the same: its state will tell
            if not response.success:
                raise NodeUnavailable(f'{name} could not be {done}; its log says why')


def _state(node: Node, name: str, deadline: float) -> int:
    response = call(node, GetState, f'{name}/get_state', GetState.Request(), deadline, again_s=TRY_S)
    return int(response.current_state.id)


def call(
    node: Node, kind: Any, name: str, request: Any, deadline: float, *, again_s: float = math.inf
) -> Any:
    """Call a service and return its response.

    :param deadline: on time.monotonic()
    :param again_s: without a response the request is sent again after this time, for DDS may lose one that
        goes to a client as new as this; only for requests that may come twice [s]
    :raises NodeUnavailable: there is no such service, or no response, in time
    """
    client = node.create_client(kind, name)
    executor = None
    if node.executor is None:
        executor = SingleThreadedExecutor(context=node.context)
        executor.add_node(node)
    try:
        if not client.wait_for_service(max(0.0, deadline - time.monotonic())):
            raise NodeUnavailable(f'there is no service {name}; is the node running, in this ROS_DOMAIN_ID?')
        answered, heard = Future(), threading.Event()
        while not answered.done():
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise NodeUnavailable(f'service {name} did not respond in time')
            client.call_async(request).add_done_callback(lambda one: (answered.set_result(one), heard.set()))
            if executor is not None:
                executor.spin_until_future_complete(answered, min(again_s, left))
            else:
                heard.wait(min(again_s, left))
        return answered.result().result()
    finally:
        if executor is not None:
            node.executor = None  # which also removes it
            executor.shutdown()
        node.destroy_client(client)
