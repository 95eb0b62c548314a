"""A home as a sequence of a run: what the robot remembers of its day, and the tasks of the next one."""

import random
from collections.abc import Iterable, Mapping
from functools import lru_cache

from remembr_bench.evaluation.datasets.sample import Excluded, Sample, Sequence, Truth
from remembr_bench.evaluation.findingdory.episode import HomeEpisode, live
from remembr_bench.evaluation.findingdory.templates import fill_templates
from remembr_bench.evaluation.objects.run import LEVELS
from remembr_bench.evaluation.records.config import PlannerName, RunConfig
from remembr_bench.evaluation.tasks.goals import Task
from remembr_bench.evaluation.tasks.trial import SimulatedTrial
from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point
from remembr_ros.memory.model.recall import ANYTHING
from remembr_ros.memory.model.record import AGENT, OBJECT, Memory

KEPT = 32  # homes


def load_home(config: RunConfig, seed: int) -> Sequence:
    """Return the sequence of a home.

    :raises InvalidRequest: there is no such level of noise
    :raises RemembrError: pyvista is not installed
    """
    name = f'home-{seed}'
    pictures = config.planner is PlannerName.FRAMES
    episode, tasks, unfilled = _lived(seed, config.detections, config.fillings, pictures=pictures)
    memories = kept_of(config, episode.memories)
    trial = SimulatedTrial(
        episode.simulator, {task.id: (task, metres) for task, metres in tasks}, memories, episode.truth.here
    )
    samples = tuple(
        sample_of(
            memories,
            task.id,
            Question(task.instruction, episode.now_ns, episode.truth.here),
            Truth(Kind.POSITION, _positions(task, episode), text=task.template),
            category=task.category,
            groups={'wording': task.wording, 'interactions': f'{len(episode.truth.handled):02}'},
        )
        for task, _ in tasks
    )
    excluded = tuple(Excluded(name, template, why) for template, why in unfilled.items())
    return Sequence(name, memories, samples, excluded, episode.images, trial)


def kept_of(config: RunConfig, memories: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return those that the planner of a run may have."""
    left_out = (OBJECT, AGENT) if config.captions_alone else ()
    return tuple(memory for memory in memories if memory.source not in left_out)


def sample_of(
    memories: tuple[Memory, ...],
    name: str,
    question: Question,
    truth: Truth,
    *,
    category: str,
    groups: Mapping[str, str],
) -> Sample:
    """Return what is asked about all that a robot remembers."""
    return Sample(
        id=name,
        length='LONG',
        question=question,
        scope=ANYTHING,
        window_ns=(memories[0].start_ns, max(memory.end_ns for memory in memories)),
        memories=len(memories),
        relevant=frozenset(),
        truth=truth,
        category=category,
        groups=groups,
    )


@lru_cache(KEPT)
def _lived(
    seed: int, detections: str, fillings: int, *, pictures: bool
) -> tuple[HomeEpisode, list[tuple[Task, float]], dict[str, str]]:
    """Return the episode of a home, and its tasks; what the planners of a grid share takes its time once."""
    levels = {level.name: level for level in LEVELS}
    if detections and detections not in levels:
        raise InvalidRequest(f'there are no detections {detections!r}; there are {", ".join(levels)}')
    episode = live(seed, levels.get(detections), pictures=pictures)
    tasks, unfilled = fill_templates(episode.truth, random.Random(f'tasks {seed}'), fillings)
    episode.simulator.close()
    return episode, tasks, unfilled


def _positions(task: Task, episode: HomeEpisode) -> tuple[Point, ...]:
    """Return where the things of a goal are [m]; of rooms nothing."""
    things = episode.simulator.things
    return tuple(things[part.of].position for part in task.goal.parts if part.of in things)
