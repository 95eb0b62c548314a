"""Questions about a day, a time or a floor as a whole: 'What did you do today?', 'Summarise this morning.'"""

import re
from dataclasses import dataclass

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.not_seen import UNTOLD
from remembr_ros.agent.offline.question_terms import ASKING
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.agent.overview.floors import floors_in, without_floors
from remembr_ros.agent.overview.recalled_day import TODAY, nothing_of_day, recall_day, scope_of_day
from remembr_ros.agent.times.day import WEEKDAYS
from remembr_ros.agent.times.time_window import Window, parse_window
from remembr_ros.forms.questions import DayForm
from remembr_ros.memory.diary.day_text import shown_by
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import ANYTHING, Hit, Scope
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import NS

EPISODES = 40  # Of an answer; who wants more asks for a shorter time
SENTENCES = 1  # Of each
LONG_NS = 3_000 * NS  # "What did you see?" in a shorter time has few memories, which are shown as they are
TEXTS = 5

_PARTS = word_class('parts_of_day')
_WHOLE = word_class('whole_day')
_ADDED = (ASKING - {'sign', 'signs', 'take', 'think', 'where'}) | word_class('beside_day')

_BARE_DAY = any_case(
    rf'(?:(?:in )?(?:the )?\b(?P<part>{"|".join(sorted(_PARTS))}) )?(?:\b(?:of|on|about|for) )?'
    rf'\b(?P<day>{"|".join(WEEKDAYS)})\b(?: (?P<then>{"|".join(sorted(_PARTS))})\b)?'
)
"""'Summarise Tuesday', 'the morning of Tuesday'."""


@dataclass(frozen=True, slots=True)
class DayRequest:
    """A time, or a floor as in overview.floors, of which all is asked for."""

    scope: Scope
    floor: int | None


def parse_day(request: Request, question: Question) -> DayRequest | None:
    """Return the time or the floor that a question is about as a whole; None: it asks for something in it."""
    window = request.window
    if (window.after_ns, window.before_ns) == (None, None):
        window = parse_window(_BARE_DAY.sub(_on_the_day, window.rest), question.now_ns, question.zone)
    text = window.rest
    if not set(words(request.target)) <= set(words(request.window.rest)):
        return None  # it stands for something else: 'How do I get out of here?'
    narrowed = request.choice is not Choice.CITED_FIRST or request.relation or window.at_ns is not None
    elsewhere = request.kind not in (Kind.TEXT, Kind.POSITION) or request.here or request.other or request.far
    if narrowed or elsewhere:
        return None
    floors = floors_in(text)
    floor = min(floors) if len(floors) == 1 else None
    spoken = words(text if floor is None else without_floors(text))
    if not spoken or not (_WHOLE | _ADDED).issuperset(spoken):
        return None
    if floor is None and _WHOLE.isdisjoint(spoken) and not _is_long(window):
        return None
    scope = Scope(window.after_ns, window.before_ns)
    if scope == ANYTHING and floor is None:
        part = next((f'this {word}' for word in spoken if word in _PARTS), TODAY)
        scope = scope_of_day(DayForm(day=part), question.now_ns, question.zone)
    return DayRequest(scope, floor)


def _on_the_day(found: re.Match[str]) -> str:
    return f' on {found["day"]} {found["part"] or found["then"] or ""}'


def claim_of_day(asked: DayRequest, question: Question, recall: Recall) -> Claim:
    """Return a list of what robots did, with a memory of each stay and drive as evidence."""
    scope = asked.scope
    found = recall_day(recall, scope, question.zone, floor=asked.floor, most=EPISODES)
    if not found.diary.days:
        why = nothing_of_day(recall, scope, question.zone)
        sure = found.confidence if found.by or asked.floor is None else 0.5
        if asked.floor is not None and recall.count(scope):
            of_floor = 'I remember nothing of that floor.'
            why = of_floor if found.by else 'Nothing that I remember tells floors apart.'
        # Of a place what was done there may be known, by other means.
        return Claim(Kind.NOT_SEEN, why, confidence=sure if scope.place is None else UNTOLD)
    evidence = [Hit(shown_by(episode), 1.0) for episode in found.diary.episodes]
    return Claim(
        Kind.TEXT,
        found.lines(question.zone, SENTENCES, TEXTS),
        list({hit.memory.id: hit for hit in evidence}.values()),
        confidence=found.confidence,
    )


def _is_long(window: Window) -> bool:
    """Tell whether a time is asked about that is more than a moment."""
    after_ns, before_ns = window.after_ns, window.before_ns
    return after_ns is not None and before_ns is not None and before_ns - after_ns >= LONG_NS
