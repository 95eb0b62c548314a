import json
import os
import time
from pathlib import Path

import pytest

from remembr_bench.evaluation.datasets.navqa import CAPTIONS, load_captions, load_navqa, resolve_clock
from remembr_bench.evaluation.datasets.navqa_table import OC_NAVQA, find_sequences
from remembr_bench.evaluation.records.config import RunConfig
from remembr_bench.evaluation.run import loading
from remembr_ros.agent.model.answer import Kind
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.timestamps import NS, from_seconds, parse_time

REAL = Path(__file__).resolve().parents[5] / '../shared/data/navqa'

needs_navqa = pytest.mark.skipif(not REAL.exists(), reason='needs the data set of shared/data/navqa')


def load(folder, number, captions=CAPTIONS, **options):
    return load_navqa(folder, number, load_captions(folder, number, captions), **options)


def window(start: str, end: str) -> tuple[int, int]:
    return parse_time(start), parse_time(end)


def test_answer_times_are_pacific_time():
    winter = window('2023-01-16T16:00:00Z', '2023-01-16T16:10:00Z')
    assert resolve_clock('8:02:03', *winter) == parse_time('2023-01-16T16:02:03Z')
    summer = window('2023-07-16T15:00:00Z', '2023-07-16T15:10:00Z')
    assert resolve_clock(' 08:02:03 ', *summer) == parse_time('2023-07-16T15:02:03Z')


@pytest.mark.parametrize('zone', ['Asia/Tokyo', 'UTC', 'America/Chicago'])
def test_the_zone_of_the_machine_changes_nothing(zone, monkeypatch):
    monkeypatch.setenv('TZ', zone)
    time.tzset()
    try:
        bounds = window('2023-01-16T16:00:00Z', '2023-01-16T16:10:00Z')
        assert resolve_clock('8:02:03', *bounds) == parse_time('2023-01-16T16:02:03Z')
    finally:
        monkeypatch.undo()
        assert 'TZ' not in os.environ or os.environ['TZ'] != zone
        time.tzset()


def test_a_window_over_midnight_takes_the_day_that_fits():
    bounds = window('2023-01-17T07:50:00Z', '2023-01-17T08:20:00Z')  # 23:50 to 0:20
    assert resolve_clock('23:55:00', *bounds) == parse_time('2023-01-17T07:55:00Z')
    assert resolve_clock('0:10:00', *bounds) == parse_time('2023-01-17T08:10:00Z')


def test_the_hour_that_comes_twice_is_the_one_inside_the_window():
    second = window('2023-11-05T09:20:00Z', '2023-11-05T09:50:00Z')  # 1:20 PST, after 1:20 PDT
    assert resolve_clock('1:30:00', *second) == parse_time('2023-11-05T09:30:00Z')
    first = window('2023-11-05T08:20:00Z', '2023-11-05T08:50:00Z')
    assert resolve_clock('1:30:00', *first) == parse_time('2023-11-05T08:30:00Z')


def test_one_segment_of_slack_is_given_and_no_more():
    bounds = window('2023-01-16T16:00:00Z', '2023-01-16T16:10:00Z')
    assert resolve_clock('7:59:57', *bounds) == parse_time('2023-01-16T15:59:57Z')
    assert resolve_clock('8:10:03', *bounds) == parse_time('2023-01-16T16:10:03Z')
    for outside in ('7:59:56', '8:10:04', '16:05:00', '10:05:00'):
        with pytest.raises(ValueError, match='outside the window'):
            resolve_clock(outside, *bounds)


@pytest.mark.parametrize('text', ['', 'noon', '8:05', '8:05:00 pm', '25:00:00', '8:60:00', '-8:00:00'])
def test_what_is_no_time_of_day_is_refused(text):
    with pytest.raises(ValueError, match=r'H:M:S|time of day'):
        resolve_clock(text, *window('2023-01-16T16:00:00Z', '2023-01-16T16:10:00Z'))


def test_each_kind_of_truth_is_read(navqa, clock):
    navqa.ask('Where is the elevator?', 'position', clock(4), parsable='[position]')
    navqa.ask('When was it?', 'time', clock(4), parsable='[minutes] ago')
    navqa.ask('How long?', 'duration', f'{clock(1)}, {clock(3)}', parsable='1.35')
    navqa.ask('Was it red?', 'binary', clock(4), parsable='Yes')
    navqa.ask('Was it blue?', 'Binary', clock(4), parsable='no')
    navqa.ask('What colour?', 'text', clock(4), text='It was red')
    sequence = load(navqa.write(), 7)
    assert sequence.excluded == ()
    place, when, long, yes, no, colour = (sample.truth for sample in sequence.samples)
    assert place.kind is Kind.POSITION
    assert place.positions == ((40.0, 1.0, 0.0),)
    assert when.kind is Kind.TIME
    assert when.times_ns == (from_seconds(navqa.captions[4]['time']),)
    assert (long.kind, long.duration_min) == (Kind.DURATION, 1.35)
    assert (yes.binary, no.binary) == (True, False)
    assert (colour.kind, colour.text) == (Kind.TEXT, 'It was red')
    assert len(sequence.samples[2].relevant) == 2
    assert sequence.samples[0].relevant == {sequence.memories[4].id}


def test_the_asker_stands_at_the_end_of_the_window(navqa, clock):
    navqa.ask('Where?', 'position', clock(6), window=(5, 9), length='LONG')
    sequence = load(navqa.write(), 7)
    sample = sequence.samples[0]
    assert sample.question.now_ns == from_seconds(navqa.captions[9]['time'])
    assert sample.question.here.position == (90.0, 1.0, 0.0)
    assert sample.question.map_id == sequence.memories[0].map_id
    assert (sample.length, sample.memories) == ('LONG', 5)


def admitted(sequence, sample):
    scope = sample.scope
    return [
        memory
        for memory in sequence.memories
        if (scope.after_ns is None or memory.end_ns >= scope.after_ns)
        and (scope.before_ns is None or memory.start_ns <= scope.before_ns)
    ]


@pytest.mark.parametrize('ends', [(0, 19), (0, 3), (16, 19), (5, 9), (7, 7)])
def test_the_scope_admits_the_window_and_nothing_else(navqa, clock, ends):
    navqa.ask('Where?', 'position', clock(ends[0]), window=ends)
    sequence = load(navqa.write(), 7)
    assert admitted(sequence, sequence.samples[0]) == list(sequence.memories[ends[0] : ends[1] + 1])


def test_memories_are_the_segments_in_the_order_of_time(navqa, clock):
    navqa.ask('Where?', 'position', clock(4))
    navqa.captions.reverse()
    memories = load(navqa.write(), 7).memories
    assert len({memory.id for memory in memories}) == len(memories) == 20
    assert [m.pose.x for m in memories] == [10.0 * i for i in range(20)]
    assert memories[0].start_ns == 1673884800 * NS
    assert memories[0].caption == 'I see a red fountain. The sky is grey.'


def test_rows_that_cannot_be_used_are_listed_with_the_reason(navqa, clock):
    good = navqa.ask('Where?', 'position', clock(4))
    navqa.ask('Where?', 'position', '8:30:00')
    navqa.ask('Where?', 'position', f'{clock(4)},16:00:10')
    navqa.ask('Where?', 'position', '')
    navqa.ask('Is it?', 'binary', clock(4), parsable='maybe')
    navqa.ask('How long?', 'duration', clock(4), parsable='a while')
    navqa.ask('How long?', 'duration', clock(4), parsable='nan')
    navqa.ask('Who?', 'person', clock(4))
    navqa.ask('', 'position', clock(4))
    navqa.rows.append(['orphan', '7', 'Where?', clock(4), 'position', '', '', ''])
    navqa.windows.append({**navqa.windows[0], 'id': 'unasked'})
    sequence = load(navqa.write(), 7)
    assert [sample.id for sample in sequence.samples] == [good]
    reasons = [row.reason for row in sequence.excluded]
    for reason, words in zip(
        reasons,
        [
            *(
                'outside the window',
                '16:00:10',
                'no answer time',
                "'maybe'",
                "'a while'",
                "'nan'",
                "'person'",
            ),
            *('no question', 'no window', 'no question for this window'),
        ],
        strict=True,
    ):
        assert words in reason


def test_several_questions_about_one_window_are_told_apart(navqa, clock):
    key = navqa.ask('Where?', 'position', clock(4))
    navqa.rows.append([key, '7', 'When?', clock(4), 'time', '', '', ''])
    navqa.rows.append(['other', '8', 'When?', clock(4), 'time', '', '', ''])
    samples = load(navqa.write(), 7).samples
    assert [(s.id, s.question.text) for s in samples] == [(key, 'Where?'), (f'{key}#2', 'When?')]


def test_a_folder_without_navqa_is_wrong_usage(tmp_path, navqa):
    with pytest.raises(InvalidRequest, match=r'data\.csv'):
        find_sequences(tmp_path)
    navqa.write()
    assert find_sequences(navqa.path) == [7]
    with pytest.raises(InvalidRequest, match='no sequence 8'):
        loading.load(RunConfig(folder=str(navqa.path), sequences=(8,)), Path(), HashingEmbedder(64))
    (navqa.path / '7' / 'qa_unfilled.json').unlink()
    with pytest.raises(InvalidRequest, match='no sequence'):
        find_sequences(navqa.path)


@pytest.mark.parametrize('content', ['', '[', '{}', '[]', '[1]', '{"data": 3}', '[{"start_time": 1}]'])
@pytest.mark.parametrize('name', ['captions_haystack_3_secs.json', 'qa_unfilled.json'])
def test_a_damaged_file_is_named(navqa, clock, name, content):
    navqa.ask('Where?', 'position', clock(4))
    path = navqa.write() / '7' / name
    path.write_text(content)
    with pytest.raises(BagUnreadable, match=name):
        load(navqa.path, 7)


@pytest.mark.parametrize(
    'change',
    [
        {'position': [1.0, 2.0]},
        {'position': [float('nan'), 0.0, 0.0]},
        {'start_time': 'noon'},
        {'time': -1.0},
        {'end_time': 2e9},
    ],
)
def test_a_caption_that_makes_no_sense_is_refused(navqa, clock, change):
    navqa.ask('Where?', 'position', clock(4))
    navqa.captions[3].update(change)
    with pytest.raises(BagUnreadable, match='captions'):
        load(navqa.write(), 7)


def test_missing_captions_and_columns_are_named(navqa, clock):
    navqa.ask('Where?', 'position', clock(4))
    navqa.write()
    with pytest.raises(BagUnreadable, match='captions_of_mine'):
        load(navqa.path, 7, 'captions_of_mine')
    (navqa.path / 'data.csv').write_text('UUID,Question\n1,Where?\n')
    with pytest.raises(BagUnreadable, match='Seq ID'):
        load(navqa.path, 7)


@needs_navqa
@pytest.mark.parametrize(('number', 'excluded'), [(0, 0), (3, 3), (4, 2)])
def test_the_real_sequences_are_read(number, excluded):
    sequence = load(REAL, number)
    assert len(sequence.samples) + len(sequence.excluded) == 30
    assert len(sequence.excluded) == excluded
    assert all('outside the window' in row.reason for row in sequence.excluded)
    for sample in sequence.samples:
        inside = admitted(sequence, sample)
        assert len(inside) == sample.memories
        assert sample.relevant <= {memory.id for memory in inside}
        assert inside[-1].start_ns <= sample.question.now_ns <= inside[-1].end_ns
        # The sum of the windows' lengths, of which the files tell the same.
        entry = next(
            e
            for e in json.loads((REAL / str(number) / 'qa_unfilled.json').read_text())['data']
            if e['id'] == sample.id
        )
        assert inside[-1].end_ns - inside[0].start_ns == pytest.approx(entry['length'] * NS, abs=4 * NS)


def test_a_question_whose_answer_time_lies_outside_its_window_is_left_out(navqa, clock):
    navqa.ask('Where?', 'position', clock(4))
    outside = navqa.ask('Where is it?', 'position', clock(2), window=(9, 15))
    nowhere = navqa.ask('Where was it?', 'position', '8:30:00')
    navqa.write()
    assert [row.id for row in load(navqa.path, 7).excluded] == [outside, nowhere]


def test_corrected_labels_are_of_the_object_and_look_back_to_the_start(navqa, clock):
    navqa.ask('Where is the elevator?', 'position', clock(4), window=(3, 9), length='SHORT')
    navqa.ask('Where?', 'position', clock(4), window=(3, 9))
    navqa.ask('Where else?', 'position', clock(4), window=(3, 9))
    navqa.ask('Where now?', 'position', clock(4), window=(3, 9))
    navqa.ask('When?', 'time', clock(1), window=(3, 9))
    objects = ['[1.5 -2.0 3e-1]', '', '[1 2]', '[1 2 3]', '']
    navqa.write_corrected(objects, ['', '', '', '[7, 8, 9] [1 1 1]', ''])
    sequence = load(navqa.path, 7, edition=OC_NAVQA)
    first, last, when = sequence.samples
    assert first.truth.positions == ((1.5, -2.0, 0.3),)
    assert last.truth.positions == ((7.0, 8.0, 9.0), (1.0, 1.0, 1.0)), 'that of the whole drive counts'
    assert admitted(sequence, first) == list(sequence.memories[:10])
    assert (first.length, first.window_ns[0]) == ('SHORT', sequence.memories[0].start_ns)
    assert when.relevant == {sequence.memories[1].id}, 'before the window, after the start'
    reasons = [row.reason for row in sequence.excluded]
    assert 'position' in reasons[0]
    assert "'[1 2]'" in reasons[1]


def test_a_corrected_position_needs_no_answer_time(navqa):
    navqa.ask('Where is the elevator?', 'position', '23:00:00')
    navqa.write_corrected(['[1 2 3]'], [''])
    (sample,) = load(navqa.path, 7, edition=OC_NAVQA).samples
    assert (sample.truth.positions, sample.relevant) == (((1.0, 2.0, 3.0),), frozenset())


@needs_navqa
@pytest.mark.parametrize('number', [0, 3, 4])
def test_the_real_corrected_labels_are_read(number):
    sequence = load(REAL, number, edition=OC_NAVQA)
    assert len(sequence.samples) + len(sequence.excluded) == 30
    assert all('outside the window' in row.reason for row in sequence.excluded)
    assert not [r for r in sequence.excluded if 'where' in r.question.lower()], 'their labels are places'
    for sample in sequence.samples:
        assert sample.window_ns[0] == sequence.memories[0].start_ns
        assert sample.truth.kind is not Kind.POSITION or len(sample.truth.positions) == 1
