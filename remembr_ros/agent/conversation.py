"""Follow-up questions: the recent answers to each asker."""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from remembr_ros.agent.model.answer import Answer, Kind, Question, Turn, Usage
from remembr_ros.agent.model.answer_text import with_facts
from remembr_ros.agent.model.grounding import Claim, ground
from remembr_ros.agent.model.same_place import by_place, stay_of
from remembr_ros.agent.narrowed_recall import EVERYTHING, Narrowing
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory

EXPIRY_S = 300.0  # So long after an answer 'there' still means its place
MAX_ASKERS = 64  # Who was answered longest ago is forgotten
NAME = 'conversation'  # What answers when nothing needs to be recalled

HAPPENED = {'before': 'What did you {} last?', 'after': 'What did you {} first?'}
"""Asked of the time before or after an answer, for 'What happened before that?'."""

_THING = '(?:it|that|this|they|those|them)'
_IS = '(?:is|are|was|were|did|does)'
_FORMS = {
    'place': r'(?:(?:can|could|will|would) you )?(?:please )?'
    r"(?:(?:take|bring|lead|guide|drive|navigate|walk|send|get)(?: me| us)?|go|let us go|let's go|head)"
    r'(?: back)? (?:there|to (?:it|that|this)(?: place| one)?)'
    rf'|show me the way(?: there)?|where(?: {_IS} {_THING})?|how far(?: away)?(?: {_IS} {_THING})?(?: away)?',
    'time': rf'(?:when|how long ago|(?:at )?what time)(?: {_IS} {_THING}(?: happen)?)?',
    'duration': rf'how long {_IS} (?:{_THING}|you there)(?: take| last)?'
    r'|how long did you (?:stay|stand|wait) there',
    'before': rf'(?:the time |the one )?(?:right |just )?(?:before|earlier)(?: than)?(?: {_THING}| then)?',
    'after': rf'(?:the time |the one )?(?:right |just )?(?:after|later)(?: than)?(?: {_THING}| then)?',
    'other': r'(?:(?:can|could|will|would) you )?(?:please )?'
    r'(?:(?:take|bring|lead|guide|drive)(?: me| us)? to |go to )(?:the other|another)(?: one| place)?'
    rf'|(?:and )?(?:where|anywhere|somewhere) else(?: {_IS} {_THING})?'
    rf'|(?:where {_IS} )?(?:{_IS} there )?(?:(?:the |any |an ?)?others?|another|any more)(?: ones?)?',
}
_LEAD = (
    r'(?:(?:and|but|ok|okay|so|then|now|please|yes|yeah|yep|no|great|good|perfect|sure|alright|all right|fine'
    r'|thanks|thank you|robot|what about|how about|what was)[ ,.!]+)*'
)
_FORM = {
    name: re.compile(rf'{_LEAD}(?:{form})(?:[ ,]+(?:please|then|now|exactly))*', re.IGNORECASE)
    for name, form in _FORMS.items()
}
_TO_A_PLACE = re.compile(r'\b(?:take|bring|lead|guide|drive|go|where)\b', re.IGNORECASE)
_HAPPENED = re.compile(
    rf'{_LEAD}what (?:happened|did you (?:see|(?P<did>do))|was there) (?:right |just )?(?P<side>before|after)'
    rf'(?: {_THING}| then)?',
    re.IGNORECASE,
)
_REFERS = re.compile(
    r'^(?:and|what about|how about|why|but)\b|^(?:how (?:many|often)|which|which ones)$'
    r'|^(?:in|on|at|from|to) (?:the )?\w+(?: \w+)?$|^(?:yesterday|today|this \w+|last \w+)$'
    r'|(?<!is )(?<!are )\bthere\b(?! (?:is|are|was|were)\b)|'
    r'\b(?:it|its|that|they|them|those|this|ones?|he|she|him|her|again|same|others?|another|then)\b',
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Followed:
    """What a question amounts to, given what was asked before.

    :param question: to be answered
    :param narrowing: from which part of the memory
    :param answer: if nothing needs to be recalled
    """

    question: Question
    narrowing: Narrowing = EVERYTHING
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class _Kept:
    turn: Turn
    narrowing: Narrowing
    at_s: float


@dataclass
class Conversations:
    """The last turn of each asker; safe to share between threads.

    :param thing_of: returns what a question is about, in its asker's words; empty: it names no thing
    :param in_full: returns the text of a question that follows another one as it would stand for itself
    :param expiry_s: a turn is forgotten after this [s]
    :param max_askers: turns kept
    :param clock: monotonic [s]
    """

    thing_of: Callable[[str], str]
    in_full: Callable[[Question], str]
    expiry_s: float = EXPIRY_S
    max_askers: int = MAX_ASKERS
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _kept: OrderedDict[str, _Kept] = field(default_factory=OrderedDict, init=False)

    def follow(self, question: Question) -> Followed:
        """Return what a question amounts to; one that stands for itself is returned as it is."""
        text = ' '.join(question.text.split()).strip(' ?.!,')
        form = next((name for name, pattern in _FORM.items() if pattern.fullmatch(text)), None)
        happened = _HAPPENED.fullmatch(text)
        if happened:
            form = happened['side'].lower()
        kept = self._of(question.asker)
        if kept is None:
            if form is None:
                return Followed(question)
            return Followed(question, answer=_not_seen(question, 'I do not know what that refers to.'))
        if form in ('before', 'after', 'other'):
            did = 'do' if happened and happened['did'] else 'see'
            asked = HAPPENED[form].format(did) if happened else kept.turn.question
            to_a_place = form == 'other' and _TO_A_PLACE.search(text)
            if to_a_place and kept.turn.answer.kind is not Kind.POSITION and (thing := self.thing_of(asked)):
                asked = f'Where is {thing}?'
            return _again(question, kept, form, asked)
        if form is not None:
            return Followed(question, kept.narrowing, _known(question, kept.turn.answer, form))
        return Followed(replace(question, prior=kept.turn)) if _REFERS.search(text) else Followed(question)

    def keep(self, followed: Followed, answer: Answer) -> None:
        """Remember an answer for what its asker asks next; without an asker there is nothing to remember."""
        asker = followed.question.asker
        if not asker:
            return
        with self._lock:
            if followed.answer is None:
                turn = Turn(self.in_full(followed.question), answer)
                self._kept[asker] = _Kept(turn, followed.narrowing, self.clock())
            elif asker in self._kept:
                # 'Take me there. And before that?': what was asked is still the question before.
                self._kept[asker] = replace(self._kept[asker], at_s=self.clock())
            else:
                return
            self._kept.move_to_end(asker)
            while len(self._kept) > self.max_askers:
                self._kept.popitem(last=False)

    def shown_to(self, asker: str) -> tuple[Memory, ...]:
        """Return the memories that an asker's last answer rests on."""
        kept = self._of(asker)
        return () if kept is None else tuple(hit.memory for hit in kept.turn.answer.evidence)

    def forget(self, asker: str) -> None:
        """Forget an asker's last turn: a question failed, and 'there' may mean what it asked for."""
        with self._lock:
            self._kept.pop(asker, None)

    def _of(self, asker: str) -> _Kept | None:
        with self._lock:
            kept = self._kept.get(asker) if asker else None
            if kept is not None and self.clock() - kept.at_s > self.expiry_s:
                del self._kept[asker]
                return None
            return kept


def _again(question: Question, kept: _Kept, form: str, text: str) -> Followed:
    """Return a question about the time before or after the answer before, or about another place.

    :param text: what is asked of there: the question before, unless it is what happened
    """
    shown = _shown(kept.turn.answer)
    if not shown:
        return Followed(question, answer=_not_seen(question, 'There was nothing that this could follow.'))
    narrowing, memory = kept.narrowing, shown[0].memory
    if form == 'before':
        narrowing = replace(narrowing, before_ns=memory.start_ns, after_ns=None)
    elif form == 'after':
        narrowing = replace(narrowing, after_ns=memory.end_ns, before_ns=None)
    else:
        places = [(memory.map_id, memory.pose.position)] if memory.pose is not None else []
        narrowing = replace(
            narrowing,
            elsewhere=(*narrowing.elsewhere, *places),
            same_place=question.same_place,
            without=narrowing.without | {memory.id},
        )
    return Followed(replace(question, text=text), narrowing)


def _known(question: Question, before: Answer, form: str) -> Answer:
    """Return the place, the time or the duration of the answer before."""
    hits = _shown(before)
    if form == 'place':
        hits = [hit for hit in hits if hit.memory.pose is not None]
    if not hits:
        return _not_seen(question, 'There is nothing that this could refer to.')
    hit = hits[0]
    if form == 'duration' and before.kind is Kind.DURATION and before.duration_s is not None:
        return replace(before, cost=Usage())
    if form == 'duration':
        return _lasted(question, hits, before.confidence)
    kind, text = (Kind.POSITION, 'There') if form == 'place' else (Kind.TIME, 'That was')
    claim = Claim(kind, text, [hit], confidence=before.confidence)
    return with_facts(ground(claim, question, NAME), question)


def _lasted(question: Question, hits: list[Hit], confidence: float) -> Answer:
    """Return how long it took, as far as the answer before has shown: one memory is a part of it at least."""
    hit = hits[0]
    # Three lifts one after another are three places, and no stay at one.
    stay = stay_of(hit, next(group for group in by_place(hits, question.same_place) if hit in group))
    end = max(stay, key=lambda shown: shown.memory.end_ns)
    text = 'That took' if len(stay) > 1 else 'That took at least'
    claim = Claim(Kind.DURATION, text, [hit], start=stay[0], end=end, confidence=confidence)
    return with_facts(ground(claim, question, NAME), question)


def _shown(answer: Answer) -> list[Hit]:
    """Return what an answer has shown; a 'no' has shown nothing."""
    return [] if answer.binary is False else list(answer.evidence)


def _not_seen(question: Question, text: str) -> Answer:
    return ground(Claim(Kind.NOT_SEEN, text), question, NAME)
