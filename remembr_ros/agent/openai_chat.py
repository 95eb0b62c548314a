"""Chat with any server that speaks OpenAI's API: OpenAI, NVIDIA NIM, Ollama, vLLM, llama.cpp."""

import base64
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from remembr_ros.agent.chat import Message, Reply, Tool, ToolCall
from remembr_ros.errors import ChatUnavailable

if TYPE_CHECKING:
    from openai import OpenAI

MAX_TOKENS = 1_000
"""A reply is some tool calls or a short answer; more is a model that runs on."""


class OpenAIChat:
    """A model behind an OpenAI-compatible server. The key comes from OPENAI_API_KEY.

    :param model: empty: the first one that the server lists
    :param base_url: such as http://localhost:11434/v1; None: OpenAI's
    :param max_retries: of a request that failed in a way that a retry can help (429, 5xx, no connection),
        each after the time that the server names in Retry-After, if it is no more than a minute
    :param seed: sent with every request, for servers that sample repeatably; None: not sent
    :param temperature: of the sampling; 0: the likeliest reply
    """

    def __init__(
        self,
        model: str = '',
        base_url: str | None = None,
        *,
        max_retries: int = 1,
        seed: int | None = None,
        temperature: float = 0.0,
    ) -> None:
        self._model = model
        self._base_url = base_url
        self._max_retries = max_retries
        self._sampling: dict[str, Any] = {'temperature': temperature}
        if seed is not None:
            self._sampling['seed'] = seed
        self._client: OpenAI | None = None
        self._takes_tools = True

    @property
    def model(self) -> str:
        return self._model or 'llm'

    def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool], *, must_call: str | None, timeout_s: float
    ) -> Reply:
        import openai

        # Any: the package types every field of a message, which no compatible server keeps to.
        client: Any = self._connected().with_options(timeout=timeout_s, max_retries=self._max_retries)
        where = self._base_url or 'the OpenAI API'
        try:
            if not self._model:
                self._model = str(next(iter(client.models.list())).id or '')
                if not self._model:
                    raise ChatUnavailable(f'{where} lists a model without a name; name one with --llm')
            response = self._create(client, messages, tools, must_call)
        except StopIteration:
            raise ChatUnavailable(f'{where} offers no model; name one with --llm') from None
        except openai.APITimeoutError as error:
            raise ChatUnavailable(f'{where} did not answer within {timeout_s:.0f} s') from error
        except openai.APIConnectionError as error:
            raise ChatUnavailable(f'{where} cannot be reached: is the server running? ({error})') from error
        except openai.APIStatusError as error:
            raise ChatUnavailable(f'{where} refused: {error.status_code} {_without_key(error)}') from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            # The package's own parsing of a body that is no chat reply fails in several ways.
            raise ChatUnavailable(
                f'{where} sends no chat replies; is the URL right, with /v1? ({_without_key(error)})'
            ) from error
        return _reply(response, where)

    def _create(
        self, client: Any, messages: Sequence[Message], tools: Sequence[Tool], must_call: str | None
    ) -> Any:
        import openai

        settings: dict[str, Any] = {'model': self._model, 'max_tokens': MAX_TOKENS, **self._sampling}
        wired = [_wire(message) for message in messages]
        if not tools:
            return client.chat.completions.create(messages=wired, **settings)
        if self._takes_tools:
            choice = {'type': 'function', 'function': {'name': must_call}} if must_call else 'auto'
            try:
                return client.chat.completions.create(
                    messages=wired, tools=[_wire_tool(tool) for tool in tools], tool_choice=choice, **settings
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if 'tool' not in str(error).lower():
                    raise
                self._takes_tools = False  # the model cannot; it is told of the tools in words
        return client.chat.completions.create(
            messages=[*wired, _tools_in_words(tools, must_call)], **settings
        )

    def close(self) -> None:
        """Close the connections to the server; a later question opens them again."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _connected(self) -> 'OpenAI':
        if self._client is None:
            import openai

            # Local servers want no key, but the package does.
            key = os.environ.get('OPENAI_API_KEY') or ('none' if self._base_url else None)
            try:
                self._client = openai.OpenAI(api_key=key, base_url=self._base_url)
            except openai.OpenAIError as error:
                raise ChatUnavailable(f'no language model: {error}; set OPENAI_API_KEY') from error
        return self._client


def _without_key(error: Exception) -> str:
    """Return what an error says; some servers repeat the key that they refuse."""
    key = os.environ.get('OPENAI_API_KEY')
    text = str(error)
    return (text.replace(key, '***') if key else text)[:300]


def _wire(message: Message) -> dict[str, Any]:
    wire: dict[str, Any] = {'role': message.role, 'content': message.content}
    if message.images:
        wire['content'] = [{'type': 'text', 'text': message.content}]
        for image in message.images:
            url = f'data:image/jpeg;base64,{base64.b64encode(image.jpeg).decode("ascii")}'
            wire['content'] += [
                {'type': 'text', 'text': image.text},
                {'type': 'image_url', 'image_url': {'url': url}},
            ]
    if message.tool_calls:
        wire['tool_calls'] = [
            {'id': call.id, 'type': 'function', 'function': {'name': call.name, 'arguments': call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        wire['tool_call_id'] = message.tool_call_id
    return wire


def _wire_tool(tool: Tool) -> dict[str, Any]:
    function = {'name': tool.name, 'description': tool.description, 'parameters': dict(tool.parameters)}
    return {'type': 'function', 'function': function}


def _tools_in_words(tools: Sequence[Tool], must_call: str | None) -> dict[str, Any]:
    """Return the message that tells a model without tool calling what it may call; see prompts/system.md."""
    lines = [json.dumps(_wire_tool(tool)['function']) for tool in tools if must_call in (None, tool.name)]
    text = 'Reply with one JSON object {"calls": [{"tool": NAME, "arguments": {...}}]}. The tools:\n'
    return {'role': 'user', 'content': text + '\n'.join(lines)}


def _reply(response: Any, where: str) -> Reply:
    """Return what a response says; servers leave out or mistype any part of one."""
    try:
        message = response.choices[0].message
        calls = tuple(
            ToolCall(
                _text(call.id or f'call_{index}'),
                _text(call.function.name),
                _text(call.function.arguments or ''),
            )
            for index, call in enumerate(message.tool_calls or ())
        )
        content = _text(message.content) if isinstance(message.content, str) else ''
    except (AttributeError, IndexError, TypeError) as error:
        raise ChatUnavailable(f'{where} sends no chat replies; is the URL right, with /v1?') from error
    usage = getattr(response, 'usage', None)
    prompt, completion = (getattr(usage, name, 0) for name in ('prompt_tokens', 'completion_tokens'))
    return Reply(
        content,
        calls,
        prompt if isinstance(prompt, int) else 0,
        completion if isinstance(completion, int) else 0,
    )


def _text(value: Any) -> str:
    # A reply may hold half a character, which JSON allows: it could be neither sent back nor written down.
    return str(value).encode('utf-8', 'replace').decode()
