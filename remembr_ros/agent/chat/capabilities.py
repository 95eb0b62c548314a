"""Capabilities of a model's server, found by trying: what it refuses is not sent again."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

REFUSALS = (400, 404, 422, 500, 501)
"""By which servers refuse part of a request: llama.cpp says 500 of tools without --jinja, OpenRouter 404."""

MAX_SAID = 2_000  # Characters of a refusal that are read

_UNSUPPORTED = re.compile(r"support|require|implement|not (available|allowed|enabled)|can ?not|can't|without")
"""Said by those who refuse a feature with a status that means something else, too."""

_NO_SYSTEM = re.compile(r'system.{0,20}(role|message|prompt)|role.{0,20}system|alternate')
"""Said by templates that know user and assistant only."""

_TOO_LONG = re.compile(
    r'context.{0,10}(length|window|size)|(prompt|input|request).{0,20}too (long|large)|too many tokens'
)
"""Said of the size of a request, whatever it names besides."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What is sent to a model. It starts with all; a refusal takes one away.

    :param tools: native tool calls; without them a model is told of the tools in words and replies in JSON
    :param tool_choice: saying whether, and which tool, to call; without it, that is said in words
    :param parallel_calls: asking for several calls in one reply
    :param json_schema: without tools: a reply that fits a JSON schema
    :param json_object: without tools and json_schema: a reply that is a JSON object
    :param system_role: a message of the system; without it, its text begins the first one of the user
    :param temperature: choosing it
    :param seed: choosing it
    :param limit: the field that limits the reply: max_tokens, max_completion_tokens or, for neither, empty
    """

    tools: bool = True
    tool_choice: bool = True
    parallel_calls: bool = True
    json_schema: bool = True
    json_object: bool = True
    system_role: bool = True
    temperature: bool = True
    seed: bool = True
    limit: str = 'max_tokens'


def after_refusal(
    can: Capabilities, request: Mapping[str, Any], status: int, reply: str
) -> Capabilities | None:
    """Return what to go on with after a server refused a request; None: it refused something else.

    :param request: the fields that were sent
    :param reply: the server's words, which have to name what it refuses
    """
    reply = reply[:MAX_SAID].lower()
    if _TOO_LONG.search(reply):
        return None
    if status not in REFUSALS or (status not in (400, 422) and not _UNSUPPORTED.search(reply)):
        return None
    limits = re.search(r'max_(?:completion_)?tokens', reply)
    if limits and can.limit and can.limit in request and _is_unknown(reply):
        return replace(can, limit='max_completion_tokens' if can.limit == 'max_tokens' else '')
    # The special before the general: "tool_choice" is about tools, too.
    for field, pattern, lost in _LOSSES:
        if field in request and re.search(pattern, reply):
            return _without(can, request, lost)
    roles = {message.get('role') for message in request.get('messages', ())}
    if 'system' in roles and _NO_SYSTEM.search(reply):
        return replace(can, system_role=False)
    return None


def used_in(request: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the capabilities that a request makes use of."""
    used = {lost for field, _, lost in _LOSSES if field in request and lost != 'json'}
    used.add(str(request.get('response_format', {}).get('type', '')))
    if any(message.get('role') == 'system' for message in request.get('messages', ())):
        used.add('system_role')
    if request.keys() & {'max_tokens', 'max_completion_tokens'}:
        used.add('limit')
    return frozenset(used & {field.name for field in fields(Capabilities)})


def after_wordless_refusal(can: Capabilities, status: int, has_tools: bool) -> list[Capabilities]:
    """Return what to try, in this order, after a server refused a request and said nothing of use.

    Servers that run a template that has no tools, or no role of the system, often say 500 and no more.
    """
    if status not in (400, 422, 500, 501):
        return []
    plain = replace(can, tools=False, json_schema=False, json_object=False)
    barest = replace(plain, system_role=False, temperature=False, seed=False)
    return [simpler for simpler in ([plain] if has_tools else []) + [barest] if simpler != can]


_LOSSES = (
    ('parallel_tool_calls', r'parallel.tool', 'parallel_calls'),
    ('tool_choice', r'tool.choice', 'tool_choice'),
    ('tools', r'tool|function|jinja', 'tools'),
    ('response_format', r'response.format|json.?(schema|object|mode)|schema|grammar|guided', 'json'),
    ('temperature', r'temperature', 'temperature'),
    ('seed', r'\bseed\b', 'seed'),
)
"""The field that may be refused, the words by which that is known, and what goes without it."""


def _without(can: Capabilities, request: Mapping[str, Any], lost: str) -> Capabilities:
    if lost == 'json':
        lost = 'json_schema' if request['response_format'].get('type') == 'json_schema' else 'json_object'
    changes: dict[str, Any] = {lost: False}
    return replace(can, **changes)


def _is_unknown(reply: str) -> bool:
    # Else it is the limit's size that a server finds too large, or the prompt's: no other name would help.
    return not re.search(r'context|too (large|long|many)|exceed|at most|less than|greater than', reply)
