"""Retention: which memories are deleted when the memory is full, the oldest and most repeated first.

Age first: what ended before the longest time to keep goes, all of it. Then, where there are still too many,
what tells least goes first, and among equals the oldest:

    1. what was seen again, alike, at the same place and in the same direction, within the hour
    2. what was seen again there, alike, at any later time
    3. what was seen there once, of which a later memory of the same view tells something else
    4. a place of which a later memory shows another direction
    5. the latest memory of a place, and what has no place

so that one memory per place (a cell of 1 m) stays as long as possible.
"""

import math
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.model.record import OBJECT, PERSON, PLACE, SOURCES, Memory
from remembr_ros.timestamps import NS, format_duration

CELL_M = 1.0  # side of a place
ALIKE = 0.5  # share of words that two memories of the same scene have in common
SOON_NS = 3600 * NS  # what is seen again within this time says nothing new
MOST_AT_ONCE = 0.5  # share of the memories that may become too old in a moment, after a hole of MAX_HOLE_NS

MAX_HOLE_NS = 7 * 86_400 * NS
"""A robot is off for a night, a weekend, a holiday; a longer hole may be a clock that jumped."""

CONFIRMED_NS = 86_400 * NS  # a clock that jumped and was not put right for a day is believed

_WORD = re.compile(r'\w+')
_BITS = 1024


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """How much is kept.

    :param max_age_s: what ended earlier than this before now goes [s]; None: nothing is too old
    :param max_memories: None: any number
    :param max_bytes: what the memories may take, see estimated_bytes; None: any size
    :param keep_sources: memories of these sources never go
    :raises InvalidRequest: a limit makes no sense
    """

    max_age_s: float | None = None
    max_memories: int | None = None
    max_bytes: int | None = None
    keep_sources: tuple[str, ...] = (PERSON, PLACE)

    def __post_init__(self) -> None:
        if self.max_age_s is not None and not 0.0 < self.max_age_s < math.inf:
            raise InvalidRequest(
                f'{self.max_age_s} s is no longest time to keep memories; leave it out for ever'
            )
        for unit, limit in (('memories', self.max_memories), ('bytes', self.max_bytes)):
            if limit is not None and limit <= 0:
                raise InvalidRequest(f'at most {limit} {unit} is no memory; leave it out to keep any number')
        unknown = set(self.keep_sources) - set(SOURCES)
        if unknown:
            raise InvalidRequest(f'{sorted(unknown)[0]!r} is not a source; there are {", ".join(SOURCES)}')


@dataclass(frozen=True, slots=True)
class RetentionPlan:
    """What has to go.

    :param ids: in the order in which they go
    :param too_old: how many of them, the first ones, are too old
    :param problem: why less goes than the policy asks for, and what to do; empty: nothing is held back
    """

    ids: list[str]
    too_old: int = 0
    problem: str = ''


class _Tells(IntEnum):
    """How much a memory tells that no later one does; what tells least goes first."""

    REPEATED_SOON = 1
    REPEATED = 2
    SAME_VIEW = 3
    SAME_PLACE = 4
    ALONE = 5


@dataclass(slots=True)
class _Candidate:
    """What is held of a memory meanwhile: captions of a hundred thousand would take much room."""

    id: str
    start_ns: int
    end_ns: int
    size: int
    place: tuple[object, ...] | None
    direction: int
    words: int
    tells: _Tells = _Tells.ALONE

    @property
    def age_order(self) -> tuple[int, int, str]:
        return (self.end_ns, self.start_ns, self.id)


def estimated_bytes(memory: Memory) -> int:
    """Return about what a memory takes: its texts, 384 numbers per passage, 60 kB per keyframe."""
    text = len(memory.caption) + sum(map(len, memory.scene_text))
    return 500 + 3 * text + 1600 * len(passages(memory)) + 60_000 * len(memory.keyframes)


def plan_retention(memories: Iterable[Memory], policy: RetentionPolicy, now_ns: int) -> RetentionPlan:
    """Return the memories that have to go; the same for the same memories in any order.

    Takes O(n log n) for n memories and holds some hundred bytes of each.

    Clocks of robots jump. A memory from after now is not old, so that a clock that went back costs nothing.
    Where more than MOST_AT_ONCE of the memories would be too old, and there is a hole of more than
    MAX_HOLE_NS after the latest of them, until the next memory or now, nothing goes for its age until
    memories of CONFIRMED_NS after the hole show that time goes on there: a clock that jumped ahead, or
    simulated time in a memory of real time, does not wipe it. What goes for want of room does not depend on
    now.

    :param memories: all of them
    :param now_ns: nanoseconds since the Unix epoch
    """
    kept_count = kept_bytes = 0
    spans: list[tuple[int, int]] = []
    candidates: list[_Candidate] = []
    need_size = policy.max_bytes is not None
    limited = need_size or policy.max_memories is not None
    for memory in memories:
        size = estimated_bytes(memory) if need_size else 0
        spans.append((memory.start_ns, memory.end_ns))
        if memory.source in policy.keep_sources:
            kept_count += 1
            kept_bytes += size
        else:
            candidates.append(_candidate(memory, size, limited))
    old: list[_Candidate] = []
    problem = ''
    if policy.max_age_s is not None:
        horizon_ns = now_ns - round(policy.max_age_s * NS)
        old = sorted((c for c in candidates if c.end_ns < horizon_ns), key=lambda c: c.age_order)
        problem = '' if not old else _suspicion(old, len(candidates), spans, now_ns)
        if problem:
            old = []
    going = {candidate.id for candidate in old}
    rest = [candidate for candidate in candidates if candidate.id not in going]
    count = kept_count + len(rest)
    total = kept_bytes + sum(candidate.size for candidate in rest)
    ids = [candidate.id for candidate in old]
    most = math.inf if policy.max_memories is None else policy.max_memories
    largest = math.inf if policy.max_bytes is None else policy.max_bytes
    if count > most or total > largest:
        for candidate in _least_telling_first(rest):
            if count <= most and total <= largest:
                break
            ids.append(candidate.id)
            count -= 1
            total -= candidate.size
        if (count > most or total > largest) and not problem:
            problem = (
                f'the {count} memories from {", ".join(policy.keep_sources)} are kept for ever, and they are '
                'more than there is room for; forget some, or allow more'
            )
    return RetentionPlan(ids, len(old), problem)


def _suspicion(
    old: Sequence[_Candidate], candidates: int, spans: Iterable[tuple[int, int]], now_ns: int
) -> str:
    """Return why the clock is not believed; empty: it is."""
    if len(old) <= MOST_AT_ONCE * candidates:
        return ''
    last_ns = old[-1].end_ns
    end_ns, hole_ns, since_ns = last_ns, 0, last_ns  # since the last long hole
    for start, end in sorted(span for span in spans if span[1] > last_ns):
        if start - end_ns > MAX_HOLE_NS:
            hole_ns, since_ns = start - end_ns, start
        end_ns = max(end_ns, end)
    if now_ns - end_ns > MAX_HOLE_NS:
        hole_ns, since_ns = now_ns - end_ns, end_ns
    if not hole_ns or end_ns - since_ns >= CONFIRMED_NS:
        return ''
    return (
        f'{len(old)} of {candidates} memories would be too old at once, and there are none for '
        f'{format_duration(hole_ns / NS)}: did the clock jump, or does simulated time meet real time? '
        'Nothing is forgotten for its age until the robot has remembered for a day'
    )


def _candidate(memory: Memory, size: int, compare: bool) -> _Candidate:
    place: tuple[object, ...] | None = None
    direction = 0
    if memory.pose is not None and memory.source != OBJECT:  # of two mugs none repeats the other
        cells = (math.floor(value / CELL_M) for value in memory.pose.position)
        place = (memory.robot, memory.map_id, memory.frame_id, memory.source, *cells)
        direction = round(memory.pose.yaw / (math.pi / 2)) % 4
    words = 0
    for text in (memory.caption, *memory.scene_text) if compare else ():
        for word in _WORD.findall(text.lower()):
            words |= _bit(word)
    return _Candidate(memory.id, memory.start_ns, memory.end_ns, size, place, direction, words)


@lru_cache(maxsize=2**14)
def _bit(word: str) -> int:
    # Not hash(): it differs from process to process.
    return 1 << (zlib.crc32(word.encode('utf-8', 'replace')) % _BITS)


def _least_telling_first(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    by_place: defaultdict[tuple[object, ...], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.place is not None:
            by_place[candidate.place].append(candidate)
    for of_place in by_place.values():
        of_place.sort(key=lambda c: c.age_order, reverse=True)
        later: dict[int, _Candidate] = {}  # by direction, the one that comes next in time
        for candidate in of_place:
            following = later.get(candidate.direction)
            if following is not None:
                candidate.tells = _compared(candidate, following)
            elif later:
                candidate.tells = _Tells.SAME_PLACE
            later[candidate.direction] = candidate
    return sorted(candidates, key=lambda c: (c.tells, c.age_order))


def _compared(candidate: _Candidate, following: _Candidate) -> _Tells:
    common = (candidate.words & following.words).bit_count()
    every = (candidate.words | following.words).bit_count()
    if every and common < ALIKE * every:
        return _Tells.SAME_VIEW
    return _Tells.REPEATED_SOON if following.start_ns - candidate.end_ns <= SOON_NS else _Tells.REPEATED
