"""Answers about how the robot moved: stops, turns, heading, speed and path, all told by code.

Anchors such as 'after the bridge' are found as for other questions; how the robot moved there is measured.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, choose
from remembr_ros.agent.model.same_place import span, stay_of
from remembr_ros.agent.offline.motion_request import MotionRequest, Moved, parse_motion
from remembr_ros.agent.offline.relation import RelationKind
from remembr_ros.agent.offline.relevance_model import STAY_MARGIN, as_good_as_best, find_sightings
from remembr_ros.agent.offline.request import Request, parse_request
from remembr_ros.agent.overview.every import every
from remembr_ros.agent.overview.journey import AROUND_RAD, Journey, heading, journey, turned
from remembr_ros.agent.overview.motion import Motion, Stretch, legs, stops, turns
from remembr_ros.geometry import distance
from remembr_ros.memory.matching.sentences import split_sentences
from remembr_ros.memory.model.recall import Hit, Recall, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

AROUND_NS = (
    600 * NS
)  # How the robot moved is read this far around an anchor: it may have been long on its way
EDGE_NS = 60 * NS  # and this far around a time, since neighbours tell of each other
AT_M = 10.0  # A stop or a turn this near to where an anchor was seen from was at it,
AT_NS = 15 * NS  # or this near in time
SURE = 0.9  # What is measured holds; whether the question was understood, the rules do not know


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question about how the robot moved, and what there is to answer it from.

    :param anchors: memories that show what was named to say where or when
    """

    motion: MotionRequest
    request: Request
    way: Journey
    anchors: Sequence[Hit]

    @property
    def kind(self) -> Kind:
        """What the answer consists of; a way that was turned is no place."""
        return Kind.TEXT if self.motion.which else self.request.kind

    def among(self, some: Sequence[Stretch]) -> list[Stretch]:
        """Return those that the question is about, the one that is meant first."""
        if self.motion.relation is RelationKind.WHILE:
            at = [one for one in some if self._is_at_anchor(one)]
            return sorted(at, key=lambda one: min(_apart_ns(one, hit.memory) for hit in self.anchors))
        found = self.way.inside(some)
        first = self.request.choice is Choice.EARLIEST or (
            self.motion.relation is RelationKind.AFTER and self.request.choice is not Choice.LATEST
        )
        found = found if first else found[::-1]
        return sorted(found, key=lambda one: -one.seconds) if self.motion.longest else found

    def _is_at_anchor(self, one: Stretch) -> bool:
        for hit in self.anchors:
            pose, apart_ns = hit.memory.pose, _apart_ns(one, hit.memory)
            here = pose is not None and one.start is not None and hit.memory.map_id == one.memories[0].map_id
            if apart_ns <= AT_NS and not here:
                return True
            if here and apart_ns <= AROUND_NS and distance(pose.position, one.start.position) <= AT_M:  # type: ignore[union-attr]
                return True
        return False


def answer_motion(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return the answer to a question about how the robot moved; None: it is about something else.

    :param scope: the time and the map that the question is about
    """
    motion = parse_motion(request.window.rest)
    if motion is None:
        return None
    if motion.what is Moved.GOING and request.kind not in (Kind.BINARY, Kind.TIME, Kind.DURATION):
        return None
    anchors: list[list[Hit]] = []
    for text in motion.anchors:
        anchors.append(_stay(text, question, recall, scope))
        if not anchors[-1]:
            return Claim(Kind.NOT_SEEN, f'I have not seen {text}: no memory shows it.', confidence=SURE)
    asked = _Asked(
        motion, request, _journey(motion, anchors, recall, scope), [h for stay in anchors for h in stay]
    )
    if not asked.way.tracks:
        return Claim(Kind.NOT_SEEN, 'I do not know how I moved then: no memory tells where I was.')
    claim = _ANSWERS[motion.what](asked)
    return replace(claim, confidence=SURE * max((hit.score for hit in asked.anchors), default=1.0))


def _stay(text: str, question: Question, recall: Recall, scope: Scope) -> list[Hit]:
    """Return the stay in which an anchor was seen, the last unless it is said otherwise."""
    wanted = parse_request(f'Where is {text}?', question.now_ns, question.zone)
    hits = find_sightings(wanted, recall, scope) if wanted.target else []
    if not hits:
        return []
    choice = Choice.LATEST if wanted.choice is Choice.CITED_FIRST else wanted.choice
    return stay_of(choose(as_good_as_best(hits), choice, question), as_good_as_best(hits, STAY_MARGIN))


def _journey(
    motion: MotionRequest, anchors: Sequence[Sequence[Hit]], recall: Recall, scope: Scope
) -> Journey:
    """Return the way in the time that a question is about, which its anchors narrow down."""
    after_ns, before_ns = scope.after_ns, scope.before_ns
    wide_ns = EDGE_NS
    if anchors:
        # An anchor is passed while it is seen for the last time; who turns then, turns after it.
        passed = sorted(max(hit.memory.start_ns for hit in stay) for stay in anchors)
        wide_ns = AROUND_NS
        if motion.relation in (RelationKind.AFTER, RelationKind.BETWEEN):
            after_ns = passed[0]
        if motion.relation in (RelationKind.BEFORE, RelationKind.BETWEEN):
            before_ns = passed[-1]
        if motion.relation is RelationKind.WHILE:
            after_ns, before_ns = span(anchors[0])
    earliest_ns = None if after_ns is None else max(after_ns - wide_ns, 0)
    latest_ns = None if before_ns is None else before_ns + wide_ns
    memories, _ = every(recall, replace(scope, after_ns=earliest_ns, before_ns=latest_ns))
    return journey(memories, after_ns, before_ns)


def _turn(asked: _Asked) -> Claim:
    motion, kind = asked.motion, asked.kind
    every_turn = turns(asked.way.stretches)
    if motion.around:
        every_turn = [turn for turn in every_turn if abs(turn.turned_rad) >= AROUND_RAD]
    of_side = [turn for turn in every_turn if motion.side in (None, turn.motion)]
    named = 'turn around' if motion.around else f'turn {_side(motion.side)}'.strip()
    if kind is Kind.BINARY and not motion.which:
        # Of one turn that is meant, its side is asked
        meant = asked.among(every_turn)[:1] if asked.anchors else asked.among(of_side)
        if meant and motion.side in (None, meant[0].motion):
            return Claim(kind, f'Yes: I turned {turned(meant[0])}.', _hits(meant[0]), binary=True)
        text = f'No: I turned {turned(meant[0])}.' if meant else f'No: I did not {named} then.'
        evidence = _hits(meant[0]) if meant else _some(asked)
        return Claim(kind, text, evidence, binary=False)
    found = asked.among(of_side)
    if asked.request.counting or asked.request.visits:
        return _count(f'{named.replace("turn", "turned")}', found, asked)
    if not found:
        text = f'I did not {named} then.'
        return Claim(Kind.TEXT if kind is not Kind.POSITION else Kind.NOT_SEEN, text, _some(asked))
    return _told(found[0], kind, f'I turned {turned(found[0])}')


# One return per kind of answer.
def _stop(asked: _Asked) -> Claim:  # noqa: PLR0911
    kind, at_ns = asked.kind, asked.request.window.at_ns
    if kind is Kind.BINARY and at_ns is not None and not asked.anchors:
        return _doing(asked, at_ns, standing=True)
    found = asked.among(stops(asked.way.stretches))
    if asked.request.counting or asked.request.visits:
        return _count('stopped', found, asked)
    if kind is Kind.BINARY:
        if found:
            text = f'Yes: I stood for {found[0].seconds:.0f} s.'
            return Claim(kind, text, _hits(found[0]), binary=True)
        return Claim(kind, 'No: I did not stop there and then.', _some(asked), binary=False)
    if not found:
        return Claim(Kind.NOT_SEEN, 'I did not stop there and then.')
    if kind is Kind.DURATION and (asked.motion.total or _is_total(asked)):
        return _lasted(found, 'I stood, all stops together')
    return _told(found[0], kind, 'I stood' if kind is Kind.DURATION else 'I stopped')


def _going(asked: _Asked) -> Claim:
    kind, at_ns = asked.kind, asked.request.window.at_ns
    if kind is Kind.BINARY and at_ns is not None:
        return _doing(asked, at_ns, standing=False)
    found = asked.among(legs(asked.way.stretches))
    if kind is Kind.BINARY:
        text = 'Yes: I drove.' if found else 'No: I stood all the time.'
        return Claim(kind, text, _hits(found[0]) if found else _some(asked), binary=bool(found))
    if not found:
        return Claim(Kind.NOT_SEEN, 'I did not move then.')
    if kind is Kind.DURATION:
        return _lasted(found, 'I drove')
    return Claim(kind, 'I set off', _hits(found[0])[:1], choice=Choice.EARLIEST)


def _heading(asked: _Asked) -> Claim:
    at_ns = asked.request.window.at_ns
    way = asked.way
    stood = asked.among(stops(way.stretches)) if asked.anchors else []
    if at_ns is None and stood:
        at_ns = (stood[0].start_ns + stood[0].end_ns) // 2
    elif at_ns is None and asked.anchors:
        at_ns = sum(span(asked.anchors)) // 2 if way.before_ns else way.after_ns
    elif at_ns is None:
        at_ns = way.memories[-1].end_ns if way.memories else 0
    seen = way.seen_at(at_ns or 0)
    if seen is None:
        return _unknown()
    track, nearest = seen
    memory = track.memories[nearest]
    text = f'I was facing {heading(track.pose_at(at_ns or 0), memory.frame_id)}.'
    return Claim(Kind.TEXT, text, [Hit(memory, 1.0)])


def _speed(asked: _Asked) -> Claim:
    at_ns, way = asked.request.window.at_ns, asked.way
    if at_ns is not None:
        seen = way.seen_at(at_ns)
        if seen is None:
            return _unknown()
        track, nearest = seen
        return Claim(
            Kind.TEXT, f'I drove at {track.speed(nearest):.2f} m/s.', [Hit(track.memories[nearest], 1.0)]
        )
    moving = sum(leg.seconds for leg in way.inside(legs(way.stretches)))
    if not way.seconds:
        return _unknown()
    text = f'I drove at {way.driven_m / way.seconds:.2f} m/s on average'
    if moving and not asked.anchors:
        fastest = max(track.speed(i) for track in way.tracks for i in range(len(track.memories)))
        text += f', {way.driven_m / moving:.2f} m/s without the stops, {fastest:.2f} m/s at the fastest'
    return Claim(Kind.TEXT, f'{text}.', _some(asked))


def _distance(asked: _Asked) -> Claim:
    return Claim(Kind.TEXT, f'I drove {asked.way.driven_m:.1f} m.', _some(asked))


def _beside(asked: _Asked) -> Claim:
    side = _side(asked.motion.side)
    memories = [hit.memory for hit in asked.anchors] or asked.way.memories[-3:]
    if (at_ns := asked.request.window.at_ns) is not None and not asked.anchors:
        seen = asked.way.seen_at(at_ns)
        memories = [seen[0].memories[seen[1]]] if seen else []
    for memory in memories:
        sentences = split_sentences(memory.caption)
        said = [one for one in sentences if re.search(rf'\b{side}\b', one, re.IGNORECASE)]
        if said:
            return Claim(Kind.TEXT, ' '.join(said[:3]), [Hit(memory, 1.0)])
    return Claim(Kind.NOT_SEEN, f'No memory says what was on my {side} then.')


_ANSWERS = {
    Moved.TURN: _turn,
    Moved.STOP: _stop,
    Moved.GOING: _going,
    Moved.HEADING: _heading,
    Moved.SPEED: _speed,
    Moved.DISTANCE: _distance,
    Moved.SIDE: _beside,
}


def _doing(asked: _Asked, at_ns: int, *, standing: bool) -> Claim:
    """Say whether the robot stood, or drove, at a moment."""
    stretch = asked.way.at(at_ns)
    if stretch is None:
        return _unknown()
    stood = stretch.motion is Motion.STANDING
    text = f'{"Yes" if stood == standing else "No"}: I was {stretch.motion.value}.'
    return Claim(Kind.BINARY, text, _hits(stretch), binary=stood == standing)


def _count(what: str, found: Sequence[Stretch], asked: _Asked) -> Claim:
    if not found:
        return Claim(Kind.TEXT, f'I {what} 0 times then.', _some(asked))
    number = 'once' if len(found) == 1 else f'{len(found)} times'
    ordered = sorted(found, key=lambda one: one.start_ns)
    return Claim(Kind.TEXT, f'I {what} {number}.', [_hits(one)[0] for one in ordered])


def _told(one: Stretch, kind: Kind, text: str) -> Claim:
    """Return what an answer of a kind tells of a stop or a turn."""
    hits = _hits(one)
    if kind is Kind.DURATION:
        return _lasted([one], text)
    if kind is Kind.TEXT:
        return Claim(kind, f'{text}.', hits)
    # A stop begins in its first memory, a turn is in the middle of its own.
    choice = Choice.EARLIEST if one.motion is Motion.STANDING and kind is Kind.TIME else Choice.CITED_FIRST
    return Claim(kind, text, hits, choice=choice)


def _lasted(some: Sequence[Stretch], text: str) -> Claim:
    ordered = sorted(some, key=lambda one: one.start_ns)
    first, last = _hits(ordered[0])[0], _hits(ordered[-1])[-1]
    seconds = sum(one.seconds for one in some)
    evidence = [hit for one in ordered for hit in _hits(one)]
    return Claim(Kind.DURATION, text, evidence, start=first, end=last, duration_s=seconds)


def _is_total(asked: _Asked) -> bool:
    chosen = asked.request.choice is not Choice.CITED_FIRST or asked.motion.longest
    return not asked.anchors and not chosen and asked.way.after_ns is not None


def _hits(one: Stretch) -> list[Hit]:
    return [Hit(memory, 1.0) for memory in one.memories]


def _some(asked: _Asked) -> list[Hit]:
    """Return the first and the last memory of the time: between them it was looked."""
    memories = asked.way.memories
    return list(asked.anchors) or [
        Hit(memory, 1.0) for memory in dict.fromkeys((*memories[:1], *memories[-1:]))
    ]


def _side(side: Motion | None) -> str:
    return {Motion.LEFT: 'left', Motion.RIGHT: 'right'}.get(side, '') if side else ''


def _unknown() -> Claim:
    return Claim(Kind.NOT_SEEN, 'I do not know how I moved then: I remember nothing of that moment.')


def _apart_ns(one: Stretch, memory: Memory) -> int:
    return max(one.start_ns - memory.end_ns, memory.start_ns - one.end_ns, 0)
