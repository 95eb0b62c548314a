"""A robot's day with hours of standing idle, as memories. Nothing is rendered; a seed decides everything."""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from remembr_bench.simulation.floor_plan import generate_building
from remembr_bench.simulation.tour import Tour
from remembr_bench.simulation.truth import SegmentTruth, observe
from remembr_ros.geometry import Pose, StampedPose, wrap_angle
from remembr_ros.memory.model.record import Memory, memory_id
from remembr_ros.timestamps import NS
from test.simulated.events import HAPPENINGS, Happening
from test.simulated.parked_view import VIEWS, Captioning, Narrator

SEGMENT_NS = 3 * NS
START_NS = 1_700_000_000 * NS
ROBOT = 'idler'
FRAMES_PER_SEGMENT = 3

POSE_NOISE_M = 0.03
POSE_NOISE_RAD = math.radians(1.0)
"""Standard deviations of the localisation of a robot that stands."""

MISREAD = 0.02
"""Chance that a text is misread in a segment."""
UNREAD = 0.2
"""Chance that it is not read at all."""

REPEATED = 3
"""How often the first happening recurs in each stay."""

QUIET = 20
"""Segments at least between two happenings, and before the first [3 s each]."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A happening and the segments that show it.

    :param memories: their ids, in the order of time
    """

    happening: Happening
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IdleDay:
    """What the robot remembers without consolidation, and what is true about it.

    :param memories: in the order of time, one per segment
    :param idle: ids of those from when the robot stood
    :param planted: in the order of time
    """

    memories: tuple[Memory, ...]
    idle: frozenset[str]
    planted: tuple[Planted, ...]


def idle_day(
    seed: int = 0, idle_h: float = 8.0, driving_h: float = 0.5, captioning: Captioning | None = None
) -> IdleDay:
    """Return a day: the robot drives, parks, drives on, and parks somewhere else.

    :param idle_h: hours parked, spread evenly over VIEWS
    :param driving_h: hours of driving round the building, before each stay
    :param captioning: None: a calm captioner
    """
    rng = random.Random(seed)
    per_stay = round(idle_h * 3600 * NS / SEGMENT_NS / len(VIEWS))
    per_drive = round(driving_h * 3600 * NS / SEGMENT_NS / len(VIEWS))
    lap = _lap(seed)
    day = _Day(rng, captioning or Captioning())
    shares = [HAPPENINGS[1 + i :: len(VIEWS)] for i in range(len(VIEWS))]
    for number, happenings in enumerate(shares):
        for index in range(per_drive):
            day.drive(lap[index % len(lap)])
        day.park(number, per_stay, [*[HAPPENINGS[0]] * REPEATED, *happenings])
    return IdleDay(tuple(day.memories), frozenset(day.idle), tuple(day.planted))


class _Day:
    def __init__(self, rng: random.Random, captioning: Captioning) -> None:
        self._rng = rng
        self._captioning = captioning
        self.memories: list[Memory] = []
        self.idle: set[str] = set()
        self.planted: list[Planted] = []

    def drive(self, segment: SegmentTruth) -> None:
        self._remember(segment.caption, segment.pose, segment.visible_signs, travelled=2.0)

    def park(self, number: int, segments: int, happenings: Sequence[Happening]) -> None:
        rng, view = self._rng, VIEWS[number]
        narrator = Narrator(view, self._captioning, rng)
        at = Pose(100.0 + 10.0 * number, 50.0, 0.0, rng.uniform(-3.0, 3.0))
        shown = _schedule(rng, segments, happenings)
        ids: dict[int, list[str]] = {}
        for index in range(segments):
            what = shown.get(index)
            happening = what[1] if what else None
            texts = () if happening and happening.dark else view.scene_text
            if happening and happening.text:
                texts = (*texts, happening.text)
            stored = self._remember(
                narrator.caption(happening.wordings if happening else (), bool(happening and happening.dark)),
                _noisy(at, rng),
                tuple(_read(texts, rng)),
                travelled=abs(rng.gauss(0.0, POSE_NOISE_M)),
            )
            self.idle.add(stored)
            if what:
                ids.setdefault(what[0], []).append(stored)
        for which, (_, happening) in sorted({what[0]: what for what in shown.values()}.items()):
            self.planted.append(Planted(happening, tuple(ids[which])))

    def _remember(self, caption: str, pose: Pose, texts: tuple[str, ...], travelled: float) -> str:
        start_ns = START_NS + len(self.memories) * SEGMENT_NS
        memory = Memory(
            id=memory_id(ROBOT, 'captioner', start_ns),
            robot=ROBOT,
            start_ns=start_ns,
            end_ns=start_ns + SEGMENT_NS - NS // 10,
            caption=caption,
            pose=pose,
            travelled=travelled,
            scene_text=texts,
            captioner='simulated',
        )
        self.memories.append(memory)
        return memory.id


def _schedule(
    rng: random.Random, segments: int, happenings: Sequence[Happening]
) -> dict[int, tuple[int, Happening]]:
    """Return which happening, numbered, each segment shows; what does not fit is left out."""
    order = list(happenings)
    rng.shuffle(order)
    lengths = [rng.randint(*happening.segments) for happening in order]
    free = segments - sum(lengths) - QUIET * (len(order) + 1)
    while free < 0 and order:
        order.pop()
        free += lengths.pop() + QUIET
    pauses = sorted(rng.randint(0, max(free, 0)) for _ in order)
    shown: dict[int, tuple[int, Happening]] = {}
    used = 0
    for number, (happening, length, pause) in enumerate(zip(order, lengths, pauses, strict=True)):
        used += QUIET
        for index in range(length):
            shown[pause + used + index] = (number, happening)
        used += length
    return shown


def _noisy(pose: Pose, rng: random.Random) -> Pose:
    return Pose(
        rng.gauss(pose.x, POSE_NOISE_M),
        rng.gauss(pose.y, POSE_NOISE_M),
        pose.z,
        wrap_angle(rng.gauss(pose.yaw, POSE_NOISE_RAD)),
    )


def _read(texts: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Yield what OCR makes of the texts: it misses some, cuts some, mistakes a letter in some."""
    for text in texts:
        chance = rng.random()
        if chance < UNREAD:
            continue
        if chance < UNREAD + MISREAD:
            yield rng.choice((text[:-1], text[1:], text.replace('O', '0'), text.replace('E', 'F', 1)))
        else:
            yield text


def _lap(seed: int) -> tuple[SegmentTruth, ...]:
    building = generate_building(seed)
    tour = Tour(building)
    step_s = SEGMENT_NS / NS / FRAMES_PER_SEGMENT
    frames = [
        StampedPose(START_NS + round(i * step_s * NS), tour.pose_at(i * step_s))
        for i in range(int(tour.duration_s / step_s))
    ]
    return observe(building, frames).segments
