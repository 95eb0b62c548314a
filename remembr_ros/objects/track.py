"""The track of one object: the estimate that its sightings add up to."""

import base64
import math
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.model.record import OBJECT, Memory
from remembr_ros.memory.objects.known import (
    ALIASES,
    MOVES,
    TRANSIENT,
    Interval,
    KnownObject,
    Move,
    ObjectFacts,
    Sighting,
    best_label,
    fewer,
    interval_added,
    joined,
    thinned,
)
from remembr_ros.memory.objects.wording import sentence
from remembr_ros.objects.box_fit import INNER, STRAY, SeenBox, Vector, bounds, is_part, near, overlap, std_of
from remembr_ros.objects.detectors.detection import LABELS
from remembr_ros.objects.lifting import Lifted
from remembr_ros.objects.presence import Presence

BOXES = 24  # of the latest sights of the whole and of parts, of which the box is made
LARGE_M = 0.7  # wider things are hardly ever seen whole
SELDOM = 5  # so many times as often seen in part, what seemed to be the whole may have been a part, too
CUT_WORTH = 0.25  # of a sight that the image's border cuts off: its middle is not that of the thing
TOLD_APART = 10**9  # frames in which two were seen beside each other that a person told apart
BETTER = 1.15  # so many times what the last picture is worth, a better one is
KEPT_LOOK = 0.9  # of the appearance: how much of the old one stays, at most
MARGIN = 1.1  # of how far away it was recognised, from where it can be, too
SURE_SIGHTS = 3  # so often something else is not taken for it


class ObjectTrack:
    """An object, or what may become one. Changes in place.

    :param identity: the id of the object that it is or becomes
    :ivar low: least coordinates of its box [m] in the map, shape (3,); as high
    :ivar std_m: of the box's middle, one standard deviation [m]
    :ivar cut: it may reach further than its box, for it was never seen whole
    :ivar hits: how often it was seen
    :ivar evidence: what its sightings are worth, 1 where it was seen whole
    :ivar confirmed: it is an object
    :ivar stored: somebody may know its id
    :ivar changed: since it was stored
    :ivar reach_m: from about how far away it was recognised [m]
    """

    def __init__(self, identity: str) -> None:
        self.id = identity
        self.camera = ''
        self.labels: Counter[str] = Counter()
        self.hits = 0
        self.evidence = 0.0
        self.low = self.high = np.zeros(3)
        self.std_m = 0.0
        self.measured = self.cut = False
        self.appearance: NDArray[np.float32] | None = None
        self.aliases: tuple[str, ...] = ()
        self.keyframes: tuple[str, ...] = ()
        self.confirmed = self.stored = self.changed = False
        self.beside: Counter[str] = Counter()
        """In how many frames other tracks were seen with it: those are others."""
        self.crop: bytes | None = None
        """The best picture of it since it was stored, JPEG; None: there is no better one."""
        self.moves: tuple[Move, ...] = ()
        self.said: dict[str, Any] = {}
        """What a person or a deed said of it, as in ObjectFacts."""
        self.presence = Presence()
        self.covered: tuple[Interval, ...] = ()
        """When it was seen before this program began: what is of these times is known."""
        self.kept: Interval = (0, 0)
        """As in ObjectFacts, before this program began."""
        self._crop_worth = 0.0
        self._intervals: tuple[Interval, ...] = ()
        self._sightings: tuple[Sighting, ...] = ()
        self._colours: Counter[str] = Counter()
        self._latest: deque[int] = deque(maxlen=SURE_SIGHTS)
        self.reach_m = 0.0
        self._parts: deque[SeenBox] = deque(maxlen=BOXES)
        self._whole: deque[SeenBox] = deque(maxlen=BOXES)

    @classmethod
    def of(cls, known: KnownObject) -> 'ObjectTrack':
        """Return the track of an object that is stored."""
        track, facts = cls(known.id), known.facts
        track.camera, track.hits = known.memory.camera, facts.observations
        track.labels = Counter(facts.labels)
        centre, half = np.array(known.position), np.array(known.size) / 2.0
        track._whole.append((np.concatenate((centre - half, -centre - half, np.zeros(3))), facts.std))
        track.measured = facts.measured
        track._fit()
        track.std_m, track.appearance = facts.std, known.appearance
        track.aliases, track.keyframes = facts.aliases, known.memory.keyframes
        track._intervals, track._sightings = facts.intervals, known.sightings
        track.reach_m = MARGIN * max((math.dist(at, eye) for _, at, eye in known.sightings), default=0.0)
        track.covered, track.kept, track.moves = facts.intervals, facts.kept, known.moves
        corrected = ('named', 'taken', 'deleted', 'apart', 'states')
        track.said = {name: getattr(facts, name) for name in corrected}
        track.beside.update(dict.fromkeys(facts.apart, TOLD_APART))
        track.presence = Presence(facts.intervals[-1][1], facts.looked, facts.absences)
        track._latest.extend([facts.intervals[-1][1]] * SURE_SIGHTS)
        if facts.colour:
            track._colours[facts.colour] = max(1, facts.observations // 2)
        track._crop_worth = np.inf if track.keyframes else 0.0
        track.confirmed = track.stored = True
        return track

    @property
    def label(self) -> str:
        """What it was called most surely and most often."""
        return best_label(self.labels)

    @property
    def centre(self) -> Vector:
        return (self.low + self.high) / 2.0

    @property
    def extent(self) -> float:
        """Of its box, along the diagonal [m]."""
        return max(float(np.linalg.norm(self.high - self.low)), 0.01)

    @property
    def span(self) -> Interval:
        """From the first to the last time that it was seen [ns]."""
        return self._intervals[0][0], self._intervals[-1][1]

    @property
    def surely_seen_ns(self) -> int:
        """When it was seen last, but for so few times that it may have been another one."""
        return self._latest[0] if len(self._latest) == SURE_SIGHTS else self.span[0]

    @property
    def is_expected(self) -> bool:
        """Whether it should stay where it is, as far as anybody knows where."""
        return self.confirmed and self.measured and self.label not in TRANSIENT and not self.deleted

    @property
    def deleted(self) -> bool:
        """Whether a person said that there is no such thing: what is seen there is none, either."""
        return bool(self.said.get('deleted'))

    def was_known(self, stamp_ns: int) -> bool:
        """Tell whether what is seen of it at a time is known from before this program began."""
        return any(start <= stamp_ns <= end for start, end in self.covered)

    def share(self, scores: Mapping[str, float]) -> float:
        """Return how much of what these scores call something it was called, too, from 0 to 1."""
        mine, theirs = sum(self.labels.values()), sum(scores.values())
        return sum(self.labels[label] * score for label, score in scores.items()) / (mine * theirs)

    def see(self, placed: Lifted, eye: Point) -> None:
        """Take one more sight of it.

        :param eye: where the camera was [m] in the map
        """
        if self.deleted or self.said.get('taken'):  # a person knows better what is there
            return
        detection = placed.detection
        self.presence.see(detection.stamp_ns)
        self.hits += 1
        self.evidence += CUT_WORTH if placed.cut else 1.0
        self.camera = detection.camera
        self.labels.update({label: float(score) for label, score in detection.scores.items()})
        if placed.appearance.colour:
            self._colours[placed.appearance.colour] += 1
        if placed.measured and not self.measured:
            self._parts.clear()
            self._whole.clear()
            self.measured = True
        if placed.measured or not self.measured:
            edges = np.concatenate((placed.low, -placed.high, placed.shift))
            part = (
                self._whole
                and self.extent > LARGE_M
                and is_part((placed.low, placed.high), (self.low, self.high))
            )
            whole = not placed.cut and not part
            (self._whole if whole else self._parts).append((edges, placed.std_m))
            if len(self._whole) < BOXES or self.hits % 2 == 0:  # of many, one more changes little
                self._fit()
        if placed.appearance.vector is not None and not placed.cut:
            self._blend(placed.appearance.vector)
        left, top, right, bottom = detection.box
        worth = (right - left) * (bottom - top) * detection.score * (0.1 if placed.cut else 1.0)
        if worth > BETTER * self._crop_worth and (crop := placed.crop()):
            self._crop_worth, self.crop = worth, crop
        place = _point((placed.low + placed.high) / 2.0)
        self._latest.append(detection.stamp_ns)
        self._intervals = interval_added(self._intervals, detection.stamp_ns)
        self._sightings = thinned((*self._sightings, (detection.stamp_ns, place, eye)))
        self.reach_m = max(self.reach_m, MARGIN * math.dist(place, eye))
        self.changed = True

    def was_found(self, other: 'ObjectTrack') -> None:
        """Be where another one is, which turned out to be this one after it was moved."""
        move = (min(self.span[1], other.span[0]), other.span[0], _point(self.centre), _point(other.centre))
        self.moves = (*self.moves, move)[-MOVES:]
        self.said |= {'taken': 0}
        self.presence.end(other.span[0])
        self._whole.clear()
        self._parts.clear()
        self.take_in(other)

    def take_in(self, other: 'ObjectTrack') -> None:
        """Take over what is known of another one, which turned out to be this."""
        self.hits += other.hits
        self.evidence += other.evidence
        self.labels.update(other.labels)
        self._colours.update(other._colours)
        self.beside.update(other.beside)
        self.said = {**other.said, **{name: answer for name, answer in self.said.items() if answer}}
        if other.measured == self.measured:
            self._parts.extend(other._parts)
            self._whole.extend(other._whole)
            self._fit()
        if other.appearance is not None:
            self._blend(other.appearance)
        if other.crop and other._crop_worth > self._crop_worth:
            self._crop_worth, self.crop = other._crop_worth, other.crop
        self._intervals = fewer(joined((*self._intervals, *other._intervals)))
        self._sightings = thinned((*self._sightings, *other._sightings))
        self.reach_m = max(self.reach_m, other.reach_m)
        aliases = (*self.aliases, *other.aliases, *((other.id,) if other.confirmed else ()))
        self.aliases = aliases[-ALIASES:]
        self.confirmed = self.confirmed or other.confirmed
        self.presence.see(other.span[1])
        self.changed = True

    def memory(self, robot: str, map_id: str, frame_id: str, near: str) -> Memory:
        """Return the memory that it is kept as.

        :param near: what a larger object beside it is called; empty: there is none
        """
        middle = self.centre
        colour = self._colours.most_common(1)[0][0] if self._colours else ''
        look = b'' if self.appearance is None else self.appearance.astype('<f2').tobytes()
        facts = ObjectFacts(
            labels={label: max(round(score, 3), 0.001) for label, score in self.labels.most_common(LABELS)},
            size=_rounded(self.high - self.low),
            std=round(self.std_m, 4),
            measured=self.measured,
            observations=self.hits,
            intervals=self._intervals,
            sightings=tuple(
                (ns, _rounded(at - middle), _rounded(eye - middle)) for ns, at, eye in self._sightings
            ),
            colour=colour,
            appearance=base64.b64encode(look).decode(),
            aliases=self.aliases,
            looked=self.presence.looked_ns,
            absences=self.presence.absences,
            moves=tuple(
                (left, came, _rounded(a - middle), _rounded(b - middle)) for left, came, a, b in self.moves
            ),
            **self.said,
        )
        memory = Memory(
            id=self.id,
            robot=robot,
            start_ns=self.span[0],
            end_ns=self.span[1],
            caption='',
            pose=Pose(*_rounded(middle)),
            frame_id=frame_id,
            map_id=map_id,
            camera=self.camera,
            source=OBJECT,
            keyframes=() if self.deleted else self.keyframes,
            facts=facts.model_dump(mode='json'),
        )
        return replace(memory, caption=sentence(KnownObject(memory, facts), near))

    def _blend(self, look: NDArray[np.float32]) -> None:
        if self.appearance is None or self.appearance.shape != look.shape:
            self.appearance = look
            return
        kept = min(KEPT_LOOK, 1.0 - 1.0 / (self.hits + 1))
        mixed = kept * self.appearance + (1.0 - kept) * look
        self.appearance = np.asarray(mixed / max(math.sqrt(float(mixed @ mixed)), 1e-9), np.float32)

    def _fit(self) -> None:
        """Make the box of those that were seen whole; of all, where none was or the thing is large."""
        whole, third = [*self._whole], len(self._whole) // 3
        if third and self.hits % 4 == 0 and not overlap(whole[:third], whole[-third:]):
            self._whole = deque(whole[-third:], BOXES)  # it moves
        boxes = [*self._whole] or [*self._parts]
        self.low, self.high = bounds(boxes, INNER)
        seldom = SELDOM * len(self._whole) < len(self._parts)
        if self._whole and self.covered:  # one box is stored, of however many sights
            seldom = False
        self.cut = seldom or float((self.high - self.low)[:2].max()) > LARGE_M
        if self.cut:  # each sight is of a part: the box goes as far as any of them, but for stray ones
            boxes = near([*self._whole, *self._parts], self.low, self.high)
            self.low, self.high = bounds(boxes, STRAY)
        self.std_m = std_of(boxes, self.measured)


def _point(vector: Vector) -> Point:
    x, y, z = vector.tolist()
    return (x, y, z)


def _rounded(vector: Vector) -> Point:
    return _point(np.round(vector, 4))
