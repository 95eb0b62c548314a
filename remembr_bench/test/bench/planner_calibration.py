"""Fits how sure the offline planner is, and tells what each of its rules is worth, one sequence left out.

    python -m test.bench.planner_calibration --data NAVQA ... --building DIR ... --memory FILE [--rules]

Prints the coefficients of remembr_ros.agent.model.confidence; what things that are there and things that are
not there are taken for by coefficients fitted on the other sequences; the planner's correctness with those
and with the ones fitted on all; with --rules, its correctness without each rule, word and constant.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from remembr_bench.evaluation.datasets import sample
from remembr_bench.evaluation.datasets.building import ABSENT_THINGS
from remembr_bench.evaluation.metrics.scores import score
from remembr_bench.evaluation.records.config import run_config
from remembr_bench.evaluation.run import loading as datasets
from remembr_bench.evaluation.run.runner import WindowedRecall, remember
from remembr_ros.agent.model import confidence, matching, other_words, relevance_model
from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.matching import has_what_it_must, words_found
from remembr_ros.agent.offline import planner, request, sights
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.offline.request import Request, parse_request
from remembr_ros.agent.planner import Run
from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.recall import Hit, Query
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.recall_protocol import Recall

RIDGE = 0.1
"""Pull of the coefficients towards 0, in cases: few cases shall not make them endless."""

THERE = 0.25
"""Share of the things asked for that are there, for which probabilities are right. Chosen for at most 0.1 of
what is not there to be as likely as not."""

LEASTS = (relevance_model.SHOWN, 0.5)
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
READ = 15  # Memories that a reader of a recall is shown

CITED_RIGHT = 0.76  # Share of places that a strong language model in this loop cited rightly on NaVQA


@dataclass(frozen=True, slots=True)
class Case:
    """One thing asked of one memory, and whether it is there.

    :param group: the sequence that was asked
    :param features: of the memory that shows it best: score, that it has all words, what a short text lacks
    """

    group: str
    features: tuple[float, ...]
    there: bool


def cases_of(sequences: Sequence[sample.Sequence], recalls: Sequence[Recall]) -> list[Case]:
    """Return what is there and what is not.

    There: what the questions ask for, each in its own window. Not there: the absent things of the buildings'
    questions; those and the things of other sequences' questions, among the memories that hold no answer,
    if none of these has all the words.
    """
    found: list[Case] = []
    things: list[tuple[str, Request]] = [('', parse_request(f'Where is {it}?', 0)) for it in ABSENT_THINGS]
    for sequence, recall in zip(sequences, recalls, strict=True):
        for one in sequence.samples:
            asked = parse_request(one.question.text, one.question.now_ns)
            if not asked.target:
                continue
            there = one.truth.kind is not Kind.NOT_SEEN and one.truth.binary is not False
            if there:
                things.append((sequence.name, asked))
            if best := _best(asked, WindowedRecall(recall, one.scope), None):
                found.append(Case(sequence.name, best, there))
    for sequence, recall in zip(sequences, recalls, strict=True):
        answers = frozenset[str]().union(*(one.relevant for one in sequence.samples))
        others = {memory.id: memory for memory in sequence.memories if memory.id not in answers}
        done: set[str] = set()
        for owner, asked in things:
            if owner == sequence.name or asked.target in done:
                continue
            done.add(asked.target)
            if any(all(words_found(asked, memory)) for memory in others.values()):
                continue
            if best := _best(asked, recall, frozenset(others)):
                found.append(Case(sequence.name, best, there=False))
    return found


def cited_of(sequences: Sequence[sample.Sequence], recalls: Sequence[Recall]) -> list[Case]:
    """Return what a reader who knows the truth would cite of a recall by the question, and what is wrong.

    Wrong: the best other hit, and the best one for a question about another sequence, if it lacks a word.
    """
    found: list[Case] = []
    everything = [(sequence.name, one.question.text) for sequence in sequences for one in sequence.samples]
    for sequence, recall in zip(sequences, recalls, strict=True):
        for one in sequence.samples:
            text = one.question.text
            hits = WindowedRecall(recall, one.scope).find(Query(text, limit=READ))
            right = next((hit for hit in hits if hit.memory.id in one.relevant), None)
            wrong = next((hit for hit in hits if hit.memory.id not in one.relevant), None)
            for hit, there in ((right, True), (wrong, False)):
                if hit is not None:
                    found.append(Case(sequence.name, (hit.score, _covered(text, hit)), there))
        for text in dict.fromkeys(text for owner, text in everything if owner != sequence.name):
            first = recall.find(Query(text, limit=1))
            if first and _covered(text, first[0]) < 1.0:
                found.append(Case(sequence.name, (first[0].score, _covered(text, first[0])), there=False))
    return found


def fit(cases: Sequence[Case], there: float = THERE) -> tuple[float, ...]:
    """Return the coefficients of the likeliest logistic model, an offset first.

    :param cases: of both outcomes
    :param there: the share of those that are there, by weight
    """
    x = np.array([[1.0, *case.features] for case in cases])
    y = np.array([float(case.there) for case in cases])
    weight = np.where(y, there / max(y.sum(), 1.0), (1.0 - there) / max((1 - y).sum(), 1.0)) * len(y)
    ridge = np.diag([0.0, *[RIDGE] * (x.shape[1] - 1)])
    beta: NDArray[np.float64] = np.zeros(x.shape[1])
    for _ in range(50):  # Newton's method; it takes about ten
        p = 1.0 / (1.0 + np.exp(-x @ beta))
        gradient = x.T @ (weight * (y - p)) - ridge @ beta
        hessian = (x.T * (weight * p * (1 - p))) @ x + ridge
        step = np.linalg.solve(hessian, gradient)
        beta += step
        if np.abs(step).max() < 1e-9:
            break
    return tuple(round(float(b), 2) for b in beta)


def left_out(cases: Sequence[Case], there: float = THERE) -> list[tuple[Case, float]]:
    """Return each case with how likely it is by coefficients fitted on the other sequences."""
    by = {group: fit([c for c in cases if c.group != group], there) for group in {c.group for c in cases}}
    return [(case, confidence.logistic(by[case.group], case.features)) for case in cases]


def report(cases: Sequence[Case]) -> str:
    """Return what is taken for seen, and whether what is said to be likely is, on sequences left out."""
    told = left_out(cases)
    lines = [f'| asked of | there | not there |{"".join(f" at {least:g} |" for least in LEASTS)}']
    lines.append('| --- | --- | --- |' + ' --- |' * len(LEASTS))
    for group in (*sorted({case.group for case in cases}), ''):
        rows = [(case.there, p) for case, p in told if group in ('', case.group)]
        there = [p for is_there, p in rows if is_there]
        absent = [p for is_there, p in rows if not is_there]
        cells = [f'{_share(there, least):.2f} / {_share(absent, least):.2f}' for least in LEASTS]
        lines.append(f'| {group or "all"} | {len(there)} | {len(absent)} | {" | ".join(cells)} |')
    lines += ['', '| said to be likely | cases | are there |', '| --- | --- | --- |']
    here = sum(case.there for case in cases)
    weigh = {True: THERE / max(here, 1), False: (1.0 - THERE) / max(len(cases) - here, 1)}
    for low, high in pairwise(BINS):
        inside = [case.there for case, p in told if low <= p < high]
        share = sum(weigh[it] for it in inside if it) / max(sum(weigh[it] for it in inside), 1e-9)
        lines.append(f'| {low:g} to {high:g} | {len(inside)} | {share:.2f} |')
    return '\n'.join(lines)


def right(sequences: Sequence[sample.Sequence], recalls: Sequence[Recall]) -> dict[str, list[bool]]:
    """Return whether the planner's answers are right, by sequence, without those in words."""
    return {
        sequence.name: [
            bool(score(one.truth, OfflinePlanner().answer(one.question, _seen(recall, one), _run())).correct)
            for one in sequence.samples
            if one.truth.kind is not Kind.TEXT
        ]
        for sequence, recall in zip(sequences, recalls, strict=True)
    }


@contextmanager
def coefficients(shown: Sequence[float]) -> Iterator[None]:
    """Make the planner sure by these coefficients for a while."""
    offset, scored, complete, lacking = shown
    fitted = replace(confidence.CALIBRATIONS[OFFLINE], shown=(offset, scored, complete, lacking))
    confidence.calibration_of.cache_clear()
    with patch.dict(confidence.CALIBRATIONS, {OFFLINE: fitted}):
        yield
    confidence.calibration_of.cache_clear()


def correctness(sequences: Sequence[sample.Sequence], recalls: Sequence[Recall], cases: list[Case]) -> str:
    """Return the planner's correctness with coefficients fitted without each sequence, and with all."""
    lines = ['| sequence | fitted on others | fitted on all |', '| --- | --- | --- |']
    for sequence, recall in zip(sequences, recalls, strict=True):
        with coefficients(fit([case for case in cases if case.group != sequence.name])):
            (held,) = right([sequence], [recall]).values()
        with coefficients(fit(cases)):
            (known,) = right([sequence], [recall]).values()
        lines.append(f'| {sequence.name} | {sum(held)}/{len(held)} | {sum(known)}/{len(known)} |')
    return '\n'.join(lines)


def rules(sequences: Sequence[sample.Sequence], recalls: Sequence[Recall]) -> str:
    """Return the planner's correctness without each of its rules and constants."""
    cuts: list[tuple[str, object, str, object]] = [
        ('nothing left out', relevance_model, 'POOL', relevance_model.POOL),
        ('what must be there', relevance_model, 'has_what_it_must', lambda *_: True),
        ('colours', matching, '_has_other_colour', lambda *_: False),
        ('sorts of rooms', matching, '_SORTS', frozenset()),
        ('cut-off numbers', relevance_model, 'is_cut_off', lambda *_: False),
        ('relations', request, 'parse_relation', lambda _: None),
        ('nearest, last, first', request, '_CHOICES', {}),
        ('purposes', other_words, '_THINGS', {}),
        ('words for the same', other_words, 'synonyms', lambda _: ()),
        ('another thing by the same noun', relevance_model, 'another_thing', lambda *_: ''),
        ('a building as its interior', request, '_inside', lambda text: (text, False, False)),
        ('the longest stay inside', sights, '_stay_inside', lambda _, hits: hits),
        ('what is newer, or older', sights, 'find_outermost', lambda _, __, ___, hits, ____: hits),
        ('the order of the recall', relevance_model, 'best_first', _likeliest_first),
        ('what was understood', planner, 'said', lambda one: one.claim),
        ('the first of a stay', sights, 'stay_of', lambda one, _: [one]),
    ]
    cuts += [(f'AS_GOOD = {x}', relevance_model, 'AS_GOOD', x) for x in (0.0, 0.05, 0.2, 0.3)]
    cuts += [(f'SHOWN = {x}', relevance_model, 'SHOWN', x) for x in (0.0, 0.02, 0.04)]
    lines = [f'| without | {" | ".join(s.name for s in sequences)} |', '| --- |' + ' --- |' * len(sequences)]
    for title, module, name, value in cuts:
        with patch.object(module, name, value):
            other_words.other_stems.cache_clear()
            told = [f'{sum(marks)}/{len(marks)}' for marks in right(sequences, recalls).values()]
        other_words.other_stems.cache_clear()
        lines.append(f'| {title} | {" | ".join(told)} |')
    return '\n'.join(lines)


def _likeliest_first(hits: Sequence[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: -hit.score)


def _covered(text: str, hit: Hit) -> float:
    asked = content_stems(text)
    told = content_stems(' '.join((hit.memory.caption, *hit.memory.scene_text)))
    return len(asked & told) / max(len(asked), 1)


def _run() -> Run:
    return Run(float('inf'))


def _seen(recall: Recall, one: sample.Sample) -> Recall:
    return WindowedRecall(recall, one.scope)


def _share(chances: Sequence[float], least: float) -> float:
    return sum(p >= least for p in chances) / max(len(chances), 1)


def _best(asked: Request, recall: Recall, among: frozenset[str] | None) -> tuple[float, ...]:
    known = confidence.calibration_of(OFFLINE).shown
    likes = [
        _features(asked, hit)
        for hit in recall.find(Query(asked.target, limit=relevance_model.POOL))
        if (among is None or hit.memory.id in among) and has_what_it_must(asked, hit.memory)
    ]
    return max(likes, key=lambda like: confidence.logistic(known, like), default=())


def _features(asked: Request, hit: Hit) -> tuple[float, ...]:
    found = words_found(asked, hit.memory)
    covered = sum(found) / max(len(found), 1)
    return hit.score, float(covered >= 1.0), confidence.lacking(hit.memory, covered)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else '')
    parser.add_argument('--data', required=True, nargs='+', metavar='NAVQA')
    parser.add_argument('--building', nargs='*', default=[], metavar='DIR', help='rendered buildings')
    parser.add_argument('--memory', type=Path, required=True, metavar='FILE', help='made if missing')
    parser.add_argument('--cache', type=Path, default=Path('~/.cache/remembr').expanduser())
    parser.add_argument('--rules', action='store_true', help='tell what each rule is worth')
    args = parser.parse_args()
    embedder = get_embedder(OFFLINE)
    configs = [run_config(data='navqa', folder=folder) for folder in args.data]
    configs += [run_config(data='building', folder=folder) for folder in args.building]
    sequences = [s for config in configs for s in datasets.load(config, args.cache / 'captions', embedder)]
    stores = []
    for sequence in sequences:
        store = open_store(str(args.memory), embedder, collection=sequence.name.replace('-', '_'))
        remember(sequence, store)
        stores.append(store)
    cases, cited = cases_of(sequences, stores), cited_of(sequences, stores)
    parts = [
        f'shown={fit(cases)}',
        f'cited={fit(cited, CITED_RIGHT)}',
        report(cases),
        correctness(sequences, stores, cases),
    ]
    parts += [rules(sequences, stores)] if args.rules else []
    sys.stdout.write('\n\n'.join(parts) + '\n')
    for store in stores:
        store.close()


if __name__ == '__main__':
    main()
