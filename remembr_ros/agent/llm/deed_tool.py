"""The tool for what took place: deeds, stays in places, how the robot moved; in order, by time and number."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from remembr_ros.agent.llm.arguments import Narrowed, arguments_of
from remembr_ros.agent.llm.call_context import CallContext, Job
from remembr_ros.agent.llm.overview_tools import SURE, ToldLine, clock, paged, shown
from remembr_ros.agent.model.quoting import neutral, quoted
from remembr_ros.agent.times.time_window import parse_window
from remembr_ros.errors import InvalidRequest, Ungrounded
from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.memory.deeds.choice import choose_deeds
from remembr_ros.memory.deeds.names import DeedNames
from remembr_ros.memory.deeds.occurrences import OccurrenceSource
from remembr_ros.memory.deeds.query import MOVES, STAY, DeedOrder, DeedQuery, FoundDeeds, Occurrence
from remembr_ros.memory.deeds.summary import kinds_said, spent_said
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.places.place import said_name
from remembr_ros.timestamps import format_duration, local

DAYS = 31  # whose numbers a model is told
KINDS = 30  # the same
WhatHappened = arguments_of(
    DeedsForm,
    'WhatHappened',
    'What the robot did: how many, how long, how far. kind: a verb, or sight, stay, handling, moving, '
    'standing, turning left/right, driving. after, before: a time, label or deed; right: the very next.',
    *(
        'kind',
        'object',
        'receptacle',
        'outcome',
        'after',
        'before',
        'during',
        'right',
        'order',
        'nth',
        'never',
    ),
    page=(int, Field(1, ge=1, le=10_000)),
)


def happened(call: Any, context: CallContext) -> Job:
    """List what took place, and sum it up."""
    sides: dict[str, str] = {}
    for name in ('after', 'before', 'during'):
        if (text := getattr(call, name)) and (name == 'during' or not _is_time(text, context)):
            sides[name] = text
    free = call.model_copy(update=dict.fromkeys(sides))
    place = _place(call, context)
    narrowed = free.model_copy(update={'near': None}) if place else free
    scope, here = context.scope(narrowed), context.question.here
    order = call.order if here or not call.order.from_here else DeedOrder.FIRST
    known = {'right': False, 'during': '', 'place': place, 'order': order}
    form = context.form(DeedsForm, narrowed, **known, position=here.position if here else None)
    context.recalls += 1

    def job() -> Callable[[], str]:
        source = OccurrenceSource(context.recall)
        anchors = {name: _deed(text, source, scope, context) for name, text in sides.items()}
        beside = bool(anchors) and (call.right or call.nth is not None or call.limit is not None)
        query = replace(
            form.query(),
            scope=replace(scope, after_ns=None, before_ns=None) if beside else scope,
            right=call.right and len({'after', 'before'} & sides.keys()) == 1,
            **anchors,  # type: ignore[arg-type]
        )
        found = choose_deeds(query, source)
        if query.names_nothing and not (found.every or query.outcomes or query.never):
            query = replace(query, kind=MOVES[0])  # whoever asks what happened is told that it stood
            found = choose_deeds(query, source)
        looked_at = len(source(DeedQuery(query.kind, call.object, scope=scope)))
        return lambda: _tell(found, call, context, looked_at, whole=source.whole)

    return job


def _place(call: Any, context: CallContext) -> str:
    """Return the name of the place that a call is about, which need not be on the map; empty: none."""
    named = context.named(call.near)
    return named.name if named else context.words(call.near)


def _is_time(text: str, context: CallContext) -> bool:
    try:
        context.scope(Narrowed.model_validate({'after': text}))
    except InvalidRequest:
        return False
    except Ungrounded:
        return True
    return True


def _deed(text: str, source: OccurrenceSource, scope: Scope, context: CallContext) -> DeedQuery:
    """Return the query of another deed's words, which may say when it was."""
    window = parse_window(text, context.question.now_ns, context.question.zone)
    names = DeedNames(source.deeds(Scope(robots=scope.robots, map_id=scope.map_id)))
    query = names.meant(names.read(window.rest))
    if query is None:
        raise InvalidRequest(f'{text[:60]!r} is no time, no label and no deed that is remembered')
    if (window.after_ns, window.before_ns) != (None, None):
        scope = replace(scope, after_ns=window.after_ns, before_ns=window.before_ns)
    return replace(query, scope=scope)


def _tell(found: FoundDeeds, call: Any, context: CallContext, looked_at: int, *, whole: bool) -> str:
    context.searched.append((bool(call.when), looked_at))
    context.sure = max(context.sure, SURE if found.found else 0.0)
    several = len({deed.memory.robot for deed in found.found}) > 1
    lines = [deed_line(deed, context, with_robot=several) for deed in found.found]
    if call.kind == STAY and not call.never:
        lines = _stays(found.found, lines)
    head = _summed_up(found.every if call.nth is None and call.limit is None else found.found, context)
    if not call.kind and found.every and _is_move(found.every[0]):
        head = f'no deeds; {head}'
    head += '' if whole else '; only the latest of that time'
    rows = [ToldLine(head), *(deed_line(deed, context, with_robot=several) for deed in found.anchors[:3])][:4]
    if found.anchors:
        rows.append(ToldLine('and beside these:'))
    return '\n'.join(shown(line, context.evidence) for line in [*rows, *paged(lines, call.page)])


def _stays(deeds: Sequence[Occurrence], lines: Sequence[ToldLine]) -> list[ToldLine]:
    """Return how often and how long it was in each place; of one place, each time, too."""
    of_place: dict[str, list[Occurrence]] = {}
    for deed in deeds:
        of_place.setdefault(deed.where, []).append(deed)
    stay_lines = []
    for place, stays in of_place.items():
        ends = Hit(stays[0].memories[1], SURE), Hit(stays[-1].memories[-1], SURE)
        text = f'{neutral(said_name(place))}: {spent_said(stays)}'
        stay_lines.append(ToldLine(text, ends, sum(stay.seconds for stay in stays)))
    return [*stay_lines, *lines] if len(stay_lines) == 1 else stay_lines


def _summed_up(deeds: Sequence[Occurrence], context: CallContext) -> str:
    if not deeds:
        return 'none'
    parts = [f'{len(deeds)}']
    if len({deed.facts.kind for deed in deeds}) > 1:
        parts.append(neutral(kinds_said(deeds, KINDS)))
    if failed := sum(deed.failed for deed in deeds):
        parts.append(f'{failed} failed')
    ways = [deed for deed in deeds if deed.facts.kind == MOVES[-1]]  # the turns of which are others
    if not ways or len(ways) == len(deeds):
        seconds = sum(deed.seconds for deed in deeds)
        parts.append(f'{format_duration(seconds)} in all, {format_duration(seconds / len(deeds))} on average')
    metres = sum(deed.metres for deed in ways or deeds)
    if metres:
        parts.append(f'{metres:.1f} m')
    days = Counter(local(deed.start_ns, context.question.zone).date().isoformat() for deed in deeds)
    if len(days) > 1:
        parts.append(', '.join(f'{day}: {number}' for day, number in [*days.items()][:DAYS]))
    robots = {deed.memory.robot for deed in deeds}
    return (
        f'{len(robots)} robots; `robot` narrows to one; {"; ".join(parts)}'
        if len(robots) > 1
        else '; '.join(parts)
    )


def deed_line(deed: Occurrence, context: CallContext, *, with_robot: bool) -> ToldLine:
    """Return when something took place, what, and how it ended, if that is known."""
    robot = f'robot {quoted(deed.memory.robot[:60])} ' if with_robot else ''
    start, end = clock(deed.start_ns, context.question), clock(deed.end_ns, context.question)
    lasts = start != end and (not _is_move(deed) or deed.facts.kind == MOVES[-1])
    when = f'{robot}{start} to {end}' if lasts else f'{robot}{start}'
    memories = deed.memories[1:] if deed.facts.kind == STAY else deed.memories
    ends = memories[:1] if len(memories) < 2 else (memories[0], memories[-1])
    text = deed.facts.text if _is_move(deed) else quoted(deed.memory.caption[:300])
    text = neutral(said_name(deed.where)) if deed.facts.kind == STAY else text
    outcome = '' if deed.outcome == 'unknown' else f', {deed.outcome}'
    metres = f', {deed.metres:.1f} m' if deed.metres and not _is_move(deed) else ''
    return ToldLine(f'{when} {text}{outcome}{metres}', [Hit(memory, SURE) for memory in ends], deed.seconds)


def _is_move(deed: Occurrence) -> bool:
    return deed.facts.kind.split(' ')[0] in MOVES
