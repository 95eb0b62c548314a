import math
import re

import pytest

from remembr_ros.agent.model.answer import Kind
from remembr_ros.evaluation.records.reading import TrackPoint
from remembr_ros.evaluation.records.record import AnswerRecord, TruthRecord
from remembr_ros.evaluation.report.track_map import draw_map, drive_path, marks_of


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


def pixels(svg: str, what: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(rf'#mark-{what}" x="([\d.-]+)" y="([\d.-]+)"', svg)]


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


def test_a_late_answer_window_is_marked_with_its_rank(record, track):
    hits = tuple(f'm{i}' for i in range(15))
    found = [mark for mark in marks_of(record(hits=hits, rank=12), track) if mark.what == 'hit']
    assert [mark.label for mark in found] == ['12', '5', '4', '3', '2', '1']
    assert 'holds the answer' in found[0].tip


def test_what_holds_the_answer_is_marked_where_the_truth_has_no_place(record, track):
    yes = TruthRecord(kind=Kind.BINARY, binary=True)
    assert marks(record(truth=yes, relevant=('m7',)), track)['relevant'] == [(70.0, 0.0)]
    assert 'relevant' not in marks(record(relevant=('m7',)), track)


def test_both_axes_have_one_scale_and_y_points_up(record, track):
    svg = draw_map(record(), track, 'd').svg
    (answer,), (truth,), (here,) = (pixels(svg, what) for what in ('answer', 'truth', 'here'))
    metres = math.dist((43.0, 14.0), (40.0, 10.0))
    scale = math.dist(answer, truth) / metres
    assert math.dist(here, truth) / math.dist((50.0, 20.0), (40.0, 10.0)) == pytest.approx(scale, rel=0.02)
    assert answer[1] < truth[1]
    assert here[0] > truth[0]
    radius = float(re.search(r'class="accepted" .*? r="([\d.]+)"', svg)[1])
    assert radius == pytest.approx(15 * scale, rel=0.02)


def test_the_window_is_the_part_that_the_question_looks_back_on(record, track):
    now_ns = record().now_ns
    svg = draw_map(record(window_ns=(now_ns - 9 * 10**9, now_ns), here=None), track, 'd').svg
    window = re.search(r'class="window" d="(.*?)"', svg)[1]
    assert len(re.findall(r'[ML]', window)) == 4


def test_an_answer_far_away_does_not_shrink_the_map(record, track):
    answer = AnswerRecord(kind=Kind.POSITION, text='', planner='p', position=(90_000.0, 0.0, 0.0))
    found = draw_map(record(answer=answer), track, 'd')
    assert 'answer' not in found.shown
    assert 'far outside' in found.note


@pytest.mark.parametrize('value', [math.nan, math.inf, 1e300])
def test_what_is_no_place_is_left_out(record, track, value):
    answer = AnswerRecord(kind=Kind.POSITION, text='', planner='p', position=(value, 0.0, 0.0))
    found = draw_map(record(answer=answer, here=(0.0, value, 0.0)), track, 'd')
    assert found.shown == ('truth',)


def test_nothing_to_draw(record):
    missing = AnswerRecord(kind=Kind.NOT_SEEN, text='', planner='p')
    nowhere = {'here': None, 'truth': TruthRecord(kind=Kind.TIME, minutes_ago=(1.0,)), 'answer': missing}
    assert draw_map(record(**nowhere), [], 'd') is None


def test_numbers_of_hits_at_one_place_do_not_cover_each_other(record, track):
    here = [TrackPoint(id=f'h{i}', start_ns=0, end_ns=1, x=50.0, y=20.0) for i in range(5)]
    svg = draw_map(record(hits=tuple(point.id for point in here)), [*here, *track], 'd').svg
    badges = [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="8"', svg)]
    assert len(badges) == 5
    assert min(math.dist(a, b) for i, a in enumerate(badges) for b in badges[:i]) >= 16


def test_a_drive_is_thinned():
    points = [TrackPoint(id=str(i), start_ns=i, end_ns=i, x=0.01 * i, y=0.0) for i in range(1000)]
    path = drive_path('d', points)
    assert path.count('M') == 1
    assert path.count('L') < 25
    assert 'L10.0,0.0"' in path  # where it ends is kept
