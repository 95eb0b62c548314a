"""The nodes that follow from the arguments of the launch files."""

import dataclasses
import re
from pathlib import Path

import pytest
import yaml

from remembr_ros.errors import InvalidRequest
from remembr_ros.nodes.bringup import argument_values, next_step, plan_nodes
from remembr_ros.nodes.launch_arguments import (
    ARGUMENTS,
    PRESETS,
    REPLAY_LIMITS,
    check_names,
    replay_number,
    true_or_false,
)
from remembr_ros.nodes.params_file import NODE_PARAMETERS
from remembr_ros.nodes.replay.parameters import BagPlayerParameters

ROOT = Path(__file__).resolve().parents[3]


def by_name(**given: str):
    return {plan.full_name: plan for plan in plan_nodes(given)}


def test_without_arguments_four_nodes_start_and_no_parameter_is_set():
    plans = by_name()
    assert list(plans) == ['/remembr/memory', '/remembr/captioner', '/remembr/agent', '/remembr/events']
    assert all(plan.parameters == {} for plan in plans.values())
    assert plans['/remembr/captioner'].remappings['image'] == '/camera/image_raw'
    agent = plans['/remembr/agent'].remappings
    assert (agent['goal_pose'], agent['question'], agent['/tf_static']) == (
        '/goal_pose',
        '/remembr/question',
        '/tf_static',
    )


def test_what_is_given_becomes_a_parameter_of_the_nodes_that_have_it():
    plans = by_name(robot='r', pose_source='odometry', memory_uri='x.db', llm_url='ollama', navigation='nav2')
    assert plans['/remembr/memory'].parameters == {'robot': 'r', 'uri': 'x.db'}
    assert plans['/remembr/captioner'].parameters == {'robot': 'r', 'pose_source': 'odometry'}
    assert plans['/remembr/agent'].parameters == {
        'robot': 'r',
        'pose_source': 'odometry',
        'llm_url': 'ollama',
        'navigation': 'nav2',
    }


def test_use_sim_time_is_a_boolean_of_every_node():
    assert {plan.parameters['use_sim_time'] for plan in plan_nodes({'use_sim_time': 'true'})} == {True}
    assert {plan.parameters['use_sim_time'] for plan in plan_nodes({'use_sim_time': 'false'})} == {False}


@pytest.mark.parametrize('text', ['true', 'True', 'TRUE', '1', ' true '])
def test_other_launch_files_write_true_in_their_way(text):
    assert {plan.parameters['use_sim_time'] for plan in plan_nodes({'use_sim_time': text})} == {True}
    assert by_name(web=text, depth=text, captioner_trust_remote_code=text)['/remembr/web']
    assert argument_values({'respawn': text, 'autostart': 'False'})['autostart'] == 'false'
    assert true_or_false('loop', text) == 'true'


@pytest.mark.parametrize(
    ('pushed', 'namespace', 'root'),
    [
        ('', 'robot1', '/robot1'),
        ('/robot1', '', '/robot1'),
        ('robot1', '', '/robot1'),
        ('/robot1', 'robot1', '/robot1'),  # as launch files in the manner of Nav2's do
        ('/fleet/robot1', 'robot1', '/fleet/robot1'),
        ('/fleet', 'robot1', '/fleet/robot1'),
        ('/fleet', '/robot1', '/robot1'),
        ('/myrobot1', 'robot1', '/myrobot1/robot1'),
    ],
)
def test_a_pushed_namespace_holds_for_names_topics_and_parameters(pushed, namespace, root):
    plans = {plan.full_name: plan for plan in plan_nodes({'namespace': namespace}, pushed)}
    agent = plans[f'{root}/remembr/agent']
    assert agent.remappings['goal_pose'] == f'{root}/goal_pose'
    assert agent.remappings['/tf'] == f'{root}/tf'
    assert agent.parameters == {'robot': root[1:].replace('/', '_'), 'nav2_namespace': root}


def test_a_namespace_takes_everything_along_but_absolute_names():
    plans = by_name(namespace='fleet/robot1', image_topic='/shared/image', odom_topic='wheel/odom')
    assert list(plans) == [
        f'/fleet/robot1/remembr/{name}' for name in ('memory', 'captioner', 'agent', 'events')
    ]
    agent = plans['/fleet/robot1/remembr/agent']
    assert agent.parameters == {'robot': 'fleet_robot1', 'nav2_namespace': '/fleet/robot1'}
    assert plans['/fleet/robot1/remembr/memory'].parameters == {'robot': 'fleet_robot1'}
    moved = plans['/fleet/robot1/remembr/captioner'].remappings
    assert moved['image/compressed'] == '/shared/image/compressed'
    assert moved['odom'] == '/fleet/robot1/wheel/odom'
    assert moved['/tf'] == '/fleet/robot1/tf'


def test_what_a_namespace_implies_can_be_told_otherwise():
    plans = by_name(namespace='/robot1/', robot='alice', nav2_namespace='/')
    assert plans['/robot1/remembr/memory'].parameters['robot'] == 'alice'
    assert plans['/robot1/remembr/agent'].parameters['nav2_namespace'] == '/'


def test_each_camera_has_a_captioner_that_tells_the_same_memory():
    plans = by_name(cameras=' front=/front/image_raw, rear=rear/image ', namespace='r1')
    front, rear = plans['/r1/remembr/front/captioner'], plans['/r1/remembr/rear/captioner']
    assert '/r1/remembr/captioner' not in plans
    assert (front.parameters['camera'], rear.parameters['camera']) == ('front', 'rear')
    assert front.remappings['image'] == '/front/image_raw'
    assert rear.remappings['image'] == '/r1/rear/image'
    for captioner in (front, rear):
        assert captioner.remappings['captions'] == '/r1/remembr/captions'


def test_speech_goes_where_questions_are_heard():
    speech = by_name(speech='true', question_topic='/ask_me', speech_source='wav', namespace='r1')[
        '/r1/remembr/speech'
    ]
    assert speech.parameters == {'robot': 'r1', 'source': 'wav'}
    moved = [speech.remappings[name] for name in ('/speech', '/speaking', 'audio')]
    assert moved == ['/ask_me', '/r1/speaking', '/r1/remembr/audio']


def test_the_page_looks_at_the_same_robot():
    plans = by_name(
        web='true',
        web_host='0.0.0.0',
        web_port='9000',
        web_token_file='~/tokens',
        namespace='r1',
        pose_source='pose',
        map_topic='/shared/map',
    )
    assert plans['/r1/remembr/web'].parameters == {
        'robot': 'r1',
        'pose_source': 'pose',
        'host': '0.0.0.0',
        'port': 9000,
        'token_file': '~/tokens',
    }
    moved = plans['/r1/remembr/web'].remappings
    assert (moved['map'], moved['goal_pose'], moved['pose']) == (
        '/shared/map',
        '/r1/goal_pose',
        '/r1/amcl_pose',
    )


def test_reliable_images_are_asked_for_by_their_full_names():
    captioner = by_name(reliable_images='true', image_topic='a/image')['/remembr/captioner']
    assert captioner.parameters == {
        'qos_overrides./a/image.subscription.reliability': 'reliable',
        'qos_overrides./a/image/compressed.subscription.reliability': 'reliable',
    }


def test_a_topic_that_ends_in_a_transport_is_taken_for_what_it_is():
    plans = by_name(
        objects='true',
        image_topic='oakd/rgb/image_raw/compressed',
        depth_topic='/oakd/stereo/image_raw/compressedDepth',
    )
    for name in ('captioner', 'objects'):
        plan = plans[f'/remembr/{name}']
        assert plan.parameters == {'image_transport': 'compressed'}
        assert plan.remappings['image'] == '/oakd/rgb/image_raw'
        assert plan.remappings['image/compressed'] == '/oakd/rgb/image_raw/compressed'
        assert plan.remappings['camera_info'] == '/oakd/rgb/camera_info'
    moved = plans['/remembr/objects'].remappings
    assert moved['depth/compressedDepth'] == '/oakd/stereo/image_raw/compressedDepth'
    assert (moved['depth'], moved['depth_camera_info']) == (
        '/oakd/stereo/image_raw',
        '/oakd/stereo/camera_info',
    )
    front, rear = (
        by_name(cameras='front=/front/image/compressed rear=/rear/image')[f'/remembr/{name}/captioner']
        for name in ('front', 'rear')
    )
    assert front.parameters == {'camera': 'front', 'image_transport': 'compressed'}
    assert front.remappings['image/compressed'] == '/front/image/compressed'
    assert rear.parameters == {'camera': 'rear'}


def test_camera_infos_may_lie_elsewhere():
    given = {'camera_info_topic': 'rgb_info', 'depth_info_topic': '/stereo/info', 'namespace': 'r1'}
    moved = by_name(objects='true', **given)['/r1/remembr/objects'].remappings
    assert (moved['camera_info'], moved['depth_camera_info']) == ('/r1/rgb_info', '/stereo/info')


def test_time_zone_and_wav_file_are_those_of_the_nodes_that_have_them():
    plans = by_name(time_zone='Europe/Berlin', speech='true', web='true', wav_file='q.wav')
    assert plans['/remembr/agent'].parameters == plans['/remembr/web'].parameters
    assert plans['/remembr/agent'].parameters == {'time_zone': 'Europe/Berlin'}
    assert plans['/remembr/speech'].parameters == {'wav_file': 'q.wav'}


def test_when_all_are_active_the_next_step_is_named():
    said = next_step(plan_nodes({'namespace': 'r1', 'web': 'true'}))
    assert said.startswith('all active: /r1/remembr/memory, /r1/remembr/captioner, /r1/remembr/agent,')
    assert 'ros2 service call /r1/remembr/ask remembr_msgs/srv/Ask' in said


BRINGUP = ROOT / 'launch' / 'bringup.launch.py'


@pytest.mark.parametrize(
    ('command', 'said'),
    [
        (['ros2', 'launch', 'remembr_ros', BRINGUP.name, 'memry_uri:=x'], 'did you mean memory_uri?'),
        (['ros2', 'launch', str(BRINGUP), 'web:=true', 'zzz:=x'], 'zzz:=...: there is no such argument'),
        (['ros2', 'launch', 'remembr_ros', BRINGUP.name, 'web:=true'], ''),
        (
            ['ros2', 'launch', 'robot', BRINGUP.name, 'memry_uri:=x'],
            '',
        ),  # another's file, which includes ours
        (['ros2', 'launch', 'robot', 'robot.launch.py', 'zzz:=x'], ''),
    ],
)
def test_an_argument_that_does_not_exist_is_refused_with_the_nearest(command, said):
    known = [argument.name for argument in ARGUMENTS]
    if not said:
        check_names(command, BRINGUP, known)
        return
    with pytest.raises(InvalidRequest, match=re.escape(said)):
        check_names(command, BRINGUP, known)


def test_what_holds_without_an_argument_is_the_default_of_its_parameter():
    shown = {argument.name: argument.default or argument.otherwise for argument in ARGUMENTS}
    for argument in ARGUMENTS:
        for target in argument.sets[:1]:
            node, name = target.split('.')
            (field,) = [one for one in dataclasses.fields(NODE_PARAMETERS[node]) if one.name == name]
            assert shown[argument.name].lower() == str(field.default).lower(), argument.name
    assert (shown['pose_source'], shown['navigation']) == ('pose_with_covariance', 'goal_pose')
    assert (shown['memory_uri'], shown['use_sim_time'], shown['web_port']) == ('remembr.db', 'false', '8765')


def test_nodes_that_are_respawned_bring_themselves_up():
    assert all(plan.parameters == {'autostart': True} for plan in plan_nodes({'respawn': 'true'}))
    assert all(
        'autostart' not in plan.parameters for plan in plan_nodes({'respawn': 'true', 'autostart': 'false'})
    )


def test_a_secure_node_has_an_enclave_of_its_name():
    for level in ('DEBUG', 'remembr.agent:=debug'):
        assert plan_nodes({'log_level': level})[0].arguments == ('--log-level', level)
    for plan in plan_nodes({'secure': 'true', 'speech': 'true', 'log_level': 'debug'}):
        assert plan.arguments == ('--log-level', 'debug', '--enclave', plan.full_name)


@pytest.mark.parametrize(
    ('given', 'said'),
    [
        ({'cameras': 'front'}, 'name=topic'),
        ({'cameras': '1st=/image'}, 'name=topic'),
        ({'cameras': 'a=/x a=/y'}, 'twice'),
        ({'cameras': 'a='}, 'name of a topic'),
        ({'namespace': 'robot 1'}, 'robot1'),
        ({'image_topic': '/camera/'}, 'name of a topic'),
        ({'speech': 'yes'}, 'true, false'),
        ({'preset': 'mainframe'}, 'laptop_offline'),
        ({'pose_source': 'gps'}, 'tf, odometry, pose_with_covariance, pose, navsat, none'),
        ({'navigation': 'moveit'}, 'goal_pose, nav2, simple_commander, none'),
        ({'captioner': 'clip'}, 'scene_text, openai, vila, transformers, recorded, fused, none'),
        ({'speech_source': 'ear'}, 'topic, microphone, wav'),
        ({'log_level': 'loud'}, 'debug, info, warn, error or fatal'),
        ({'use_sim_time': '2'}, 'true, false'),
        ({'nav2_namespace': 'robot 1'}, 'nav2_namespace:=robot 1: letters'),
        ({'image_topic': '/2nd/image'}, 'name of a topic'),
        ({'map_topic': '/a//map'}, 'name of a topic'),
        ({'odom_topic': 'wheel-odom'}, 'name of a topic'),
        ({'web': 'true', 'web_port': 'http'}, 'web_port:=http: it has to be an integer'),
        ({'cameras': 'a=/x b=/y?'}, 'name of a topic'),
    ],
    ids=lambda value: '_'.join(value) if isinstance(value, dict) else '',
)
def test_what_makes_no_sense_is_refused_with_what_does(given, said):
    with pytest.raises(InvalidRequest, match=said):
        plan_nodes(given)


@pytest.mark.parametrize('text', ['0', '-1', '1001', 'nan', 'inf', 'fast', '', '1,5'])
def test_a_bag_cannot_be_played_at_that_rate(text):
    with pytest.raises(InvalidRequest, match=f'rate:={text}: it has to be a number from 0.01 to 1000'):
        replay_number('rate', text)


@pytest.mark.parametrize('text', ['0', '-1', 'nan', 'inf', 'long', ''])
def test_nobody_waits_so_long_for_the_next_caption(text):
    with pytest.raises(InvalidRequest, match=f'end_patience:={text}: it has to be a number from 1 to 86400'):
        replay_number('end_patience', text)
    assert replay_number('end_patience', '2.5') == 2.5


def test_a_bag_can_be_played_at_a_rate_that_the_player_takes():
    field = {field.name: field for field in dataclasses.fields(BagPlayerParameters)}['rate']
    assert (field.metadata['low'], field.metadata['high']) == REPLAY_LIMITS['rate']
    assert [replay_number('rate', text) for text in ('0.01', '3', '1e3')] == [0.01, 3.0, 1000.0]


def test_consent_to_a_models_code_is_a_yes_or_a_no():
    (argument,) = [a for a in ARGUMENTS if a.name == 'captioner_trust_remote_code']
    assert [argument.value(text) for text in ('true', 'false')] == [True, False]
    with pytest.raises(InvalidRequest, match='true or false'):
        argument.value('yes')


def test_arguments_have_the_choices_of_the_parameters_that_they_set():
    for argument in ARGUMENTS:
        for target in argument.sets:
            node, name = target.split('.')
            fields = {field.name: field for field in dataclasses.fields(NODE_PARAMETERS[node])}
            assert argument.choices[1:] == fields[name].metadata['choices'], argument.name
            assert argument.choices[:1] in ((), ('',)), 'empty: nothing is set'
            assert fields[name].type is argument.kind, argument.name


def test_arguments_are_described_and_set_parameters_that_the_file_documents():
    file = yaml.safe_load((ROOT / 'config' / 'remembr.yaml').read_text())
    for argument in ARGUMENTS:
        assert argument.text, argument.name
        for target in argument.sets:
            assert argument.default == '', f'{argument.name} would override the parameters file'
            node, parameter = target.split('.')
            assert parameter in file[f'/**/{node}']['ros__parameters'], target


def test_names_that_are_remapped_are_in_the_nodes_code():
    code = ''.join(path.read_text() for path in sorted((ROOT / 'remembr_ros' / 'nodes').glob('*/*.py')))
    code = code.replace("f'{COSTMAP}_updates'", "'global_costmap/costmap_updates'")
    plans = plan_nodes({'speech': 'true', 'web': 'true', 'cameras': 'a=/x'})
    names = {name for plan in plans for name in plan.remappings}
    assert len(names) > 10
    assert {name for name in names if not re.search(rf"'{re.escape(name)}'", code)} == set()


def test_presets_are_files():
    assert sorted(path.stem for path in (ROOT / 'config' / 'presets').glob('*')) == sorted(PRESETS)


def test_a_plan_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan_nodes({})[0].name = 'other'


def test_the_objects_node_hears_one_camera_its_depth_and_what_others_detect():
    plan = by_name(
        objects='true', detector='onnx:/m.onnx', labels='coco.txt', depth='false', map_frame='floor'
    )['/remembr/objects']
    assert plan.parameters == {
        'detector': 'onnx:/m.onnx',
        'labels': 'coco.txt',
        'depth': False,
        'map_frame': 'floor',
    }
    moved = plan.remappings
    assert (moved['image'], moved['camera_info']) == ('/camera/image_raw', '/camera/camera_info')
    assert moved['depth_camera_info'] == '/camera/depth/camera_info'
    assert moved['/tf'] == '/tf'


def test_of_several_cameras_the_objects_node_hears_the_first_in_the_robots_namespace():
    given = {'objects': 'true', 'cameras': 'front=front/image, rear=/rear/image', 'namespace': 'r1'}
    moved = by_name(**given, detections_topic='yolo/boxes')['/r1/remembr/objects'].remappings
    assert (moved['image'], moved['camera_info']) == ('/r1/front/image', '/r1/front/camera_info')
    assert moved['detections'] == moved['detections_3d'] == '/r1/yolo/boxes'
