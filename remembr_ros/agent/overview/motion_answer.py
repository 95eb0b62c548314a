"""Answers about motion, every number measured from memories that are cited."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.grounding import Choice, Claim, yes_or_no
from remembr_ros.agent.model.same_place import span
from remembr_ros.geometry import distance
from remembr_ros.memory.matching.ranking import split_sentences
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.motion.journey import AROUND_RAD, Journey, heading, turned
from remembr_ros.memory.motion.motion import Motion, Stretch, legs, stops, turns
from remembr_ros.timestamps import NS

AROUND_NS = 600 * NS  # Who came back to a place later than this was there another time
AT_NS = 3 * NS  # A stop or a turn this near in time to where an anchor was seen was at it,
AT_M = 3.0  # or this near in place: what is passed goes out of sight
_NO_STOP = 'I did not stop there and then.'
SIDES = {Motion.LEFT: 'left', Motion.RIGHT: 'right'}


class Moved(str, Enum):
    """What a question about the motion asks for."""

    TURN = 'turn'
    STOP = 'stop'
    GOING = 'going'
    HEADING = 'heading'
    SPEED = 'speed'
    DISTANCE = 'distance'
    SIDE = 'side'


@dataclass(frozen=True, slots=True)
class MotionQuestion:
    """What is asked of a journey.

    :param side: the one that is asked about
    :param around: a turn back to where it came from
    :param counting: how many there were
    :param choice: which one, if there are several
    :param longest: the longest of them, the fastest
    :param least_s: only what lasted so long [s]
    :param total: all of them together
    :param at_ns: the moment that is asked about
    :param anchors: memories that show what was named to say where or when
    :param at_anchor: there and then, not after, before or between them
    """

    what: Moved
    kind: Kind
    side: Motion | None = None
    around: bool = False
    counting: bool = False
    choice: Choice = Choice.CITED_FIRST
    longest: bool = False
    least_s: float = 0.0
    total: bool = False
    at_ns: int | None = None
    anchors: Sequence[Hit] = ()
    at_anchor: bool = False


def motion_answer(asked: MotionQuestion, way: Journey) -> Claim:
    """Return what a journey tells of a question."""
    if asked.kind is Kind.BINARY and asked.at_ns is not None and asked.what in (Moved.STOP, Moved.GOING):
        return _doing(asked, way, asked.at_ns)
    return _ANSWERS[asked.what](asked, way)


def _among(asked: MotionQuestion, way: Journey, stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return those that are asked about, the one that is meant first."""
    if asked.at_anchor:
        at = [stretch for stretch in stretches if _is_at(stretch, asked.anchors)]
        return sorted(at, key=lambda stretch: min(_apart_ns(stretch, hit.memory) for hit in asked.anchors))
    found = way.inside(stretches)
    if asked.longest:
        return sorted(found, key=lambda stretch: -stretch.seconds)
    return found if asked.choice is Choice.EARLIEST else found[::-1]


def _is_at(stretch: Stretch, anchors: Sequence[Hit]) -> bool:
    for hit in anchors:
        pose, apart_ns = hit.memory.pose, _apart_ns(stretch, hit.memory)
        known = pose is not None and hit.memory.map_id == stretch.memories[0].map_id
        near = known and pose and stretch.start and distance(pose.position, stretch.start.position) <= AT_M
        if apart_ns <= AT_NS or (near and apart_ns <= AROUND_NS):
            return True
    return False


def _turn(asked: MotionQuestion, way: Journey) -> Claim:
    every_turn = turns(way.stretches)
    if asked.around:
        every_turn = [turn for turn in every_turn if abs(turn.turned_rad) >= AROUND_RAD]
    of_side = [turn for turn in every_turn if asked.side in (None, turn.motion)]
    named = 'around' if asked.around else SIDES[asked.side] if asked.side else ''
    if asked.kind is Kind.BINARY:
        # Where an anchor says which turn is meant, its side is asked.
        meant = _among(asked, way, every_turn if asked.anchors else of_side)
        is_so = bool(meant) and asked.side in (None, meant[0].motion)
        text = f'I turned {turned(meant[0])}' if meant else f'I did not turn {named}'.rstrip()
        return yes_or_no(is_so, f'{text}.', _hits(meant[0]) if meant else _some(asked, way))
    found = _among(asked, way, of_side)
    if asked.counting:
        return _count(f'turned {named}'.rstrip(), found, asked, way)
    if not found:
        return Claim(Kind.NOT_SEEN, f'I did not turn {named}'.rstrip() + ' there and then.')
    return _told(found[0], asked.kind, f'I turned {turned(found[0])}')


def _stop(asked: MotionQuestion, way: Journey) -> Claim:
    found = _among(
        asked, way, [stretch for stretch in stops(way.stretches) if stretch.seconds >= asked.least_s]
    )
    if asked.counting:
        return _count('stopped', found, asked, way)
    if asked.kind is Kind.BINARY:
        text = f'I stood for {found[0].seconds:.0f} s.' if found else _NO_STOP
        return yes_or_no(bool(found), text, _hits(found[0]) if found else _some(asked, way))
    if not found:
        return Claim(Kind.NOT_SEEN, _NO_STOP)
    if asked.kind is Kind.DURATION:
        return _lasted(found, 'I stood, all in all,') if asked.total else _lasted(found[:1], 'I stood')
    return _told(found[0], asked.kind, 'I stopped')


def _going(asked: MotionQuestion, way: Journey) -> Claim:
    found = _among(asked, way, legs(way.stretches))
    if asked.kind is Kind.BINARY:
        text = 'I drove.' if found else 'I stood all the time.'
        return yes_or_no(bool(found), text, _hits(found[0]) if found else _some(asked, way))
    if not found:
        return Claim(Kind.NOT_SEEN, 'I did not move then.')
    if asked.kind is Kind.DURATION:
        return _lasted(found, 'I drove')
    return Claim(asked.kind, 'I set off', _hits(found[0])[:1], choice=Choice.EARLIEST)


def _heading(asked: MotionQuestion, way: Journey) -> Claim:
    stood = _among(asked, way, stops(way.stretches)) if asked.at_anchor else []
    at_ns = asked.at_ns
    if at_ns is None and asked.anchors:
        from_ns, to_ns = (stood[0].start_ns, stood[0].end_ns) if stood else span(asked.anchors)
        at_ns = (from_ns + to_ns) // 2 if asked.at_anchor else way.after_ns or from_ns
    elif at_ns is None:
        at_ns = max((memory.end_ns for memory in way.memories), default=0)
    seen = way.seen_at(at_ns)
    if seen is None:
        return _unknown()
    track, nearest = seen
    memory = track.memories[nearest]
    text = f'I was facing {heading(track.pose_at(at_ns), memory.frame_id)}.'
    return Claim(Kind.TEXT, text, [Hit(memory, 1.0)])


def _speed(asked: MotionQuestion, way: Journey) -> Claim:
    if asked.at_ns is not None:
        seen = way.seen_at(asked.at_ns)
        if seen is None:
            return _unknown()
        track, nearest = seen
        text = f'I drove at {track.speed(nearest):.2f} m/s.'
        return Claim(Kind.TEXT, text, [Hit(track.memories[nearest], 1.0)])
    speeds = [speed for track in way.tracks for speed in way.speeds(track)]
    if not way.seconds or not speeds:
        return _unknown()
    fastest = f'{max(speeds):.2f} m/s at the fastest'
    average = f'{way.driven_m / way.seconds:.2f} m/s on average, {way.moving_speed:.2f} m/s without the stops'
    return Claim(Kind.TEXT, f'I drove at {fastest if asked.longest else average}.', _some(asked, way))


def _distance(asked: MotionQuestion, way: Journey) -> Claim:
    return Claim(Kind.TEXT, f'I drove {way.driven_m:.1f} m.', _some(asked, way))


def _beside(asked: MotionQuestion, way: Journey) -> Claim:
    side = SIDES[asked.side] if asked.side else 'left|right'
    memories = [hit.memory for hit in asked.anchors] or way.memories[-3:]
    if asked.at_ns is not None and not asked.anchors:
        seen = way.seen_at(asked.at_ns)
        memories = [seen[0].memories[seen[1]]] if seen else []
    for memory in memories:
        sentences = split_sentences(memory.caption)
        beside = [sentence for sentence in sentences if re.search(rf'\b({side})\b', sentence, re.IGNORECASE)]
        if beside:
            return Claim(Kind.TEXT, ' '.join(beside[:3]), [Hit(memory, 1.0)])
    return Claim(Kind.NOT_SEEN, f'No memory says what was on my {side} then.')


_ANSWERS: dict[Moved, Callable[[MotionQuestion, Journey], Claim]] = {
    Moved.TURN: _turn,
    Moved.STOP: _stop,
    Moved.GOING: _going,
    Moved.HEADING: _heading,
    Moved.SPEED: _speed,
    Moved.DISTANCE: _distance,
    Moved.SIDE: _beside,
}


def _doing(asked: MotionQuestion, way: Journey, at_ns: int) -> Claim:
    """Say whether the robot stood, or drove, at a moment."""
    stretch = way.at(at_ns)
    if stretch is None:
        return _unknown()
    is_so = (stretch.motion is Motion.STANDING) == (asked.what is Moved.STOP)
    return yes_or_no(is_so, f'I was {stretch.motion.value}.', _hits(stretch))


def _count(verb: str, found: Sequence[Stretch], asked: MotionQuestion, way: Journey) -> Claim:
    number = {0: '0 times', 1: 'once'}.get(len(found), f'{len(found)} times')
    ordered = sorted(found, key=lambda stretch: stretch.start_ns)
    return Claim(
        Kind.TEXT, f'I {verb} {number}.', [_hits(stretch)[0] for stretch in ordered] or _some(asked, way)
    )


def _told(stretch: Stretch, kind: Kind, text: str) -> Claim:
    """Return what an answer of a kind tells of a stop or a turn."""
    if kind is Kind.DURATION:
        return _lasted([stretch], text)
    # A stop is told from its beginning.
    begins = stretch.motion is Motion.STANDING and kind is Kind.TIME
    choice = Choice.EARLIEST if begins else Choice.CITED_FIRST
    return Claim(kind, f'{text}.' if kind is Kind.TEXT else text, _hits(stretch), choice=choice)


def _lasted(stretches: Sequence[Stretch], text: str) -> Claim:
    hits = [
        hit for stretch in sorted(stretches, key=lambda stretch: stretch.start_ns) for hit in _hits(stretch)
    ]
    seconds = sum(stretch.seconds for stretch in stretches)
    last = max(hits, key=lambda hit: hit.memory.end_ns)
    return Claim(Kind.DURATION, text, hits, start=hits[0], end=last, duration_s=seconds)


def _hits(stretch: Stretch) -> list[Hit]:
    """Return the memories of a stretch, that of its middle first."""
    twice_ns = stretch.start_ns + stretch.end_ns
    ordered = sorted(stretch.memories, key=lambda memory: abs(memory.start_ns + memory.end_ns - twice_ns))
    return [Hit(memory, 1.0) for memory in ordered]


def _some(asked: MotionQuestion, way: Journey) -> list[Hit]:
    """Return what tells of the time asked about: the anchors, or its first and last memory."""
    memories = way.memories
    ends = dict.fromkeys((*memories[:1], *memories[-1:]))
    return list(asked.anchors) or [Hit(memory, 1.0) for memory in ends]


def _unknown() -> Claim:
    return Claim(Kind.NOT_SEEN, 'I do not know how I moved then: I remember nothing of that moment.')


def _apart_ns(stretch: Stretch, memory: Memory) -> int:
    return max(stretch.start_ns - memory.end_ns, memory.start_ns - stretch.end_ns, 0)
