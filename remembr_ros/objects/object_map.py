"""The objects that a robot knows, frame by frame: new, seen again, missing, or moved."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from remembr_ros.geometry import inverse
from remembr_ros.memory.deeds.deed import facts_of
from remembr_ros.memory.deeds.object_ids import with_states
from remembr_ros.memory.model.record import OBJECT, Memory, memory_id
from remembr_ros.memory.objects.known import ONE_INTERVAL_NS, Interval, KnownObject, joined, known_objects
from remembr_ros.objects.assignment import SAME_LABEL, Assignment, Boxes, alike, distinct, found_again, moved
from remembr_ros.objects.camera import to_parent
from remembr_ros.objects.lifting import FARTHEST_M, CameraView, DepthView, Lifted
from remembr_ros.objects.presence import CLEAR, FILLED, looks_at
from remembr_ros.objects.track import ObjectTrack
from remembr_ros.timestamps import NS

EVIDENCE = 3.0  # whole sights that something needs before it counts as an object; cut ones are worth less
PURE = 0.5  # least share of its label among all that it was called
TENTATIVE_NS = 1800 * NS  # what is not confirmed is forgotten after that

REVIEW_FRAMES = 10  # between two looks for those that are one
TOUCH_M, TOUCH_PART = 0.08, 0.15  # boxes are one where they miss each other by less, and a part of their size
SAME_LOOK = 0.6  # least cosine of two that are one
SAME_SIZE = 2.0  # most logarithm of the volumes of two that are one, until the larger one is sure to be one
TOGETHER = 0.2  # share of its frames: what was seen more often beside another one is not that one
NEAR_M = 0.5  # an object is near a larger one


class ObjectMap:
    """Follows the objects of one robot in one map. Used by one thread at a time.

    :param known: what is stored already; what a camera saw in the times in which it saw these, tells
        nothing new: a recording counts once however often it is read
    """

    def __init__(
        self, robot: str, map_id: str = '', frame_id: str = 'map', known: Iterable[KnownObject] = ()
    ) -> None:
        self._robot, self._map_id, self._frame_id = robot, map_id, frame_id
        self._tracks = [ObjectTrack.of(thing) for thing in known]
        self._by_id = {name: track for track in self._tracks for name in (track.id, *track.aliases)}
        self._gone: list[str] = []
        times: defaultdict[str, list[Interval]] = defaultdict(list)
        kept: defaultdict[str, list[Interval]] = defaultdict(list)
        for track in self._tracks:
            times[track.camera] += [*track.covered, (track.presence.looked_ns,) * 2, (track.kept[1],) * 2]
            kept[track.camera].append(track.kept)
        self._read = {
            camera: [_whole(time, kept[camera]) for time in joined(seen, ONE_INTERVAL_NS)]
            for camera, seen in times.items()
        }
        """By camera, the times of which all that it saw is known from before this program began."""
        self._has_news = not self._tracks
        """Something was seen that is not: until then all stays as it is stored."""
        self._frames = self._latest_ns = 0
        self._assignment = Assignment()
        self._boxes = Boxes(self._tracks)

    def __len__(self) -> int:
        """Return how many objects there are."""
        return sum(track.confirmed and not track.deleted for track in self._tracks)

    @property
    def has_new(self) -> bool:
        """Whether there are objects that were never given to be stored."""
        return any(track.confirmed and not track.stored for track in self._tracks)

    def has_read(self, stamp_ns: int, camera: str, later_ns: int = 0) -> bool:
        """Tell whether a camera saw known things then, and so much later still: that is read again."""
        read = self._read.get(camera, [(0, 0)])
        return stamp_ns + later_ns <= read[-1][1] and any(a <= stamp_ns <= b for a, b in read)

    def update(self, view: CameraView, placed: Sequence[Lifted]) -> list[str]:
        """Take what a frame shows.

        :return: the id of the object that each detection is; empty: of none that is confirmed
        """
        stamp_ns = view.stamp_ns
        if stamp_ns - self._latest_ns > TENTATIVE_NS:  # a mistake of then would take what is seen now
            self.review(stamp_ns)
        self._latest_ns = max(self._latest_ns, stamp_ns)
        # What is read again changes nothing; what had not come to anything when it was cut off goes on later.
        cameras = {thing.detection.camera for thing in placed} or self._read
        again = any(self.has_read(stamp_ns, camera) for camera in cameras)
        things = distinct(placed)
        eye, seen = np.array(view.pose[0]), [*things.values()]
        matched, correction = self._assignment.match(seen, self._tracks, self._boxes, eye)
        pairs, pose = dict(matched), correction.pose(view.pose)
        found = [''] * len(placed)
        in_view: list[ObjectTrack] = []
        for row, (i, lifted) in enumerate(zip(things, moved(seen, correction), strict=True)):
            track = self._tracks[pairs[row]] if row in pairs else self._new(lifted, i)
            at = pairs[row] if row in pairs else self._tracks.index(track)
            # What another camera saw of it in that time counts for both.
            if not (track.was_known(stamp_ns) or (again and track.covered)):
                track.see(lifted, pose[0])
                self._boxes.set(at, track)
                track.confirmed = track.confirmed or (_is_sure(track) and not again)
            self._has_news |= track.confirmed and not again
            in_view.append(track)
            found[i] = track.id if track.confirmed and not track.deleted else ''
        for track in in_view:
            track.beside.update({other.id for other in in_view} - {track.id})
        if view.depth is not None:
            deep = replace(view.depth, pose=correction.pose(view.depth.pose))
            self._has_news |= self._look(stamp_ns, deep, in_view) and not again
        self._frames += 1
        if self._frames % REVIEW_FRAMES == 0:
            self.review(stamp_ns)
        return found

    def review(self, now_ns: int) -> None:
        """Make one of those that turned out to be one, and forget what was seen by mistake."""
        if self._has_news:
            self._unite(now_ns)
        old = [t for t in self._tracks if not t.confirmed and now_ns - t.span[1] > TENTATIVE_NS]
        if old:
            self._drop(old)

    def _unite(self, now_ns: int) -> None:
        """Make one of those that turned out to be one."""
        for track in [track for track in self._tracks if track.changed]:
            other = self._twin(track)
            if other is not None:
                self._merge(*sorted((track, other), key=lambda t: (not t.confirmed, t.span[0], t.id)))
        for missing, new in found_again(self._tracks, now_ns):
            missing.was_found(new)
            if new.stored:
                self._gone.append(new.id)
            self._replace(missing, new)

    def _look(self, stamp_ns: int, view: DepthView, in_view: Sequence[ObjectTrack]) -> bool:
        """Look whether what should be there is; tell whether that was news."""
        ahead = to_parent((self._boxes.low + self._boxes.high) / 2.0, inverse(view.pose))
        away = np.linalg.norm(ahead, axis=1)
        near = np.flatnonzero((ahead[:, 2] > 0.0) & (away < FARTHEST_M))
        pairs = zip(near.tolist(), away[near].tolist(), strict=True)
        tracks = self._tracks
        within = np.array(
            [j for j, off in pairs if tracks[j].reach_m > off and tracks[j].is_expected], np.intp
        )
        expected, boxes = [tracks[j] for j in within], self._boxes.some(within)
        looks = looks_at(view, boxes.low, boxes.high)
        # What fills a place may be another thing, which was put there.
        taken = boxes.taken_by(Boxes([track for track in in_view if track.confirmed]))
        seen = np.array([track in in_view for track in expected], np.bool_)
        looks[taken & ~seen & (looks == FILLED)] = CLEAR
        news = False
        for track, look, was_seen in zip(expected, looks.tolist(), seen.tolist(), strict=True):
            if track.presence.look(stamp_ns, look, seen=was_seen):
                track.changed = news = True
        return news

    def changed(self) -> list[tuple[Memory, bytes | None]]:
        """Return every object that changed since the last time, with its new picture, if any."""
        found = []
        for track in self._tracks:
            if track.confirmed and track.changed and self._has_news:
                found.append((self._current(track), track.crop))
                track.changed, track.stored, track.crop = False, True, None
        return found

    def agrees(self, view: CameraView, placed: Sequence[Lifted]) -> tuple[int, list[int]]:
        """Return how many things a frame shows, and when each that is known was seen first [ns]."""
        seen = [*distinct(placed).values()]
        pairs, _ = Assignment().match(seen, self._tracks, self._boxes, np.array(view.pose[0]))
        return len(seen), [self._tracks[j].span[0] for _, j in pairs if self._tracks[j].confirmed]

    def known_before(self, ids: Iterable[str], stamp_ns: int) -> int:
        """Return how many of some objects were seen before a time."""
        return sum(self._by_id[name].span[0] < stamp_ns for name in ids)

    def give_up(self, since_ns: int, until_ns: int) -> None:
        """Forget what was seen in a time only: the pose was wrong."""
        ghosts = [track for track in self._tracks if since_ns <= track.span[0] and track.span[1] <= until_ns]
        self._gone += [ghost.id for ghost in ghosts if ghost.stored]
        self._drop(ghosts)

    def take_states(self, deed: Memory) -> None:
        """Take the states in which a deed leaves objects, or no longer does."""
        facts = facts_of(deed)
        meant = facts and self._by_id.get(facts.object_id)
        tracks = [
            track
            for track in self._tracks
            if track is meant or any(deed.id == cause for _, _, cause in track.said.get('states', ()))
        ]
        known = known_objects([self._current(track) for track in tracks], deleted=True)
        for thing in known_objects(with_states([deed], known), deleted=True):
            self._by_id[thing.id].said['states'] = thing.facts.states

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

    def known(self) -> list[KnownObject]:
        """Return them but for those that a person deleted, seen last first."""
        return known_objects(self.memories())

    def _new(self, placed: Lifted, number: int) -> ObjectTrack:
        detection = placed.detection
        origin = f'{detection.camera}/{self._map_id}/{number}'
        identity = memory_id(self._robot, OBJECT, detection.stamp_ns, origin)
        if identity not in self._by_id:
            self._by_id[identity] = track = ObjectTrack(identity)
            self._tracks.append(track)
            self._boxes.add(placed)
        return self._by_id[identity]

    def _twin(self, track: ObjectTrack) -> ObjectTrack | None:
        """Return a track that is the same thing: it lies in it, is called alike, and looks alike."""
        if track not in self._tracks:
            return None
        own, boxes = Boxes([track]), self._boxes
        apart = own.apart(boxes)[0]
        off = np.linalg.norm(apart, axis=1)
        log_ratio = own.log_volume[0] - boxes.log_volume
        sides = np.minimum((boxes.high - boxes.low).max(axis=1), float((track.high - track.low).max()))
        for j in np.flatnonzero(off < TOUCH_M + TOUCH_PART * sides):
            other = self._tracks[j]
            together = max(track.beside[other.id], other.beside[track.id])
            # Of known ones that is not stored: they are two where the one does not lie in the other.
            two = track.covered and other.covered and np.any(apart[j] > (other.high - other.low) / 2.0)
            if (
                other is not track
                and not two
                and (abs(log_ratio[j]) < SAME_SIZE or (track if log_ratio[j] > 0.0 else other).confirmed)
                and other.measured == track.measured
                and together <= TOGETHER * min(track.hits, other.hits)
                and track.share(other.labels) >= SAME_LABEL
                and alike(track.appearance, other.appearance) >= SAME_LOOK
            ):
                return other
        return None

    def _merge(self, older: ObjectTrack, younger: ObjectTrack) -> None:
        last_ns = younger.span[1]
        read = older.covered and self.has_read(last_ns, younger.camera)
        if younger.stored or not (older.was_known(last_ns) or read):
            older.take_in(younger)
        if younger.stored:
            self._gone.append(younger.id)
        self._replace(older, younger)

    def _replace(self, older: ObjectTrack, younger: ObjectTrack) -> None:
        """Let the younger one be the older one from now on."""
        self._drop([younger])
        for name in (younger.id, *younger.aliases):
            self._by_id[name] = older

    def _drop(self, tracks: Sequence[ObjectTrack]) -> None:
        self._tracks = [track for track in self._tracks if track not in tracks]
        self._boxes = Boxes(self._tracks)
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
            if other.confirmed and not other.deleted and other.label != track.label:
                return other.label
        return ''


def _whole(read: Interval, kept: Sequence[Interval]) -> Interval:
    """Return of a time the part of which all that was seen is stored; see ObjectFacts.kept."""
    first, last = read
    whole = max((whole for whole, _ in kept), default=0)
    cut_off = any(first <= until <= last and until > whole for _, until in kept)
    return first, min(last, whole) if cut_off else last


def _is_sure(track: ObjectTrack) -> bool:
    """Tell whether something was seen often enough, and called the same most of the time."""
    return track.evidence >= EVIDENCE and track.labels[track.label] >= PURE * sum(track.labels.values())
