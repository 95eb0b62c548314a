from collections.abc import Callable

import pytest

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.answer_text import hedged, with_facts
from remembr_ros.geometry import Pose


@pytest.mark.parametrize(
    ('text', 'perhaps'),
    [
        ('A bin was seen: at (1.0, 2.0).', 'Perhaps a bin was seen: at (1.0, 2.0).'),
        ('Yes: a bin stands there.', 'Perhaps yes: a bin stands there.'),
        ('"LIFT" was seen.', 'Perhaps: "LIFT" was seen.'),
        ('Andrea was seen.', 'Perhaps: Andrea was seen.'),
    ],
)
def test_a_sentence_that_may_be_wrong_is_still_one(text: str, perhaps: str) -> None:
    assert hedged(text) == perhaps


@pytest.mark.parametrize(
    ('confidence', 'begins'),
    [(0.49, 'Perhaps a bin was seen: at'), (0.5, 'A bin was seen: at'), (0.0, 'A bin was seen: at')],
)
def test_an_answer_that_is_rather_wrong_says_so(
    ask_about: Callable[..., Question], confidence: float, begins: str
) -> None:
    # 0: nobody knows how sure it is
    answer = Answer(Kind.POSITION, 'A bin was seen', 'a planner', pose=Pose(1.0, 2.0), confidence=confidence)
    assert with_facts(answer, ask_about('Where is the bin?')).text.startswith(begins)
