"""A home that is read twice, with poses that are off and a detector that errs."""

import random
from functools import cache

import pytest

from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.objects.keeper import AGAIN_NS
from remembr_ros.objects.lifting import CameraView, Lifted
from remembr_ros.objects.object_map import ObjectMap
from remembr_ros.timestamps import NS

pytest.importorskip('remembr_bench', reason='needs the worlds of remembr_bench')

from remembr_bench.evaluation.objects.run import LEVELS, PROMISED, detected
from remembr_bench.simulation.homes.home_views import RATE_HZ, frames_of
from remembr_bench.simulation.homes.layout import generate_home

SEEDS = (305, 316)


@cache
def seen_in(seed: int) -> list[tuple[CameraView, list[Lifted]]]:
    """Return what a home shows on its visits, one in four frames."""
    home, rng = generate_home(seed), random.Random(seed)
    [level] = [level for level in LEVELS if level.name == PROMISED]
    labels = {item.number: item.label for item in home.items}
    frames = [frame for visit in home.visits for frame in frames_of(home, visit, RATE_HZ / 4.0)]
    return [detected(home, frame, level, rng, labels) for frame in frames]


def read(objects: ObjectMap, frames: list[tuple[CameraView, list[Lifted]]]) -> ObjectMap:
    for view, placed in frames:
        objects.update(view, placed)
    objects.review(frames[-1][0].stamp_ns)
    return objects


def restarted(objects: ObjectMap) -> ObjectMap:
    return ObjectMap('robbie', known=known_objects(objects.memories()))


@pytest.mark.parametrize('seed', SEEDS)
def test_what_is_read_again_changes_nothing(seed: int) -> None:
    frames = seen_in(seed)
    first = read(ObjectMap('robbie'), frames)
    again = read(restarted(first), frames)
    assert again.changed() == []
    assert again.gone() == []
    assert {memory.id for memory in again.memories()} == {memory.id for memory in first.memories()}
    assert len(first) > 30


@pytest.mark.parametrize('part', [0.3, 0.5, 0.8])
@pytest.mark.parametrize('seed', SEEDS)
def test_what_was_cut_off_and_is_read_again_comes_to_as_much_and_counts_once(seed: int, part: float) -> None:
    frames = seen_in(seed)
    expected = known_objects(read(ObjectMap('robbie'), frames).memories())
    objects = restarted(read(ObjectMap('robbie'), frames[: int(part * len(frames))]))
    left = [(view, seen) for view, seen in frames if not objects.has_read(view.stamp_ns, '', AGAIN_NS)]
    assert len(left) < (1.1 - part) * len(frames) + AGAIN_NS // NS
    found = known_objects(read(objects, left).memories())
    # What was no object yet when it was cut off, is lost until then.
    assert len(found) == pytest.approx(len(expected), abs=3)
    assert _observations(found) == pytest.approx(_observations(expected), rel=0.05)


def _observations(found: list[KnownObject]) -> int:
    return sum(known.facts.observations for known in found)
