import math

import pytest

from remembr_bench.evaluation.records.reading import TrackPoint
from remembr_bench.evaluation.records.record import AnswerRecord, TruthRecord
from remembr_bench.evaluation.report.track_map import marks_of, track_map
from remembr_ros.agent.model.answer import Kind


@pytest.fixture
def track(record):
    """A memory every 3 s and 10 m to the east, the last one now."""
    now_ns = record().now_ns
    return [
        TrackPoint(
            id=f'm{i}',
            start_ns=now_ns - (20 - i) * 3 * 10**9,
            end_ns=now_ns - (19 - i) * 3 * 10**9,
            x=10.0 * i,
            y=0.0,
        )
        for i in range(20)
    ]


def marks(record, track) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for mark in marks_of(record, track):
        found.setdefault(mark.what, []).append(mark.at)
    return found


def test_every_mark_is_at_its_place(record, track):
    found = marks(record(hits=('m3', 'm5')), track)
    assert found == {
        'hit': [(50.0, 0.0), (30.0, 0.0)],
        'here': [(50.0, 20.0)],
        'truth': [(40.0, 10.0)],
        'answer': [(43.0, 14.0)],
    }


def test_a_time_stands_where_the_robot_was_then(record, track):
    truth = TruthRecord(kind=Kind.TIME, minutes_ago=((1.5 + 3 * 9) / 60,))
    answer = AnswerRecord(
        kind=Kind.TIME, text='', planner='p', minutes_ago=(1.5 + 3 * 4) / 60, evidence=('m15',)
    )
    found = marks(record(truth=truth, answer=answer), track)
    assert found['truth'] == [(100.0, 0.0)]
    assert found['answer'] == found['evidence'] == [(150.0, 0.0)]


def test_what_holds_the_answer_is_marked_where_the_truth_has_no_place(record, track):
    yes = TruthRecord(kind=Kind.BINARY, binary=True)
    assert marks(record(truth=yes, relevant=('m7',)), track)['relevant'] == [(70.0, 0.0)]
    assert 'relevant' not in marks(record(relevant=('m7',)), track)


def test_the_map_holds_all_and_y_points_up(record, track):
    left, top, width, height = track_map(record(), track).box
    for x, y in [mark.at for mark in marks_of(record(), track)] + [point.place for point in track]:
        assert left < x < left + width
        assert top < -y < top + height


def test_the_window_is_the_part_that_the_question_looks_back_on(record, track):
    now_ns = record().now_ns
    found = track_map(record(window_ns=(now_ns - 9 * 10**9, now_ns), here=None), track)
    assert found.window == '160.0,-0.0 170.0,-0.0 180.0,-0.0 190.0,-0.0'


def test_an_answer_far_away_does_not_shrink_the_map(record, track):
    answer = AnswerRecord(kind=Kind.POSITION, text='', planner='p', position=(90_000.0, 0.0, 0.0))
    found = track_map(record(answer=answer), track)
    assert 'answer' not in {mark.what for mark in found.marks}
    assert found.box[2] < 1_000.0


@pytest.mark.parametrize('value', [math.nan, math.inf, 1e300])
def test_what_is_no_place_is_left_out(record, track, value):
    answer = AnswerRecord(kind=Kind.POSITION, text='', planner='p', position=(value, 0.0, 0.0))
    found = track_map(record(answer=answer, here=(0.0, value, 0.0)), track)
    assert [mark.what for mark in found.marks] == ['truth']


def test_nothing_to_draw(record):
    missing = AnswerRecord(kind=Kind.NOT_SEEN, text='', planner='p')
    nowhere = {'here': None, 'truth': TruthRecord(kind=Kind.TIME, minutes_ago=(1.0,)), 'answer': missing}
    assert track_map(record(**nowhere), []) is None
