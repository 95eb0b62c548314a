"""A trajectory of some length as a sequence of a run: what the robot remembers of it, and the questions."""

import random
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.memory_prompt import describe
from remembr_ros.evaluation.baselines.all_captions import CHARACTERS_PER_TOKEN
from remembr_ros.evaluation.datasets.sample import Sample, Truth
from remembr_ros.evaluation.datasets.sample import Sequence as Drive
from remembr_ros.evaluation.findingdory.episode import HomeEpisode, relive
from remembr_ros.evaluation.needles.questions import NeedleTruth
from remembr_ros.evaluation.needles.trial import NeedleTrial
from remembr_ros.evaluation.records.config import RunConfig
from remembr_ros.memory.model.recall import ANYTHING, Hit
from remembr_ros.memory.model.record import AGENT, CAPTIONER, OBJECT, Memory
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
    short = _lived(seed, LEAST_STEPS)[1].memories
    per_step = tokens_of(short) / sum(one.source == CAPTIONER for one in short)
    trajectory, episode = _lived(seed, max(round(tokens / per_step), LEAST_STEPS))
    captions = [one for one in episode.memories if one.source == CAPTIONER]
    guests = [name_of(trajectory.day.home.items[number - 1]) for number in trajectory.guests]
    seen_ns = {
        guest: one.start_ns for guest in guests for one in reversed(captions) if f'a {guest}' in one.caption
    }
    truth = NeedleTruth(trajectory.day, seen_ns, trajectory.guests)
    starts_ns = [one.start_ns for one in captions]
    needles = truth.needles(
        random.Random(name), config.fillings, lambda ns: bisect_left(starts_ns, ns) / len(starts_ns)
    )
    left_out = (OBJECT, AGENT) if config.captions_alone else ()
    memories = tuple(memory for memory in episode.memories if memory.source not in left_out)
    window_ns = memories[0].start_ns, max(memory.end_ns for memory in memories)
    trial = NeedleTrial(truth, {f'{i:03}': one for i, one in enumerate(needles)}, tokens_of(memories))
    samples = tuple(
        Sample(
            id=number,
            length='LONG',
            question=Question(needle.text, window_ns[1] + LATER_NS),
            scope=ANYTHING,
            window_ns=window_ns,
            memories=len(memories),
            relevant=frozenset(),
            truth=Truth(
                Kind.TEXT if needle.yes is None else Kind.BINARY,
                binary=needle.yes,
                text=trial.told(needle.right, needle.number) if needle.yes is None else '',
            ),
            category=needle.category,
        )
        for number, (needle, _) in trial.needles.items()
    )
    on_home(name, 1, 1)
    return Drive(name, memories, samples, (), trial=trial)


def tokens_of(memories: Sequence[Memory]) -> float:
    """Return what all captions take in one prompt, each with its time and place [tokens]."""
    captions = [one for one in memories if one.source == CAPTIONER]
    question = Question('', captions[-1].end_ns + LATER_NS)
    lines = (describe(f'm{i}', Hit(one, 1.0), question) for i, one in enumerate(captions, start=1))
    return sum(len(line) + 1 for line in lines) / CHARACTERS_PER_TOKEN


@lru_cache(KEPT)
def _lived(seed: int, steps: int) -> tuple[Trajectory, HomeEpisode]:
    """Return a trajectory with what is left of it; what the planners of a grid share takes its time once."""
    trajectory = generate_trajectory(seed, steps)
    episode = relive(trajectory.day, frames=1, rate_hz=1.0 / STEP_S)
    episode.simulator.close()
    return trajectory, episode
