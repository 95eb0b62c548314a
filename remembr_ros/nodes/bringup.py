"""The nodes that follow from the arguments of the launch files.

Knows no ROS; launch/bringup.launch.py makes processes of it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from remembr_ros.errors import InvalidRequest
from remembr_ros.nodes.launch_arguments import ARGUMENTS, HOME, Value

_TOPICS = tuple(argument.name for argument in ARGUMENTS if argument.name.endswith('_topic'))
_TOPIC = re.compile(r'/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*')
_LOG_LEVEL = re.compile(r'(\S+:=)?(debug|info|warn|error|fatal)', re.IGNORECASE)
COMPRESSED = '/compressed'  # behind a topic of images: where image_transport has them compressed
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
    parameters: dict[str, Value]
    remappings: dict[str, str]
    arguments: tuple[str, ...]

    @property
    def full_name(self) -> str:
        """The name with its namespace, such as /remembr/memory."""
        return f'{self.namespace}/{self.name}'


def argument_values(given: Mapping[str, str]) -> dict[str, str]:
    """Return the value of each argument as this package writes it.

    :param given: by argument; those that are missing have their default
    :raises InvalidRequest: a value is none of the choices
    """
    return {
        argument.name: argument.read(given.get(argument.name, argument.default)) for argument in ARGUMENTS
    }


def plan_nodes(given: Mapping[str, str], pushed: str = '') -> list[NodePlan]:
    """Return the nodes that these arguments ask for, memory first.

    :param given: by argument; those that are missing have their default
    :param pushed: the namespace that a launch file which includes this one has pushed; empty: none
    :raises InvalidRequest: a value makes no sense
    """
    values = argument_values(given)
    if not _LOG_LEVEL.fullmatch(values['log_level']):
        raise InvalidRequest(
            f'log_level:={values["log_level"]}: it has to be debug, info, warn, error or fatal, or '
            'LOGGER:=LEVEL'
        )
    root = _nested(_namespace(pushed, 'namespace'), values['namespace'])
    _namespace(values['nav2_namespace'], 'nav2_namespace')
    if root:
        # Else two robots with one database would be one, and their goals go to whoever has no namespace.
        values['robot'] = values['robot'] or root[1:].replace('/', '_')
        values['nav2_namespace'] = values['nav2_namespace'] or root
    topics = {name: _absolute(root, values[name], name) for name in _TOPICS if values[name]}
    cameras = _cameras(values['cameras'], topics['image_topic'], root)
    home = f'{root}/{HOME}'
    first = next(iter(cameras.values()))
    shared = _remappings(topics, first) | {'/speaking': f'{root}/speaking'}
    plans = [_plan('memory', home, values, shared)]
    for camera, topic in cameras.items():
        images = _images(topic)
        own = _transport(topic) | ({'camera': camera} if camera else {})
        if values['reliable_images'] == 'true':
            own |= {f'qos_overrides.{name}.subscription.reliability': 'reliable' for name in images.values()}
        captions = {'captions': f'{home}/captions'} if camera else {}
        place = f'{home}/{camera}' if camera else home
        plans.append(_plan('captioner', place, values, shared | images | captions, own))
    for name in ('agent', 'events', 'objects', 'speech', 'web'):
        if values.get(name, 'true') == 'true':  # the agent always is
            plans.append(_plan(name, home, values, shared, _transport(first) if name == 'objects' else {}))
    return plans


def next_step(plans: Sequence[NodePlan]) -> str:
    """Return what to tell whoever has started the nodes, when all are active."""
    agent = next(plan for plan in plans if plan.name == 'agent')
    ask = f'{agent.namespace}/ask remembr_msgs/srv/Ask "{{question: \'What did you see?\'}}"'
    return f'all active: {", ".join(plan.full_name for plan in plans)}; ask: ros2 service call {ask}'


def _remappings(topics: Mapping[str, str], image: str) -> dict[str, str]:
    """Return what all nodes get: a name that a node does not use changes nothing.

    :param topics: by argument
    :param image: of several cameras the first, which the depth camera belongs to
    """
    depth = topics['depth_topic'].removesuffix('/compressedDepth')
    return {
        'odom': topics['odom_topic'],
        'pose_with_covariance': topics['pose_topic'],
        'pose': topics['pose_topic'],
        'fix': topics['fix_topic'],
        '/tf': topics['tf_topic'],
        '/tf_static': f'{topics["tf_topic"]}_static',
        'map': topics['map_topic'],
        'global_costmap/costmap': topics['costmap_topic'],
        'global_costmap/costmap_updates': f'{topics["costmap_topic"]}_updates',
        'pose_graph': topics['graph_topic'],
        'clicked_point': topics['clicked_topic'],
        'goal_pose': topics['goal_topic'],
        'question': topics['question_topic'],
        '/speech': topics['question_topic'],
        'audio': topics['audio_topic'],
        **_images(image),
        'camera_info': topics.get('camera_info_topic', _beside(image.removesuffix(COMPRESSED))),
        'depth': depth,
        'depth/compressedDepth': f'{depth}/compressedDepth',
        'depth_camera_info': topics.get('depth_info_topic', _beside(depth)),
        'detections': topics['detections_topic'],
        'detections_3d': topics['detections_topic'],
        'label_info': topics['label_info_topic'],
    }


def _images(topic: str) -> dict[str, str]:
    """Return where the images of a topic are, raw and compressed; it may be either of the two."""
    topic = topic.removesuffix(COMPRESSED)
    return {'image': topic, 'image/compressed': topic + COMPRESSED}


def _transport(topic: str) -> dict[str, Value]:
    """Return the parameter that follows from how an image topic ends."""
    return {'image_transport': 'compressed'} if topic.endswith(COMPRESSED) else {}


def _beside(topic: str) -> str:
    """Return where the camera info of an image topic is, as image_transport has it."""
    return f'{topic.rpartition("/")[0]}/camera_info'


def _plan(
    name: str,
    namespace: str,
    values: Mapping[str, str],
    remappings: dict[str, str],
    parameters: Mapping[str, Value] | None = None,
) -> NodePlan:
    own: dict[str, Value] = {
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


def _namespace(text: str, argument: str) -> str:
    """Return a namespace with a leading slash; empty for the root."""
    parts = [part for part in text.split('/') if part]
    for part in parts:
        if not _TOKEN.fullmatch(part):
            raise InvalidRequest(f'{argument}:={text}: letters, digits and underscores, such as robot1')
    return ''.join(f'/{part}' for part in parts)


def _nested(pushed: str, namespace: str) -> str:
    """Return the robot's namespace: the one that is given, within the pushed one unless that is the same.

    Launch files in the manner of Nav2's push the namespace that they hand on as an argument, too.
    """
    own = _namespace(namespace, 'namespace')
    return own if namespace.startswith('/') else pushed if pushed.endswith(own) else pushed + own


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
