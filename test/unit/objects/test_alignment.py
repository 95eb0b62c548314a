import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from remembr_ros.geometry import Transform, compose, quaternion_from_yaw
from remembr_ros.objects.alignment import FIRST_STD, LEAST_STD, MOST_STD, Correction, learned
from remembr_ros.objects.camera import to_parent
from test.object_scene import AHEAD

Points = NDArray[np.float64]

EYE = np.array([3.0, -2.0, 1.0])
AROUND = EYE + np.array([
    *([1.0, -0.8, 0.0], [1.5, 0.4, -0.3], [2.2, -0.3, 0.1], [1.8, 1.0, 0.2]),
    *([2.6, 0.7, 0.0], [1.2, 0.9, -0.2], [2.0, -1.1, 0.1], [2.8, -0.6, 0.3]),
])  # fmt: skip
STD_M = 0.06


def wide(eye: Points = EYE) -> Correction:
    """Return a correction before anything is known, where poses may be as wrong as they ever are."""
    return Correction(eye, np.zeros(3), np.diag(MOST_STD**2))


def truly(points: Points, shift: tuple[float, float], degrees: float, eye: Points = EYE) -> Points:
    """Return where points are that a camera saw which is off by a shift and a turn about itself."""
    turn: Transform = ((0.0, 0.0, 0.0), quaternion_from_yaw(math.radians(degrees)))
    found: Points = to_parent(points - eye, turn) + eye + np.array([*shift, 0.0])
    return found


def told(seen: Points, known: Points, prior: Correction | None = None, std_m: float = STD_M) -> Correction:
    prior = wide() if prior is None else prior
    return prior.told_by(seen, known, np.full(len(seen), std_m**2))


class Alignment:
    """What is learned from frame to frame."""

    def __init__(self) -> None:
        self.variance = FIRST_STD**2

    def prior(self, eye: Points) -> Correction:
        return Correction(eye, np.zeros(3), np.diag(self.variance))

    def learn(self, correction: Correction) -> None:
        self.variance = learned(self.variance, correction)


def stds(alignment: Alignment) -> Points:
    """Return how wrong poses are taken to be."""
    found: Points = np.sqrt(np.diag(alignment.prior(EYE).covariance))
    return found


_shift = st.floats(-0.25, 0.25)
_ahead = st.tuples(st.floats(0.5, 3.0), st.floats(-1.5, 1.5), st.floats(-1.0, 1.0))


@settings(max_examples=100)
@given(st.tuples(_shift, _shift), st.floats(-6.0, 6.0), st.lists(_ahead, min_size=4, max_size=12))
def test_things_that_are_known_undo_a_shift_and_a_turn_of_the_camera(
    shift: tuple[float, float], degrees: float, ahead: list[tuple[float, float, float]]
) -> None:
    seen = EYE + np.array(ahead)
    known = truly(seen, shift, degrees)
    correction = told(seen, known)
    left = np.linalg.norm(seen + correction.shift(seen) - known, axis=1)
    # Of things nearly at one place, a turn is told by little: what was known before pulls it back.
    assert left.max() < 0.04


def test_what_is_told_is_the_shift_and_the_turn_themselves() -> None:
    correction = told(AROUND, truly(AROUND, (0.1, -0.15), 3.0), std_m=0.01)
    assert correction.move == pytest.approx([0.1, -0.15, math.radians(3.0)], abs=0.01)
    assert np.array_equal(correction.eye, EYE)


def test_a_thing_that_was_moved_hardly_matters() -> None:
    known = truly(AROUND, (0.06, -0.04), 1.0)
    exact = told(AROUND, known).shift(AROUND)
    known[2] += (0.9, 1.2, 0.0)
    pulled = np.linalg.norm(told(AROUND, known).shift(AROUND) - exact, axis=1)
    assert pulled.max() < 0.04
    # So much, were it believed as the others are: by pairs whose spread is so wide that none is far off.
    trusting = Correction(EYE, np.zeros(3), np.eye(3) * 1e6)
    pulled = np.linalg.norm(told(AROUND, known, trusting, 10.0).shift(AROUND) - exact, axis=1)
    assert pulled.max() > 0.15


def test_without_pairs_it_is_what_was_known_before() -> None:
    prior, none = Alignment().prior(EYE), np.zeros((0, 3))
    correction = prior.told_by(none, none, np.zeros(0))
    assert np.array_equal(correction.move, np.zeros(3))
    assert np.array_equal(correction.covariance, np.diag(FIRST_STD**2))
    assert np.array_equal(correction.shift(AROUND), np.zeros_like(AROUND))


def test_what_few_pairs_say_against_a_narrow_prior_is_believed_in_part() -> None:
    narrow = Correction(EYE, np.zeros(3), np.diag(LEAST_STD**2))
    seen, known = AROUND[:1], truly(AROUND[:1], (0.1, 0.0), 0.0)
    least, most = told(seen, known, narrow), told(seen, known)
    assert 0.0 < least.shift(seen)[0, 0] < 0.03
    assert 0.08 < most.shift(seen)[0, 0] <= 0.1


def test_a_shift_of_the_pose_moves_nothing_up_or_down() -> None:
    correction = told(AROUND, truly(AROUND, (0.2, 0.1), 5.0) + np.array([0.0, 0.0, 0.3]))
    assert np.array_equal(correction.shift(AROUND)[:, 2], np.zeros(8))
    assert np.array_equal(correction.variance(AROUND)[:, 2], np.zeros(8))


def test_what_is_far_away_is_less_certain_along_the_turn() -> None:
    correction = Correction(EYE, np.zeros(3), np.diag(FIRST_STD**2))
    near, far = correction.variance(EYE + np.array([[1.0, 0.0, 0.0], [4.0, 0.0, 0.0]]))
    assert near[0] == far[0] == pytest.approx(FIRST_STD[0] ** 2)
    assert near[1] == pytest.approx(FIRST_STD[1] ** 2 + FIRST_STD[2] ** 2)
    assert far[1] == pytest.approx(FIRST_STD[1] ** 2 + 16.0 * FIRST_STD[2] ** 2)


def test_pairs_leave_less_uncertain_than_there_was() -> None:
    correction = told(AROUND, AROUND)
    assert np.all(correction.variance(AROUND)[:, :2] < wide().variance(AROUND)[:, :2] / 10.0)
    assert not wide().is_small


@pytest.mark.parametrize(('stds', 'small'), [(LEAST_STD, True), (1.4 * LEAST_STD, True), (FIRST_STD, False)])
def test_there_is_little_to_correct_where_poses_are_as_good_as_they_get(stds: Points, small: bool) -> None:
    assert Correction(EYE, np.zeros(3), np.diag(stds**2)).is_small is small


@settings(max_examples=100)
@given(st.tuples(_shift, _shift, st.floats(-0.1, 0.1)), _ahead, st.floats(-3.1, 3.1))
def test_the_corrected_pose_sees_a_point_where_it_comes_to(
    move: tuple[float, float, float], ahead: tuple[float, float, float], yaw: float
) -> None:
    x, y, z = EYE.tolist()
    pose = compose(((x, y, z - 1.0), quaternion_from_yaw(yaw)), AHEAD)
    correction = Correction(EYE, np.array(move), np.diag(FIRST_STD**2))
    in_camera = np.array([(-ahead[1], -ahead[2], ahead[0])])
    seen = to_parent(in_camera, pose)
    comes_to = to_parent(in_camera, correction.pose(pose))
    # A shift knows no circles: the arc is that much shorter than its tangent.
    bow_m = move[2] ** 2 / 2.0 * float(np.linalg.norm(ahead)) * 1.1 + 1e-9
    assert np.abs(comes_to - (seen + correction.shift(seen))).max() <= bow_m


def test_another_camera_on_the_same_robot_turns_about_the_first() -> None:
    correction = Correction(EYE, np.array([0.1, 0.0, math.pi / 2.0]), np.diag(FIRST_STD**2))
    x, y, z = EYE.tolist()
    beside: Transform = ((x + 0.5, y, z + 0.2), AHEAD[1])
    moved, _ = correction.pose(beside)
    assert moved == pytest.approx((x + 0.1, y + 0.5, z + 0.2))


def test_no_correction_leaves_a_pose_as_it_is() -> None:
    pose: Transform = ((1.0, 2.0, 3.0), AHEAD[1])
    place, rotation = Alignment().prior(EYE).pose(pose)
    assert place == pytest.approx(pose[0])
    assert rotation == pytest.approx(pose[1])


def test_poses_that_are_good_are_trusted_more_and_more() -> None:
    alignment, before = Alignment(), FIRST_STD
    assert stds(alignment) == pytest.approx(FIRST_STD)
    for _ in range(20):
        alignment.learn(Correction(EYE, np.zeros(3), np.diag([1e-6, 1e-6, 1e-8])))
        assert np.all((stds(alignment) < before) | np.isclose(stds(alignment), LEAST_STD))
        before = stds(alignment)
    for _ in range(200):
        alignment.learn(Correction(EYE, np.zeros(3), np.diag([1e-6, 1e-6, 1e-8])))
    assert stds(alignment) == pytest.approx(LEAST_STD)


def test_poses_that_are_bad_are_trusted_less_and_less() -> None:
    alignment, before = Alignment(), FIRST_STD
    for number in range(20):
        side = (-1.0) ** number
        alignment.learn(Correction(EYE, side * np.array([0.25, 0.25, 0.12]), np.diag(LEAST_STD**2)))
        assert np.all(stds(alignment) > before)
        before = stds(alignment)
    for _ in range(200):
        alignment.learn(Correction(EYE, np.array([5.0, 5.0, 2.0]), np.diag(MOST_STD**2)))
    assert stds(alignment) == pytest.approx(MOST_STD)


def test_what_is_learned_comes_to_how_far_off_poses_are() -> None:
    alignment, rng = Alignment(), np.random.default_rng(3)
    for _ in range(400):
        x, y, yaw = rng.normal(0.0, (0.1, 0.1, math.radians(2.0)))
        known = truly(AROUND, (x, y), math.degrees(yaw))
        alignment.learn(told(AROUND, known, alignment.prior(EYE)))
    assert stds(alignment) == pytest.approx([0.1, 0.1, math.radians(2.0)], rel=0.35)


_within = [st.floats(least, most) for least, most in zip(LEAST_STD.tolist(), MOST_STD.tolist(), strict=True)]


@settings(max_examples=100)
@given(st.lists(st.tuples(_ahead, _ahead, st.floats(0.001, 1.0)), max_size=12), st.tuples(*_within))
def test_the_covariance_is_one_whatever_the_pairs_say(
    pairs: list[tuple[tuple[float, float, float], tuple[float, float, float], float]],
    before: tuple[float, float, float],
) -> None:
    seen, known = (np.array([pair[i] for pair in pairs]).reshape(-1, 3) + EYE for i in (0, 1))
    prior = Correction(EYE, np.zeros(3), np.diag(np.array(before) ** 2))
    correction = prior.told_by(seen, known, np.array([std_m**2 for *_, std_m in pairs]))
    covariance = correction.covariance
    assert np.allclose(covariance, covariance.T, rtol=1e-6, atol=1e-12)
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    assert np.all(np.diag(covariance) <= np.diag(prior.covariance) * (1.0 + 1e-6))
