"""Fits when the offline planner takes a thing for seen, from questions whose answers are there and are not.

    python -m remembr_ros.evaluation.calibration --data NAVQA --building DIR ... --memory FILE

Prints the coefficients of remembr_ros.agent.offline.relevance_model and how well they tell both apart, also
on sequences that they were not fitted on.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.offline.matching import RECALL_WEIGHT, has_what_it_must, likeness, variants
from remembr_ros.agent.offline.relevance_model import LEAST, Coefficients, Likeness, chance
from remembr_ros.agent.offline.request import Request, parse_request
from remembr_ros.agent.offline.sighting import POOL
from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.evaluation.datasets import loading as datasets
from remembr_ros.evaluation.datasets import sample
from remembr_ros.evaluation.datasets.building import ABSENT_THINGS
from remembr_ros.evaluation.run.config import run_config
from remembr_ros.evaluation.run.runner import remember
from remembr_ros.evaluation.run.windowed_recall import WindowedRecall
from remembr_ros.memory.model.recall import Hit, Recall, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.opening import open_store

RIDGE = 0.1
"""Pull of the coefficients towards 0, in cases: few cases shall not make them endless."""


LEASTS = (*sorted(set(LEAST.values())), 0.5)
"""Least chances at which a report tells what is taken for seen."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing asked of one memory, and whether it is there.

    :param group: the sequence that was asked
    :param source: how it is known whether it is there
    :param like: of the memory that shows it best
    """

    group: str
    source: str
    like: Likeness
    there: bool


def cases_of(sequences: Sequence[sample.Sequence], recalls: Sequence[Recall]) -> list[Case]:
    """Return what is there and what is not.

    There: what the questions ask for, each in its own window. Not there: the absent things of the buildings'
    questions; those and the things of other sequences' questions, among the memories that hold no answer,
    if none of these has all the words.

    :param recalls: one for each sequence
    """
    found: list[Case] = []
    things: list[tuple[str, Request]] = [
        ('', parse_request(f'Where is {thing}?', 0)) for thing in ABSENT_THINGS
    ]
    for sequence, recall in zip(sequences, recalls, strict=True):
        for one in sequence.samples:
            request = parse_request(one.question.text, one.question.now_ns)
            if not request.target or one.truth.binary is False:
                continue
            there = one.truth.kind is not Kind.NOT_SEEN
            if there:
                things.append((sequence.name, request))
            best = _best(request, WindowedRecall(recall, one.scope), None)
            if best is not None:
                found.append(Case(sequence.name, 'question', best, there))
    for sequence, recall in zip(sequences, recalls, strict=True):
        answers = frozenset[str]().union(*(one.relevant for one in sequence.samples))
        others = {memory.id: memory for memory in sequence.memories if memory.id not in answers}
        asked: set[str] = set()
        for owner, request in things:
            if owner == sequence.name or request.target in asked:
                continue
            asked.add(request.target)
            if any(_has_all_words(request, memory) for memory in others.values()):
                continue
            best = _best(request, recall, frozenset(others))
            if best is not None:
                found.append(Case(sequence.name, 'elsewhere', best, False))
    return found


def fit(cases: Sequence[Case]) -> Coefficients:
    """Return the coefficients of the likeliest logistic model, both outcomes weighing the same.

    :param cases: of both outcomes
    """
    x, y = _matrix(cases)
    weight = np.where(y, 0.5 / max(y.sum(), 1.0), 0.5 / max((1 - y).sum(), 1.0)) * len(y)
    ridge = np.diag([0.0, *[RIDGE] * (x.shape[1] - 1)])
    beta = np.zeros(x.shape[1])
    for _ in range(50):  # Newton's method; it takes about ten
        p = 1.0 / (1.0 + np.exp(-x @ beta))
        gradient = x.T @ (weight * (y - p)) - ridge @ beta
        hessian = (x.T * (weight * p * (1 - p))) @ x + ridge
        step = np.linalg.solve(hessian, gradient)
        beta += step
        if np.abs(step).max() < 1e-9:
            break
    return Coefficients(*(round(float(b), 2) for b in beta))


def shares(cases: Sequence[Case], by: Coefficients, least: float) -> tuple[float, float]:
    """Return the share of things that are there and are taken for seen, and of those that are not there."""
    taken = [(case.there, chance(case.like, by) >= least) for case in cases]
    there = [seen for is_there, seen in taken if is_there]
    absent = [seen for is_there, seen in taken if not is_there]
    return sum(there) / max(len(there), 1), sum(absent) / max(len(absent), 1)


def _best(request: Request, recall: Recall, among: frozenset[str] | None) -> Likeness | None:
    likes = [
        likeness(request, hit)
        for text in variants(request.target)
        for hit in recall.by_text(text, Scope(), POOL)
        if (among is None or hit.memory.id in among) and has_what_it_must(request, hit.memory)
    ]
    return max(
        likes,
        key=lambda like: RECALL_WEIGHT * like.score + (1.0 - RECALL_WEIGHT) * like.covered,
        default=None,
    )


def _has_all_words(request: Request, memory: Memory) -> bool:
    return likeness(request, Hit(memory, 0.0)).covered == 1.0


def _matrix(cases: Sequence[Case]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x = np.array([[1.0, *map(float, astuple(case.like))] for case in cases])
    return x, np.array([float(case.there) for case in cases])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else '')
    parser.add_argument('--data', required=True, metavar='NAVQA')
    parser.add_argument('--building', nargs='*', default=[], metavar='DIR', help='rendered buildings')
    parser.add_argument('--memory', type=Path, required=True, metavar='FILE', help='made if missing')
    parser.add_argument('--embedder', default=OFFLINE)
    parser.add_argument('--cache', type=Path, default=Path('~/.cache/remembr').expanduser())
    args = parser.parse_args()
    embedder = get_embedder(args.embedder)
    configs = [run_config(data='navqa', folder=args.data)]
    configs += [run_config(data='building', folder=folder) for folder in args.building]
    sequences = [s for config in configs for s in datasets.load(config, args.cache / 'captions', embedder)]
    cases = []
    stores = []
    for sequence in sequences:
        store = open_store(str(args.memory), embedder, collection=sequence.name.replace('-', '_'))
        remember(sequence, store)
        stores.append(store)
    cases = cases_of(sequences, stores)
    for store in stores:
        store.close()
    sys.stdout.write(f'{report(cases)}\n')


def report(cases: Sequence[Case]) -> str:
    """Return the coefficients fitted on all cases, and how those fitted without a sequence do on it."""
    lines = [
        f'{fit(cases)}',
        '',
        f'| asked of | there | not there |{"".join(f" at {least:g} |" for least in LEASTS)}',
        '| --- | --- | --- |' + ' --- |' * len(LEASTS),
    ]
    for group in sorted({case.group for case in cases}):
        inside = [case for case in cases if case.group == group]
        by = fit([case for case in cases if case.group != group])
        lines.append(_row(f'{group}, not fitted on', inside, by))
    lines.append(_row('all, fitted on', cases, fit(cases)))
    return '\n'.join(lines)


def _row(title: str, cases: Sequence[Case], by: Coefficients) -> str:
    there = sum(case.there for case in cases)
    cells = ['{:.2f} / {:.2f}'.format(*shares(cases, by, least)) for least in LEASTS]
    return f'| {title} | {there} | {len(cases) - there} | {" | ".join(cells)} |'


if __name__ == '__main__':
    main()
