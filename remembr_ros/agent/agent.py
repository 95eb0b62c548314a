"""The agent: a planner with a language model or offline rules; statements that name the robot's place."""

import logging
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from remembr_ros.agent.conversation import Conversations, Followed
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.answer_text import asked_of
from remembr_ros.agent.narrowed_recall import EVERYTHING, NarrowedRecall
from remembr_ros.agent.offline.reader.follow_up import in_full
from remembr_ros.agent.offline.request import thing_of
from remembr_ros.agent.planner import (
    OnProgress,
    Planner,
    Progress,
    Recorder,
    Run,
    ignore_progress,
    record_nothing,
)
from remembr_ros.agent.trace import answered, asked, failed
from remembr_ros.errors import (
    BudgetExceeded,
    ChatUnavailable,
    InvalidRequest,
    RemembrError,
    ReplyInvalid,
    StoreUnavailable,
    Ungrounded,
)
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.place import NamedPlace, said_name
from remembr_ros.memory.places.places import known_places
from remembr_ros.memory.recall_protocol import Recall, check_map

NAME = 'naming'  # in place of a planner

Naming = Callable[[str, Question], NamedPlace]
"""Stores a place of this name where the question is asked; raises InvalidRequest and StoreUnavailable."""

_PLACE = r'(?:room|place|spot|area|corner|position)'
_CALL = r'^\W*(?:(?:please|ok|okay|hey|robot|now)\W+)*'
_NAME = r'\s+(?P<name>[^?]+?)(?:\s+now)?[\s.!]*$'
_CALLED = re.compile(
    rf'{_CALL}(?:this\s+{_PLACE}\s+is(?:\s+(?:called|named))?|this\s+is\s+called'
    rf'|(?:call|name)\s+this(?:\s+{_PLACE})?|remember\s+this(?:\s+{_PLACE})?\s+as){_NAME}',
    re.IGNORECASE,
)
_THIS = re.compile(rf'{_CALL}(?:this\s+is|(?:we|you)\s+are\s+(?:now\s+)?(?:in|at)){_NAME}', re.IGNORECASE)
_NO_NAME = re.compile(
    r'(?:an?|my|your|not|so|very|too|where|what|how|why|here|it|wrong|the\s+(?:way|wrong))\b', re.IGNORECASE
)
MOST_WORDS = 5


def name_said(text: str) -> str:
    """Return the name that a text gives to the place where it is said; empty: it gives none.

    'This is great.' gives none: after 'this is' or 'you are in' it has an article, a number or a capital.
    """
    called, this = _CALLED.match(text), _THIS.match(text)
    match = called or this
    if match is None or _NO_NAME.match(match['name']) or len(match['name'].split()) > MOST_WORDS:
        return ''
    name = str(match['name'])
    is_name = re.match(r'the\s', name, re.IGNORECASE) or re.search(r'\d', name) or name[:1].isupper()
    return re.sub(r'^the\s+', '', name, flags=re.IGNORECASE) if called or is_name else ''


def answer_naming(question: Question, naming: Naming) -> Answer | None:
    """Give the place where the robot is the name that a text says; None: it says none.

    :raises StoreUnavailable: the place cannot be stored
    """
    name = name_said(question.text)
    if not name:
        return None
    if question.here is None:
        return _told(question, f'I do not know where I am, so I cannot call that {said_name(name)}.')
    try:
        named = naming(name, question)
    except InvalidRequest as error:
        return _told(question, f'I cannot call this {said_name(name)}: {error}.')
    how = 'the room around me' if named.outline else f'what is within {named.facts.radius:g} m'
    reply = _told(question, f'This is {named.said} now: {how}.')
    return replace(reply, kind=Kind.TEXT, pose=named.pose, evidence=(Hit(named.memory, 1.0),), confidence=1.0)


def _told(question: Question, text: str) -> Answer:
    return Answer(Kind.NOT_SEEN, text, NAME, frame_id=question.frame_id, map_id=question.map_id)


logger = logging.getLogger(__name__)

AT_ONCE = 50  # memories of one robot, place and time; more are not told apart
NEXT_TO_M = 0.1  # by which a stored position may be rounded, and more
MAX_QUESTION = 10_000  # characters; more is no question


@dataclass
class Agent:
    """Answers questions; several may be under way at once.

    They share nothing but what each asker was answered last: see :mod:`remembr_ros.agent.conversation`.

    :param planners: tried in this order; the next one steps in when a language model is out of reach, sends
        nothing of use, or has used up its tokens
    :param timeout_s: for a question, unless it says otherwise
    :param trace: takes down what happens to each question
    :param naming: stores a place that a text names; None: such a text is a question like any other
    """

    recall: Recall
    planners: list[Planner]
    timeout_s: float = 60.0
    conversations: Conversations = field(default_factory=lambda: Conversations(thing_of, in_full))
    trace: Recorder | None = None
    naming: Naming | None = None

    @property
    def planner(self) -> str:
        """The name of the planner that is tried first."""
        return self.planners[0].name

    def ask(
        self,
        question: Question,
        *,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """Answer a question.

        :param timeout_s: None or not positive: the agent's
        :param on_progress: told what is being done; called in this thread
        :param cancel: set from another thread when the answer is not wanted any more
        :raises RemembrError: there is no answer; see remembr_ros.errors
        """
        # Half a character, which JSON allows, could be neither embedded nor sent.
        text = question.text.encode('utf-8', 'replace').decode().strip()
        if not text:
            raise InvalidRequest('the question is empty')
        if len(text) > MAX_QUESTION:
            raise InvalidRequest(f'the question has {len(text)} characters; ask with at most {MAX_QUESTION}')
        began = time.monotonic()
        allowed = timeout_s if timeout_s is not None and timeout_s > 0.0 else self.timeout_s
        record = self.trace.begin() if self.trace is not None else record_nothing
        run = Run(began + allowed, cancel or threading.Event(), on_progress or ignore_progress, record)
        question = replace(question, text=text)
        record('asked', asked(question))
        try:
            run.check()
            named = self.naming and answer_naming(question, self.naming)
            if not named:
                check_map(NarrowedRecall(self.recall, run), question.scope.map_id)
            followed = self._follow(question, run)
            answer = named or followed.answer or self._answer(followed, run)
            if followed.narrowing != EVERYTHING and not answer.evidence:
                answer = replace(answer, text=f'Apart from that: {answer.text}')
            if followed.answer is None and (scope_asked := asked_of(question.scope, question.zone)):
                answer = replace(answer, text=f'{answer.text} ({scope_asked})')
        except RemembrError as error:
            self.conversations.forget(question.asker)
            record('failed', failed(error, replace(run.ledger.usage, seconds=time.monotonic() - began)))
            raise
        # A caption may have half a character, too.
        answer = replace(answer, text=answer.text.encode('utf-8', 'replace').decode())
        # What a language model took counts, even if another planner answered in the end.
        cost = run.ledger.usage if run.ledger.usage.calls else answer.cost
        answer = replace(answer, cost=replace(cost, seconds=time.monotonic() - began))
        self.conversations.keep(followed, answer)
        record('answered', answered(answer))
        return answer

    def _follow(self, question: Question, run: Run) -> Followed:
        """Return what a question amounts to; nothing follows from what was forgotten meanwhile."""
        followed = self.conversations.follow(question)
        if followed == Followed(question):
            return followed
        recall = NarrowedRecall(self.recall, run)
        if all(_is_there(memory, recall) for memory in self.conversations.shown_to(question.asker)):
            return followed
        self.conversations.forget(question.asker)
        return self.conversations.follow(question)

    def _answer(self, followed: Followed, run: Run) -> Answer:
        question = followed.question
        recall = NarrowedRecall(self.recall, run, followed.narrowing, question.scope)
        if places := known_places(NarrowedRecall(self.recall, run)):
            question = replace(question, places=places)
        for planner, following in zip(self.planners, [*self.planners[1:], None], strict=True):
            run.check()
            run.record('planner', {'name': planner.name})
            try:
                return in_places(planner.answer(question, recall, run), question)
            except (ChatUnavailable, ReplyInvalid, Ungrounded, BudgetExceeded) as error:
                run.check()  # no time is left for another one
                if following is None:
                    raise
                logger.warning('%s; the %s planner answers instead', error, following.name)
                run.on_progress(Progress('thinking', f'{planner.name} is out of reach: {following.name}'))
        raise ChatUnavailable('no planner is configured')


def in_places(answer: Answer, question: Question) -> Answer:
    """Return an answer whose evidence says in which named place each memory was made."""
    names = question.places.names_of([hit.memory for hit in answer.evidence])
    evidence = (replace(hit, place=name) for hit, name in zip(answer.evidence, names, strict=True))
    return replace(answer, evidence=tuple(evidence))


def _is_there(memory: Memory, recall: Recall) -> bool:
    """Tell whether a memory is still remembered; one of which nobody can tell is."""
    at = memory.pose.position if memory.pose is not None else None
    scope = Scope(
        memory.start_ns,
        memory.end_ns,
        near=at,
        radius_m=None if at is None else NEXT_TO_M,
        robots=(memory.robot,),
        map_id=memory.map_id,
        source=memory.source,
    )
    try:
        found = recall.find(Query(scope=scope, limit=AT_ONCE))
    except StoreUnavailable:
        return True
    return len(found) == AT_ONCE or any(hit.memory.id == memory.id for hit in found)
