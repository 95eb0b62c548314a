"""The passages of a caption, each with a vector, and how well a memory fits a text; see docs/recall.md."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.matching.bm25 import shares_among
from remembr_ros.memory.model.record import Memory

# Vectors kept per memory; a VLM's caption of 3 s has 5 to 20 sentences in 1 to 8 paragraphs.
MAX_SENTENCES = 48
MIN_PARAGRAPH = 4  # words; a line with fewer is a heading beside others that are longer

_END = re.compile(r'(?<=[.!?])\s+|(?<=[.!?]["\')\]])\s+|\n+')
_MARK = re.compile(r'^\s*(?:#{1,6}\s+|[-*•]\s+|\d{1,2}[.)]\s+)+')
_EMPHASIS = re.compile(r'\*\*|__|`')
_LETTER = re.compile(r'[^\W_]')

_PICTURE = r'(?:video|image|scene|picture|photo|photograph|panorama|footage|frame|view|sequence|clip)s?'
_SEES = r'(?:you|we|i|one)\s+(?:(?:can|may|might|could)\s+)?(?:also\s+)?(?:see|observe|notice|view)\b'
_THERE_IS = r'there\s+(?:is|are)\b'
_SHOWS = r'(?:depict|show|showcase|feature|capture|display|present|portray|illustrate|reveal|include)s?\b'
_PREAMBLE = re.compile(
    rf'^(?:(?:in|throughout|from)\s+(?:the|this|these)\s+(?:\w+\s+)?{_PICTURE}\b,?\s*(?:{_SEES}|{_THERE_IS})?'
    rf'|(?:the|this|these)\s+(?:\w+\s+)?{_PICTURE}\s+(?:also\s+)?{_SHOWS}'
    rf'|{_SEES}|{_THERE_IS})[\s,:]*',
    re.IGNORECASE,
)


class Passage(NamedTuple):
    """A text whose vector stands for a memory.

    :param is_sentence: it says one thing: a sentence, or what could be read
    :param is_paragraph: it says all of one thing; one sentence may be all
    """

    text: str
    is_sentence: bool
    is_paragraph: bool


def paragraphs_among(memory: Memory, count: int) -> int:
    """Return how many of a memory's passages, the first ones, say all of one thing.

    :param count: of its passages; where a version that split captions in another way made them, all of them
    """
    parts = passages(memory)
    return sum(part.is_paragraph for part in parts) if len(parts) == count else count


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text without white space around them, none of them empty."""
    return [part.strip() for part in _END.split(text) if part and part.strip()]


def passages(memory: Memory) -> list[Passage]:
    """Return what stands for a memory: its caption's paragraphs, their sentences, each text in the scene.

    Without markdown, and without 'In the video, you see', which makes all captions alike and tells them from
    what is asked. Paragraphs come first. A text is there once, whatever it is.
    """
    paragraphs = [text for line in memory.caption.splitlines() if _LETTER.search(text := _plain(line))]
    sentences = [s for paragraph in paragraphs for s in split_sentences(paragraph) if _LETTER.search(s)]
    read = [text.strip() for text in memory.scene_text if text.strip()]
    if not paragraphs and memory.caption.strip():
        read.append(memory.caption.strip())
    paragraphs = [p for p in paragraphs if len(p.split()) >= MIN_PARAGRAPH] or paragraphs
    whole, single = dict.fromkeys(map(_bare, paragraphs)), dict.fromkeys(map(_bare, sentences))
    texts = list(dict.fromkeys((*whole, *read, *single)))[:MAX_SENTENCES]
    return [Passage(t, t in single or t in read, t in whole or t in read) for t in texts]


def _plain(line: str) -> str:
    """Return a line without markdown."""
    return _EMPHASIS.sub('', _MARK.sub('', line)).strip()


def _bare(text: str) -> str:
    """Return a text without its preamble, unless little is left."""
    rest = _PREAMBLE.sub('', text, count=1)
    return rest if len(rest.split()) > 1 else text


NEAREST = 5  # Passages that a hit says are nearest to the text: what a reader is shown of a long caption


def meaning(cosines: NDArray[np.float32], paragraphs: int, worth: NDArray[np.float32]) -> float:
    """Return how near a memory is to a text in meaning, 0 to 1: as a whole, and word by word.

    As a whole: its paragraph that is nearest to the text. And every word of the text by itself, with the
    passage that is nearest to it (late interaction, Khattab and Zaharia 2020, but of words and passages): of
    what is asked for, one sentence may name the colour, another one the place.

    :param cosines: of the passages' vectors to those of the text and its words: shape (passages, 1 + words)
    :param paragraphs: how many of the passages, the first ones, say all of one thing
    :param worth: of each word, 0 or more: shape (words,)
    """
    if not len(cosines):
        return 0.0
    whole, total = float(cosines[: max(paragraphs, 1), 0].max()), float(worth.sum())
    words = float(cosines[:, 1:].max(axis=0) @ worth) / total if total > 0.0 else whole
    return min(max((whole + words) / 2.0, 0.0), 1.0)


def score(meant: float, shared: float | None) -> float:
    """Return the relevance of a memory, 0 to 1: the mean of the text as a whole, its words, and BM25.

    :param meant: see :func:`meaning`, which is two of these
    :param shared: see :func:`word_shares`; None: words do not count
    """
    return meant if shared is None else (2.0 * meant + shared) / 3.0


def word_shares(text: str, memories: Sequence[Memory]) -> NDArray[np.float32]:
    """Return how much of a text's words each memory has, 0 to 1, where nothing but these memories is known.

    With an index over all memories, take :meth:`remembr_ros.memory.matching.bm25.WordIndex.shares`.
    """
    return shares_among(text, [searchable(memory) for memory in memories])


def searchable(memory: Memory) -> str:
    """Return the text whose words count: what was seen and what could be read."""
    return ' \n'.join((memory.caption, *memory.scene_text))


def best_first(scored: Sequence[tuple[float, Memory]]) -> list[tuple[float, Memory]]:
    """Return memories with their scores, best first; ties by start, newest first, and id."""
    return sorted(scored, key=lambda pair: (-pair[0], -pair[1].start_ns, pair[1].id))


def newest_first(memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories by end, newest first; ties by start and id: the order is always the same."""
    return sorted(memories, key=lambda m: (-m.end_ns, -m.start_ns, m.id))


def nearest_passages(
    memory: Memory, cosines: NDArray[np.float32], worth: NDArray[np.float32]
) -> tuple[str, ...]:
    """Return the sentences and the read texts of a memory that are nearest to a text, up to NEAREST.

    :param cosines: see :func:`meaning`
    :return: nearest first; none where the vectors are of a version that split captions in another way
    """
    parts, total = passages(memory), float(worth.sum())
    if len(parts) != len(cosines):
        return ()
    near = cosines[:, 0] + (cosines[:, 1:] @ worth / total if total > 0.0 else 0.0)
    order = sorted(range(len(parts)), key=lambda i: (-near[i], i))
    return tuple(parts[i].text for i in order if parts[i].is_sentence)[:NEAREST]
