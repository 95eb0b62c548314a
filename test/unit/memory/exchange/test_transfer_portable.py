import base64
import gzip
import json
import os
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembr_ros.errors import BagUnreadable, InvalidRequest, RemembrError
from remembr_ros.geometry import Pose
from remembr_ros.memory.exchange import transfer
from remembr_ros.memory.exchange.json_lines import Header, PortableMemory
from remembr_ros.memory.model.record import SOURCES, Memory
from remembr_ros.timestamps import MAX_NS

JPEG = cv2.imencode('.jpg', np.zeros((8, 8, 3), np.uint8))[1].tobytes()
FULL = Header('hashing-4', 4, vectors=True, keyframes=True)
NAMES = ['m.jsonl', 'm.jsonl.gz']


def memory(i: int, **changes: object) -> Memory:
    return replace(
        Memory(f'm{i}', 'robbie', i * 10**9, i * 10**9 + 5, f'thing {i}', Pose(float(i), 0.5, -1.0, 3.0)),
        **changes,  # type: ignore[arg-type]
    )


def vectors(rows: int, seed: int = 0) -> np.ndarray:
    found = np.random.default_rng(seed).normal(size=(rows, 4)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def items(count: int, **changes: object) -> Iterator[PortableMemory]:
    for i in range(count):
        yield PortableMemory(memory(i, **changes), vectors(1 + i % 3, i), (JPEG,) * (i % 3))


def read_all(path: Path) -> list[PortableMemory]:
    return list(transfer.read(path)[1])


def read_until_damage(path: Path) -> tuple[list[Memory], str]:
    _, read = transfer.read(path)
    found: list[Memory] = []
    with pytest.raises(BagUnreadable) as caught:
        found.extend(item.memory for item in read)
    return found, str(caught.value)


@pytest.mark.parametrize('name', NAMES)
def test_everything_comes_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    steps: list[int] = []
    assert transfer.write(path, replace(FULL, count=7), items(7), steps.append) == 7
    assert steps == [1, 2, 3, 4, 5, 6, 7]
    header, found = transfer.read(path)
    assert header == replace(FULL, count=7)
    for item, before in zip(found, items(7), strict=True):
        assert item.memory == before.memory
        assert item.images == before.images
        assert item.vectors is not None
        assert item.vectors.dtype == np.float32
        assert np.allclose(item.vectors, before.vectors, atol=1e-3)
        assert np.allclose(np.linalg.norm(item.vectors, axis=1), 1.0, atol=1e-6)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize('name', NAMES)
def test_vectors_and_images_stay_behind_unless_asked_for(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    transfer.write(path, Header(), items(3))
    assert transfer.read(path)[0] == Header()
    assert [(item.memory.id, item.vectors, item.images) for item in read_all(path)] == [
        (f'm{i}', None, ()) for i in range(3)
    ]


@pytest.mark.parametrize('name', NAMES)
def test_no_memories_are_a_file_too(tmp_path: Path, name: str) -> None:
    assert transfer.write(tmp_path / name, replace(FULL, count=0), []) == 0
    assert read_all(tmp_path / name) == []


def test_the_format_is_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl'
    item = PortableMemory(memory(1, scene_text=('EXIT',), merged=3), np.eye(4, dtype=np.float32)[:2], (JPEG,))
    transfer.write(path, replace(FULL, count=1), [item])
    header, line, end = map(json.loads, path.read_text().splitlines())
    assert header == {
        'format': 'remembr_ros memories',
        'version': 1,
        'embedder': 'hashing-4',
        'dimension': 4,
        'vectors': True,
        'keyframes': True,
        'count': 1,
    }
    numbers = np.frombuffer(base64.b64decode(line.pop('vectors')), '<f2')
    assert numbers.tolist() == [1, 0, 0, 0, 0, 1, 0, 0]
    assert [base64.b64decode(image) for image in line.pop('images')] == [JPEG]
    assert line['start_ns'] == 10**9
    assert line['pose'] == {'x': 1.0, 'y': 0.5, 'z': -1.0, 'yaw': 3.0}
    assert set(line) == set(Memory.__dataclass_fields__)
    assert end == {'end': 1}


texts = st.text(st.characters(codec='utf-8') | st.sampled_from('"\'\\\n\r\t\0\u2028🤖é'), max_size=20)
finite = st.floats(-1e9, 1e9)
memories = st.builds(
    Memory,
    id=st.text('abc123', min_size=1, max_size=5),
    robot=texts,
    start_ns=st.integers(0, MAX_NS),
    end_ns=st.integers(0, MAX_NS),
    caption=texts,
    pose=st.none() | st.builds(Pose, finite, finite, finite, finite),
    frame_id=texts,
    map_id=texts,
    travelled=finite,
    scene_text=st.lists(texts, max_size=3).map(tuple),
    captioner=texts,
    source=st.sampled_from(SOURCES),
    keyframes=st.lists(texts, max_size=2).map(tuple),
    merged=st.integers(1, MAX_NS),
)


@pytest.mark.parametrize('name', NAMES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(written=st.lists(memories, max_size=4))
def test_every_text_and_number_survives(tmp_path: Path, name: str, written: list[Memory]) -> None:
    path = tmp_path / name
    transfer.write(path, Header(), map(PortableMemory, written))
    assert [item.memory for item in read_all(path)] == written


@pytest.mark.parametrize('name', NAMES)
def test_half_a_character_is_replaced(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    transfer.write(path, Header(), [PortableMemory(memory(1, caption='a \ud83d b', scene_text=('\udc00',)))])
    (item,) = read_all(path)
    assert (item.memory.caption, item.memory.scene_text) == ('a ? b', ('?',))


def test_half_a_character_that_another_program_wrote_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl'
    transfer.write(path, Header(), [PortableMemory(memory(1, caption='HERE'))])
    path.write_text(path.read_text().replace('HERE', r'\ud83d \uD83E\uDD16'))
    assert [item.memory.caption for item in read_all(path)] == ['? 🤖']


def test_what_is_read_is_told_by_its_content(tmp_path: Path) -> None:
    transfer.write(tmp_path / 'm.gz', Header(), items(2))
    (tmp_path / 'm.gz').rename(tmp_path / 'm.gml')
    assert len(read_all(tmp_path / 'm.gml')) == 2
    plain = gzip.decompress((tmp_path / 'm.gml').read_bytes())
    (tmp_path / 'm.txt').write_bytes(b'\xef\xbb\xbf' + plain.replace(b'\n', b'\r\n') + b'\r\n')
    assert len(read_all(tmp_path / 'm.txt')) == 2, 'as an editor on Windows leaves it'


def test_the_same_memories_make_the_same_file(tmp_path: Path) -> None:
    for name in ('a.gz', 'b.gz'):
        transfer.write(tmp_path / name, FULL, items(3))
    assert (tmp_path / 'a.gz').read_bytes() == (tmp_path / 'b.gz').read_bytes()


@pytest.mark.parametrize('name', ['m.jsonl', 'm.jsonl.gz'])
@pytest.mark.parametrize('share', [0.3, 0.6, 0.9, 0.999])
def test_of_a_file_that_is_cut_off_the_beginning_is_read(tmp_path: Path, name: str, share: float) -> None:
    path = tmp_path / name
    transfer.write(path, FULL, items(200))
    size = path.stat().st_size
    os.truncate(path, int(size * share))
    found, message = read_until_damage(path)
    assert found == [item.memory for item in items(len(found))]
    assert abs(len(found) - 200 * share) < 60
    # Of a compressed file the checksum after the last line may be all that is missing.
    assert f'line {len(found) + 2}: ' in message or (len(found), 'line 203: ' in message) == (200, True)
    assert f'The {len(found)} memories before it are whole' in message


def test_a_file_that_ends_with_a_whole_line_is_not_taken_for_whole(tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl'
    transfer.write(path, FULL, items(4))
    path.write_bytes(b''.join(path.read_bytes().splitlines(keepends=True)[:4]))
    found, message = read_until_damage(path)
    assert len(found) == 3
    assert 'cut off after line 4' in message
    assert '3 memories' in message


def test_the_count_in_the_header_does_for_a_last_line(tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl'
    transfer.write(path, replace(FULL, count=4), items(4))
    path.write_bytes(b'\n'.join(path.read_bytes().splitlines()[:5]))
    assert len(read_all(path)) == 4


def test_a_memory_too_few_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl'
    transfer.write(path, FULL, items(4))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b''.join(lines[:2] + lines[3:]))
    found, message = read_until_damage(path)
    assert len(found) == 3
    assert 'it says that it has 4' in message


def test_joined_files_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl'
    transfer.write(path, FULL, items(2))
    path.write_bytes(path.read_bytes() * 2)
    found, message = read_until_damage(path)
    assert len(found) == 2
    assert 'line 5' in message
    assert 'joined' in message


def test_a_damaged_byte_in_a_compressed_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / 'm.gz'
    transfer.write(path, FULL, items(200))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    found, message = read_until_damage(path)
    assert len(found) < 200
    assert 'line' in message


LINE = {'id': 'm1', 'robot': 'r', 'start_ns': 1, 'end_ns': 2, 'caption': 'a door'}


@pytest.mark.parametrize(
    ('changes', 'field'),
    [
        ({'id': None}, 'id'),
        ({'start_ns': -1}, 'start_ns'),
        ({'start_ns': 1.5}, 'start_ns'),
        ({'start_ns': '1'}, 'start_ns'),
        ({'end_ns': 2**63}, 'end_ns'),
        ({'caption': 5}, 'caption'),
        ({'pose': [1, 2, 3, 4]}, 'pose'),
        ({'pose': {'x': 1, 'y': 2, 'z': 3}}, 'yaw'),
        ({'pose': {'x': float('nan'), 'y': 2, 'z': 3, 'yaw': 0}}, 'pose.x'),
        ({'pose': {'x': 10**400, 'y': 2, 'z': 3, 'yaw': 0}}, 'line 3'),
        ({'scene_text': 'EXIT'}, 'scene_text'),
        ({'merged': 0}, 'merged'),
        ({'vectors': 5}, 'base64'),
        ({'vectors': 'AAA='}, 'line 3'),
        ({'vectors': base64.b64encode(bytes(6)).decode()}, 'multiple of 4'),
        ({'vectors': base64.b64encode(b'\x00\x7e' * 4).decode()}, 'finite'),
        ({'images': 'AAAA'}, 'images'),
        ({'images': ['???']}, 'line 3'),
        ({'images': ['AAAA']}, 'JPEG'),
    ],
)
def test_a_damaged_field_is_named_with_its_line(
    tmp_path: Path, changes: dict[str, object], field: str
) -> None:
    path = tmp_path / 'm.jsonl'
    header = {
        'format': 'remembr_ros memories',
        'version': 1,
        'vectors': True,
        'dimension': 4,
        'keyframes': True,
    }
    lines = [header, LINE, {**LINE, **changes}, LINE, {'end': 3}]
    path.write_text('\n'.join(map(json.dumps, lines)))
    found, message = read_until_damage(path)
    assert [memory.id for memory in found] == ['m1']
    assert 'line 3' in message
    assert field in message


def test_a_place_beyond_any_map_is_none(tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl'
    far = {**LINE, 'pose': {'x': 1e300, 'y': 2, 'z': 3, 'yaw': 0}}
    path.write_text(
        '\n'.join(map(json.dumps, [{'format': 'remembr_ros memories', 'version': 1}, far, {'end': 1}]))
    )
    assert [item.memory.pose for item in transfer.read(path)[1]] == [None]
    captions = tmp_path / 'captions.json'
    segment = {'position': [0, -1e12, 0], 'time': 5.5, 'start_time': 5, 'end_time': 6, 'caption': 'a door'}
    captions.write_text(json.dumps([segment]))
    assert [item.memory.pose for item in transfer.read(captions)[1]] == [None]


@pytest.mark.parametrize(
    'line', ['null', '[]', '5', '"x"', '{', '\0\0\0', '[' * 100_000, '{"end": "many"}', '{}']
)
def test_a_line_without_sense_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / 'm.jsonl'
    path.write_text('\n'.join(['{"format": "remembr_ros memories", "version": 1}', json.dumps(LINE), line]))
    found, message = read_until_damage(path)
    assert len(found) == 1
    assert 'line 3' in message


def test_what_a_later_program_adds_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl'
    lines = [
        {'format': 'remembr_ros memories', 'version': 1, 'mood': 'good'},
        {**LINE, 'smell': 'coffee'},
        {'end': 1},
    ]
    path.write_text('\n'.join(map(json.dumps, lines)) + '\n\n')
    assert [item.memory for item in read_all(path)] == [Memory('m1', 'r', 1, 2, 'a door')]


@pytest.mark.parametrize(
    ('content', 'hint'),
    [
        (b'', 'empty'),
        (b' \n', 'empty'),
        (b'{"format": "remembr_ros memories", "version": 2}\n', 'version 2'),
        (b'{"format": "remembr_ros memories"}\n', 'version'),
        (b'{"format": "something else"}\n', 'something else'),
        (b'{"role": "user"}\n{"role": "assistant"}\n', 'as remembr exports'),
        (b'{\n  "memories": []\n}\n', 'as remembr exports'),
        (b'{"format"', 'as remembr exports'),
        (b'[1, 2]', 'captions'),
        (b'caption,time\nx,1\n', 'can be read'),
        (b'# A title\n\nSome text.\n', 'can be read'),
        (b'\x89PNG\r\n', 'can be read'),
        (b'graph [', 'can be read'),
        (gzip.compress(b'[{}]', mtime=0), 'gunzip'),
        (gzip.compress(b'{}', mtime=0)[:12], 'm.jsonl'),
        (b'\x1f\x8bgarbage', 'm.jsonl'),
    ],
)
def test_another_kind_of_file_is_refused_with_a_hint(tmp_path: Path, content: bytes, hint: str) -> None:
    path = tmp_path / 'm.jsonl'
    path.write_bytes(content)
    with pytest.raises(BagUnreadable, match=r'm\.jsonl') as caught:
        read_all(path)
    assert hint in str(caught.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / 'missing.jsonl'):
        with pytest.raises(BagUnreadable, match='cannot be read'):
            transfer.read(path)


def test_upstreams_captions_are_read(tmp_path: Path) -> None:
    path = tmp_path / 'captions.json'
    segment = {'position': [1, 2, 3], 'time': 1.5, 'start_time': 1.0, 'end_time': 2.0, 'caption': 'a door'}
    path.write_text(json.dumps([segment]))
    header, found = transfer.read(path)
    assert header == Header(count=1)
    (item,) = found
    assert (item.memory.caption, item.memory.map_id) == ('a door', 'captions')
    assert item.memory.pose == Pose(1.0, 2.0, 3.0)


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl'
    path.write_text('the last backup')

    def breaks() -> Iterator[PortableMemory]:
        yield from items(3)
        assert path.read_text() == 'the last backup'
        raise InvalidRequest('the store is gone')

    with pytest.raises(InvalidRequest, match='gone'):
        transfer.write(path, FULL, breaks())
    assert path.read_text() == 'the last backup'
    assert os.listdir(tmp_path) == ['m.jsonl']


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(RemembrError, match='cannot be written'):
        transfer.write(tmp_path / 'missing' / 'm.jsonl', FULL, items(1))
    with pytest.raises(RemembrError, match='cannot be written'):
        transfer.write(tmp_path, FULL, items(1))
    full = Path('/dev/full')
    if full.exists():
        link = tmp_path / f'm.jsonl.{os.getpid()}.part'
        link.symlink_to(full)
        with pytest.raises(RemembrError, match='No space'):
            transfer.write(tmp_path / 'm.jsonl', FULL, items(10))
        assert os.listdir(tmp_path) == []


@pytest.mark.parametrize('name', NAMES)
def test_vectors_of_another_embedder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match='m0'):
        transfer.write(tmp_path / name, replace(FULL, dimension=5), items(1))
    with pytest.raises(InvalidRequest, match='embedder'):
        transfer.write(tmp_path / name, Header(vectors=True), items(1))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize('bad', [np.nan, np.inf, 1e6])
def test_vectors_that_are_none_are_not_written(tmp_path: Path, bad: float) -> None:
    with pytest.raises(InvalidRequest, match='m1'):
        transfer.write(
            tmp_path / 'm.jsonl', FULL, [PortableMemory(memory(1), np.full((1, 4), bad, np.float32))]
        )


def test_memory_stays_the_same_however_many_there_are(tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl.gz'
    tracemalloc.start()
    try:
        transfer.write(path, Header(), items(5000, caption='x' * 1000))
        written = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        assert sum(1 for _ in transfer.read(path)[1]) == 5000
        read = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert written < 2_000_000, 'the captions alone are 5 MB'
    assert read < 2_000_000


def test_reading_a_part_closes_the_file(tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl'
    transfer.write(path, FULL, items(10))
    transfer.read(path)
    _, found = transfer.read(path)
    assert [item.memory.id for item in islice(found, 2)] == ['m0', 'm1']
    found.close()  # type: ignore[attr-defined]
    assert str(path) not in {os.path.realpath(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd')}
