"""What compares, groups or leaves out: asked of a month of deeds, whose log says what is true."""

import time

from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from test.unit.agent.compared_month import QUESTIONS
from test.unit.agent.deeds_month import LOG
from test.unit.agent.listed_recall import ListedRecall

RIGHT = 0.8  # of the questions, at least


def test_nearly_all_are_right_and_nothing_wrong_is_sure():
    recall, planner = ListedRecall([one.memory for one in LOG]), OfflinePlanner()
    answers = [planner.answer(one.question, recall, Run(time.monotonic() + 30.0)) for one in QUESTIONS]
    asked = list(zip(QUESTIONS, answers, strict=True))
    wrong = [(one.text, answer.confidence, answer.text) for one, answer in asked if one.faults(answer)]
    assert len(wrong) <= (1.0 - RIGHT) * len(QUESTIONS), wrong
    assert not [one for one in wrong if one[1] >= 0.5]
