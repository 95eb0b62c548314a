"""The context of one question's tool calls: memories by label, times, places, past searches."""

import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from remembr_ros.agent.llm.arguments import Narrowed, Place
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.llm.second_look import SecondLook
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.request import MOST_SEARCHED, Request, parse_request
from remembr_ros.agent.planner import Run
from remembr_ros.agent.times.time_expression import Reach, parse_moment
from remembr_ros.agent.times.time_window import parse_span
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.fields import Nanoseconds
from remembr_ros.forms.form import AnyForm, read
from remembr_ros.forms.scope import scope_asked
from remembr_ros.geometry import Point
from remembr_ros.memory.model.recall import Hit, Scope, Survey
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.recall_protocol import Recall

MAX_LOOKS = 4  # Memories looked at again for one question: each is a call of a vision model

_LABEL = re.compile(r'\[?(?:memory\s+)?m\d+\]?', re.IGNORECASE)
_AROUND_LABEL = re.compile(rf'(?:(before|until|after|since|during|at)\s+)?({_LABEL.pattern})', re.IGNORECASE)
_POINT = re.compile(r'[(\[]?\s*(-?\d+(?:\.\d+)?(?:\s*,\s*-?\d+(?:\.\d+)?){1,2})\s*[)\]]?')

Tell = Callable[[], str]
"""Writes the result of a call, in the thread of the question: labels come in the order of the calls."""

Job = Callable[[], Tell]
"""Carries out a call, in any thread."""


@dataclass
class CallContext:
    """What the tools work with, for one question.

    :param run: of the question
    :param limit: memories that a recall shows
    :param second_look: None: there is no look_again
    :param known: returns what the rules answer; None: there are none
    :param clumsy: the model is asked for its answer alone, and only what the rules cannot answer
    :param reserve: told how many tokens a call will take; raises InvalidRequest of too many
    """

    question: Question
    recall: Recall
    run: Run
    limit: int = 5
    second_look: SecondLook | None = None
    known: Callable[[], Answer] | None = None
    clumsy: bool = False
    reserve: Callable[[int], None] = lambda tokens: None
    evidence: Evidence = field(default_factory=Evidence, init=False)
    recalls: int = field(default=0, init=False)
    searched: list[tuple[bool, int]] = field(default_factory=list, init=False)
    """Of each recall: whether it was about a time or a place, and memories in that."""
    sure: float = field(default=0.0, init=False)
    """How likely what a tool told of a whole time is of it, as no recall by text says how well it fits."""
    insists: bool = field(default=False, init=False)
    """The model has said again what the rules surely know better."""
    told: dict[tuple[str, str], str] = field(default_factory=dict, init=False)
    """What calls were told, by name and arguments: a call that is repeated is told the same."""
    looks_left: int = field(default=MAX_LOOKS, init=False)

    @cached_property
    def survey(self) -> Survey | None:
        """What there is in the question's reach; None: the recall cannot say.

        :raises StoreUnavailable: there is no memory
        """
        try:
            return self.recall.survey(Scope(map_id=self.question.map_id or None))
        except InvalidRequest:
            return None

    @cached_property
    def asked(self) -> Request:
        """The question as rules understand it."""
        question = self.question
        return parse_request(question.text[:MOST_SEARCHED], question.now_ns, question.zone, self._reach)

    def has(self, source: str) -> bool:
        """Tell whether the memory has any of a source, such as objects, of which there are tools.

        :raises StoreUnavailable: there is no memory
        """
        return self.recall.count(Scope(map_id=self.question.map_id or None, source=source)) > 0

    def scope(self, given: Narrowed) -> Scope:
        """Return what a call is narrowed down to.

        :raises InvalidRequest: that makes no sense
        :raises Ungrounded: it names a memory that was never recalled
        """
        named = self.named(given.place or given.near)
        if given.place and not named:
            raise InvalidRequest(f'there is no place called {given.place[:60]!r}')
        near = None if given.near is None or named else self.point(given.near)
        after, before = self._bounds(given)
        if after is not None and before is not None and after > before:
            raise InvalidRequest('that time ends before it begins')
        return Scope(
            after_ns=after,
            before_ns=before,
            near=near,
            radius_m=None if near is None else given.radius,
            robots=(given.robot,) if given.robot else (),
            map_id=named.memory.map_id if named else given.map or self.question.map_id or None,
            source=given.source,
            place=named.name if named else None,
        )

    def form(self, form: type[AnyForm], call: Narrowed, **known: Any) -> AnyForm:
        """Return the form that a call fills in.

        :param known: fields that are otherwise than the call says; the scope is what scope(call) returns
        :raises InvalidRequest: that makes no sense
        """
        given: dict[str, Any] = {name: getattr(call, name, None) for name in form.model_fields}
        if given.get('position') is not None:
            given['position'] = self.point(given['position'])
        times = {'changed_since', 'time'} & {name for name, value in given.items() if value is not None}
        given |= {name: Nanoseconds(self.middle(given[name])) for name in times}
        given |= dict.fromkeys(('after', 'before', 'near', 'radius', 'place', 'robot', 'map'))
        given |= {name: value for name, value in scope_asked(self.scope(call)).items() if name not in known}
        return read(form, {name: value for name, value in (given | known).items() if value != ''})

    def named(self, place: Place | None) -> NamedPlace | None:
        """Return the place of a name; None: it is no name of one."""
        with suppress(InvalidRequest):
            if isinstance(place, str):
                return self.question.places.named(place, self.question.map_id or None)
        return None

    def words(self, place: Place | None) -> str:
        """Return a place that is no known one as the words that it is, such as of a thing; else empty."""
        text = place.strip() if isinstance(place, str) else ''
        known = self.evidence.known(text) or _LABEL.fullmatch(text) or self.named(text)
        return text if re.search(r'[^\W\d_]{3}', text) and text.lower() != 'here' and not known else ''

    def middle(self, text: str) -> int:
        """Return the moment that a text names, or the middle of the time that it does."""
        after_ns, before_ns = self.span(text)
        return ((after_ns or 0) + (self.question.now_ns if before_ns is None else before_ns)) // 2

    def span(self, text: str) -> tuple[int | None, int | None]:
        """Return from when to when the time is that a text names; of a label: when that memory began.

        :raises InvalidRequest: it names no time
        :raises Ungrounded: that memory was never recalled
        """
        if _LABEL.fullmatch(text.strip()):
            start_ns = self.evidence.cite(text).memory.start_ns
            return start_ns, start_ns
        try:
            moment_ns = self._moment(text)
            return moment_ns, moment_ns
        except InvalidRequest:
            return self._window(text)

    def point(self, place: Place) -> Point:
        """Return where a place is: here, a label, its name or coordinates."""
        if named := self.named(place):
            return named.pose.position
        if isinstance(place, str) and (found := _POINT.fullmatch(place.strip())):
            place = [float(number) for number in found[1].split(',')]
        if isinstance(place, str):
            if place.strip().lower() == 'here':
                return self.here()
            if self.evidence.known(place) is None and not _LABEL.fullmatch(place.strip()):
                raise InvalidRequest(
                    f'{place[:60]!r} is no place; recall_text finds what was seen, and where'
                )
            return self.place_of(self.evidence.cite(place))
        if len(place) not in (2, 3) or not all(math.isfinite(value) for value in place):
            raise InvalidRequest('a position is [x, y, z] in metres')
        x, y, z = (*place, 0.0)[:3]
        return (x, y, z)

    def here(self) -> Point:
        """:raises InvalidRequest: the robot does not know"""
        if self.question.here is None:
            raise InvalidRequest('the robot does not know where it is; give a label or [x, y, z]')
        return self.question.here.position

    def place_of(self, hit: Hit) -> Point:
        """:raises InvalidRequest: it has none"""
        if hit.memory.pose is None:
            raise InvalidRequest('that memory has no place')
        return hit.memory.pose.position

    def _bounds(self, given: Narrowed) -> tuple[int | None, int | None]:
        after = None if given.after is None else self._start(given.after)
        before = None if given.before is None else self._start(given.before)
        if given.when is None and after is not None and given.after == given.before:
            # 'after this morning, before this morning'
            given = given.model_copy(update={'when': given.after})
            after = before = None
        if given.when is None:
            return after, before
        start: int | None
        end: int | None
        if found := _AROUND_LABEL.fullmatch(given.when.strip()):
            memory = self.evidence.cite(found[2]).memory
            start, end = {
                'before': (None, memory.start_ns - 1),
                'until': (None, memory.end_ns),
                'after': (memory.end_ns + 1, None),
                'since': (memory.start_ns, None),
            }.get((found[1] or '').lower(), (memory.start_ns, memory.end_ns))
        else:
            start, end = self._window(given.when)
        return (
            max((ns for ns in (after, start) if ns is not None), default=None),
            min((ns for ns in (before, end) if ns is not None), default=None),
        )

    def _start(self, text: str) -> int:
        """Return the moment that a text names, or the begin of the time that it does."""
        after_ns, _ = self.span(text)
        # A time without a begin, such as 'before noon', is no moment: that says so.
        return self._moment(text) if after_ns is None else after_ns

    def _moment(self, text: str) -> int:
        return parse_moment(text, self.question.now_ns, self.question.zone, self._reach)

    def _window(self, text: str) -> tuple[int | None, int | None]:
        window = parse_span(text, self.question.now_ns, self.question.zone, self._reach)
        return window.after_ns, window.before_ns

    @property
    def _reach(self) -> Reach | None:
        survey = self.survey
        if survey is None or survey.first_ns is None or survey.last_ns is None:
            return None
        return survey.first_ns, survey.last_ns
