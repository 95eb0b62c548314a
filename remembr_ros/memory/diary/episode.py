"""One robot's stays and drives, one after the other."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta, tzinfo
from enum import Enum
from itertools import accumulate

from remembr_ros.geometry import Pose, interpolate
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.motion.motion import Stretch, legs, stops, stretches
from remembr_ros.memory.motion.track import GAP_NS, STANDS_M_PER_S
from remembr_ros.timestamps import NS, local, to_ns

LONGEST_NS = 31 * 86_400 * NS  # A stay that is longer, by a clock that was wrong, is cut at no midnight
NOWHERE_M = 0.5  # A drive that is shorter leads nowhere


class EpisodeKind(str, Enum):
    """What a robot did for a while."""

    STAY = 'stay'
    LEG = 'leg'


@dataclass(frozen=True, slots=True)
class Episode:
    """A stay of a robot at a place, or its drive to the next one.

    :param pose: of a stay: where; of a leg: where it ended, in the map frame; None: not known
    :param driven_m: length of the path
    :param seen: what was seen, in sentences, the most telling first
    :param read: what could be read, in the order of time
    :param deeds: what it did that began meanwhile, in the order of time
    :param memories: in the order of time; each is of one episode, if it is not longer than several
    :param place: the name of where the pose is; empty: it has none
    """

    kind: EpisodeKind
    robot: str
    start_ns: int
    end_ns: int
    pose: Pose | None = None
    frame_id: str = 'map'
    map_id: str = ''
    driven_m: float = 0.0
    seen: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    deeds: tuple[Memory, ...] = ()
    memories: tuple[Memory, ...] = ()
    place: str = ''

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) / NS


def episodes_of(memories: Sequence[Memory]) -> list[Episode]:
    """Return all that one robot did, in the order of time."""
    moved = stretches(memories)
    stood = stops(moved)
    in_a_stop = _inside(stood)  # there the robot turned where it stood
    found = [_episode(EpisodeKind.STAY, stop) for stop in stood]
    found += [
        _episode(EpisodeKind.LEG, leg) for leg in legs(moved) if not in_a_stop(leg.start_ns, leg.end_ns)
    ]
    found = _settled(sorted(found, key=_time))
    return sorted([*found, *unplaced(memories, found)], key=_time)


def _inside(spans: Sequence[Stretch] | Sequence[Episode]) -> Callable[[int, int], bool]:
    """Return what tells whether a time lies in one of these, which may overlap.

    :param spans: in the order of time
    """
    starts = [span.start_ns for span in spans]
    ends = list(accumulate((span.end_ns for span in spans), max))  # of one or any before it

    def is_inside(start_ns: int, end_ns: int) -> bool:
        before = bisect_right(starts, start_ns) - 1
        return before >= 0 and end_ns <= ends[before]

    return is_inside


def _settled(episodes: Sequence[Episode]) -> list[Episode]:
    """Return the episodes with the drives that lead nowhere as parts of the stays before or after them."""
    found: list[Episode] = []
    for episode in episodes:
        before = found[-1] if found else None
        if before is None or before.end_ns != episode.start_ns or before.kind is episode.kind:
            found.append(episode)
        elif before.kind is EpisodeKind.STAY and episode.driven_m < NOWHERE_M:
            found[-1] = replace(before, end_ns=episode.end_ns, driven_m=before.driven_m + episode.driven_m)
        elif before.kind is EpisodeKind.LEG and before.driven_m < NOWHERE_M:
            found[-1] = replace(
                episode, start_ns=before.start_ns, driven_m=before.driven_m + episode.driven_m
            )
        else:
            found.append(episode)
    return found


def _episode(kind: EpisodeKind, moved: Stretch) -> Episode:
    memory, pose = moved.memories[0], moved.end
    if kind is EpisodeKind.STAY and moved.start is not None and moved.end is not None:
        pose = interpolate(moved.start, moved.end, 0.5)
    return Episode(
        kind,
        memory.robot,
        moved.start_ns,
        moved.end_ns,
        pose,
        memory.frame_id,
        memory.map_id,
        moved.driven_m,
    )


def unplaced(memories: Sequence[Memory], found: Sequence[Episode]) -> Iterator[Episode]:
    """Yield episodes of the memories that tell of no motion, where no other one is."""
    in_one = _inside(found)

    def is_alone(memory: Memory) -> bool:
        middle_ns = (memory.start_ns + memory.end_ns) // 2
        return not in_one(middle_ns, middle_ns)

    runs: list[list[Memory]] = []
    for memory in filter(is_alone, memories):
        if runs and memory.start_ns - runs[-1][-1].end_ns <= GAP_NS and memory.map_id == runs[-1][-1].map_id:
            runs[-1].append(memory)
        else:
            runs.append([memory])
    for run in runs:
        end_ns = max(memory.end_ns for memory in run)
        driven_m = sum(memory.travelled for memory in run)
        drove = driven_m > STANDS_M_PER_S * max((end_ns - run[0].start_ns) / NS, 1.0)
        placed = [memory.pose for memory in run if memory.pose is not None]
        yield Episode(
            EpisodeKind.LEG if drove else EpisodeKind.STAY,
            run[0].robot,
            run[0].start_ns,
            end_ns,
            placed[-1 if drove else 0] if placed else None,
            run[0].frame_id,
            run[0].map_id,
            driven_m,
        )


def _time(episode: Episode) -> tuple[int, int]:
    return episode.start_ns, episode.end_ns


def within(episodes: Iterable[Episode], after_ns: int | None, before_ns: int | None) -> list[Episode]:
    cut = [
        _between(
            episode,
            episode.start_ns if after_ns is None else after_ns,
            episode.end_ns if before_ns is None else before_ns,
        )
        for episode in episodes
    ]
    return [piece for piece in cut if piece is not None]


def _between(episode: Episode, after_ns: int, before_ns: int) -> Episode | None:
    """Return the part of an episode in a time; None: there is none."""
    start_ns, end_ns = max(episode.start_ns, after_ns), min(episode.end_ns, before_ns)
    if start_ns > end_ns or (start_ns == end_ns and episode.end_ns > episode.start_ns):
        return None
    share = (end_ns - start_ns) / max(episode.end_ns - episode.start_ns, 1)
    driven_m = episode.driven_m * share if (start_ns, end_ns) != _time(episode) else episode.driven_m
    return replace(episode, start_ns=start_ns, end_ns=end_ns, driven_m=driven_m)


def by_day(episode: Episode, zone: tzinfo) -> Iterator[Episode]:
    """Yield an episode cut at every midnight of the asker's, unless it is longer than LONGEST_NS."""
    if episode.end_ns - episode.start_ns > LONGEST_NS:
        yield episode
        return
    left: Episode | None = episode
    while left is not None:
        midnight = local(left.start_ns, zone).replace(hour=0, minute=0, second=0, microsecond=0)
        next_ns = to_ns(midnight + timedelta(days=1))
        yield _between(left, left.start_ns, min(next_ns, left.end_ns)) or left
        left = _between(left, next_ns, left.end_ns) if next_ns < left.end_ns else None
