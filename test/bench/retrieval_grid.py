"""The constants of the score by text, chosen with one sequence of NaVQA left out and measured on that one.

python -m test.bench.retrieval_grid --data NAVQA
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.evaluation.datasets.sample import Sample
from remembr_ros.evaluation.metrics.scores import found_at, rank
from remembr_ros.evaluation.records.config import run_config
from remembr_ros.evaluation.run.loading import load
from remembr_ros.evaluation.run.runner import remember
from remembr_ros.memory.matching import ranking
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.opening import open_store

GRID = {
    'WORD_BY_WORD': (0.0, 0.15, 0.3, 0.5, 1.0),
    'WORDS_WEIGHT': (0.4, 0.8),
    'SAME_MOMENT_S': (0.0, 5.0, 8.0),
}
AMONG = (1, 5, 15)

Ranks = dict[str, list[int | None]]  # per sequence


def main() -> None:
    """Print the figures of every combination, and those of sequences left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--data', required=True, metavar='NAVQA')
    args = parser.parse_args()
    embedder = get_embedder(OFFLINE)
    with tempfile.TemporaryDirectory() as folder:
        sequences = load(run_config(data='navqa', folder=args.data), Path(folder), embedder)
        stores = []
        for sequence in sequences:
            stores.append(open_store(f'{folder}/{sequence.name}.db', embedder))
            remember(sequence, stores[-1])
        found: dict[tuple[float, ...], Ranks] = {}
        for values in product(*GRID.values()):
            for name, value in zip(GRID, values, strict=True):
                setattr(ranking, name, value)
            found[values] = {
                sequence.name: [
                    rank([hit.memory.id for hit in store.find(_query(one))], one.relevant)
                    for one in sequence.samples
                ]
                for sequence, store in zip(sequences, stores, strict=True)
            }
        for store in stores:
            store.close()
    names = [sequence.name for sequence in sequences]
    lines = [f'| {" | ".join(GRID)} | {" | ".join(f"@{n}" for n in AMONG)} |', '| --- ' * 6 + '|']
    lines += [_row(map(str, values), _figures(ranks, names)) for values, ranks in found.items()]
    left_out: list[int | None] = []
    for name in names:
        others = [other for other in names if other != name]
        best = max(found, key=lambda values: sum(_figures(found[values], others)))
        left_out += found[best][name]
        lines.append(_row(map(str, best), _figures(found[best], [name])) + f' {name}, chosen on the others')
    lines.append(_row(['left out', '', ''], [found_at(n, left_out) / len(left_out) for n in AMONG]))
    sys.stdout.write('\n'.join(lines) + '\n')


def _query(sample: Sample) -> Query:
    return Query(sample.question.text, scope=sample.scope, limit=max(AMONG))


def _figures(ranks: Ranks, names: Sequence[str]) -> list[float]:
    together = [one for name in names for one in ranks[name]]
    return [found_at(n, together) / len(together) for n in AMONG]


def _row(cells: Iterable[str], figures: Sequence[float]) -> str:
    return f'| {" | ".join(cells)} | {" | ".join(f"{figure:.2f}" for figure in figures)} |'


if __name__ == '__main__':
    main()
