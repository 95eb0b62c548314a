"""A trajectory of some length as a sequence of a run: what the robot remembers of it, and the questions."""

import random
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache

from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.memory_prompt import describe
from remembr_ros.evaluation.baselines.all_captions import CHARACTERS_PER_TOKEN
from remembr_ros.evaluation.datasets.sample import Sequence as Drive
from remembr_ros.evaluation.findingdory.episode import HomeEpisode, relive
from remembr_ros.evaluation.findingdory.sequence import kept_of, sample_of
from remembr_ros.evaluation.needles.questions import NeedleTruth
from remembr_ros.evaluation.needles.trial import NeedleTrial
from remembr_ros.evaluation.records.config import RunConfig
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import CAPTIONER, Memory
from remembr_ros.simulation.homes.home import name_of
from remembr_ros.simulation.homes.trajectory import LEAST_STEPS, STEP_S, Trajectory, generate_trajectory
from remembr_ros.timestamps import NS

LATER_NS = 60 * NS  # after the end it is asked
KEPT = 8  # trajectories


def load_trajectory(
    config: RunConfig, seed: int, tokens: int, on_home: Callable[[str, int, int], None]
) -> Drive:
    """Return the sequence of a home and a length.

    :param tokens: of all captions, more or less
    :param on_home: called with its name, 0 or 1, and 1, when the trajectory begins and when it is over
    :raises RemembrError: the extra simulation is not installed
    """
    name = f'home-{seed}-{tokens}'
    on_home(name, 0, 1)
    short = _captions(_lived(seed, LEAST_STEPS)[1].memories)
    steps = max(round(tokens / tokens_of(short) * len(short)), LEAST_STEPS)
    trajectory, episode = _lived(seed, steps)
    captions, items = _captions(episode.memories), trajectory.day.home.items
    seen_ns = {
        guest: first_ns
        for guest in (name_of(items[number - 1]) for number in trajectory.guests)
        if (
            first_ns := next(
                (caption.start_ns for caption in captions if f'a {guest}' in caption.caption), None
            )
        )
    }
    truth, starts_ns = NeedleTruth(trajectory.day, seen_ns), [caption.start_ns for caption in captions]
    needles = truth.needles(
        random.Random(name), config.fillings, lambda ns: bisect_left(starts_ns, ns) / len(starts_ns)
    )
    trial = NeedleTrial(truth, {f'{i:03}': one for i, one in enumerate(needles)}, tokens_of(captions))
    memories = kept_of(config, episode.memories)
    now_ns = max(memory.end_ns for memory in memories) + LATER_NS
    samples = tuple(
        sample_of(memories, number, Question(one.text, now_ns), trial.told(one), one.category)
        for number, (one, _) in trial.needles.items()
    )
    on_home(name, 1, 1)
    return Drive(name, memories, samples, (), trial=trial)


def tokens_of(memories: Sequence[Memory]) -> float:
    """Return what all captions take in one prompt, each with its time and place [tokens]."""
    captions = _captions(memories)
    question = Question('', captions[-1].end_ns + LATER_NS)
    lines = (describe(f'm{i}', Hit(one, 1.0), question) for i, one in enumerate(captions, start=1))
    return sum(len(line) + 1 for line in lines) / CHARACTERS_PER_TOKEN


def _captions(memories: Sequence[Memory]) -> list[Memory]:
    return [memory for memory in memories if memory.source == CAPTIONER]


@lru_cache(KEPT)
def _lived(seed: int, steps: int) -> tuple[Trajectory, HomeEpisode]:
    """Return a trajectory with what is left of it; what the planners of a grid share takes its time once."""
    trajectory = generate_trajectory(seed, steps)
    episode = relive(trajectory.day, frames=1, rate_hz=1.0 / STEP_S)
    episode.simulator.close()
    return trajectory, episode
