"""What commands want of a memory: places to go to, and what is to be told; what it cannot do is said.

Each clause of a command is a request of its own. Nobody is sure of a command that was understood in part, of
which a place is not known, or that is about persons: nobody is known by sight.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from remembr_ros.agent.model import english
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.answer_text import EVEN
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.model.same_place import by_place
from remembr_ros.agent.offline.commands.clause_reader import Clause, ClauseReader, Destination
from remembr_ros.agent.offline.commands.command_clauses import FIRST, command_tree, split_command
from remembr_ros.agent.offline.commands.command_words import (
    ABLE,
    ASKS,
    LATER,
    ONCE,
    POLITE,
    RECALLING,
    TELL,
    THANKS,
    VERBS,
)
from remembr_ros.agent.offline.commands.coordinates import asker_place, coordinates_goal
from remembr_ros.agent.offline.not_seen import UNTOLD
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import AGENT, OBJECT

NAME = 'offline'
UNSURE = 0.4
"""How sure an answer is at most that is not all of what a command wants: nothing drives there at once."""

AnswerOne = Callable[[Question], Answer]
"""Answers one simple request."""

_BOTH = any_case(
    r'^\W*((?:did|have|had|was|is|are|were)\b.*?) both ((?:an?|the)\s.+?) and ((?:an?|the)\s.+?)\W*$'
)
_DO_NOT = any_case(r"^\W*(?:please )?(?:do not|don['\u2019]?t|never) (?P<verb>[a-z]+)\b")
_STOP = any_case(r'^(?:stop|halt|cancel|abort|pause)(?: (?:it|that|this|now|driving|moving|here))*$')
_PAST = frozenset(('VBD', 'VBN'))


@dataclass(slots=True)
class _Done:
    """What came of a command so far.

    :ivar stops: the places to visit, in order
    :ivar told: the answers to what is to be told
    :ivar texts: what is said of both, in order
    :ivar lost: what was not understood or is not known, in the asker's words
    :ivar undone: what no memory can do, in the asker's words
    """

    stops: list[Answer] = field(default_factory=list)
    told: list[Answer] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    understood: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)


def answer_command(question: Question, answer: AnswerOne) -> Answer | None:
    """Return the answer to a command, or to a question of two things; None: it is one simple request."""
    plain = THANKS.sub('', POLITE.sub('', question.text, count=1)).strip(' ?!.,')
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
    texts = [f'{found[1]} {thing}?' for thing in (found[2], found[3])]
    first, second = (answer(replace(question, text=text)) for text in texts)
    if not first.binary or not second.binary:
        return second if first.binary else first
    evidence = (*first.evidence, *second.evidence)
    return replace(first, text=f'{first.text} {second.text}', evidence=evidence)


def _refused(text: str, plain: str) -> Answer | None:
    """Return that nothing is done: 'Can you dance?', 'Do not go there'."""
    able, never = ABLE.match(text), _DO_NOT.match(text)
    if never is not None and never['verb'].lower() in VERBS:
        why = f'I do nothing of myself, and remember no order: {plain}.'
    elif _STOP.match(plain) or (able is not None and able['verb'].lower() not in VERBS | RECALLING):
        why = (
            f'I cannot do this, or do not understand it: {plain}. I tell what I remember, and where that was.'
        )
    else:
        return None
    return Answer(Kind.NOT_SEEN, why, NAME, confidence=UNTOLD)


def _not_now(question: Question, plain: str, answer: AnswerOne) -> Answer | None:
    """Return the answer to a command for later, for every day or on a condition."""
    if _begins_with_verb(plain):
        found = LATER.search(plain)
        if found is None and (found := ONCE.search(plain)) and ASKS.search(plain[: found.start()]):
            return None
        if found is None or not found.start() or _tells_past(plain[: found.start()], plain[found.end() :]):
            return None
        now = f'{plain[: found.start()]} {plain[found.end() :]}'.strip()
    else:  # 'At 3 pm drive there', 'If it rains, go home'
        found = LATER.match(plain) or ONCE.match(plain)
        now = '' if found is None else POLITE.sub('', plain[found.end() :], count=1)
        if found is None or not _begins_with_verb(now):
            return None
    asked = replace(question, text=now)
    known = answer_command(asked, answer) or answer(asked)
    text = f'I cannot wait for that ("{found[0].strip(" ,")}"): say it again then. {known.text}'
    return replace(known, text=text, confidence=min(known.confidence, UNSURE))


def _begins_with_verb(plain: str) -> bool:
    return re.split(r'\W', plain.strip().lower(), maxsplit=1)[0] in VERBS


def _tells_past(*texts: str) -> bool:
    """Tell whether a command says what was: 'Take me to where you were at 3 pm'."""
    trees = [command_tree(text.strip()) for text in texts if text.strip()]
    told = (
        any(word.dep == 'nsubj' and word.tag == 'PRP' for word in trees[0].words[FIRST:]) if trees else False
    )
    return told or any(word.tag in _PAST for tree in trees for word in tree.words[FIRST + 1 :])


def _in_clauses(question: Question, plain: str, answer: AnswerOne) -> Answer | None:
    if not english.is_there():
        return _wary(question, plain, answer)
    clauses = split_command(plain)
    reader = ClauseReader({name.lower() for place in question.places.all for name in place.names})
    read = [reader.read(clause) for clause in clauses]
    if not read or (len(read) == 1 and _is_simple(read[0])):
        return None
    if len(read) == 1 and not read[0].undone and len(read[0].goals) <= 1:
        found = answer(question)
        text = ' '.join(dict.fromkeys([found.text, *read[0].doubts]))
        return replace(found, text=text, confidence=min(found.confidence, UNSURE))
    done = _Done()
    for number, clause in enumerate(read):
        # What 'it' is in a later clause, the sentence says, and no question before it.
        _do(clause, question if not number else replace(question, prior=None), answer, done)
    return _composed(done, question)


def _is_simple(clause: Clause) -> bool:
    told = clause.text.split(' ', 1)[0] in TELL and not clause.doubts
    return told or (not clause.undone and not clause.doubts and len(clause.goals) <= 1)


def _wary(question: Question, plain: str, answer: AnswerOne) -> Answer | None:
    """Return the answer to a command that nobody can split: it may be one to a part of it."""
    if not _begins_with_verb(plain) or {'and', 'then'}.isdisjoint(plain.lower().replace(',', ' ').split()):
        return None
    found = answer(question)
    return replace(found, confidence=min(found.confidence, UNSURE))


def _do(clause: Clause, question: Question, answer: AnswerOne, done: _Done) -> None:
    for goal in clause.goals:
        known = _stop(goal, question, answer, done)
        (done.understood if known else done.lost).append(goal.said)
    if clause.asks:
        told = answer(replace(question, text=clause.asks))
        done.told.append(told)
        done.texts.append(told.text)
        known = told.kind is not Kind.NOT_SEEN and told.confidence >= EVEN
        (done.understood if known else done.lost).append(clause.text)
    done.doubts += clause.doubts
    if not clause.known:
        done.lost.append(clause.text)
    elif clause.undone:
        done.undone.append(clause.text)


def _stop(goal: Destination, question: Question, answer: AnswerOne, done: _Done) -> bool:
    """Add a place that is to be visited; return whether it is surely the one that is meant."""
    asked = replace(question, text=goal.text)
    found = coordinates_goal(goal.text, question) or answer(asked)
    known = found.kind is Kind.POSITION and found.confidence >= EVEN
    if goal.source and known:
        there = answer(replace(question, text=f'Is {goal.said} {goal.source}?'))
        known = there.binary is True and there.confidence >= EVEN
        if not known:
            done.texts.append(f'Whether it is the one meant I do not know: {there.text}')
    elif goal.source:
        done.texts.append(found.text)
        place = goal.source.split(' ', 1)[1]
        found = answer(replace(question, text=f'Go to {place}'))
    if found.kind is Kind.POSITION and found.pose is not None:
        done.stops.append(found)
    done.texts.append(found.text)
    return known


def _composed(done: _Done, question: Question) -> Answer:
    """Return one answer: to the places in their order, if there are any; as sure as its least sure part."""
    visited = [hit for stop in done.stops for hit in _visited(stop)]
    # What was seen from one place is visited once; things and deeds have places of their own.
    seen = [stop.evidence[0] for stop in done.stops if stop.evidence[0].memory.source not in (OBJECT, AGENT)]
    if len(by_place(seen, question.same_place)) < len(seen):
        done.doubts.append('Of these, some are one place to me, to which I go once.')
    parts = [*done.stops, *done.told]
    sure = min((part.confidence for part in parts), default=UNTOLD)
    if done.lost or done.doubts:
        sure = min(sure, UNSURE)
    text = _text(done)
    if not done.stops:
        told = next((part for part in done.told if part.kind is not Kind.NOT_SEEN), None)
        if told is None:
            return Answer(Kind.NOT_SEEN, text, NAME, confidence=min(sure, UNTOLD))
        evidence = {hit.memory.id: hit for part in done.told for hit in part.evidence}
        return replace(told, text=text, evidence=tuple(evidence.values()), confidence=sure)
    first = done.stops[0]
    if len(done.stops) == 1:
        return replace(first, text=text, confidence=sure)
    route = tuple(visited)
    return replace(first, text=text, evidence=route, every_place=True, in_order=True, confidence=sure)


def _visited(stop: Answer) -> Sequence[Hit]:
    return stop.evidence if stop.every_place else stop.evidence[:1]


def _text(done: _Done) -> str:
    parts: list[str] = []
    if done.lost:
        lost = '; '.join(done.lost)
        understood = f'I understood: {"; ".join(done.understood)}; not: ' if done.understood else ''
        parts.append(f'{understood or "I do not know, or did not understand: "}{lost}.')
    if done.undone:
        able = 'I can take you there, but cannot do this' if done.stops else 'I cannot do this'
        parts.append(f'{able}: {"; ".join(done.undone)}.')
    texts = [text if text.endswith(('.', '?', '!')) else f'{text}.' for text in done.texts]
    return ' '.join(dict.fromkeys([*parts, *done.doubts, *texts]))
