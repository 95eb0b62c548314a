"""What each part of the score by text gains, on sequences of NaVQA and on conversations of LoCoMo.

    python -m test.bench.retrieval_parts --navqa NAVQA ... --locomo LOCOMO

The score is the mean of its parts, so that nothing in it is chosen. Each row takes a part away, or adds one
that was tried; a gain is the score's recall less the row's, with its standard error over the questions. The
last row has weights instead, each sequence and conversation with those that are best on all others.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from remembr_bench.evaluation.records.config import run_config
from remembr_bench.evaluation.run.loading import load
from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.memory.matching.bm25 import WordIndex
from remembr_ros.memory.matching.ranking import passages, searchable
from remembr_ros.memory.matching.terms import STOP_WORDS, told_apart, words
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.search import MAX_WORDS
from remembr_ros.timestamps import NS

AMONG = (1, 5, 15)
WEIGHTS = (0.5, 1.0, 1.5)  # of the words and of BM25, beside 1 of the whole
TURN_S = 10  # between the turns of a conversation, which have no times of their own

Parts = Mapping[str, Any]  # of a question, by name: of each memory, shape (memories,)
Score = Callable[[Parts], Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and which of the memories that it may be answered from are right.

    :param any_is_enough: one of them is an answer, as in NaVQA; else the share of them counts
    """

    parts: Parts
    right: Any
    any_is_enough: bool


def parts_of(memories: Sequence[Memory], questions: Sequence[tuple[str, frozenset[str], Any]]) -> list[Asked]:
    """Return what each part of the score gives each memory.

    :param questions: text, ids of what is right, and the numbers of the memories that may be found; None: all
    """
    embedder = get_embedder(OFFLINE)
    parts = [passages(memory) for memory in memories]
    starts = np.cumsum([0, *map(len, parts)])[:-1]
    vectors = embedder.embed([part.text for some in parts for part in some])
    sentence, paragraph = (
        np.array([getattr(part, kind) for some in parts for part in some])
        for kind in ('is_sentence', 'is_paragraph')
    )
    index = WordIndex()
    for slot, memory in enumerate(memories):
        index.add(slot, searchable(memory))

    def best(cosines: Any, of: Any = True) -> Any:
        return np.maximum.reduceat(np.where(of, cosines, -1.0), starts)

    found = []
    for text, right, inside in questions:
        kept = np.arange(len(memories)) if inside is None else np.array(inside)
        cosines = vectors @ embedder.embed_query(text)
        single = told_apart(text)[:MAX_WORDS]
        whole, worth = best(cosines, paragraph), index.rarities(single)
        near = whole
        if single and worth.sum() > 0.0:
            near = (
                np.stack([best(vectors @ one) for one in embedder.embed(single)], axis=1)
                @ worth
                / worth.sum()
            )
        named = _literal(text)
        has = [set(words(searchable(memory))) for memory in memories]
        given = {
            'whole': whole,
            'words': near,
            'BM25': index.shares(text),
            'sentence': best(cosines, sentence),
            'literal': np.array([len(named & some) / max(len(named), 1) for some in has]),
            'start_s': np.array([memory.start_ns / NS for memory in memories]),
            'place': np.array([m.pose.position[:2] if m.pose else (np.inf, np.inf) for m in memories]),
        }
        is_right = np.array([memory.id in right for memory in memories])[kept]
        found.append(Asked({k: v[kept] for k, v in given.items()}, is_right, inside is not None))
    return found


def _literal(text: str) -> set[str]:
    """Return the numbers and names that are asked for."""
    said = re.findall(r'[^\W_]+', text)
    return {
        w.lower()
        for i, w in enumerate(said)
        if w.lower() not in STOP_WORDS and (any(map(str.isdigit, w)) or (i and w[0].isupper()))
    }


def navqa(folder: str) -> dict[str, list[Asked]]:
    with tempfile.TemporaryDirectory() as cache:
        sequences = load(run_config(data='navqa', folder=folder), Path(cache), get_embedder(OFFLINE))
    return {
        one.name: parts_of(
            one.memories,
            [
                (s.question.text, s.relevant, [i for i, m in enumerate(one.memories) if s.scope.admits(m)])
                for s in one.samples
            ],
        )
        for one in sequences
    }


def locomo(folder: str) -> dict[str, list[Asked]]:
    return {path.stem: _conversation(path) for path in sorted(Path(folder).glob('*.json'))}


def _conversation(path: Path) -> list[Asked]:
    told = json.loads(path.read_text(encoding='utf-8'))
    memories = []
    for number in sorted(int(key[8:]) for key in told if re.fullmatch(r'session_\d+', key)):
        began = datetime.strptime(told[f'session_{number}_date_time'], '%I:%M %p on %d %B, %Y')
        start_ns = int(began.replace(tzinfo=timezone.utc).timestamp()) * NS
        for turn in told[f'session_{number}']:
            shares = f' [shares {turn["blip_caption"]}]' if turn.get('blip_caption') else ''
            text = f'{turn["speaker"]} said: {turn["text"]}{shares}'
            memories.append(Memory(turn['dia_id'], path.stem, start_ns, start_ns + 1, text))
            start_ns += TURN_S * NS
    known = {memory.id for memory in memories}
    asked = [
        (one['question'], known & set(re.findall(r'D\d+:\d+', ' '.join(one['evidence']))))
        for one in told['qa']
    ]
    return parts_of(memories, [(text, frozenset(right), None) for text, right in asked if right])


def mean_of(*names: str, also: Mapping[str, float] | None = None) -> Score:
    """Return the score that is the mean of some parts, and a part of others."""
    return lambda of: (
        sum(of[name] for name in names) / len(names)
        + sum(weight * of[name] for name, weight in (also or {}).items())
    )


def recalled(asked: Asked, score: Score, *, stay_s: float = 0.0, moment_s: float = 0.0) -> list[float]:
    """Return the recall of a question among the first of AMONG.

    :param stay_s: what lies within this and 1 m of a better one comes last
    :param moment_s: the same behind the first five, at any place
    """
    order = np.argsort(-score(asked.parts), kind='stable')
    if stay_s or moment_s:
        order = _diverse(order[:200], asked.parts, stay_s, moment_s)
    first = asked.right[order]
    most = 1 if asked.any_is_enough else max(int(asked.right.sum()), 1)
    return [min(int(first[:n].sum()), most) / most for n in AMONG]


def _diverse(order: Any, parts: Parts, stay_s: float, moment_s: float) -> Any:
    distinct: list[int] = []
    repeated: list[int] = []
    for i in order:
        gaps = np.abs(parts['start_s'][distinct] - parts['start_s'][i])
        near = np.hypot(*(parts['place'][distinct] - parts['place'][i]).T) < 1.0
        known = (near & (gaps < stay_s)) | ((gaps < moment_s) & (len(distinct) >= 5))
        (repeated if known.any() else distinct).append(i)
    return np.array(distinct + repeated)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--navqa', required=True, nargs='+')
    parser.add_argument('--locomo', required=True)
    args = parser.parse_args()
    kinds = [{k: v for folder in args.navqa for k, v in navqa(folder).items()}, locomo(args.locomo)]
    now = mean_of('whole', 'words', 'BM25')
    rows: dict[str, tuple[Score, dict[str, float]]] = {
        'the score': (now, {}),
        'without the whole': (mean_of('words', 'BM25'), {}),
        'without words one by one': (mean_of('whole', 'BM25'), {}),
        'without BM25': (mean_of('whole', 'words'), {}),
        'sentences for paragraphs': (mean_of('sentence', 'words', 'BM25'), {}),
        'sentences beside paragraphs': (lambda of: now(of) + (of['sentence'] - of['whole']) / 6, {}),
        'numbers and names, .2': (mean_of('whole', 'words', 'BM25', also={'literal': 0.2}), {}),
        'stays told once': (now, {'stay_s': 3600.0}),
        'moments told once': (now, {'moment_s': 8.0}),
    }
    base = [_recalls(kind, now) for kind in kinds]
    lines = ['| | NaVQA @1, @5, @15 | the score gains | LoCoMo | the score gains |', '| --- ' * 5 + '|']
    for name, (score, extra) in rows.items():
        cells = []
        for kind, before in zip(kinds, base, strict=True):
            if kind is kinds[1] and extra:
                cells += ['', '']
                continue
            after = _recalls(kind, score, **extra)
            cells += [_figures(after), _gains(before, after) if name != 'the score' else '']
        lines.append(f'| {name} | {" | ".join(cells)} |')
    lines.append(f'| weights chosen on the others | {" | ".join(_weighted(kinds))} |')
    sys.stdout.write('\n'.join(lines) + '\n')


def _recalls(groups: Mapping[str, list[Asked]], score: Score, **extra: float) -> dict[str, Any]:
    return {
        name: np.array([recalled(one, score, **extra) for one in asked]) for name, asked in groups.items()
    }


def _together(recalls: Mapping[str, Any]) -> Any:
    return np.concatenate(list(recalls.values()))


def _figures(recalls: Mapping[str, Any]) -> str:
    return ' / '.join(f'{value:.3f}'.lstrip('0') for value in _together(recalls).mean(axis=0))


def _gains(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    gained = _together(before) - _together(after)
    error = gained.std(axis=0) / np.sqrt(len(gained))
    return ', '.join(f'{g:+.3f} ± {e:.3f}' for g, e in zip(gained.mean(axis=0), error, strict=True))


def _weighted(kinds: Sequence[Mapping[str, list[Asked]]]) -> list[str]:
    """Return the recalls with weights that are the best on all other groups, both kinds counting the same."""
    found = []
    for a, b in product(WEIGHTS, WEIGHTS):
        score = mean_of('whole', also={'words': a, 'BM25': b})
        found.append([_recalls(kind, score) for kind in kinds])

    def held(name: str, recalls: Sequence[Mapping[str, Any]]) -> float:
        return sum(
            float(_together({k: v for k, v in kind.items() if k != name}).mean(axis=0).sum())
            for kind in recalls
        )

    cells = []
    for number, kind in enumerate(kinds):
        best = {name: max(found, key=lambda one, name=name: held(name, one))[number][name] for name in kind}
        cells += [
            _figures(best),
            _gains(
                {k: _recalls({k: v}, mean_of('whole', 'words', 'BM25'))[k] for k, v in kind.items()}, best
            ),
        ]
    return cells


if __name__ == '__main__':
    main()
