"""Measures; see the package."""

import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from remembr_bench.evaluation.metrics.scores import found_at, rank
from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.memory.matching.bm25 import WordIndex
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS

HERE = Path(__file__).parent
AMONG = (1, 5, 15)
REMARKS, SMALL_TALK = 5, 400  # turns about each thing besides the one that is asked for; turns about anything
T0 = 1_700_000_000 * NS

Asked = Sequence[tuple[str, int]]  # questions, and the numbers of the texts that answer them


def main() -> None:
    """Print a table per kind of texts."""
    lines = [
        f'| texts | by | {" | ".join(f"@{n}" for n in AMONG)} |',
        '| --- | --- |' + ' --- |' * len(AMONG),
    ]
    for name, texts, asked in sets():
        for by, ranks in _ranks(texts, asked).items():
            cells = ' | '.join(f'{found_at(n, ranks) / len(ranks):.2f}' for n in AMONG)
            lines.append(f'| {name}, {len(asked)} of {len(texts)} | {by} | {cells} |')
    sys.stdout.write('\n'.join(lines) + '\n')


def sets() -> Iterator[tuple[str, list[str], Asked]]:
    """Yield the kinds of texts, each with the questions."""
    turns, notes = _read('dialogue'), _read('notes')
    talk = [turn for turn, *_ in turns] + _filling([about for _, about, *_ in turns])
    yield 'dialogue, other words', talk, [(far, i) for i, (*_, far, _) in enumerate(turns)]
    yield 'dialogue, some of the words', talk, [(near, i) for i, (*_, near) in enumerate(turns)]
    yield 'notes, objects, log', [text for text, _ in notes], [(asks, i) for i, (_, asks) in enumerate(notes)]


def _filling(things: Sequence[str]) -> list[str]:
    """Return turns about the same things, which answer nothing, and some about others."""
    said, chance = _read('distractors'), random.Random(0)

    def fill(template: str, thing: str) -> str:
        picked = {key: chance.choice(said[key]) for key in 'adft'}
        return str(template.format(n=chance.choice(said['names']), k=thing, **picked))

    about = [fill(remark, thing) for thing in things for remark in chance.sample(said['about'], REMARKS)]
    return list(dict.fromkeys(about + [fill(chance.choice(said['small']), '') for _ in range(SMALL_TALK)]))


def _ranks(texts: Sequence[str], asked: Asked) -> dict[str, list[int | None]]:
    embedder = get_embedder(OFFLINE)
    vectors = embedder.embed(list(texts))
    index = WordIndex()
    for slot, text in enumerate(texts):
        index.add(slot, text)

    def meaning(question: str) -> Any:
        return vectors @ embedder.embed_query(question)

    scores: Mapping[str, Callable[[str], Any]] = {
        'meaning': meaning,
        'BM25': index.shares,
        'sum of z-scores': lambda question: _z(meaning(question)) + _z(index.shares(question)),
    }
    found: dict[str, list[int | None]] = {
        by: [_place(score(question), right) for question, right in asked] for by, score in scores.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f'{folder}/m.db', embedder)
        store.add([Observation(_memory(i, text)) for i, text in enumerate(texts)])
        found['the recall'] = []
        for question, right in asked:
            hits = store.find(Query(question, limit=max(AMONG)))
            found['the recall'].append(rank([hit.memory.id for hit in hits], frozenset([f'{right}'])))
        store.close()
    return found


def _memory(number: int, text: str) -> Memory:
    start_ns = T0 + number * 3600 * NS
    return Memory(f'{number}', 'r', start_ns, start_ns, text, source='person')


def _place(scores: Any, right: int) -> int:
    """Return the place of a text, from 1; among equals the last one."""
    return int((scores >= scores[right]).sum())


def _z(scores: Any) -> Any:
    return (scores - scores.mean()) / (np.std(scores) + 1e-9)


def _read(name: str) -> Any:
    return yaml.safe_load((HERE / f'{name}.yaml').read_text(encoding='utf-8'))


if __name__ == '__main__':
    main()
