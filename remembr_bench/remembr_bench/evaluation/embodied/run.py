"""Tasks in homes, carried out step by step; and their figures."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from statistics import fmean
from typing import Any

from remembr_bench.evaluation.embodied.players import Player, Playthrough, oracle
from remembr_bench.evaluation.embodied.tasks import candidates, holds
from remembr_bench.evaluation.findingdory.episode import remembered
from remembr_bench.evaluation.metrics.scores import home_mean
from remembr_bench.evaluation.tasks.goals import spl
from remembr_bench.evaluation.tasks.robot import HomeRobot
from remembr_bench.simulation.homes.world import world_of
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.errors import RemembrError, StoreUnavailable

FIGURES = ('success', 'gcs', 'spl')
COST = ('n_steps', 'calls', 'prompt_tokens', 'completion_tokens')

Row = dict[str, Any]
"""What became of a task: a line of episodes.jsonl."""


def play_home(
    seed: int, player: Player, embedder: str, *, tasks: int, steps: int, timeout_s: float
) -> Iterator[Row]:
    """Yield what becomes of the tasks of a home, each with how many were thrown away before it.

    :param steps: for a task; so is timeout_s [s]
    """
    thrown = done = 0

    def played(player: Player) -> Row:
        world = world_of(seed, episode.placements, episode.now_ns, episode.truth.here)
        with closing(HomeRobot(world, store, OfflinePlanner())) as robot:
            return carry_out(Playthrough(task, robot, steps, time.monotonic() + timeout_s), player)

    with remembered(seed, embedder) as (episode, store):
        for task in candidates(seed, episode):
            best = played(oracle)
            if best['success'] < 1.0 or best['held_before']:
                thrown += 1
                continue
            row, done = best if player is oracle else played(player), done + 1
            driven_m, shortest_m = row['driven_m'], best['driven_m']
            row['spl'] = spl(success=row['success'] == 1.0, driven_m=driven_m, shortest_m=shortest_m)
            yield {'home': seed, **asdict(task), **row, 'shortest_m': shortest_m, 'thrown_away': thrown}
            if done == tasks:
                break
            thrown = 0


def carry_out(attempt: Playthrough, player: Player) -> Row:
    """Let a player carry out a task; return what it did, and what holds then.

    :raises StoreUnavailable: the memory does not work
    """
    failure, robot, demands = '', attempt.robot, attempt.task.demands
    before = all(holds(demand, robot, None) for demand in demands)
    try:
        player(attempt)
    except StoreUnavailable:  # no task can be carried out
        raise
    except RemembrError as error:
        failure = str(error)
    met = [not failure and holds(demand, robot, attempt.chosen) for demand in demands]
    outcome = {'steps': attempt.done, 'failure': failure, 'held_before': before, 'holds': met}
    figures = {'success': float(all(met)), 'gcs': fmean(met), 'driven_m': robot.driven_m}
    return {**outcome, **figures, 'n_steps': len(attempt.done), **asdict(attempt.ledger.usage)}


def results(rows: Sequence[Row]) -> dict[str, Any]:
    """Return `overall`, `by_category`, each with the interval of success over homes, and `cost` of a task."""
    categories = sorted({row['category'] for row in rows})
    return {
        'overall': _figures(rows),
        'by_category': {name: _figures([r for r in rows if r['category'] == name]) for name in categories},
        'cost': {name: fmean(row[name] for row in rows) for name in COST if rows},
        'thrown_away': sum(row['thrown_away'] for row in rows),
        'failed': sum(bool(row['failure']) for row in rows),
    }


def _figures(rows: Sequence[Row]) -> dict[str, Any]:
    interval = home_mean((row['home'], row['success']) for row in rows)[1]
    told = {name: [row[name] for row in rows if name in row] for name in FIGURES}
    means = {name: fmean(values) if values else None for name, values in told.items()}
    return {'n': len(rows), **means, 'success_interval': interval}
