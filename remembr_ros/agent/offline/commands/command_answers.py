"""What commands want of a memory: places to go to, and what is to be told; what it cannot do is said.

Each clause of a command is a request of its own. Nobody is sure of a command that was understood in part, of
which a place is not known, or that is about persons: nobody is known by sight.
"""

from collections.abc import Callable
from dataclasses import replace

from remembr_ros.agent.model import english
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.answer_text import EVEN
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.model.relevance_model import PERHAPS
from remembr_ros.agent.model.same_place import by_place
from remembr_ros.agent.offline.commands.coordinates import asker_place, coordinates_goal, not_known
from remembr_ros.agent.offline.not_seen import UNTOLD
from remembr_ros.agent.offline.reader.clauses import TELL, VERBS, Clause, ClauseReader, split_command
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.agent.times.day import WEEKDAY_TEXT
from remembr_ros.agent.times.time_expression import AMOUNTS, CLOCK_TEXT, PERIOD, in_digits
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
    r'^\W*((?:did|have|had|was|is|are|were)\b.*?) both ((?:an?|the) .+?) and ((?:an?|the) .+?)\W*$'
)
_WHERE_ARE = any_case(
    r'^where (?:is|are) ((?:the |my |our )?\w+ \w*\d\w*,? and .+|(?:the|my|our) \w+,? and (?:the|my|our) .+)$'
)
_ORDER = any_case(rf'^(?:{"|".join(VERBS)})\b')
_NOTHING = any_case(
    rf'^(?:(?:do not|never) (?:{"|".join(VERBS)})\b'
    r'|(?:stop|halt|cancel|abort|pause)(?: (?:it|that|this|now|driving|moving|here))*$)'
)
_NOT_NOW = any_case(
    rf'[\s,]*\b(?:in (?:about )?{AMOUNTS}|(?:at|around|by) {CLOCK_TEXT}|tomorrow(?: \w+)?|tonight|daily'
    r'|hourly|later(?: today| on)?|regularly|(?:(?:on )?next|every)'
    rf' (?:{PERIOD}|{WEEKDAY_TEXT}|time|morning|evening|night))\b(?: (?:at )?{CLOCK_TEXT})?'
    r'|[\s,]*\b(?:if|unless|as soon as|whenever|once|until|when|(?:after|before)(?= (?:you|\w+ing)\b))'
    r' [^,]+,?'
)
"""For later, again and again, or on a condition."""
_TELLS = any_case(r'\b(?:you|we|i|was|were|did|saw|seen|last|tell|show|say|check|see|look|ask|know)\b')
"""Tells what was, or begins a question: 'where you were at 3 pm', 'check if the door is open'."""


def answer_command(question: Question, answer: AnswerOne) -> Answer | None:
    """Return the answer to a command, or to a question of two things; None: it is one simple request."""
    plain = _THANKS.sub('', _POLITE.sub('', question.text, count=1)).strip(' ?!.,')
    if of_several := _WHERE_ARE.match(plain):
        plain = f'find {of_several[1]}'
    return (
        _both(question, answer)
        or coordinates_goal(plain, question)
        or asker_place(plain, question, answer)
        or _refused(question.text, plain)
        or _not_now(question, in_digits(plain), answer)
        or _in_clauses(question, plain, answer)
    )


def _both(question: Question, answer: AnswerOne) -> Answer | None:
    """Return the answer to 'Did you see both a cup and a vase?'."""
    found = _BOTH.match(question.text)
    if found is None:
        return None
    first, second = (answer(replace(question, text=f'{found[1]} {thing}?')) for thing in found.group(2, 3))
    if not (first.binary and second.binary):
        return second if first.binary else first
    evidence = (*first.evidence, *second.evidence)
    sure = min(first.confidence, second.confidence)
    return replace(first, text=f'{first.text} {second.text}', evidence=evidence, confidence=sure)


def _refused(text: str, plain: str) -> Answer | None:
    """Return that nothing is done: 'Can you juggle?', 'Do not go there'."""
    asked = ' you' in text[: text.find(plain)].lower()
    known = VERBS | word_class('recalling')  # what somebody who remembers can do, or is told to do
    if (asked and plain.split(' ', 1)[0].lower() not in known) or _NOTHING.match(plain):
        return not_known(f'I cannot do this, or do not understand it, and remember no order: {plain}.')
    return None


def _not_now(question: Question, plain: str, answer: AnswerOne) -> Answer | None:
    """Return the answer to a command for later, for every day or on a condition."""
    if (found := _NOT_NOW.search(plain)) is None:
        return None
    now = _POLITE.sub('', f'{plain[: found.start()]} {plain[found.end() :]}', count=1).strip()
    if not _ORDER.match(now) or (found.start() and _TELLS.search(now)):
        return None
    asked = replace(question, text=now)
    known = answer_command(asked, answer) or answer(asked)
    return _unsure(known, f'I cannot wait for that ("{found[0].strip(" ,")}"): say it again then.')


def _unsure(known: Answer, *why: str) -> Answer:
    text = ' '.join(dict.fromkeys([known.text, *why]))
    return replace(known, text=text, confidence=min(known.confidence, PERHAPS))


def _in_clauses(question: Question, plain: str, answer: AnswerOne) -> Answer | None:
    """Return the answer to a command of several requests, or one that is not all understood or done."""
    if not english.is_there():
        # Nobody can split it: the answer may be one to a part.
        several = {'and', 'then'} & set(plain.lower().replace(',', ' ').split())
        return _unsure(answer(question)) if several and _ORDER.match(plain) else None
    reader = ClauseReader({name.lower() for place in question.places.all for name in place.names})
    clauses = [reader.read(text) for text in split_command(plain)]
    if len(clauses) > 1 or any(clause.undone or len(clause.goals) > 1 for clause in clauses):
        tells = len(clauses) == 1 and clauses[0].text.split(' ', 1)[0] in TELL and not clauses[0].doubts
        return None if tells else _composed(clauses, question, answer)
    return _unsure(answer(question), *clauses[0].doubts) if clauses and clauses[0].doubts else None


def _composed(clauses: list[Clause], question: Question, answer: AnswerOne) -> Answer:
    """Return one answer: to the places in their order, if there are any; as sure as its least sure part."""
    found, stops, told = list[Answer](), list[Answer](), list[Answer]()
    known, lost = list[str](), list[str]()
    for clause in clauses:
        # What 'it' is in a later clause, the sentence says, and no question before it.
        asked = question if clause is clauses[0] else replace(question, prior=None)
        for text, said in clause.goals.items():
            part = coordinates_goal(text, asked) or answer(replace(asked, text=text))
            is_met = part.kind is not Kind.NOT_SEEN if clause.asks else part.kind is Kind.POSITION
            (known if is_met and part.confidence >= EVEN else lost).append(said)
            if part.kind is not Kind.NOT_SEEN and (clause.asks or part.pose is not None):
                (told if clause.asks else stops).append(part)
            found.append(part)
    texts = [doubt for clause in clauses for doubt in clause.doubts]
    # What was seen from one place is visited once; things and deeds have places of their own.
    seen = [stop.evidence[0] for stop in stops if stop.evidence[0].memory.source not in (OBJECT, AGENT)]
    if len(by_place(seen, question.same_place)) < len(seen):
        texts.append('Of these, some are one place to me, to which I go once.')
    if lost:
        unknown = (
            f'I understood: {"; ".join(known)}; not' if known else 'I do not know, or did not understand'
        )
        texts.append(f'{unknown}: {"; ".join(lost)}.')
    sure = min([PERHAPS] * bool(texts) + [part.confidence for part in found], default=UNTOLD)
    if undone := '; '.join(clause.text for clause in clauses if clause.undone):
        texts.append(f'I {"can take you there, but " if stops else ""}cannot do this: {undone}.')
    text = ' '.join(dict.fromkeys([*texts, *(f'{part.text.removesuffix(".")}.' for part in found)]))
    if not (shown := stops or told):
        return replace(not_known(text), confidence=min(sure, UNTOLD))
    first = replace(shown[0], text=text, confidence=sure)
    if len(shown) == 1:
        return first
    visited = [one.evidence[:1] if stops and not one.every_place else one.evidence for one in shown]
    route = tuple(hit for hits in visited for hit in hits)
    return replace(first, evidence=route, every_place=bool(stops), in_order=bool(stops))
