"""Tasks in homes, carried out step by step; and their figures."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from remembr_ros.agent.chat.client import ChatClient
from remembr_ros.agent.model.usage import Ledger
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.errors import RemembrError, ReplyInvalid
from remembr_ros.evaluation.embodied.players import SYSTEM, Offer, Player, by_chance, model, offline, oracle
from remembr_ros.evaluation.embodied.predicates import holds
from remembr_ros.evaluation.embodied.tasks import EmbodiedTask, candidates
from remembr_ros.evaluation.findingdory.episode import HomeEpisode, live
from remembr_ros.evaluation.metrics.scores import bootstrap_interval
from remembr_ros.evaluation.tasks.chooser import Chooser
from remembr_ros.evaluation.tasks.goals import spl
from remembr_ros.evaluation.tasks.robot import HomeRobot, Option
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.simulation.homes.world import world_of

PLANNERS = ('offline', 'agent', 'random', 'oracle')
FIGURES = ('success', 'gcs', 'spl')
COST = ('n_steps', 'calls', 'prompt_tokens', 'completion_tokens')

Row = dict[str, Any]
"""What became of a task: a line of episodes.jsonl."""


@dataclass(frozen=True, slots=True)
class EmbodiedRun:
    """What decides the outcome.

    :param planner: one of PLANNERS
    :param tasks: of a home
    :param steps: for a task; so is timeout_s [s]
    :param chat: the language model of the planner agent
    """

    planner: str
    tasks: int
    steps: int
    timeout_s: float
    embedder: str
    chat: ChatClient | None = None

    def home(self, seed: int) -> Iterator[Row]:
        """Yield what becomes of the tasks of a home, each with how many were thrown away before it."""
        episode, thrown, done = live(seed), 0, 0
        with TemporaryDirectory() as folder, open_store(f'{folder}/home.db', self.embedder) as store:
            store.add([Observation(memory) for memory in episode.memories])
            for task in candidates(seed, episode):
                best = self._try('oracle', task, seed, episode, store)
                if best['success'] < 1.0 or best['held_before']:
                    thrown += 1
                    continue
                row, done = best, done + 1
                if self.planner != 'oracle':
                    row = self._try(self.planner, task, seed, episode, store)
                success, shortest_m = row['success'] == 1.0, best['driven_m']
                row['spl'] = spl(success=success, driven_m=row['driven_m'], shortest_m=shortest_m)
                yield {'home': seed, 'task': done, **row, 'shortest_m': shortest_m, 'thrown_away': thrown}
                if done == self.tasks:
                    break
                thrown = 0
        episode.simulator.close()

    def _try(
        self, planner: str, task: EmbodiedTask, seed: int, episode: HomeEpisode, store: MemoryStore
    ) -> Row:
        world = world_of(seed, episode.placements, episode.now_ns, episode.truth.here)
        ledger, deadline = Ledger(), time.monotonic() + self.timeout_s
        with closing(HomeRobot(world, store, OfflinePlanner())) as robot:
            if planner == 'oracle':
                player = oracle(task, robot)
            elif planner == 'random':
                player = by_chance(f'{seed} {task.instruction}')
            elif self.chat is None:
                player = offline(task)
            else:
                chooser = Chooser(self.chat, SYSTEM, self.timeout_s)
                player, ledger = model(task, chooser, deadline), chooser.ledger
            played = carry_out(task, robot, player, self.steps, deadline)
        return {'planner': planner, **asdict(task), **played, **asdict(ledger.usage)}


def carry_out(task: EmbodiedTask, robot: HomeRobot, player: Player, steps: int, deadline: float) -> Row:
    """Let a player choose until the task is over, or its steps or its time are used up.

    :param deadline: on time.monotonic's clock [s]
    """
    ends = [Option('answer', f'answer: {one}', one) for one in task.choices] or [Option('done', 'done')]
    before = all(holds(one, robot, '') for one in task.demands)
    done: list[Row] = []
    outcome = chosen = failure = ''
    while len(done) < steps and not failure:
        offer = Offer(robot.observe(), [*robot.options(), *ends], outcome)
        done.append({'observation': offer.observation, 'option': '', 'words': ''})
        try:
            option, words = player(offer)
            done[-1] |= {'option': option.text, 'words': words}
            if option in ends:
                chosen = option.of
                break
            outcome = robot.do(option, words)
        except ReplyInvalid as error:
            outcome = f'That was no choice: {error}.'
        except RemembrError as error:
            outcome = failure = str(error)
        done[-1]['outcome'] = outcome
        if not failure and time.monotonic() > deadline:
            failure = 'the time is over'
    met = [not failure and holds(one, robot, chosen) for one in task.demands]
    told = [{**one._asdict(), 'holds': yes} for one, yes in zip(task.demands, met, strict=True)]
    figures = {
        'success': float(all(met)),
        'gcs': fmean(met),
        'driven_m': robot.driven_m,
        'n_steps': len(done),
    }
    return {'steps': done, 'failure': failure, 'held_before': before, 'demands': told, **figures}


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
    homes = [[r['success'] for r in rows if r['home'] == home] for home in {row['home'] for row in rows}]
    means = {name: fmean(row[name] for row in rows) if rows else None for name in FIGURES}
    return {'n': len(rows), **means, 'success_interval': bootstrap_interval(homes)}
