"""What the launch files start: launch arguments, and the nodes that follow from them.

Knows no ROS, so that it is tested everywhere; launch/bringup.launch.py makes processes of it.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from remembr_ros.errors import InvalidRequest

PRESETS = ('laptop_offline', 'jetson_orin', 'gpu_server', 'fleet')  # files of config/presets
HOME = 'remembr'  # the namespace of the nodes, within the robot's


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the launch files.

    :param default: empty: it changes nothing unless it is given
    :param sets: the parameters that it sets, as 'node.parameter'
    :param kind: of these parameters
    """

    name: str
    default: str
    text: str
    sets: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    kind: type[str] | type[int] | type[bool] = str

    def value(self, text: str) -> str | int | bool:
        """Return what is given as the parameters have it.

        :raises InvalidRequest: it is none
        """
        try:
            return _BOOLEAN.index(text) == 0 if self.kind is bool else self.kind(text)
        except ValueError:
            raise InvalidRequest(f'{self.name}:={text}: it has to be {_KINDS[self.kind]}') from None


def _pose(name: str, text: str, choices: tuple[str, ...] = ()) -> Argument:
    sets = tuple(f'{node}.{name}' for node in ('captioner', 'agent', 'events', 'objects', 'web'))
    return Argument(name, '', text, sets, choices)


def _one_of(*choices: str) -> tuple[str, ...]:
    return ('', *choices)


_BOOLEAN = ('true', 'false')
_KINDS = {int: 'an integer', bool: 'true or false'}

ARGUMENTS = (
    Argument('namespace', '', f"the robot's namespace, such as robot1; the nodes are in {HOME} within it"),
    Argument(
        'robot',
        '',
        'name of the robot, kept with each memory; with a namespace its default',
        tuple(
            f'{node}.robot' for node in ('captioner', 'memory', 'agent', 'events', 'objects', 'speech', 'web')
        ),
    ),
    Argument('preset', '', f'one of config/presets: {", ".join(PRESETS)}', choices=_one_of(*PRESETS)),
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
    _pose(
        'pose_source',
        'what the pose is taken from',
        _one_of('tf', 'odometry', 'pose_with_covariance', 'pose', 'navsat', 'none'),
    ),
    Argument('pose_topic', 'amcl_pose', 'for pose_source pose_with_covariance or pose'),
    Argument('odom_topic', 'odom', 'nav_msgs/Odometry, for pose_source odometry'),
    Argument('fix_topic', 'fix', 'sensor_msgs/NavSatFix, for pose_source navsat'),
    Argument(
        'tf_topic',
        'tf',
        'tf2_msgs/TFMessage, with _static behind it the fixed ones: pose_source tf, and cameras',
    ),
    _pose('map_frame', 'frame that positions refer to'),
    _pose('base_frame', 'frame of the robot, for pose_source tf'),
    _pose('map_id', 'name of the map that the robot is on, where there are several'),
    Argument(
        'captioner',
        '',
        'what describes images',
        ('captioner.captioner',),
        _one_of('scene_text', 'openai', 'vila', 'transformers', 'recorded', 'fused', 'none'),
    ),
    Argument('captioner_model', '', 'model of the captioner', ('captioner.captioner_model',)),
    Argument('captioner_url', '', 'server of the captioners openai and vila', ('captioner.captioner_url',)),
    Argument(
        'captioner_trust_remote_code',
        '',
        'true: Python code that comes with a model (VILA, NVILA) may run here',
        ('captioner.captioner_trust_remote_code',),
        kind=bool,
    ),
    Argument('memory_uri', '', 'the store: a file, or http(s):// of a Milvus server', ('memory.uri',)),
    Argument('llm', '', 'language model', ('agent.llm',)),
    Argument('llm_url', '', 'its server: openai, nim, ollama, vllm, llama.cpp, or a URL', ('agent.llm_url',)),
    Argument(
        'navigation',
        '',
        'what drives the robot; none: it is not driven',
        ('agent.navigation',),
        _one_of('goal_pose', 'nav2', 'simple_commander', 'none'),
    ),
    Argument(
        'nav2_namespace',
        '',
        "namespace of Nav2's actions; with a namespace its default",
        ('agent.nav2_namespace',),
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
    Argument(
        'events',
        'true',
        'false: without the events node: what the robot does is not remembered by itself',
        choices=_BOOLEAN,
    ),
    Argument(
        'objects',
        'false',
        'true: the objects node, too: what is detected in images persists with a place',
        choices=_BOOLEAN,
    ),
    Argument(
        'detector',
        '',
        'onnx:MODEL.onnx, transformers:MODEL, or what another program detects: detections, detections_3d',
        ('objects.detector',),
    ),
    Argument('labels', '', 'file of what the detector can find, one on each line', ('objects.labels',)),
    Argument('depth', '', 'false: there is no depth camera', ('objects.depth',), kind=bool),
    Argument('depth_topic', 'camera/depth/image_raw', 'depth images; their camera_info is beside it'),
    Argument(
        'detections_topic', 'detections', 'vision_msgs/Detection2DArray or Detection3DArray, for the detector'
    ),
    Argument('label_info_topic', 'label_info', 'vision_msgs/LabelInfo: names of what is detected'),
    Argument(
        'speech',
        'false',
        'true: the speech node, too; what it hears goes to question_topic',
        choices=_BOOLEAN,
    ),
    Argument(
        'speech_source', '', 'where it hears', ('speech.source',), _one_of('topic', 'microphone', 'wav')
    ),
    Argument('web', 'false', 'true: the web node, too, which serves the page', choices=_BOOLEAN),
    Argument('web_host', '', "the page's address; what others can reach needs web_token_file", ('web.host',)),
    Argument('web_port', '', "the page's port", ('web.port',), kind=int),
    Argument('web_token_file', '', 'file of the tokens for looking, asking and acting', ('web.token_file',)),
    Argument('audio_topic', f'{HOME}/audio', 'std_msgs/Int16MultiArray, for speech_source topic'),
    Argument(
        'use_sim_time',
        '',
        'true: time comes from /clock (simulation, or a bag that is played)',
        choices=_one_of(*_BOOLEAN),
    ),
    Argument(
        'reliable_images',
        'false',
        'true: no image is lost, as for a bag; needs a reliable publisher',
        choices=_BOOLEAN,
    ),
    Argument(
        'autostart',
        'true',
        'false: leave configuring and activating to a lifecycle manager',
        choices=_BOOLEAN,
    ),
    Argument('respawn', 'false', 'true: a node that dies is started again, and comes up', choices=_BOOLEAN),
    Argument(
        'secure', 'false', 'true: each node has an enclave of its name, as in config/sros2', choices=_BOOLEAN
    ),
    Argument('log_level', 'info', 'what is logged: debug, info, warn, error or fatal, or LOGGER:=LEVEL'),
)

REPLAY_LIMITS = {'rate': (0.01, 1000.0), 'end_patience': (1.0, 86_400.0)}
"""Of numbers among the arguments of replay.launch.py: times real speed; [s]."""

_TOPICS = tuple(argument.name for argument in ARGUMENTS if argument.name.endswith('_topic'))
_TOPIC = re.compile(r'/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*')
_LOG_LEVEL = re.compile(r'(\S+:=)?(debug|info|warn|error|fatal)', re.IGNORECASE)
# What ROS allows as a part of a name; an underscore in front hides it.
_TOKEN = re.compile(r'[A-Za-z][A-Za-z0-9_]*')


@dataclass(frozen=True, slots=True)
class NodePlan:
    """A node to start.

    :param parameters: what the arguments say; they come after all files
    :param remappings: from names as in the code to full names
    :param arguments: further arguments behind --ros-args
    """

    name: str
    namespace: str
    parameters: dict[str, str | int | bool] = field(default_factory=dict)
    remappings: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        """The name with its namespace, such as /remembr/memory."""
        return f'{self.namespace}/{self.name}'


def plan_nodes(given: Mapping[str, str]) -> list[NodePlan]:
    """Return the nodes that these arguments ask for, memory first.

    :param given: by argument; those that are missing have their default
    :raises InvalidRequest: a value makes no sense
    """
    values = {argument.name: given.get(argument.name, argument.default).strip() for argument in ARGUMENTS}
    for argument in ARGUMENTS:
        if argument.choices and values[argument.name] not in argument.choices:
            choices = ', '.join(filter(None, argument.choices))
            raise InvalidRequest(f'{argument.name}:={values[argument.name]}: it has to be one of {choices}')
    if not _LOG_LEVEL.fullmatch(values['log_level']):
        raise InvalidRequest(
            f'log_level:={values["log_level"]}: it has to be debug, info, warn, error or fatal, or '
            'LOGGER:=LEVEL'
        )
    root = _namespace(values['namespace'], 'namespace')
    _namespace(values['nav2_namespace'], 'nav2_namespace')
    if root:
        # Else two robots with one database would be one, and their goals go to whoever has no namespace.
        values['robot'] = values['robot'] or root[1:].replace('/', '_')
        values['nav2_namespace'] = values['nav2_namespace'] or root
    topics = {name: _absolute(root, values[name], name) for name in _TOPICS}
    poses = (
        ('odom', topics['odom_topic']),
        ('pose_with_covariance', topics['pose_topic']),
        ('pose', topics['pose_topic']),
        ('fix', topics['fix_topic']),
        ('/tf', topics['tf_topic']),
        ('/tf_static', f'{topics["tf_topic"]}_static'),
    )
    maps = (
        ('map', topics['map_topic']),
        ('global_costmap/costmap', topics['costmap_topic']),
        ('global_costmap/costmap_updates', f'{topics["costmap_topic"]}_updates'),
    )
    home = f'{root}/{HOME}'
    plans = [_plan('memory', home, values, (('clicked_point', topics['clicked_topic']),))]
    for camera, topic in _cameras(values['cameras'], topics['image_topic'], root).items():
        images = (('image', topic), ('image/compressed', f'{topic}/compressed'))
        own: dict[str, str | int | bool] = {'camera': camera} if camera else {}
        if values['reliable_images'] == 'true':
            own |= {f'qos_overrides.{name}.subscription.reliability': 'reliable' for _, name in images}
        captions = (('captions', f'{home}/captions'),) if camera else ()
        place = f'{home}/{camera}' if camera else home
        plans.append(_plan('captioner', place, values, (*images, *poses, *captions), own))
    asked = (('goal_pose', topics['goal_topic']), ('question', topics['question_topic']))
    plans.append(_plan('agent', home, values, (*asked, *maps, *poses)))
    if values['events'] == 'true':
        plans.append(_plan('events', home, values, poses))
    if values['objects'] == 'true':
        plans.append(_plan('objects', home, values, (*_objects(values, topics, root), *poses)))
    if values['speech'] == 'true':
        heard = (('/speech', topics['question_topic']), ('/speaking', f'{root}/speaking'))
        plans.append(_plan('speech', home, values, (*heard, ('audio', topics['audio_topic']))))
    if values['web'] == 'true':
        looked_at = (('goal_pose', topics['goal_topic']), ('map', topics['map_topic']))
        plans.append(_plan('web', home, values, (*looked_at, *poses)))
    return plans


def _objects(values: Mapping[str, str], topics: Mapping[str, str], root: str) -> tuple[tuple[str, str], ...]:
    """Return what the objects node hears: of several cameras the first, which the depth camera belongs to."""
    image = next(iter(_cameras(values['cameras'], topics['image_topic'], root).values()))
    depth = topics['depth_topic']
    return (
        ('image', image),
        ('image/compressed', f'{image}/compressed'),
        ('camera_info', _beside(image)),
        ('depth', depth),
        ('depth/compressedDepth', f'{depth}/compressedDepth'),
        ('depth_camera_info', _beside(depth)),
        ('detections', topics['detections_topic']),
        ('detections_3d', topics['detections_topic']),
        ('label_info', topics['label_info_topic']),
    )


def _beside(topic: str) -> str:
    """Return where the camera info of an image topic is, as image_transport has it."""
    return f'{topic.rpartition("/")[0]}/camera_info'


def _plan(
    name: str,
    namespace: str,
    values: Mapping[str, str],
    remappings: tuple[tuple[str, str], ...] = (),
    parameters: Mapping[str, str | int | bool] | None = None,
) -> NodePlan:
    own: dict[str, str | int | bool] = {
        target.removeprefix(f'{name}.'): argument.value(values[argument.name])
        for argument in ARGUMENTS
        for target in argument.sets
        if values[argument.name] and target.startswith(f'{name}.')
    }
    if values['use_sim_time']:
        own['use_sim_time'] = values['use_sim_time'] == 'true'
    if values['autostart'] == values['respawn'] == 'true':
        # From outside, the request may reach the endpoint that a killed process left in DDS, and nobody else.
        own['autostart'] = True
    arguments = ['--log-level', values['log_level']]
    if values['secure'] == 'true':
        arguments += ['--enclave', f'{namespace}/{name}']
    return NodePlan(name, namespace, own | dict(parameters or {}), remappings, tuple(arguments))


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


def _namespace(text: str, argument: str) -> str:
    """Return a namespace with a leading slash; empty for the root."""
    parts = [part for part in text.split('/') if part]
    for part in parts:
        if not _TOKEN.fullmatch(part):
            raise InvalidRequest(f'{argument}:={text}: letters, digits and underscores, such as robot1')
    return ''.join(f'/{part}' for part in parts)


def _absolute(root: str, topic: str, argument: str) -> str:
    if not _TOPIC.fullmatch(topic):
        raise InvalidRequest(
            f'{argument}:={topic}: it has to be the name of a topic, such as /camera/image_raw'
        )
    return topic if topic.startswith('/') else f'{root}/{topic}'


def _cameras(text: str, image_topic: str, root: str) -> dict[str, str]:
    """Return the image topics by camera; one that needs no name if there are not several."""
    if not text:
        return {'': image_topic}
    cameras: dict[str, str] = {}
    for part in re.split(r'[,\s]+', text.strip(' ,')):
        name, equals, topic = part.partition('=')
        if not equals or not _TOKEN.fullmatch(name):
            raise InvalidRequest(
                f"cameras: {part!r} is not of the form name=topic, as 'front=/front/image_raw'"
            )
        if name in cameras:
            raise InvalidRequest(f'cameras: {name} is there twice; each needs a name of its own')
        cameras[name] = _absolute(root, topic, f'cameras: {name}')
    return cameras
