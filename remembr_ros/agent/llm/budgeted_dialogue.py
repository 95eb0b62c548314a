"""A conversation with a language model about one question, within its budget of calls and tokens."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files

from remembr_ros.agent.chat.bounded_call import complete
from remembr_ros.agent.chat.client import ChatClient, Message, Reply, Tool
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.errors import BudgetExceeded, InvalidRequest, ReplyInvalid

MAX_FAULTS = 2  # Replies that may be unusable before the question fails
ROOM_TO_ANSWER = 1.5  # A call is followed by one with its results, that much longer


@dataclass
class BudgetedDialogue:
    """What was said so far.

    :param messages: the system's and the question's
    :param call_timeout_s: for one call of the model [s]
    :param token_budget: prompt tokens of all calls together, those of second looks, too
    """

    chat: ChatClient
    messages: list[Message]
    tools: Sequence[Tool]
    run: Run
    call_timeout_s: float
    token_budget: int
    refused: bool = field(default=False, init=False)  # An ungrounded answer was sent back
    faults: int = field(default=0, init=False)  # Replies, and calls in them, that could not be used
    _uncounted: int = field(default=0, init=False)
    _reserved: float = field(default=0.0, init=False)
    _counted: int = field(default=0, init=False)  # By the server
    _estimated: int = field(default=0, init=False)  # Of the same messages

    def __post_init__(self) -> None:
        self._tools_size = estimate_tools(self.tools)
        self._begin = len(self.messages)

    @property
    def must_answer(self) -> bool:
        """Whether the tokens suffice for no more than an answer."""
        if len(self.messages) == self._begin:
            return False  # nothing was recalled yet
        return self._tokens_left < (1.0 + ROOM_TO_ANSWER) * self._scale * self._size(self.messages)

    def reserve(self, tokens: int) -> None:
        """Take tokens out of the budget until the next turn, for what is done before it.

        :raises InvalidRequest: too few would be left to answer with
        """
        wanted = self._reserved + self._scale * tokens
        if self._tokens_left - wanted < ROOM_TO_ANSWER * self._scale * self._size(self.messages):
            raise InvalidRequest('too few tokens are left for that; answer from what was found')
        self._reserved = wanted

    def complete(self, forced: Tool | None, found: int) -> Reply:
        """Return the model's next turn. If the tokens left are too few, it is shown less.

        :param forced: the one tool that it must call; None: any of its tools
        :param found: memories so far, for the progress
        :raises BudgetExceeded: too few tokens are left for anything
        :raises Cancelled, ChatUnavailable, ReplyInvalid: see
            :func:`remembr_ros.agent.chat.bounded_call.complete`
        """
        run = self.run
        run.check()
        self._reserved = 0.0  # by now it is spent
        most = int(self._tokens_left / self._scale) - self._tools_size
        messages = fit(self.messages, most, self._begin)
        if messages is None:
            raise BudgetExceeded(
                'the token budget of the question is used up; raise token_budget or lower memories_per_call'
            )
        run.on_progress(Progress('thinking', self.chat.model, found))
        tools, must_call = (self.tools, None) if forced is None else ((forced,), forced.name)
        reply = complete(
            self.chat, messages, tools, must_call=must_call, run=run, call_timeout_s=self.call_timeout_s
        )
        size = self._size(messages)
        if not reply.usage.prompt_tokens:
            self._uncounted += size
        else:
            self._counted += reply.usage.prompt_tokens
            self._estimated += size
        return reply

    def fault(self, wrong: str) -> None:
        """Count a reply, or a call in it, that could not be used.

        :raises ReplyInvalid: that was one too many
        """
        self.faults += 1
        if self.faults > MAX_FAULTS:
            raise ReplyInvalid(
                f'{self.chat.model} sent {self.faults} replies that could not be used (the last: {wrong}); '
                'try a larger model'
            )

    @property
    def _tokens_left(self) -> int:
        return self.token_budget - self.run.ledger.usage.prompt_tokens - self._uncounted

    @property
    def _scale(self) -> float:
        """How many tokens the server counts for one that is estimated; no fewer than one."""
        return max(1.0, self._counted / self._estimated) if self._estimated else 1.0

    def _size(self, messages: Sequence[Message]) -> int:
        return estimate(messages) + self._tools_size


BYTES_PER_TOKEN = 4
"""Of English text, and of nothing much less: Chinese has three bytes and about a token per character."""

PER_MESSAGE = 6  # Tokens around each message
PER_PICTURE = 1_000  # Of a picture of 1280 pixels; models differ by a factor of two
LEFT_OUT = '(left out, there was too much; what was shown can still be cited)'


def estimate(messages: Sequence[Message]) -> int:
    """Return about how many tokens a conversation takes."""
    tokens = 0
    for message in messages:
        calls = sum(_size(call.name) + _size(call.arguments) + 40 for call in message.tool_calls)
        tokens += PER_MESSAGE + (_size(message.content) + calls) // BYTES_PER_TOKEN
        tokens += PER_PICTURE * len(message.images)
    return tokens


def estimate_tools(tools: Sequence[Tool]) -> int:
    """Return about how many tokens the descriptions of tools take."""
    described = (f'{tool.name}{tool.description}{json.dumps(dict(tool.parameters))}' for tool in tools)
    return sum(PER_MESSAGE + _size(text) // BYTES_PER_TOKEN for text in described)


def fit(messages: Sequence[Message], most: int, keep: int) -> list[Message] | None:
    """Return the conversation within so many tokens, the oldest results left out; None: it does not fit.

    :param keep: messages at the beginning that stay whole
    """
    fitted = list(messages)
    if estimate(fitted) <= most:
        return fitted
    for index in range(keep, len(fitted)):
        message = fitted[index]
        content = '' if message.role == 'assistant' else LEFT_OUT
        if len(message.content) > len(content):
            fitted[index] = replace(message, content=content)
        if estimate(fitted) <= most:
            return fitted
    return None


def _size(text: str) -> int:
    return len(text.encode('utf-8', 'replace'))


@cache
def prompt(name: str) -> str:
    """Return a prompt of this package."""
    return (files('remembr_ros.agent.llm') / 'prompts' / f'{name}.md').read_text(encoding='utf-8')
