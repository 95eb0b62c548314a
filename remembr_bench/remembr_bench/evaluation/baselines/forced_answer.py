"""Baselines that must answer, by reference: a model that has all it will get; the top hit."""

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import ClassVar

from remembr_ros.agent.chat.bounded_call import complete
from remembr_ros.agent.chat.client import ChatClient, Message, Reply, Tool, ToolCall
from remembr_ros.agent.llm.answer_call import AnswerCall, cited
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.llm.reply_text import MAX_REPLY, calls_in_text
from remembr_ros.agent.llm.tools import ANSWER, TOOLS, parse_arguments
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.answer_text import with_facts
from remembr_ros.agent.model.grounding import Claim, ground, without_invented_numbers
from remembr_ros.agent.offline.request import parse_request
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.errors import ReplyInvalid, Ungrounded
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.recall_protocol import Recall

MAX_MEMORIES = 1_000  # as many as a recall returns


class ForcedAnswerPlanner(ABC):
    """Shows a model all memories that it may see in one prompt, and takes its answer.

    :param call_timeout_s: for one call of the model [s]
    """

    METHOD: ClassVar[str]
    """What it is called, and its prompt."""

    CAPTIONS_SHOWN: ClassVar[bool]
    """Then a text may have no numbers but theirs; frames may show others."""

    TOOLS: ClassVar[tuple[Tool, ...]] = tuple(tool for tool in TOOLS if tool.name == ANSWER)
    WANTED: ClassVar[str] = 'Call `answer`.'

    def __init__(self, chat: ChatClient, call_timeout_s: float) -> None:
        self._chat = chat
        self._call_timeout_s = call_timeout_s

    @property
    def name(self) -> str:
        # The model's own may be known only after a call.
        return f'{self.METHOD}+{self._chat.model}'

    @abstractmethod
    def _shown(self, hits: list[Hit], older: int, question: Question, evidence: Evidence) -> Message:
        """Return what the model is shown of the memories, which are added to the evidence.

        :param hits: in the order of time; not empty
        :param older: memories that a recall did not return
        """

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        """Answer a question; an answer that cannot be used is sent back once.

        :raises InvalidRequest: nothing can be shown of the memories
        :raises Ungrounded: the model could not support its answer
        :raises ReplyInvalid: its replies could not be used
        :raises Cancelled, BudgetExceeded, ChatUnavailable: see
            :func:`remembr_ros.agent.chat.bounded_call.complete`
        """
        run.check()
        run.on_progress(Progress('recalling', 'all memories'))
        scope = Scope(map_id=question.map_id or None)
        hits = recall.find(Query(scope=scope, limit=MAX_MEMORIES))
        if not hits:
            return ground(Claim(Kind.NOT_SEEN, 'The memory holds nothing.'), question, self.name)
        hits.sort(key=lambda hit: (hit.memory.start_ns, hit.memory.id))
        evidence = Evidence()
        shown = self._shown(hits, recall.count(scope) - len(hits), question, evidence)
        messages: tuple[Message, ...] = (Message('system', prompt(self.METHOD)), shown)
        attempt = 0
        while True:
            attempt += 1
            run.check()
            run.on_progress(Progress('thinking', self._chat.model, len(evidence)))
            reply = complete(
                self._chat,
                messages,
                self.TOOLS,
                must_call=ANSWER if self.TOOLS else None,
                run=run,
                call_timeout_s=self._call_timeout_s,
            )
            try:
                return replace(self._answer(reply, evidence, question), cost=run.ledger.usage)
            except Ungrounded as error:
                if attempt > 1:
                    raise Ungrounded(f'{self.name} could not support its answer: {error}') from error
                complaint = f'error: {error}. Cite memories by their labels, or answer not_seen.'
            except ReplyInvalid as error:
                if attempt > 1:
                    raise ReplyInvalid(
                        f'{self.name} sent {attempt} replies that could not be used (the last: {error}); '
                        'try a larger model'
                    ) from error
                complaint = f'error: {error}. {self.WANTED}'
            messages = (*messages, *_sent_back(reply, complaint))

    def _answer(self, reply: Reply, evidence: Evidence, question: Question) -> Answer:
        """Return what a reply says.

        :raises Ungrounded: it has no support; ReplyInvalid: it is no answer
        """
        return with_facts(ground(self._claim(reply, evidence, question), question, self.name), question)

    def _claim(self, reply: Reply, evidence: Evidence, question: Question) -> Claim:
        calls: tuple[ToolCall, ...] = reply.tool_calls or calls_in_text(reply.content)
        call = next((call for call in calls if call.name == ANSWER), None)
        arguments = parse_arguments(call.name, call.arguments[:MAX_REPLY]) if call else None
        if not isinstance(arguments, AnswerCall):
            raise ReplyInvalid('that was no answer')
        claim = cited(arguments, evidence)
        if claim.kind is Kind.TEXT and not self.CAPTIONS_SHOWN:
            return claim
        return without_invented_numbers(claim, question)


def _sent_back(reply: Reply, complaint: str) -> list[Message]:
    """Return the reply and what is wrong with it, as a conversation goes on."""
    calls = tuple(replace(call, arguments=call.arguments[:MAX_REPLY]) for call in reply.tool_calls)
    said = Message('assistant', reply.content[:MAX_REPLY], calls)
    if not calls:
        return [said, Message('user', complaint)]
    return [said, *(Message('tool', complaint, tool_call_id=call.id) for call in calls)]


@cache
def prompt(name: str) -> str:
    """Return a prompt of this package."""
    return (files('remembr_bench.evaluation') / 'prompts' / f'{name}.md').read_text(encoding='utf-8')


DURATION_S = 60.0  # what every duration is said to be: one memory tells none


class Top1Planner:
    """Recalls one memory by the question's own words and never doubts it.

    The kind of the answer is read from the question; place and time are the memory's, text is its caption,
    yes or no is always yes, and a duration always a minute. What thinks should be better.
    """

    name = 'top1'

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        run.check()
        run.on_progress(Progress('recalling', question.text))
        hits = recall.find(Query(question.text, scope=Scope(map_id=question.map_id or None), limit=1))
        kind = parse_request(question.text, question.now_ns).kind
        if not hits:
            return ground(Claim(Kind.NOT_SEEN, 'Nothing was found.'), question, self.name)
        (hit,) = hits
        if kind is Kind.POSITION and hit.memory.pose is None:
            claim = Claim(Kind.NOT_SEEN, 'What was found has no place.')
        else:
            binary = True if kind is Kind.BINARY else None
            claim = Claim(kind, hit.memory.caption, hits, binary=binary, start=hit, end=hit)
        answer = ground(claim, question, self.name)
        return with_facts(
            replace(answer, duration_s=DURATION_S) if kind is Kind.DURATION else answer, question
        )
