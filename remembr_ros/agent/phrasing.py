"""Answers and memories in words, with every number filled in by code."""

import json
from dataclasses import replace
from datetime import timezone, tzinfo

from remembr_ros.agent.answer import Answer, Kind, Question
from remembr_ros.geometry import distance
from remembr_ros.memory.recall import Hit
from remembr_ros.timestamps import NS, format_clock, format_duration

MAX_CAPTION = 1_500
"""Characters of a caption that a model is shown."""


def ago(then_ns: int, now_ns: int) -> str:
    """Return how long before now a time lies, such as '2 minutes 5 seconds ago'."""
    seconds = (now_ns - then_ns) / NS
    if seconds < 0:
        return f'{format_duration(-seconds)} from now'
    return f'{format_duration(seconds)} ago'


def place(answer: Answer, question: Question) -> str:
    """Return the answer's place, such as 'at (12.3, 4.5) in map, 6.1 m from here'."""
    if answer.pose is None:
        return 'at an unknown place'
    x, y, _ = answer.pose.position
    text = f'at ({x:.1f}, {y:.1f}) in {answer.frame_id}'
    if question.here is not None and question.frame_id == answer.frame_id:
        text += f', {distance(answer.pose.position, question.here.position):.1f} m from here'
    return text


def with_facts(answer: Answer, question: Question, zone: tzinfo = timezone.utc) -> Answer:
    """Return the answer with its place, time or duration appended to the text."""
    facts = ''
    if answer.kind is Kind.POSITION:
        facts = place(answer, question)
        if answer.evidence:
            facts += f'; seen {ago(answer.evidence[0].memory.end_ns, question.now_ns)}'
    elif answer.kind is Kind.TIME and answer.time_ns is not None:
        facts = f'{format_clock(answer.time_ns, zone)}, {ago(answer.time_ns, question.now_ns)}'
    elif answer.kind is Kind.DURATION and answer.duration_s is not None:
        facts = format_duration(answer.duration_s)
    if not facts:
        return answer
    text = answer.text.rstrip().rstrip('.:')
    return replace(answer, text=f'{text}: {facts}.' if text else f'{facts}.')


def situation(question: Question) -> str:
    """Return what is asked, when and where, as a model is told it."""
    here = 'unknown'
    if question.here is not None:
        here = '({:.2f}, {:.2f}, {:.2f})'.format(*question.here.position)
    return f'Question: {question.text}\nNow: {format_clock(question.now_ns)}\nHere: {here}'


def describe(label: str, hit: Hit, question: Question, zone: tzinfo = timezone.utc) -> str:
    """Return a memory as a model is shown it: one line, what the camera saw quoted as data."""
    memory = hit.memory
    parts = [whereabouts(label, hit, question, zone)]
    if memory.source != 'captioner':
        parts.append(f'source {memory.source}')
    parts.append(f'caption {json.dumps(memory.caption[:MAX_CAPTION], ensure_ascii=False)}')
    if memory.scene_text:
        parts.append(f'text in view {json.dumps(list(memory.scene_text), ensure_ascii=False)[:MAX_CAPTION]}')
    return ', '.join(parts)


def whereabouts(label: str, hit: Hit, question: Question, zone: tzinfo = timezone.utc) -> str:
    """Return when and where a memory was made, without what was seen."""
    memory = hit.memory
    parts = [
        f'[{label}] {format_clock(memory.start_ns, zone)} ({ago(memory.end_ns, question.now_ns)})',
        f'lasted {format_duration((memory.end_ns - memory.start_ns) / NS)}',
    ]
    if memory.pose is None:
        parts.append('place unknown')
    else:
        x, y, z = memory.pose.position
        parts.append(f'at ({x:.1f}, {y:.1f}, {z:.1f})')
        if question.here is not None and question.map_id == memory.map_id:
            parts.append(f'{distance(memory.pose.position, question.here.position):.1f} m from here')
    return ', '.join(parts)
