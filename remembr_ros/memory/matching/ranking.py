"""How well a memory fits a text, and which of the fitting ones to show.

The parameters were chosen on questions about real drives, docs/recall.md has the figures.
"""

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from remembr_ros.geometry import distance
from remembr_ros.memory.matching.bm25 import shares_among
from remembr_ros.memory.matching.sentences import Kinds
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

WORDS_WEIGHT = 0.05  # share of the words in a score; the rest is meaning
# Share of numbers and names in the score for a text with some: to an embedder room 117 is like room 118.
EXACT_WEIGHT = 0.2
# Part of what is missing to a full score that a note by a person is given: it was meant to be found.
PERSON_BONUS = 0.1
# Within both of a better hit, a memory tells nothing new: five hits shall not be one parked hour.
SAME_PLACE_M, SAME_STAY_S = 1.0, 3600.0


def meaning(cosines: ArrayLike, kinds: Kinds) -> float:
    """Return how near a memory is to a text in meaning, 0 to 1: the mean of best sentence and best paragraph.

    One sentence alone is often near by chance; a paragraph alone averages away what one sentence says.

    :param cosines: of the passages' vectors to that of the text's essence, shape (passages,)
    """
    near = np.asarray(cosines, np.float32)
    if len(near) != kinds.total:  # the vectors are of a version that split captions in another way
        return min(max(float(near.max(initial=0.0)), 0.0), 1.0)
    best = [float(near[of_kind].max()) for of_kind in (kinds.sentences, kinds.paragraphs) if len(of_kind)]
    return min(max(sum(best) / len(best), 0.0), 1.0) if best else 0.0


def word_shares(text: str, memories: Sequence[Memory]) -> NDArray[np.float32]:
    """Return how much of a text's words each memory has, 0 to 1, where nothing but these memories is known.

    With an index over all memories, take :meth:`remembr_ros.memory.matching.bm25.WordIndex.shares`.
    """
    return shares_among(text, [searchable(memory) for memory in memories])


def exact_share(patterns: Sequence[re.Pattern[str]], memory: Memory) -> float | None:
    """Return the share of numbers and names that a memory has, 0 to 1; None: none are asked.

    :param patterns: see :func:`remembr_ros.memory.matching.terms.identifiers`
    """
    if not patterns:
        return None
    text = searchable(memory)
    return sum(pattern.search(text) is not None for pattern in patterns) / len(patterns)


def searchable(memory: Memory) -> str:
    """Return the text whose words count: what was seen and what could be read."""
    return ' \n'.join((memory.caption, *memory.scene_text))


def score(meant: float, shared: float | None, exact: float | None, source: str = 'captioner') -> float:
    """Return the relevance of a memory, 0 to 1.

    :param meant: see :func:`meaning`
    :param shared: see :func:`word_shares`; None: words do not count
    :param exact: see :func:`exact_share`; None: the text has no number and no name
    :param source: of the memory; a person's note outranks a caption that fits as well
    """
    total = min(max(meant, 0.0), 1.0)
    if shared is not None:
        total += WORDS_WEIGHT * (min(max(shared, 0.0), 1.0) - total)
    if exact is not None:
        total += EXACT_WEIGHT * (exact - total)
    if source == 'person':
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
    """Return the first hits that show distinct stays, then repetitions where there are too few of them.

    :param hits: best first
    """
    distinct: list[Hit] = []
    repeated: list[Hit] = []
    for hit in hits:
        (repeated if any(_same_stay(hit.memory, d.memory) for d in distinct) else distinct).append(hit)
        if len(distinct) == limit:
            return distinct
    return (distinct + repeated)[:limit]


def _same_stay(a: Memory, b: Memory) -> bool:
    if a.robot != b.robot or a.map_id != b.map_id or a.source != b.source or a.pose is None or b.pose is None:
        return False
    gap_ns = max(a.start_ns, b.start_ns) - min(a.end_ns, b.end_ns)
    near = distance(a.pose.position, b.pose.position) < SAME_PLACE_M
    return near and gap_ns < SAME_STAY_S * NS


def newest_first(memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories by end, newest first; ties by start and id: the order is always the same."""
    return sorted(memories, key=lambda m: (-m.end_ns, -m.start_ns, m.id))
