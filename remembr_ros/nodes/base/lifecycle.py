"""Running a node as a process, and bringing up nodes that run elsewhere."""

import logging
import math
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

import rclpy
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.exceptions import ParameterException
from rclpy.executors import Executor, ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from remembr_ros.errors import NodeUnavailable
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.printable import printable
from remembr_ros.stop import Stop, stop_on_signals

_STEPS = {
    State.PRIMARY_STATE_UNCONFIGURED: (Transition.TRANSITION_CONFIGURE, 'configured'),
    State.PRIMARY_STATE_INACTIVE: (Transition.TRANSITION_ACTIVATE, 'activated'),
}

TRY_S = 5.0  # [s] a call to a node that is brought up is made again after this time
PORT_OFFSETS = range(51, 151, 2)  # odd, within the 250 ports of a domain: the even ones are for discovery
LOADING_S = 1.0  # [s] a node that loads is given so long to finish before its process ends


def run(make_node: Callable[[], ManagedNode], args: list[str] | None = None) -> None:
    """Run a lifecycle node until SIGINT or SIGTERM, then let it finish its work."""
    with until_signal(args) as stop:
        with fast_dds_profiles():
            node = make_node()
        with python_log(node.get_logger()), spinning(node) as executor:
            if node.parameters.autostart:
                executor.create_task(autostart, node)  # not waited for: a signal may come while a model loads
            stop.wait()
            node.ending = True
            node.linger()
            if not wound_down(executor, node) or node.is_busy_behind():
                leave_at_once(node)


@contextmanager
def until_signal(args: list[str] | None = None) -> Iterator[Stop]:
    """Have rclpy inside; what comes is set by SIGINT and SIGTERM.

    :raises SystemExit: a node cannot be made of its parameters; standard error says why
    """
    stop = stop_on_signals()
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    try:
        yield stop
    except ParameterException as error:
        sys.exit(f'wrong parameter: {error}')
    finally:
        rclpy.try_shutdown()


class _RosLog(logging.Handler):
    """Hands records on to a node's log: from any thread, and when the node is no more."""

    def __init__(self, log: RcutilsLogger, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._log = log
        self._at_it = False  # under the handler's lock: what comes meanwhile is of its own making

    def emit(self, record: logging.LogRecord) -> None:
        if self._at_it:
            return
        self._at_it = True
        try:
            text = printable(self.format(record)).strip()
            if not record.name.startswith('remembr_ros'):
                text = f'{record.name}: {text}'
            if record.levelno >= logging.ERROR:
                self._log.error(text)
            elif record.levelno >= logging.WARNING:
                self._log.warning(text)
            elif record.levelno >= logging.INFO:
                self._log.info(text)
            else:
                self._log.debug(text)
        except Exception:  # noqa: BLE001  as logging's own handlers: who logs shall not fail by it
            self.handleError(record)
        finally:
            self._at_it = False


@contextmanager
def python_log(log: RcutilsLogger) -> Iterator[None]:
    """Have Python's logging in the log of a process's node, and nowhere else.

    This package's as far as the node's level goes; of other libraries, and of `warnings`, from WARNING on.
    """
    own, root = logging.getLogger('remembr_ros'), logging.getLogger()
    level, before = own.level, (own.propagate, own.handlers[:], root.handlers[:])
    own.setLevel(log.get_effective_level())
    own.propagate, own.handlers[:], root.handlers[:] = False, [_RosLog(log)], [_RosLog(log, logging.WARNING)]
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        own.propagate, own.handlers[:], root.handlers[:] = before
        own.setLevel(level)


@contextmanager
def spinning(node: Node) -> Iterator[Executor]:
    """Have a node's callbacks executed in a thread; in the end the node is destroyed."""
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    ended = threading.Event()
    thread = threading.Thread(target=spin, args=(executor, ended), name='executor', daemon=True)
    thread.start()
    try:
        yield executor
    finally:
        end_spin(executor, ended, thread)
        node.destroy_node()


@contextmanager
def fast_dds_profiles() -> Iterator[None]:
    """Have the process's first node made by fast_dds.xml; who has profiles of their own keeps those.

    Three faults of Fast DDS are avoided by them:

    A client's reader of responses and its writer of requests are announced apart. Where the announcement of
    the reader was dropped on its way, DDS repeats it, most often within 1 s, at times after 5 s, and until
    then there is nobody to respond to: rmw_fastrtps waits 0.1 s, warns `failed to send response (timeout)`
    and drops the response, for which the client, whose service_is_ready says that all is well, waits for ever
    (ros2/rmw_fastrtps#842). The profile makes that 10 s, which end once the reader is known.

    Where a process was killed just as it took a message out of its port of shared memory, those who wrote to
    it write on into that port, which is deleted, and its successor, whose port has the same number, hears
    nothing of them as long as they live (eProsima/Fast-DDS#5469). So each process has an offset of its own.

    A process that starts announces itself five times within 0.5 s, and then every 3 s. Where another starts
    at the same moment, or was killed just before, these are often in vain, and a node is heard after 3 to
    9 s. The profile has it announced for 5 s, and it is heard after about 1 s.
    """
    names = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')  # Fast DDS 2 and 3
    if any(name in os.environ for name in names):
        yield
        return
    profiles = Path(__file__).with_name('fast_dds.xml')
    with ExitStack() as until_read:  # once, by the first node
        with suppress(OSError):  # nowhere to write: without an offset of its own
            own = Path(until_read.enter_context(TemporaryDirectory(prefix='remembr-'))) / profiles.name
            offset = f'<offsetd3>{secrets.choice(PORT_OFFSETS)}</offsetd3>'
            own.write_text(profiles.read_text().replace('<offsetd3>11</offsetd3>', offset))
            profiles = own
        os.environ.update(dict.fromkeys(names, str(profiles)))
        try:
            yield
        finally:
            for name in names:
                del os.environ[name]


def spin(executor: Executor, ended: threading.Event) -> None:
    """Execute callbacks until ended is set (and the executor woken); a callback that fails is logged."""
    log = rclpy.logging.get_logger('remembr.executor')
    while not ended.is_set():
        try:
            executor.spin_once()
        except (ExternalShutdownException, ShutdownException):
            return
        except Exception as error:  # noqa: BLE001  the top of a thread; e.g. a message with broken text
            if ended.is_set():
                return  # the executor was shut down meanwhile
            log.error(f'a callback failed: {type(error).__name__}: {error}')


def end_spin(
    executor: Executor, ended: threading.Event, thread: threading.Thread, wait_s: float = 2.0
) -> None:
    """End the thread of spin, then shut its executor down.

    Not the other way round: where the executor is shut down while its thread gathers what to wait for, the
    guard that would wake the thread is gone, and it waits for ever. A task is what spin_once returns after.
    """
    ended.set()
    executor.create_task(lambda: None)
    thread.join(wait_s)
    executor.shutdown()


def wound_down(executor: Executor, node: ManagedNode) -> bool:
    """Take a node out of service in its executor's thread; return False if it will not come to that soon.

    It may be in any state. Its own work is waited for; a model that loads is not: nothing is there to save.
    """
    begun, done = threading.Event(), threading.Event()

    def end() -> None:
        begun.set()
        try:
            if not node.finalized:
                node.trigger_shutdown()
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
    started = bool(node.trigger_configure() == success and node.trigger_activate() == success)
    if not started:
        name = node.get_fully_qualified_name()
        node.get_logger().error(f'not started; when the cause is gone: ros2 lifecycle set {name} configure')
    return started


def bring_up(node: Node, names: Sequence[str], timeout_s: float = 60.0) -> None:
    """Configure and activate lifecycle nodes, in this order; those that are active already stay so.

    :param node: makes the calls; it spins in another thread
    :param names: full names of the nodes, such as '/remembr/memory'
    :param timeout_s: for all of them together [s]
    :raises NodeUnavailable: a node does not answer in time, or refuses a transition
    """
    deadline = time.monotonic() + timeout_s
    for name in names:
        refused = None
        while True:
            request = GetState.Request()
            response = call(node, GetState, f'{name}/get_state', request, deadline, again_s=TRY_S)
            state = response.current_state.id
            if state == State.PRIMARY_STATE_ACTIVE:
                break
            if state not in _STEPS:
                raise NodeUnavailable(f'{name} is in state {state} and cannot be brought up; start it again')
            transition, done = _STEPS[state]
            if state == refused:
                raise NodeUnavailable(f'{name} could not be {done}; its log says why')
            request = ChangeState.Request(transition=Transition(id=transition))
            try:
                soon = min(deadline, time.monotonic() + TRY_S)
                response = call(node, ChangeState, f'{name}/change_state', request, soon)
            except NodeUnavailable:
                continue  # it may be at it all the same: its state will tell
            if not response.success:
                refused = state  # if it is in another one by now, as where it starts itself, that was done


def call(
    node: Node, kind: type[Any], name: str, request: Any, deadline: float, *, again_s: float = math.inf
) -> Any:
    """Call a service and return its response.

    :param node: it spins in another thread
    :param deadline: on time.monotonic()
    :param again_s: without a response the request is sent again after this time, for DDS hands one to a
        killed node for a while, and nodes of others drop responses to new clients; only for requests that may
        come twice [s]
    :raises NodeUnavailable: there is no such service, or no response, in time
    """
    client = node.create_client(kind, name)
    try:
        if not client.wait_for_service(max(0.0, deadline - time.monotonic())):
            raise NodeUnavailable(f'there is no service {name}; is the node running, in this ROS_DOMAIN_ID?')
        answers: SimpleQueue[Future] = SimpleQueue()
        while (left_s := deadline - time.monotonic()) > 0.0:
            client.call_async(request).add_done_callback(answers.put)
            with suppress(Empty):
                return answers.get(timeout=min(again_s, left_s)).result()
        raise NodeUnavailable(f'service {name} did not respond in time')
    finally:
        node.destroy_client(client)
