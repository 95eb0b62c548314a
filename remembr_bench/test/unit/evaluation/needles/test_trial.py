"""How answers are judged: by what a sentence names, whoever says it, and not by a list of everything."""

import random
import time

import pytest

from remembr_bench.evaluation.needles.questions import Needle
from remembr_bench.evaluation.needles.trial import NeedleTrial
from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.opening import open_store
from test.unit.agent.listed_recall import ListedRecall
from test.unit.evaluation.needles.trajectory import START_NS, STEP_NS, live

LIVED = live(5)
NUMBERS = {title: number for number, title in LIVED.truth.titles.items()}


def right(needle: Needle, text: str, kind: Kind = Kind.TEXT, binary: bool | None = None) -> bool:
    trial = NeedleTrial(LIVED.truth, {'1': (needle, 0.25)}, 1234.0)
    found, figures, why = trial.score('1', Answer(kind, text, 'somebody', binary=binary))
    assert figures == {'tokens': 1234.0, 'clues': float(len(needle.clues_ns)), 'depth': 0.25}
    assert found is not bool(why)
    return found


def names(text: str, *titles: str) -> Needle:
    return Needle('put', text, frozenset(NUMBERS[title] for title in titles))


PUT = names('What did you put on the table in the study?', 'black cup', 'purple bottle')
FROM = names('Where was the pink cup before you put it on the shelf in the study?', 'table in the bedroom')
ALONE = names('Where is the pink cup?', 'fridge')


@pytest.mark.parametrize(
    ('needle', 'text', 'is_right'),
    [
        (PUT, 'I put the black cup and the purple bottle on the table in the study.', True),
        (PUT, 'A bottle (purple), no, the purple bottle; also the black cup.', True),
        (PUT, '2026-03-02 08:10 Put the purple bottle on the table (study); 08:12 Put the black cup', True),
        (PUT, 'The black cup.', False),
        (PUT, 'The black cup, the purple bottle and the pink cup.', False),
        (PUT, 'Cups and bottles.', False),
        (FROM, 'Before I put it on the shelf in the study, the cup was on the table in the bedroom.', True),
        (FROM, 'Picked the pink cup from the table (bedroom)', True),
        (FROM, 'On the table.', False),
        (FROM, 'On the table in the kitchen.', False),
        (FROM, 'On the table or the sofa in the bedroom.', False),
        (ALONE, 'It is in the fridge, next to the black cup.', True),
        (ALONE, 'In the fridge in the living room.', False),
        (ALONE, ' '.join(NUMBERS), False),
        (Needle('moves', 'How often did you move it?', number=3), '3 times: 2026-03-02 08:10 Put', True),
        (Needle('moves', 'How often did you move it?', number=3), 'I moved it three times.', True),
        (Needle('moves', 'How often did you move it?', number=1), 'Once, at 08:15.', True),
        (Needle('moves', 'How often did you move it?', number=2), 'I moved the red one 2 times.', True),
        (Needle('moves', 'How often did you move it?', number=3), 'Once, twice or three times.', False),
        (Needle('moves', 'How often did you move it?', number=3), 'Often.', False),
    ],
)
def test_sentences(needle: Needle, text: str, is_right: bool) -> None:
    assert right(needle, text) is is_right


def test_yes_and_no() -> None:
    needle = Needle('presence', 'Did you see a cat?', yes=False)
    assert right(needle, 'I saw none.', Kind.BINARY, binary=False)
    assert right(needle, 'No, never.')
    assert not right(needle, 'Yes.')
    assert not right(needle, 'Perhaps.')
    assert not right(PUT, 'I have not seen that: the black cup and the purple bottle.', Kind.NOT_SEEN)


def test_what_has_no_clue_has_no_depth_and_no_answer_is_wrong() -> None:
    trial = NeedleTrial(LIVED.truth, {'1': (Needle('presence', 'Did you see a cat?', yes=False), None)}, 1.0)
    assert trial.score('1', None) == (False, {'tokens': 1.0, 'clues': 0.0}, 'there is no answer')


def test_the_oracle_is_right_and_chance_is_not_often() -> None:
    asked = LIVED.truth.needles(random.Random(0), 3, lambda ns: (ns - START_NS) / (330 * STEP_NS))
    trial = NeedleTrial(LIVED.truth, {str(i): one for i, one in enumerate(asked)}, 1.0)
    share = {}
    for name in ('oracle', 'random'):
        found = []
        for one in trial.needles:
            planner = trial.planner(name, one, 0)
            assert planner is not None
            answer = planner.answer(Question('', 0), ListedRecall([]), Run(time.monotonic() + 9.0))
            found.append(trial.score(one, answer)[0])
        share[name] = sum(found) / len(found)
    assert share['oracle'] == 1.0
    assert share['random'] < 0.5
    assert trial.planner('offline', '0', 0) is None


def test_the_rules_answer_all_categories(tmp_path) -> None:
    asked = LIVED.truth.needles(random.Random(0), 2, lambda ns: (ns - START_NS) / (330 * STEP_NS))
    trial = NeedleTrial(LIVED.truth, {str(i): one for i, one in enumerate(asked)}, 1.0)
    store = open_store(str(tmp_path / 'm.db'), HashingEmbedder())
    store.add([Observation(memory) for memory in LIVED.memories])
    agent, now_ns = Agent(store, [OfflinePlanner()], 30.0), START_NS + 400 * STEP_NS
    wrong = [
        (needle.text, why)
        for one, (needle, _) in trial.needles.items()
        if (why := trial.score(one, agent.ask(Question(needle.text, now_ns)))[2])
    ]
    store.close()
    assert wrong == []
