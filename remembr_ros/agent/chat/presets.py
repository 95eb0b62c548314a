"""The servers that are known by name: where they are, which key they want, what they cannot do."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from remembr_ros.agent.chat.capabilities import Capabilities
from remembr_ros.chat_endpoint import Server
from remembr_ros.errors import InvalidRequest


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
