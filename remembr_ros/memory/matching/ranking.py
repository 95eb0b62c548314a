"""How well a memory fits a text, and which of the fitting ones to show.

The parameters were chosen on questions about real drives, docs/recall.md has the figures.
"""

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import distance
from remembr_ros.memory.matching.bm25 import shares_among
from remembr_ros.memory.matching.sentences import Kinds, passages
from remembr_ros.memory.matching.terms import essence, identifiers
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import AGENT, OBJECT, Memory
from remembr_ros.timestamps import NS

WORD_BY_WORD = 0.3  # of one: how much the words of a text one by one count beside the text as a whole
# Part of what is missing to a full score that a memory is given which has all words, if it is short: a long
# caption has many words by the way. So it falls with the length from SHORT characters on.
WORDS_WEIGHT, SHORT = 0.8, 100
# Share of numbers and rare names in the score for a text with some: to an embedder room 117 is like room 118.
EXACT_WEIGHT = 0.2
# Part of what is missing to a full score that a note by a person is given: it was meant to be found.
PERSON_BONUS = 0.1
# Within both of a better hit, a memory tells nothing new: five hits shall not be one parked hour.
SAME_PLACE_M, SAME_STAY_S = 1.0, 3600.0
# Behind the first ones, of what is this near in time to a better hit nothing new is expected, either.
FIRST, SAME_MOMENT_S = 5, 5.0

MOST_ASKED = 1_000  # characters of a text that count: of more each memory would take 10 ms


def meaning(cosines: NDArray[np.float32], kinds: Kinds, worth: NDArray[np.float32]) -> float:
    """Return how near a memory is to a text in meaning, 0 to 1.

    The mean of best sentence and best paragraph: one sentence alone is often near by chance, a paragraph
    alone averages away what one sentence says. And every word of the text by itself, with the passage that is
    nearest to it (late interaction, Khattab and Zaharia 2020, but of words and passages): of what is asked
    for, one sentence may name the colour, another one the place.

    :param cosines: of the passages' vectors to those of the text's essence and of its words: shape (passages,
        1 + words)
    :param worth: of each word, 0 or more: shape (words,)
    """
    if not len(cosines):
        return 0.0
    whole, best = cosines[:, 0], cosines.max(axis=0)
    if len(whole) == kinds.total:  # else the vectors are of a version that split captions in another way
        parts = [float(whole[of].max()) for of in (kinds.sentences, kinds.paragraphs) if len(of)]
        best[0] = sum(parts) / len(parts)
    return _with_words(best, worth)


def meaning_bound(cosines: NDArray[np.float32], worth: NDArray[np.float32]) -> float:
    """Return what :func:`meaning` cannot exceed, without the kinds, which take splitting a caption."""
    return _with_words(cosines.max(axis=0), worth) if len(cosines) else 0.0


def _with_words(best: NDArray[np.float32], worth: NDArray[np.float32]) -> float:
    """Return the nearness of a memory from that of its best passages to the text and to each word."""
    near, total = float(best[0]), float(worth.sum())
    if total > 0.0:
        near = (near + WORD_BY_WORD * float(best[1:] @ worth) / total) / (1.0 + WORD_BY_WORD)
    return min(max(near, 0.0), 1.0)


def word_shares(text: str, memories: Sequence[Memory]) -> NDArray[np.float32]:
    """Return how much of a text's words each memory has, 0 to 1, where nothing but these memories is known.

    With an index over all memories, take :meth:`remembr_ros.memory.matching.bm25.WordIndex.shares`.
    """
    return shares_among(text, [searchable(memory) for memory in memories])


class Exact(NamedTuple):
    """What a memory has of the numbers and names that are asked for.

    :param share: 0 to 1
    :param weight: 0 to 1; less than 1: they are names that many memories have
    """

    share: float
    weight: float


def exact_share(asked: Sequence[tuple[re.Pattern[str], float]], memory: Memory) -> Exact | None:
    """Return what a memory has of numbers and names; None: none are asked.

    :param asked: patterns, see :func:`remembr_ros.memory.matching.terms.identifiers`, and what each is worth,
        0 to 1
    """
    most = all_of(asked)
    if most is None:
        return None
    text = searchable(memory)
    found = sum(worth for pattern, worth in asked if pattern.search(text))
    return Exact(found / (most.weight * len(asked)), most.weight)


def all_of(asked: Sequence[tuple[re.Pattern[str], float]]) -> Exact | None:
    """Return what a memory has that has all numbers and names; None: none are asked."""
    total = sum(worth for _, worth in asked)
    return Exact(1.0, total / len(asked)) if total > 0.0 else None


def searchable(memory: Memory) -> str:
    """Return the text whose words count: what was seen and what could be read."""
    return ' \n'.join((memory.caption, *memory.scene_text))


def score(memory: Memory, meant: float, shared: float | None, exact: Exact | None) -> float:
    """Return the relevance of a memory, 0 to 1.

    :param meant: see :func:`meaning`
    :param shared: see :func:`word_shares`; None: words do not count
    :param exact: see :func:`exact_share`; None: the text has no number and no name
    """
    total = min(max(meant, 0.0), 1.0)
    if shared is not None:
        length = len(memory.caption) + sum(map(len, memory.scene_text))
        weight = WORDS_WEIGHT * SHORT / max(length, SHORT)
        # Squared: a word in common is often chance, most of them hardly ever.
        total += weight * min(max(shared, 0.0), 1.0) ** 2 * (1.0 - total)
    if exact is not None:
        total += EXACT_WEIGHT * exact.weight * (exact.share - total)
    if memory.source == 'person':
        total += PERSON_BONUS * (1.0 - total)
    return total


def likeliest(parts: Mapping[str, float], wholes: Mapping[str, float], limit: int) -> list[str]:
    """Return the ids of the memories that :func:`meaning` may put first, as far as two searches tell.

    What a search has not returned is at most as near as the last that it has.

    :param parts: cosine of the best passage per memory id, of the memories with the best ones
    :param wholes: the same of paragraphs; empty: they are not told apart
    """
    least_part, least_whole = (min(near.values(), default=0.0) for near in (parts, wholes))

    def rank(memory_id: str) -> tuple[float, str]:
        whole = wholes.get(memory_id, least_whole)
        return -max(parts.get(memory_id, least_part), whole) - whole, memory_id

    return sorted({**parts, **wholes}, key=rank)[:limit]


def best_first(
    bounds: Iterable[tuple[float, Memory]], score_of: Callable[[Memory], float]
) -> Iterator[tuple[float, Memory]]:
    """Yield memories with their scores, best first; ties by start, newest first, and id.

    A score takes splitting a caption, so that it is asked for only of those that may come next.

    :param bounds: what the score of each memory cannot exceed
    """
    queue = [(-bound, 0, -memory.start_ns, memory.id, memory) for bound, memory in bounds]
    heapq.heapify(queue)
    while queue:
        negative, is_known, newest, memory_id, memory = heapq.heappop(queue)
        if is_known:
            yield -negative, memory
        else:
            heapq.heappush(queue, (-score_of(memory), 1, newest, memory_id, memory))


def diversify(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """Return the first hits that show distinct stays, and behind the first of them distinct moments; then
    repetitions where there are too few of them.

    :param hits: best first
    """
    distinct: list[Hit] = []
    repeated: list[Hit] = []
    for hit in hits:
        further = len(distinct) >= FIRST
        known = any(_tells_nothing_new(hit.memory, d.memory, further=further) for d in distinct)
        (repeated if known else distinct).append(hit)
        if len(distinct) == limit:
            return distinct
    return (distinct + repeated)[:limit]


def _tells_nothing_new(a: Memory, b: Memory, *, further: bool) -> bool:
    if a.robot != b.robot or a.source != b.source or a.source in (OBJECT, AGENT):  # each is one of its own
        return False
    gap_ns = max(a.start_ns, b.start_ns) - min(a.end_ns, b.end_ns)
    if gap_ns >= SAME_STAY_S * NS:
        return False
    if further and gap_ns < SAME_MOMENT_S * NS and a.source == 'captioner':
        return True
    if a.map_id != b.map_id or a.pose is None or b.pose is None:
        return False
    return distance(a.pose.position, b.pose.position) < SAME_PLACE_M


def newest_first(memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories by end, newest first; ties by start and id: the order is always the same."""
    return sorted(memories, key=lambda m: (-m.end_ns, -m.start_ns, m.id))


def best_passage(text: str, memory: Memory) -> str | None:
    """Return the sentence or text of a memory that has most of a text's words; the shortest of several.

    By words alone, numbers and names first. A memory may fit by meaning and share no word: of that nothing
    can be told without the vectors.

    :return: None: none has any
    """
    text = text[:MOST_ASKED]
    parts = [part.text for part in passages(memory) if part.is_sentence]
    if not parts:
        return None
    named = [identifier.pattern for identifier in identifiers(text)]
    exact = [sum(bool(pattern.search(part)) for pattern in named) for part in parts]
    shares = shares_among(essence(text), parts)
    best = max(range(len(parts)), key=lambda i: (exact[i], float(shares[i]), -len(parts[i])))
    return parts[best] if exact[best] or shares[best] > 0.0 else None
