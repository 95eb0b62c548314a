"""The tools of the language model, each an Arguments class and a function.

A new one stands in one of the modules *_tools and in the table here.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from remembr_ros.agent.chat.client import Tool
from remembr_ros.agent.chat.loose_json import read_object
from remembr_ros.agent.llm.answer_call import AnswerCall
from remembr_ros.agent.llm.arguments import Arguments
from remembr_ros.agent.llm.call_context import CallContext, Job
from remembr_ros.agent.llm.deed_tool import WhatHappened, happened
from remembr_ros.agent.llm.memory_tools import LookAgain, Measure, Read, look_again, measure, read
from remembr_ros.agent.llm.object_tools import (
    Around,
    FindObjects,
    JustNow,
    ObjectHistory,
    around,
    find_objects,
    just_now,
    object_history,
)
from remembr_ros.agent.llm.overview_tools import ListAll, TellDay, list_all, tell_day
from remembr_ros.agent.llm.recall_tools import (
    RecallPosition,
    RecallText,
    RecallTime,
    recall_position,
    recall_text,
    recall_time,
)
from remembr_ros.agent.model.answer import Kind
from remembr_ros.errors import InvalidRequest, ReplyInvalid
from remembr_ros.forms.faces import compact

MAX_CITED = 10  # By an answer that is guided: some models do not end a list
ANSWER = 'answer'
LOOK_AGAIN = 'look_again'
_JOBS: dict[str, tuple[type[Arguments], Callable[[Any, CallContext], Job]]] = {
    'recall_text': (RecallText, recall_text),
    'recall_position': (RecallPosition, recall_position),
    'recall_time': (RecallTime, recall_time),
    'read': (Read, read),
    LOOK_AGAIN: (LookAgain, look_again),
    'measure': (Measure, measure),
    'day': (TellDay, tell_day),
    'list_all': (ListAll, list_all),
    'happened': (WhatHappened, happened),
    'find_objects': (FindObjects, find_objects),
    'object_history': (ObjectHistory, object_history),
    'around': (Around, around),
    'just_now': (JustNow, just_now),
}
"""By name, what each tool is told, and what makes a job of that; raises InvalidRequest or Ungrounded."""

_SCHEMAS: dict[str, type[Arguments]] = {
    **{name: arguments for name, (arguments, _) in _JOBS.items()},
    ANSWER: AnswerCall,
}
TOOL_NAMES = frozenset(_SCHEMAS)


_SQUEEZED = {name.replace('_', ''): name for name in _SCHEMAS}


def tool_name(name: str) -> str:
    """Return the name of a tool as it is called here: of functions.Answer:0, or Answer<|channel|>, answer."""
    parts = re.findall(r'[\w-]+', name.lower())
    known = (_SQUEEZED.get(part.replace('_', '').replace('-', '')) for part in parts)
    return next(filter(None, known), name.strip().lower())


def first_argument(name: str) -> str:
    """Return the name of a tool's first argument that it cannot do without; empty: there is none."""
    named = _SCHEMAS[name.lower()].model_fields.items()
    return next((name for name, field in named if field.is_required()), '')


def _tool(name: str, schema: type[Arguments], without: Collection[str] = ()) -> Tool:
    parameters = compact(schema.model_json_schema())
    parameters['properties'] = {k: v for k, v in parameters['properties'].items() if k not in without}
    return Tool(name, parameters.pop('description', ''), parameters)


ALL_TOOLS = tuple(_tool(name, schema) for name, schema in _SCHEMAS.items())


def answer_tool(labels: Sequence[str], kind: Kind | None) -> Tool:
    """Return the answer, narrowed down to what can be said.

    :param labels: what there is to cite
    :param kind: that the question wants; None: nobody can tell
    """
    (tool,) = (tool for tool in ALL_TOOLS if tool.name == ANSWER)
    wanted = {None: ('ids', 'kind', 'text', 'choice'), Kind.BINARY: ('ids', 'kind', 'binary', 'text')}
    names = wanted.get(kind, ('ids', 'kind', 'choice'))
    # Yes-or-no questions leave no doubt.
    kinds = [kind, Kind.NOT_SEEN] if kind else [kind for kind in Kind if kind is not Kind.BINARY]
    label = {'type': 'string', 'enum': [*labels]} if labels else {'type': 'string'}  # none is no schema
    properties = {
        **tool.parameters['properties'],
        'ids': {'type': 'array', 'items': label, 'maxItems': MAX_CITED},
        'kind': {'type': 'string', 'enum': [kind.value for kind in kinds]},
    }
    parameters = {
        'type': 'object',
        'properties': {name: properties[name] for name in names},
        'required': [name for name in names if name != 'choice'],
        'additionalProperties': False,
    }
    return replace(tool, parameters=parameters)


OF_OBJECTS = frozenset(('find_objects', 'object_history', 'around'))
MOVES_ALONE = replace(
    _tool('happened', WhatHappened, {'object', 'receptacle', 'outcome', 'never', 'nth', 'right', 'during'}),
    description='How it moved: how long, how far. kind: sight, stay, moving, standing, '
    'turning left/right, driving.',
)
"""Where no deeds are known, that is all that there is to tell."""


def tools_for(*, look_again: bool = False, objects: bool = False, deeds: bool = False) -> tuple[Tool, ...]:
    """Return the tools that are of use: what looks, and whether there are objects and deeds, decides."""
    of_use = ((look_again, {LOOK_AGAIN}), (objects, OF_OBJECTS), (objects or deeds, {'just_now'}))
    without = {name for used, names in of_use for name in names if not used}
    known = (tool if deeds or tool.name != MOVES_ALONE.name else MOVES_ALONE for tool in ALL_TOOLS)
    return tuple(tool for tool in known if tool.name not in without)


TOOLS = tools_for()  # Those that need nothing but a recall


def parse_arguments(name: str, text: str) -> Arguments:
    """Return the checked arguments of a call.

    :param text: JSON, as the model wrote it, see :mod:`remembr_ros.agent.chat.loose_json`
    :raises ReplyInvalid: there is no such tool, or the arguments do not fit; the message helps the model
    """
    schema = _SCHEMAS.get(tool_name(name))
    if schema is None:
        raise ReplyInvalid(f'there is no tool {name[:60]!r}; there are {", ".join(_SCHEMAS)}')
    given = read_object(text or '{}')
    if given is None:
        raise ReplyInvalid(f'the arguments of {name} are no JSON object')
    try:
        return schema.model_validate(given)
    except ValidationError as error:
        faults = '; '.join(
            f'{".".join(map(str, fault["loc"])) or "arguments"}: {fault["msg"]}'
            for fault in error.errors()[:5]
        )
        raise ReplyInvalid(f'the arguments of {name} do not fit: {faults[:500]}') from error


def job(arguments: Arguments, context: CallContext) -> Job:
    """Return what carries out a call.

    :raises InvalidRequest: the arguments make no sense; the message helps the model
    :raises Ungrounded: they name a memory that was never recalled
    """
    for schema, make in _JOBS.values():
        if isinstance(arguments, schema):
            return make(arguments, context)
    raise InvalidRequest('that is nothing to be carried out')
