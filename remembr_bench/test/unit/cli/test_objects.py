"""remembr eval objects, and the recordings that it leaves: read by ingest with the simulated detector."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('pyvista', reason='pyvista is not installed')

Run = Callable[..., tuple[int, str, str]]
FEW = ('--visits', '1', '--noise', 'none')


def test_it_writes_figures_a_table_and_recordings(command: Run, tmp_path: Path) -> None:
    code, out, err = command('eval', 'objects', '--homes', '11', *FEW, '--bags', '--out', tmp_path, '--json')
    assert code == 0, err
    told: dict[str, Any] = json.loads(out)
    assert told == json.loads((tmp_path / 'results.json').read_text())
    assert told['homes'] == [11]
    assert {'overall', 'by_noise'} <= set(told)
    assert told['overall']['n'] > 30
    assert told['overall']['f1'] > 0.95
    assert '| none |' in (tmp_path / 'results.md').read_text()
    # The recording is one like any other.
    home, memory = tmp_path / 'home_11', tmp_path / 'memory.db'
    code, out, err = command(
        *(
            'ingest',
            home / 'bag',
            '--captioner',
            'none',
            '--memory',
            memory,
            '--embedder',
            'hashing',
            '--json',
        ),
        *('--detector', f'simulation:{home},misses=0.1', '--depth-topic', '/camera/depth/image_raw'),
    )
    assert code == 0, err
    assert json.loads(out)['objects'] > 30
    code, out, _ = command('objects', '--memory', memory, '--called', 'table')
    assert code == 0
    assert 'table' in out


@pytest.mark.parametrize(
    'wrong',
    [('--homes', '-1'), ('--homes', 'x'), ('--noise', 'much'), ('--visits', '0')],
)
def test_what_cannot_be_is_refused(command: Run, tmp_path: Path, wrong: tuple[str, ...]) -> None:
    options = {'--homes': '1', '--out': str(tmp_path / 'out'), wrong[0]: wrong[1]}
    code, _, err = command('eval', 'objects', *(word for pair in options.items() for word in pair))
    assert code == 2
    assert wrong[0] in err


def test_a_folder_that_cannot_be_written_is_told(command: Run, tmp_path: Path) -> None:
    (tmp_path / 'file').write_text('')
    code, _, err = command('eval', 'objects', '--homes', '1', *FEW, '--out', tmp_path / 'file')
    assert code == 2
    assert 'cannot be written' in err
