"""How much smaller consolidation makes a day that a robot spends parked, and whether what happened stays."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from remembr_ros.embedding.embedder import Embedder, RememberedEmbedder
from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.errors import EmbedderUnavailable
from remembr_ros.memory.consolidation.rule import (
    Consolidation,
    consolidate,
    consolidation_for,
    telling_sentences,
)
from remembr_ros.memory.model.record import Memory
from test.bench.figure import Figure
from test.simulated.idle_day import SEGMENT_NS, IdleDay, idle_day
from test.simulated.parked_view import CAPTIONINGS

LEAST_RATIO = 20.0


@dataclass(frozen=True)
class Outcome:
    """What is left of a day.

    :param memories: of the whole day
    :param idle: of its idle hours
    :param own: happenings that begin a memory of their own
    :param ended: of those, how many end with it, a segment more or less
    :param recalled: happenings found among the first five by their question
    """

    memories: int
    idle: int
    own: int
    ended: int
    recalled: int


def run() -> list[Figure]:
    """Consolidate eight idle hours as a calm and as a restless captioner would tell them."""
    embedder = RememberedEmbedder(_embedder())
    figures = []
    for name, captioning in CAPTIONINGS.items():
        day = idle_day(captioning=captioning)
        before = outcome(day, day.memories, embedder)
        after = outcome(day, consolidate(day.memories, embedder, consolidation_for(embedder)), embedder)
        title = f'8 idle hours, {name} captioner, {embedder.name}'
        ratio, whole = before.idle / after.idle, before.memories / after.memories
        figures += [
            Figure(f'{title}: idle memories', ratio, 1.0, 'times fewer', LEAST_RATIO),
            Figure(f'{title}: all memories', whole, 1.0, 'times fewer'),
            Figure(
                f'{title}: happenings recalled', after.recalled, before.recalled, 'of 24', before.recalled
            ),
        ]
    return figures


def outcome(day: IdleDay, memories: Sequence[Memory], embedder: Embedder) -> Outcome:
    """Return what these memories of a day tell of it."""
    ends = {memory.id: memory.end_ns for memory in day.memories}
    said = [{*telling_sentences(memory).values(), *memory.scene_text} for memory in memories]
    of = {memory.id: number for number, memory in enumerate(memories)}
    owner = np.repeat(np.arange(len(memories)), [len(texts) for texts in said])
    vectors = embedder.embed([text for texts in said for text in sorted(texts)])
    own = ended = recalled = 0
    for planted in day.planted:
        wordings = set(planted.happening.wordings)
        shown = [of[i] for i in planted.memories if i in of and wordings & said[of[i]]]
        own += bool(shown)
        last_ns = ends[planted.memories[-1]] + SEGMENT_NS
        ended += bool(shown) and all(memories[number].end_ns <= last_ns for number in shown)
        # A happening may recur; each of its memories answers the question.
        best = np.full(len(memories), -1.0)
        np.maximum.at(best, owner, vectors @ embedder.embed_query(planted.happening.question))
        first = np.argsort(-best, kind='stable')[:5]
        ids = {i for other in day.planted if other.happening is planted.happening for i in other.memories}
        recalled += any(memories[number].id in ids and wordings & said[number] for number in first)
    idle = sum(memory.id in day.idle for memory in memories)
    return Outcome(len(memories), idle, own, ended, recalled)


def sweep(embedder: Embedder, thresholds: Sequence[float], seed: int = 0) -> None:
    """Print what each threshold makes of a simulated day."""
    print(f'seed {seed}, {embedder.name}')
    print('captioner  alike  idle before  idle after  ratio  day ratio  own  ended  recall@5')
    for name, captioning in CAPTIONINGS.items():
        day = idle_day(seed, captioning=captioning)
        before = outcome(day, day.memories, embedder)
        print(
            f'{name:9}      -  {before.idle:11}  {before.idle:10}      1          1  '
            f'{before.own:3}  {"":5}  {before.recalled:3}/{len(day.planted)}',
            flush=True,
        )
        for alike in thresholds:
            after = outcome(day, consolidate(day.memories, embedder, Consolidation(alike)), embedder)
            print(
                f'{name:9}  {alike:5.2f}  {before.idle:11}  {after.idle:10}  '
                f'{before.idle / after.idle:5.1f}  {before.memories / after.memories:9.1f}  '
                f'{after.own:3}  {after.ended:5}  {after.recalled:3}/{len(day.planted)}',
                flush=True,
            )


def _embedder() -> Embedder:
    try:
        return get_embedder(OFFLINE)
    except EmbedderUnavailable as error:
        print(f'{error}: the hashing embedder instead', file=sys.stderr)
        return get_embedder('hashing')


if __name__ == '__main__':
    named = get_embedder(sys.argv[1]) if len(sys.argv) > 1 else _embedder()
    remembered = RememberedEmbedder(named)
    for day_seed in (0, 1):
        sweep(remembered, [float(text) for text in sys.argv[2:]] or [0.45, 0.5, 0.55, 0.6], day_seed)
