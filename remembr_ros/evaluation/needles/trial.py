"""What of an answer to a question about a trajectory is right: by what its sentence names."""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.question_text import TO_TWENTY
from remembr_ros.agent.planner import Planner, Run
from remembr_ros.evaluation.datasets.sample import Truth
from remembr_ros.evaluation.needles.questions import Needle, NeedleTruth
from remembr_ros.evaluation.records.config import PlannerName
from remembr_ros.memory.matching.terms import stem, words
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.simulation.homes.home import Item, name_of

MOST_MOVES = 5  # that are guessed
_YES = re.compile(r'\W*(?:(?P<yes>yes|yeah)|no|not|never)\b', re.IGNORECASE)
_WORDS = '|'.join(TO_TWENTY)
_TIMES = re.compile(rf'\b(?:once|twice|thrice|never|(?:\d+|{_WORDS}) times?)\b', re.IGNORECASE)
_NUMBER = re.compile(rf'(?<![\d:.-])\d+(?![\d:.-])|\b(?:{_WORDS})\b', re.IGNORECASE)
_VALUES = {'never': 0, 'once': 1, 'twice': 2, 'thrice': 3, **dict(zip(TO_TWENTY, range(21), strict=True))}


@dataclass(frozen=True)
class NeedleTrial:
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
            kinds = {self.truth.item(one).kind for one in needle.right}
            alike = [title for title in self.truth.titles if self.truth.item(title).kind in kinds]
            right = frozenset(rng.sample(alike, len(needle.right)))
            needle = replace(needle, yes=yes, number=rng.randint(1, MOST_MOVES), right=right)
        elif name != PlannerName.ORACLE.value:
            return None
        told = self.told(needle)
        return _Said(name, Answer(told.kind, told.text, name, binary=told.binary, confidence=1.0))

    def told(self, needle: Needle) -> Truth:
        """Return what is right, in words: things, yes or no, or how many times."""
        if needle.yes is not None:
            return Truth(Kind.BINARY, binary=needle.yes)
        named = ' and '.join(self.truth.titles[one] for one in sorted(needle.right))
        return Truth(Kind.TEXT, text=named or f'{needle.number} times')

    def score(self, sample_id: str, answer: Answer | None) -> tuple[bool, dict[str, float], str]:
        """Return whether an answer is right, the figures depth, tokens and clues, and what is wrong."""
        needle, depth = self.needles[sample_id]
        figures = {'tokens': self.tokens, 'clues': float(len(needle.clues_ns))}
        if depth is not None:
            figures['depth'] = depth
        why = 'there is no answer' if answer is None else self._wrong(needle, answer)
        return not why, figures, why

    def close(self) -> None:
        """Hold nothing."""

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
        right = {name_of(truth.item(one)) for one in needle.right | under}
        right |= {truth.rooms.get(one, '') for one in needle.right}
        of_furniture = not truth.rooms.keys().isdisjoint(needle.right)
        alike = [item for item in truth.items if (item.number in truth.rooms) == of_furniture]
        named = {name_of(item) for item in alike if self._names(item, said)}
        named |= {room for room in truth.rooms.values() if of_furniture and _has(said, room)}
        false = sorted(name for name in named - right if not _has(asked, name))
        return f'names {", ".join(false)}' if false else ''

    def _names(self, item: Item, said: str) -> bool:
        """Tell whether a sentence names a thing; without its colour where there is but one."""
        alone = sum(one.label == item.label for one in self.truth.items) == 1
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


@dataclass(frozen=True, slots=True)
class _Said:
    """A planner that has its answer already."""

    name: str
    said: Answer

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        run.check()
        return self.said
