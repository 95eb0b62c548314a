"""The planner with a language model: rounds of recalling, then an answer by reference.

After the querying phase of ReMEmbR (arXiv 2409.13682).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from remembr_ros.agent.answer import Answer, Cost, Question
from remembr_ros.agent.chat import ChatClient, Message, Reply, ToolCall
from remembr_ros.agent.grounding import ground
from remembr_ros.agent.phrasing import situation, with_facts
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.agent.reply_text import MAX_REPLY, calls_in_text
from remembr_ros.agent.tools import ANSWER, TOOLS, AnswerCall, Toolbox, parse_arguments
from remembr_ros.agent.waiting import complete
from remembr_ros.errors import InvalidRequest, ReplyInvalid, Ungrounded
from remembr_ros.memory.recall import Recall

MAX_FAULTS = 2
"""Replies that may be unusable before the question fails."""


@dataclass
class _Conversation:
    messages: list[Message]
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    faults: int = 0
    refused: bool = False  # an ungrounded answer was sent back


class LoopPlanner:
    """Asks a language model, which recalls by tools and answers by reference.

    :param rounds: of recalling before it must answer
    :param calls_per_round: tool calls answered per round
    :param memories_per_call: shown per recall
    :param call_timeout_s: for one call of the model [s]
    """

    def __init__(
        self,
        chat: ChatClient,
        *,
        rounds: int = 3,
        calls_per_round: int = 3,
        memories_per_call: int = 5,
        call_timeout_s: float = 30.0,
    ) -> None:
        for name, value, most in (
            ('rounds', rounds, 10),
            ('calls_per_round', calls_per_round, 10),
            ('memories_per_call', memories_per_call, 50),
        ):
            if not 1 <= value <= most:
                raise InvalidRequest(f'{name} is {value}; it lies between 1 and {most}')
        self._chat = chat
        self._rounds = rounds
        self._calls_per_round = calls_per_round
        self._memories_per_call = memories_per_call
        self._call_timeout_s = call_timeout_s

    @property
    def name(self) -> str:
        return self._chat.model

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        toolbox = Toolbox(question, recall, self._memories_per_call)
        talk = _Conversation(
            [Message('system', self._system()), Message('user', situation(question))],
        )
        rounds = 0
        while True:
            # One round more than allowed, in which it can only answer; faults have their own budget.
            last = rounds >= self._rounds
            reply = self._complete(talk, ANSWER if last else None, run, len(toolbox.evidence))
            calls = reply.tool_calls or calls_in_text(reply.content)
            content = reply.content[:MAX_REPLY]
            if not calls:
                talk.messages.append(Message('assistant', content))
                self._fault(talk, 'call a tool: recall, or answer')
                talk.messages.append(
                    Message('user', 'That was no tool call. Call a recall tool or `answer`.')
                )
                continue
            native = bool(reply.tool_calls)
            kept = tuple(replace(call, arguments=call.arguments[:MAX_REPLY]) for call in calls)
            talk.messages.append(Message('assistant', content, kept if native else ()))
            results: list[tuple[ToolCall, str]] = []
            for index, call in enumerate(kept):
                run.check()
                if call.name == ANSWER:
                    answer, complaint = self._try_answer(call, toolbox, question, talk)
                    if answer is not None:
                        cost = Cost(talk.calls, talk.prompt_tokens, talk.completion_tokens)
                        return with_facts(replace(answer, cost=cost), question)
                    results.append((call, complaint))
                elif last:
                    results.append((call, 'there are no rounds left; call answer'))
                elif index >= self._calls_per_round:
                    results.append((call, f'at most {self._calls_per_round} calls per round'))
                else:
                    results.append((call, self._recall(call, toolbox, talk, run)))
            talk.messages += _results(results, native)
            rounds += 1
            if rounds > self._rounds:
                self._fault(talk, 'it did not answer when it had to')

    def _recall(self, call: ToolCall, toolbox: Toolbox, talk: _Conversation, run: Run) -> str:
        run.on_progress(Progress('recalling', f'{call.name} {call.arguments[:200]}', len(toolbox.evidence)))
        try:
            return toolbox.run(parse_arguments(call.name, call.arguments))
        except ReplyInvalid as error:
            self._fault(talk, str(error))
            return f'error: {error}'
        except (InvalidRequest, Ungrounded) as error:
            return f'error: {error}'

    def _try_answer(
        self, call: ToolCall, toolbox: Toolbox, question: Question, talk: _Conversation
    ) -> tuple[Answer | None, str]:
        """Return the grounded answer, or what is wrong with it.

        :raises Ungrounded: it was sent back before
        :raises ReplyInvalid: too many replies were unusable
        """
        try:
            arguments = parse_arguments(call.name, call.arguments)
            if not isinstance(arguments, AnswerCall):
                raise ReplyInvalid('this is no answer')
            return ground(toolbox.claim(arguments), question, self.name), ''
        except ReplyInvalid as error:
            self._fault(talk, str(error))
            return None, f'error: {error}'
        except Ungrounded as error:
            if talk.refused:
                raise Ungrounded(f'{self.name} could not support its answer: {error}') from error
            talk.refused = True
            return None, f'error: {error}. Cite memories that were recalled, or answer not_seen.'

    def _fault(self, talk: _Conversation, what: str) -> None:
        talk.faults += 1
        if talk.faults > MAX_FAULTS:
            raise ReplyInvalid(
                f'{self.name} sent {talk.faults} replies that could not be used (the last: {what}); '
                'try a larger model'
            )

    def _complete(self, talk: _Conversation, must_call: str | None, run: Run, found: int) -> Reply:
        run.check()
        run.on_progress(Progress('thinking', self.name, found))
        reply = complete(
            self._chat,
            talk.messages,
            TOOLS,
            must_call=must_call,
            run=run,
            call_timeout_s=self._call_timeout_s,
        )
        talk.calls += 1
        talk.prompt_tokens += reply.prompt_tokens
        talk.completion_tokens += reply.completion_tokens
        return reply

    def _system(self) -> str:
        return _prompt('system').format(rounds=self._rounds, calls_per_round=self._calls_per_round)


def _results(results: Sequence[tuple[ToolCall, str]], native: bool) -> list[Message]:
    if native:
        return [Message('tool', text, tool_call_id=call.id) for call, text in results]
    text = '\n\n'.join(f'{call.name}: {text}' for call, text in results)
    return [Message('user', f'Results:\n{text}')]


@cache
def _prompt(name: str) -> str:
    return (files('remembr_ros.agent') / 'prompts' / f'{name}.md').read_text(encoding='utf-8')
