import pytest

from remembr_bench.evaluation.datasets.building import load_building
from remembr_bench.simulation.truth import RecordingTruth, SegmentTruth, SignTruth, View, save_truth
from remembr_ros.agent.model.answer import Kind
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS
TEXTS = ('EXIT', 'ROOM 101', 'ROOM 109', 'EXIT', 'LIFT')


def truth(readable: bool = True) -> RecordingTruth:
    signs = []
    for i, text in enumerate(TEXTS):
        view = View(
            T0 + 10 * i * NS, T0 + (10 * i + 4) * NS, (Pose(10.0 * i, 0.0), Pose(10.0 * i + 2.0, 0.0))
        )
        signs.append(SignTruth(text, (10.0 * i, 2.0, 1.7), 0.0, 'corridor', (view,) if readable else ()))
    segment = SegmentTruth(T0 + 47 * NS, T0 + 50 * NS, Pose(50.0, 0.0), 'The end.', (), ())
    return RecordingTruth(7, T0, T0 + 50 * NS, tuple(signs), (), (segment,))


def observations() -> list[Observation]:
    return [
        Observation(
            Memory(f'm{i}', 'robot', T0 + 5 * i * NS, T0 + (5 * i + 4) * NS, 'seen', Pose(5.0 * i, 0.0)),
            (b'jpeg',) if i == 0 else (),
        )
        for i in range(10)
    ]


@pytest.fixture
def folder(tmp_path):
    save_truth(truth(), tmp_path / 'truth.json')
    return tmp_path


def test_questions_are_about_every_sign_and_about_what_is_not_there(folder):
    sequence = load_building(folder, observations())
    assert (sequence.name, len(sequence.samples)) == ('building-7', 60)
    kinds = [sample.truth.kind for sample in sequence.samples]
    assert kinds.count(Kind.NOT_SEEN) == 10
    assert all(kinds.count(kind) >= 15 for kind in (Kind.POSITION, Kind.TIME, Kind.BINARY))
    asked = ' '.join(sample.question.text for sample in sequence.samples)
    assert all(text.lower() in asked for text in TEXTS)
    assert len({sample.id for sample in sequence.samples}) == 60
    assert sequence.images == {'m0': (b'jpeg',)}
    for sample in sequence.samples:
        assert sample.question.now_ns == T0 + 50 * NS
        assert sample.question.here == Pose(50.0, 0.0)
        assert sample.memories == 10


def test_the_same_truth_gives_the_same_questions(folder):
    first, second = (load_building(folder, observations()).samples for _ in range(2))
    assert [s.question.text for s in first] == [s.question.text for s in second]


def test_any_sign_of_that_text_is_right(folder):
    samples = load_building(folder, observations()).samples
    exit_place = next(s for s in samples if 'exit' in s.question.text and s.truth.kind is Kind.POSITION)
    assert {position[0] for position in exit_place.truth.positions} == {0.0, 2.0, 30.0, 32.0}
    assert exit_place.truth.within_m == 5.0
    assert exit_place.relevant == {'m0', 'm6'}
    lift_time = next(s for s in samples if 'lift' in s.question.text and s.truth.kind is Kind.TIME)
    assert lift_time.truth.times_ns == tuple(T0 + s * NS for s in (40, 41, 42, 43, 44))
    assert lift_time.truth.within_min == pytest.approx(5.0 / 60.0)


def test_rooms_that_are_not_there_are_asked_for(folder):
    absent = [s for s in load_building(folder, observations()).samples if s.truth.kind is Kind.NOT_SEEN]
    rooms = {'101', '109'}
    numbers = {
        word.strip('?.') for s in absent for word in s.question.text.split() if word.strip('?.').isdigit()
    }
    assert len(numbers) == 2
    assert not numbers & rooms
    assert all(sample.relevant == frozenset() for sample in absent)


def test_a_tour_without_signs_or_truth_is_refused(tmp_path):
    with pytest.raises(BagUnreadable, match='truth'):
        load_building(tmp_path, observations())
    save_truth(truth(readable=False), tmp_path / 'truth.json')
    with pytest.raises(InvalidRequest, match='no sign was readable'):
        load_building(tmp_path, observations())
