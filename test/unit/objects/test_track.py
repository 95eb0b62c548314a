"""What becomes of objects over time: restarts, things that move, parts of things, garbage that is stored."""

import base64
import tracemalloc
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from remembr_ros.memory.model.storable import storable
from remembr_ros.memory.objects.known import ALIASES, INTERVALS, known_objects
from remembr_ros.objects.appearance import Appearance
from remembr_ros.objects.lifting import CameraView, DepthView, Lifted, lift
from remembr_ros.objects.object_map import TENTATIVE_NS, ObjectMap
from remembr_ros.objects.track import ObjectTrack
from remembr_ros.timestamps import NS
from test.object_scene import AHEAD, CAMERA, T0, Scene, blind, detection, known_object

Corner = tuple[float, float, float]
DAY_NS = 86_400 * NS


def lifted(low: Corner, high: Corner, label: str = 'mug', *, cut: bool = False, look: Any = None) -> Lifted:
    return Lifted(
        detection((10.0, 10.0, 50.0, 50.0), label),
        np.array(low),
        np.array(high),
        0.12 if cut else 0.02,
        cut,
        True,
        Appearance(look),
        bytes,
    )


class Watched:
    """A map of objects that is shown things, a fifth of a second apart."""

    def __init__(self, objects: ObjectMap | None = None, start_ns: int = T0) -> None:
        self.objects = ObjectMap('robbie') if objects is None else objects
        self.now_ns = start_ns

    def show(self, *things: Lifted, times: int = 1) -> list[str]:
        found: list[str] = []
        for _ in range(times):
            self.now_ns += NS // 5
            now = [replace(t, detection=replace(t.detection, stamp_ns=self.now_ns)) for t in things]
            found = self.objects.update(blind(self.now_ns), now)
        return found

    def restarted(self) -> 'Watched':
        known = known_objects(self.objects.memories())
        return Watched(ObjectMap('robbie', known=known), self.now_ns + DAY_NS)


BOTTLES = (
    lifted((1.0, 0.0, 0.8), (1.07, 0.07, 1.0), 'bottle'),
    lifted((1.0, 0.08, 0.8), (1.07, 0.15, 1.0), 'bottle'),
)


def test_two_alike_beside_each_other_stay_two() -> None:
    watched = Watched()
    watched.show(*BOTTLES, times=30)
    watched.show(BOTTLES[0], times=30)
    assert len(watched.objects) == 2


def test_two_alike_beside_each_other_stay_two_after_a_restart() -> None:
    watched = Watched()
    watched.show(*BOTTLES, times=30)
    watched = watched.restarted()
    watched.show(BOTTLES[0], times=10)
    assert len(watched.objects) == 2


@pytest.mark.parametrize('step', [0.05, 0.1, 0.3])
def test_a_person_who_walks_by_is_no_wall(step: float) -> None:
    watched = Watched()
    for number in range(40):
        watched.show(lifted((3.0, step * number, 0.0), (3.3, step * number + 0.5, 1.7), 'person'))
    assert all(known.size[1] < 1.0 for known in known_objects(watched.objects.memories()))


def test_chairs_in_a_row_that_are_seen_one_by_one_are_not_one() -> None:
    watched = Watched()
    for number in range(8):
        y = 0.5 * number
        watched.show(lifted((2.0, y, 0.0), (2.45, y + 0.45, 0.9), 'chair'), times=6)
    assert len(watched.objects) >= 6


def test_a_long_thing_that_was_seen_whole_stays_one_however_little_is_seen_of_it_later() -> None:
    watched = Watched()
    watched.show(lifted((2.0, 0.0, 0.0), (2.8, 4.0, 0.8), 'table'), times=6)
    watched.show(lifted((2.0, 0.0, 0.0), (2.8, 1.0, 0.8), 'table', cut=True), times=30)
    watched.show(lifted((2.0, 3.0, 0.0), (2.8, 4.0, 0.8), 'table', cut=True), times=30)
    [known] = known_objects(watched.objects.memories())
    assert known.size[1] > 3.0


@pytest.mark.parametrize(('wholes', 'width'), [(1, 0.5), (8, 0.15)])
def test_what_once_seemed_to_be_the_whole_of_what_is_seen_in_part_was_a_part(
    wholes: int, width: float
) -> None:
    track = ObjectTrack('tv')
    for _ in range(16):
        track.see(lifted((2.0, 0.0, 1.0), (2.1, 0.5, 1.4), 'tv', cut=True), (0.0, 0.0, 1.0))
    for _ in range(wholes):  # but for a few pixels, it is at the image's border
        track.see(lifted((2.0, 0.1, 1.1), (2.05, 0.25, 1.3), 'tv'), (0.0, 0.0, 1.0))
    assert (track.high - track.low)[1] == pytest.approx(width, abs=0.05)
    assert track.cut == (wholes == 1)


def test_what_is_stored_stays_as_large_as_it_is_however_often_it_is_seen_in_part() -> None:
    track = ObjectTrack.of(known_object(0))
    low, high = track.low.copy(), track.high.copy()
    for _ in range(20):
        track.see(lifted(tuple(low + 0.06), tuple(high + 0.06), cut=True), (0.0, 0.0, 1.0))
    assert np.allclose((track.low, track.high), (low, high), atol=0.01)


@pytest.mark.xfail(strict=True, reason='what is known of a thing is its front: its back is another one')
def test_a_deep_thing_that_is_seen_from_the_other_side_is_the_same() -> None:
    watched = Watched()
    watched.show(lifted((2.0, 0.0, 0.0), (2.04, 0.6, 1.8), 'refrigerator'), times=10)
    watched.show(lifted((2.56, 0.0, 0.0), (2.6, 0.6, 1.8), 'refrigerator'), times=10)
    assert len(watched.objects) == 1


def test_a_sofa_that_is_seen_in_part_through_a_door_stays_as_large_as_it_is() -> None:
    watched = Watched()
    watched.show(lifted((2.0, 0.0, 0.0), (2.6, 1.3, 0.8), 'sofa'), times=10)
    ids = watched.show(lifted((2.0, 1.0, 0.0), (2.3, 1.2, 0.8), 'sofa'), times=60)
    [known] = known_objects(watched.objects.memories())
    assert ids == [known.id]
    assert known.size == pytest.approx((0.6, 1.3, 0.8), abs=0.05)


@pytest.mark.parametrize('metres', [0.05, 0.1, 0.2])
def test_what_is_pushed_a_little_is_followed(metres: float) -> None:
    watched = Watched()
    watched.show(lifted((2.0, 0.0, 0.8), (2.05, 0.1, 0.9)), times=30)
    watched.show(lifted((2.0, metres, 0.8), (2.05, metres + 0.1, 0.9)), times=30)
    [known] = known_objects(watched.objects.memories())
    assert known.position[1] == pytest.approx(metres + 0.05, abs=0.01)


def test_mistakes_of_the_detector_leave_nothing_behind() -> None:
    watched, mug = Watched(), lifted((0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    watched.show(mug, times=5)
    for number in range(50):
        ghost = lifted((3.0 * number, 5.0, 0.0), (3.0 * number + 0.1, 5.1, 0.1), 'ghost')
        watched.show(mug, ghost)
    watched.now_ns += 2 * TENTATIVE_NS
    watched.show(mug, times=5)
    [track] = watched.objects._tracks
    assert len(track.beside) == 0


def test_what_was_merged_and_then_forgotten_may_come_again() -> None:
    objects = ObjectMap('robbie')
    first, second = (lifted((x, 0.0, 0.0), (x + 0.1, 0.1, 0.1)) for x in (0.0, 0.7))
    for number, one in enumerate((first, second)):
        stamp_ns = T0 + number * NS
        objects.update(blind(stamp_ns), [replace(one, detection=replace(one.detection, stamp_ns=stamp_ns))])
    objects._merge(*objects._tracks)
    objects.review(T0 + 2 * TENTATIVE_NS)
    again = replace(second, detection=replace(second.detection, stamp_ns=T0 + NS))
    assert objects.update(blind(T0 + NS), [again]) == ['']


def test_what_may_become_an_object_holds_no_large_pictures() -> None:
    objects = ObjectMap('robbie')
    camera = CAMERA.at(1920, 1440, 'image')
    image = np.zeros((1440, 1920, 3), np.uint8)
    tracemalloc.start()
    try:
        for number in range(10):
            pose = ((0.0, 5.0 * number, 1.0), AHEAD[1])
            depth = DepthView(np.full((120, 160), 2.0, np.float32), CAMERA, pose)
            ghost = detection((100.0, 100.0, 1800.0, 1400.0), f'ghost {number}', stamp_ns=T0 + number * NS)
            view = CameraView(T0 + number * NS, image, camera, pose, depth)
            objects.update(view, lift([ghost], view, Counter()))
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < 10 * 1_000_000


def test_what_many_turn_out_to_be_stays_a_row_that_a_store_takes() -> None:
    days = [((T0 + day * DAY_NS, T0 + day * DAY_NS),) for day in range(INTERVALS)]
    one = ObjectTrack.of(known_object(intervals=tuple(times for (times,) in days)))
    first_ns = one.span[0]
    for number in range(1, ALIASES + 100):
        times = (T0 + number * DAY_NS // 2, T0 + number * DAY_NS // 2)
        one.take_in(ObjectTrack.of(known_object(number, position=(1.0, 2.0, 0.8), intervals=(times,))))
    memory = one.memory('robbie', '', 'map', '')
    assert storable(memory) == memory
    facts = known_objects([memory])[0].facts
    assert (len(facts.aliases), facts.aliases[-1]) == (ALIASES, f'object{ALIASES + 99}')
    assert (len(facts.intervals), memory.start_ns) == (INTERVALS, first_ns)


def facts_that(changes: Mapping[str, Any]) -> Any:
    known = known_object()
    return replace(known.memory, facts={**known.memory.facts, **changes})


@pytest.mark.parametrize(
    'changes',
    [
        {'labels': {'mug': 0.0}},
        {'labels': {'mug': -1.0, 'cup': 1.0}},
        {'appearance': base64.b64encode(b'odd').decode()},
        {'appearance': base64.b64encode(np.full(96, np.nan, '<f2').tobytes()).decode()},
        {'std': 1e300},
        {'std': 0.0},
    ],
    ids=['no label', 'a negative one', 'half a number', 'NaN', 'a huge error', 'no error at all'],
)
def test_damaged_facts_end_nothing(changes: Mapping[str, Any]) -> None:
    watched = Watched(ObjectMap('robbie', known=known_objects([facts_that(changes)])), T0 + DAY_NS)
    look = np.ones(96, np.float32) / np.sqrt(96.0)
    watched.show(lifted((0.95, 1.94, 0.73), (1.05, 2.06, 0.87), look=look), times=6)
    assert len(watched.objects) == 1
    assert watched.objects.changed()


def test_scores_that_are_tiny_survive_a_restart() -> None:
    tiny = lifted((0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    tiny = replace(tiny, detection=replace(tiny.detection, scores={'mug': 1e-4}))
    watched = Watched()
    watched.show(tiny, times=4)
    assert watched.restarted().show(tiny) != ['']


@pytest.mark.filterwarnings('ignore::RuntimeWarning')
def test_boxes_that_are_huge_are_cut_to_the_image() -> None:
    lift([detection((-1e308, 0.0, 1e308, 100.0))], Scene().view(), Counter())


def test_an_embedding_of_nan_is_none() -> None:
    scene, objects = Scene(), ObjectMap('robbie')
    scene.put((40, 50, 60, 70), 1.5, (30, 30, 200))
    for number in range(4):
        now = detection((40.0, 50.0, 60.0, 70.0), embedding=np.full(8, np.nan, np.float32))
        now = replace(now, stamp_ns=T0 + number * NS)
        objects.update(blind(now.stamp_ns), lift([now], scene.view(now.stamp_ns), Counter()))


@pytest.mark.xfail(strict=True, reason='only the border of the colour image is looked at')
def test_what_the_depth_image_cuts_off_is_cut() -> None:
    scene = Scene()
    scene.put((60, 40, 100, 80), 1.5, (30, 30, 200))
    scene.metres[:, :80] = 0.0  # its camera sees less than the colour camera
    [placed] = lift([detection((60.0, 40.0, 100.0, 80.0))], scene.view(), Counter())
    assert placed.cut or placed.std_m > 0.1
