"""What of an answer to a question about a trajectory is right: by what its sentence names."""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.number_words import TO_TWENTY
from remembr_ros.agent.planner import Planner, Run
from remembr_ros.evaluation.needles.questions import Needle, NeedleTruth
from remembr_ros.evaluation.records.config import PlannerName
from remembr_ros.memory.matching.terms import stem, words
from remembr_ros.memory.recall import Recall
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
        rng = random.Random(f'{sample_id} {seed}')
        yes, number, right = needle.yes, needle.number, needle.right
        if name == PlannerName.RANDOM.value:
            yes, number = yes if yes is None else rng.random() < 0.5, rng.randint(1, MOST_MOVES)
            kinds = {self.truth.item(one).kind for one in right}
            alike = [one for one in self.truth.titles if self.truth.item(one).kind in kinds]
            right = frozenset(rng.sample(alike, len(right)))
        elif name != PlannerName.ORACLE.value:
            return None
        return _Said(name, self.told(right, number), yes)

    def told(self, right: frozenset[int], number: int | None) -> str:
        """Return an answer in words, of things or of how many times."""
        return ' and '.join(self.truth.titles[one] for one in sorted(right)) or f'{number} times'

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
        said, asked = _folded(answer.text), _folded(needle.text)
        right = [self.truth.item(number) for number in needle.right]
        if lost := [self.truth.titles[item.number] for item in right if not self._names(item, said)]:
            return f'does not name the {", ".join(lost)}'
        looks = {name_of(self.truth.item(number)) for number in needle.right | self.truth.under(needle)}
        looks |= {self.truth.rooms.get(item.number, '') for item in right}
        furniture = right[0].kind == 'furniture'
        others = [item for item in self.truth.items if (item.kind == 'furniture') == furniture]
        false = {name_of(item) for item in others if furniture or self._names(item, said)}
        false |= set(self.truth.rooms.values()) if furniture else set()
        false = {
            name for name in false - looks if not _has(asked, name) and (not furniture or _has(said, name))
        }
        return f'names {", ".join(sorted(false))}' if false else ''

    def _names(self, item: Item, said: str) -> bool:
        """Tell whether a sentence names a thing; without its colour, or room, where there is but one."""
        if item.kind == 'furniture':
            room = self.truth.rooms[item.number]
            return _has(said, item.label) and (item.number in self.truth.alone or _has(said, room))
        alike = sum(one.label == item.label for one in self.truth.items)
        bare = re.search(rf'(?<!{item.colour}){_folded(item.label)}', said) if alike == 1 else None
        return _has(said, name_of(item)) or bare is not None


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
    text: str
    binary: bool | None

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        run.check()
        kind = Kind.TEXT if self.binary is None else Kind.BINARY
        return Answer(kind, self.text, self.name, binary=self.binary, confidence=1.0)
