from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.objects.detectors.detection import Detection
from remembr_ros.objects.keeper import EVERY_NS
from remembr_ros.objects.lifting import lift
from remembr_ros.objects.object_map import ObjectMap
from remembr_ros.timestamps import NS
from test.object_scene import AHEAD, T0, PixelRect, Scene, blind, detection, known_object

RED, BLUE = (30, 30, 200), (200, 60, 30)
LEFT, RIGHT = (40, 50, 60, 70), (100, 50, 120, 70)


class Watched:
    """A map of objects that is shown scenes, a second apart."""

    def __init__(self, objects: ObjectMap | None = None, start_ns: int = T0) -> None:
        self.objects = ObjectMap('robbie') if objects is None else objects
        self.now_ns = start_ns

    def show(self, scene: Scene, *detections: Detection, times: int = 4, depth: bool = True) -> list[str]:
        ids: list[str] = []
        for _ in range(times):
            self.now_ns += NS
            now = [replace(d, stamp_ns=self.now_ns) for d in detections]
            placed = lift(now, scene.view(self.now_ns, depth=depth), Counter())
            placed.sort(key=lambda one: detections_at(detections, one.detection))
            ids = self.objects.update(blind(self.now_ns), placed)
        return ids


def detections_at(detections: tuple[Detection, ...], one: Detection) -> int:
    return [d.box for d in detections].index(one.box)


def scene_with(*things: tuple[PixelRect, tuple[int, int, int]]) -> Scene:
    scene = Scene()
    for box, bgr in things:
        scene.put(box, 1.5, bgr)
    return scene


def at(box: PixelRect, label: str = 'mug', **changes: object) -> Detection:
    left, top, right, bottom = map(float, box)
    return detection((left, top, right, bottom), label, **changes)


def known_now(objects: ObjectMap) -> list[KnownObject]:
    return known_objects(objects.memories())


def stored(objects: ObjectMap) -> list[KnownObject]:
    return known_objects(memory for memory, _ in objects.changed())


def test_what_is_seen_often_enough_is_an_object_and_keeps_its_id() -> None:
    watched = Watched()
    assert watched.show(scene_with((LEFT, RED)), at(LEFT), times=2) == ['']
    assert len(watched.objects) == 0
    [identity] = watched.show(scene_with((LEFT, RED)), at(LEFT), times=1)
    assert identity
    assert watched.show(scene_with((LEFT, RED)), at(LEFT), times=20) == [identity]
    [known] = known_now(watched.objects)
    assert (known.id, known.name, known.facts.colour, known.facts.observations) == (
        identity,
        'mug',
        'red',
        23,
    )
    assert known.facts.intervals == ((T0 + NS, T0 + 23 * NS),)
    assert known.sightings[0][0] == T0 + NS
    assert known.sightings[-1][0] == T0 + 23 * NS


def test_the_best_picture_comes_once_and_a_better_one_again() -> None:
    watched = Watched()
    watched.show(scene_with((LEFT, RED)), at(LEFT))
    [(_, crop)] = watched.objects.changed()
    assert crop is not None
    assert crop.startswith(b'\xff\xd8')
    assert watched.objects.changed() == []
    watched.show(scene_with((LEFT, RED)), at(LEFT))
    [(_, again)] = watched.objects.changed()
    assert again is None
    watched.show(scene_with((LEFT, RED)), at(LEFT, scores={'mug': 0.95}))
    [(_, better)] = watched.objects.changed()
    assert better is not None


def test_a_flipped_label_neither_splits_nor_steals() -> None:
    watched = Watched()
    scene = scene_with((LEFT, RED), (RIGHT, BLUE))
    mug, bowl = watched.show(scene, at(LEFT), at(RIGHT, 'bowl'), times=6)
    assert watched.show(scene, at(LEFT, 'bowl'), at(RIGHT, 'bowl'), times=2) == [mug, bowl]
    assert watched.show(scene, at(LEFT, 'bowl'), times=1) == [mug]
    assert {known.name for known in known_now(watched.objects)} == {'mug', 'bowl'}


def test_a_large_thing_takes_nothing_that_lies_within_its_box() -> None:
    table = (20, 40, 140, 110)
    scene = Scene()
    scene.put(table, 1.6, (60, 110, 170))
    scene.put((70, 60, 82, 72), 1.5, (250, 250, 250))
    watched = Watched()
    watched.show(scene, at(table, 'table'), times=6)
    mug = watched.show(scene, at((70, 60, 82, 72)), times=4)
    assert {known.name for known in known_now(watched.objects)} == {'table', 'mug'}
    assert watched.show(scene, at(table, 'table'), times=1) != mug
    [known] = [known for known in known_now(watched.objects) if known.name == 'mug']
    assert known.memory.caption == 'A white mug near the table.'


def table_with_a_mug() -> tuple[Scene, Detection, Detection]:
    table, small = (20, 40, 140, 110), (70, 60, 82, 72)
    scene = Scene()
    scene.put(table, 1.6, (60, 110, 170))
    scene.put(small, 1.5, (60, 110, 170))
    return scene, at(table), at(small)


def test_a_large_thing_that_is_called_as_a_small_one_before_it_is_not_that_one() -> None:
    scene, table_called_mug, mug = table_with_a_mug()
    watched = Watched()
    [identity] = watched.show(scene, mug, times=6)
    size = known_now(watched.objects)[0].size
    assert watched.show(scene, table_called_mug, times=1) == ['']
    assert watched.show(scene, mug, times=1) == [identity]
    assert [known.size for known in known_now(watched.objects)] == [size]


def test_what_was_called_wrongly_once_takes_nothing_that_lies_within_its_box() -> None:
    scene, table_called_mug, mug = table_with_a_mug()
    watched = Watched()
    watched.show(scene, table_called_mug, times=1)
    watched.show(scene, mug, times=30)
    [known] = known_now(watched.objects)
    assert max(known.size) < 0.3
    assert known.facts.observations == 30


def test_two_alike_side_by_side_stay_two() -> None:
    watched = Watched()
    near = (64, 50, 84, 70)
    scene = scene_with((LEFT, RED), (near, RED))
    first = watched.show(scene, at(LEFT), at(near), times=6)
    assert len(set(first)) == 2
    assert watched.show(scene, at(near), at(LEFT), times=10) == first[::-1]
    assert len(watched.objects) == 2


def test_what_a_detector_boxes_twice_counts_once() -> None:
    watched = Watched()
    inner = (42, 54, 57, 68)
    ids = watched.show(scene_with((LEFT, RED)), at(LEFT), at(inner, scores={'mug': 0.5}), times=6)
    assert ids[1] == ''
    assert len(watched.objects) == 1


def test_two_labels_for_the_same_pixels_are_one_thing_with_both() -> None:
    watched = Watched()
    left, top, right, bottom = LEFT
    ids = watched.show(
        scene_with((LEFT, RED)), at(LEFT), at((left + 1, top, right, bottom), scores={'bowl': 0.5}), times=6
    )
    assert ids[1] == ''
    [known] = known_now(watched.objects)
    assert dict(known.facts.labels) == pytest.approx({'mug': 4.8, 'bowl': 3.0})


def test_what_only_the_border_of_images_shows_needs_more_looks() -> None:
    watched, cut = Watched(), (0, 50, 20, 70)
    watched.show(scene_with((cut, RED)), at(cut), times=6)
    assert len(watched.objects) == 0
    watched.show(scene_with((cut, RED)), at(cut), times=6)
    assert len(watched.objects) == 1


def test_poses_that_err_do_not_double_what_is_seen() -> None:
    watched, rng = Watched(), np.random.default_rng(5)
    things = [((x, 50, x + 14, 64), RED if i % 2 else BLUE) for i, x in enumerate((20, 50, 80, 110))]
    scene = scene_with(*things)
    for _ in range(60):
        watched.now_ns += NS
        dx, dy = rng.normal(0.0, 0.06, 2)
        pose = ((float(dx), float(dy), 1.0), AHEAD[1])
        detections = [at(box, stamp_ns=watched.now_ns) for box, _ in things]
        placed = lift(detections, scene.view(watched.now_ns, pose), Counter())
        watched.objects.update(blind(watched.now_ns, pose), placed)
    watched.objects.review(watched.now_ns)
    found = known_now(watched.objects)
    assert len(found) == 4
    assert all(abs(known.position[0] - 1.5) < 0.05 for known in found)


def test_those_that_turn_out_to_be_one_are_merged_and_the_old_id_is_remembered() -> None:
    twin = known_object(0, id='twin', position=(1.03, 2.0, 0.8), intervals=((T0 - NS, T0 - NS),))
    objects = ObjectMap('robbie', known=[known_object(0), twin])
    assert len(objects) == 2
    near = detection((10.0, 10.0, 30.0, 30.0), scores={'mug': 0.8}, stamp_ns=T0 + 3600 * NS)
    [placed] = lift([near], Scene().view(near.stamp_ns), Counter())
    placed = replace(placed, low=np.array([0.95, 1.94, 0.73]), high=np.array([1.05, 2.06, 0.87]))
    objects.update(blind(near.stamp_ns), [placed])
    objects.review(near.stamp_ns)
    [known] = stored(objects)
    assert (known.id, known.facts.aliases) == ('twin', ('object0',))
    assert known.facts.observations == 7
    assert objects.gone() == ['object0']
    assert objects.gone() == []


def test_what_is_known_goes_on_after_a_restart_and_a_recording_counts_once() -> None:
    scene = scene_with((LEFT, RED))
    first = Watched()
    [identity] = first.show(scene, at(LEFT), times=5)
    known = stored(first.objects)
    again = Watched(ObjectMap('robbie', known=known))
    assert again.show(scene, at(LEFT), times=5) == [identity]
    again.objects.review(again.now_ns)
    assert again.objects.changed() == []
    again.now_ns += 3600 * NS
    assert again.show(scene, at(LEFT), times=1) == [identity]
    [later] = stored(again.objects)
    assert later.facts.observations == 6
    assert len(later.facts.intervals) == 2


def test_what_was_not_stored_when_a_run_was_cut_off_is_found_when_it_is_read_again() -> None:
    scene = scene_with((LEFT, RED), (RIGHT, BLUE))
    first = Watched()
    first.show(scene, at(LEFT), times=2)
    first.show(scene, at(LEFT), at(RIGHT, 'bowl'), times=2)
    known = stored(first.objects)
    assert [one.name for one in known] == ['mug']
    again = Watched(ObjectMap('robbie', known=known))
    again.show(scene, at(LEFT), times=2)
    again.show(scene, at(LEFT), at(RIGHT, 'bowl'), times=6)
    found = {one.name: one.facts.observations for one in known_now(again.objects)}
    assert found == {'mug': 8, 'bowl': 6}


def watch_wrongly_placed(objects: ObjectMap, after: int = 0) -> None:
    """Show a thing for 49 s, or the rest of them; where the robot is thought to be is off for a while."""
    now_ns, scene = T0, scene_with((LEFT, RED))
    for off, times in ((0.0, 6), (0.4, 12), (0.3, 4), (0.2, 6), (0.1, 16), (0.0, 5)):
        for _ in range(times):
            now_ns += NS
            if now_ns > T0 + after * NS:
                pose = ((0.0, off, 1.0), AHEAD[1])
                placed = lift([at(LEFT, stamp_ns=now_ns)], scene.view(now_ns, pose), Counter())
                objects.update(blind(now_ns, pose), placed)


def test_what_a_merger_made_one_stays_one_when_the_recording_is_read_again() -> None:
    first = ObjectMap('robbie')
    watch_wrongly_placed(first)
    [known] = stored(first)
    assert (len(known.facts.aliases), known.facts.observations) == (1, 49)
    again = ObjectMap('robbie', known=[known])
    watch_wrongly_placed(again)
    assert again.changed() == []
    assert [one.id for one in known_now(again)] == [known.id]
    later_ns = T0 + 3600 * NS
    placed = lift([at(LEFT, stamp_ns=later_ns)], scene_with((LEFT, RED)).view(later_ns), Counter())
    assert again.update(blind(later_ns), placed) == [known.id]


@pytest.mark.parametrize('after', [0, 9])
@pytest.mark.parametrize('whole', range(49 - EVERY_NS // NS, 50))
def test_what_was_stored_of_one_before_a_kill_counts_once_though_others_were_left_out(
    whole: int, after: int
) -> None:
    first = ObjectMap('robbie')
    watch_wrongly_placed(first)
    [known] = stored(first)
    kept = (T0 + whole * NS, T0 + 49 * NS)
    again = ObjectMap('robbie', known=[replace(known, facts=known.facts.model_copy(update={'kept': kept}))])
    watch_wrongly_placed(again, after)
    again.review(T0 + 49 * NS)
    [after] = known_now(again)
    assert (after.id, after.facts.observations) == (known.id, 49)


def test_without_depth_a_thing_is_one_and_depth_puts_it_in_its_place() -> None:
    watched, scene = Watched(), scene_with((LEFT, RED))
    [identity] = watched.show(scene, at(LEFT), depth=False)
    [rough] = known_now(watched.objects)
    assert (rough.facts.measured, rough.facts.std > 1.0) == (False, True)
    assert watched.show(scene, at(LEFT)) == [identity]
    [known] = known_now(watched.objects)
    assert known.facts.measured
    assert known.position[0] == pytest.approx(1.5, abs=0.02)
    assert known.facts.std < 0.1


@pytest.mark.parametrize('reviewed', [False, True])
def test_a_mistake_of_the_detector_is_forgotten(*, reviewed: bool) -> None:
    watched = Watched()
    watched.show(scene_with((LEFT, RED)), at(LEFT), times=2)
    watched.now_ns += 3600 * NS
    if reviewed:
        watched.objects.review(watched.now_ns)
    watched.show(scene_with((LEFT, RED)), at(LEFT), times=2)
    assert len(watched.objects) == 0


def test_time_that_jumps_back_breaks_nothing() -> None:
    watched, scene = Watched(), scene_with((LEFT, RED))
    [identity] = watched.show(scene, at(LEFT), times=5)
    watched.now_ns -= 7200 * NS
    assert watched.show(scene, at(LEFT), times=5) == [identity]
    [known] = known_now(watched.objects)
    assert known.facts.intervals[0][1] < known.facts.intervals[1][0]


def test_an_empty_frame_and_none_at_all_change_nothing() -> None:
    objects = ObjectMap('robbie')
    assert objects.update(blind(T0), []) == []
    objects.review(T0)
    assert (objects.memories(), objects.changed(), objects.gone()) == ([], [], [])
