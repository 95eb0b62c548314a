"""A long trajectory as a sequence of a run, and what of an answer about it is right."""

import random
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from remembr_bench.evaluation.baselines.one_call import CHARACTERS_PER_TOKEN
from remembr_bench.evaluation.datasets.sample import DecidedPlanner, Marks, Trial, Truth, fifth
from remembr_bench.evaluation.datasets.sample import Sequence as Drive
from remembr_bench.evaluation.findingdory.episode import HomeEpisode, relive
from remembr_bench.evaluation.findingdory.sequence import kept_of, sample_of
from remembr_bench.evaluation.findingdory.wordings import NEEDLES, OURS, PAPERS, in_papers_words
from remembr_bench.evaluation.needles.questions import Needle, NeedleTruth
from remembr_bench.evaluation.records.config import PlannerName, RunConfig
from remembr_bench.simulation.homes.home import Item, name_of
from remembr_bench.simulation.homes.trajectory import LEAST_STEPS, STEP_S, Trajectory, generate_trajectory
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.memory_prompt import describe
from remembr_ros.agent.model.quoting import TO_TWENTY
from remembr_ros.agent.planner import Planner
from remembr_ros.memory.matching.terms import stem, words
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import CAPTIONER, Memory
from remembr_ros.timestamps import NS

MOST_MOVES = 5  # that are guessed
_YES = re.compile(r'\W*(?:(?P<yes>yes|yeah)|no|not|never)\b', re.IGNORECASE)
_WORDS = '|'.join(TO_TWENTY)
_TIMES = re.compile(rf'\b(?:once|twice|thrice|never|(?:\d+|{_WORDS}) times?)\b', re.IGNORECASE)
_NUMBER = re.compile(rf'(?<![\d:.-])\d+(?![\d:.-])|\b(?:{_WORDS})\b', re.IGNORECASE)
_VALUES = {'never': 0, 'once': 1, 'twice': 2, 'thrice': 3, **dict(zip(TO_TWENTY, range(21), strict=True))}


@dataclass(frozen=True)
class NeedleTrial(Trial):
    """The questions about a trajectory.

    :param needles: by id, each with its depth; None: it has no clue
    :param tokens: of all captions
    """

    truth: NeedleTruth
    needles: Mapping[str, tuple[Needle, float | None]]
    tokens: float

    def planner(self, name: str, sample_id: str, seed: int) -> Planner | None:
        """Return the planners that guess, and that know the truth; None: it is another one."""
        needle, _ = self.needles[sample_id]
        if name == PlannerName.RANDOM.value:
            rng = random.Random(f'{sample_id} {seed}')
            yes = None if needle.yes is None else rng.random() < 0.5
            kinds = {self.truth.item(number).kind for number in needle.right}
            alike = [number for number in self.truth.titles if self.truth.item(number).kind in kinds]
            right = frozenset(rng.sample(alike, len(needle.right)))
            needle = replace(needle, yes=yes, number=rng.randint(1, MOST_MOVES), right=right)
        elif name != PlannerName.ORACLE.value:
            return None
        truth = self.truth_of(needle)
        return DecidedPlanner(name, Answer(truth.kind, truth.text, name, binary=truth.binary, confidence=1.0))

    def truth_of(self, needle: Needle) -> Truth:
        """Return what is right, in words: things, yes or no, or how many times."""
        if needle.yes is not None:
            return Truth(Kind.BINARY, binary=needle.yes)
        named = ' and '.join(self.truth.titles[number] for number in sorted(needle.right))
        return Truth(Kind.TEXT, text=named or f'{needle.number} times')

    def score(
        self, sample_id: str, answer: Answer | None, judge: Marks | None = None
    ) -> tuple[bool, dict[str, float], str]:
        """Return whether an answer is right, the figures depth, tokens and clues, and what is wrong."""
        needle, depth = self.needles[sample_id]
        figures = {'tokens': self.tokens, 'clues': float(len(needle.clues_ns))}
        if depth is not None:
            figures['depth'] = depth
        why = 'there is no answer' if answer is None else self._wrong(needle, answer)
        return not why, figures, why

    def _wrong(self, needle: Needle, answer: Answer) -> str:
        """Return what is wrong; empty: nothing."""
        if needle.yes is not None:
            found = _YES.match(answer.text)
            yes = bool(found['yes']) if answer.binary is None and found else answer.binary
            return '' if yes is needle.yes else f'right is {"yes" if needle.yes else "no"}'
        if answer.kind is Kind.NOT_SEEN:
            return 'nothing is told'
        if needle.number is not None:
            return '' if _number(answer.text) == needle.number else f'right is {needle.number}'
        truth, said, asked = self.truth, _folded(answer.text), _folded(needle.text)
        for number in sorted(needle.right):
            room = truth.titles[number].partition(' in the ')[2]
            if not self._names(truth.item(number), said) or (room and not _has(said, room)):
                return f'does not name the {truth.titles[number]}'
        # What the things were on or in may be said, too.
        under = {
            interaction.receptacle
            for interaction in truth.interactions
            if interaction.start_ns in needle.clues_ns
        } - {0}
        right = {name_of(truth.item(number)) for number in needle.right | under}
        right |= {truth.rooms.get(number, '') for number in needle.right}
        of_furniture = not truth.rooms.keys().isdisjoint(needle.right)
        alike = [item for item in truth.items if (item.number in truth.rooms) == of_furniture]
        named = {name_of(item) for item in alike if self._names(item, said)}
        named |= {room for room in truth.rooms.values() if of_furniture and _has(said, room)}
        false = sorted(name for name in named - right if not _has(asked, name))
        return f'names {", ".join(false)}' if false else ''

    def _names(self, item: Item, said: str) -> bool:
        """Tell whether a sentence names a thing; without its colour where there is but one."""
        alone = sum(other.label == item.label for other in self.truth.items) == 1
        bare = alone and item.colour and re.search(rf'(?<!{item.colour}){_folded(item.label)}', said)
        return bool(bare) or _has(said, name_of(item))


def _folded(text: str) -> str:
    return f' {" ".join(map(stem, words(text)))} '


def _has(said: str, name: str) -> bool:
    return _folded(name) in said


def _number(text: str) -> int | None:
    """Return how many times a sentence says; None: no number."""
    found = _TIMES.search(text) or _NUMBER.search(text)
    said = found[0].split()[0].lower() if found else ''
    return int(said) if said.isdigit() else _VALUES.get(said)


LATER_NS = 60 * NS  # after the end it is asked
KEPT = 8  # trajectories


def load_trajectory(config: RunConfig, seed: int, tokens: int) -> Drive:
    """Return the sequence of a home and a length.

    :param tokens: of all captions, more or less
    :raises RemembrError: pyvista is not installed
    """
    name = f'home-{seed}-{tokens}'
    short = _captions(_lived(seed, LEAST_STEPS)[1].memories)
    trajectory, episode = _lived(seed, max(round(tokens / tokens_of(short) * len(short)), LEAST_STEPS))
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
    asked: dict[str, tuple[Needle, float | None]] = {}
    for number, (needle, depth) in enumerate(needles):
        papers = needle.papers or in_papers_words(needle.text, NEEDLES, first=True)
        asked[f'{number:03}'] = needle, depth
        asked[f'{number:03}p'] = replace(needle, text=papers), depth
    trial = NeedleTrial(truth, asked, tokens_of(captions))
    memories = kept_of(config, episode.memories)
    now_ns = max(memory.end_ns for memory in memories) + LATER_NS
    samples = tuple(
        sample_of(
            memories,
            key,
            Question(needle.text, now_ns),
            trial.truth_of(needle),
            category=needle.category,
            groups=_groups(needle, depth, str(tokens), PAPERS if key.endswith('p') else OURS),
        )
        for key, (needle, depth) in asked.items()
    )
    return Drive(name, memories, samples, (), trial=trial)


def _groups(needle: Needle, depth: float | None, length: str, wording: str) -> dict[str, str]:
    clues = {0: 'none', 1: 'single'}.get(len(needle.clues_ns), 'several')
    groups = {'clues': clues, 'length': length, 'wording': wording}
    return groups | ({} if depth is None else {'depth': fifth(depth)})


def tokens_of(memories: Sequence[Memory]) -> float:
    """Return what all captions take in one prompt, each with its time and place [tokens]."""
    captions = _captions(memories)
    question = Question('', captions[-1].end_ns + LATER_NS)
    lines = (
        describe(f'm{number}', Hit(caption, 1.0), question)
        for number, caption in enumerate(captions, start=1)
    )
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
