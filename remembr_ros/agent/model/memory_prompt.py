"""Memories in words, as a model is shown them, with every number filled in by code."""

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.model.grounding import comparable
from remembr_ros.agent.model.quoting import neutral, quoted
from remembr_ros.geometry import distance
from remembr_ros.memory.matching.sentences import split_sentences
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS, format_clock, format_duration

MAX_CAPTION = 1_500  # Characters of a caption, and of the text in view, that a model is shown
CUT = '\u2026'  # Stands where something was left out


def ago(then_ns: int, now_ns: int) -> str:
    """Return how long before now a time lies, such as '2 minutes 5 seconds ago'."""
    seconds = (now_ns - then_ns) / NS
    if seconds < 0:
        return f'{format_duration(-seconds)} from now'
    return f'{format_duration(seconds)} ago'


def situation(question: Question) -> str:
    """Return what is asked, when and where, as a model is told it."""
    here = 'unknown'
    if question.here is not None:
        here = '({:.2f}, {:.2f}, {:.2f})'.format(*question.here.position)
    now = format_clock(question.now_ns, question.zone)
    return f'Question: {question.text}\nNow: {now}\nHere: {here}'


def describe(
    label: str,
    hit: Hit,
    question: Question,
    *,
    about: str = '',
    limit: int = MAX_CAPTION,
    with_robot: bool = False,
) -> str:
    """Return a memory as a model is shown it: one line, what the camera saw quoted as data.

    :param about: what is looked for: of a caption above the limit, the sentences about it are shown
    :param limit: characters of the caption, and of the text in view
    :param with_robot: say which robot remembers
    """
    memory = hit.memory
    parts = [whereabouts(label, hit, question)]
    if with_robot:
        parts.append(f'robot {quoted(memory.robot[:60])}')
    if memory.source != 'captioner':
        parts.append(f'by {neutral(memory.source)[:20]}')
    parts.append(f'caption {quoted(excerpt(memory.caption, about or question.text, limit))}')
    if memory.scene_text:
        parts.append(f'text {_texts(memory.scene_text, limit)}')
    return ', '.join(parts)


def whereabouts(label: str, hit: Hit, question: Question) -> str:
    """Return when and where a memory was made, without what was seen."""
    memory = hit.memory
    start = format_clock(memory.start_ns, question.zone)
    date, clock, _ = start.split(' ', 2)
    if date != format_clock(question.now_ns, question.zone)[: len(date)]:
        clock = f'{date} {clock}'
    lasted = format_duration((memory.end_ns - memory.start_ns) / NS)
    parts = [f'[{label}] {clock}', ago(memory.end_ns, question.now_ns), f'for {lasted}']
    if memory.pose is None:
        parts.append('place unknown')
    else:
        x, y, z = memory.pose.position
        parts.append(f'at ({x:.1f}, {y:.1f})' if abs(z) < 0.05 else f'at ({x:.1f}, {y:.1f}, {z:.1f})')
        parts += from_here(memory, question)
    return ', '.join(parts)


def from_here(placed: Answer | Memory, question: Question) -> list[str]:
    """Return how far it is, if that is known."""
    if placed.pose is None or question.here is None or not comparable(placed, question):
        return []
    return [f'{distance(placed.pose.position, question.here.position):.1f} m from here']


def excerpt(caption: str, about: str, limit: int) -> str:
    """Return a caption, or as many of its sentences as fit, in their order.

    Those with the most words of the question come first, of the others the earlier ones.

    :param about: what is looked for
    :param limit: characters; what is cut is marked
    """
    if len(caption) <= limit:
        return caption
    sentences = split_sentences(caption)
    asked = content_stems(about)
    order = sorted(range(len(sentences)), key=lambda i: (-len(asked & content_stems(sentences[i])), i))
    kept: set[int] = set()
    room = limit
    for i in order:
        if len(sentences[i]) + 2 <= room:
            kept.add(i)
            room -= len(sentences[i]) + 2
    if not kept:
        return f'{sentences[order[0]][: limit - 1]}{CUT}' if order else caption[:limit]
    shown = enumerate(sentences)
    return ' '.join(text if i in kept else CUT for i, text in shown if i in kept or not i or i - 1 in kept)


def _texts(texts: tuple[str, ...], limit: int) -> str:
    shown: list[str] = []
    for text in texts:
        shown.append(quoted(text[:limit]))
        limit -= len(text)
        if limit <= 0:
            break
    return ' '.join(shown)
