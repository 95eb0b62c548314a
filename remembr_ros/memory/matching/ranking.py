"""How well a memory fits a text: the mean of three parts; docs/recall.md has the figures."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.matching.bm25 import shares_among
from remembr_ros.memory.matching.sentences import passages
from remembr_ros.memory.model.record import Memory

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
    return sorted(scored, key=lambda one: (-one[0], -one[1].start_ns, one[1].id))


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
