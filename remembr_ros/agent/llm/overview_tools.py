"""Tools that go over all memories: what shows something, by stays, and how the robot moved."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from remembr_ros.agent.llm.arguments import Narrowed
from remembr_ros.agent.llm.call_context import CallContext, Job
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.llm.recall_tools import Recalled, introduce
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.confidence import how_well
from remembr_ros.agent.model.quoting import neutral, quoted
from remembr_ros.agent.model.same_place import span
from remembr_ros.agent.overview.listing import listing, naming, spelling
from remembr_ros.geometry import Pose
from remembr_ros.memory.matching.terms import content_stems, words
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.motion.journey import around, journey, turned
from remembr_ros.memory.motion.motion import Motion, Stretch, legs, stops, turns
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.places.visits import times_said, visits
from remembr_ros.memory.recall import Recall, every
from remembr_ros.timestamps import NS, format_clock, format_duration

PER_PAGE = 15  # Lines: some 300 tokens
PLACES = 5  # that are told, as are spellings
MEANT = 3  # memories by meaning: each may take a caption
EDGE_NS = 60 * NS  # Neighbours tell how a robot moved at the edges of a time
SURE = 0.8  # What code lists of poses, and of all memories with the words, is there
FITTING = ('surely', 'likely')  # Where no memory has the words, those of which the recall says so


class ListAll(Narrowed):
    """All that show it, by stays: how many, how often, since when, where most."""

    query: str = Field(min_length=1, max_length=2_000)
    page: int = Field(1, ge=1, le=10_000)


class HowMoved(Narrowed):
    """Stops, turns, legs, speeds of the robot."""

    page: int = Field(1, ge=1, le=10_000)


class TimeInPlaces(Narrowed):
    """Named places: how long, how often, when the robot was there."""


@dataclass(frozen=True, slots=True)
class ToldLine:
    """A line for a model.

    :param hits: what it is told of, to be cited by label
    :param seconds: how long that was, if it is known better than from the memories [s]
    """

    text: str
    hits: Sequence[Hit] = ()
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """Lines, the first of them a summary, and how many memories were looked at.

    :param by_meaning: what may show what was asked for in other words
    :param about: what was asked for, where nothing has its words; then nobody is sure
    """

    lines: Sequence[ToldLine]
    looked_at: int
    by_meaning: Sequence[Hit] = ()
    about: str = ''


def list_all(call: ListAll, context: CallContext) -> Job:
    """List all memories that show something."""
    question, recall = context.question, context.recall
    return _over_all(call, context, lambda scope: _list_all(call.query, call.page, question, recall, scope))


def how_moved(call: HowMoved, context: CallContext) -> Job:
    """List the stops, turns and legs of the robots."""
    question, recall = context.question, context.recall
    return _over_all(call, context, lambda scope: _how_moved(call.page, question, recall, scope))


def time_in_places(call: TimeInPlaces, context: CallContext) -> Job:
    """List when robots were in named places."""
    named = context.named(call.near)
    question, recall = context.question, context.recall
    free = call.model_copy(update={'near': None}) if named else call
    return _over_all(free, context, lambda scope: _in_places(named, question, recall, scope))


def _over_all(call: Narrowed, context: CallContext, look: Callable[[Scope], Overview]) -> Job:
    scope = context.scope(call)
    narrowed = scope.is_narrow
    context.recalls += 1

    def job() -> Callable[[], str]:
        found = look(scope)

        def tell() -> str:
            context.searched.append((narrowed, found.looked_at))
            shown = [_shown(line, context.evidence) for line in found.lines]
            if found.by_meaning:
                recalled = Recalled(found.by_meaning[:MEANT], found.looked_at, found.about)
                shown.append(introduce(recalled, context))
            if not found.about:
                context.sure = max(context.sure, SURE)
            return '\n'.join(shown)

        return tell

    return job


def _shown(line: ToldLine, evidence: Evidence) -> str:
    """Return a line as a model is shown it, under the labels of its memories."""
    labels = [label for label, *_ in evidence.add(line.hits)]
    text = evidence.tell(line.text)
    if labels and line.seconds is not None:
        evidence.lasted[labels[0], labels[-1]] = line.seconds
    return f'[{", ".join(labels)}] {text}' if labels else text


def _list_all(query: str, page: int, question: Question, recall: Recall, scope: Scope) -> Overview:
    """Return all memories that show something, by stays.

    :param page: from 1 on
    """
    memories, whole = every(recall, scope)
    hits, by = naming(memories, query), 'have these words'
    named = {hit.memory.id for hit in hits}
    found = recall.find(Query(query, scope=scope, limit=100)) if memories else []
    others = [hit for hit in found if hit.memory.id not in named]
    likely = [hit for hit in others if how_well(hit.score, recall.embedder_name) in FITTING]
    if not hits:
        hits, by = likely, 'may show it, none has all the words'
    listed = listing(hits, question.same_place, recall, whole=whole)
    of = f'{len(memories)}{"" if whole else " or more"} memories'
    if not hits:
        head = f'none of {of} has these words; by meaning:' if others else f'none of {of} shows it'
        return Overview([ToldLine(head)], len(memories), others, query)
    head = f'{len(hits)} of {of} {by}: {len(listed.stays)} stays at {len(listed.places)} places'
    places = {hit.memory.id: number for number, place in enumerate(listed.places, 1) for hit in place}
    said = {hit.memory.id: spelling(hit.memory, query) for hit in hits} if named else {}
    ways = Counter(said.values())
    if len(ways) > 1 or any(len(words(way)) > len(content_stems(query)) for way in ways):
        # A bus stop sign has the words of a stop sign: whoever asks tells which is meant.
        head += f', as {", ".join(f"{quoted(way)} ({n})" for way, n in ways.most_common(PLACES))}'
    else:
        said = {}
    lines = []
    for stay in listed.stays:
        start_ns, end_ns = span(stay)
        pose = stay[0].memory.pose
        text = (
            f'{_clock(start_ns, question)} to {_clock(end_ns, question)} at place {places[stay[0].memory.id]}'
        )
        way = said.get(stay[0].memory.id)
        lines.append(ToldLine(f'{text} {_at(pose)}{f": {quoted(way)}" if way else ""}', (stay[0],)))
    most = sorted(listed.places, key=len, reverse=True)[:PLACES]
    often = [f'place {places[place[0].memory.id]}: {len(place)} memories' for place in most]
    lines = [ToldLine(f'{head}; {", ".join(often)}'), *_page(lines, page)]
    if by_meaning := (likely if named else hits):
        lines.append(ToldLine('by meaning:'))
    return Overview(lines, len(memories), by_meaning, '' if named else query)


def _in_places(named: NamedPlace | None, question: Question, recall: Recall, scope: Scope) -> Overview:
    memories, whole = every(recall, scope)
    asked = question.places.all if named is None else (named,)
    made = visits(memories, question.places if named is None else question.places.without_parts_of(asked))
    parts = (one.within(scope.after_ns, scope.before_ns) for one in made if one.place in asked)
    found = [one for one in parts if one is not None]
    lines = [ToldLine(f'{"" if whole else "of the latest memories: "}{len(found)} visits')]
    for place in asked:
        mine = [one for one in found if one.place.memory.id == place.memory.id]
        told = mine[-PER_PAGE:] if len(asked) == 1 else []
        if not mine:
            lines.append(ToldLine(f'{neutral(place.said)}: not visited', [Hit(place.memory, SURE)]))
            continue
        seconds = sum(one.spent_ns for one in mine) / NS
        text = f'{neutral(place.said)}: {times_said(mine)}, {format_duration(seconds)} in all'
        ends = Hit(mine[0].memories[0], SURE), Hit(mine[-1].memories[-1], SURE)
        lines.append(ToldLine(text, ends, seconds))
        for one in told:
            start, end = (format_clock(ns, question.zone) for ns in (one.start_ns, one.end_ns))
            hits = Hit(one.memories[0], SURE), Hit(one.memories[-1], SURE)
            lines.append(ToldLine(f'{start} to {end}', hits, (one.end_ns - one.start_ns) / NS))
    return Overview(lines, len(memories))


def _how_moved(page: int, question: Question, recall: Recall, scope: Scope) -> Overview:
    """Return the stops, turns and legs of the robots in a scope.

    :param page: from 1 on
    """
    memories, whole = around(recall, replace(scope, near=None, radius_m=None), EDGE_NS)
    way = journey(memories, scope.after_ns, scope.before_ns)
    events = way.inside([*stops(way.stretches), *turns(way.stretches), *legs(way.stretches)])
    if scope.near is not None:
        events = [
            one
            for one in events
            if any(scope.reaches(pose.position) for pose in (one.start, one.end) if pose)
        ]
    events.sort(key=lambda one: (one.start_ns, -one.end_ns))
    if not events:
        return Overview([ToldLine('nothing is known of the way then and there')], len(memories))
    stood = [one for one in events if one.motion is Motion.STANDING]
    left, right = (sum(one.motion is side for one in events) for side in (Motion.LEFT, Motion.RIGHT))
    head = f'{len(stood)} stops, {left} turns to the left, {right} to the right'
    if scope.near is None:
        head = f'{way.driven_m:.1f} m driven, {way.moving_speed:.2f} m/s when moving, {head}'
    robots = {one.memories[0].robot for one in events}
    if len(robots) > 1:
        head = f'{len(robots)} robots; `robot` narrows to one'
    head += '' if whole else '; only the latest of that time'
    lines = [_moved(one, question, with_robot=len(robots) > 1) for one in events]
    return Overview([ToldLine(head), *_page(lines, page)], len(memories))


def _moved(one: Stretch, question: Question, *, with_robot: bool) -> ToldLine:
    hits = tuple(Hit(memory, 1.0) for memory in _ends(one.memories))
    who = f'robot {quoted(one.memories[0].robot[:60])} ' if with_robot else ''
    start = f'{who}{_clock(one.start_ns, question)}'
    if one.motion is Motion.STANDING:
        facing = f' facing yaw {math.degrees(one.start.yaw):.0f}' if one.start else ''
        return ToldLine(f'{start} stood {one.seconds:.0f} s at {_at(one.start)}{facing}', hits, one.seconds)
    if one.motion is Motion.DRIVING:
        text = f'{start} to {_clock(one.end_ns, question)} drove {one.driven_m:.1f} m at {one.speed:.2f} m/s'
        return ToldLine(f'{text} from {_at(one.start)} to {_at(one.end)}', hits, one.seconds)
    return ToldLine(f'{start} turned {turned(one)} at {_at(one.start)}', hits)


def _ends(memories: Sequence[Memory]) -> Sequence[Memory]:
    return memories if len(memories) < 2 else (memories[0], memories[-1])


def _page(lines: Sequence[ToldLine], page: int) -> list[ToldLine]:
    """Return the lines of a page; the last says which it is, if there are others."""
    pages = -(-len(lines) // PER_PAGE)
    page = min(page, pages)
    shown = list(lines[(page - 1) * PER_PAGE : page * PER_PAGE])
    return shown if pages < 2 else [*shown, ToldLine(f'page {page} of {pages} (`page`)')]


def _clock(time_ns: int, question: Question) -> str:
    """Return a time; of another day with its date."""
    date, clock, _ = format_clock(time_ns, question.zone).split(' ', 2)
    today = format_clock(question.now_ns, question.zone)[: len(date)]
    return clock if date == today else f'{date} {clock}'


def _at(pose: Pose | None) -> str:
    return f'({pose.x:.1f}, {pose.y:.1f})' if pose else '(place unknown)'
