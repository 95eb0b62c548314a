"""remembr trace: what happened to the questions that were asked, from a trace file."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from remembr_ros.agent.trace import questions, read_trace
from remembr_ros.cli.options import add_json, count
from remembr_ros.cli.output import print_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import NS, parse_time

Event = dict[str, Any]

MAX_SHOWN = 300  # characters shown of one text

_HEAD = ('at', 'question_id', 'event')


EXAMPLES = (
    'trace trace.jsonl',
    'trace trace.jsonl --last 3',
    'trace trace.jsonl --question lift --json',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'file', type=Path, metavar='FILE', help='made by ask --trace, or by the parameter trace of the agent'
    )
    parser.add_argument('--last', type=count, metavar='N', help='only the last N questions')
    parser.add_argument('--question', metavar='TEXT', help='only questions that contain this')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    found = questions(read_trace(args.file))
    if not found:
        raise InvalidRequest(f'{args.file} holds no questions; is it what --trace wrote?')
    if args.question:
        wanted = args.question.lower()
        found = [events for events in found if wanted in _asked(events).lower()]
    if args.last:
        found = found[-args.last :]
    if args.json:
        print_json({'questions': [{'id': e[0]['question_id'], 'events': e} for e in found]})
    elif not found:
        raise InvalidRequest(f'{args.file}: no such question')
    else:
        print('\n\n'.join(timeline(events) for events in found))
    return 0


def timeline(events: list[Event]) -> str:
    """Return a question's events for a person: when, in seconds since it was asked, and what."""
    began_ns = _time_ns(events[0])
    lines = [f'{events[0].get("at", "")}  {events[0]["question_id"]}  {_asked(events)}']
    for event in events:
        if event.get('event') == 'asked':
            continue
        since = (_time_ns(event) - began_ns) / NS
        first, *rest = _TOLD.get(str(event.get('event')), _told)(event)
        lines.append(f'  {since:8.3f} s  {event.get("event", "")!s:<9} {first}')
        lines += [f'{"":24}{line}' for line in rest]
    return '\n'.join(lines)


def _asked(events: list[Event]) -> str:
    return next((str(e.get('question', '')) for e in events if e.get('event') == 'asked'), '')


def _chat(event: Event) -> list[str]:
    lines = [f'{event.get("model", "")}, {event.get("seconds", 0)} s']
    if 'prompt_tokens' in event:
        about = 'about ' if event.get('estimated') else ''
        lines[0] += f', {about}{event["prompt_tokens"]} + {event.get("completion_tokens", 0)} tokens'
    for message in _list(event.get('messages')):
        lines.append(f'{message.get("role", "")}: {_short(message.get("content", ""))}')
    reply = event.get('reply')
    if isinstance(reply, dict):
        if reply.get('content'):
            lines.append(f'> {_short(reply["content"])}')
        for call in _list(reply.get('tool_calls')):
            lines.append(f'> {call.get("name", "")} {_short(call.get("arguments", ""))}')
    if 'error' in event:
        lines.append(f'! {_short(event["error"])}')
    return lines


def _answered(event: Event) -> list[str]:
    lines = [f'{event.get("kind", "")}: {_short(event.get("text", ""))}']
    if event.get('evidence'):
        lines.append(f'evidence {_short(event["evidence"])}')
    return [*lines, _cost(event)]


def _failed(event: Event) -> list[str]:
    return [f'{event.get("error", "")}: {_short(event.get("message", ""))}', _cost(event)]


def _cost(event: Event) -> str:
    about = 'about ' if event.get('tokens_estimated') else ''
    calls, prompt, completion = (event.get(n, 0) for n in ('llm_calls', 'prompt_tokens', 'completion_tokens'))
    planner = f'{event["planner"]}, ' if event.get('planner') else ''
    return f'{planner}{event.get("latency_sec", 0)} s, {calls} calls, {about}{prompt} + {completion} tokens'


def _told(event: Event) -> list[str]:
    """Return whatever an event says, for those that this verb does not know."""
    return [', '.join(f'{name} {_short(value)}' for name, value in event.items() if name not in _HEAD)]


_TOLD: dict[str, Callable[[Event], list[str]]] = {'chat': _chat, 'answered': _answered, 'failed': _failed}


def _list(value: Any) -> list[Event]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _short(value: Any) -> str:
    text = ' '.join((value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).split())
    return text if len(text) <= MAX_SHOWN else f'{text[:MAX_SHOWN]} ...'


def _time_ns(event: Event) -> int:
    try:
        return parse_time(str(event.get('at', '')))
    except InvalidRequest:
        return 0
