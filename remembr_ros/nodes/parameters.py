"""The parameters of every node: one frozen dataclass per node, from which the descriptors are made."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

POSE_SOURCES = ('tf', 'odometry', 'pose_with_covariance', 'pose', 'navsat', 'none')
TRANSPORTS = ('auto', 'raw', 'compressed')


def _parameter(
    default: Any,
    text: str,
    *,
    unit: str = '',
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    read_only: bool = False,
) -> Any:
    """Return a dataclass field that describes a parameter.

    :param low: smallest value that makes sense; with high the range that ROS enforces
    :param choices: the values that a text may have; empty: any
    :param read_only: true: can only be set when the node starts
    """
    about = {'text': text, 'unit': unit, 'low': low, 'high': high}
    about |= {'choices': tuple(choices), 'read_only': read_only}
    return dataclasses.field(default=default, metadata=about)


def _about_list(text: str, *, unit: str = '', read_only: bool = False) -> dict[str, Any]:
    """Return the metadata of a list that is empty unless it is set."""
    return dict(_parameter(None, text, unit=unit, read_only=read_only).metadata)


def _autostart() -> Any:
    return _parameter(False, 'configure and activate without a lifecycle manager', read_only=True)


@dataclasses.dataclass(frozen=True)
class PoseParameters:
    """Where a node takes the robot's pose from."""

    pose_source: str = _parameter('pose_with_covariance', 'what the pose is taken from', choices=POSE_SOURCES)
    map_frame: str = _parameter('map', 'frame that positions refer to (pose_source tf: its root)')
    base_frame: str = _parameter('base_link', 'frame of the robot (pose_source tf)')
    map_id: str = _parameter('', 'name of the map that the robot is on; empty if there is only one')
    datum: list[float] = dataclasses.field(
        default_factory=list,
        metadata=_about_list(
            'latitude, longitude and altitude of the map origin (pose_source navsat); '
            'empty: the first fix, which differs at every start',
            unit='deg, deg, m',
        ),
    )


@dataclasses.dataclass(frozen=True)
class CaptionerParameters(PoseParameters):
    """Parameters of the captioner node."""

    autostart: bool = _autostart()
    robot: str = _parameter('robot', 'name of the robot, kept with each memory')
    captioner: str = _parameter('scene_text', 'captioner: scene_text, openai or none')
    captioner_model: str = _parameter('', 'model of the captioner; empty: its default')
    captioner_url: str = _parameter('', 'server of the captioner openai; the key comes from OPENAI_API_KEY')
    image_transport: str = _parameter(
        'auto', 'auto: whichever of image and image/compressed arrives first', choices=TRANSPORTS
    )
    segment_length: float = _parameter(3.0, 'length of a segment', unit='s', low=0.5, high=600.0)
    sample_rate: float = _parameter(2.0, 'frames looked at in a segment', unit='Hz', low=0.1, high=30.0)
    max_gap: float = _parameter(
        1.5, 'a longer pause of the camera ends a segment', unit='s', low=0.1, high=60.0
    )
    keyframes: int = _parameter(2, 'frames kept with each memory', low=0, high=10)
    flush_after: float = _parameter(
        3.0, 'end a segment when no image came for so long (wall time)', unit='s', low=0.1, high=600.0
    )
    pose_max_age: float = _parameter(
        0.5, 'a pose counts that near to an image', unit='s', low=0.01, high=60.0
    )
    pose_hold: float = _parameter(
        0.0,
        'a pose stays valid so long when no newer one comes (AMCL is silent while the robot stands); '
        '0: pose_max_age',
        unit='s',
        low=0.0,
        high=86400.0,
    )
    queue_size: int = _parameter(32, 'segments that may wait for the captioner', low=1, high=10000)
    drain_timeout: float = _parameter(
        10.0, 'on deactivation, wait so long for waiting segments', unit='s', low=0.0, high=600.0
    )


@dataclasses.dataclass(frozen=True)
class MemoryParameters:
    """Parameters of the memory node."""

    autostart: bool = _autostart()
    robot: str = _parameter('robot', 'name of the robot that notes without a robot belong to')
    map_frame: str = _parameter('map', 'frame of the markers, and of notes without a frame')
    uri: str = _parameter('remembr.db', 'the store: a file (Milvus Lite) or http(s):// of a Milvus server')
    collection: str = _parameter('memories', 'name of the collection in the store')
    embedder: str = _parameter('', 'embedding model by name or path; empty: the best one installed')
    queue_size: int = _parameter(1000, 'captions that may wait to be stored', low=1, high=100000)
    batch_size: int = _parameter(16, 'captions stored at once', low=1, high=1000)
    retry_period: float = _parameter(
        2.0, 'try again so long after the store was out of reach', unit='s', low=0.05, high=600.0
    )
    drain_timeout: float = _parameter(
        10.0, 'on deactivation, wait so long for waiting captions', unit='s', low=0.0, high=600.0
    )
    marker_count: int = _parameter(500, 'newest memories shown as markers', low=0, high=100000)


@dataclasses.dataclass(frozen=True)
class AgentParameters(PoseParameters):
    """Parameters of the agent node."""

    autostart: bool = _autostart()
    llm: str = _parameter('', "language model; empty: its server's default, or the offline planner")
    llm_url: str = _parameter('', 'server that speaks the OpenAI chat API; the key comes from OPENAI_API_KEY')
    rounds: int = _parameter(3, 'rounds of recall per question', low=1, high=10)
    calls_per_round: int = _parameter(3, 'recalls per round', low=1, high=10)
    memories_per_call: int = _parameter(5, 'memories per recall', low=1, high=50)
    timeout: float = _parameter(
        60.0, 'deadline of a question that names none', unit='s', low=0.1, high=3600.0
    )
    recall_timeout: float = _parameter(
        5.0, 'wait so long for the memory node', unit='s', low=0.05, high=600.0
    )
    parallel_questions: int = _parameter(4, 'questions answered at the same time', low=1, high=64)
    navigate_on_topic: bool = _parameter(
        False, 'true: a place in the answer to a question by topic becomes a goal, too'
    )


@dataclasses.dataclass(frozen=True)
class BagPlayerParameters:
    """Parameters of the bag player node."""

    bag: str = _parameter('', 'rosbag2 folder or file, or ROS 1 bag', read_only=True)
    rate: float = _parameter(1.0, 'times real speed', low=0.01, high=1000.0, read_only=True)
    topics: list[str] = dataclasses.field(
        default_factory=list, metadata=_about_list('play only these topics; empty: all', read_only=True)
    )
    loop: bool = _parameter(False, 'start again at the end', read_only=True)
    start_delay: float = _parameter(
        0.0,
        'wait so long before the first message (wall time)',
        unit='s',
        low=0.0,
        high=3600.0,
        read_only=True,
    )
    wait_for_subscribers: float = _parameter(
        0.0,
        'wait at most so long (wall time) until an image topic is subscribed',
        unit='s',
        low=0.0,
        high=3600.0,
        read_only=True,
    )


@dataclasses.dataclass(frozen=True)
class SpeechParameters:
    """Parameters of the speech node."""

    autostart: bool = _autostart()
    whisper_model: str = _parameter('small', 'Whisper model: tiny to large-v3, a hub name, or a folder')
    device: str = _parameter('auto', 'where Whisper runs: auto, cpu or cuda')
    compute_type: str = _parameter(
        'auto', 'numbers that Whisper computes with, such as int8; auto: the fastest'
    )
    language: str = _parameter('', 'language spoken, such as en; empty: detected')
    wake_phrases: str = _parameter(
        'robot, hey robot', 'what a question begins with, separated by commas; empty: all speech is questions'
    )
    sample_rate: int = _parameter(16000, 'of topic audio', unit='Hz', low=1000, high=192000)
    channels: int = _parameter(1, 'of topic audio, interleaved', low=1, high=32)
    threshold: float = _parameter(0.5, 'probability from which on sound is speech', low=0.05, high=0.95)
    end_silence: float = _parameter(0.8, 'a longer pause ends a question', unit='s', low=0.1, high=10.0)
    max_utterance: float = _parameter(20.0, 'longer speech is cut', unit='s', low=1.0, high=30.0)
    queue_size: int = _parameter(500, 'audio messages that may wait for Whisper', low=1, high=100000)


NODE_PARAMETERS: dict[str, type] = {
    'captioner': CaptionerParameters,
    'memory': MemoryParameters,
    'agent': AgentParameters,
    'speech': SpeechParameters,
    'bag_player': BagPlayerParameters,
}
"""Parameters of each node, by node name."""

P = TypeVar('P')


def declare_parameters(node: Node, cls: type[P]) -> P:
    """Declare the dataclass's parameters on the node and return their values.

    :raises rclpy.exceptions.ParameterException: an override has the wrong type or is out of range
    """

    def refuse_unknown_choices(parameters: list[Parameter]) -> SetParametersResult:
        return _check(cls, parameters)

    node.add_on_set_parameters_callback(refuse_unknown_choices)
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        default = default_of(field)
        # An empty list has no type of its own.
        kind = None if default != [] else _list_type(field)
        node.declare_parameter(field.name, kind or default, _descriptor(field))
    return read_parameters(node, cls)


def read_parameters(node: Node, cls: type[P]) -> P:
    """Return the present values of the declared parameters."""
    values = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        parameter = node.get_parameter_or(field.name, None)
        unset = parameter is None or parameter.type_ == Parameter.Type.NOT_SET
        value = default_of(field) if unset else parameter.value
        values[field.name] = list(value) if isinstance(default_of(field), list) else value
    return cls(**values)


def default_of(field: 'dataclasses.Field[Any]') -> Any:
    """Return a field's default."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _list_type(field: 'dataclasses.Field[Any]') -> Parameter.Type:
    return Parameter.Type.DOUBLE_ARRAY if field.type == list[float] else Parameter.Type.STRING_ARRAY


def _descriptor(field: 'dataclasses.Field[Any]') -> ParameterDescriptor:
    metadata = field.metadata
    unit = f' [{metadata["unit"]}]' if metadata['unit'] else ''
    descriptor = ParameterDescriptor(description=metadata['text'] + unit, read_only=metadata['read_only'])
    if metadata['choices']:
        descriptor.additional_constraints = 'one of ' + ', '.join(metadata['choices'])
    if metadata['low'] is not None and isinstance(field.default, int):
        descriptor.integer_range = [
            IntegerRange(from_value=int(metadata['low']), to_value=int(metadata['high']), step=1)
        ]
    elif metadata['low'] is not None:
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=metadata['low'], to_value=metadata['high'], step=0.0)
        ]
    return descriptor


def _check(cls: type, parameters: list[Parameter]) -> SetParametersResult:
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for parameter in parameters:
        field = fields.get(parameter.name)
        if field is None:
            continue
        choices = field.metadata['choices']
        if choices and parameter.value not in choices:
            reason = f'{parameter.name} is {parameter.value!r}; it has to be one of {", ".join(choices)}'
            return SetParametersResult(successful=False, reason=reason)
        # nan passes every range check
        if isinstance(parameter.value, float) and not math.isfinite(parameter.value):
            return SetParametersResult(successful=False, reason=f'{parameter.name} has to be a finite number')
    return SetParametersResult(successful=True)
