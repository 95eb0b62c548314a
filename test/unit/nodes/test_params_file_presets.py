"""config/presets: small files, each parameter of which exists, has its type, and is in its range."""

import dataclasses
from pathlib import Path

import pytest
import yaml

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from remembr_ros.forms.parameter import default_of
from remembr_ros.nodes.launch_arguments import PRESETS
from remembr_ros.nodes.params_file import NODE_PARAMETERS

FOLDER = Path(__file__).resolve().parents[3] / 'config' / 'presets'
FILES = sorted(FOLDER.glob('*.yaml'))
NODES = {f'/**/{node}': cls for node, cls in NODE_PARAMETERS.items()}


def preset(path: Path) -> dict:
    return {key: node['ros__parameters'] for key, node in yaml.safe_load(path.read_text()).items()}


def problem_of(key: str, name: str, value) -> str:
    """Return what is wrong with a parameter; empty if nothing is."""
    fields = {field.name: field for field in dataclasses.fields(NODES[key])} if key in NODES else {}
    if name not in fields:
        return 'there is no such parameter'
    about, default = fields[name].metadata, default_of(fields[name])
    if value == default:
        return 'it is the default'
    if type(value) is not type(default):
        return f'it is {type(value).__name__}, not {type(default).__name__}'
    if about['low'] is not None and not about['low'] <= value <= about['high']:
        return f'it is not in {about["low"]:g} to {about["high"]:g}'
    if about['choices'] and value not in about['choices']:
        return f'it is not one of {about["choices"]}'
    return ''


def test_there_is_a_preset_for_each_kind_of_machine_and_one_for_the_paper():
    stems = ['fleet', 'gpu_server', 'jetson_orin', 'laptop_offline', 'paper']
    assert [path.stem for path in FILES] == stems == sorted(PRESETS)


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_every_parameter_exists_is_in_its_range_and_differs(path):
    problems = {
        f'{key} {name}': problem
        for key, values in preset(path).items()
        for name, value in values.items()
        if (problem := problem_of(key, name, value))
    }
    assert problems == {}


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_a_preset_is_small_and_says_how_it_is_used(path):
    text = path.read_text()
    assert len(text.splitlines()) < 60
    assert f'preset:={path.stem}' in text
    assert 'KEY' not in text, 'keys come from the environment'


def test_the_check_finds_what_is_wrong():
    assert problem_of('/**/memory', 'url', 'x') == 'there is no such parameter'
    assert problem_of('/**/memmory', 'uri', 'x') == 'there is no such parameter'
    assert problem_of('/**/memory', 'batch_size', 8.0) == 'it is float, not int'
    assert problem_of('/**/memory', 'batch_size', 16) == 'it is the default'
    assert problem_of('/**/captioner', 'segment_length', 0.1) == 'it is not in 0.5 to 600'
    assert 'goal_pose' in problem_of('/**/agent', 'navigation', 'nav3')
