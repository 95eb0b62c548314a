"""What a parameters file of the launch files may say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.nodes.params_file import check_params_file

ROOT = Path(__file__).resolve().parents[3]
NODES = ('/remembr/memory', '/remembr/captioner', '/remembr/agent')
Check = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path) -> Check:
    """Return why a file with this text is refused; empty: it is not."""

    def check(text: str | bytes, nodes: tuple[str, ...] = NODES) -> str:
        file = tmp_path / 'mine.yaml'
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        try:
            check_params_file(str(file), nodes)
        except InvalidRequest as error:
            return str(error)
        return ''

    return check


def agent(parameters: str, section: str = '/**/agent') -> str:
    return f'{section}:\n  ros__parameters:\n    {parameters}\n'


@pytest.mark.parametrize(
    'file', sorted((ROOT / 'config').glob('**/*.yaml')), ids=lambda file: file.stem if file else ''
)
def test_the_files_of_the_package_are_all_right(file: Path) -> None:
    if 'ros__parameters' in file.read_text():
        check_params_file(str(file), NODES)


@pytest.mark.parametrize(
    'text',
    [
        agent("keep_out: ['0 0, 4 0, 4 2.5']"),
        agent('max_goal_distance: 1e3'),
        agent('use_sim_time: true'),
        agent('qos_overrides:\n      /map:\n        subscription: {durability: volatile}'),
        agent('llm: null'),
        agent('trace: 2026-01-01'),
        agent('navigation: nav2', '/remembr/agent'),
        agent('navigation: nav2', 'remembr/agent'),
        agent('navigation: nav2', '/*/agent'),
        agent('navigation: nav2', '/**'),
        agent('wav_file: x.wav', '/**/speech'),  # which does not start
        'remembr:\n  agent:\n    ros__parameters: {navigation: nav2}\n',
        agent('same_place: 2.0', '/robot1/remembr/agent') + agent('same_place: 3.0', '/remembr/agent'),
        '# all of it is commented out\n',
        '/**/agent:\n  ros__parameters: {}\n',
        # the file of the whole robot
        agent('rounds: 2') + agent('alpha1: 0.2', 'amcl') + agent('robot_radius: 0.3', '/**'),
        'local_costmap:\n  local_costmap:\n    ros__parameters: {width: 3}\n',
    ],
)
def test_what_ros_gives_to_a_node_is_accepted(refused: Check, text: str) -> None:
    assert refused(text) == ''


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('- a\n', 'it has no nodes'),
        ('keep_out: [', 'is no YAML'),
        ('\tx: 1', 'is no YAML'),
        (b'\xff\xfe\x00', 'is no YAML'),
        ('[' * 5000, 'is no YAML'),
        ('x: !!python/object/apply:os.system [ls]', 'is no YAML'),
        ("/**/agent:\n  keep_out: ['0 0']\n", "there is no node '/**/agent/keep_out'"),
        ('/**/agent:\n', '/**/agent has no parameters below ros__parameters'),
        ('/**/agent:\n  ros__parameters:\n', '/**/agent has no parameters'),
        ('/**/agent:\n  ros_parameters:\n    rounds: 2\n', "no node '/**/agent/ros_parameters/rounds'"),
        (agent('rounds: 2', '/**/agnet'), "no node '/**/agnet' (did you mean agent?)"),
        (agent('rounds: 2', 'agent'), '/agent is not the name of /remembr/agent; write /**/agent'),
        (agent('rounds: 2', '/robot1/remembr/agent'), 'write /**/agent'),
        (agent('rounds: 2', '/*'), 'is not the name of'),
        (agent('keepout: [a]'), "no parameter 'keepout' (did you mean keep_out?)"),
        (agent('keep_out: {a: [b]}'), "no parameter 'keep_out.a'"),
        (agent('uri: x.db'), "no parameter 'uri'"),
        (agent('navigation: moveit'), 'one of goal_pose, nav2, simple_commander, none'),
        (agent('navigation: off'), 'navigation is False; it has to be text'),
        (agent('captioner: clip', '/**/captioner'), 'one of scene_text, openai'),
        (agent('goal_search_radius: 30.0'), 'it has to be from 0 to 20 m'),
        (agent('max_goal_distance: 1000000.5'), 'it has to be from 0 to 1000000 m'),
        (agent('goal_search_radius: 1'), 'a number with a decimal point'),
        (agent('goal_search_radius: .nan'), 'a finite number'),
        (agent('goal_search_radius: far'), 'a number with a decimal point'),
        (agent('rounds: 2.0'), 'rounds is 2.0; it has to be an integer'),
        (agent('rounds: true'), 'it has to be an integer'),
        (agent('require_map: maybe'), 'it has to be true or false'),
        (agent('keep_out: 0 0, 1 1, 2 2'), 'it has to be a list'),
        (agent('llm: 4'), 'it has to be text'),
        (agent('follow_up: 0.5', '/**'), 'it has to be from 1 to 86400 s'),
    ],
)
def test_what_a_node_would_not_find_is_refused_with_what_there_is(
    refused: Check, text: str | bytes, said: str
) -> None:
    reason = refused(text)
    assert said in reason
    assert (reason.startswith('params_file:='), '\n' in reason) == (True, False)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / 'none.yaml', tmp_path):
        with pytest.raises(InvalidRequest, match=f'params_file:={path} cannot be read'):
            check_params_file(str(path), NODES)


def test_several_mistakes_are_told_at_once(refused: Check) -> None:
    said = refused('/**/agent:\n  ros__parameters: {' + ', '.join(f'x{i}: 1' for i in range(9)) + '}\n')
    assert said.count('no parameter') == 5
    assert said.endswith('; and 4 more')
