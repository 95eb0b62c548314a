"""Questions about a rendered building, made from the truth file of its recording."""

import random
from collections.abc import Sequence
from pathlib import Path

from remembr_bench.evaluation.datasets import sample
from remembr_bench.evaluation.datasets.sample import Sample
from remembr_bench.simulation.truth import SignTruth, View, load_truth
from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.timestamps import NS

QUESTIONS = 60
ABSENT = 10  # how many of them ask for what is not there
NEAR_M = 5.0
SOON_S = 5.0
"""An answer this near to where and when a sign was readable is right, as in the demo."""

ABSENT_THINGS = (
    'the swimming pool', 'the sauna', 'the helicopter', 'the cinema', 'the aquarium', 'the piano',
    'the garage', 'the bakery', 'the fire hydrant', 'the escalator', 'the chapel', 'the gym',
)  # fmt: skip
_WORDINGS = {
    Kind.POSITION: ('Where is {}?', 'Take me to {}.', 'How do I get to {}?', 'Where did you see {}?'),
    Kind.TIME: ('When did you see {}?', 'When did you last pass {}?', 'How long ago did you see {}?'),
    Kind.BINARY: ('Did you see {}?', 'Is there {} in this building?', 'Have you seen {}?'),
}


def load_building(folder: Path, observations: Sequence[Observation]) -> sample.Sequence:
    """Return what was remembered of the recording with questions about its signs.

    The same truth file gives the same questions.

    :param folder: with truth.json, or that file itself
    :param observations: in the order of time
    :raises BagUnreadable: there is no truth file
    :raises InvalidRequest: no sign was readable on the tour
    """
    truth = load_truth(folder)
    memories = tuple(observation.memory for observation in observations)
    by_text: dict[str, list[SignTruth]] = {}
    for sign in truth.signs:
        if sign.readable:
            by_text.setdefault(sign.text, []).append(sign)
    if not by_text or not memories:
        raise InvalidRequest(f'{folder}: no sign was readable on the tour; record a longer one')
    map_id = memories[0].map_id
    samples: list[Sample] = []

    def ask(text: str, kind: Kind, signs: Sequence[SignTruth] = ()) -> None:
        """Add a question as it is asked at the end of the tour."""
        views = [view for sign in signs for view in sign.readable]
        samples.append(
            Sample(
                f'{len(samples)}',
                'SHORT',
                Question(text, truth.end_ns, truth.segments[-1].pose, truth.frame_id, map_id),
                Scope(map_id=map_id),
                (memories[0].start_ns, memories[-1].end_ns),
                len(memories),
                frozenset(m.id for m in memories if any(_overlap(m, view) for view in views)),
                _truth(kind, views),
            )
        )

    rng = random.Random(truth.seed)
    texts, kinds = sorted(by_text), list(_WORDINGS)
    for number in range(QUESTIONS - ABSENT):
        # Every sign before any twice, each time with the next kind of question.
        text, turn = texts[number % len(texts)], number // len(texts)
        kind = kinds[(number + turn) % len(kinds)]
        ask(rng.choice(_WORDINGS[kind]).format(_named(text, kind)), kind, by_text[text])
    for thing in [*_missing_rooms(texts), *ABSENT_THINGS][:ABSENT]:
        ask(rng.choice(_WORDINGS[Kind.POSITION]).format(thing), Kind.NOT_SEEN)
    images = {o.memory.id: o.images for o in observations if o.images}
    return sample.Sequence(f'building-{truth.seed}', memories, tuple(samples), (), images)


def _truth(kind: Kind, views: Sequence[View]) -> sample.Truth:
    return sample.Truth(
        kind,
        positions=tuple(p.position for v in views for p in v.poses) if kind is Kind.POSITION else (),
        times_ns=tuple(t for v in views for t in _moments(v)) if kind is Kind.TIME else (),
        binary=True if kind is Kind.BINARY else None,
        within_m=NEAR_M,
        within_min=SOON_S / 60.0,
    )


def _named(text: str, kind: Kind) -> str:
    words = text.lower()
    if kind is Kind.BINARY and not any(character.isdigit() for character in words):
        return f'a {words}' if words[0] not in 'aeiou' else f'an {words}'
    return words if any(character.isdigit() for character in words) else f'the {words}'


def _missing_rooms(texts: Sequence[str]) -> list[str]:
    """Return two rooms between those that are there."""
    numbers = [int(text.split()[1]) for text in texts if text.startswith('ROOM')]
    free = [
        number for number in range(min(numbers, default=1), max(numbers, default=9)) if number not in numbers
    ]
    return [f'room {number}' for number in free[:: max(1, len(free) // 2)][:2]]


def _moments(view: View) -> list[int]:
    """Return times inside a view, a second apart, its ends among them."""
    return [*range(view.start_ns, view.end_ns, NS), view.end_ns]


def _overlap(memory: Memory, view: View) -> bool:
    return memory.start_ns <= view.end_ns and view.start_ns <= memory.end_ns
