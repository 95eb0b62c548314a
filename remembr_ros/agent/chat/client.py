"""What a chat client is, in terms of no vendor; and one that replies by script, for tests."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from remembr_ros.errors import Cancelled, ChatUnavailable


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to call a tool.

    :param arguments: JSON text as the model wrote it; it may be anything
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Picture:
    """An image in a message.

    :param text: said before it, such as its name
    :param jpeg: the image as a JPEG file
    """

    text: str
    jpeg: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    :param role: system, user, assistant or tool
    :param tool_calls: role assistant: the tools it called
    :param tool_call_id: role tool: the call that this is the result of
    :param images: role user: shown after the content, in this order
    """

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ''
    images: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call.

    :param parameters: JSON schema of its arguments
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls of a language model took.

    :param calls: that a model began to answer
    :param estimated: the server did not count all of the tokens; those are a quarter of the characters
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False

    def __add__(self, other: 'Usage') -> 'Usage':
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and what that took.

    :param calls: more than one after a failover or a connection that was lost
    :param estimated: see :class:`Usage`
    :param model: what replied; empty: the client's model
    """

    content: str = ''
    tool_calls: tuple[ToolCall, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: int = 1
    estimated: bool = False
    model: str = ''


def usage_of(outcome: Reply | ChatUnavailable) -> Usage:
    """Return what a call took that ended in this way."""
    return Usage(outcome.calls, outcome.prompt_tokens, outcome.completion_tokens, outcome.estimated)


def with_usage(reply: Reply, more: Usage) -> Reply:
    """Return a reply that took this besides."""
    total = usage_of(reply) + more
    return replace(
        reply,
        calls=total.calls,
        prompt_tokens=total.prompt_tokens,
        completion_tokens=total.completion_tokens,
        estimated=total.estimated,
    )


def charged(error: ChatUnavailable, usage: Usage) -> ChatUnavailable:
    """Return the error, which now says that so much was spent."""
    error.calls, error.estimated = usage.calls, usage.estimated
    error.prompt_tokens, error.completion_tokens = usage.prompt_tokens, usage.completion_tokens
    return error


class ChatClient(Protocol):
    """Talks to a language model."""

    @property
    def model(self) -> str:
        """The model's name."""

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        *,
        must_call: str | None,
        timeout_s: float,
        cancel: threading.Event | None = None,
    ) -> Reply:
        """Return the model's next turn.

        :param must_call: the one tool that it must call; None: as it likes
        :param timeout_s: for all of it: waiting for a turn, failing over, trying again [s]
        :param cancel: set from another thread when the reply is not wanted any more: then the request ends
            at once, at the server, too
        :raises ChatUnavailable: there is no reply within the time, or one that is none; its calls and tokens
            say what was spent all the same
        :raises Cancelled: cancel was set
        """


@dataclass
class ScriptedChat:
    """A chat client that replies from a list and records what it was asked.

    :param replies: in turn: a reply, an exception to raise, or a function from the messages to a reply
    """

    replies: list[Reply | Exception | Callable[[Sequence[Message]], Reply]]
    model: str = 'scripted'
    asked: list[tuple[tuple[Message, ...], str | None]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        *,
        must_call: str | None,
        timeout_s: float,
        cancel: threading.Event | None = None,
    ) -> Reply:
        if cancel is not None and cancel.is_set():
            raise Cancelled('the question was cancelled')
        with self._lock:
            self.asked.append((tuple(messages), must_call))
            if not self.replies:
                raise AssertionError('the script is over')
            reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Reply) else reply(messages)
