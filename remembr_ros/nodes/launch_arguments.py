"""The arguments of the launch files; those that set a parameter have its text, type and choices."""

import dataclasses
import math

from remembr_ros.errors import InvalidRequest
from remembr_ros.nodes.base.parameters import default_of
from remembr_ros.nodes.params_file import NODE_PARAMETERS

PRESETS = ('laptop_offline', 'jetson_orin', 'gpu_server', 'fleet', 'paper')  # files of config/presets
HOME = 'remembr'  # the namespace of the nodes, within the robot's

Value = str | int | bool

_BOOLEAN = ('true', 'false')
_KINDS = {int: 'an integer', bool: 'true or false'}


@dataclasses.dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the launch files.

    :param default: empty: it changes nothing unless it is given
    :param sets: the parameters that it sets, as 'node.parameter'
    :param kind: of these parameters
    """

    name: str
    default: str
    text: str
    choices: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    kind: type[Value] = str

    def value(self, text: str) -> Value:
        """Return what is given as the parameters have it.

        :raises InvalidRequest: it is none
        """
        try:
            return _BOOLEAN.index(text) == 0 if self.kind is bool else self.kind(text)
        except ValueError:
            raise InvalidRequest(f'{self.name}:={text}: it has to be {_KINDS[self.kind]}') from None


def _flag(name: str, default: str, text: str) -> Argument:
    return Argument(name, default, text, _BOOLEAN if default else ('', *_BOOLEAN))


def _setting(name: str, target: str, text: str = '', others: tuple[str, ...] = ()) -> Argument:
    """Return an argument that sets a parameter.

    :param target: as 'node.parameter'
    :param text: empty: that of the parameter
    :param others: further nodes with the same parameter
    """
    node, parameter = target.split('.')
    (field,) = [field for field in dataclasses.fields(NODE_PARAMETERS[node]) if field.name == parameter]
    choices = field.metadata['choices']
    return Argument(
        name,
        '',
        text or field.metadata['text'],
        ('', *choices) if choices else (),
        (target, *(f'{other}.{parameter}' for other in others)),
        type(default_of(field)),
    )


def _pose(name: str) -> Argument:
    return _setting(name, f'captioner.{name}', others=('agent', 'events', 'objects', 'web'))


def _same(node: str, *names: str) -> list[Argument]:
    """Return arguments that are called like the parameters of a node which they set."""
    return [_setting(name, f'{node}.{name}') for name in names]


ARGUMENTS = (
    Argument('namespace', '', f"the robot's namespace, such as robot1; the nodes are in {HOME} within it"),
    _setting(
        'robot',
        'captioner.robot',
        'name of the robot, kept with each memory; with a namespace its default',
        ('memory', 'agent', 'events', 'objects', 'speech', 'web'),
    ),
    Argument('preset', '', f'one of config/presets: {", ".join(PRESETS)}', ('', *PRESETS)),
    Argument('params_file', '', 'YAML file with what differs from config/remembr.yaml and the preset'),
    Argument(
        'cameras',
        '',
        "several cameras: 'front=/front/image_raw, rear=/rear/image_raw'; in place of image_topic",
    ),
    Argument(
        'image_topic',
        'camera/image_raw',
        'sensor_msgs/Image; with /compressed behind it CompressedImage. This and the other topics: without a '
        "leading slash in the robot's namespace",
    ),
    _pose('pose_source'),
    Argument('pose_topic', 'amcl_pose', 'for pose_source pose_with_covariance or pose'),
    Argument('odom_topic', 'odom', 'nav_msgs/Odometry, for pose_source odometry'),
    Argument('fix_topic', 'fix', 'sensor_msgs/NavSatFix, for pose_source navsat'),
    Argument(
        'tf_topic',
        'tf',
        'tf2_msgs/TFMessage, with _static behind it the fixed ones: pose_source tf, and cameras',
    ),
    *map(_pose, ('map_frame', 'base_frame', 'map_id')),
    *_same('captioner', 'captioner', 'captioner_model', 'captioner_url', 'captioner_trust_remote_code'),
    _setting('memory_uri', 'memory.uri'),
    *_same('agent', 'llm', 'llm_url', 'navigation'),
    _setting(
        'nav2_namespace', 'agent.nav2_namespace', "namespace of Nav2's actions; with a namespace its default"
    ),
    Argument('goal_topic', 'goal_pose', 'where goals are published (geometry_msgs/PoseStamped)'),
    Argument(
        'clicked_topic', '/clicked_point', "geometry_msgs/PointStamped, RViz's tool: which memory to describe"
    ),
    Argument('map_topic', 'map', 'nav_msgs/OccupancyGrid that goals are checked with'),
    Argument(
        'costmap_topic', 'global_costmap/costmap', "Nav2's costmap, with _updates behind it, for the same"
    ),
    Argument(
        'question_topic', f'{HOME}/question', 'where questions are heard (std_msgs/String), such as /speech'
    ),
    _flag(
        'events', 'true', 'false: without the events node: what the robot does is not remembered by itself'
    ),
    _flag(
        'objects', 'false', 'true: the objects node, too: what is detected in images persists with a place'
    ),
    *_same('objects', 'detector', 'labels', 'depth'),
    Argument('depth_topic', 'camera/depth/image_raw', 'depth images; their camera_info is beside it'),
    Argument(
        'detections_topic', 'detections', 'vision_msgs/Detection2DArray or Detection3DArray, for the detector'
    ),
    Argument('label_info_topic', 'label_info', 'vision_msgs/LabelInfo: names of what is detected'),
    _flag('speech', 'false', 'true: the speech node, too; what it hears goes to question_topic'),
    _setting('speech_source', 'speech.source'),
    Argument('audio_topic', f'{HOME}/audio', 'std_msgs/Int16MultiArray, for speech_source topic'),
    _flag('web', 'false', 'true: the web node, too, which serves the page'),
    *(_setting(f'web_{name}', f'web.{name}') for name in ('host', 'port', 'token_file')),
    _flag('use_sim_time', '', 'true: time comes from /clock (simulation, or a bag that is played)'),
    _flag('reliable_images', 'false', 'true: no image is lost, as for a bag; needs a reliable publisher'),
    _flag('autostart', 'true', 'false: leave configuring and activating to a lifecycle manager'),
    _flag('respawn', 'false', 'true: a node that dies is started again, and comes up'),
    _flag('secure', 'false', 'true: each node has an enclave of its name, as in config/sros2'),
    Argument('log_level', 'info', 'what is logged: debug, info, warn, error or fatal, or LOGGER:=LEVEL'),
)

REPLAY_LIMITS = {'rate': (0.01, 1000.0), 'end_patience': (1.0, 86_400.0)}
"""Of numbers among the arguments of replay.launch.py: times real speed; [s]."""


def replay_number(name: str, text: str) -> float:
    """Return the number that an argument of replay.launch.py is given.

    :param name: one of REPLAY_LIMITS
    :raises InvalidRequest: it is no number, or not within the limits
    """
    low, high = REPLAY_LIMITS[name]
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not low <= number <= high:
        raise InvalidRequest(f'{name}:={text}: it has to be a number from {low:g} to {high:g}')
    return number
