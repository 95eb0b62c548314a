"""Somebody else's package, as docs/extending.md shows it, installed and used; what is wrong with others."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.cli.main import VERBS, main
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import ExtensionFailed, InvalidRequest
from remembr_ros.extensions import load_extension
from remembr_ros.objects.detectors.by_name import get_detector
from test.unit.cli.conftest import bag, command

__all__ = ['bag', 'command']

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / 'docs' / 'extending.md').read_text(encoding='utf-8')
BLOCKS = dict(re.findall(r'`(\w+\.py)`:\n\n```python\n(.*?)```', TEXT, re.DOTALL))
USE = re.findall(r'```python\n(.*?)```', TEXT, re.DOTALL)[-2]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example, built as setup.py says, on the path."""
    for name, text in BLOCKS.items():
        (tmp_path / name).write_text(text)
    subprocess.run([sys.executable, 'setup.py', '-q', 'egg_info'], cwd=tmp_path, check=True, timeout=60)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith('my_')]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


def pretend(folder: Path, package: str, kind: str, entry: str) -> None:
    """Install a package that adds something, as far as its metadata say."""
    info = folder / f'{package}-1.0.dist-info'
    info.mkdir(parents=True)
    (info / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(f'[remembr.{kind}]\n{entry}\n')


def test_every_part_takes_ten_lines_at_most() -> None:
    assert len(BLOCKS) == 6
    for name in ('my_captioner', 'my_embedder', 'my_detector', 'my_planner', 'my_verb'):
        lines = [line for line in BLOCKS[f'{name}.py'].splitlines() if line and 'import' not in line]
        assert len(lines) <= 10, name


def test_the_example_works(installed: Path, bag: Path, command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(installed)
    options = ('--captioner', 'brightness', '--embedder', 'letters', '--no-consolidation')
    assert command('ingest', bag, '--memory', 'm.db', *options)[0] == 0
    code, out, _ = command('count', '--memory', 'm.db')
    assert (code, re.fullmatch(r'[1-9]\d* memories\n', out) is not None) == (0, True)
    code, out, _ = command('recall', '--text', 'a dark place', '--memory', 'm.db')
    assert code == 0
    assert 'A dark place.' in out
    assert 'a verb of my' in command('--help')[1].replace('\n', ' ')
    done = subprocess.run([sys.executable, '-c', USE], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith('nearest position (')


def test_the_embedder_keeps_its_interface(installed: Path) -> None:
    embedder = get_embedder('letters')
    assert isinstance(embedder, Embedder)
    vectors = embedder.embed(['A lift.', 'lift a'])
    assert vectors.shape == (2, embedder.dimension)
    assert vectors[0] @ embedder.embed_query('lift a') == pytest.approx(1.0)


def test_the_detector_finds_what_is_bright(installed: Path) -> None:
    image = np.zeros((20, 30, 3), np.uint8)
    image[5:9, 10:16] = 255
    detector = get_detector('lamp:200')
    (found,) = detector.detect(image, 7)
    assert (found.box, found.label, found.stamp_ns) == ((10.0, 5.0, 16.0, 9.0), 'lamp', 7)
    assert detector.detect(image[:4], 7) == []
    with pytest.raises(InvalidRequest, match='there is no detector'):
        get_detector('lantern:200')


def test_a_node_takes_the_captioner_by_its_name(installed: Path) -> None:
    code = 'from remembr_ros.nodes.captioner.parameters import CaptionerParameters as P; import dataclasses; '
    code += "print(P.__dataclass_fields__['captioner'].metadata)"
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=installed, capture_output=True, text=True, check=True, timeout=60
    )
    assert "'brightness'" in done.stdout


def test_what_cannot_be_imported_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend(tmp_path, 'half_there', 'verbs', 'dock = half_there.dock')
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(['dock']) == 1
    said = capsys.readouterr().err
    assert said.startswith('remembr dock: half_there 1.0, which adds it, cannot be imported')
    assert said.count('\n') == 1


def test_a_verb_without_what_makes_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / 'my_half.py').write_text('def run(args):\n    return 0\n')
    pretend(tmp_path, 'half', 'verbs', 'dock = my_half')
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(['dock']) == 1
    assert capsys.readouterr().err == 'remembr dock: my_half has no add_arguments(parser) and run(args)\n'


def test_a_name_that_two_add_is_refused_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ('one', 'other'):
        pretend(tmp_path, package, 'verbs', f'dock = {package}')
        monkeypatch.syspath_prepend(str(tmp_path))
    assert main(['dock', '--help']) == 1
    said = capsys.readouterr().err
    assert 'one 1.0' in said
    assert 'other 1.0' in said
    assert load_extension('verbs', 'nothing') is None
    with pytest.raises(ExtensionFailed):
        load_extension('verbs', 'dock')
    with pytest.raises(SystemExit) as ended:
        main(['--help'])
    assert ended.value.code == 0


def test_no_package_replaces_a_verb_of_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend(tmp_path, 'greedy', 'verbs', 'info = greedy')
    monkeypatch.syspath_prepend(str(tmp_path))
    assert 'info' in VERBS
    with pytest.raises(SystemExit) as ended:
        main(['info', '--help'])
    assert ended.value.code == 0
    assert 'remembr info' in capsys.readouterr().out


@pytest.mark.parametrize('verb', ['eval', 'demo', 'coda'])
def test_without_the_laboratory_its_verbs_say_what_to_install(verb: str) -> None:
    code = (
        'import sys, importlib.metadata as m; m.entry_points = lambda **_: m.EntryPoints();'
        f'from remembr_ros.cli.main import main; sys.exit(main([{verb!r}, "--help"]))'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr.count('\n')) == (1, '', 1)
    assert done.stderr.startswith(f'remembr {verb}: ')
    assert 'pip install ./remembr_bench' in done.stderr
