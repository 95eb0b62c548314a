"""The interface of a chat client, independent of vendors."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from remembr_ros.agent.model.answer import Ledger, Usage


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
class Reply:
    """What a model said.

    :param usage: what the request took that brought it, without those before that brought nothing
    :param model: what replied; empty: the client's model
    :param cut_off: it reached a limit of tokens
    """

    content: str = ''
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default=Usage(1))
    model: str = ''
    cut_off: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """What a model is asked for: its next turn.

    :param must_call: the one tool that it must call, by a schema of its arguments where the server takes one;
        None: as it likes
    :param timeout_s: for all of it: waiting for a turn, failing over, trying again [s]
    :param ledger: charged with each request that a model began to answer, whatever came of it
    :param cancel: set from another thread when the reply is not wanted any more: then the request ends at
        once, at the server, too
    """

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    must_call: str | None = None
    timeout_s: float = field(kw_only=True)
    ledger: Ledger = field(default_factory=Ledger)
    cancel: threading.Event | None = None


class ChatClient(Protocol):
    """Talks to a language model."""

    @property
    def model(self) -> str:
        """The model's name."""

    def parameters_b(self, timeout_s: float) -> float:
        """Return how many billions of parameters the model has, as its name or its server says.

        :param timeout_s: for asking the server [s]
        :return: infinity where neither says it
        """

    def complete(self, call: Call) -> Reply:
        """Return the model's next turn.

        :raises ChatUnavailable: there is no reply within the time, or one that is none
        :raises Cancelled: cancel was set
        """
