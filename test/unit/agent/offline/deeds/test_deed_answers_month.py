"""Questions about a month of 5,000 deeds, as people ask; the log itself says what is true."""

import time
from collections import Counter

from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from test.unit.agent.deeds_month import LOG
from test.unit.agent.listed_recall import ListedRecall
from test.unit.agent.questions_month import QUESTIONS

RIGHT = 0.85  # of the questions, at least


def test_nearly_all_are_answered_right_and_rest_on_the_deeds():
    assert (len(QUESTIONS), min(Counter(one.sort for one in QUESTIONS).values())) == (60, 5)
    assert 4_500 < len(LOG) < 5_500
    recall, planner = ListedRecall([one.memory for one in LOG]), OfflinePlanner()
    answers = [planner.answer(one.question, recall, Run(time.monotonic() + 30.0)) for one in QUESTIONS]
    wrong = [
        f'{one.text} {answer.text} Not right: {", ".join(faults)}.'
        for one, answer in zip(QUESTIONS, answers, strict=True)
        if (faults := one.faults(answer))
    ]
    assert len(wrong) <= (1.0 - RIGHT) * len(QUESTIONS), '\n'.join(wrong)
