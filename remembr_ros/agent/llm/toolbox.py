"""What the tools do, for one question."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.llm.overview_lines import Line, overview, shown
from remembr_ros.agent.llm.second_look import SecondLook
from remembr_ros.agent.llm.tools import (
    AnswerCall,
    Arguments,
    HowMoved,
    ListAll,
    LookAgain,
    Measure,
    Place,
    RecallArguments,
    RecallPosition,
    RecallText,
    RecallTime,
    cited,
)
from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Claim, Placed, comparable, without_invented_numbers
from remembr_ros.agent.model.memory_prompt import describe
from remembr_ros.agent.model.quoting import quoted, without_labels
from remembr_ros.agent.planner import Run
from remembr_ros.agent.times.time_expression import parse_moment
from remembr_ros.agent.times.time_window import parse_span
from remembr_ros.errors import InvalidRequest, Unsupported
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.model.recall import Hit, Query, Recall, Scope
from remembr_ros.timestamps import NS, format_duration

SHOWN = 700  # Characters of a caption that are shown: some 160 tokens
MAX_LOOKS = 4  # Memories looked at again for one question: each is a call of a vision model
LOOKS_PER_CALL = 3

_LABEL = re.compile(r'\[?(?:memory\s+)?m\d+\]?', re.IGNORECASE)
_AROUND_LABEL = re.compile(rf'(?:(before|until|after|since|during|at)\s+)?({_LABEL.pattern})', re.IGNORECASE)
_POINT = re.compile(r'[(\[]?\s*(-?\d+(?:\.\d+)?(?:\s*,\s*-?\d+(?:\.\d+)?){1,2})\s*[)\]]?')


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool found.

    :param hits: memories, for a recall
    :param total: how many there are in the time and place asked; None: this was no recall
    :param narrowed: the recall was about a time or a place
    :param about: what was looked for
    :param text: anything else, for the model to read
    :param looks: what second looks saw
    :param lines: what code tells of all memories
    """

    hits: Sequence[Hit] = ()
    total: int | None = None
    narrowed: bool = False
    about: str = ''
    text: str = ''
    looks: Sequence[tuple[str, str]] = ()
    lines: Sequence[Line] = ()


@dataclass
class Toolbox:
    """Runs the tools for one question.

    Labels are looked up and given in the thread of the question, so that they do not depend on which of
    several jobs is done first.

    :param limit: memories per recall
    :param second_look: None: there is no look_again
    """

    question: Question
    recall: Recall
    limit: int
    second_look: SecondLook | None = None
    evidence: Evidence = field(default_factory=Evidence, init=False)
    searched: int = field(default=0, init=False)  # Memories in the times and places that were recalled from
    _recalls: int = field(default=0, init=False)
    _narrowed: list[int] = field(default_factory=list, init=False)
    """Of each recall that was about a time or a place: memories there."""
    _looks_left: int = field(default=MAX_LOOKS, init=False)

    def job(
        self, arguments: Arguments, run: Run, reserve: Callable[[int], None] = lambda tokens: None
    ) -> Callable[[], ToolResult]:
        """Return what carries out a call, in any thread.

        :param reserve: told how many tokens of a model it will take; raises InvalidRequest of too many
        :raises InvalidRequest: the arguments make no sense; the message helps the model
        :raises Ungrounded: they name a memory that was never recalled
        """
        if isinstance(arguments, Measure):
            measured = self._measure(arguments)
            return lambda: ToolResult(text=measured)
        if isinstance(arguments, LookAgain):
            return self._look(arguments, run, reserve)
        if not isinstance(arguments, RecallArguments):
            raise InvalidRequest('this is not a recall')
        scope = self._scope(arguments)
        narrowed = (scope.after_ns, scope.before_ns, scope.near) != (None, None, None)
        if isinstance(arguments, ListAll | HowMoved):
            self._recalls += 1

            def told() -> ToolResult:
                found = overview(arguments, self.question, self.recall, scope)
                return ToolResult(total=found.looked_at, narrowed=narrowed, lines=found.lines)

            return told
        query = self._query(arguments, scope)
        self._recalls += 1
        return lambda: ToolResult(
            self.recall.find(query), self.recall.count(scope), narrowed, query.text or ''
        )

    def show(self, found: ToolResult) -> str:
        """Return what a tool found, for the model to read; new memories get labels."""
        if found.looks:
            lines = [f'{label}: {quoted(seen)}' for label, seen in found.looks]
            self.evidence.told += [seen for _, seen in found.looks]
            return '\n'.join(lines)
        if found.total is None:
            self.evidence.told.append(found.text)
            return found.text
        self.searched += found.total
        if found.narrowed:
            self._narrowed.append(found.total)
        if found.lines:
            return '\n'.join(shown(line, self.evidence) for line in found.lines)
        if not found.hits:
            return f'nothing found; {found.total} memories in that time and place'
        lines = [f'{len(found.hits)} of {found.total} memories in that time and place:']
        with_robot = len({hit.memory.robot for hit in found.hits}) > 1
        repeated = []
        for label, hit, new in self.evidence.add(found.hits):
            if new:
                about = f'{found.about} {self.question.text}'
                lines.append(
                    describe(label, hit, self.question, about=about, limit=SHOWN, with_robot=with_robot)
                )
            else:
                repeated.append(label)
        if repeated:
            lines.append(f'shown before: {", ".join(repeated)}')
        return '\n'.join(lines)

    def claim(self, arguments: AnswerCall) -> Claim:
        """Return what an answer claims, with its citations looked up and without numbers of the model's own.

        :raises Ungrounded: it cites a memory that was never recalled
        :raises Unsupported: it says no or not seen, and nothing was recalled to say so
        """
        spoken = without_labels(arguments.text)
        claim = cited(arguments.model_copy(update={'text': spoken}), self.evidence)
        if claim.kind is Kind.NOT_SEEN and not self._recalls:
            raise Unsupported('nothing was looked for yet; recall first')
        if claim.kind is Kind.BINARY and claim.binary is False:
            if not (self.searched or claim.evidence):
                raise Unsupported('nothing was recalled that could tell "no" from "not seen"; recall first')
            if self._narrowed and not any(self._narrowed):
                raise Unsupported('nothing is remembered of that time and place: that is not_seen, not no')
        if claim.start and claim.end:
            ends = self.evidence.label(claim.start), self.evidence.label(claim.end)
            claim = replace(claim, duration_s=self.evidence.lasted.get(ends))
        return without_invented_numbers(claim, self.question, self.evidence.told)

    def _query(self, arguments: RecallArguments, scope: Scope) -> Query:
        limit = self.limit
        if isinstance(arguments, RecallText):
            return Query(arguments.query, scope=scope, limit=limit)
        if isinstance(arguments, RecallPosition):
            return Query(place=self._point(arguments.position), scope=scope, limit=limit)
        if isinstance(arguments, RecallTime):
            return Query(time_ns=self._middle(arguments.time), scope=scope, limit=limit)
        raise InvalidRequest('this is not a recall')

    def _look(
        self, arguments: LookAgain, run: Run, reserve: Callable[[int], None]
    ) -> Callable[[], ToolResult]:
        look = self.second_look
        if look is None:
            raise InvalidRequest('there is nothing to look with')
        hits = self.evidence.cite_all(arguments.ids)[:LOOKS_PER_CALL]
        if len(hits) > self._looks_left:
            raise InvalidRequest(f'only {self._looks_left} memories may be looked at again')
        reserve(sum(look.tokens(hit.memory) for hit in hits))
        self._looks_left -= len(hits)
        labelled = [(self.evidence.label(hit), hit.memory) for hit in hits]
        return lambda: ToolResult(
            looks=[(label, look.look(memory, arguments.question, run)) for label, memory in labelled]
        )

    def _measure(self, arguments: Measure) -> str:
        hits = self.evidence.cite_all(arguments.ids)
        if arguments.what == 'elapsed':
            first = hits[0].memory.end_ns
            until = hits[1].memory.start_ns if len(hits) > 1 else self.question.now_ns
            return format_duration((until - first) / NS)
        if arguments.what == 'duration':
            return format_duration((hits[-1].memory.end_ns - hits[0].memory.start_ns) / NS)
        if arguments.what == 'distance':
            if len(hits) < 2:
                return f'{self._from_here(hits[0]):.2f} m'
            self._same_map(hits[0], hits[1].memory)
            return f'{distance(self._place_of(hits[0]), self._place_of(hits[1])):.2f} m'
        pick: Callable[..., Hit] = min if arguments.what == 'nearest' else max
        best = pick(hits, key=self._from_here)
        return f'{self.evidence.label(best)}, {self._from_here(best):.2f} m from here'

    def _scope(self, given: RecallArguments) -> Scope:
        near = None if given.near is None else self._point(given.near)
        after, before = self._bounds(given)
        if after is not None and before is not None and after > before:
            raise InvalidRequest('that time ends before it begins')
        return Scope(
            after_ns=after,
            before_ns=before,
            near=near,
            radius_m=None if near is None else given.radius,
            robots=(given.robot,) if given.robot else (),
            map_id=self.question.map_id or None,
        )

    def _bounds(self, given: RecallArguments) -> tuple[int | None, int | None]:
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
            window = parse_span(given.when, self.question.now_ns, self.question.zone)
            start, end = window.after_ns, window.before_ns
        return (
            max((ns for ns in (after, start) if ns is not None), default=None),
            min((ns for ns in (before, end) if ns is not None), default=None),
        )

    def _start(self, text: str) -> int:
        """Return the moment that a text names, or the begin of the time that it does."""
        after_ns, _ = self._span(text)
        # A time without a begin, such as 'before noon', is no moment: that says so.
        return parse_moment(text, self.question.now_ns, self.question.zone) if after_ns is None else after_ns

    def _middle(self, text: str) -> int:
        """Return the moment that a text names, or the middle of the time that it does."""
        after_ns, before_ns = self._span(text)
        return ((after_ns or 0) + (self.question.now_ns if before_ns is None else before_ns)) // 2

    def _span(self, text: str) -> tuple[int | None, int | None]:
        """Return from when to when the time is that a text names; of a label: when that memory began.

        :raises Ungrounded: that memory was never recalled
        """
        if _LABEL.fullmatch(text.strip()):
            start_ns = self.evidence.cite(text).memory.start_ns
            return start_ns, start_ns
        try:
            moment_ns = parse_moment(text, self.question.now_ns, self.question.zone)
            return moment_ns, moment_ns
        except InvalidRequest:
            window = parse_span(text, self.question.now_ns, self.question.zone)
            return window.after_ns, window.before_ns

    def _point(self, place: Place) -> Point:
        if isinstance(place, str) and (found := _POINT.fullmatch(place.strip())):
            place = [float(number) for number in found[1].split(',')]
        if isinstance(place, str):
            here = place.strip().lower() == 'here'
            return self._here() if here else self._place_of(self.evidence.cite(place))
        if len(place) not in (2, 3) or not all(math.isfinite(value) for value in place):
            raise InvalidRequest('a position is [x, y, z] in metres')
        x, y, z = (*place, 0.0)[:3]
        return (x, y, z)

    def _here(self) -> Point:
        if self.question.here is None:
            raise InvalidRequest('the robot does not know where it is; give a label or [x, y, z]')
        return self.question.here.position

    def _from_here(self, hit: Hit) -> float:
        here = self._here()
        self._same_map(hit, self.question)
        return distance(self._place_of(hit), here)

    def _same_map(self, hit: Hit, other: Placed) -> None:
        if not comparable(hit.memory, other):
            raise InvalidRequest(
                'those places are on different maps; nothing is known of the way between them'
            )

    def _place_of(self, hit: Hit) -> Point:
        if hit.memory.pose is None:
            raise InvalidRequest('that memory has no place')
        return hit.memory.pose.position
