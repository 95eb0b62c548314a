"""What commands want of a memory: places to go to, and what is to be told; what it cannot do is said.

Each clause of a command is a request of its own. Nobody is sure of a command that was understood in part, of
which a place is not known, or that is about persons: nobody is known by sight.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from remembr_ros.agent.model import english
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.answer_text import EVEN
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.model.relevance_model import PERHAPS
from remembr_ros.agent.model.same_place import by_place
from remembr_ros.agent.offline.commands.clause_reader import (
    TELL,
    VERBS,
    Clause,
    ClauseReader,
    begins_with_verb,
    split_command,
)
from remembr_ros.agent.offline.commands.coordinates import NAME, asker_place, coordinates_goal
from remembr_ros.agent.offline.not_seen import UNTOLD
from remembr_ros.memory.model.record import AGENT, OBJECT

AnswerOne = Callable[[Question], Answer]
"""Answers one simple request."""

_POLITE = any_case(
    r'^\W*(?:(?:hey|hi|hello|ok|okay|please|robot|so|and|now|kindly|then|first|just|alright)\b[\s,]*'
    r"|let(?:'s| us) |(?:can|could|would|will) you(?: please)? "
    r"|(?:i (?:want|need|would like)|i'd like)(?: you)? to )*"
)
_THANKS = any_case(r'[\s,]*\b(?:please|thanks|thank you|for me)\W*$')
_BOTH = any_case(
    r'^\W*((?:did|have|had|was|is|are|were)\b.*?) both ((?:an?|the)\s.+?) and ((?:an?|the)\s.+?)\W*$'
)
_RECALLING = VERBS | frozenset(
    'see hear name remember recall know explain read think recognise recognize detect compare confirm '
    'estimate point'.split()
)
"""What somebody who remembers can do, or is told to do."""
_NOTHING = any_case(
    r"^(?:(?:do not|don['\u2019]?t|never) (?P<order>[a-z].*)"
    r'|(?:stop|halt|cancel|abort|pause)(?: (?:it|that|this|now|driving|moving|here))*)$'
)
_UNIT = r'(?:second|sec|minute|min|hour|day|week)s?'
_CLOCK = r'(?:\d{1,2}(?::\d\d)? ?[ap]\.?m\b\.?|\d{1,2}:\d\d|noon|midnight|\d{1,2} o\W?clock|half past \w+)'
_DAY = r'(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|week|month|time|morning|evening|night)'
_NOT_NOW = any_case(
    rf'[\s,]*\b(?:in (?:about )?(?:[\w-]+ ){{1,2}}{_UNIT}\b|(?:at|around|by) {_CLOCK}'
    r'|tomorrow(?: \w+)?|tonight|later(?: today| on)?|daily|hourly|regularly'
    rf'|(?:(?:on )?next|every) (?:\d+ )?(?:{_DAY}|{_UNIT}))(?: (?:at )?{_CLOCK})?'
)
_ONCE = any_case(
    r'[\s,]*\b(?:if|unless|as soon as|whenever|once|until|when|(?:after|before)(?= (?:you|\w+ing)\b)) [^,]+,?'
)
_PAST = any_case(r'\b(?:you|we|i|was|were|did|saw|seen|last|tell|show|say|check|see|look|ask|know)\b')
"""Tells what was, or begins a question: 'where you were at 3 pm', 'check if the door is open'."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What is known of one request of a clause.

    :param said: the request, in the asker's words
    :param is_stop: it is a place that is to be visited, and not only told
    """

    said: str
    is_stop: bool
    answer: Answer

    @property
    def is_known(self) -> bool:
        wrong = self.answer.kind is not Kind.POSITION if self.is_stop else self.answer.kind is Kind.NOT_SEEN
        return not wrong and self.answer.confidence >= EVEN


def answer_command(question: Question, answer: AnswerOne) -> Answer | None:
    """Return the answer to a command, or to a question of two things; None: it is one simple request."""
    plain = _THANKS.sub('', _POLITE.sub('', question.text, count=1)).strip(' ?!.,')
    return (
        _both(question, answer)
        or coordinates_goal(plain, question)
        or asker_place(plain, question, answer)
        or _refused(question.text, plain)
        or _not_now(question, plain, answer)
        or _in_clauses(question, plain, answer)
    )


def _both(question: Question, answer: AnswerOne) -> Answer | None:
    """Return the answer to 'Did you see both a cup and a vase?'."""
    found = _BOTH.match(question.text)
    if found is None:
        return None
    first, second = (answer(replace(question, text=f'{found[1]} {found[thing]}?')) for thing in (2, 3))
    if not first.binary or not second.binary:
        return second if first.binary else first
    evidence = (*first.evidence, *second.evidence)
    return replace(first, text=f'{first.text} {second.text}', evidence=evidence)


def _refused(text: str, plain: str) -> Answer | None:
    """Return that nothing is done: 'Can you juggle?', 'Do not go there'."""
    polite, nothing = _POLITE.match(text), _NOTHING.match(plain)
    asked = polite is not None and ' you' in polite[0].lower()
    unable = asked and plain.split(' ', 1)[0].lower() not in _RECALLING
    if unable or (nothing is not None and (not nothing['order'] or begins_with_verb(nothing['order']))):
        why = f'I cannot do this, or do not understand it, and remember no order: {plain}.'
        return Answer(Kind.NOT_SEEN, why, NAME, confidence=UNTOLD)
    return None


def _not_now(question: Question, plain: str, answer: AnswerOne) -> Answer | None:
    """Return the answer to a command for later, for every day or on a condition."""
    found = _NOT_NOW.search(plain) or _ONCE.search(plain)
    if found is None:
        return None
    now = _POLITE.sub('', f'{plain[: found.start()]} {plain[found.end() :]}', count=1).strip()
    if not begins_with_verb(now) or (found.start() and _PAST.search(now)):
        return None
    known = answer_command(replace(question, text=now), answer) or answer(replace(question, text=now))
    text = f'I cannot wait for that ("{found[0].strip(" ,")}"): say it again then. {known.text}'
    return _unsure(known, text)


def _in_clauses(question: Question, plain: str, answer: AnswerOne) -> Answer | None:
    if not english.is_there():
        # Nobody can split it: the answer may be one to a part.
        several = {'and', 'then'} & set(plain.lower().replace(',', ' ').split())
        return _unsure(answer(question)) if several and begins_with_verb(plain) else None
    clauses = split_command(plain)
    reader = ClauseReader({name.lower() for place in question.places.all for name in place.names})
    read = [reader.read(clause) for clause in clauses]
    if not read:
        return None
    first = read[0]
    if len(read) == 1 and not first.doubts and (_is_simple(first) or clauses[0].split(' ', 1)[0] in TELL):
        return None
    if len(read) == 1 and _is_simple(first):
        known = answer(question)
        return _unsure(known, ' '.join(dict.fromkeys([known.text, *first.doubts])))
    parts: list[_Part] = []
    for clause in read:
        # What 'it' is in a later clause, the sentence says, and no question before it.
        asked = question if clause is first else replace(question, prior=None)
        for text, said in clause.goals.items():
            found = coordinates_goal(text, asked) or answer(replace(asked, text=text))
            parts.append(_Part(said, not clause.asks, found))
    return _composed(read, parts, question)


def _is_simple(clause: Clause) -> bool:
    return len(clause.goals) <= 1 and not clause.undone


def _unsure(known: Answer, text: str = '') -> Answer:
    return replace(known, text=text or known.text, confidence=min(known.confidence, PERHAPS))


def _composed(read: Sequence[Clause], parts: Sequence[_Part], question: Question) -> Answer:
    """Return one answer: to the places in their order, if there are any; as sure as its least sure part."""
    found = [part for part in parts if part.answer.kind is not Kind.NOT_SEEN]
    stops = [part.answer for part in found if part.is_stop and part.answer.pose is not None]
    told = [part.answer for part in found if not part.is_stop]
    doubts = [doubt for clause in read for doubt in clause.doubts]
    # What was seen from one place is visited once; things and deeds have places of their own.
    seen = [stop.evidence[0] for stop in stops if stop.evidence[0].memory.source not in (OBJECT, AGENT)]
    if len(by_place(seen, question.same_place)) < len(seen):
        doubts.append('Of these, some are one place to me, to which I go once.')
    understood = '; '.join(part.said for part in parts if part.is_known)
    lost = [part.said for part in parts if not part.is_known]
    lost += [clause.text for clause in read if not clause.known]
    undone = '; '.join(clause.text for clause in read if clause.undone and clause.known)
    texts = [part.answer.text.removesuffix('.') for part in parts]
    if undone:
        texts.insert(0, f'I {"can take you there, but " if stops else ""}cannot do this: {undone}')
    if lost:
        unknown = f'I understood: {understood}; not' if understood else 'I do not know, or did not understand'
        texts.insert(0, f'{unknown}: {"; ".join(lost)}')
    text = ' '.join(dict.fromkeys([*doubts, *(f'{text}.' for text in texts)]))
    sure = min((part.answer.confidence for part in parts), default=UNTOLD)
    sure = min(sure, PERHAPS) if lost or doubts else sure
    if not stops and not told:
        return Answer(Kind.NOT_SEEN, text, NAME, confidence=min(sure, UNTOLD))
    shown = stops or told
    first = replace(shown[0], text=text, confidence=sure)
    if len(shown) == 1:
        return first
    visited = [stop.evidence[:1] if stops and not stop.every_place else stop.evidence for stop in shown]
    route = tuple(hit for hits in visited for hit in hits)
    return replace(first, evidence=route, every_place=bool(stops), in_order=bool(stops))
