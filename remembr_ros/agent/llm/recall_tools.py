"""The recall tools: by text, position and time; each shows memories not shown before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pydantic import Field

from remembr_ros.agent.llm.arguments import UNTOLD, Narrowed, Place
from remembr_ros.agent.llm.budgeted_dialogue import BYTES_PER_TOKEN
from remembr_ros.agent.llm.call_context import CallContext, Job
from remembr_ros.agent.llm.near_thing import NO_THING, NearThing, find_thing
from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.model.memory_prompt import describe, excerpt
from remembr_ros.agent.model.relevance_model import POOL, find_outermost, find_sightings, sure_ones
from remembr_ros.agent.model.same_place import GAP_NS, SAME_PLACE_M
from remembr_ros.agent.offline.request import MOST_SEARCHED, searched
from remembr_ros.geometry import distance
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.recall import Hit, Query
from remembr_ros.memory.model.record import AGENT, OBJECT, Memory
from remembr_ros.memory.recall_protocol import every, nearest_in_time
from remembr_ros.timestamps import format_clock, format_iso

ROOM = 1_300  # Characters of the captions that a recall shows, some 325 tokens; `read` shows the rest
WHOLE, SHOWN = 700, 150  # Of one at most, and where the room is taken at least
OVERFETCH = 4  # Times as many memories are recalled, as some say the same
MOST_ROWS = 30  # that a model may ask for: some 2,000 tokens
MOST = 1_000  # Memories that one recall may ask for
MOST_NAMED = 10  # Known memories that a recall names
ALIKE = 0.7  # Share of common words from which neighbours say the same: half of NaVQA's have as many


_OUTERMOST = {
    **dict.fromkeys(('earliest', 'first'), Choice.EARLIEST),
    **dict.fromkeys(('latest', 'last'), Choice.LATEST),
}


class RecallText(Narrowed):
    """Memories by what was seen or read."""

    query: str = Field(min_length=1, max_length=2_000)
    radius: float = Field(10.0, gt=0.0, le=1e6)
    limit: int | None = Field(None, ge=1)
    robot: str | None = Field(None, max_length=200)


class RecallPosition(Narrowed):
    """Memories near a place."""

    position: Place
    near: Place | None = Field(None, json_schema_extra=UNTOLD)


class RecallTime(Narrowed):
    """Memories near a time."""

    time: str = Field(max_length=200)
    when: str | None = Field(None, max_length=200, json_schema_extra=UNTOLD)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a recall found.

    :param total: memories in the time and place asked
    :param about: what was looked for by text
    :param besides: where there are none: those nearest in time
    :param order: of the hits, in words; empty: best first
    :param rows: that the model asked for; 0: as many as the context says
    :param thing: that these are near
    """

    hits: Sequence[Hit]
    total: int
    about: str = ''
    besides: Sequence[Hit] = ()
    order: str = ''
    rows: int = 0
    thing: NearThing = NO_THING


def recall_text(call: RecallText, context: CallContext) -> Job:
    """Recall by text; when "earliest" or "latest", what shows it as surely as the best, in that order."""
    # What names no thing, such as "anything", is of that moment.
    first = _OUTERMOST.get((call.when or '').strip().lower()) if searched(call.query).target else None
    call = call if first is None else call.model_copy(update={'when': None})
    return _recall(Query(call.query), call, context, first)


def recall_question(context: CallContext) -> Job:
    """Recall by the question as it was asked, in the time that it names."""
    asked, text = context.asked, context.question.text[:MOST_SEARCHED]
    limits = {'after': asked.window.after_ns, 'before': asked.window.before_ns}
    within = {name: format_iso(ns) for name, ns in limits.items() if ns is not None}
    first = asked.choice if asked.target and asked.choice in _OUTERMOST.values() else None
    return _recall(Query(text), RecallText.model_validate({'query': text, **within}), context, first)


def recall_position(call: RecallPosition, context: CallContext) -> Job:
    """Recall by place."""
    return _recall(Query(place=context.point(call.position)), call, context)


def recall_time(call: RecallTime, context: CallContext) -> Job:
    """Recall by time."""
    return _recall(Query(time_ns=context.middle(call.time)), call, context)


def _recall(query: Query, call: Narrowed, context: CallContext, first: Choice | None = None) -> Job:
    words = context.words(call.near)
    scope = context.scope(call.model_copy(update={'near': None}) if words else call)
    rows = min(call.limit or context.limit, max(MOST_ROWS, context.limit))
    context.reserve(max(rows - context.limit, 0) * 2 * SHOWN // BYTES_PER_TOKEN)
    # More than once as many as are shown: another call of the round may find the same, and neighbours say it.
    most = MOST if words else min(context.evidence.shown + OVERFETCH * rows, MOST)
    query = replace(query, scope=scope, limit=most)
    context.recalls += 1

    def job() -> Callable[[], str]:
        thing = find_thing(words, call.radius, scope, context)
        total = context.recall.count(scope)
        hits = thing.beside(context.recall.find(query)) if total else []
        if hits and query.text and first is not None:
            hits = _outermost(query, first, thing, context) or hits
        if words:
            total = len(thing.beside([Hit(memory, 0.0) for memory in every(context.recall, scope)[0]]))
        near = () if total else nearest_in_time(context.recall, scope)
        order = '' if first is None else f'{first.value} first'
        found = Recalled(hits, total, query.text or '', near, order, rows, thing)

        def tell() -> str:
            context.searched.append((scope.is_narrow or bool(words), total))
            return introduce(found, context)

        return tell

    return job


def _outermost(query: Query, first: Choice, thing: NearThing, context: CallContext) -> list[Hit]:
    asked, recall = searched(query.text or ''), context.recall
    hits = find_sightings(asked, recall, query.scope, MOST if thing.name else POOL)
    hits = thing.beside(hits) if thing.name else find_outermost(asked, recall, query.scope, hits, first)
    newest = first is Choice.LATEST
    return sorted(sure_ones(hits) if hits else [], key=lambda hit: hit.memory.start_ns, reverse=newest)


def introduce(found: Recalled, context: CallContext) -> str:
    """Return memories for the model to read: new ones get labels, known ones are named."""
    evidence, about, rows = context.evidence, found.about, found.rows or context.limit
    if found.order:  # their scores are probabilities
        context.sure = max(context.sure, *(hit.score for hit in found.hits), 0.0)
    elif about:
        evidence.keep_scores(found.hits)
    labels = {hit.memory.id: _known_as(hit, about, context) for hit in found.hits}
    fresh = _in_other_words([hit for hit in found.hits if not labels[hit.memory.id]], about)[:rows]
    # What fits no better than the last new one is no news.
    until = found.hits.index(fresh[-1][0]) if len(fresh) == rows else len(found.hits)
    known = [hit for hit in found.hits[: max(until, rows)] if labels[hit.memory.id]]
    with_robot = len({hit.memory.robot for hit in found.hits}) > 1
    lines, room = [], ROOM
    for left, same in zip(range(len(fresh))[::-1], fresh, strict=True):
        limit = max(min(WHOLE, room - SHOWN * left), SHOWN)
        lines.append(_line(same, found, context, limit, with_robot=with_robot))
        room -= min(limit, len(same[0].memory.caption))
    order = f', {found.order or "best first"}' if about else ''
    head = f'{len(fresh)} of {found.total} memories{order}:'
    if not fresh:
        head = f'nothing {"new" if known else "found"} among {found.total} memories'
    if named := list(dict.fromkeys(labels[hit.memory.id] for hit in known))[:MOST_NAMED]:
        best = ' (which fit best)' if about and known[0] is found.hits[0] else ''
        lines.append(f'shown before: {", ".join(named)}{best}')
    if found.thing.name:
        lines.append(f'{found.thing.name} was seen:')
        lines += [_line([hit], Recalled((hit,), 1), context, SHOWN) for hit in found.thing.seen]
    if found.besides:
        nearest = [_line([hit], Recalled((hit,), 1), context, SHOWN) for hit in found.besides]
        lines += ['the nearest times remembered:', *nearest]
    shown_hits = [*chain.from_iterable(fresh), *known]
    memories = [
        {'label': evidence.shown_as(hit.memory.id), 'id': hit.memory.id, 'score': round(hit.score, 4)}
        for hit in shown_hits
    ]
    context.run.record('hits', {'query': about, 'total': found.total, 'memories': memories})
    return '\n'.join([head, *lines])


def _line(
    same: Sequence[Hit], found: Recalled, context: CallContext, limit: int, *, with_robot: bool = False
) -> str:
    """Return the line of a memory, and when its neighbours said the same.

    :param limit: characters of its caption
    """
    evidence, question, hit = context.evidence, context.question, same[0]
    ((label, *_),) = evidence.add([hit])
    words = []
    if hit.distance_m is not None and (found.thing.name or not found.about):
        words.append(f'{hit.distance_m:.1f} m from {found.thing.name or "there"}')
    if len(same) > 1:
        start_ns = min(other.memory.start_ns for other in same)
        end_ns = max(other.memory.end_ns for other in same)
        first, last = (format_clock(ns, question.zone).split(' ')[1] for ns in (start_ns, end_ns))
        words.append(f'{len(same)} memories from {first} to {last} say the same')
        evidence.join(label, same)
    caption = excerpt(hit.memory.caption, f'{found.about} {question.text}', limit, hit.passages)
    return describe(label, hit, question, caption=caption, limit=SHOWN, with_robot=with_robot, words=words)


def _known_as(hit: Hit, about: str, context: CallContext) -> str:
    """Return the label of a shown memory, or of one that says as much of a query; empty: neither was shown.

    Of a memory that is looked for by time or place another one tells too little.
    """
    evidence, ident = context.evidence, hit.memory.id
    label = evidence.shown_as(ident)
    if label and not evidence.has_label(ident):
        other = evidence.cite(label).memory
        asked = content_stems(about) & content_stems(hit.memory.caption)
        if not about or not asked <= content_stems(other.caption):
            return ''
    return label


def _in_other_words(hits: Sequence[Hit], about: str) -> list[list[Hit]]:
    """Return hits in groups of neighbours that say the same, each with its best hit first."""
    groups: list[list[Hit]] = []
    asked = content_stems(about)
    words = {hit.memory.id: content_stems(hit.memory.caption) for hit in hits}
    for hit in hits:
        own = words[hit.memory.id]
        for group in groups:
            best = words[group[0].memory.id]
            if (
                own & asked <= best
                and len(own & best) >= ALIKE * len(own | best)
                and any(_neighbours(hit.memory, other.memory) for other in group)
            ):
                group.append(hit)
                break
        else:
            groups.append([hit])
    return groups


def _neighbours(memory: Memory, other: Memory) -> bool:
    """Tell whether two memories are of one stay, and the same could be read in both."""
    gap_ns = max(memory.start_ns, other.start_ns) - min(memory.end_ns, other.end_ns)
    if gap_ns > GAP_NS or memory.scene_text != other.scene_text or memory.source != other.source:
        return False
    if memory.source in (OBJECT, AGENT):  # each is a thing, or a deed, of its own
        return False
    if (memory.robot, memory.map_id, memory.frame_id) != (other.robot, other.map_id, other.frame_id):
        return False
    if memory.pose is None or other.pose is None:
        return memory.pose is other.pose
    return distance(memory.pose.position, other.pose.position) <= SAME_PLACE_M
