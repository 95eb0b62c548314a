"""Things alike that stand side by side, seen in part: none takes the room of its neighbour."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from remembr_ros.memory.objects.known import known_objects
from remembr_ros.objects.appearance import Appearance
from remembr_ros.objects.lifting import Lifted
from remembr_ros.objects.object_map import ObjectMap
from remembr_ros.objects.track import ObjectTrack
from remembr_ros.timestamps import NS
from test.object_scene import T0, blind, detection

WIDE_M, SPACING_M = 0.5, 0.55  # of chairs at a table
EYE = (0.0, 0.0, 1.0)


def look(*numbers: float) -> NDArray[np.float32]:
    vector = np.array(numbers)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def chair(
    low: Sequence[float] | NDArray[np.float64],
    high: Sequence[float] | NDArray[np.float64],
    appearance: NDArray[np.float32] | None = None,
    *,
    cut: bool = False,
) -> Lifted:
    seen, std_m = detection((10.0, 10.0, 50.0, 50.0), 'chair'), 0.12 if cut else 0.02
    return Lifted(seen, np.array(low), np.array(high), std_m, cut, True, Appearance(appearance), bytes)


def show(objects: ObjectMap, number: int, *things: Lifted) -> None:
    now_ns = T0 + number * NS // 5
    seen = [replace(thing, detection=replace(thing.detection, stamp_ns=now_ns)) for thing in things]
    objects.update(blind(now_ns), seen)


@pytest.mark.parametrize('seed', range(6))
def test_chairs_in_a_row_that_are_seen_in_part_do_not_grow_into_each_other(seed: int) -> None:
    rng, objects = np.random.default_rng(seed), ObjectMap('robbie')
    common = rng.normal(size=12)
    looks = [common + 0.25 * rng.normal(size=12) for _ in range(4)]
    for number in range(160):
        begin = -1.2 + 2.5 * (1.0 - np.cos(number / 20.0)) / 2.0  # what is in view goes to and fro
        pose, seen = rng.normal(0.0, 0.03, 3) * (1.0, 1.0, 0.0), []
        for place, own in zip(SPACING_M * np.arange(4), looks, strict=True):
            left, right = max(place, begin), min(place + WIDE_M, begin + 1.1)
            if right - left < 0.06 or rng.random() < 0.3:
                continue
            cut = right - left < WIDE_M
            low, high = np.array((2.0, left, 0.0)), np.array((2.5, right, 0.9))
            if rng.random() < 0.4:  # the table hides all but its back
                low[2], high[0] = 0.45, 2.15
            low, high = low + rng.normal(0.0, 0.02, 3) + pose, high + rng.normal(0.0, 0.02, 3) + pose
            blurred = own + (1.0 if cut else 0.3) * rng.normal(size=12)
            seen.append(chair(low, high, look(*blurred), cut=cut))
        show(objects, number, *seen)
    objects.review(T0 + 60 * NS)
    known = known_objects(objects.memories())
    for middle in WIDE_M / 2.0 + SPACING_M * np.arange(4):
        assert any(abs(one.position[1] - middle) < 0.12 for one in known)
    assert max(max(one.size[:2]) for one in known) < 0.65


def test_what_is_seen_beside_a_wide_thing_does_not_make_it_wider() -> None:
    track = ObjectTrack('table')
    for _ in range(20):
        track.see(chair((2.0, 0.0, 0.0), (2.9, 1.2, 0.7)), EYE)
    for _ in range(4):
        track.see(chair((2.0, 1.3, 0.0), (2.9, 1.9, 0.7), cut=True), EYE)
    assert track.cut
    assert track.high[1] == pytest.approx(1.2, abs=0.02)


def test_a_part_of_a_wide_thing_that_overlaps_it_makes_it_as_wide_as_it_is() -> None:
    track = ObjectTrack('table')
    for _ in range(8):
        track.see(chair((2.0, 0.0, 0.0), (2.9, 1.2, 0.7), cut=True), EYE)
        track.see(chair((2.0, 1.0, 0.0), (2.9, 2.0, 0.7), cut=True), EYE)
    assert track.high[1] - track.low[1] == pytest.approx(2.0, abs=0.02)


def test_a_chair_that_was_boxed_with_a_corner_of_the_table_shrinks_to_what_is_seen_of_it_later() -> None:
    track = ObjectTrack('chair')
    for number in range(30):
        if number < 9:
            track.see(chair((-1.34, 1.19, 0.3), (-0.72, 1.91, 0.82)), EYE)
        elif number % 3:  # its back
            track.see(chair((-1.31, 1.52, 0.41), (-1.04, 1.93, 0.82)), EYE)
        else:
            track.see(chair((-1.34, 1.32, 0.3), (-0.88, 1.94, 0.82)), EYE)
    assert not track.cut
    assert np.all(track.high - track.low < (0.5, 0.65, 0.6))
    assert track.centre == pytest.approx((-1.11, 1.63, 0.56), abs=0.03)
