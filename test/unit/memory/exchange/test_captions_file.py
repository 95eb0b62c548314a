import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import Pose
from remembr_ros.memory.exchange import captions_file, transfer
from remembr_ros.memory.exchange.captions_file import read_captions, read_json
from remembr_ros.timestamps import NS

START_S = 1673884185.689107


def upstream(count: int = 4, **fields: Any) -> list[dict[str, Any]]:
    """Return records as upstream's captioner writes them: segments of 2.9 s, one every 3 s."""
    records = []
    for number in range(count):
        begin = round(START_S + 3.0 * number, 6)
        record = {
            'id': number,
            'position': [10.0 * number, 1.0, 0.0],
            'theta': 3.14,
            'time': begin + 1.4,
            'caption': f'a door {number}',
            'file_start': f'{begin}.pkl',
            'file_end': f'{round(begin + 2.9, 6)}.pkl',
            'text_embedding': [0.25, -0.5] * 512,
        }
        records.append({name: value for name, value in (record | fields).items() if value is not ...})
    return records


def read(folder: Path, records: Any, encoding: str = 'utf-8') -> list[captions_file.TimedMemory]:
    path = folder / 'captions_VILA1.5-13b_3_secs.json'
    path.write_text(json.dumps(records), encoding)
    return read_captions(path, 'drive')


def test_a_segment_is_that_of_its_pictures(tmp_path: Path) -> None:
    first, *_, last = (timed.memory for timed in read(tmp_path, upstream()))
    assert (first.start_ns, first.end_ns) == (1673884185689107000, 1673884188589107000)
    assert last.start_ns - first.start_ns == 9 * NS
    assert (last.caption, last.pose and last.pose.x) == ('a door 3', 30.0)


@pytest.mark.parametrize(
    'fields',
    [
        {'file_start': ..., 'file_end': ...},
        {'file_start': '2d_rect_cam0_0_12.jpg', 'file_end': '2d_rect_cam0_0_41.jpg'},
        {'file_start': '12.pkl', 'file_end': '41.pkl'},
        {'file_start': None, 'file_end': 7},
    ],
)
@pytest.mark.parametrize('count', [1, 4])
def test_without_times_a_segment_lies_around_its_mean(
    tmp_path: Path, fields: dict[str, Any], count: int
) -> None:
    for timed in read(tmp_path, upstream(count, **fields)):
        assert timed.memory.end_ns - timed.memory.start_ns == 3 * NS
        assert timed.memory.start_ns + 3 * NS // 2 == timed.mean_ns


def test_a_placeholder_is_no_heading(tmp_path: Path) -> None:
    assert {timed.memory.pose.yaw for timed in read(tmp_path, upstream())} == {0.0}  # type: ignore[union-attr]
    turned = upstream()
    turned[1]['theta'] = 1.0
    yaws = [timed.memory.pose.yaw for timed in read(tmp_path, turned)]  # type: ignore[union-attr]
    assert yaws == [3.14, 1.0, 3.14, 3.14], 'somebody measured these'


def test_embeddings_take_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captions_file, '_CHUNK', 1000)
    monkeypatch.setattr(captions_file, 'MAX_BYTES', 10_000)
    monkeypatch.setattr(captions_file, 'MAX_VALUES', 80)
    assert len(read(tmp_path, upstream())) == 4
    with pytest.raises(BagUnreadable, match='in parts'):
        read(tmp_path, upstream(100))


texts = st.text(max_size=8) | st.sampled_from(['text_embedding', '"text_embedding": [1, 2]', '[', ']', '\\'])


@given(
    captions=st.lists(texts, max_size=5),
    numbers=st.lists(st.floats(allow_nan=False), max_size=5),
    indent=st.sampled_from([None, 1]),
    chunk=st.integers(1, 200),
)
def test_nothing_but_embeddings_is_left_out(
    tmp_path_factory: pytest.TempPathFactory,
    captions: list[str],
    numbers: list[float],
    indent: int | None,
    chunk: int,
) -> None:
    path = tmp_path_factory.getbasetemp() / 'captions.json'
    records = [{'caption': text, 'text_embedding': numbers, text: [text]} for text in captions]
    path.write_text(json.dumps(records, indent=indent, ensure_ascii=False))
    expected = [
        {key: None if key == 'text_embedding' else value for key, value in record.items()}
        for record in records
    ]
    expected = expected if 'text_embedding' not in captions else None  # type: ignore[assignment]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(captions_file, '_CHUNK', chunk)
        found = read_json(path)
    assert expected is None or found == expected


@pytest.mark.parametrize('encoding', ['utf-8-sig', 'utf-16'])
def test_positions_by_name_and_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    records = upstream(position={'x': 1, 'y': 2.0, 'z': 0.5})
    (first, *_) = read(tmp_path, records, encoding)
    assert first.memory.pose == Pose(1.0, 2.0, 0.5)


def test_import_reads_them_and_names_another_encoding(tmp_path: Path) -> None:
    read(tmp_path, upstream(), 'utf-8-sig')
    (path,) = tmp_path.iterdir()
    _, items = transfer.read(path)
    assert [item.memory.caption for item in items] == [f'a door {number}' for number in range(4)]
    path.write_text(json.dumps(upstream()), 'utf-16')
    with pytest.raises(BagUnreadable, match='UTF-16, as PowerShell writes it; save it in UTF-8'):
        transfer.read(path)
