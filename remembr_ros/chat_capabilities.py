"""Capabilities of a model's server, found by trying: what it refuses is not sent again."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from remembr_ros.bounded_request import TimeOver
from remembr_ros.chat_endpoint import Refused
from remembr_ros.errors import ChatUnavailable

logger = logging.getLogger(__name__)

MAX_REFUSALS = 12  # Refusals of a part of a request after which a server is given up; there are fewer parts
MORE_TOKENS = 8_000  # Of a reply that was cut off: models that think take some thousand before they speak

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
    :param frequency_penalty: choosing it
    :param images: at most so many in a request; 0: as many as there are
    :param limit: the field that limits the reply: max_tokens, max_completion_tokens or, for neither, empty
    :param longer: MORE_TOKENS make a reply whole that was cut off; None: that was not tried
    """

    tools: bool = True
    tool_choice: bool = True
    parallel_calls: bool = True
    json_schema: bool = True
    json_object: bool = True
    system_role: bool = True
    temperature: bool = True
    seed: bool = True
    frequency_penalty: bool = True
    images: int = 0
    limit: str = 'max_tokens'
    longer: bool | None = None


def after_refusal(
    can: Capabilities, request: Mapping[str, Any], status: int, reply: str
) -> Capabilities | None:
    """Return what to go on with after a server refused a request; None: it refused something else.

    :param request: the fields that were sent
    :param reply: the server's words, which have to name what it refuses
    """
    reply = reply[:MAX_SAID].lower()
    too_long, many = _TOO_LONG.search(reply), len(_images_in(request.get('messages', ())))
    if can.longer and can.limit in request and (too_long or not _is_unknown(reply)):
        return replace(can, limit='')  # then it takes as many as it has
    unsupported = status in (400, 422) or (status in REFUSALS and _UNSUPPORTED.search(reply))
    if too_long or not unsupported:
        fits_less = too_long and many > 1 and status in (*REFUSALS, 413)
        return replace(can, images=many // 2) if fits_less else None
    limits = re.search(r'max_(?:completion_)?tokens', reply)
    if limits and can.limit and can.limit in request and _is_unknown(reply):
        return replace(can, limit='max_completion_tokens' if can.limit == 'max_tokens' else '')
    if fewer := _images_allowed(reply, many):
        return replace(can, images=fewer)
    # The special before the general: "tool_choice" is about tools, too.
    for field, pattern, lost in _LOSSES:
        if field in request and re.search(pattern, reply):
            return _without(can, request, lost)
    roles = {message.get('role') for message in request.get('messages', ())}
    refused = 'system' in roles and _NO_SYSTEM.search(reply)
    return replace(can, system_role=False) if refused else None


def as_taken(request: Mapping[str, Any], can: Capabilities) -> dict[str, Any]:
    """Return a request without what a server refuses, of the fields that are there for every model.

    :param request: with max_tokens, where the reply has a limit
    """
    taken = {name: value for name, value in request.items() if getattr(can, name, True)}
    wished = taken.pop('max_tokens', None)
    if wished is not None and can.limit:
        taken[can.limit] = max(wished, MORE_TOKENS) if can.longer else wished
    images = _images_in(taken['messages'])
    if 0 < can.images < len(images):
        spread = {id(images[i * len(images) // can.images]) for i in range(can.images)}
        dropped = {*map(id, images)} - spread
        taken['messages'] = [
            {**message, 'content': [part for part in message['content'] if id(part) not in dropped]}
            if isinstance(message['content'], list)
            else message
            for message in taken['messages']
        ]
    return taken


class Negotiation:
    """Finds out what a server takes; safe to share between threads.

    What it refuses is left out from then on, or only this once if it was accepted before. A reply that was
    cut off is asked for again with more tokens, and so is every one from then on if that was of use.

    :param can: to begin with
    """

    def __init__(self, can: Capabilities = Capabilities()) -> None:
        self.can = can
        self._accepted: frozenset[str] = frozenset()
        """Capabilities that a request made use of which was answered."""

    def ask(
        self,
        request_of: Callable[[Capabilities], dict[str, Any]],
        send: Callable[[dict[str, Any]], Any],
        is_cut_off: Callable[[Any], bool],
        can: Capabilities | None = None,
    ) -> Any:
        """Return the response to a request.

        :param request_of: makes it of what the server takes
        :param send: raises Refused where it is refused
        :param is_cut_off: tells whether a response needs more tokens
        :param can: to try with; None: what is known
        :raises Refused: it is, for another reason or whatever is left out
        """
        can = can or self.can
        refused: Refused | None = None
        cut: Any = None
        for _ in range(MAX_REFUSALS):
            request = request_of(can)
            try:
                response = send(request)
            except Refused as refusal:
                less = after_refusal(can, request, refusal.status, refusal.said)
                if less is None:
                    raise
                can, refused = less, refusal
                continue
            except (ChatUnavailable, TimeOver):
                if cut is None:
                    raise
                response = cut  # there is no time for more tokens
            cut_off = is_cut_off(response)
            if cut_off and can.longer is None and 0 < request.get(can.limit, 0) < MORE_TOKENS:
                can, cut = replace(can, longer=True), response
                continue
            if cut_off and can.longer and not self.can.longer:
                can = replace(can, longer=False, limit=can.limit or self.can.limit)  # it runs on
            self._keep(can, request)
            return response
        raise refused or AssertionError('not reached')

    def _keep(self, can: Capabilities, request: Mapping[str, Any]) -> None:
        # Only now: what fails all the same was refused for another reason. So was what it took before.
        proven = self._accepted - ({'limit'} if can.longer else set())  # which had room for fewer tokens only
        can = replace(can, **{name: getattr(self.can, name) for name in proven})
        self._accepted |= used_in(request)
        if can != self.can:
            logger.info('%s is asked with %s from now on', request.get('model', 'the model'), can)
            self.can = can


def used_in(request: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the capabilities that a request makes use of."""
    used = {lost for field, _, lost in _LOSSES if field in request and lost != 'json'}
    used.add(str(request.get('response_format', {}).get('type', '')))
    if any(message.get('role') == 'system' for message in request.get('messages', ())):
        used.add('system_role')
    if request.keys() & {'max_tokens', 'max_completion_tokens'}:
        used.add('limit')
    return frozenset(used & {field.name for field in fields(Capabilities)})


_MOST = re.compile(
    r'(?:at most|max\w*|up to|only|limit\w*|exceed\w*|expected|image=)(?:\W+[a-z_]+){0,4}?\W*(\d+)'
)
_FEWER = re.compile(r'multiple|single|\b(?:one|too many) (?:image|picture)')
"""Said by servers that take some images, but not so many."""


def _images_allowed(reply: str, sent: int) -> int:
    """Return how many images to send after a refusal; 0: it was not their number that was refused."""
    if sent < 2 or not re.search(r'image|picture|multi-?modal', reply):
        return 0
    if found := _MOST.search(reply):
        return min(int(found[1][:4]), sent - 1)
    return int(bool(_FEWER.search(reply) or re.search(rf'\b{sent}\b', reply)))


def _images_in(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    contents = (message.get('content') for message in messages)
    parts = (part for content in contents if isinstance(content, list) for part in content)
    return [part for part in parts if part.get('type') == 'image_url']


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
    ('frequency_penalty', r'penalty', 'frequency_penalty'),
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
