"""Answers in words: the place, time or duration that code knows, how sure it is, and of what it was asked."""

import re
from dataclasses import replace
from datetime import datetime, tzinfo

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.memory_prompt import ago, from_here, place_said
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import CAPTIONER, PLACE
from remembr_ros.memory.objects.wording import presence_note
from remembr_ros.timestamps import NS, format_clock, format_duration

EVEN = 0.5  # An answer that is rather wrong than right says so

_LOWERED = re.compile(r'(?!A person noted)(?:The|An?|Yes|No|There|It|They|In|On|At|That|You)\b')


def with_facts(answer: Answer, question: Question) -> Answer:
    """Return the answer with its place, time or duration appended to the text, on the asker's clock.

    Of one that is rather wrong than right the text says "perhaps".
    """
    facts = ''
    if answer.kind is Kind.POSITION:
        facts = 'at an unknown place'
        if answer.pose is not None:
            x, y, _ = answer.pose.position
            # Of what was seen, it is where the robot stood.
            seen = bool(answer.evidence) and answer.evidence[0].memory.source == CAPTIONER
            from_afar = seen and not answer.text.endswith(' was')
            at = f'{"from" if from_afar else "at"} ({x:.1f}, {y:.1f})'
            other_map = answer.map_id if answer.map_id != question.map_id else ''
            at += f' on map {other_map}' if other_map else f' in {answer.frame_id}'
            within = place_said(answer.evidence[0].memory, question) if answer.evidence else []
            facts = ', '.join([at, *within, *from_here(answer, question)])
        if answer.evidence and answer.evidence[0].memory.source != PLACE:
            facts += f'; {ago(answer.evidence[0].memory.end_ns, question.now_ns)}{_since(answer, question)}'
    elif answer.kind is Kind.TIME and answer.time_ns is not None:
        facts = f'{format_clock(answer.time_ns, question.zone)}, {ago(answer.time_ns, question.now_ns)}'
        facts += _since(answer, question)
    elif answer.kind is Kind.DURATION and answer.duration_s is not None:
        facts = format_duration(answer.duration_s)
    text = answer.text
    if facts:
        text = text.rstrip().rstrip('.:')
        text = f'{text}: {facts}.' if text else f'{facts}.'
    tells = answer.kind is not Kind.NOT_SEEN and not answer.text.startswith('I cannot tell')
    wary = 0.0 < answer.confidence < EVEN and tells
    return replace(answer, text=hedged(text) if wary else text)


def _since(answer: Answer, question: Question) -> str:
    """Return what became of the object that an answer is about, since it was seen."""
    about = answer.evidence[0].memory if answer.evidence else None
    note = presence_note(about, question.now_ns, question.zone) if about else ''
    return f', {note}' if note else ''


def hedged(text: str) -> str:
    """Return a sentence as one that may be wrong."""
    return f'Perhaps {text[0].lower()}{text[1:]}' if _LOWERED.match(text) else f'Perhaps: {text}'


def asked_of(scope: Scope, zone: tzinfo) -> str:
    """Return such as 'asked of porter-1 on map office, 2026-11-23 09:00 to 10:00'; empty: of all memories.

    :param zone: whose clock the times are on
    """
    robots = f'of {" or ".join(scope.robots)}' if scope.robots else ''
    on_map = '' if scope.map_id is None else f'on map {scope.map_id}' if scope.map_id else 'without a map'
    scope_text = ', '.join(filter(None, (f'{robots} {on_map}'.strip(), _window(scope, zone))))
    return scope_text and f'asked {scope_text}'


def _window(scope: Scope, zone: tzinfo) -> str:
    after, before = (
        None if time_ns is None else datetime.fromtimestamp(time_ns // NS, zone)
        for time_ns in (scope.after_ns, scope.before_ns)
    )
    if after and before:
        same_day = after.date() == before.date()
        return f'{after:%Y-%m-%d %H:%M} to {before:{"%H:%M" if same_day else "%Y-%m-%d %H:%M"}}'
    return f'since {after:%Y-%m-%d %H:%M}' if after else f'until {before:%Y-%m-%d %H:%M}' if before else ''
