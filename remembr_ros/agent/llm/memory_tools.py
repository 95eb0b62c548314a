"""Tools for recalled memories: read in full, look at the images again, measure."""

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from remembr_ros.agent.llm.arguments import UNTOLD, Arguments, Labels, Place, as_one_of
from remembr_ros.agent.llm.budgeted_dialogue import BYTES_PER_TOKEN
from remembr_ros.agent.llm.call_context import CallContext, Job
from remembr_ros.agent.model.grounding import Placed, comparable
from remembr_ros.agent.model.memory_prompt import describe
from remembr_ros.agent.model.quoting import quoted
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import distance
from remembr_ros.memory.model.recall import Hit
from remembr_ros.timestamps import NS, format_duration

LOOKS_PER_CALL = 3
READ_PER_CALL = 5
MAX_READ = 6_000  # Characters of a caption, and again of the texts, that are read: some 1,500 tokens


class Read(Arguments):
    """Whole captions and texts."""

    ids: Labels = Field(min_length=1, max_length=50)


class LookAgain(Arguments):
    """Look at pictures again, for what captions leave out."""

    ids: Labels = Field(min_length=1, max_length=50)
    question: str = Field(min_length=1, max_length=500)


class Measure(Arguments):
    """Of two, or one and now or `place`; ranks by distance to it."""

    what: Annotated[
        Literal['distance', 'elapsed', 'duration', 'nearest', 'farthest'],
        BeforeValidator(as_one_of({'closest': 'nearest', 'furthest': 'farthest', 'elapsed_time': 'elapsed'})),
    ]
    ids: Labels = Field(min_length=1, max_length=50)
    place: Place = 'here'
    near: Place | None = Field(None, json_schema_extra=UNTOLD)


def read(call: Read, context: CallContext) -> Job:
    """Show memories whole."""
    hits = context.evidence.cite_all(call.ids)[:READ_PER_CALL]
    about = context.question
    text = '\n'.join([describe(context.evidence.label(hit), hit, about, limit=MAX_READ) for hit in hits])
    context.reserve(len(text.encode('utf-8', 'replace')) // BYTES_PER_TOKEN)
    return lambda: lambda: text


def look_again(call: LookAgain, context: CallContext) -> Job:
    """Have the keyframes of memories read with a question."""
    look = context.second_look
    if look is None:
        raise InvalidRequest('there is nothing to look with')
    hits = context.evidence.cite_all(call.ids)[:LOOKS_PER_CALL]
    if len(hits) > context.looks_left:
        raise InvalidRequest(f'only {context.looks_left} memories may be looked at again')
    context.reserve(sum(look.tokens(hit.memory) for hit in hits))
    context.looks_left -= len(hits)
    labelled = [(context.evidence.label(hit), hit.memory) for hit in hits]

    def job() -> Callable[[], str]:
        seen = [(label, look.look(memory, call.question, context.run)) for label, memory in labelled]
        return lambda: '\n'.join(f'{label}: {quoted(context.evidence.tell(text))}' for label, text in seen)

    return job


def measure(call: Measure, context: CallContext) -> Job:
    """Tell what arithmetic tells of memories."""
    measured = _measured(call, context)
    return lambda: lambda: context.evidence.tell(measured)


def _measured(call: Measure, context: CallContext) -> str:
    hits = context.evidence.cite_all(call.ids)
    if call.what == 'elapsed':
        first = hits[0].memory.end_ns
        until = hits[1].memory.start_ns if len(hits) > 1 else context.question.now_ns
        return format_duration((until - first) / NS)
    if call.what == 'duration':
        return format_duration((hits[-1].memory.end_ns - hits[0].memory.start_ns) / NS)
    place = call.near if call.near is not None else call.place
    if call.what == 'distance' and len(hits) > 1:
        _same_map(hits[0].memory, hits[1].memory)
        return f'{distance(context.place_of(hits[0]), context.place_of(hits[1])):.2f} m'
    from_there = _distance_from(place, context)
    if call.what == 'distance':
        return f'{from_there(hits[0]):.2f} m'
    far = {hit.memory.id: from_there(hit) for hit in hits}
    ordered = sorted(hits, key=lambda hit: far[hit.memory.id], reverse=call.what == 'farthest')
    ranked = [f'{context.evidence.label(hit)}, {far[hit.memory.id]:.2f} m' for hit in ordered[:5]]
    named = context.evidence.known(place) if isinstance(place, str) else None
    label = context.evidence.label(named) if named else 'here' if place == 'here' else 'there'
    return f'{"; ".join(ranked)} from {label}'


def _distance_from(place: Place, context: CallContext) -> Callable[[Hit], float]:
    """Return what tells how far a memory is from a place.

    :raises InvalidRequest: the place is not known; later: nobody knows how far it is
    """
    point = context.point(place)
    named = context.evidence.known(place) if isinstance(place, str) else None
    origin: Placed = named.memory if named else context.question

    def far(hit: Hit) -> float:
        _same_map(hit.memory, origin)
        return distance(context.place_of(hit), point)

    return far


def _same_map(here: Placed, other: Placed) -> None:
    if not comparable(here, other):
        raise InvalidRequest('those places are on different maps; nothing is known of the way between them')
