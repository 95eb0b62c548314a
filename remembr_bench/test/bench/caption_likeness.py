"""Which likeness of captions tells a change from other words for the same. Prints a table; see
docs/consolidation.md.

    python -m test.bench.caption_likeness [streetview.gml]
"""

import itertools
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.embedding.embedder import RememberedEmbedder
from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.memory.consolidation.rule import telling_sentences
from remembr_ros.memory.model.record import Memory
from test.simulated.events import HAPPENINGS
from test.simulated.parked_view import CAPTIONINGS, VIEWS, Narrator

Array = NDArray[np.float32]
Pair = tuple[str, str]
NEAR_M = 1.0
PAIRS = 150

RULES: dict[str, Callable[[Array, Array, Array], float]] = {
    'whole captions': lambda whole, said, known: float(whole[0] @ whole[1]),
    'mean of sentences, both ways': lambda whole, said, known: float(np.mean(said) + np.mean(known)) / 2,
    'least sentence, both ways': lambda whole, said, known: float(min(said.min(), known.min())),
    'least new sentence': lambda whole, said, known: float(said.min()),
}
"""Likeness by the vectors of both captions, shape (2, dimension), and by the best cosine of each new sentence
with a known one, and of each known one with a new one."""


def main(graph: Path | None) -> None:
    embedder = RememberedEmbedder(get_embedder(OFFLINE))
    rng = random.Random(0)
    sets = {f'simulated, {name}': simulated(name, rng) for name in CAPTIONINGS}
    if graph is not None:
        sets['street views'] = street_views(graph)
    print('captions             rule                             AUC  5% of changes missed: same kept')
    for title, same in sets.items():
        changed = [(known, with_change(new, rng)) for known, new in same]
        for rule in RULES:
            alike = np.array([likeness(rule, pair, embedder) for pair in same])
            other = np.array([likeness(rule, pair, embedder) for pair in changed])
            area = float(np.mean(alike[:, None] > other) + np.mean(alike[:, None] == other) / 2)
            kept = float(np.mean(alike > np.quantile(other, 0.95)))
            print(f'{title:20} {rule:30} {area:5.2f}  {kept:5.2f}  ({len(same)} pairs)', flush=True)


def sentences_of(caption: str) -> list[str]:
    """Return the sentences of a caption that say something."""
    return list(telling_sentences(Memory('', '', 0, 0, caption)).values())


def likeness(rule: str, pair: Pair, embedder: RememberedEmbedder) -> float:
    """Return by a rule how alike two captions are, the second one being the new one."""
    known, new = (embedder.embed(sentences_of(caption)) for caption in pair)
    cosines = new @ known.T
    whole = embedder.embed(list(pair)) if rule == 'whole captions' else known
    return RULES[rule](whole, cosines.max(axis=1), cosines.max(axis=0))


def with_change(caption: str, rng: random.Random) -> str:
    """Return a caption with one sentence about a happening in it."""
    happening = rng.choice([h for h in HAPPENINGS if not h.dark])
    sentences = sentences_of(caption)
    sentences.insert(rng.randrange(len(sentences) + 1), rng.choice(happening.wordings))
    return ' '.join(sentences)


def simulated(name: str, rng: random.Random) -> list[Pair]:
    """Return pairs of captions of a view, one after the other."""
    pairs: list[Pair] = []
    for view in VIEWS:
        narrator = Narrator(view, CAPTIONINGS[name], rng)
        captions = [narrator.caption() for _ in range(PAIRS // len(VIEWS) + 1)]
        pairs += itertools.pairwise(captions)
    return pairs


def street_views(graph: Path) -> list[Pair]:
    """Return pairs of captions that a model gave to street views of a place in the same month."""
    import networkx

    nodes = [data for _, data in networkx.read_gml(graph).nodes(data=True) if data.get('caption')]
    by_month: dict[str, list[dict]] = {}
    for node in nodes:
        by_month.setdefault(str(node.get('timestamp')), []).append(node)
    return [
        (a['caption'], b['caption'])
        for month in by_month.values()
        for a, b in itertools.combinations(month, 2)
        if _apart_m(a, b) <= NEAR_M and a['caption'] != b['caption']
    ]


def _apart_m(a: dict, b: dict) -> float:
    north = 111_000.0 * (a['position']['y'] - b['position']['y'])
    east = 111_000.0 * np.cos(np.radians(a['position']['y'])) * (a['position']['x'] - b['position']['x'])
    return float(np.hypot(north, east))


def _graph(arguments: Sequence[str]) -> Path | None:
    return Path(arguments[0]) if arguments else None


if __name__ == '__main__':
    main(_graph(sys.argv[1:]))
