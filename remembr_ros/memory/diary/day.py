"""What robots did and saw, as a tree: days, parts of days, stays and drives, and their memories.

A robot stays where it stands (motion), and drives in between; what nobody knows the way of is a stay, too. Of
more than are told, the longest stays and the longest times without memories divide the rest. A long drive is
cut where what is seen changes most (TextTiling, Hearst 1997).
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, tzinfo
from itertools import accumulate, groupby, pairwise

from remembr_ros.geometry import distance
from remembr_ros.memory.deeds.deed import each_time
from remembr_ros.memory.diary.episode import Episode, EpisodeKind, by_day, episodes_of, unplaced, within
from remembr_ros.memory.diary.highlights import Vocabulary, stems_of, texts_read
from remembr_ros.memory.model.record import AGENT, Memory
from remembr_ros.memory.motion.track import GAP_NS
from remembr_ros.memory.places.places import NOWHERE, Places
from remembr_ros.timestamps import NS, local

PARTS_OF_DAY = {'night': 0, 'morning': 5, 'afternoon': 12, 'evening': 18}
"""With which hour of the clock each begins; a night that begins at 20 is the evening's until midnight."""

MOST = 100  # Episodes of a time that is told, apart from the pieces of long drives
PIECES = 8  # A drive is cut where it takes more than this part of the time that was driven and stood in all
SHORTEST_CUT_NS = 120 * NS  # Shorter drives are not cut
SENTENCES = 3  # Of each episode


@dataclass(frozen=True, slots=True)
class PartOfDay:
    """What began in the night, the morning, the afternoon or the evening."""

    name: str
    episodes: tuple[Episode, ...]


@dataclass(frozen=True, slots=True)
class DiaryDay:
    """One day of the asker's calendar."""

    date: date
    parts: tuple[PartOfDay, ...]


@dataclass(frozen=True, slots=True)
class Diary:
    """What robots did and saw.

    :param start_ns: of the time that is told, nanoseconds since the Unix epoch
    :param end_ns: of that time
    """

    start_ns: int
    end_ns: int
    days: tuple[DiaryDay, ...]

    @property
    def episodes(self) -> list[Episode]:
        """All of them, in the order of time."""
        return [episode for day in self.days for part in day.parts for episode in part.episodes]


def diary(
    memories: Iterable[Memory],
    zone: tzinfo,
    after_ns: int | None = None,
    before_ns: int | None = None,
    most: int = MOST,
    *,
    places: Places = NOWHERE,
) -> Diary:
    """Return what robots did and saw; a day is one of the asker's calendar, however many hours it has.

    :param memories: in any order, of any robots and maps
    :param zone: the asker's time zone
    :param after_ns: what was before is left out, of a memory, too
    :param before_ns: what was after it
    :param most: episodes, apart from the pieces of long drives and the days that they are divided into
    :param places: those with names
    """
    of_robot: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda memory: (memory.start_ns, memory.end_ns, memory.id)):
        of_robot[memory.robot].append(memory)
    lived = [
        # A deed may have its middle in a stay outside of the window.
        within(episodes_of(own), after_ns, before_ns) or within(unplaced(own, []), after_ns, before_ns)
        for own in of_robot.values()
    ]
    groups = [
        _filled([part for whole in group for part in by_day(whole, zone)], of_robot[group[0].robot])
        for group in divided([group for group in lived if group], most)
    ]
    total_ns = sum(episode.end_ns - episode.start_ns for group in groups for episode in group)
    longest_ns = max(SHORTEST_CUT_NS, total_ns // PIECES)
    whole = [piece for group in groups for episode in group for piece in pieces(episode, longest_ns)]
    words = Vocabulary(map(_sights, whole))
    episodes = sorted(
        (_described(episode, words) for episode in whole),
        key=lambda episode: (episode.start_ns, episode.end_ns, episode.robot),
    )
    episodes = [
        replace(episode, deeds=tuple(done), place=places.name_at(episode.map_id, episode.pose))
        for episode, done in zip(episodes, _deeds(episodes, of_robot, before_ns), strict=True)
    ]
    first_ns = min((episode.start_ns for episode in episodes), default=0)
    last_ns = max((episode.end_ns for episode in episodes), default=0)
    return Diary(
        first_ns if after_ns is None else after_ns,
        last_ns if before_ns is None else before_ns,
        _days(episodes, zone),
    )


def _filled(episodes: Sequence[Episode], memories: Sequence[Memory]) -> list[Episode]:
    """Return the episodes with their memories: each is of the one that it shares most time with.

    A stay that would have none takes what it shares most time with from the drive before or after it.
    """
    held: list[list[Memory]] = [[] for _ in episodes]
    starts = [episode.start_ns for episode in episodes]
    ends = list(accumulate((episode.end_ns for episode in episodes), max))  # of one or any before it
    for memory in memories:
        first = min(bisect_left(ends, memory.start_ns), len(episodes) - 1)
        last = max(bisect_right(starts, memory.end_ns) - 1, first)
        best = max(range(first, last + 1), key=lambda i: _common(memory, episodes[i]))
        if _common(memory, episodes[best])[0] >= 0:
            held[best].append(memory)
    for i, episode in enumerate(episodes):
        if not held[i]:
            memory = max(memories, key=lambda memory: _common(memory, episode))
            for other, others in zip(episodes, held, strict=True):
                if memory in others and len(others) > 1 and other.kind is not episode.kind:
                    others.remove(memory)
            held[i].append(memory)
    return [replace(episode, memories=tuple(shared)) for episode, shared in zip(episodes, held, strict=True)]


def _common(memory: Memory, episode: Episode) -> tuple[int, int]:
    """Return how much time a memory and an episode share [ns]; negative: how far they are apart."""
    common_ns = min(memory.end_ns, episode.end_ns) - max(memory.start_ns, episode.start_ns)
    return common_ns, -(episode.end_ns - episode.start_ns)


def _described(episode: Episode, words: Vocabulary) -> Episode:
    sights = _sights(episode)
    return replace(episode, seen=tuple(words.telling(sights, SENTENCES)), read=tuple(texts_read(sights)))


def _sights(episode: Episode) -> list[Memory]:
    return [memory for memory in episode.memories if memory.source != AGENT]


def _deeds(
    episodes: Sequence[Episode], memories: Mapping[str, Sequence[Memory]], before_ns: int | None
) -> list[list[Memory]]:
    """Return for each episode what its robot did that began in it, or after it and before the next one."""
    found: list[list[Memory]] = [[] for _ in episodes]
    for robot, of_one in memories.items():
        mine = [i for i, episode in enumerate(episodes) if episode.robot == robot]
        starts = [episodes[i].start_ns for i in mine]
        done = [time for memory in of_one if memory.source == AGENT for time in each_time(memory)]
        for deed in sorted(done, key=lambda deed: (deed.start_ns, deed.end_ns, deed.id)):
            at = bisect_right(starts, deed.start_ns) - 1
            if mine and deed.end_ns >= starts[0] and (before_ns is None or deed.start_ns <= before_ns):
                found[mine[max(at, 0)]].append(deed)
    return found


def _days(episodes: Iterable[Episode], zone: tzinfo) -> tuple[DiaryDay, ...]:
    def part(episode: Episode) -> str:
        hour = local(episode.start_ns, zone).hour
        return max(
            (name for name, first in PARTS_OF_DAY.items() if first <= hour), key=PARTS_OF_DAY.__getitem__
        )

    return tuple(
        DiaryDay(day, tuple(PartOfDay(name, tuple(group)) for name, group in groupby(of_day, key=part)))
        for day, of_day in groupby(episodes, key=lambda episode: local(episode.start_ns, zone).date())
    )


AROUND = 5  # Memories on each side of where a drive may be cut, that are compared
CUTS = 50  # Places where it may be

_OTHER_MAP_NS = 2**62  # What divides more than any stay


def divided(of_robots: Sequence[list[Episode]], most: int) -> list[list[Episode]]:
    """Return no more episodes than are told: the shortest stays and gaps become part of drives."""
    if sum(map(len, of_robots)) <= most:
        return list(of_robots)
    dividers: list[tuple[int, int, int, bool]] = []
    for number, episodes in enumerate(of_robots):
        for i, episode in enumerate(episodes):
            if episode.kind is EpisodeKind.STAY:
                dividers.append((episode.end_ns - episode.start_ns, number, i, True))
            if i and (apart_ns := _apart(episodes[i - 1], episode)) > GAP_NS:
                dividers.append((apart_ns, number, i, False))
    dividers.sort(reverse=True)
    groups: list[list[list[Episode]]] = []
    # Each divides one into two or three; it may also lie where another one divides.
    fewest = min(most // 2, len(dividers))
    for count in range(min(most, len(dividers)), fewest - 1, -1):
        groups = _groups(of_robots, {divider[1:] for divider in dividers[:count]})
        if sum(map(len, groups)) <= most:
            break
    return [[_joined(group) for group in episodes] for episodes in groups]


def _groups(
    of_robots: Sequence[list[Episode]], kept: Collection[tuple[int, int, bool]]
) -> list[list[list[Episode]]]:
    """Return each robot's episodes in groups between dividers.

    :param kept: of each the robot, the episode, and whether that is a divider itself or begins behind one
    """
    found = []
    for number, lived in enumerate(of_robots):
        groups: list[list[Episode]] = []
        for i, episode in enumerate(lived):
            edges = ((number, i, False), (number, i, True), (number, i - 1, True))
            if not groups or any(edge in kept for edge in edges):
                groups.append([])
            groups[-1].append(episode)
        found.append(groups)
    return found


def _apart(episode: Episode, other: Episode) -> int:
    same = (episode.frame_id, episode.map_id) == (other.frame_id, other.map_id)
    return other.start_ns - episode.end_ns if same else _OTHER_MAP_NS


def _joined(group: Sequence[Episode]) -> Episode:
    if len(group) == 1:
        return group[0]
    stayed = all(episode.kind is EpisodeKind.STAY for episode in group)
    last = max(group, key=lambda episode: episode.end_ns - episode.start_ns) if stayed else group[-1]
    return replace(
        last,
        kind=EpisodeKind.STAY if stayed else EpisodeKind.LEG,
        start_ns=group[0].start_ns,
        end_ns=max(episode.end_ns for episode in group),
        driven_m=sum(episode.driven_m for episode in group),
    )


def pieces(leg: Episode, longest_ns: int) -> Iterator[Episode]:
    """Yield a drive in pieces, each but the longest ones from one change of what is seen to the next."""
    cut = _change(leg) if leg.kind is EpisodeKind.LEG and leg.end_ns - leg.start_ns > longest_ns else None
    if cut is None:
        yield leg
        return
    before, after = leg.memories[:cut], leg.memories[cut:]
    ways = [_way_m(half) for half in (before, after)]
    share = ways[0] / sum(ways) if sum(ways) > 0.0 else 0.5
    at_ns = max(after[0].start_ns, leg.start_ns)
    pose = before[-1].pose
    yield from pieces(
        replace(leg, end_ns=at_ns, pose=pose, driven_m=share * leg.driven_m, memories=before), longest_ns
    )
    yield from pieces(
        replace(leg, start_ns=at_ns, driven_m=(1.0 - share) * leg.driven_m, memories=after), longest_ns
    )


def _change(leg: Episode) -> int | None:
    """Return the memory, of the middle half of a drive, from which on what is seen changes most."""
    quarter_ns = (leg.end_ns - leg.start_ns) // 4
    inside = [
        i
        for i, memory in enumerate(leg.memories)
        if i and leg.start_ns + quarter_ns <= memory.start_ns <= leg.end_ns - quarter_ns
    ]
    cuts = inside[:: max(1, len(inside) // CUTS)]
    return min(cuts, key=lambda i: _likeness(leg.memories, i), default=None)


def _likeness(memories: Sequence[Memory], at: int) -> float:
    """Return how alike what is said before a memory and from it on is: a cosine of words, 0 to 1."""
    before, after = (
        Counter(word for memory in side for word in stems_of(memory))
        for side in (memories[max(at - AROUND, 0) : at], memories[at : at + AROUND])
    )
    squares = sum(n * n for n in before.values()) * sum(n * n for n in after.values())
    return sum(number * after[word] for word, number in before.items()) / squares**0.5 if squares else 1.0


def _way_m(memories: Sequence[Memory]) -> float:
    placed = [memory.pose.position for memory in memories if memory.pose is not None]
    return sum(distance(point, other) for point, other in pairwise(placed))
