"""The tools that a language model may call, and what they do. Arguments are checked against a schema."""

import math
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from remembr_ros.agent.answer import Kind, Question
from remembr_ros.agent.chat import Tool
from remembr_ros.agent.evidence import Evidence
from remembr_ros.agent.grounding import Choice, Claim, without_invented_numbers
from remembr_ros.agent.phrasing import describe
from remembr_ros.agent.when import parse_moment
from remembr_ros.errors import InvalidRequest, ReplyInvalid
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.recall import Hit, Recall, Scope
from remembr_ros.timestamps import NS, format_duration

_Place = list[float] | str


class _Arguments(BaseModel):
    model_config = ConfigDict(extra='forbid')

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


class _Window(_Arguments):
    after: str | None = Field(
        None, description='only memories after this: ISO 8601, "10 minutes ago" or a label'
    )
    before: str | None = Field(None, description='only memories before this')
    near: _Place | None = Field(None, description='only memories around this: "here", a label or [x, y, z]')
    radius: float = Field(10.0, gt=0.0, le=1e6, description='how far around near, in metres')


class RecallText(_Window):
    """Find memories by what was seen or could be read."""

    query: str = Field(min_length=1, max_length=2_000, description='the thing in a few words')


class RecallPosition(_Window):
    """Find the memories nearest to a place."""

    position: _Place = Field(description='"here", the label of a memory, or [x, y, z] in metres')


class RecallTime(_Window):
    """Find the memories nearest to a time."""

    time: str = Field(description='ISO 8601, a time of day, "10 minutes ago", or the label of a memory')


class Measure(_Arguments):
    """Measure between memories: arithmetic is done here, not by you."""

    what: Literal['distance', 'elapsed', 'nearest', 'farthest'] = Field(
        description='distance between two memories, or of one from here; elapsed time between two, or since '
        'one; which one is nearest to or farthest from here'
    )
    ids: list[str] = Field(min_length=1, max_length=50, description='labels of memories')


class AnswerCall(_Arguments):
    """Answer the question; this ends it."""

    kind: Kind
    text: str = Field('', max_length=4_000, description='one or two sentences without coordinates and times')
    binary: bool | None = Field(None, description='kind binary: yes is true')
    ids: list[str] = Field(
        default_factory=list, max_length=50, description='labels of the memories that show it'
    )
    choice: Choice = Field(
        Choice.CITED_FIRST, description='which of several cited memories gives place and time'
    )
    start_id: str | None = Field(None, description='kind duration: the memory in which it began')
    end_id: str | None = Field(None, description='kind duration: the memory in which it ended')


ANSWER = 'answer'
_SCHEMAS: dict[str, type[_Arguments]] = {
    'recall_text': RecallText,
    'recall_position': RecallPosition,
    'recall_time': RecallTime,
    'measure': Measure,
    ANSWER: AnswerCall,
}
TOOLS = tuple(
    Tool(name, schema.__doc__ or '', schema.model_json_schema()) for name, schema in _SCHEMAS.items()
)


def parse_arguments(name: str, text: str) -> _Arguments:
    """Return the checked arguments of a call.

    :param text: JSON, as the model wrote it
    :raises ReplyInvalid: there is no such tool, or the arguments do not fit; the message helps the model
    """
    schema = _SCHEMAS.get(name)
    if schema is None:
        raise ReplyInvalid(f'there is no tool {name[:60]!r}; there are {", ".join(_SCHEMAS)}')
    try:
        return schema.model_validate_json(text or '{}')
    except ValidationError as error:
        faults = '; '.join(
            f'{".".join(map(str, fault["loc"])) or "arguments"}: {fault["msg"]}'
            for fault in error.errors()[:5]
        )
        raise ReplyInvalid(f'the arguments of {name} do not fit: {faults}') from error


def cited(arguments: AnswerCall, evidence: Evidence) -> Claim:
    """Return what an answer claims, with its citations looked up.

    :raises Ungrounded: it cites a memory that was never recalled
    """
    return Claim(
        arguments.kind,
        arguments.text,
        evidence.cite_all(arguments.ids),
        binary=arguments.binary,
        choice=arguments.choice,
        start=evidence.cite(arguments.start_id) if arguments.start_id else None,
        end=evidence.cite(arguments.end_id) if arguments.end_id else None,
    )


class Toolbox:
    """Runs the tools for one question.

    :param limit: memories per recall
    """

    def __init__(self, question: Question, recall: Recall, limit: int) -> None:
        self.evidence = Evidence()
        self._question = question
        self._recall = recall
        self._limit = limit

    def run(self, arguments: _Arguments) -> str:
        """Return what a tool finds, for the model to read.

        :raises InvalidRequest: the arguments make no sense; the message helps the model
        :raises Ungrounded: they name a memory that was never recalled
        :raises StoreUnavailable: there is no memory to recall from
        """
        if isinstance(arguments, Measure):
            return self._measure(arguments)
        if not isinstance(arguments, _Window):
            raise InvalidRequest('this is not a recall')
        scope = self._scope(arguments)
        hits = self._search(arguments, scope)
        total = self._recall.count(scope)
        return self._show(hits, total)

    def claim(self, arguments: AnswerCall) -> Claim:
        """Return what an answer claims, with its citations looked up and without numbers of the model's own.

        :raises Ungrounded: it cites a memory that was never recalled
        """
        return without_invented_numbers(cited(arguments, self.evidence), self._question)

    def _search(self, arguments: _Window, scope: Scope) -> list[Hit]:
        if isinstance(arguments, RecallText):
            return self._recall.by_text(arguments.query, scope, self._limit)
        if isinstance(arguments, RecallPosition):
            return self._recall.by_position(self._point(arguments.position), scope, self._limit)
        if isinstance(arguments, RecallTime):
            return self._recall.by_time(self._moment(arguments.time), scope, self._limit)
        raise InvalidRequest('this is not a recall')

    def _show(self, hits: list[Hit], total: int) -> str:
        lines = [f'{len(hits)} of {total} memories in that time and place:']
        repeated = []
        for label, hit, new in self.evidence.add(hits):
            if new:
                lines.append(describe(label, hit, self._question))
            else:
                repeated.append(label)
        if repeated:
            lines.append(f'shown before: {", ".join(repeated)}')
        return '\n'.join(lines) if hits else f'nothing found; {total} memories in that time and place'

    def _measure(self, arguments: Measure) -> str:
        hits = self.evidence.cite_all(arguments.ids)
        if arguments.what == 'elapsed':
            first = hits[0].memory.end_ns
            until = hits[1].memory.start_ns if len(hits) > 1 else self._question.now_ns
            return f'{format_duration((until - first) / NS)}'
        if arguments.what == 'distance':
            other = self._place_of(hits[1]) if len(hits) > 1 else self._here()
            return f'{distance(self._place_of(hits[0]), other):.2f} m'
        here = self._here()
        pick: Callable[..., Hit] = min if arguments.what == 'nearest' else max
        best = pick(hits, key=lambda hit: distance(self._place_of(hit), here))
        return f'{self.evidence.label(best)}, {distance(self._place_of(best), here):.2f} m from here'

    def _scope(self, window: _Window) -> Scope:
        near = None if window.near is None else self._point(window.near)
        return Scope(
            after_ns=None if window.after is None else self._moment(window.after),
            before_ns=None if window.before is None else self._moment(window.before),
            near=near,
            radius_m=None if near is None else window.radius,
            map_id=self._question.map_id or None,
        )

    def _point(self, place: _Place) -> Point:
        if isinstance(place, str):
            return (
                self._here() if place.strip().lower() == 'here' else self._place_of(self.evidence.cite(place))
            )
        if len(place) not in (2, 3) or not all(math.isfinite(value) for value in place):
            raise InvalidRequest('a position is [x, y, z] in metres')
        x, y, z = (*place, 0.0)[:3]
        return (x, y, z)

    def _here(self) -> Point:
        if self._question.here is None:
            raise InvalidRequest('the robot does not know where it is; give a label or [x, y, z]')
        return self._question.here.position

    def _place_of(self, hit: Hit) -> Point:
        if hit.memory.pose is None:
            raise InvalidRequest('that memory has no place')
        return hit.memory.pose.position

    def _moment(self, text: str) -> int:
        try:
            return parse_moment(text, self._question.now_ns)
        except InvalidRequest:
            if text.strip().strip('[]').startswith('m'):
                return self.evidence.cite(text).memory.start_ns
            raise
