"""Tools for objects: list, history, surroundings; and what was done or seen just now."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import AliasChoices, Field

from remembr_ros.agent.llm.arguments import UNTOLD, Arguments, Labels, Place, arguments_of
from remembr_ros.agent.llm.call_context import CallContext, Job
from remembr_ros.agent.llm.deed_tool import deed_line
from remembr_ros.agent.llm.overview_tools import ToldLine, shown
from remembr_ros.agent.model.memory_prompt import describe
from remembr_ros.agent.model.quoting import neutral
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.objects import ObjectsForm
from remembr_ros.memory.deeds.occurrences import in_view, just_done
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import OBJECT
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.objects.query import FoundObject, ObjectQuery
from remembr_ros.memory.objects.wording import events_said, presence_note

MOST_TOLD = 20  # objects, and events of each, that a model is told
SURE = 0.9  # how likely an object is what its label says
AROUND_M = 2.0

FindObjects = arguments_of(
    ObjectsForm,
    'FindObjects',
    'Objects by class and colour, or `relation` to an `anchor`, a class or label.',
    *('called', 'relation', 'anchor', 'missing', 'moved'),
)


class ObjectHistory(Arguments):
    """When objects were seen, gone and moved."""

    ids: Labels = Field(min_length=1, max_length=50)


class Around(Arguments):
    """Objects around a place, nearest first."""

    position: Place = Field('here', validation_alias=AliasChoices('position', 'place'))
    radius: float = Field(AROUND_M, gt=0.0, le=1e6, json_schema_extra=UNTOLD)


class JustNow(Arguments):
    """What you see now and have just done."""


def find_objects(call: Any, context: CallContext) -> Job:
    """Find objects."""
    anchor = context.evidence.known(call.anchor) if call.anchor else None
    form = context.form(ObjectsForm, call, anchor=anchor.memory.id if anchor else call.anchor)
    query = replace(form.query(), limit=MOST_TOLD)
    return _find(query, context)


def around(call: Around, context: CallContext) -> Job:
    """Find what is around a place."""
    place, map_id = context.point(call.position), context.question.map_id or None
    scope = Scope(near=place, radius_m=call.radius, map_id=map_id)
    return _find(ObjectQuery(place=place, scope=scope, limit=MOST_TOLD), context)


def object_history(call: ObjectHistory, context: CallContext) -> Job:
    """Tell what became of objects."""
    known = known_objects(hit.memory for hit in context.evidence.cite_all(call.ids))
    if not known:
        raise InvalidRequest('these are no objects; find_objects has their labels')

    def line(one: KnownObject) -> str:
        told = context.evidence.tell(events_said(one, context.question.zone, MOST_TOLD))
        return f'{context.evidence.label(Hit(one.memory, 1.0))}: {told}'

    return lambda: lambda: '\n'.join(map(line, known))


def just_now(_: JustNow, context: CallContext) -> Job:
    """Tell what is in view, and what was just done."""
    question, scope = context.question, Scope(map_id=context.question.map_id or None)
    context.recalls += 1

    def job() -> Callable[[], str]:
        view, found = in_view(context.recall, question.now_ns, question.here, scope)
        lately, done = just_done(context.recall, question.now_ns, scope)

        def tell() -> str:
            context.searched.append((False, found.total + len(done)))
            context.sure = max(context.sure, SURE if found.objects or done else 0.0)
            several = len({deed.memory.robot for deed in done}) > 1
            lines = [f'{context.evidence.tell(view)}:', *(_line(thing, context) for thing in found.objects)]
            rows = [ToldLine(f'{lately}:'), *(deed_line(deed, context, with_robot=several) for deed in done)]
            return '\n'.join([*lines, *(shown(line, context.evidence) for line in rows)])

        return tell

    return job


def _find(query: ObjectQuery, context: CallContext) -> Job:
    context.recalls += 1

    def job() -> Callable[[], str]:
        found = context.recall.find_objects(query)
        known = context.recall.count(Scope(map_id=query.scope.map_id, source=OBJECT))

        def tell() -> str:
            context.searched.append((False, known))
            context.sure = max(context.sure, SURE if found.objects else 0.0)
            lines = [_line(thing, context) for thing in found.objects]
            if query.anchor and not found.anchors:
                return f'no object is called {neutral(query.anchor)}'
            return '\n'.join([context.evidence.tell(f'{found.total} of {known} objects:'), *lines])

        return tell

    return job


def _line(found: FoundObject, context: CallContext) -> str:
    """Return the line of an object: what it lies on or next to, whether it is still there."""
    memory, question = found.known.memory, context.question
    ((label, *_),) = context.evidence.add([Hit(memory, SURE)])
    words = [neutral(relation.words) for relation in found.relations[:2]]
    more = neutral(found.known.state[0]), presence_note(memory, question.now_ns, question.zone)
    return describe(label, Hit(memory, SURE), question, words=[*words, *filter(None, more)])
