import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from remembr_ros.bags.transforms import TransformTree
from remembr_ros.errors import StalePose
from remembr_ros.geometry import quaternion_from_yaw, yaw_from_quaternion

S = 1_000_000_000
NO_TURN = (0.0, 0.0, 0.0, 1.0)

numbers = st.floats(-100, 100)
quaternions = st.tuples(numbers, numbers, numbers, numbers).filter(lambda q: math.dist(q, (0, 0, 0, 0)) > 0.1)
transforms = st.tuples(st.tuples(numbers, numbers, numbers), quaternions)


def matrix(translation: object, rotation: object) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3] = Rotation.from_quat(rotation).as_matrix()
    result[:3, 3] = translation
    return result


@given(st.lists(transforms, min_size=1, max_size=5), st.lists(transforms, min_size=1, max_size=3))
def test_chains_up_and_down_agree_with_matrices(down: list, side: list) -> None:
    tree = TransformTree()
    truth = {'root': np.eye(4)}
    for name, branch in (('a', down), ('b', side)):
        parent = 'root'
        for number, (translation, rotation) in enumerate(branch):
            child = f'{name}{number}'
            tree.add(parent, child, 5 * S, translation, rotation, static=number % 2 == 0)
            truth[child] = truth[parent] @ matrix(translation, rotation)
            parent = child
    ends = (f'a{len(down) - 1}', f'b{len(side) - 1}')
    for parent, child in (('root', ends[0]), (ends[0], 'root'), ends, ends[::-1]):
        expected = np.linalg.inv(truth[parent]) @ truth[child]
        found = matrix(*tree.lookup(parent, child, 5 * S))
        assert np.allclose(found, expected, atol=1e-6)


def test_a_frame_in_itself_is_the_identity() -> None:
    tree = TransformTree()
    tree.add('map', 'base_link', 0, (1, 2, 3), NO_TURN, static=True)
    assert tree.lookup('base_link', 'base_link', 7) == ((0, 0, 0), NO_TURN)


@given(st.floats(-3.1, 3.1), st.floats(-3.0, 3.0), st.floats(0, 1), st.booleans())
def test_rotation_is_interpolated_the_short_way(start: float, turn: float, part: float, flip: bool) -> None:
    tree = TransformTree()
    sign = -1 if flip else 1  # q and -q are the same rotation
    tree.add('map', 'base', 0, (0, 0, 0), quaternion_from_yaw(start))
    tree.add('map', 'base', S, (10, -2, 4), [sign * value for value in quaternion_from_yaw(start + turn)])
    stamp = round(part * S)
    translation, rotation = tree.lookup('map', 'base', stamp)
    assert translation == pytest.approx((10 * stamp / S, -2 * stamp / S, 4 * stamp / S))
    off = yaw_from_quaternion(*rotation) - (start + turn * stamp / S)
    assert math.remainder(off, math.tau) == pytest.approx(0, abs=1e-6)


def test_moving_links_are_interpolated_each_at_the_asked_time() -> None:
    tree = TransformTree()
    tree.add('base', 'camera', 0, (1, 0, 0), NO_TURN, static=True)
    for second in (0, 4):
        tree.add('map', 'odom', second * S, (second, 0, 0), NO_TURN)
    for second in (1, 3):
        tree.add('odom', 'base', second * S, (0, second, 0), quaternion_from_yaw(math.pi / 2))
    translation, rotation = tree.lookup('map', 'camera', 2 * S)
    assert translation == pytest.approx((2, 3, 0))
    assert yaw_from_quaternion(*rotation) == pytest.approx(math.pi / 2)
    assert tree.latest_common('map', 'camera') == 3 * S
    assert tree.samples('map', 'camera') == [1 * S, 3 * S]
    assert tree.samples('map', 'camera', after_ns=1 * S) == [3 * S]


@pytest.mark.parametrize('second', [0, 4])
def test_outside_of_the_samples_is_stale_and_names_the_frames(second: int) -> None:
    tree = TransformTree()
    for sample in (1, 3):
        tree.add('map', 'base', sample * S, (sample, 0, 0), NO_TURN)
    with pytest.raises(StalePose, match='map -> base'):
        tree.lookup('map', 'base', second * S)
    near = tree.lookup('map', 'base', second * S, tolerance_ns=S)
    assert near[0][0] == (1 if second == 0 else 3)


def test_unconnected_frames_are_stale_and_named() -> None:
    tree = TransformTree()
    tree.add('map', 'base', 0, (0, 0, 0), NO_TURN)
    with pytest.raises(StalePose, match=r"'map' with 'camera'.*base, map"):
        tree.lookup('map', 'camera', 0)
    assert tree.latest_common('map', 'camera') is None
    assert not tree.connected('map', 'camera')


def test_links_without_a_common_time_have_no_latest() -> None:
    tree = TransformTree()
    tree.add('map', 'odom', 1 * S, (0, 0, 0), NO_TURN)
    tree.add('odom', 'base', 5 * S, (0, 0, 0), NO_TURN)
    assert tree.latest_common('map', 'base') is None
    assert tree.samples('map', 'base') == []


def test_static_links_hold_at_any_time_and_have_no_latest() -> None:
    tree = TransformTree()
    tree.add('map', 'camera', 50 * S, (1, 2, 3), NO_TURN, static=True)
    assert tree.lookup('map', 'camera', 0)[0] == (1, 2, 3)
    assert tree.latest_common('map', 'camera') is None
    assert not tree.moves('map', 'camera')


def test_history_is_bounded() -> None:
    tree = TransformTree(history_ns=2 * S)
    for tenth in range(1000):
        tree.add('map', 'base', tenth * S // 10, (tenth, 0, 0), NO_TURN)
    assert len(tree.samples('map', 'base')) == 21
    with pytest.raises(StalePose):
        tree.lookup('map', 'base', 97 * S)


def test_samples_out_of_order_are_sorted_in() -> None:
    tree = TransformTree()
    for tenth in (0, 10, 4):
        tree.add('map', 'base', tenth * S // 10, (tenth**2, 0, 0), NO_TURN)
    assert tree.lookup('map', 'base', 7 * S // 10)[0][0] == pytest.approx(58)


@pytest.mark.parametrize('before', [1000, 4])
def test_a_clock_that_jumps_back_drops_what_was(before: int) -> None:
    tree = TransformTree()
    tree.add('map', 'base', 0, (1, 0, 0), NO_TURN)
    tree.add('map', 'base', before * S, (1, 0, 0), NO_TURN)
    tree.add('map', 'base', 1 * S, (2, 0, 0), NO_TURN)
    assert tree.latest_common('map', 'base') == 1 * S
    assert tree.lookup('map', 'base', 1 * S)[0][0] == 2


def test_a_frame_with_a_new_parent_moves_there() -> None:
    tree = TransformTree()
    tree.add('odom', 'base', 0, (1, 0, 0), NO_TURN)
    tree.add('map', 'base', S, (2, 0, 0), NO_TURN)
    assert not tree.connected('odom', 'base')
    assert tree.lookup('map', 'base', S)[0][0] == 2


@pytest.mark.parametrize(
    ('parent', 'child', 'translation', 'rotation'),
    [
        ('map', 'map', (0, 0, 0), NO_TURN),
        ('map', '/map', (0, 0, 0), NO_TURN),
        ('', 'base', (0, 0, 0), NO_TURN),
        ('map', '', (0, 0, 0), NO_TURN),
        ('map', 'base', (math.nan, 0, 0), NO_TURN),
        ('map', 'base', (0, math.inf, 0), NO_TURN),
        ('map', 'base', (0, 0, 0), (0, 0, 0, 0)),
        ('map', 'base', (0, 0, 0), (0, 0, 0, math.nan)),
        ('map', 'base', (0, 0, 0), (0, 0, 1e300, 1e300)),
        ('map', 'base', (0, 0, -1e300), NO_TURN),
    ],
)
def test_nonsense_is_left_out(parent: str, child: str, translation: tuple, rotation: tuple) -> None:
    tree = TransformTree()
    assert not tree.add(parent, child, 0, translation, rotation)
    assert tree.frames == []


@given(st.lists(st.tuples(st.sampled_from('abcde'), st.sampled_from('abcde'), st.booleans()), max_size=30))
def test_rings_and_new_parents_end_in_an_answer_or_in_stale_pose(links: list) -> None:
    tree = TransformTree()
    for stamp, (parent, child, static) in enumerate(links):
        tree.add(parent, child, stamp, (1, 0, 0), NO_TURN, static=static)
    for parent in 'abcde':
        for child in 'abcde':
            try:
                tree.lookup(parent, child, len(links))
            except StalePose:
                pass
            else:
                assert tree.connected(parent, child)
            assert tree.root(child) in 'abcde'
            tree.latest_common(parent, child)


def test_leading_slash_of_ros_1_is_dropped() -> None:
    tree = TransformTree()
    tree.add('/map', '/base_link', 0, (1, 0, 0), NO_TURN, static=True)
    assert tree.lookup('map', '/base_link', 0)[0] == (1, 0, 0)
    assert tree.frames == ['base_link', 'map']
