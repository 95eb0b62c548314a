"""remember, forget, export, import and map, and hostile input to recall."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store

Run = Callable[..., tuple[int, str, str]]
RunJson = Callable[..., dict[str, Any]]

NS = 1_000_000_000


class Terminal(io.StringIO):
    """A person who types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def memory(tmp_path: Path) -> str:
    """Five memories, a minute and a metre apart, the third of a secret."""
    path = str(tmp_path / 'memory.db')
    with open_store(path, HashingEmbedder(64)) as store:
        for i in range(5):
            caption = 'The SECRET badge 4711.' if i == 2 else f'Corridor number {i}.'
            start_ns = (1_700_000_000 + 60 * i) * NS
            store.add([Observation(Memory(f'id{i}', 'r', start_ns, start_ns + NS, caption, Pose(i, 0.0)))])
    return path


def ids(command_json: RunJson, path: str, *arguments: Any) -> list[str]:
    found = command_json('recall', '--memory', path, '--limit', '100', *arguments)
    return [memory['id'] for memory in found['memories']]


def test_a_note_is_remembered_and_found(command: Run, command_json: RunJson, tmp_path: Path) -> None:
    path = tmp_path / 'new.db'
    text = 'The \U0001f511 of the "lab" is at Ann\'s; DROP TABLE --'
    options = ['--memory', path, '--embedder', 'hashing', '--robot', 'r2', '--map', 'first']
    noted = command_json(
        'remember', text, *options, '--position', '1', '-2', '0', '--yaw', '1.5', '--time', '1700000000'
    )
    assert (noted['caption'], noted['source'], noted['robot']) == (text, 'person', 'r2')
    assert (noted['position'], noted['yaw'], noted['map']) == ([1.0, -2.0, 0.0], 1.5, 'first')
    assert noted['start'] == '2023-11-14T22:13:20.000000Z'
    assert ids(command_json, str(path), '--text', 'key of the lab') == [noted['id']]
    code, out, _ = command('remember', text, *options, '--time', '1700000000')
    assert (code, out) == (0, f'{noted["id"]}\n')
    code, out, _ = command('remember', 'another', *options, '--time', '1700000000')
    assert out != f'{noted["id"]}\n'
    assert len(ids(command_json, str(path))) == 2


@pytest.mark.parametrize(
    'arguments',
    [
        ['remember'],
        ['remember', ' '],
        ['remember', 'x' * 60_001],
        ['remember', 'x', '--yaw', '1'],
        ['remember', 'x', '--position', '1', '2', 'nan'],
        ['remember', 'x', '--position', '1e300', '0', '0'],
        ['remember', 'x', '--position', '1', '2', '3', '--yaw', 'inf'],
        ['remember', 'x', '--robot', 'a\nb'],
        ['remember', 'x', '--token-file', '/etc/hostname'],
        ['forget'],
        ['forget', '--dry-run'],
        ['forget', '--text', ' ', '--yes'],
        ['forget', '--near', '0', '0', '0', '--yes'],
        ['forget', '--radius', '1', '--yes'],
        ['forget', '--older-than', '30', '--yes'],
        ['forget', '--older-than', '0d', '--yes'],
        ['forget', '--source', 'nobody', '--yes'],
        ['map'],
        ['map', 'transform', '', '--by', '1', '2'],
        ['map', 'transform', '', '--by', '1', '2', 'nan'],
        ['map', 'transform', '', '--by', '0', '0', '0', '1', '1', '1', '1'],
        ['map', 'rename', 'a', 'a'],
        ['map', 'rename', '', 'a\nb'],
        ['recall', '--around'],
        ['recall', '--around', '--time', '5', '--text', 'x'],
        ['recall', '--text', ' '],
        ['recall', '--text', ''],
        ['recall', '--limit', '1001'],
        ['recall', '--position', '1e300', '0', '0'],
        ['recall', '--time', '1e30'],
        ['recall', '--robot', 'a\x00b'],
        ['recall', '--db-name', 'x'],
        ['recall', '--user', 'x', '--memory', 'http://127.0.0.1:9', '--token-file', 'y'],
        ['recall', '--memory', 'http://127.0.0.1:9', '--token-file', '/nowhere'],
        ['recall', '--memory', 'http://127.0.0.1:9', '--client-pem', 'x'],
        ['recall', '--memory', 'http://127.0.0.1:9', '--db-name', ''],
    ],
    ids=lambda arguments: ' '.join(arguments)[:60].encode('unicode_escape').decode(),
)
def test_wrong_usage_exits_with_2_and_changes_nothing(
    command: Run, command_json: RunJson, memory: str, arguments: list[str]
) -> None:
    with_memory = (
        arguments if '--memory' in arguments or arguments == ['map'] else [*arguments, '--memory', memory]
    )
    code, out, err = command(*with_memory)
    assert (code, out) == (2, '')
    assert 'remembr' in err
    assert 'Traceback' not in err
    assert len(ids(command_json, memory)) == 5


@pytest.mark.parametrize(
    'arguments',
    [
        ['--text', 'corridor ' * 1100],
        ['--text', '\U0001f9d1\u200d\U0001f680\U0001f468\u200d\U0001f469'],
        ['--text', '\'"; drop table memories; -- \\ %s {} $(rm) \x00'],
        ['--text', "' or id != ''"],
        ['--text', '\udcff'],
        ['--text', '?!'],
        ['--time', '9223372036'],
        ['--time', '2200-01-01', '--around'],
        ['--time', '0', '--around'],
        ['--position', '1e9', '-1e-5', '-1e9'],
    ],
    ids=lambda arguments: ' '.join(arguments)[:30].encode('unicode_escape').decode(),
)
@pytest.mark.parametrize('filled', [True, False])
def test_odd_recalls_are_answered(
    command_json: RunJson, memory: str, tmp_path: Path, arguments: list[str], filled: bool
) -> None:
    if not filled:
        memory = str(tmp_path / 'empty.db')
        open_store(memory, HashingEmbedder(64)).close()
    found = command_json('recall', '--memory', memory, '--limit', '3', *arguments)['memories']
    assert len(found) == (3 if filled else 0)


def test_a_text_that_is_too_long_to_be_compared_is_refused(command: Run, memory: str) -> None:
    code, out, err = command('recall', 'corridor ' * 1200, '--memory', memory)
    assert (code, out) == (2, '')
    assert 'at most 10000 characters' in err


@pytest.mark.parametrize(
    ('time', 'limit', 'expected'),
    [
        (1_700_000_120, 3, ['id1', 'id2', 'id3']),
        (1_700_000_000, 3, ['id0', 'id1', 'id2']),
        (1_900_000_000, 2, ['id3', 'id4']),
        (1_700_000_120, 1, ['id2']),
    ],
)
def test_around_is_in_the_order_of_time(
    command_json: RunJson, memory: str, time: int, limit: int, expected: list[str]
) -> None:
    found = command_json('recall', '--memory', memory, '--time', time, '--around', '--limit', limit)
    assert [memory['id'] for memory in found['memories']] == expected


def test_a_dry_run_lists_and_changes_nothing(command: Run, command_json: RunJson, memory: str) -> None:
    listed = command_json('forget', '--memory', memory, '--text', 'secret', '--dry-run')
    assert (listed['dry_run'], listed['count'], listed['memories'][0]['id']) == (True, 1, 'id2')
    code, out, _ = command('forget', '--memory', memory, '--older-than', '1d', '--dry-run')
    assert (code, out.splitlines()[0], len(out.splitlines())) == (0, '5 memories would be deleted', 6)
    assert len(ids(command_json, memory)) == 5


@pytest.mark.parametrize(
    ('arguments', 'left'),
    [
        (['--id', 'id0', '--id', 'id4', '--id', 'nothing'], ['id3', 'id2', 'id1']),
        (['--near', '3', '0', '0', '--radius', '1'], ['id1', 'id0']),
        (['--after', '1700000060', '--before', '1700000120'], ['id4', 'id3', 'id0']),
        (['--robot', 'nobody'], ['id4', 'id3', 'id2', 'id1', 'id0']),
        (['--older-than', '1w', '--text', '4711'], ['id4', 'id3', 'id1', 'id0']),
        (['--older-than', '99999w'], ['id4', 'id3', 'id2', 'id1', 'id0']),
    ],
)
def test_what_meets_every_condition_is_forgotten(
    command_json: RunJson, memory: str, arguments: list[str], left: list[str]
) -> None:
    done = command_json('forget', '--memory', memory, *arguments, '--yes')
    assert done['count'] == 5 - len(left) == len(done['ids'])
    assert ids(command_json, memory) == left


def test_what_was_forgotten_is_in_no_file(command: Run, memory: str) -> None:
    def holding() -> list[Path]:
        files = [path for path in Path(memory).parent.rglob('*') if path.is_file()]
        return [path for path in files if b'4711' in path.read_bytes()]

    assert holding()
    assert command('forget', '--memory', memory, '--text', 'secret', '--yes')[:2] == (
        0,
        '1 memory deleted\n',
    )
    assert holding() == []


def test_a_person_is_asked(
    command: Run, command_json: RunJson, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for typed, code, left in (('\n', 1, 5), ('', 1, 5), ('y\n', 0, 4)):
        monkeypatch.setattr('sys.stdin', Terminal(typed))
        done, _, err = command('forget', '--memory', memory, '--id', 'id2')
        assert (done, 'Delete 1 memory for good?' in err) == (code, True)
        assert len(ids(command_json, memory)) == left


def test_what_comes_while_a_person_reads_is_not_deleted_unseen(
    command: Run, command_json: RunJson, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Terminal):
        def readline(self, *_: Any) -> str:
            with open_store(memory, HashingEmbedder(64)) as store:
                store.add(
                    [Observation(Memory('new', 'r', 1_800_000_000 * NS, 1_800_000_001 * NS, 'Corridor.'))]
                )
            return 'y\n'

    monkeypatch.setattr('sys.stdin', Slow())
    code, out, _ = command('forget', '--memory', memory, '--text', 'corridor')
    assert (code, out.splitlines()[-1]) == (0, '4 memories deleted')
    assert ids(command_json, memory) == ['new', 'id2']


def test_nobody_to_ask_is_told(command: Run, memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('sys.stdin', io.StringIO('y\n'))
    code, out, err = command('forget', '--memory', memory, '--id', 'id2')
    assert (code, out) == (2, '')
    assert '--yes' in err


def test_json_alone_deletes_nothing(
    command: Run, command_json: RunJson, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stdin in (Terminal('y\n'), io.StringIO('y\n')):
        monkeypatch.setattr('sys.stdin', stdin)
        code, out, err = command('forget', '--memory', memory, '--id', 'id2', '--json')
        assert (code, out) == (2, '')
        assert '--dry-run' in err
        assert '--yes' in err
    assert len(ids(command_json, memory)) == 5


def test_export_and_import(command: Run, command_json: RunJson, memory: str, tmp_path: Path) -> None:
    file, other = tmp_path / 'm.jsonl.gz', tmp_path / 'other.db'
    out = command_json('export', file, '--memory', memory, '--after', '1700000060')
    assert (out['memories'], out['bytes']) == (4, file.stat().st_size)
    read = command_json('import', file, '--memory', other, '--embedder', 'hashing-128')
    assert (read['added'], read['embedded'], read['memories']) == (4, 4, 4)
    again = command_json('import', file, '--memory', other)
    assert (again['added'], again['unchanged']) == (0, 4)
    assert ids(command_json, str(other)) == ['id4', 'id3', 'id2', 'id1']
    assert command('import', file, '--memory', other)[1].startswith('4 memories read: 0 new')


def test_an_id_that_no_memory_has_is_told(command: Run, memory: str) -> None:
    code, out, err = command('forget', '--memory', memory, '--id', 'id', '--id', 'id0', '--yes')
    assert (code, out) == (0, '1 memory deleted\n')
    assert err == 'no memory that is meant has the id id; remembr recall shows ids\n'


def test_an_id_that_was_shown_can_be_used(command: Run, command_json: RunJson, tmp_path: Path) -> None:
    path = tmp_path / 'm.db'
    note = command('remember', 'A lift.', '--memory', path, '--embedder', 'hashing')[1].strip()
    assert note in command('recall', '--memory', path)[1].split()
    assert command_json('forget', '--memory', path, '--id', note, '--yes')['count'] == 1


def test_an_export_is_named_by_its_format(command: Run, memory: str, tmp_path: Path) -> None:
    code, _, err = command('export', tmp_path / 'out.csv', '--memory', memory)
    assert code == 2
    assert '.jsonl, .jsonl.gz' in err
    assert not list(tmp_path.glob('*.csv'))


def test_an_export_replaces_nothing_unasked(command: Run, memory: str, tmp_path: Path) -> None:
    file = tmp_path / 'm.jsonl'
    assert command('export', file, '--memory', memory)[0] == 0
    assert command('export', file, '--memory', memory)[0] == 2
    assert command('export', file, '--memory', memory, '--force')[0] == 0
    assert command('export', memory, '--memory', memory, '--force')[0] == 2
    assert command('info', '--memory', memory)[0] == 0
    for uri in (file, f'milvus-lite:{file}', f'file://{file}'):
        code, _, err = command('export', file, '--memory', uri, '--force')
        assert (code, 'there already' in err) == (2, True), uri


def test_milvus_lite_takes_no_options_of_a_server(command: Run, tmp_path: Path) -> None:
    code, _, err = command('info', '--memory', f'milvus-lite:{tmp_path}/lite.db', '--user', 'ann')
    assert (code, '--user is for a Milvus server' in err) == (2, True)


@pytest.mark.parametrize('content', [None, b'', b'no memories', b'{"format": "x"}\n'])
def test_a_file_without_memories_makes_no_memory(command: Run, tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / 'm.jsonl'
    if content is not None:
        file.write_bytes(content)
    code, out, err = command('import', file, '--memory', tmp_path / 'new.db', '--embedder', 'hashing')
    assert (code, out) == (1, '')
    assert str(file) in err
    assert not (tmp_path / 'new.db').exists()


def test_a_map_is_renamed_and_moved(command: Run, command_json: RunJson, memory: str) -> None:
    moved = command_json('map', 'rename', '', 'first', '--memory', memory)
    assert moved == {'map': '', 'new_map': 'first', 'moved': 5}
    turn = ['--by', '10', '-1', '1.5707963267948966', '--new-map', 'second', '--frame-id', 'world']
    code, out, _ = command('map', 'transform', 'first', *turn, '--memory', memory)
    assert (code, out) == (0, "5 memories of map 'first' are now in map 'second'\n")
    last = command_json('recall', '--memory', memory, '--limit', '1')['memories'][0]
    assert last['position'] == pytest.approx([10.0, 3.0, 0.0])
    assert (last['map'], last['frame_id']) == ('second', 'world')
    same = ['--by', '0', '0', '0', '0', '0', '0', '1']
    assert command_json('map', 'transform', 'second', *same, '--memory', memory)['moved'] == 5
    code, _, err = command('map', 'rename', 'frist', 'x', '--memory', memory)
    assert (code, "there are: 'second'" in err) == (1, True)


def test_two_maps_are_not_merged_by_a_rename(command: Run, memory: str) -> None:
    command('remember', 'x', '--map', 'first', '--memory', memory)
    code, _, err = command('map', 'rename', 'first', '', '--memory', memory)
    assert (code, 'remembr map transform' in err) == (2, True)


def test_credentials_reach_the_connection(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def opened(*arguments: Any, connection: Any, **options: Any) -> Any:
        given.append(connection)
        raise KeyboardInterrupt

    monkeypatch.setattr('remembr_ros.cli.options.open_store', opened)
    monkeypatch.setenv('REMEMBR_MILVUS_PASSWORD', 'hunter2')
    server = ['info', '--memory', 'https://host:1', '--db-name', 'fleet', '--server-name', 'n']
    token = tmp_path / 'token'
    token.write_text('abc\n')
    command(*server, '--user', 'ann')
    command(*server, '--token-file', token, '--ca-pem', 'ca', '--client-pem', 'c', '--client-key', 'k')
    command('info', '--memory', tmp_path / 'm.db')
    assert [link and link.credentials for link in given] == ['ann:hunter2', 'abc', None]
    assert (given[0].database, given[1].server_name) == ('fleet', 'n')
    assert (given[1].ca_pem_path, given[1].client_pem_path, given[1].client_key_path) == ('ca', 'c', 'k')
