"""The rooms of both packages: what each may import, how full it may be, what classes and tests are called."""

import ast
import re
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PARENTS = {'remembr_ros': REPOSITORY, 'remembr_bench': REPOSITORY / 'remembr_bench'}
"""Where each package lies; its tests lie in test/ beside it."""
SOURCES = sorted(
    path.relative_to(parent).as_posix()
    for name, parent in PARENTS.items()
    for path in (parent / name).rglob('*.py')
)

ROOMS: dict[str, dict[str, set[str]]] = {
    'remembr_ros/memory': {
        'durable': set(),
        'problem': set(),
        'writable': set(),
        'model': set(),
        'matching': {'model'},
        'consolidation': {'model', 'matching', 'deeds'},
        'objects': {'model', 'matching'},
        'motion': {'model', 'recall_protocol'},
        'deeds': {'matching', 'model', 'motion', 'objects', 'places', 'recall_protocol'},
        'diary': {'deeds', 'matching', 'model', 'motion', 'places'},
        'recall_protocol': {'model', 'objects'},
        'places': {'model', 'recall_protocol'},
        'keyframes': {'durable', 'problem'},
        'writer_lock': set(),
        'embedded': {'durable', 'writable', 'writer_lock', 'model', 'matching'},
        'server': {'problem', 'writer_lock', 'model', 'matching'},
        'pending': {'embedded', 'model', 'objects', 'writer_lock'},
        '': {
            'model',
            'matching',
            'objects',
            'deeds',
            'diary',
            'motion',
            'places',
            'consolidation',
            'keyframes',
            'embedded',
            'server',
            'pending',
        }
        | {'durable', 'problem', 'writable', 'recall_protocol'},
        'exchange': {'', 'durable', 'model', 'matching', 'keyframes'},
    },
    'remembr_ros/agent': {
        'model': set(),
        'planner': {'model'},
        'in_parallel': {'planner'},
        'times': {'model'},
        'chat': {'model', 'planner'},
        'overview': {'model', 'planner', 'times'},
        'offline': {'model', 'planner', 'times', 'overview'},
        'llm': {'model', 'planner', 'in_parallel', 'times', 'chat', 'overview', 'offline'},
        'narrowed_recall': {'model', 'planner', 'in_parallel'},
        'conversation': {'model', 'narrowed_recall'},  # and no parser: it is handed one
        '': {'model', 'planner', 'times', 'chat', 'offline', 'llm', 'narrowed_recall', 'conversation'}
        | {'in_parallel'},
    },
    'remembr_ros/nodes': {
        'base': set(),
        **{room: {'base'} for room in ('captioner', 'events', 'objects', 'nav2', 'replay', 'speech')},
        'memory': {'base', 'objects'},
        'agent': {'base', 'nav2', 'objects'},
        'web': {'base', 'agent'},
        '': {'base', 'captioner', 'events', 'memory', 'agent', 'objects', 'replay', 'speech', 'web'},
    },
    'remembr_ros/captioning': {
        'frame_choice': set(),
        'captioners': {'frame_choice'},
        '': {'frame_choice', 'captioners'},
    },
    'remembr_ros/objects': {'detectors': set(), '': {'detectors'}},
    'remembr_ros/speech': {'sound': set(), '': {'sound'}},
    'remembr_ros/web': {
        'door': set(),
        '': {'door'},
        'api': {'', 'door'},
        'mcp': {'', 'door'},
        'app': {'', 'door', 'api', 'mcp'},
    },
    'remembr_ros/cli': {'': set(), **{room: {''} for room in ('deeds', 'places', 'serving', 'verbs')}},
    'remembr_bench/evaluation': {
        'datasets': set(),
        'metrics': {'datasets'},
        'pacing': set(),
        'records': {'datasets', 'metrics', 'pacing'},
        'report': {'datasets', 'metrics', 'records'},
        'originals': {'datasets', 'metrics'},
        'baselines': {'datasets'},
        'run': {
            *('datasets', 'metrics', 'originals', 'pacing', 'records', 'report', 'baselines', 'findingdory'),
            'needles',
        },
        'objects': {'metrics', 'report'},
        'tasks': {'datasets', 'records'},
        'stale': {'objects', 'findingdory'},
        'findingdory': {'datasets', 'records', 'objects', 'tasks'},
        'embodied': {'metrics', 'tasks', 'findingdory'},
        'needles': {'baselines', 'datasets', 'records', 'findingdory'},
        'talk': {'baselines', 'findingdory', 'tasks'},
        '': {'datasets', 'metrics', 'records', 'report', 'run'},
    },
    'remembr_bench/simulation': {'': set(), 'homes': {''}},
}
"""Which room of a subpackage may import which besides itself. '': the modules beside the rooms, but for those
with an entry of their own, which rooms import."""

MOST_MODULES = 15
"""In one folder, besides its __init__."""

OF_NO_MODULE = {
    'unit/test_docker.py': 'docker/',
    'unit/test_documented_launches.py': 'the launch commands of docs/',
    'unit/test_imports.py': 'both packages',
    'unit/test_rooms.py': 'both packages',
    'unit/test_package.py': 'the wheel and the ROS package',
    'unit/test_views.py': 'config/ of RViz and Foxglove',
    'unit/bench/test_planner_calibration.py': 'remembr_bench/test/bench',
    'unit/bench/test_asked_right.py': 'remembr_bench/test/bench',
    'unit/bench/test_object_rules.py': 'remembr_bench/test/bench',
    'unit/simulated/test_idle_day.py': 'remembr_bench/test/simulated',
    'unit/simulated/test_month.py': 'remembr_bench/test/simulated',
    'unit/scripted/test_server.py': 'test/scripted',
    'unit/cli/verbs/test_exchange_between_stores.py': 'export and import from one kind of memory to another',
    'unit/cli/verbs/test_memory_verbs.py': 'verbs that change a memory, one after the other on the same',
    'unit/cli/verbs/test_object_verbs.py': 'verbs that make objects and list them',
    'unit/cli/verbs/test_questions.py': 'verbs that read a memory, on the same',
    'unit/web/test_page_files.py': 'web/page/, which is no Python',
    'node/test_clock.py': 'nodes together, while time jumps',
    'node/test_idle.py': 'all nodes together, with nothing to do',
    'node/test_page.py': 'nodes as processes, and two who look at their page',
    'node/test_page_in_browser.py': 'the same, by browsers',
    'node/test_outages.py': 'nodes together, one of which goes',
    'node/test_processes.py': 'every node as a process',
    'node/test_replay.py': 'nodes together, and the command line on the same recording',
    'node/test_secrets.py': 'nodes together, whose logs are read',
    'node/test_sros2_policy.py': 'config/sros2, against the graph',
}
"""Tests that do not lie where a module does, and what they test."""

SHARED = set()
"""Names that two public classes still have."""


@cache
def parsed(source: str) -> ast.Module:
    return ast.parse((PARENTS[source.partition('/')[0]] / source).read_text())


def room_of(module: str, package: str) -> str:
    """Return the room of a subpackage that a module is in, by its path or dotted name within it."""
    first, *rest = module.removesuffix('.py').replace('/', '.').split('.')
    rooms = ROOMS[package]
    assert not rest or first in rooms, f'{package}/{first} is in no table of rooms'
    return first if first in rooms else ''


def imported_within(source: str, package: str) -> set[str]:
    """Return what a module imports of its own subpackage, by dotted names within it."""
    inside = package.replace('/', '.')
    found: set[str] = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == inside:
            found |= {f'{inside}.{alias.name}' for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {name.removeprefix(f'{inside}.') for name in found if name.startswith(f'{inside}.')}


@pytest.mark.parametrize('package', ROOMS)
def test_rooms_import_one_way(package: str) -> None:
    order = list(
        TopologicalSorter(ROOMS[package]).static_order()
    )  # raises CycleError where rooms form a circle
    assert set(order) == set(ROOMS[package])
    for source in (source for source in SOURCES if source.startswith(f'{package}/')):
        room = room_of(source.removeprefix(f'{package}/'), package)
        entered = {room_of(name, package) for name in imported_within(source, package)} - {room}
        assert entered <= ROOMS[package][room], f'{source} imports {entered - ROOMS[package][room]}'


def module_of(source: str) -> str:
    return source.removesuffix('.py').removesuffix('__init__').replace('/', '.').rstrip('.')


def imported_modules(source: str, modules: set[str]) -> set[str]:
    """Return which of these modules a module imports anywhere, in functions and for types, too."""
    found: set[str] = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f'{node.module}.{alias.name}' for alias in node.names}
            found |= {name if name in modules else node.module for name in names}
    return found & modules


def test_no_modules_import_each_other() -> None:
    modules = {module_of(source): source for source in SOURCES}
    graph = {module: imported_modules(source, set(modules)) for module, source in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(' -> '.join(modules[module] for module in reversed(error.args[1])))  # who imports whom


def test_every_subpackage_with_rooms_has_its_table() -> None:
    folders = {'/'.join(source.split('/')[:2]) for source in SOURCES if source.count('/') > 2}
    assert folders == set(ROOMS)


def test_the_picture_of_the_house_shows_every_room() -> None:
    shown = set(re.findall(r'>([\w.]+)</text>', (REPOSITORY / 'docs' / 'house.svg').read_text()))
    packages = {source.split('/')[1] for source in SOURCES if source.count('/') > 1}
    rooms = {
        room for package in ROOMS for room in ROOMS[package] if f'{package}/{room}/__init__.py' in SOURCES
    }
    assert packages | rooms | set(PARENTS) <= shown


def test_no_folder_is_full() -> None:
    sizes = Counter(str(PurePosixPath(s).parent) for s in SOURCES if not s.endswith('__init__.py'))
    assert {folder: size for folder, size in sizes.items() if size > MOST_MODULES} == {}


def test_a_test_is_found_by_the_name_of_its_module() -> None:
    lost = set()
    for name, parent in PARENTS.items():
        for kind, package in (('unit', parent / name), ('node', parent / name / 'nodes')):
            for path in sorted((parent / 'test' / kind).rglob('test_*.py')):
                room = package / path.relative_to(parent / 'test' / kind).parent
                modules = {module.stem for module in room.glob('*.py')} - {'__init__'}
                what = path.stem.removeprefix('test_')
                if not any(what == module or what.startswith(f'{module}_') for module in modules):
                    lost.add(path.relative_to(parent / 'test').as_posix())
    assert lost == set(OF_NO_MODULE)


def test_no_two_public_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for source in SOURCES:
        for node in parsed(source).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith('_'):
                places.setdefault(node.name, []).append(source)
    shared = {name: found for name, found in places.items() if len(found) > 1 and name not in SHARED}
    assert shared == {}
