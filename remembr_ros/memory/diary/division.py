"""How much of a day is told: the shortest stays become part of a drive, a long drive is cut into pieces."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from remembr_ros.geometry import distance
from remembr_ros.memory.diary.episode import Episode, EpisodeKind
from remembr_ros.memory.diary.highlights import stems_of
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.motion.track import GAP_NS

AROUND = 5  # Memories on each side of where a drive may be cut, that are compared
CUTS = 50  # Places where it may be

_OTHER_MAP_NS = 2**62  # What divides more than any stay


def divided(of_robots: Sequence[list[Episode]], most: int) -> list[list[Episode]]:
    """Return no more episodes than are told: the shortest stays and gaps become part of drives."""
    if sum(map(len, of_robots)) <= most:
        return list(of_robots)
    dividers: list[tuple[int, int, int, bool]] = []
    for number, some in enumerate(of_robots):
        for i, one in enumerate(some):
            if one.kind is EpisodeKind.STAY:
                dividers.append((one.end_ns - one.start_ns, number, i, True))
            if i and (apart_ns := _apart(some[i - 1], one)) > GAP_NS:
                dividers.append((apart_ns, number, i, False))
    dividers.sort(reverse=True)
    groups: list[list[list[Episode]]] = []
    # Each divides one into two or three; it may also lie where another one divides.
    fewest = min(most // 2, len(dividers))
    for count in range(min(most, len(dividers)), fewest - 1, -1):
        groups = _groups(of_robots, {divider[1:] for divider in dividers[:count]})
        if sum(map(len, groups)) <= most:
            break
    return [[_joined(group) for group in some] for some in groups]


def _groups(
    of_robots: Sequence[list[Episode]], kept: Collection[tuple[int, int, bool]]
) -> list[list[list[Episode]]]:
    """Return each robot's episodes in groups between dividers.

    :param kept: of each the robot, the episode, and whether that is a divider itself or begins behind one
    """
    found = []
    for number, some in enumerate(of_robots):
        groups: list[list[Episode]] = []
        for i, one in enumerate(some):
            edges = ((number, i, False), (number, i, True), (number, i - 1, True))
            if not groups or any(edge in kept for edge in edges):
                groups.append([])
            groups[-1].append(one)
        found.append(groups)
    return found


def _apart(one: Episode, other: Episode) -> int:
    same = (one.frame_id, one.map_id) == (other.frame_id, other.map_id)
    return other.start_ns - one.end_ns if same else _OTHER_MAP_NS


def _joined(group: Sequence[Episode]) -> Episode:
    if len(group) == 1:
        return group[0]
    stayed = all(one.kind is EpisodeKind.STAY for one in group)
    last = max(group, key=lambda one: one.end_ns - one.start_ns) if stayed else group[-1]
    return replace(
        last,
        kind=EpisodeKind.STAY if stayed else EpisodeKind.LEG,
        start_ns=group[0].start_ns,
        end_ns=max(one.end_ns for one in group),
        driven_m=sum(one.driven_m for one in group),
    )


def pieces(leg: Episode, longest_ns: int) -> Iterator[Episode]:
    """Yield a drive in pieces, each but the longest ones from one change of what is seen to the next."""
    cut = _change(leg) if leg.kind is EpisodeKind.LEG and leg.end_ns - leg.start_ns > longest_ns else None
    if cut is None:
        yield leg
        return
    before, after = leg.memories[:cut], leg.memories[cut:]
    ways = [_way_m(some) for some in (before, after)]
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
    some = inside[:: max(1, len(inside) // CUTS)]
    return min(some, key=lambda i: _likeness(leg.memories, i), default=None)


def _likeness(memories: Sequence[Memory], at: int) -> float:
    """Return how alike what is said before a memory and from it on is: a cosine of words, 0 to 1."""
    before, after = (
        Counter(word for memory in some for word in stems_of(memory))
        for some in (memories[max(at - AROUND, 0) : at], memories[at : at + AROUND])
    )
    squares = sum(n * n for n in before.values()) * sum(n * n for n in after.values())
    return sum(number * after[word] for word, number in before.items()) / squares**0.5 if squares else 1.0


def _way_m(memories: Sequence[Memory]) -> float:
    placed = [memory.pose.position for memory in memories if memory.pose is not None]
    return sum(distance(one, other) for one, other in pairwise(placed))
