"""The base class of the lifecycle nodes: parameters, readable failures, diagnostics."""

import dataclasses
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from enum import IntEnum
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import SetParametersResult
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.timer import Timer

from remembr_ros.errors import RemembrError
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.base.declaration import declare_parameters, read_parameters, unknown_overrides
from remembr_ros.nodes.base.parameters import NodeParameters
from remembr_ros.nodes.base.services import STEADY
from remembr_ros.nodes.base.topic_watch import PATIENCE_S, TopicWatch
from remembr_ros.nodes.base.twins import TwinWatch

NAMESPACE = '/remembr'

ChangeStateCallback = Callable[[ChangeState.Request, ChangeState.Response], ChangeState.Response]

END_S = 0.7  # [s] when the process ends, for work that may also be left undone


class Level(IntEnum):
    """How a node is, in its diagnostics."""

    OK = 0
    WARN = 1
    ERROR = 2


class ManagedNode(LifecycleNode):
    """A lifecycle node whose transitions fail with a reason in the log, and can be tried again.

    A subclass overrides :meth:`load`, :meth:`start`, :meth:`stop`, :meth:`release` and :meth:`diagnose`, and,
    where it has parameters that can be changed at any time, :meth:`adapt`.

    :param kwargs: handed on to the node; namespace is /remembr unless given or remapped
    """

    def __init__(self, name: str, parameters: type[NodeParameters], **kwargs: Any) -> None:
        super().__init__(name, namespace=kwargs.pop('namespace', NAMESPACE), **kwargs)
        self._service_change_state.callback = self._respond_always(self._service_change_state.callback)
        self._parameters_class = parameters
        self._configured = False
        self.active = False
        """Whether it does its work now."""
        self._active_since = 0.0
        self.finalized = False
        self.ending = False
        """Whether the process ends: then nothing is waited for that may also be left undone."""
        self.loading = False
        """Whether the node is being configured: that may take long, and there is nothing to save."""
        self.topics = TopicWatch(self)
        """Every subscription of the node, so that publishers which do not match are reported."""
        self.twins = TwinWatch(self)
        """Other nodes that would answer what this one is asked."""
        self.while_configured = self.topics.ends
        """Closed after release was called: ends what load publishes, subscribes and offers."""
        self.while_active = ExitStack()
        """Closed before stop is called: ends what start publishes, subscribes and offers, and its timers."""
        self.parameters: NodeParameters = declare_parameters(self, parameters)
        if unknown := unknown_overrides(self):
            self.get_logger().warning(f'parameters that do not exist here are ignored: {", ".join(unknown)}')
        self.add_on_set_parameters_callback(self._refuse_what_cannot_change)
        self.add_post_set_parameters_callback(self._take_over)
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self.create_timer(1.0, self._publish_diagnostics, clock=STEADY)

    # What a subclass does

    def check(self, parameters: Any) -> None:
        """Raise InvalidRequest where parameters do not go together, or one makes no sense."""

    def adapt(self) -> None:
        """Go by self.parameters, in which some that can be changed at any time have changed."""

    def load(self) -> None:
        """Load models and connect, from self.parameters. A RemembrError says why that is not possible."""

    def start(self) -> None:
        """Subscribe and offer services."""

    def stop(self) -> None:
        """End what start began; work that is under way is finished, within a bounded time."""

    def release(self) -> None:
        """Give back what load took; also called after a load that failed half-way."""

    def linger(self) -> None:
        """Wait, in another thread than the executor's, for what others still send before the process ends."""

    def is_busy_behind(self) -> bool:
        """Tell whether a library is at work in a thread that cannot be ended."""
        return False

    def diagnose(self) -> tuple[Level, str, Mapping[str, object]]:
        """Return how the node is, a short message and the figures to show; called by the executor."""
        return Level.OK, '', {}

    # What ends with the state that it was made in, as subscriptions do

    def advertise(self, kind: type[Any], topic: str, profile: QoSProfile) -> Publisher:
        """Return a publisher that ends by itself."""
        publisher = self.create_publisher(kind, topic, profile)
        self.topics.ends.callback(self.destroy_publisher, publisher)
        return publisher

    def offer(self, kind: type[Any], name: str, callback: Callable[[Any, Any], Any]) -> None:
        """Offer a service; a request that awaits something does not keep the next one waiting."""
        group = ReentrantCallbackGroup()
        service = self.create_service(kind, name, callback, qos_profile=qos.SERVICES, callback_group=group)
        self.topics.ends.callback(self.destroy_service, service)

    def every(self, period_s: float, callback: Callable[[], None]) -> Timer:
        """Call something periodically, by the steady clock."""
        timer = self.create_timer(period_s, callback, clock=STEADY)
        self.topics.ends.callback(self.destroy_timer, timer)
        return timer

    # What rclpy calls

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.parameters = read_parameters(self, self._parameters_class)
        self.loading, self.topics.ends = True, self.while_configured
        self.twins.open(self.while_configured)
        self._configured = self._attempt('configure', self._check_and_load)
        self.loading = False
        if not self._configured:
            self._give_back()
            return TransitionCallbackReturn.FAILURE
        self.twins.say('inactive')
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.topics.ends, self._active_since = self.while_active, time.monotonic()
        self.active = self._attempt('activate', self.start)
        if not self.active:
            self._take_out_of_service()
            return TransitionCallbackReturn.FAILURE
        self.twins.say('active')
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._take_out_of_service()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._give_back()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.finalized = True
        if self.active:
            self._take_out_of_service()
        if self._configured:
            self._give_back()
        return super().on_shutdown(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.get_logger().error(
            f'{self.get_name()} failed in state {state.label}; it starts over unconfigured'
        )
        self._take_out_of_service()
        self._give_back()
        return TransitionCallbackReturn.SUCCESS

    def now_ns(self) -> int:
        """Return the node's time, simulated or not, in nanoseconds since the epoch."""
        return self.get_clock().now().nanoseconds

    @property
    def starting(self) -> bool:
        """Whether it is so new that others, started at the same time, may be on their way."""
        return time.monotonic() - self._active_since < PATIENCE_S

    def within_s(self, timeout_s: float) -> float:
        """Return how long to wait for what may be left undone: so long, but not when the process ends."""
        return min(timeout_s, END_S) if self.ending else timeout_s

    def _respond_always(self, change_state: ChangeStateCallback) -> ChangeStateCallback:
        """Return a service's callback that refuses a transition which is not possible now.

        rclpy's own raises, so that there is no response, for which a lifecycle manager would wait.
        """

        def callback(request: ChangeState.Request, response: ChangeState.Response) -> ChangeState.Response:
            try:
                return change_state(request, response)
            except rclpy_implementation.RCLError:  # rcl_lifecycle has logged it
                response.success = False
                return response

        return callback

    def _check_and_load(self) -> None:
        self.check(self.parameters)
        self.load()

    def _take_out_of_service(self) -> None:
        self.active = False
        self._attempt('deactivate', self.while_active.close)
        self._attempt('deactivate', self.stop)
        self.twins.say('inactive')

    def _give_back(self) -> None:
        self._attempt('clean up', self.release)
        self._attempt('clean up', self.while_configured.close)
        self.twins.say('unconfigured')
        self._configured = False

    def _attempt(self, action: str, step: Callable[[], None]) -> bool:
        try:
            step()
        except Exception as error:  # noqa: BLE001  a transition's callback: rclpy would drop the reason
            kind = '' if isinstance(error, RemembrError) else f'{type(error).__name__}: '
            self.get_logger().error(f'cannot {action}: {kind}{error}')
            return False
        return True

    def _own(self, parameters: list[Parameter]) -> dict[str, Any]:
        """Return the new values of this node's own parameters, by name; none before it is configured."""
        known = {field.name for field in dataclasses.fields(self._parameters_class)}
        return {given.name: given.value for given in parameters if self._configured and given.name in known}

    def _refuse_what_cannot_change(self, parameters: list[Parameter]) -> SetParametersResult:
        own, reason = self._own(parameters), ''
        live = {field.name for field in dataclasses.fields(self._parameters_class) if field.metadata['live']}
        if fixed := [name for name in own if name not in live]:
            reason = f'{", ".join(fixed)} is read on configure: deactivate and clean up the node first'
        elif own:
            try:
                self.check(dataclasses.replace(self.parameters, **own))
            except RemembrError as error:
                reason = str(error)
        return SetParametersResult(successful=not reason, reason=reason)

    def _take_over(self, parameters: list[Parameter]) -> None:
        if new := self._own(parameters):
            self.parameters = dataclasses.replace(self.parameters, **new)
            values = ', '.join(f'{name} = {value!r}' for name, value in new.items())
            self.get_logger().info(f'changed: {values}')
            self._attempt('go by the new parameters', self.adapt)

    def _publish_diagnostics(self) -> None:
        if self.active:
            level, message, values = self.diagnose()
            if problem := self.topics.problem():
                level, message = max(level, Level.WARN), '; '.join(filter(None, (problem, message)))
            message = '; '.join(filter(None, (message, self.topics.hint)))
        else:
            level, message, values = Level.OK, 'inactive' if self._configured else 'unconfigured', {}
        self.twins.look()
        if problem := self.twins.problem:
            level, message = Level.ERROR, '; '.join(filter(None, (problem, message)))
        status = DiagnosticStatus(
            level=bytes([level]),
            name=f'{self.get_fully_qualified_name()}: status',
            message=message,
            hardware_id=self.parameters.robot,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = time_to_msg(time.time_ns())  # wall time: monitors compare it with their own
        self._diagnostics.publish(array)
