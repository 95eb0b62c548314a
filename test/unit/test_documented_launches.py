"""Every launch command in README, docs and configuration is one that works: files and arguments exist."""

import ast
import re
import shlex
from pathlib import Path
from textwrap import dedent

import pytest

from remembr_ros.nodes.bringup import plan_nodes
from remembr_ros.nodes.launch_arguments import ARGUMENTS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    ROOT / 'README.md',
    *sorted((ROOT / 'docs').glob('*.md')),
    *sorted((ROOT / 'config').rglob('*.yaml')),
    *sorted((ROOT / 'launch').glob('*.py')),
]


def commands(document: Path) -> list[list[str]]:
    """Return the words behind `ros2 launch remembr_ros` of each command, without comments."""
    # A command goes on behind a backslash; in a comment, behind the next #.
    text = re.sub(r'\\\n[ #]*', ' ', document.read_text())
    found = re.findall(r'ros2 launch (?:--\S+ )*remembr_ros (\w+\.launch\.py[^`\n]*)', text)
    # The quote around a command for another shell ends behind it.
    whole = [command.removesuffix("'") if command.count("'") % 2 else command for command in found]
    return [shlex.split(command, comments=True) for command in whole]


def replay_arguments() -> set[str]:
    tree = ast.parse((ROOT / 'launch' / 'replay.launch.py').read_text())
    (table,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == 'ARGUMENTS'
    ]
    return {row[0] for row in ast.literal_eval(table)}


COMMANDS = [(document.name, command) for document in DOCUMENTS for command in commands(document)]


def test_there_are_commands_for_both_launch_files():
    assert {command[0] for _, command in COMMANDS} == {'bringup.launch.py', 'replay.launch.py'}
    assert len(COMMANDS) > 10
    assert {'bag', 'rate'} <= replay_arguments()


@pytest.mark.parametrize('at', range(len(COMMANDS)))
def test_a_command_has_arguments_that_exist(at):
    document, (file, *rest) = COMMANDS[at]
    given = {}
    for word in rest:
        if word == '...' or word.startswith('--show-args'):
            continue
        name, separator, value = word.partition(':=')
        assert separator, f'{document}: {word}'
        given[name] = value
    own = {name: given.pop(name) for name in set(given) & replay_arguments()}
    assert not own or file == 'replay.launch.py', f'{document}: {own}'
    assert set(given) <= {argument.name for argument in ARGUMENTS}, f'{document}: {given}'
    known = {name: value for name, value in given.items() if value != '...'}
    assert plan_nodes(known)


def operating() -> str:
    return (ROOT / 'docs' / 'operating.md').read_text()


def test_the_lifecycle_manager_is_told_all_nodes_in_their_order():
    (names,) = re.findall(r'node_names: (\[.*\])', operating())
    assert ast.literal_eval(names) == [plan.full_name for plan in plan_nodes({})]
    further = {'objects': 'true', 'speech': 'true', 'web': 'true'}
    for plan in plan_nodes(further):
        assert f"{plan.full_name}'" in names or f'`{plan.full_name}`' in operating(), plan.full_name


def test_the_launch_file_that_includes_ours_gives_arguments_that_exist():
    block = next(
        block
        for block in re.findall(r'(?:^    .*\n|^\n)+', operating(), re.MULTILINE)
        if 'PushRosNamespace' in block
    )
    calls = [node for node in ast.walk(ast.parse(dedent(block))) if isinstance(node, ast.Call)]
    ours = [
        call for call in calls if ast.unparse(call.func) == 'include' and 'remembr_ros' in ast.unparse(call)
    ]
    given = {word.arg: ast.literal_eval(word.value) for call in ours for word in call.keywords}
    assert given
    assert set(given) <= {argument.name for argument in ARGUMENTS}
    assert plan_nodes(given, pushed='/tb1')
