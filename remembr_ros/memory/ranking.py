"""How well a memory fits a text, and which of the fitting ones to show."""

import re
from collections.abc import Iterable, Sequence

from remembr_ros.geometry import distance
from remembr_ros.memory.recall import Hit
from remembr_ros.memory.record import Memory
from remembr_ros.timestamps import NS

MEANING_WEIGHT = 0.7
"""Share of the embedding's similarity in a score; the rest is that of the asked words found in the memory."""

SAME_PLACE_M = 1.0
SAME_STAY_S = 3600.0
"""Within both of a better hit, a memory tells nothing new: five hits shall not be one parked hour."""

STOP_WORDS = frozenset(
    'a about after again ago all am an and any anything are as ask at away back be been before being '
    'between both but by called came can come could day did do does done down drive driving each ever '
    'every find first for from get give go going got had happened has have having he here him his how '
    'i if in into is it its just last latest lead let like long look many may me might more most much '
    'my near need next no not now of off on once one only or our out over past place please read '
    'recently remember robot said saw say says see seen she should show so some something soon take '
    'tell than that the their them then there these they thing things this those through time to '
    'today told too under until up us very want was way we went were what when where whether which '
    'while who whom whose why will with would yesterday you your'.split(' ')
)

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def words(text: str) -> list[str]:
    """Return the words of a text: lower case, letters and digits, in order."""
    return [word.removesuffix("'s") for word in _WORD.findall(text.lower())]


def stem(word: str) -> str:
    """Return a word without its commonest English endings, so that 'signs' meets 'sign'."""
    if len(word) > 4 and word.endswith('ies'):
        return word[:-3] + 'y'
    if len(word) > 4 and word.endswith(('ches', 'shes', 'sses', 'xes')):
        return word[:-2]
    if len(word) > 3 and word.endswith('s') and not word.endswith(('ss', 'us', 'is')):
        return word[:-1]
    return word


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning; of all words if none does."""
    everything = words(text)
    return frozenset(stem(w) for w in everything if w not in STOP_WORDS) or frozenset(map(stem, everything))


def coverage(asked: frozenset[str], memory: Memory) -> float:
    """Return the share of the asked stems that the caption or the scene text has, 0 to 1."""
    if not asked:
        return 0.0
    present = {stem(w) for w in words(' '.join((memory.caption, *memory.scene_text)))}
    return len(asked & present) / len(asked)


def score(similarity: float, covered: float | None) -> float:
    """Return the relevance of a memory, 0 to 1.

    :param similarity: cosine of the best of its passages to the asked text
    :param covered: see :func:`coverage`; None: meaning alone counts
    """
    meaning = min(max(similarity, 0.0), 1.0)
    if covered is None:
        return meaning
    return MEANING_WEIGHT * meaning + (1.0 - MEANING_WEIGHT) * covered


def diversify(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """Return the first hits that show distinct stays, filled up with the others where there are too few.

    :param hits: best first
    :return: at most limit hits: first the distinct ones, best first, then the repetitions
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
