import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from remembr_ros import __version__
from remembr_ros.cli.main import VERBS

Run = Callable[..., tuple[int, str, str]]

README = Path(__file__).resolve().parents[3] / 'README.md'

MISSING = {
    'ask': ['ask', 'Where is the lift?'],
    'recall': ['recall', '--text', 'lift'],
    'info': ['info'],
    'day': ['day'],
    'forget': ['forget', '--id', 'x'],
    'export': ['export', '/dev/shm/remembr-none.jsonl'],
    'map': ['map', 'rename', 'a', 'b'],
}


@pytest.mark.parametrize('verb', sorted(VERBS))
def test_every_verb_has_help(command: Run, verb: str) -> None:
    code, out, _ = command(verb, '--help')
    assert code == 0
    assert f'remembr {verb}' in out
    assert 'show this help' in out


@pytest.mark.parametrize('verb', sorted(VERBS))
def test_every_verb_is_documented(verb: str) -> None:
    assert f'remembr {verb}' in README.read_text(encoding='utf-8')


def test_the_version_is_told(command: Run) -> None:
    assert command('--version')[:2] == (0, f'{__version__}\n')


IMPORTS = """
import sys
from remembr_ros.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""


def imported(*arguments: str) -> set[str]:
    """Return the modules that a process of the command has in the end."""
    ended = subprocess.run(
        [sys.executable, '-c', IMPORTS, *arguments], capture_output=True, text=True, timeout=60.0, check=True
    )
    return set(ended.stderr.splitlines()[-1].split())


@pytest.mark.parametrize('option', ['--version', '--help'])
def test_without_a_verb_nothing_heavy_is_imported(option: str) -> None:
    modules = imported(option)
    rooms = ('remembr_ros.cli.verbs', 'remembr_bench.cli', 'remembr_ros.cli.serving')
    assert not {name for name in modules if name.startswith(rooms)}
    assert not modules & {'numpy', 'pymilvus', 'pydantic', 'tqdm', 'dateutil'}
    assert len([name for name in modules if name.startswith('remembr_ros')]) < 15


def test_only_the_verb_that_is_used_is_imported() -> None:
    modules = imported('-v', 'trace', '--help')
    assert {name for name in modules if name.startswith('remembr_ros.cli.verbs.')} == {
        'remembr_ros.cli.verbs.trace'
    }


def test_options_of_the_command_stand_before_the_verb(command: Run, memory_file: str) -> None:
    code, out, _ = command('-v', 'recall', '--text', 'lift', '--limit', '1', '--memory', memory_file)
    assert (code, out.count('\n')) == (0, 1)
    code, out, err = command('-x', 'info', '--memory', memory_file)
    assert (code, out) == (2, '')
    assert "it does not take '-x'" in err
    assert err.count('\n') == 1


def test_a_wrong_verb_is_told_which_there_are(command: Run) -> None:
    code, _, err = command('dance')
    assert code == 2
    assert "invalid choice: 'dance'" in err
    assert all(verb in err for verb in VERBS)


@pytest.mark.parametrize(
    'arguments',
    [
        [],
        ['dance'],
        ['ask'],
        ['ask', ''],
        ['ask', ' '],
        ['ask', 'Where?', '--now', 'soon'],
        ['ask', 'Where?', '--now', '2023-13-45'],
        ['ask', 'Where?', '--now', '-5'],
        ['ask', 'Where?', '--here', '1'],
        ['ask', 'Where?', '--here', '1', '2', 'nan'],
        ['ask', 'Where?', '--timeout', 'long'],
        ['recall', '--limit', '0'],
        ['recall', '--limit', 'many'],
        ['recall', '--radius', '-1', '--position', '0', '0', '0'],
        ['recall', '--radius', 'inf', '--position', '0', '0', '0'],
        ['recall', '--radius', '1'],
        ['recall', '--position', '1', '2', 'up'],
        ['recall', '--after', 'tomorrow'],
        ['recall', '--text', 'lift', '--source', 'nobody'],
        ['recall', '--text', 'lift', '--position', '0', '0', '0', '--after', '9', '--before', '8'],
        ['info', '--now', '5'],
        ['ingest'],
        ['ingest', 'bag', '--tf', 'map'],
        ['ingest', 'bag', '--tf', 'map', 'camera', '--pose-topic', '/pose'],
    ],
    ids=' '.join,
)
def test_wrong_usage_exits_with_2_and_says_so(command: Run, memory_file: str, arguments: list[str]) -> None:
    with_memory = [*arguments, '--memory', memory_file] if arguments and arguments[0] in VERBS else arguments
    code, out, err = command(*with_memory)
    assert (code, out) == (2, '')
    assert 'remembr' in err


@pytest.mark.parametrize('json', [[], ['--json']])
@pytest.mark.parametrize('verb', sorted(MISSING))
def test_a_missing_memory_is_stated_with_the_remedy_and_not_made(
    command: Run, tmp_path: Path, verb: str, json: list[str]
) -> None:
    path = tmp_path / 'folder' / 'memory.db'
    yes = ['--yes'] if verb == 'forget' else []
    code, out, err = command(*MISSING[verb], *yes, '--memory', path, *json)
    assert (code, out) == (1, '')
    assert f'remembr ingest BAG --memory {path}' in err
    assert err.count('\n') == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('content', [b'', b'this is no database\n' * 100])
def test_a_file_that_is_no_memory_is_a_stated_failure(command: Run, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / 'notes.txt'
    path.write_bytes(content)
    code, out, err = command('info', '--memory', path)
    assert (code, out) == (1, '')
    assert 'remembr info: ' in err
    if content:
        assert path.read_bytes() == content


def test_another_embedder_is_refused_naming_both(command: Run, memory_file: str) -> None:
    arguments = ['recall', '--text', 'lift', '--memory', memory_file, '--embedder', 'hashing-64']
    code, out, err = command(*arguments)
    assert (code, out) == (1, '')
    assert 'hashing-256' in err
    assert 'hashing-64' in err


def test_the_default_memory_comes_from_the_environment(
    command: Run, memory_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('REMEMBR_MEMORY', memory_file)
    code, out, _ = command('info')
    assert code == 0
    assert memory_file in out
