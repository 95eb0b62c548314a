"""The objects that a robot knows, frame by frame: which one each detection is, and which two are one.

One assignment per frame decides. The cost of a pair is how unlikely it is that they are one: how far their
boxes are from lying in each other, in standard deviations, how seldom the object was called what the
detection is called, and how different they look. None of these decides alone: a flipped label neither splits
an object nor steals one.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.model.record import OBJECT, Memory, memory_id
from remembr_ros.memory.objects import KnownObject
from remembr_ros.objects.lifting import CameraView, Lifted
from remembr_ros.objects.track import ObjectTrack
from remembr_ros.timestamps import NS

EVIDENCE = 3.0  # whole sights that something needs before it counts as an object; cut ones are worth less
PURE = 0.5  # least share of its label among all that it was called
NEW_COST = 7.0  # a pair that costs more is none: the detection is another thing
LABEL_FLOOR = 0.02  # how often a detector calls a thing what it never called it before
LOOK = 5.0  # cost of looking completely different
BASE_STD_M = 0.06  # of boxes beside what is said of each: poses are some centimetres off
SIZE_STD = 0.08  # of a box's middle, as a part of its side: one side is seen at a time
TENTATIVE_NS = 1800 * NS  # what is not confirmed is forgotten after that

REVIEW_FRAMES = 10  # between two looks for those that are one
TOUCH_M, TOUCH_PART = 0.08, 0.15  # boxes are one where they miss each other by less, and a part of their size
SAME_LABEL, SAME_LOOK = 0.3, 0.6  # least share of labels and least cosine of two that are one
TOGETHER = 0.2  # share of its frames: what was seen more often beside another one is not that one
TWICE = 0.5  # of the smaller of two boxes of one label that lies in the other: one thing, boxed twice
SAME_ROOM = 0.7  # of the larger of two boxes of two labels that both share: one thing, called twice
THIN_M = 0.02  # what is flatter is taken to be so thick
NEAR_M = 0.5  # an object is near a larger one


class ObjectMap:
    """Follows the objects of one robot in one map. Used by one thread at a time.

    :param known: what is stored already; what is seen of one in the times in which it was seen tells nothing
        new, so that a recording counts once however often it is read
    """

    def __init__(
        self, robot: str, map_id: str = '', frame_id: str = 'map', known: Iterable[KnownObject] = ()
    ) -> None:
        self._robot, self._map_id, self._frame_id = robot, map_id, frame_id
        self._tracks = [ObjectTrack.of(one) for one in known]
        self._by_id = {name: track for track in self._tracks for name in (track.id, *track.aliases)}
        self._gone: list[str] = []
        self._again: list[tuple[ObjectTrack, ObjectTrack]] = []
        self._frames = 0
        self._boxes = _Boxes(self._tracks)

    def __len__(self) -> int:
        """Return how many objects there are."""
        return sum(track.confirmed for track in self._tracks)

    def update(self, view: CameraView, placed: Sequence[Lifted]) -> list[str]:
        """Take what a frame shows.

        :return: the id of the object that each detection is; empty: of none that is confirmed
        """
        stamp_ns, eye = view.stamp_ns, view.pose[0]
        # What was followed where a known one was, see _new, is over with the times in which that was seen.
        over = [track for track, known in self._again if not known.was_known(stamp_ns, stamp_ns)]
        if over:
            self._again = [pair for pair in self._again if pair[0] not in over]
            self._drop(over)
        distinct = _distinct(placed)
        pairs = dict(self._assigned([*distinct.values()]))
        found = [''] * len(placed)
        there: list[ObjectTrack] = []
        for row, (i, one) in enumerate(distinct.items()):
            track = self._tracks[pairs[row]] if row in pairs else self._new(one, i)
            at = pairs[row] if row in pairs else self._tracks.index(track)
            if not track.was_known(stamp_ns, stamp_ns):
                track.see(one, eye)
                self._boxes.set(at, track)
                again = any(track is other for other, _ in self._again)
                track.confirmed = track.confirmed or (_is_sure(track) and not again)
            there.append(track)
            found[i] = track.id if track.confirmed else ''
        for track in there:
            track.beside.update({other.id for other in there} - {track.id})
        self._frames += 1
        if self._frames % REVIEW_FRAMES == 0:
            self.review(stamp_ns)
        return found

    def review(self, now_ns: int) -> None:
        """Make one of those that turned out to be one, and forget what was seen by mistake."""
        for track in [track for track in self._tracks if track.changed]:
            other = self._twin(track)
            if other is not None:
                self._merge(*sorted((track, other), key=lambda t: (not t.confirmed, t.span[0], t.id)))
        old = [t for t in self._tracks if not t.confirmed and now_ns - t.span[1] > TENTATIVE_NS]
        if old:
            self._drop(old)

    def changed(self) -> list[tuple[Memory, bytes | None]]:
        """Return every object that changed since the last time, with its new picture, if any."""
        found = []
        for track in self._tracks:
            if track.confirmed and track.changed:
                found.append((self._current(track), track.crop))
                track.changed, track.stored, track.crop = False, True, None
        return found

    def picture(self, identity: str, names: tuple[str, ...]) -> None:
        """Take the names that the stored picture of an object has."""
        self._by_id[identity].keyframes = names

    def gone(self) -> list[str]:
        """Return, once, the ids that were stored and turned out to be another object."""
        gone, self._gone = self._gone, []
        return gone

    def memories(self) -> list[Memory]:
        """Return all objects as they are now."""
        return [self._current(track) for track in self._tracks if track.confirmed]

    def _assigned(self, placed: Sequence[Lifted]) -> list[tuple[int, int]]:
        """Return which detections are which tracks, by their numbers: the cheapest assignment."""
        if not placed or not self._tracks:
            return []
        from scipy.optimize import linear_sum_assignment

        seen = _Boxes(placed)
        within = self._within(seen)
        tracks, boxes = [self._tracks[j] for j in within], self._boxes.some(within)
        off = seen.apart(boxes)
        sides = np.maximum(boxes.high - boxes.low, 0.05)
        variance = (SIZE_STD * sides) ** 2 + boxes.std_m[:, None] ** 2 + BASE_STD_M**2
        cost = 0.5 * np.sum(off**2 / (variance[None] + seen.std_m[:, None, None] ** 2), axis=2)
        near = cost < NEW_COST
        for i, j in zip(*np.nonzero(near), strict=True):
            track, detection = tracks[j], placed[i].detection
            share = track.share(detection.scores)
            cost[i, j] -= math.log(LABEL_FLOOR + (1.0 - LABEL_FLOOR) * share)
            cost[i, j] += LOOK * (1.0 - _alike(track.appearance, placed[i].appearance.vector))
            # What is called otherwise is at least as large as what it is.
            cost[i, j] += (1.0 - share) * abs(seen.log_volume[i] - boxes.log_volume[j])
        columns = np.flatnonzero(near.any(axis=0))
        rows, picked = linear_sum_assignment(np.minimum(cost[:, columns], NEW_COST))
        pairs = zip(rows.tolist(), columns[picked].tolist(), strict=True)
        return [(i, int(within[j])) for i, j in pairs if cost[i, j] < NEW_COST]

    def _within(self, seen: '_Boxes') -> NDArray[np.intp]:
        """Return which tracks may be one of these at all; the others, however many, cost little."""
        boxes = self._boxes
        middle, theirs = (seen.low + seen.high) / 2.0, (boxes.low + boxes.high) / 2.0
        room = np.maximum((seen.high - seen.low).max(axis=0), boxes.high - boxes.low) / 2.0
        off = np.maximum(middle.min(axis=0) - theirs, theirs - middle.max(axis=0)) - room
        sides = np.maximum(boxes.high - boxes.low, 0.05)
        stds = SIZE_STD * sides + (boxes.std_m + seen.std_m.max() + BASE_STD_M)[:, None]
        return np.flatnonzero((off < math.sqrt(2.0 * NEW_COST) * stds).all(axis=1))

    def _new(self, placed: Lifted, number: int) -> ObjectTrack:
        detection = placed.detection
        origin = f'{detection.camera}/{self._map_id}/{number}'
        identity = memory_id(self._robot, OBJECT, detection.stamp_ns, origin)
        known, track = self._by_id.get(identity), ObjectTrack(identity)
        if known is None:
            self._by_id[identity] = track
        elif known.was_known(detection.stamp_ns, detection.stamp_ns):
            # A recording is read again: it turned out to be a known one, which lies elsewhere by now. Until
            # that is over it is followed where it was, or what comes of it would be another object.
            self._again.append((track, known))
        else:
            return known
        self._tracks.append(track)
        self._boxes.add(placed)
        return track

    def _twin(self, track: ObjectTrack) -> ObjectTrack | None:
        """Return a track that is the same thing: it lies in it, is called alike, and looks alike."""
        if track not in self._tracks:
            return None
        own, boxes = _Boxes([track]), self._boxes
        apart = own.apart(boxes)[0]
        off = np.linalg.norm(apart, axis=1)
        sides = np.minimum((boxes.high - boxes.low).max(axis=1), float((track.high - track.low).max()))
        for j in np.flatnonzero(off < TOUCH_M + TOUCH_PART * sides):
            other = self._tracks[j]
            together = max(track.beside[other.id], other.beside[track.id])
            # Of known ones that is not stored: they are two where the one does not lie in the other.
            two = track.covered and other.covered and np.any(apart[j] > (other.high - other.low) / 2.0)
            if (
                other is not track
                and not two
                and other.measured == track.measured
                and together <= TOGETHER * min(track.hits, other.hits)
                and track.share(other.labels) >= SAME_LABEL
                and _alike(track.appearance, other.appearance) >= SAME_LOOK
            ):
                return other
        return None

    def _merge(self, older: ObjectTrack, younger: ObjectTrack) -> None:
        if younger.stored or not older.was_known(*younger.span):
            older.take_in(younger)
        if younger.stored:
            self._gone.append(younger.id)
        self._drop([younger])
        for name in (younger.id, *younger.aliases):
            self._by_id[name] = older

    def _drop(self, tracks: Sequence[ObjectTrack]) -> None:
        self._tracks = [track for track in self._tracks if track not in tracks]
        self._boxes = _Boxes(self._tracks)
        self._by_id = {name: track for name, track in self._by_id.items() if track not in tracks}
        for track in self._tracks:
            for gone in tracks:
                del track.beside[gone.id]

    def _current(self, track: ObjectTrack) -> Memory:
        return track.memory(self._robot, self._map_id, self._frame_id, self._near(track))

    def _near(self, track: ObjectTrack) -> str:
        """Return what the nearest larger object is called; empty: there is none near."""
        gaps = np.maximum(np.maximum(self._boxes.low - track.high, track.low - self._boxes.high), 0.0)
        volumes = self._boxes.log_volume
        larger = volumes > volumes[self._tracks.index(track)] + math.log(2.0)
        apart = np.where(larger, np.linalg.norm(gaps, axis=1), np.inf)
        for j in np.argsort(apart, kind='stable'):
            if apart[j] > NEAR_M:
                break
            other: ObjectTrack = self._tracks[j]
            if other.confirmed and other.label != track.label:
                return other.label
        return ''


class _Boxes:
    """The boxes of tracks or detections as arrays.

    :ivar low: shape (n, 3) [m]; as high
    :ivar std_m: shape (n,) [m]
    :ivar log_volume: shape (n,)
    :ivar cut: whose things may reach further, shape (n,)
    """

    def __init__(self, things: Sequence[ObjectTrack | Lifted]) -> None:
        self.low = np.array([thing.low for thing in things], np.float64).reshape(-1, 3)
        self.high = np.array([thing.high for thing in things], np.float64).reshape(-1, 3)
        self.std_m = np.array([thing.std_m for thing in things], np.float64)
        self.log_volume = np.log(np.maximum(self.high - self.low, THIN_M)).sum(axis=1)
        self.cut = np.array([thing.cut for thing in things], np.bool_)

    def some(self, rows: NDArray[np.intp]) -> '_Boxes':
        """Return those of these rows."""
        found = _Boxes([])
        for name, column in vars(self).items():
            setattr(found, name, column[rows])
        return found

    def add(self, one: Lifted) -> None:
        """Make room for one more."""
        row = _Boxes([one])
        for name, column in vars(self).items():
            setattr(self, name, np.concatenate([column, getattr(row, name)]))

    def set(self, row: int, thing: ObjectTrack | Lifted) -> None:
        self.low[row], self.high[row], self.std_m[row] = thing.low, thing.high, thing.std_m
        self.log_volume[row] = np.log(np.maximum(thing.high - thing.low, THIN_M)).sum()
        self.cut[row] = thing.cut

    def apart(self, others: '_Boxes') -> NDArray[np.float64]:
        """Return how far each box is from lying in, or around, each other one: shape (n, others, 3) [m].

        Whoever sees a part of a thing sees a box that lies in its box: that is not apart. Of boxes that may
        be different parts of one thing, the middle of the smaller one lies in the larger one.
        """
        middle, half = (self.low + self.high) / 2.0, (self.high - self.low) / 2.0
        theirs, halves = (others.low + others.high) / 2.0, (others.high - others.low) / 2.0
        off = np.abs(middle[:, None] - theirs[None])
        cut = (self.cut[:, None] | others.cut[None])[:, :, None]
        inside = np.abs(half[:, None] - halves[None])
        room = np.where(cut, np.maximum(half[:, None], halves[None]), inside)
        found: NDArray[np.float64] = np.maximum(off - room, 0.0)
        return found


def _distinct(lifted: Sequence[Lifted]) -> dict[int, Lifted]:
    """Return the detections of a frame that are things of their own, by number: detectors box some twice.

    What takes the same room by another label is one thing with both labels.
    """
    boxes = _Boxes(lifted)
    low, high = boxes.low, np.maximum(boxes.high, boxes.low + THIN_M)
    shared = np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None])
    shared, volumes = np.prod(np.maximum(shared, 0.0), axis=2), np.prod(high - low, axis=1)
    smaller, larger = (pick(volumes[:, None], volumes[None]) for pick in (np.minimum, np.maximum))
    labels = np.array([one.detection.label for one in lifted])
    alike = labels[:, None] == labels[None]
    same = shared > np.where(alike, TWICE * smaller, SAME_ROOM * larger)
    kept: dict[int, Lifted] = {}
    for i in sorted(range(len(lifted)), key=lambda i: -lifted[i].detection.score):
        j = next((j for j in kept if same[i, j]), i)
        if j == i:
            kept[i] = lifted[i]
            continue
        known = kept[j].detection
        both = {**lifted[i].detection.scores, **known.scores}
        kept[j] = replace(kept[j], detection=replace(known, scores=both))
    return dict(sorted(kept.items()))


def _alike(a: NDArray[np.float32] | None, b: NDArray[np.float32] | None) -> float:
    """Return the cosine of two appearances; 1: one is not known, or of another kind."""
    return 1.0 if a is None or b is None or a.shape != b.shape else float(a @ b)


def _is_sure(track: ObjectTrack) -> bool:
    """Tell whether something was seen often enough, and called the same most of the time."""
    return track.evidence >= EVIDENCE and track.labels[track.label] >= PURE * sum(track.labels.values())
