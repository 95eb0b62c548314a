"""The part of a long caption that a question is about."""

from remembr_ros.memory.matching.sentences import split_sentences
from remembr_ros.memory.matching.terms import content_stems

CUT = '\u2026'
"""Stands where something was left out."""


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
    parts: list[str] = []
    for i, sentence in enumerate(sentences):
        if i in kept:
            parts.append(sentence)
        elif not parts or parts[-1] != CUT:
            parts.append(CUT)
    return ' '.join(parts)
