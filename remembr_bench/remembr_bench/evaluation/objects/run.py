"""One home, driven through once: the objects that are known at every level of noise."""

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from remembr_bench.evaluation.objects.measure import Belief, Changes, Tally, count
from remembr_bench.simulation.detector import NO_ERRORS, DetectorErrors, SimulatedDetector
from remembr_bench.simulation.homes.home import Home
from remembr_bench.simulation.homes.home_views import CAMERA, HomeFrame, camera_pose, frames_of
from remembr_bench.simulation.tour import misplaced
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.objects.lifting import CameraView, DepthView, Lifted, lift
from remembr_ros.objects.object_map import ObjectMap

LOOK_EVERY = 10  # frames between two looks at what is known


@dataclass(frozen=True, slots=True)
class Noise:
    """What is wrong with poses and detections.

    :param pose_m: standard deviation of the robot's x and y, at each image for itself [m]
    :param pose_deg: of its yaw [degrees]
    """

    name: str
    pose_m: float = 0.0
    pose_deg: float = 0.0
    errors: DetectorErrors = NO_ERRORS


LEVELS = (
    Noise('none'),
    Noise('pose 5 cm 1 deg', 0.05, 1.0, DetectorErrors(0.1, 0.02, 0.05)),
    Noise('pose 10 cm 2 deg', 0.1, 2.0, DetectorErrors(0.2, 0.05, 0.1)),
    Noise('pose 20 cm 5 deg', 0.2, 5.0, DetectorErrors(0.4, 0.1, 0.2)),
    Noise('poses only 20 cm 5 deg', 0.2, 5.0),
    Noise('detector only 40 %', errors=DetectorErrors(0.4, 0.1, 0.2)),
    Noise('boxes only 1 px', 0.02, 0.5, DetectorErrors(0.1, 0.02, 0.05, 1.0)),
)
PROMISED = 'pose 10 cm 2 deg'
"""The level of the figures that are promised."""


class ObjectRule(Protocol):
    """Decides, frame by frame, which object each detection is."""

    def update(self, view: CameraView, placed: Sequence[Lifted]) -> list[str]:
        """Return the id of the object that each detection is; empty: of none yet."""

    def beliefs(self) -> list[Belief]:
        """Return all objects as they are now."""


class RemembrRule:
    """The object memory of this package."""

    def __init__(self) -> None:
        self._map, self._now_ns = ObjectMap('robot'), 0

    def update(self, view: CameraView, placed: Sequence[Lifted]) -> list[str]:
        self._now_ns = view.stamp_ns
        return self._map.update(view, placed)

    def beliefs(self) -> list[Belief]:
        found = []
        for known in known_objects(self.memories()):
            middle, half = np.array(known.position), np.array(known.size) / 2.0
            names, missing = (known.id, *known.facts.aliases), known.missing_ns is not None
            moved_ns = known.moves[-1][1] if known.moves else 0
            found.append(Belief(names, known.name, middle - half, middle + half, missing, moved_ns))
        return found

    def memories(self) -> list[Memory]:
        """Return all objects as they are now, as before they are stored."""
        self._map.review(self._now_ns)
        return self._map.memories()


@dataclass
class Course:
    """A rule at a level of noise, on its way through the visits.

    :ivar ids: by thing, those that it was given, in their order
    :ivar before: what was believed of each thing at the end of the last visit in which it was found
    :ivar shown: of each visit, how many frames show each thing, by its number
    :ivar seen_ns: when each thing was shown last, by its number; 0: never
    :ivar changed: of each visit, what was moved or taken away before it, and that was shown often enough
    """

    rule: ObjectRule
    tally: Tally = field(default_factory=Tally)
    ids: dict[int, list[str]] = field(default_factory=dict)
    before: dict[int, Belief] = field(default_factory=dict)
    changes: Changes = field(init=False)
    shown: list[NDArray[np.int64]] = field(default_factory=list)
    seen_ns: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    changed: list[frozenset[int]] = field(default_factory=list)

    def take(self, view: CameraView, placed: Sequence[Lifted], things: Sequence[int]) -> None:
        """Take a frame, and which thing each detection shows."""
        for thing, name in zip(things, self.rule.update(view, placed), strict=True):
            if thing and name:
                self.ids.setdefault(thing, []).append(name)


def drive_through(
    home: Home, levels: Sequence[Noise], make_rule: Callable[[], ObjectRule] = RemembrRule
) -> dict[str, Course]:
    """Return by level of noise what came of it; every rule gets the same detections."""
    labels = {item.number: item.label for item in home.items}
    courses = {level.name: Course(make_rule()) for level in levels}
    rngs = {level.name: random.Random(f'{home.seed} {level.name}') for level in levels}
    shown: list[NDArray[np.int64]] = []
    seen_ns = np.zeros(len(home.items) + 1, np.int64)
    for number, visit in enumerate(home.visits):
        for course in courses.values():
            course.changes = Changes(home, shown, number, course.before)
        shown.append(np.zeros(len(home.items) + 1, np.int64))
        for at, frame in enumerate(frames_of(home, visit), start=1):
            shows = frame.shows(len(home.items))
            shown[-1] += shows
            seen_ns[shows > 0] = frame.stamp_ns
            for level in levels:
                view, placed = detected(home, frame, level, rngs[level.name], labels)
                course = courses[level.name]
                course.take(view, placed, [_thing(lifted, frame) for lifted in placed])
                course.changes.show(frame, shows)
                if at % LOOK_EVERY == 0:
                    course.changes.look(course.rule.beliefs())
        for course in courses.values():
            beliefs = course.rule.beliefs()
            course.tally = Tally(changed=course.tally.changed, still=course.tally.still)
            course.changed.append(course.changes.close(course.tally, beliefs))
            course.before |= count(course.tally, beliefs, home, shown, number)
    for course in courses.values():
        course.shown, course.seen_ns = shown, seen_ns
        left = {name: belief.names[0] for belief in course.rule.beliefs() for name in belief.names}
        for names in course.ids.values():
            course.tally.seen += len(names)
            course.tally.switches += sum(left.get(a, a) != left.get(b, b) for a, b in pairwise(names))
    return courses


def detected(
    home: Home, frame: HomeFrame, level: Noise, rng: random.Random, labels: Mapping[int, str]
) -> tuple[CameraView, list[Lifted]]:
    """Return what is detected in a frame at a level of noise."""
    pose = camera_pose(misplaced(frame.base, level.pose_m, math.radians(level.pose_deg), rng))
    view = CameraView(frame.stamp_ns, frame.bgr, CAMERA, pose, DepthView(frame.depth, CAMERA, pose))
    detector = SimulatedDetector(lambda _: frame.instances, labels, level.errors, home.seed)
    return view, lift(detector.detect(frame.bgr, frame.stamp_ns), view, Counter())


def _thing(placed: Lifted, frame: HomeFrame) -> int:
    """Return the number of the thing that most of a detection shows; 0: none."""
    left, top, right, bottom = (round(edge) for edge in placed.detection.box)
    inside = frame.instances[top : bottom + 1, left : right + 1].ravel()
    pixels = inside if placed.detection.mask is None else frame.instances[placed.detection.mask]
    counts = np.bincount(pixels)
    return int(counts.argmax()) if counts.max() * 2 > len(pixels) else 0
