"""Chat with servers that speak OpenAI's API, and those known by name (OpenAI, NIM, Ollama, vLLM, ...)."""

import math
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from remembr_ros.agent.chat.client import Call, Reply
from remembr_ros.agent.chat.model_size import parameters_among, parameters_in
from remembr_ros.agent.chat.wire import (
    MAX_TOKENS,
    characters_of,
    counted_in,
    reply_of,
    request_fields,
    tokens_of,
)
from remembr_ros.agent.model.answer import Usage
from remembr_ros.bounded_request import Bounds, TimeOver
from remembr_ros.captioning.captioners.caption_check import find_loop
from remembr_ros.chat_capabilities import Capabilities, Negotiation, after_wordless_refusal
from remembr_ros.chat_endpoint import NO_LIST, ChatEndpoint, Refused, Server
from remembr_ros.errors import ChatUnavailable, InvalidRequest, ReplyInvalid


class OpenAIChat:
    """A model behind an OpenAI-compatible server; safe to share between threads.

    What the model can do is found by trying: what its server refuses is left out from then on, or only this
    once if it was accepted before. The key comes from the environment, see
    :mod:`remembr_ros.agent.chat.openai_client`.

    :param model: empty: the preset's, or the first one that the server lists
    :param url: such as http://localhost:11434/v1, or the name of a preset, such as ollama; None: OpenAI's
    :param max_retries: of a request that failed in a way that a retry can help: 429, 5xx, no connection; each
        after a random wait, or the one that the server names in Retry-After, if the time allows it
    :param seed: sent with every request, for servers that sample repeatably; None: not sent
    :param temperature: of the sampling; 0: the likeliest reply
    :param max_tokens: of a reply, thoughts included; one that is cut off is asked for again with more, see
        :class:`remembr_ros.chat_capabilities.Negotiation`
    :raises InvalidRequest: the URL is none, and no preset's name
    """

    def __init__(
        self,
        model: str = '',
        url: str | None = None,
        *,
        max_retries: int = 2,
        seed: int | None = None,
        temperature: float = 0.0,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        preset = find_preset(url)
        self._model = model or preset.model
        self._endpoint = ChatEndpoint(preset, max_retries)
        self._known = Negotiation(preset.capabilities)
        size_b = parameters_in(self._model)
        self._size_b = size_b if size_b < math.inf or preset.needs_key else None
        """None: its server has to be asked; those that want a key tell by the name."""
        self._proven = False
        """It has replied to a request with tools: when it refuses one later, that has another cause."""
        self._sampling: dict[str, Any] = {'temperature': temperature, 'max_tokens': max_tokens}
        if seed is not None:
            self._sampling['seed'] = seed

    @property
    def model(self) -> str:
        return self._model or 'llm'

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do, as far as is known."""
        return self._known.can

    def parameters_b(self, timeout_s: float) -> float:
        if self._size_b is None:
            try:
                listed = self._endpoint.models(Bounds(time.monotonic() + timeout_s))
            except (ChatUnavailable, TimeOver) as error:
                if not (isinstance(error, Refused) and error.status in NO_LIST):
                    return math.inf  # it may tell later, when it has loaded its model
                listed = []
            self._size_b = parameters_among(listed, self._model)
        return self._size_b

    def complete(self, call: Call) -> Reply:
        bounds = Bounds(time.monotonic() + call.timeout_s, call.cancel)
        try:
            if not self._model:
                self._model = self._endpoint.first_model(bounds)
            return self._found_out(lambda can: self._ask(can, call, bounds), bool(call.tools), bounds)
        except TimeOver:
            server = self._endpoint.where
            raise ChatUnavailable(f'{server} did not answer within {call.timeout_s:.1f} s') from None

    def _found_out(self, ask: Callable[[Capabilities], Reply], has_tools: bool, bounds: Bounds) -> Reply:
        """Ask, and in simpler ways if the server, which was never of use yet, refuses without a reason."""
        can = self._known.can
        try:
            reply = self._endpoint.retried(lambda: ask(can), bounds)
        except Refused as refusal:
            simpler = [] if self._proven else after_wordless_refusal(can, refusal.status, has_tools)
            for can in simpler:
                with suppress(Refused):
                    return ask(can)
            raise
        self._proven = self._proven or has_tools
        return reply

    def _ask(self, can: Capabilities, call: Call, bounds: Bounds) -> Reply:
        """Ask once, again without what the server refuses, and with more tokens if it was cut off."""

        def send(fields: dict[str, Any]) -> Reply:
            try:
                response = self._endpoint.create(fields, bounds)
            except Refused:
                raise
            except (ChatUnavailable, TimeOver):
                if bounds.sent:
                    call.ledger.charge(Usage(1, tokens_of(characters_of(fields)), estimated=True))
                raise
            try:
                reply = reply_of(response, characters_of(fields), call.must_call)
            except ReplyInvalid as error:
                call.ledger.charge(counted_in(response))
                raise self._endpoint.no_chat(error) from error
            call.ledger.charge(reply.usage)
            return replace(reply, model=self._model)

        def request(can: Capabilities) -> dict[str, Any]:
            return {'model': self._model, **request_fields(call, can, self._sampling)}

        def is_cut_off(reply: Reply) -> bool:
            return reply.cut_off and find_loop(reply.content) is None  # of what repeats itself more is no use

        reply: Reply = self._known.ask(request, send, is_cut_off, can)
        return reply


@dataclass(frozen=True, slots=True)
class Preset(Server):
    """A server that speaks OpenAI's chat API.

    :param model: asked if none is named; empty: the first one that the server lists
    :param capabilities: to start with; what else is refused is found by trying
    """

    model: str = ''
    capabilities: Capabilities = field(default_factory=Capabilities)


PRESETS = {
    'openai': Preset(None, 'OPENAI_API_KEY', 'gpt-4o', needs_key=True),
    'nim': Preset(
        'https://integrate.api.nvidia.com/v1',
        'NVIDIA_API_KEY',
        'meta/llama-3.3-70b-instruct',
        # It knows the field for some of its models only, and calls in parallel without it.
        Capabilities(parallel_calls=False),
        needs_key=True,
    ),
    # It ignores tool_choice without a word, so that has to be said in words.
    'ollama': Preset(
        'http://localhost:11434/v1',
        'OLLAMA_API_KEY',
        capabilities=Capabilities(tool_choice=False, parallel_calls=False),
    ),
    'vllm': Preset('http://localhost:8000/v1', 'VLLM_API_KEY'),
    # One call per reply unless it is asked for more.
    'llama.cpp': Preset('http://localhost:8080/v1', 'LLAMA_API_KEY'),
}
"""By the name that stands in place of a URL."""


def find_preset(url: str | None) -> Preset:
    """Return the preset of that name, or one for that URL.

    A URL of one's own is sent the key in OPENAI_API_KEY, unless it is a preset's.

    :param url: a name, a URL such as http://localhost:8000/v1, or nothing: OpenAI
    :raises InvalidRequest: it is neither
    """
    if not url:
        return PRESETS['openai']
    if url.lower() in PRESETS:
        return PRESETS[url.lower()]
    for preset in PRESETS.values():
        if preset.base_url == url.rstrip('/'):
            return preset
    try:
        return Preset(url, 'OPENAI_API_KEY')
    except InvalidRequest as error:
        raise InvalidRequest(f'{error}, or one of {", ".join(PRESETS)}') from error


def secrets() -> Iterable[str]:
    """Return the keys that are set in the environment, for those who must not write them down."""
    return {preset.key for preset in PRESETS.values() if preset.key}
