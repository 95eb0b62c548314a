"""The tools that a language model may call. Arguments are checked against a schema.

What a model may mean only in one way is understood: a refusal costs a call.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from remembr_ros.agent.chat.client import Tool
from remembr_ros.agent.chat.loose_json import read_object
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.grounding import Choice, Claim
from remembr_ros.errors import ReplyInvalid


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _as_point(value: Any) -> Any:
    if isinstance(value, dict) and {'x', 'y'} <= value.keys():
        return [value['x'], value['y'], value.get('z', 0.0)]
    if isinstance(value, int | float):
        raise ValueError('a place is here, a label, or x, y, z')
    return value


def _as_one_of(aliases: Mapping[str, str]) -> Callable[[Any], Any]:
    def named(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        word = '_'.join(value.lower().replace('-', ' ').replace('/', ' ').replace('_', ' ').split())
        return aliases.get(word, word)

    return named


_KINDS = _as_one_of(
    {
        **dict.fromkeys(('where', 'place', 'location', 'pose'), 'position'),
        **dict.fromkeys(('when', 'timestamp', 'datetime', 'date'), 'time'),
        **dict.fromkeys(('yes_no', 'yes_or_no', 'boolean', 'bool'), 'binary'),
        **dict.fromkeys(('notseen', 'unseen', 'not_found'), 'not_seen'),
        'how_long': 'duration',
        'string': 'text',
    }
)
_CHOICES = _as_one_of(
    {
        'closest': 'nearest',
        'furthest': 'farthest',
        **dict.fromkeys(('last', 'last_seen', 'newest', 'most_recent'), 'latest'),
        **dict.fromkeys(('first_seen', 'oldest'), 'earliest'),
        **dict.fromkeys(('most_frequent', 'most_common'), 'most_often'),
        **dict.fromkeys(('all', 'each'), 'every'),
    }
)
_MEASURES = _as_one_of({'closest': 'nearest', 'furthest': 'farthest', 'elapsed_time': 'elapsed'})

Place = Annotated[list[float] | str, BeforeValidator(_as_point)]
Labels = Annotated[list[str], BeforeValidator(_as_list)]


class Arguments(BaseModel):
    """What a call of a tool says."""

    model_config = ConfigDict(extra='ignore', coerce_numbers_to_str=True)

    @model_validator(mode='before')
    @classmethod
    def _without_blanks(cls, given: Any) -> Any:
        """Take null and '' for not given: so many models fill in what they have no use for."""
        if not isinstance(given, dict):
            return given
        return {
            name: value
            for name, value in given.items()
            if name not in cls.model_fields or (value is not None and value != '')
        }


_UNTOLD: dict[str, Any] = {'untold': True}
"""Understood, as many models use it, but not in the schema: each word of it is paid for in every call."""


class RecallArguments(Arguments):
    """What every recall may be narrowed down to. The system prompt explains these once for all tools."""

    when: str | None = Field(None, max_length=200)
    after: str | None = Field(None, max_length=200, json_schema_extra=_UNTOLD)
    before: str | None = Field(None, max_length=200, json_schema_extra=_UNTOLD)
    near: Place | None = None
    radius: float = Field(10.0, gt=0.0, le=1e6)
    robot: str | None = Field(None, max_length=200)


class RecallText(RecallArguments):
    """Find memories by what was seen or could be read."""

    query: str = Field(min_length=1, max_length=2_000)


class RecallPosition(RecallArguments):
    """Find the memories nearest to a place."""

    position: Place


class RecallTime(RecallArguments):
    """Find the memories nearest to a time."""

    time: str = Field(max_length=200)


class ListAll(RecallArguments):
    """List all memories that show something, by stays: how many, every time, since when, where most often."""

    query: str = Field(min_length=1, max_length=2_000)
    page: int = Field(1, ge=1, le=10_000)


class HowMoved(RecallArguments):
    """List how the robot moved: stops, turns to the left or right, distances, speeds."""

    page: int = Field(1, ge=1, le=10_000)


class LookAgain(Arguments):
    """Look at the pictures of memories again, for what their captions leave out."""

    ids: Labels = Field(min_length=1, max_length=50, description='labels, at most 3')
    question: str = Field(min_length=1, max_length=500, description='what to look for')


class Measure(Arguments):
    """Measure memories: distance of two or of one from here, time elapsed between two or since one, duration
    of one or of several in a row, which is nearest or farthest."""

    what: Annotated[
        Literal['distance', 'elapsed', 'duration', 'nearest', 'farthest'], BeforeValidator(_MEASURES)
    ]
    ids: Labels = Field(min_length=1, max_length=50)


class AnswerCall(Arguments):
    """Answer the question; this ends it."""

    kind: Annotated[Kind, BeforeValidator(_KINDS)]
    text: str = Field('', max_length=4_000)
    binary: bool | None = None
    ids: Labels = Field(default_factory=list, max_length=50)
    choice: Annotated[Choice, BeforeValidator(_CHOICES)] = Choice.CITED_FIRST
    start_id: str | None = None
    end_id: str | None = None


ANSWER = 'answer'
LOOK_AGAIN = 'look_again'
_SCHEMAS: dict[str, type[Arguments]] = {
    'recall_text': RecallText,
    'recall_position': RecallPosition,
    'recall_time': RecallTime,
    'list_all': ListAll,
    'motion': HowMoved,
    LOOK_AGAIN: LookAgain,
    'measure': Measure,
    ANSWER: AnswerCall,
}


TOOL_NAMES = frozenset(_SCHEMAS)


def tool_name(name: str) -> str:
    """Return the name of a tool as it is called here: of functions.Answer, answer."""
    return name.strip().rpartition('.')[2].lower()


def is_kind(word: Any) -> bool:
    """Tell whether a model may mean a kind of answer."""
    return isinstance(word, str) and _KINDS(word) in {kind.value for kind in Kind}


def compact(schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a JSON schema in as few words as a model needs: the checks themselves are done by code.

    Without titles, defaults and bounds, with references filled in. An optional value is of its only type, and
    what may be a text or something else is a text.
    """
    definitions = {**(definitions or {}), **schema.get('$defs', {})}
    if '$ref' in schema:
        named = definitions[schema['$ref'].rpartition('/')[2]]
        about = {'description': schema['description']} if 'description' in schema else {}
        return compact({**named, 'description': '', **about}, definitions)
    kept = {key: schema[key] for key in ('type', 'enum', 'required') if key in schema}
    if schema.get('description'):
        kept['description'] = ' '.join(schema['description'].split())
    options = [option for option in schema.get('anyOf', ()) if option.get('type') != 'null']
    if options:
        kept |= compact(next((o for o in options if o.get('type') == 'string'), options[0]), definitions)
    if 'items' in schema:
        kept['items'] = compact(schema['items'], definitions)
    if 'properties' in schema:
        kept['properties'] = {
            name: compact(inner, definitions)
            for name, inner in schema['properties'].items()
            if not inner.get('untold')
        }
    return kept


def _tool(name: str, schema: type[Arguments]) -> Tool:
    parameters = compact(schema.model_json_schema())
    return Tool(name, parameters.pop('description', ''), parameters)


ALL_TOOLS = tuple(_tool(name, schema) for name, schema in _SCHEMAS.items())
TOOLS = tuple(tool for tool in ALL_TOOLS if tool.name != LOOK_AGAIN)  # Those that need nothing but a recall


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


def cited(arguments: AnswerCall, evidence: Evidence) -> Claim:
    """Return what an answer claims, with its citations looked up.

    :raises Ungrounded: it cites a memory that was never recalled
    """
    hits = evidence.cite_all(arguments.ids)
    start = evidence.cite(arguments.start_id) if arguments.start_id else None
    end = evidence.cite(arguments.end_id) if arguments.end_id else None
    if arguments.kind is Kind.DURATION and hits:
        # Many models cite what it lasted through, and leave it at that.
        start = start or min(hits, key=lambda hit: hit.memory.start_ns)
        end = end or max(hits, key=lambda hit: hit.memory.end_ns)
    return Claim(
        arguments.kind, arguments.text, hits, arguments.binary, arguments.choice, start=start, end=end
    )
