"""The arguments of the launch files; those that set a parameter have its text, type and choices."""

import dataclasses
import difflib
import itertools
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.parameter import default_of
from remembr_ros.nodes.params_file import NODE_PARAMETERS

PRESETS = ('laptop_offline', 'jetson_orin', 'gpu_server', 'fleet', 'paper')  # files of config/presets
HOME = 'remembr'  # the namespace of the nodes, within the robot's

Value = str | int | bool

_BOOLEAN = ('true', 'false')
_BOOLEANS = {'true': 'true', '1': 'true', 'false': 'false', '0': 'false'}  # as launch itself takes them
_KINDS = {int: 'an integer', bool: 'true or false'}


@dataclasses.dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the launch files.

    :param default: empty: it changes nothing unless it is given
    :param sets: the parameters that it sets, as 'node.parameter'
    :param kind: of its value, and of these parameters
    :param otherwise: what holds where it is not given, for a person
    """

    name: str
    default: str
    text: str
    choices: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    kind: type[Value] = str
    otherwise: str = ''

    def read(self, text: str) -> str:
        """Return what is given as this package writes it.

        :raises InvalidRequest: it is not one of the choices
        """
        text = text.strip()
        if text and self.kind is bool:
            return true_or_false(self.name, text)
        if self.choices and text not in self.choices:
            choices = ', '.join(filter(None, self.choices))
            raise InvalidRequest(f'{self.name}:={text}: it has to be one of {choices}')
        return text

    def value(self, text: str) -> Value:
        """Return what is given as the parameters have it.

        :raises InvalidRequest: it is none
        """
        try:
            return _BOOLEAN.index(text) == 0 if self.kind is bool else self.kind(text)
        except ValueError:
            raise InvalidRequest(f'{self.name}:={text}: it has to be {_KINDS[self.kind]}') from None


def _flag(name: str, default: str, text: str) -> Argument:
    return Argument(name, default, text, kind=bool, otherwise='false')


def _setting(name: str, target: str, text: str = '', others: tuple[str, ...] = ()) -> Argument:
    """Return an argument that sets a parameter.

    :param target: as 'node.parameter'
    :param text: empty: that of the parameter
    :param others: further nodes with the same parameter
    """
    node, parameter = target.split('.')
    (field,) = [field for field in dataclasses.fields(NODE_PARAMETERS[node]) if field.name == parameter]
    choices, default = field.metadata['choices'], default_of(field)
    return Argument(
        name,
        '',
        text or field.metadata['text'],
        ('', *choices) if choices else (),
        (target, *(f'{other}.{parameter}' for other in others)),
        type(default),
        str(default).lower() if isinstance(default, bool) else str(default),
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
        'sensor_msgs/Image, and with /compressed behind it CompressedImage; one that ends so is heard '
        "compressed only. This and the other topics: without a leading slash in the robot's namespace",
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
    *_same('memory', 'follow_pose_graph'),
    Argument('graph_topic', 'slam_toolbox/graph_visualization', 'MarkerArray, for follow_pose_graph'),
    *_same('agent', 'llm', 'llm_url'),
    _setting('time_zone', 'agent.time_zone', others=('web',)),
    *_same('agent', 'navigation'),
    _setting(
        'nav2_namespace', 'agent.nav2_namespace', "namespace of Nav2's actions; with a namespace its default"
    ),
    Argument(
        'goal_topic',
        'goal_pose',
        'where goals are published (geometry_msgs/PoseStamped) with navigation goal_pose; what drives has to '
        "listen there, as Nav2's bt_navigator does",
    ),
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
    Argument('depth_topic', 'camera/depth/image_raw', 'depth images (sensor_msgs/Image), for objects'),
    *(
        Argument(name, '', f'sensor_msgs/CameraInfo; by default camera_info beside {of}', otherwise=topic)
        for name, of, topic in (
            ('camera_info_topic', 'image_topic', 'camera/camera_info'),
            ('depth_info_topic', 'depth_topic', 'camera/depth/camera_info'),
        )
    ),
    Argument(
        'detections_topic', 'detections', 'vision_msgs/Detection2DArray or Detection3DArray, for the detector'
    ),
    Argument('label_info_topic', 'label_info', 'vision_msgs/LabelInfo: names of what is detected'),
    _flag('speech', 'false', 'true: the speech node, too; what it hears goes to question_topic'),
    _setting('speech_source', 'speech.source'),
    _setting('wav_file', 'speech.wav_file'),
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


def check_names(command: Sequence[str], file: Path, known: Iterable[str]) -> None:
    """Return if a command line that starts a launch file names none but its arguments.

    launch itself hands on what it does not know, and says nothing.

    :param command: all words; where they start another launch file, which includes this one, they are its own
    :param file: the launch file
    :raises InvalidRequest: an argument does not exist
    """
    known = list(known)
    by_package = ('remembr_ros', file.name) in itertools.pairwise(command)
    by_path = file.resolve() in (Path(word).resolve() for word in command if word.endswith(file.name))
    for name in (word.partition(':=')[0] for word in command if ':=' in word and (by_package or by_path)):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f' (did you mean {near[0]}?)' if near else ''
            raise InvalidRequest(f'{name}:=...: there is no such argument{meant}; --show-args lists them')


def true_or_false(name: str, text: str) -> str:
    """Return a flag as 'true' or 'false', which other launch files may write True or 1, too.

    :raises InvalidRequest: it is neither
    """
    if (read := _BOOLEANS.get(text.strip().lower())) is None:
        raise InvalidRequest(f'{name}:={text}: it has to be one of {", ".join(_BOOLEAN)}')
    return read


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
