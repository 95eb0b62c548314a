"""The calls of a reply: as a server hands them over, or in its text, in whatever form it has."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import Any

from remembr_ros.agent.chat.client import Message, Reply, ToolCall
from remembr_ros.agent.chat.loose_json import objects_in, read_keywords, read_object
from remembr_ros.agent.llm.answer_call import is_kind
from remembr_ros.agent.llm.tools import ANSWER, TOOL_NAMES, first_argument, tool_name
from remembr_ros.chat_reply import without_thoughts

MAX_REPLY = 20_000  # Characters of a reply that are read, and kept in a conversation
MAX_KEPT = 2_000  # Characters of a reply, and of a call's arguments, that stay in the conversation
MAX_CALLS = 20  # Calls read from one reply
_NAME = re.compile(r'[A-Za-z0-9_-]{1,64}')
_KEYS = ('tool', 'name', 'tool_name', 'function_name', 'recipient_name', 'function', 'action')
_ARGUMENTS = ('arguments', 'parameters', 'args', 'input', 'action_input')
_LISTS = ('calls', 'tool_calls', 'tool_uses')

_TOOLS = '|'.join(sorted(TOOL_NAMES, key=len, reverse=True))
_KNOWN = rf'(?<![\w"\'])(?P<name>{_TOOLS})'
_TEMPLATE = (
    r'(?:[\s"\'`*:>\])=(]|<\|[^|>]{1,40}\|>|<\uff5c[^\uff5c>]{1,40}\uff5c>|\[ARGS\]|\[CALL_ID\]\w*|\d+'
    r'|json\b|code\b|commentary\b|call\b|arguments\b|(?i:action input)){0,12}'
)
"""What templates have between the name of a tool and the object with its arguments."""
_NAMED = re.compile(rf'(?:{_KNOWN}|<function=(?P<given>[\w.]{{1,64}})>){_TEMPLATE}(?=\{{)')
_OF = r'(?:\uff5cDSML\uff5c|\w{1,20}:)?'
_TAGGED = re.compile(
    rf'<{_OF}(?:function|invoke|tool)(?:=|\s+name=)["\']?(?P<name>[\w.:-]{{1,64}})["\']?\s*>'
    r'|<tool_call>\s*(?P<glm>[\w.]{1,64})\s*(?=<arg_key>|</tool_call>)'
    rf'|<(?P<own>{_TOOLS})>(?=\s*<)'
)
_BLOCK_END = re.compile(rf'</{_OF}(?:function|invoke|tool|tool_call|{_TOOLS})>')
_PARAMETER = re.compile(
    rf'<{_OF}parameter(?:=|\s+name=)["\']?(?P<key>[\w-]{{1,64}})["\']?[^<>]{{0,40}}>(?P<value>.*?)'
    rf'(?:</{_OF}parameter>|(?=<{_OF}parameter)|\Z)'
    r'|<arg_key>(?P<glm>[^<]{1,64})</arg_key>\s*<arg_value>(?P<glm_value>.*?)(?:</arg_value>|\Z)'
    r'|<(?P<own>[a-z_]{1,64})>(?P<own_value>[^<]*)</(?P=own)>',
    re.DOTALL,
)
_PYTHONIC = re.compile(
    r'(?P<start>(?:^|[\[>])\s*(?:\w{1,30}\s*=\s*|(?i:action[ \d]*:)\s*)?(?:print\()?(?:default_api\.)?)?'
    rf'{_KNOWN}(?:\.call)?(?=\()',
    re.MULTILINE,
)
_REACT = re.compile(
    rf'^\W*action[ \d]*:\W*{_KNOWN}(?:\W*\n+\W*action input[ \d]*:[ \t]*(?P<text>[^\s{{][^\n]*)'
    r'|\[(?P<inside>[^\]\n]+)\])',
    re.IGNORECASE | re.MULTILINE,
)
_QUOTE = re.compile(r'<escape>|<\|"\|>')
"""How Gemma's templates write a quotation mark."""

_Found = tuple[int, int, Sequence[tuple[str, Any]]]
"""Where something begins and ends, and the calls in it: names and arguments."""


def calls_of(reply: Reply) -> tuple[tuple[ToolCall, ...], bool]:
    """Return the calls of a reply, each with an id of its own, and whether they came as tool calls."""
    native = bool(reply.tool_calls)
    calls: list[ToolCall] = []
    for index, call in enumerate((reply.tool_calls or calls_in_text(reply.content))[:MAX_CALLS]):
        known = {other.id for other in calls}
        ident = call.id if call.id and call.id not in known else f'call_{index}'
        calls.append(replace(call, id=ident, name=tool_name(call.name), arguments=call.arguments[:MAX_REPLY]))
    return tuple(calls), native


def as_kept(call: ToolCall) -> ToolCall:
    """Return a call as it stays in the conversation: servers refuse one that they find malformed."""
    arguments = json.dumps(read_object(call.arguments) or {})
    if len(arguments) > MAX_KEPT:
        arguments = '{}'
    return replace(call, name=call.name if _NAME.fullmatch(call.name) else 'unknown', arguments=arguments)


def results_of(results: Sequence[tuple[ToolCall, str]], native: bool) -> list[Message]:
    """Return what a model is told of its calls: as tool results or, where they came in text, as a user."""
    if native:
        return [Message('tool', text, tool_call_id=call.id) for call, text in results]
    text = '\n\n'.join(f'{call.name}: {text}' for call, text in results)
    return [Message('user', f'Results:\n{text}')]


def calls_in_text(content: str) -> tuple[ToolCall, ...]:
    """Return the calls that a model wrote in its text, in any of FORMS; none if it wrote anything else.

    They may stand in prose, in fences, in tags such as <tool_call>, one by one or in a list, with commas too
    many or brackets too few; an answer needs no name. What the model thought before (<think>) does not count.
    Servers read most of these forms themselves, but only of models that they know, and when told to.
    """
    text = _QUOTE.sub('"', without_thoughts(content)[:MAX_REPLY])
    calls: list[tuple[str, Any]] = []
    read_until = 0
    for begin, end, found in sorted((each for form in FORMS for each in form(text)), key=itemgetter(0)):
        if begin >= read_until:  # else it is inside one that was read
            read_until = end
            # Some say the same again, in other words around it.
            calls += [call for call in found if call not in calls]
    return tuple(
        ToolCall(f'text_{i}', name, _arguments(name, given))
        for i, (name, given) in enumerate(calls[:MAX_CALLS])
    )


def _with_name_inside(text: str) -> Iterator[_Found]:
    """Yield {"name": ..., "arguments": {...}}: Hermes, Qwen, Llama, Mistral, Granite, Cohere."""
    for data, begin, end in objects_in(text):
        if found := _calls(data):
            yield begin, end, found


def _with_name_before(text: str) -> Iterator[_Found]:
    """Yield NAME {...}: Harmony, Kimi, DeepSeek, GLM-4, Mistral's [ARGS], Functionary, Gemma, ReAct."""
    objects = {begin: (data, end) for data, begin, end in objects_in(text)}
    for match in _NAMED.finditer(text):
        if match.end() in objects:
            data, end = objects[match.end()]
            yield match.start(), end, [(match['name'] or match['given'], data)]


def _in_tags(text: str) -> Iterator[_Found]:
    """Yield <function=NAME><parameter=KEY>VALUE: Qwen3-Coder, Seed, MiniMax, DeepSeek's DSML, GLM, Cline."""
    opened = [*_TAGGED.finditer(text)]
    ends = [*(match.start() for match in opened[1:]), len(text)]
    for match, until in zip(opened, ends, strict=False):
        closed = _BLOCK_END.search(text, match.end(), until)
        block = text[match.end() : closed.start() if closed else until]
        given = {
            (found['key'] or found['glm'] or found['own']).strip(): _value(
                found['value'] or found['glm_value'] or found['own_value'] or ''
            )
            for found in _PARAMETER.finditer(block)
        }
        if given or not block.strip():
            yield (
                match.start(),
                closed.end() if closed else until,
                [(match['name'] or match['glm'] or match['own'], given)],
            )


def _as_python(text: str) -> Iterator[_Found]:
    """Yield NAME(key=value): Llama 4, LFM, Gemma.

    At the start of a line, or in a list: in a line it may be a caption that is repeated.
    """
    end = 0
    for match in islice(_PYTHONIC.finditer(text), MAX_CALLS):
        listed = end and not text[end : match.start()].strip(', \n')
        if (match['start'] is not None or listed) and (
            read := read_keywords(text, match.end(), first_argument(match['name']))
        ):
            given, end = read
            yield match.start(), end, [(match['name'], given)]


def _as_react(text: str) -> Iterator[_Found]:
    """Yield Action: NAME, Action Input: a text; and Action: NAME[a text]."""
    for match in _REACT.finditer(text):
        given = (match['text'] or match['inside']).strip(' \t\r"\'`')
        yield match.start(), match.end(), [(match['name'], given)]


FORMS: tuple[Callable[[str], Iterator[_Found]], ...] = (
    _with_name_inside,
    _with_name_before,
    _in_tags,
    _as_python,
    _as_react,
)
"""The forms in which models write calls; where two read the same place, the one that begins first counts."""


def _arguments(name: str, given: Any) -> str:
    """Return arguments as JSON; a text that is no JSON is the first one."""
    if isinstance(given, str) and (name := tool_name(name)) in TOOL_NAMES and not given.startswith('{'):
        first = first_argument(name)
        given = {first: given} if first and read_object(given) is None else given
    return given if isinstance(given, str) else json.dumps(given)


def _value(text: str) -> Any:
    """Return what a text between tags is: a list or an object, if it is one."""
    text = text.strip()
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        return value if isinstance(value, list | dict) else text
    return text


def _calls(data: dict[str, Any]) -> list[tuple[str, Any]]:
    listed = next((data[name] for name in _LISTS if name in data), None)
    calls = listed[:MAX_CALLS] if isinstance(listed, list) else [listed or data]
    return [named for call in calls if isinstance(call, dict) and (named := _call(call)) is not None]


def _call(call: dict[str, Any]) -> tuple[str, Any] | None:
    """Return the name of the tool and its arguments; None: this is no call."""
    key = next((name for name in _KEYS if name in call), None)
    if key is None:
        return _unnamed(call)
    name = call[key]
    if isinstance(name, dict):  # OpenAI's own form: {"function": {"name": ..., "arguments": ...}}
        return _call(name)
    if not isinstance(name, str):
        return None
    given = next((call[field] for field in _ARGUMENTS if field in call), None)
    # Some put the arguments beside the name.
    return name, given if given is not None else {n: value for n, value in call.items() if n != key}


def _unnamed(call: dict[str, Any]) -> tuple[str, Any] | None:
    """Return what {"answer": {...}} calls, and an answer that stands for itself."""
    if len(call) == 1:
        ((name, arguments),) = call.items()
        if tool_name(name) in TOOL_NAMES and isinstance(arguments, dict):
            return name, arguments
    return (ANSWER, call) if is_kind(call.get('kind')) else None
