"""One home, driven through once: every rule at every level of noise, on the same detections."""

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from remembr_ros.evaluation.objects.measure import Changes, Tally, count
from remembr_ros.evaluation.objects.rivals import DimosRule, EmbodiedVideoAgentRule, SemapRule
from remembr_ros.evaluation.objects.rules import Belief, ObjectRule, RemembrRule
from remembr_ros.geometry import inverse
from remembr_ros.objects.camera import to_parent
from remembr_ros.objects.lifting import CameraView, DepthView, Lifted, lift
from remembr_ros.objects.simulated import NO_ERRORS, DetectorErrors, SimulatedDetector
from remembr_ros.simulation.homes.home import Home, centre_of
from remembr_ros.simulation.homes.recording import SHOWN_PX, HomeTruth, misplaced, shows, truth_of
from remembr_ros.simulation.homes.renderer import CAMERA, RATE_HZ, HomeFrame, camera_pose, frames_of
from remembr_ros.timestamps import NS

RULES: Mapping[str, Callable[[], ObjectRule]] = {
    'remembr': RemembrRule,
    'embodied_videoagent': EmbodiedVideoAgentRule,
    'dimos': DimosRule,
    'rai_semap': SemapRule,
}
LOOK_EVERY = 10  # frames between two looks at what is known
SEEN_M = 5.0  # what is further away is not seen


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
    Noise('misses 40 %', errors=DetectorErrors(0.4, 0.1, 0.2)),
    Noise('poses only 20 cm 5 deg', 0.2, 5.0),
    Noise('boxes only 1 px', 0.02, 0.5, DetectorErrors(0.1, 0.02, 0.05, 1.0)),
)
PROMISED = 'pose 10 cm 2 deg'
"""The level of the figures that are promised."""


@dataclass
class _Course:
    """A rule at a level, on its way through the visits."""

    rule: ObjectRule
    tally: Tally = field(default_factory=Tally)
    ids: dict[int, list[str]] = field(default_factory=dict)
    """By thing, the ids that it was given."""
    before: Mapping[int, Belief] = field(default_factory=dict)
    changes: Changes | None = None


def drive_through(
    home: Home,
    levels: Sequence[Noise] = LEVELS,
    rules: Sequence[str] = tuple(RULES),
    progress: Callable[[], object] = lambda: None,
) -> tuple[HomeTruth, dict[tuple[str, str], Tally], dict[tuple[str, str], list[Belief]]]:
    """Return the truth, and by level and rule the counts and what is believed in the end.

    :param progress: called after each frame
    """
    labels = {item.number: item.label for item in home.items}
    courses = {(level.name, rule): _Course(RULES[rule]()) for level in levels for rule in rules}
    shown: list[np.ndarray] = []
    empty = np.zeros(len(home.items) + 1, np.int64)
    rngs = {level.name: random.Random(f'{home.seed} {level.name}') for level in levels}
    for number, visit in enumerate(home.visits):
        # What stands where is known before the visit, how often it is shown only after it.
        truth = truth_of(home, [*shown, *[empty] * (len(home.visits) - number)])
        if number:
            for course in courses.values():
                course.changes = Changes(truth, number, course.before)
        looks = _Looks(home, number)
        shown.append(empty.copy())
        for at, frame in enumerate(frames_of(home, visit)):
            shown[-1] += shows(home, frame)
            looks.add(frame)
            for level in levels:
                view, placed, things = _seen(home, frame, level, rngs[level.name], labels)
                for rule in rules:
                    course = courses[level.name, rule]
                    for thing, name in zip(things, course.rule.update(view, placed), strict=True):
                        if thing and name:
                            course.ids.setdefault(thing, []).append(name)
                    if course.changes and at % LOOK_EVERY == LOOK_EVERY - 1:
                        course.changes.look(course.rule.beliefs(), (at + 1) / RATE_HZ)
            progress()
        truth = truth_of(home, [*shown, *[empty] * (len(home.visits) - number - 1)])
        for course in courses.values():
            beliefs = course.rule.beliefs()
            if course.changes:
                course.changes.look(beliefs, (at + 1) / RATE_HZ)
                course.changes.close(course.tally, beliefs, looks.of)
            last = course.tally if number == len(home.visits) - 1 else Tally()
            course.before = count(last, beliefs, truth, number)
    for course in courses.values():
        _count_switches(course)
    ends = {key: course.rule.beliefs() for key, course in courses.items()}
    return truth, {key: course.tally for key, course in courses.items()}, ends


def _seen(
    home: Home, frame: HomeFrame, level: Noise, rng: random.Random, labels: Mapping[int, str]
) -> tuple[CameraView, list[Lifted], list[int]]:
    """Return what is detected in a frame at a level of noise, and which thing each detection is; 0: none."""
    base = misplaced(frame.base, level.pose_m, math.radians(level.pose_deg), rng)
    pose = camera_pose(base)
    view = CameraView(frame.stamp_ns, frame.bgr, CAMERA, pose, DepthView(frame.depth, CAMERA, pose))
    detector = SimulatedDetector(lambda _: frame.instances, labels, level.errors, home.seed)
    placed = lift(detector.detect(frame.bgr, frame.stamp_ns), view, Counter())
    return view, placed, [_thing(one, frame) for one in placed]


def _thing(placed: Lifted, frame: HomeFrame) -> int:
    """Return the number of the thing that most of a detection shows; 0: none."""
    mask = placed.detection.mask
    if mask is None:
        left, top, right, bottom = (round(edge) for edge in placed.detection.box)
        pixels = frame.instances[top : bottom + 1, left : right + 1].ravel()
    else:
        pixels = frame.instances[mask]
    counts = np.bincount(pixels)
    return int(counts.argmax()) if counts.max() * 2 > len(pixels) else 0


def _count_switches(course: _Course) -> None:
    """Count how often a thing was called another id than the last time, by the ids that are left."""
    left = {name: belief.names[0] for belief in course.rule.beliefs() for name in belief.names}
    for names in course.ids.values():
        ids = [left.get(name, name) for name in names]
        course.tally.seen += len(ids)
        course.tally.switches += sum(a != b for a, b in pairwise(ids))


class _Looks:
    """Which frames of a visit show what became of the things that were moved or taken away before it.

    :ivar left: by thing, in how many frames one looks through the place that it left, and how long after the
        visit began the first one is [s]
    :ivar came: the same of the place where it came to
    """

    def __init__(self, home: Home, visit: int) -> None:
        self.left: dict[int, tuple[int, float]] = {}
        self.came: dict[int, tuple[int, float]] = {}
        self._start_ns = home.visits[visit].start_ns
        now, then = home.visits[visit].placements, home.visits[max(visit - 1, 0)].placements
        self._changed = [number for number in then if now.get(number) != then[number]]
        self._moved = [number for number in self._changed if number in now]
        middles = [centre_of(home.items[number - 1], then[number]) for number in self._changed]
        self._places = np.array(middles).reshape(-1, 3)

    def add(self, frame: HomeFrame) -> None:
        """Take a frame."""
        x, y, z = to_parent(self._places, inverse(camera_pose(frame.base))).T
        away = np.maximum(z, 0.1)
        u, v = np.rint(CAMERA.fx * x / away + CAMERA.cx), np.rint(CAMERA.fy * y / away + CAMERA.cy)
        inside = (z > 0.3) & (z < SEEN_M) & (u >= 0) & (v >= 0) & (u < CAMERA.width) & (v < CAMERA.height)
        column, row = (np.where(inside, at, 0).astype(np.intp) for at in (u, v))
        clear = inside & (frame.depth[row, column] > z)
        left = [number for number, free in zip(self._changed, clear.tolist(), strict=True) if free]
        came = [n for n in self._moved if np.count_nonzero(frame.instances == n) >= SHOWN_PX]
        for found, numbers in ((self.left, left), (self.came, came)):
            for number in numbers:
                frames, first_s = found.get(number, (0, (frame.stamp_ns - self._start_ns) / NS))
                found[number] = (frames + 1, first_s)

    def of(self, number: int) -> tuple[int, float]:
        """Return how many frames show what became of a thing, and when the first one that does [s]."""
        shown = [self.left.get(number, (0, 0.0))]
        shown += [self.came.get(number, (0, 0.0))] if number in self._moved else []
        return min(frames for frames, _ in shown), max(first_s for _, first_s in shown)
