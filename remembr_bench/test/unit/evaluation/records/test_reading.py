import json

import pytest

from remembr_bench.evaluation.records.reading import load_run, read_records, read_tracks
from remembr_ros.errors import InvalidRequest


@pytest.fixture
def answers(tmp_path):
    """Write answers.jsonl."""

    def write(*records, end: str = ''):
        lines = ''.join(r.model_dump_json() + '\n' for r in records)
        (tmp_path / 'answers.jsonl').write_text(lines + end)
        return tmp_path

    return write


def test_a_run_as_written(answers, record):
    folder = answers(record('x'), record('y', seed=1))
    (folder / 'results.json').write_text('{"planner": "offline"}')
    run = load_run(folder)
    assert run.records == [record('x'), record('y', seed=1)]
    assert run.results == {'planner': 'offline'}


def test_a_run_that_was_cut_off(answers, record, caplog):
    folder = answers(record('x'), end=record('ü').model_dump_json()[:70])
    assert load_run(folder).records == [record('x')]
    assert load_run(folder).results == {}
    assert 'cut off' in caplog.text


def test_cut_off_inside_a_character(tmp_path, record):
    line = record('x').model_dump_json().encode()
    (tmp_path / 'answers.jsonl').write_bytes(line + b'\n' + '{"question": "ü'.encode()[:-1])
    assert read_records(tmp_path) == [record('x')]


def test_the_later_of_two_counts(answers, record):
    assert read_records(answers(record('x'), record('x', correct=False))) == [record('x', correct=False)]


def test_no_run(tmp_path):
    for folder in (tmp_path, tmp_path / 'nowhere'):
        with pytest.raises(InvalidRequest, match=r'no answers\.jsonl; name the folder'):
            load_run(folder)


def test_a_damaged_line_in_between(answers, record):
    folder = answers(record('x'), end='{"que\n' + record('y').model_dump_json() + '\n')
    with pytest.raises(InvalidRequest, match=r'line 2 is damaged.*run the evaluation again'):
        read_records(folder)


def test_a_record_of_another_version(answers, record):
    folder = answers(record('x'), end='{"id": "old"}\n')
    with pytest.raises(InvalidRequest, match=r'line 2 is not of this version \(sequence: .*again'):
        read_records(folder)


@pytest.mark.parametrize('content', ['{', '[]', '\xff'])
def test_damaged_json(answers, record, content):
    folder = answers(record('x'))
    (folder / 'results.json').write_text(content, encoding='latin-1')
    with pytest.raises(InvalidRequest, match=r'results\.json'):
        load_run(folder)


def test_tracks_in_the_order_of_time(tmp_path):
    assert read_tracks(tmp_path) == {}
    late, early = (
        {'id': name, 'start_ns': ns, 'end_ns': ns + 1, 'x': x, 'y': x, 'caption': 'c'}
        for name, ns, x in (('late', 7, 1.5), ('early', 3, 0.5))
    )
    (tmp_path / 'tracks.json').write_text(json.dumps({'navqa-7': [late, early]}))
    (track,) = read_tracks(tmp_path).values()
    assert [(point.id, point.x) for point in track] == [('early', 0.5), ('late', 1.5)]


@pytest.mark.parametrize('tracks', ['{"a": [{"id": 1}]}', '{"a": 3}', '{"a": [{"x": NaN}]}'])
def test_damaged_tracks(tmp_path, tracks):
    (tmp_path / 'tracks.json').write_text(tracks)
    with pytest.raises(InvalidRequest, match=r'tracks\.json'):
        read_tracks(tmp_path)
