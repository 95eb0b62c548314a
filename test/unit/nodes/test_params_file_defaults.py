import dataclasses
import re
from pathlib import Path

import pytest
import yaml

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from rclpy.parameter import Parameter

from remembr_ros.forms.parameter import default_of
from remembr_ros.nodes.base.declaration import _check
from remembr_ros.nodes.params_file import NODE_PARAMETERS

FILE = Path(__file__).resolve().parents[3] / 'config' / 'remembr.yaml'
TEXT = FILE.read_text()
DOCUMENT = (FILE.parents[1] / 'docs' / 'nodes.md').read_text()
NODES = sorted(NODE_PARAMETERS)


def section(node: str) -> str:
    """Return the node's part of the file."""
    found = re.search(rf'^/\*\*/{node}:\n(.*?)(?=^/|\Z)', TEXT, re.DOTALL | re.MULTILINE)
    assert found, f'{node} is missing in {FILE.name}'
    return found[1]


def comment_above(node: str, name: str) -> str:
    """Return the comment above a parameter, in one line."""
    lines = section(node).splitlines()
    given = [i for i, line in enumerate(lines) if re.match(rf'\s*{name}: ', line)]
    left_out = [i for i, line in enumerate(lines) if re.match(rf'\s*# {name}: \[', line)]
    at = (given or left_out)[0]
    above = []
    while (line := lines[(at := at - 1)].strip()).startswith('# ') and not re.match(r'# \w+: [\[\']', line):
        above.insert(0, line.removeprefix('# '))
    return ' '.join(above)


def test_the_file_names_every_node():
    assert sorted(yaml.safe_load(TEXT)) == sorted(f'/**/{node}' for node in NODES)


@pytest.mark.parametrize('node', NODES)
def test_the_file_has_every_parameter_at_its_default(node):
    values = yaml.safe_load(TEXT)[f'/**/{node}']['ros__parameters']
    fields = dataclasses.fields(NODE_PARAMETERS[node])
    defaults = {field.name: default_of(field) for field in fields}
    # An empty list has no type in YAML: such parameters are there as a comment.
    assert values == {name: value for name, value in defaults.items() if value != []}
    assert {name: type(value) for name, value in values.items()} == {
        name: type(value) for name, value in defaults.items() if value != []
    }


@pytest.mark.parametrize('node', NODES)
def test_the_file_documents_unit_range_and_choices(node):
    for field in dataclasses.fields(NODE_PARAMETERS[node]):
        comment, about = comment_above(node, field.name), field.metadata
        assert about['text'].split(':')[0] in comment, field.name
        if about['unit']:
            assert f'[{about["unit"]}]' in comment, field.name
        if about['low'] is not None:
            assert f'{about["low"]:g} to {about["high"]:g}' in comment, field.name
        for choice in about['choices']:
            assert choice in comment, field.name


def test_the_document_lists_what_can_be_changed_at_any_time():
    written = {
        node: set(re.findall(r'`(\w+)`', names))
        for node, names in re.findall(r'^\| `(\w+)` \| (.*?) \|$', section_of_document(), re.MULTILINE)
    }
    live = {
        node: {field.name for field in dataclasses.fields(cls) if field.metadata['live']}
        for node, cls in NODE_PARAMETERS.items()
    }
    assert written == {node: names for node, names in live.items() if names}


def section_of_document() -> str:
    return DOCUMENT.split('## Parameters')[1].split('\n## ')[0]


@pytest.mark.parametrize('node', NODES)
def test_defaults_lie_in_their_range(node):
    for field in dataclasses.fields(NODE_PARAMETERS[node]):
        about, default = field.metadata, default_of(field)
        if about['low'] is not None:
            assert about['low'] <= default <= about['high'], field.name
        if about['choices']:
            assert default in about['choices'], field.name
        assert about['text'], field.name


@pytest.mark.parametrize('node', NODES)
def test_every_range_ends_where_it_says(node):
    for field in dataclasses.fields(NODE_PARAMETERS[node]):
        low, high = field.metadata['low'], field.metadata['high']
        if low is None:
            continue
        step = 1 if isinstance(field.default, int) else max(abs(high), 1.0) * 1e-9
        for inside in (low, high):
            value = Parameter(field.name, value=type(field.default)(inside))
            assert _check(NODE_PARAMETERS[node], [value]).successful, field.name
        for outside in (low - step, high + step):
            value = Parameter(field.name, value=type(field.default)(outside))
            assert field.name in _check(NODE_PARAMETERS[node], [value]).reason
