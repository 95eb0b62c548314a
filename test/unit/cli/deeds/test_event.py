import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.store import MemoryStore

Run = Callable[..., tuple[int, str, str]]
RunJson = Callable[..., dict[str, Any]]


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    return ['--memory', str(tmp_path / 'm.db'), '--embedder', 'hashing']


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    def write(*lines: Any) -> str:
        path = tmp_path / 'log.jsonl'
        path.write_text('\n'.join(line if isinstance(line, str) else json.dumps(line) for line in lines))
        return str(path)

    return write


def deeds(command_json: RunJson, options: list[str], *narrowed: str) -> list[dict[str, Any]]:
    found = command_json('recall', *options, '--source', 'agent', '--limit', '1000', *narrowed)
    return found['memories']


def line(second: int, **about: Any) -> dict[str, Any]:
    return {'kind': 'pick', 'object': f'thing {second}', 'begin': f'2026-11-20T09:00:{second:02}Z', **about}


def test_a_sentence_alone(command: Run, command_json: RunJson, options: list[str]) -> None:
    made = command_json('event', 'picked the red mug from the table', *options, '--end', '1700000000')
    assert (made['caption'], made['source']) == ('Picked the red mug from the table', 'agent')
    assert made['facts'] == {
        'kind': 'pick',
        'text': 'picked the red mug from the table',
        'outcome': 'unknown',
    }
    assert made['start'] == made['end'] == '2023-11-14T22:13:20.000000Z'
    code, out, _ = command('event', 'picked the red mug from the table', *options, '--end', '1700000000')
    assert (code, out) == (0, f'{made["id"]}\n')


def test_all_options(command_json: RunJson, options: list[str]) -> None:
    made = command_json(
        *('event', '--kind', 'place', '--object', 'mug', '--receptacle', 'sink', '--place', 'kitchen'),
        *('--begin', '2026-11-20T09:00:00Z', '--end', '2026-11-20T09:01:00Z', '--outcome', 'failed'),
        *('--reason', 'it is full', '--position', '1', '-2', '0', '--robot', 'r2', '--map', 'm', *options),
    )
    assert made['caption'] == 'Failed to put the mug on the sink (kitchen): it is full'
    assert (made['robot'], made['map'], made['position']) == ('r2', 'm', [1.0, -2.0, 0.0])
    assert made['facts']['reason'] == 'it is full'


def test_a_log_goes_in_without_a_loss_and_twice(
    command: Run, command_json: RunJson, options: list[str], file: Callable[..., str]
) -> None:
    lines = [line(second, end='', position=None, outcome='', reason='', text='') for second in range(50)]
    path = file(*reversed(lines), '', line(3, object='thing 3'))
    for _ in range(2):
        told = command_json('event', '--file', path, *options)
        assert (told['deeds'], told['memories']) == (51, 50)
        assert {one['facts']['object'] for one in deeds(command_json, options)} == {
            f'thing {second}' for second in range(50)
        }
    (found,) = command_json('recall', *options, '--time', '2026-11-20T09:00:07Z', '--limit', '1')['memories']
    assert found['caption'] == 'Picked the thing 7'


def test_the_way_that_was_driven(command_json: RunJson, options: list[str], file: Callable[..., str]) -> None:
    lines = [line(1, travelled=2.5), line(2, travelled=3), line(3, travelled=''), line(4, travelled=None)]
    command_json('event', '--file', file(*lines), *options)
    found = {one['facts']['object']: one['travelled'] for one in deeds(command_json, options)}
    assert found == {'thing 1': 2.5, 'thing 2': 3.0, 'thing 3': 0.0, 'thing 4': 0.0}


def test_what_begins_and_then_ends_is_one_deed(
    command_json: RunJson, options: list[str], file: Callable[..., str]
) -> None:
    command_json('event', '--file', file(line(5)), *options)
    ended = line(5, end='2026-11-20T09:00:40Z', outcome='failed', reason='it is stuck')
    command_json('event', '--file', file(ended), *options)
    (found,) = deeds(command_json, options)
    assert found['caption'] == 'Failed to pick the thing 5: it is stuck'
    assert found['end'] == '2026-11-20T09:00:40.000000Z'


@pytest.mark.parametrize(
    ('wrong', 'said'),
    [
        ('{', 'line 2: '),
        ('[]', 'line 2: '),
        ('7', 'line 2: '),
        (line(1, begin=[7]), 'line 2: '),
        (line(1, position='here'), 'line 2: '),
        (line(1, position=['a', 'b', 'c']), 'line 2: '),
        ({'kind': 'pick'}, 'line 2: it needs a begin'),
        (line(1, begin='soon'), "line 2: begin is 'soon': 'soon' is not a time"),
        (line(1, end='2026-11-20T08:00:00Z'), 'line 2: the deed ends before it begins'),
        (line(1, outcome='well'), "line 2: outcome is 'well'"),
        (line(1, position=[1]), 'line 2: position is [1]: it has to be coordinates'),
        (line(1, position=[1e12, 0, 0]), 'line 2: '),
        (line(1, travelled='far'), "line 2: travelled is 'far'"),
        (line(1, travelled=-1), 'line 2: travelled is -1'),
        (line(1, travelled=True), 'line 2: travelled is True'),
        (line(1, travelled=[1]), 'line 2: travelled is [1]'),
        (line(1, travelled=float('nan')), 'line 2: travelled is nan'),
        (line(1, travelled=10**400), 'line 2: travelled is 1'),
        ({'begin': '2026-11-20T09:00:00Z'}, "line 2: a deed needs a kind, such as 'pick', or a text"),
    ],
)
def test_a_line_that_makes_no_sense_is_named_and_nothing_is_stored(
    command: Run, options: list[str], file: Callable[..., str], wrong: Any, said: str
) -> None:
    code, _, error = command('event', '--file', file(line(0), wrong), *options)
    assert code == 2
    assert said in error
    assert not Path(options[1]).exists()


def test_a_field_that_there_is_not_is_told_and_left_out(
    command_json: RunJson, options: list[str], file: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    assert command_json('event', '--file', file(line(0, colour='red')), *options)['memories'] == 1
    assert "line 1: 'colour' is no field" in caplog.text


def test_a_file_that_is_none(command: Run, options: list[str], tmp_path: Path) -> None:
    code, _, error = command('event', '--file', str(tmp_path / 'nothing'), *options)
    assert (code, 'cannot be read' in error) == (2, True)
    code, _, error = command('event', 'picked it', '--file', str(tmp_path / 'nothing'), *options)
    assert (code, 'either a file or one deed' in error) == (2, True)
    code, _, error = command('event', *options)
    assert (code, 'say what was done' in error) == (2, True)


def test_deeds_are_forgotten_exported_and_imported_like_all_memories(
    command: Run, command_json: RunJson, options: list[str], file: Callable[..., str], tmp_path: Path
) -> None:
    command_json('event', '--file', file(*(line(second) for second in range(5))), *options)
    copy = ['--memory', str(tmp_path / 'copy.db'), '--embedder', 'hashing']
    out = str(tmp_path / 'out.jsonl')
    assert command('export', out, *options)[0] == 0
    assert command('import', out, *copy)[0] == 0
    assert deeds(command_json, copy) == deeds(command_json, options)
    assert command('forget', '--text', 'thing 3', '--yes', *copy)[0] == 0
    assert len(deeds(command_json, copy)) == 4


def test_a_file_is_stored_as_a_whole_or_not_at_all(
    command: Run, options: list[str], file: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add, counts = MemoryStore.add, []

    def counted(store: MemoryStore, observations: Sequence[Observation]) -> list[Memory]:
        counts.append(len(observations))
        return add(store, observations)

    monkeypatch.setattr(MemoryStore, 'add', counted)
    path = file(*({**line(0), 'begin': str(1_700_000_000 + second)} for second in range(250)))
    assert command('event', '--file', path, *options)[0] == 0
    assert counts == [250]


@pytest.mark.parametrize(
    ('written', 'encoding'),
    [
        (json.dumps, 'utf-8'),
        (lambda lines: json.dumps(lines, indent=2), 'utf-8-sig'),
        (lambda lines: '\n'.join(map(json.dumps, lines)), 'utf-8-sig'),
        (lambda lines: '\r\n'.join(map(json.dumps, lines)), 'utf-16'),
    ],
)
def test_deeds_as_other_programs_write_them(
    command_json: RunJson, options: list[str], tmp_path: Path, written: Callable[..., str], encoding: str
) -> None:
    path = tmp_path / 'deeds.json'
    lines = [line(0, position={'x': '1', 'y': 2, 'z': 0.5}), line(1, position=[1, 2, 0.5], object='Tür')]
    path.write_bytes(written(lines).encode(encoding))
    assert command_json('event', '--file', str(path), *options)['deeds'] == 2
    assert [one['position'] for one in deeds(command_json, options)] == [[1.0, 2.0, 0.5]] * 2


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        (json.dumps([line(0), line(1, begin='soon')]), "deed 2: begin is 'soon': 'soon' is not a time"),
        (json.dumps([line(0), 7]), 'deed 2: 7 is no deed; give a JSON object'),
        (json.dumps([line(0)]) + json.dumps([line(1)]), 'line 1: it is no JSON (Extra data'),
        ('\n\nkind,object\npick,cup', 'line 3: it is no JSON'),
        (json.dumps(line(0)) + '\n\n{"kind": "pick"', 'line 3: it is no JSON'),
        (
            json.dumps(line(0, position={'lat': 1.0, 'lon': 2.0})),
            "position is {'lat': 1.0, 'lon': 2.0}: it has to be coordinates x, y and maybe z in metres",
        ),
        (json.dumps(line(0, position=3)), 'position is 3: it has to be coordinates'),
        (json.dumps(line(0, place=117)), 'line 1: place is 117: it has to be the name of a room or place'),
        ('  \n', 'has no deeds'),
    ],
)
def test_what_no_deed_can_be_read_from_is_told(
    command: Run, options: list[str], tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / 'deeds.json'
    path.write_text(text)
    code, _, error = command('event', '--file', str(path), *options)
    assert (code, said in error) == (2, True), error
    path.write_bytes('{"text": "Tür"}'.encode('latin-1'))
    assert "'utf-8' codec" in command('event', '--file', str(path), *options)[2]
