"""Kills each verb that changes a memory, runs it again, and looks for what is not as it would have been.

    python -m test.bench.bench_kill VERB          at every step of a verb
    REMEMBR_BENCH_KILLS=30 python -m test.bench.bench_kill VERB random    so many rounds at random
    python -m test.bench.bench_kill VERB HOW AT   one round: at a step (a whole number) or a share of its time

See test.kills.
"""

import os
import random
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from test.bench.figure import Figure
from test.kills.recordings import VERBS
from test.kills.rounds import Killing, Round, killing_here
from test.small_disk import small_disk

ROUNDS = int(os.environ.get('REMEMBR_BENCH_KILLS', '400'))
SEED = os.environ.get('REMEMBR_KILL_SEED') or str(random.randrange(10**6))


def run() -> list[Figure]:
    """Kill at random."""
    print(f'REMEMBR_KILL_SEED={SEED}', file=sys.stderr)
    figures = []
    with killing_here() as killing:
        verbs = [verb for verb, what in VERBS.items() if not what.needs]
        for verb in verbs:
            count = -(-ROUNDS // len(verbs))
            rounds = (killing.chosen(random.Random(f'{SEED} {verb} {i}'), verb) for i in range(count))
            whole = _whole(killing, rounds)
            figures.append(Figure(f'killed and run again: {verb}', whole, count, 'rounds', count))
    return figures


def _whole(killing: Killing, rounds: Iterator[Round], folder: Path | None = None) -> int:
    """Return after how many rounds all was as it should be."""
    whole = 0
    for one in rounds:
        faults = killing.run(one, folder)
        whole += not faults
        if faults:
            print(killing.told(one, faults), file=sys.stderr)
    return whole


def main(verb: str, how: str = '', at: str = '') -> int:
    """Do one round, some at random, or every round of a verb; the exit code is 1 if something was wrong."""
    with killing_here() as killing:
        if not how:
            rounds = list(killing.every(verb))
        elif how == 'random':
            rounds = [killing.chosen(random.Random(f'{SEED} {verb} {i}'), verb) for i in range(ROUNDS)]
        else:
            step, moment = (0, float(at)) if '.' in at else (int(at), 0.0)
            rounds = [Round(verb, how, step, moment)]
        with small_disk() if how == 'full' else nullcontext() as folder:
            whole = _whole(killing, iter(rounds), folder)
        print(f'{whole} of {len(rounds)} rounds as if nothing had happened')
        return int(whole < len(rounds))


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
