"""One day in a home as a robot with a memory lives it: captions of what it saw, objects, deeds and rooms."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from remembr_bench.evaluation.findingdory.truth import EpisodeTruth, Handling
from remembr_bench.evaluation.objects.measure import SHOWN_FRAMES
from remembr_bench.evaluation.objects.run import Noise, RemembrRule, detected
from remembr_bench.simulation.homes.day import WorkDay, generate_day
from remembr_bench.simulation.homes.home import Interaction, Item, Placement, centre_of, name_of
from remembr_bench.simulation.homes.home_simulator import HomeSimulator, room_of
from remembr_bench.simulation.homes.home_views import RATE_HZ, HomeFrame, camera_pose, frames_of
from remembr_bench.simulation.homes.rounds import arrival, drive
from remembr_bench.simulation.tour import misplaced
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.geometry import Pose, distance
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.deeds.object_ids import with_object_ids
from remembr_ros.memory.model.record import OBJECT, Memory, Observation, memory_id
from remembr_ros.memory.objects.known import (
    Interval,
    KnownObject,
    ObjectFacts,
    Sighting,
    interval_added,
    known_objects,
    thinned,
)
from remembr_ros.memory.objects.wording import plural, sentence
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.places.place import place
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS

ROBOT = 'robot'
FRAMES = 6  # of a caption: 3 s
NAMED_PX = 60  # what fewer pixels show is not worth a word
NEXT_DAY_NS = 24 * 3600 * NS  # from the begin of the day to the question


@dataclass(frozen=True)
class HomeEpisode:
    """What is left of a day.

    :param memories: captions, objects, deeds and places, in the order of time
    :param images: a picture of each caption, JPEG, by its id; none, unless they are wanted
    :param placements: where each thing is at last, by its number
    :param now_ns: when tasks are given, on the next day [ns since the Unix epoch]
    """

    memories: tuple[Memory, ...]
    images: Mapping[str, tuple[bytes, ...]]
    truth: EpisodeTruth
    simulator: HomeSimulator
    placements: Mapping[int, Placement]
    now_ns: int


def live(seed: int, noise: Noise | None = None, *, pictures: bool = False) -> HomeEpisode:
    """Return the episode of a home.

    :param noise: objects are detected in the frames with this; None: they are the simulator's
    :param pictures: keep one of each caption
    :raises RemembrError: pyvista is not installed
    """
    return relive(generate_day(seed), noise, pictures=pictures)


@contextmanager
def remembered(seed: int, embedder: str | Embedder) -> Iterator[tuple[HomeEpisode, MemoryStore]]:
    """Yield the episode of a home with a store of its memories; see :func:`live`."""
    episode = live(seed)
    with (
        closing(episode.simulator),
        TemporaryDirectory(prefix='remembr_home_') as folder,
        open_store(f'{folder}/memory.db', embedder) as store,
    ):
        store.add([Observation(memory) for memory in episode.memories])
        yield episode, store


def relive(
    day: WorkDay,
    noise: Noise | None = None,
    *,
    rate_hz: float = RATE_HZ,
    frames: int = FRAMES,
    pictures: bool = False,
) -> HomeEpisode:
    """Return the episode of a day; see :func:`live`.

    :param rate_hz: of the camera
    :param frames: of a caption
    """
    simulator, seeing = HomeSimulator(day.home), _Seeing(day, noise, frames, pictures=pictures)
    for number, visit in enumerate(day.home.visits):
        seeing.see(number, list(frames_of(day.home, visit, rate_hz)))
    objects = seeing.objects()
    deeds = [_deed(interaction, day, seeing) for interaction in day.interactions]
    if noise is not None:
        known = known_objects(objects)
        deeds = [with_object_ids(memory, known) for memory in deeds]
    rooms = [_place(room.name, (*room.low, *room.high), day) for room in day.home.rooms]
    memories = sorted((*seeing.captions, *objects, *deeds, *rooms), key=lambda one: (one.start_ns, one.id))
    carried = [interaction for interaction in day.interactions if interaction.kind in ('pick', 'place')]
    handled = [
        Handling(str(pick.item), str(pick.receptacle), str(put.receptacle), pick, put)
        for pick, put in zip(carried[::2], carried[1::2], strict=True)
    ]
    known_ids = frozenset(str(number) for number in np.flatnonzero(seeing.shown >= SHOWN_FRAMES).tolist())
    known_ids |= {one.thing for one in handled}
    truth = EpisodeTruth(simulator, handled, known_ids, _stays(day), _here(day, simulator))
    begin_ns = day.home.visits[0].start_ns
    days = (memories[-1].end_ns - begin_ns) // NEXT_DAY_NS + 1
    placements, now_ns = day.home.visits[-1].placements, begin_ns + days * NEXT_DAY_NS
    return HomeEpisode(tuple(memories), seeing.images, truth, simulator, placements, now_ns)


class _Seeing:
    """What the robot sees, frame by frame.

    :ivar shown: how many frames show each thing, by its number
    :ivar captions: the memories made of what was seen
    :ivar images: a picture of each, if they are wanted
    """

    def __init__(self, day: WorkDay, noise: Noise | None, frames: int, *, pictures: bool) -> None:
        self._day, self._home, self._noise = day, day.home, noise
        self._rng = random.Random(f'{day.home.seed} {noise.name if noise else ""}')
        self._rule, self._frames = RemembrRule(), frames
        self._labels = {item.number: item.label for item in day.home.items}
        self._intervals: dict[int, tuple[Interval, ...]] = {}
        self._sightings: dict[int, tuple[Sighting, ...]] = {}
        # Where each thing is at last: what the robot holds, or what somebody took away, is where it was seen.
        self._placements = {n: at for visit in self._home.visits for n, at in visit.placements.items()}
        self.shown: NDArray[np.int64] = np.zeros(len(day.home.items) + 1, np.int64)
        self.captions: list[Memory] = []
        self.images: dict[str, tuple[bytes, ...]] = {}
        self._pictures = pictures

    def pose(self, pose: Pose) -> Pose:
        """Return a pose as the robot knows it."""
        if self._noise is None:
            return pose
        return misplaced(pose, self._noise.pose_m, math.radians(self._noise.pose_deg), self._rng)

    def see(self, number: int, frames: Sequence[HomeFrame]) -> None:
        """Take the frames of a drive; after it the robot stands until the next one begins."""
        visits = self._home.visits
        until_ns = visits[number + 1].start_ns if number + 1 < len(visits) else frames[-1].stamp_ns
        for start in range(0, len(frames), self._frames):
            some = frames[start : start + self._frames]
            pixels = np.zeros(len(self.shown), np.int64)
            for frame in some:
                pixels = np.maximum(pixels, np.bincount(frame.instances.ravel(), minlength=len(self.shown)))
                self.shown += frame.shows(len(self._home.items))
                self._note(number, frame)
            stays = some[-1] is frames[-1]
            self.captions.append(self._caption(some, pixels, max(until_ns - 1, 0) if stays else None))
            if self._pictures:
                middle = some[-1] if stays else some[len(some) // 2]
                self.images[self.captions[-1].id] = (encode_jpeg(middle.bgr, 85),)

    def objects(self) -> list[Memory]:
        """Return all objects that it knows."""
        if self._noise is not None:
            return self._rule.memories()
        seen = [number for number in self._sightings if self.shown[number] >= SHOWN_FRAMES]
        return [self._object(self._home.items[number - 1]) for number in seen]

    def id_of(self, number: int) -> str:
        """Return the id of a thing in the memory; empty: only detections tell."""
        return memory_id(ROBOT, OBJECT, 0, str(number)) if self._noise is None else ''

    def _note(self, number: int, frame: HomeFrame) -> None:
        if self._noise is not None:
            self._rule.update(*detected(self._home, frame, self._noise, self._rng, self._labels))
            return
        eye = camera_pose(frame.base)[0]
        placements = self._home.visits[number].placements
        for one in np.flatnonzero(frame.shows(len(self._home.items))).tolist():
            if one:
                at = centre_of(self._home.items[one - 1], placements[one])
                self._intervals[one] = interval_added(self._intervals.get(one, ()), frame.stamp_ns)
                self._sightings[one] = thinned((*self._sightings.get(one, ()), (frame.stamp_ns, at, eye)))

    def _object(self, item: Item) -> Memory:
        intervals, placement = self._intervals[item.number], self._placements[item.number]
        pose = Pose(*centre_of(item, placement))
        facts = ObjectFacts(
            labels={item.label: 1.0},
            size=item.size,
            std=0.01,
            observations=int(self.shown[item.number]),
            intervals=intervals,
            sightings=tuple(
                (ns, pose.relative(a), pose.relative(b)) for ns, a, b in self._sightings[item.number]
            ),
            colour=item.colour,
            looked=intervals[-1][1],
        )
        memory = Memory(
            id=self.id_of(item.number),
            robot=ROBOT,
            start_ns=intervals[0][0],
            end_ns=intervals[-1][1],
            caption='',
            pose=pose,
            source=OBJECT,
            facts=facts.model_dump(mode='json'),
        )
        carrier = placement.receptacle
        near = self._home.items[carrier - 1].label if carrier else ''
        return replace(memory, caption=sentence(KnownObject(memory, facts), near))

    def _caption(
        self, frames: Sequence[HomeFrame], pixels: NDArray[np.int64], until_ns: int | None
    ) -> Memory:
        """Return what a captioner that knows all things would say of some frames."""
        seen = [self._home.items[n - 1] for n in np.argsort(-pixels).tolist() if n and pixels[n] >= NAMED_PX]
        names = Counter(name_of(item) for item in seen)
        told = [f'a {name}' if number == 1 else f'{number} {plural(name)}' for name, number in names.items()]
        start_ns = frames[0].stamp_ns
        way = [frame.base.position for frame in frames]
        return Memory(
            id=memory_id(ROBOT, 'captioner', start_ns, ''),
            robot=ROBOT,
            start_ns=start_ns,
            end_ns=frames[-1].stamp_ns if until_ns is None else max(until_ns, frames[-1].stamp_ns),
            caption=f'I see {", ".join(told)}.' if told else 'I see nothing but walls.',
            pose=self.pose(frames[len(frames) // 2].base if until_ns is None else frames[-1].base),
            travelled=sum(distance(a, b) for a, b in pairwise(way)),
            captioner='simulation',
        )


def _deed(one: Interaction, day: WorkDay, seeing: _Seeing) -> Memory:
    """Return what a robot's own software tells of an interaction."""
    item = day.home.items[one.item - 1]
    receptacle = day.home.items[one.receptacle - 1] if one.receptacle else None
    return deed(
        one.start_ns,
        one.end_ns,
        kind=one.kind,
        object=name_of(item),
        object_id=seeing.id_of(one.item),
        receptacle=name_of(receptacle) if receptacle else '',
        receptacle_id=seeing.id_of(one.receptacle) if receptacle else '',
        place=one.room,
        outcome='succeeded',
        pose=seeing.pose(one.pose),
        travelled=one.travelled,
    ).memory(ROBOT)


def _place(name: str, box: tuple[float, float, float, float], day: WorkDay) -> Memory:
    x0, y0, x1, y1 = box
    outline = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    return place(name, outline=outline, robot=ROBOT, now_ns=day.home.visits[0].start_ns).memory


def _stays(day: WorkDay) -> dict[str, float]:
    """Return how long the robot was in each room that it entered [s], also while it stood there."""
    found: defaultdict[str, float] = defaultdict(float)
    starts_ns = [visit.start_ns for visit in day.home.visits[1:]]
    for visit, next_ns in zip_longest(day.home.visits, starts_ns):
        for _, pose in drive(visit, RATE_HZ):
            found[room_of(day.home, pose.x, pose.y)] += 1.0 / RATE_HZ
        end_ns, pose = arrival(visit)
        found[room_of(day.home, pose.x, pose.y)] += ((next_ns or end_ns) - end_ns) / NS
    found.pop('', None)
    return dict(found)


def _here(day: WorkDay, simulator: HomeSimulator) -> Pose:
    """Return where the robot stands on the next day: anywhere that it was able to get to."""
    rng, end = random.Random(f'here {day.home.seed}'), day.home.visits[-1].corners[-1]
    places = simulator.places()
    places = places[np.isfinite(simulator.metres(end[:2], places))]
    x, y = rng.choice(places.tolist())
    return Pose(x, y, 0.0, rng.uniform(-math.pi, math.pi))
