"""Memories in words, as a model is shown them, with every number filled in by code."""

import re
from collections.abc import Sequence

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.model.grounding import comparable
from remembr_ros.agent.model.quoting import neutral, quoted
from remembr_ros.geometry import distance
from remembr_ros.memory.matching.ranking import split_sentences
from remembr_ros.memory.matching.terms import content_stems, words
from remembr_ros.memory.model.recall import Hit, Survey
from remembr_ros.memory.model.record import AGENT, CAPTIONER, PLACE, Memory
from remembr_ros.timestamps import NS, format_clock, format_duration

MAX_CAPTION = 1_500  # Characters of a caption, and of the text in view, that a model is shown
AHEAD_S = 10.0  # A memory that ends so long after now is one of now: clocks differ, and clips last
LONG_S = 10.0  # Of a memory that lasts as long, a model is told so
MOST_PLACES = 40  # whose names a model is told
MOST_AREAS = 4  # Maps that a model is told of
CUT = '\u2026'  # Stands where something was left out

_HEADING = re.compile(r'#.*|\*\*[^*]+\*\*|.*:[\W_]*|[\W\d_]*')  # or a bullet, a number of a list
_SMALLER_UNIT = re.compile(r'(?<=[a-z]) \d+ [a-z]+ ')


def ago(then_ns: int, now_ns: int) -> str:
    """Return how long before now a time lies, such as '2 minutes 5 seconds ago', or 'just now'."""
    seconds = (now_ns - then_ns) / NS
    if -AHEAD_S <= seconds < 0.5:
        return 'just now'
    return f'{format_duration(-seconds)} from now' if seconds < 0 else f'{format_duration(seconds)} ago'


def situation(question: Question, survey: Survey | None = None) -> str:
    """Return what is asked, when and where, as a model is told it.

    :param survey: what there is to answer it from; None: nobody knows
    """
    here = 'unknown'
    if question.here is not None:
        here = '({:.2f}, {:.2f}, {:.2f})'.format(*question.here.position)
    now = format_clock(question.now_ns, question.zone)
    lines = [f'Question: {question.text}', f'Now: {now}', f'Here: {here}']
    if survey is not None:
        lines.append(f'Remembered: {_surveyed(survey, question)}')
    if question.places:
        names = ', '.join(neutral(place.name)[:60] for place in question.places.all[:MOST_PLACES])
        lines.append(f'Named places, for near: {names}')
    return '\n'.join(lines)


def _surveyed(survey: Survey, question: Question) -> str:
    if survey.first_ns is None or survey.last_ns is None:
        return 'nothing'
    first, last = (
        format_clock(ns, question.zone).rsplit(' ', 1)[0] for ns in (survey.first_ns, survey.last_ns)
    )
    if last.split(' ')[0] == first.split(' ')[0]:
        last = last.split(' ', 1)[1]
    parts = [f'{survey.memories} memories from {first} to {last}']
    if survey.driven_m is not None:
        parts.append(f'{survey.driven_m:.0f} m driven')
    for area in survey.areas[:MOST_AREAS]:
        (x0, y0, _), (x1, y1, _) = area.low, area.high
        on = f' on map {quoted(area.map_id[:40])}' if len(survey.areas) > 1 else ''
        parts.append(f'x {x0:.0f} to {x1:.0f}, y {y0:.0f} to {y1:.0f}{on}')
    if len(survey.areas) > MOST_AREAS:
        parts.append(f'{len(survey.areas) - MOST_AREAS} more maps')
    return ', '.join(parts)


def describe(
    label: str,
    hit: Hit,
    question: Question,
    *,
    caption: str | None = None,
    limit: int = MAX_CAPTION,
    with_robot: bool = False,
    words: Sequence[str] = (),
) -> str:
    """Return a memory as a model is shown it: one line, what the camera saw quoted as data.

    :param caption: what of it is shown; None: of one above the limit, the sentences nearest to what found it
    :param limit: characters of the caption, and of the text in view
    :param with_robot: say which robot remembers
    :param words: what else is to be said of it
    """
    memory = hit.memory
    parts = [whereabouts(label, hit, question), *words]
    if with_robot:
        parts.append(f'robot {quoted(memory.robot[:60])}')
    if memory.source == AGENT:
        parts.append('what the robot did itself')
    elif memory.source != CAPTIONER:
        parts.append(f'by {neutral(memory.source)[:20]}')
    if caption is None:
        caption = excerpt(memory.caption, question.text, limit, hit.passages)
    parts.append(f'caption {quoted(caption)}')
    if memory.scene_text:
        parts.append(f'text {_texts(memory.scene_text, limit)}')
    return ', '.join(parts)


def whereabouts(label: str, hit: Hit, question: Question) -> str:
    """Return when and where a memory was made, without what was seen."""
    memory = hit.memory
    date, clock, _ = format_clock(memory.start_ns, question.zone).split(' ', 2)
    if date != format_clock(question.now_ns, question.zone)[: len(date)]:
        clock = f'{date} {clock}'
    parts = [f'[{label}] {clock}', _SMALLER_UNIT.sub(' ', ago(memory.end_ns, question.now_ns))]
    if (lasted_s := (memory.end_ns - memory.start_ns) / NS) >= LONG_S:
        parts.append(f'for {format_duration(lasted_s)}')
    if memory.pose is None:
        parts.append('place unknown')
    else:
        x, y, z = memory.pose.position
        parts.append(f'at ({x:.1f}, {y:.1f})' if abs(z) < 0.05 else f'at ({x:.1f}, {y:.1f}, {z:.1f})')
        parts += [*place_said(memory, question), *from_here(memory, question)]
    return ', '.join(parts)


def place_said(memory: Memory, question: Question) -> list[str]:
    """Return in which named place a memory was made, if that is known: ['in the kitchen']."""
    found = None if memory.source == PLACE else question.places.of(memory)
    return [] if found is None else [f'in {neutral(found.said)}']


def from_here(placed: Answer | Memory, question: Question) -> list[str]:
    """Return how far it is, if that is known."""
    if placed.pose is None or question.here is None or not comparable(placed, question):
        return []
    return [f'{distance(placed.pose.position, question.here.position):.1f} m from here']


def excerpt(caption: str, about: str, limit: int, nearest: Sequence[str] = ()) -> str:
    """Return a caption, or as many of its sentences as fit, in their order; what is cut is marked.

    :param about: what is looked for: of sentences that are not told apart else, those with most of its words
        come first, then the earlier ones
    :param limit: characters
    :param nearest: what of the caption is nearest to it, see :class:`remembr_ros.memory.model.recall.Hit`
    """
    if len(caption) <= limit:
        return caption
    sentences, asked = split_sentences(caption), content_stems(about)
    spoken = [' '.join(words(text)) for text in nearest]
    plain = [' '.join(words(sentence)) for sentence in sentences]
    # Passages are without markdown and 'In the video, you see'.
    places = [next((i for i, text in enumerate(spoken) if text in bare), len(spoken)) for bare in plain]
    shared = [len(asked & content_stems(sentence)) for sentence in sentences]
    heads = [_HEADING.fullmatch(sentence) is not None for sentence in sentences]
    order = sorted(range(len(sentences)), key=lambda i: (heads[i], places[i], -shared[i], i))
    kept: set[int] = set()
    room = limit
    for i in order:
        if len(sentences[i]) + 2 <= room:
            kept.add(i)
            room -= len(sentences[i]) + 2
    for i in reversed(range(len(sentences))):
        if heads[i] and i + 1 not in kept:
            kept.discard(i)
    if not kept:
        return f'{sentences[order[0]][: limit - 1]}{CUT}' if order else caption[:limit]
    numbered = enumerate(sentences)
    return ' '.join(text if i in kept else CUT for i, text in numbered if i in kept or not i or i - 1 in kept)


def _texts(texts: tuple[str, ...], limit: int) -> str:
    shown: list[str] = []
    for text in texts:
        shown.append(quoted(text[:limit]))
        limit -= len(text)
        if limit <= 0:
            break
    return ' '.join(shown)
