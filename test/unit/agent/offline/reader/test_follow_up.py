"""Follow-up questions: what each is in full, and what is answered."""

import time

import pytest

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Answer, Kind, Question, Turn
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.offline.reader.follow_up import in_full
from remembr_ros.agent.planner import Run
from remembr_ros.memory.places.places import Places
from test.unit.agent.deeds_month import LOG
from test.unit.agent.in_short import rows
from test.unit.agent.listed_recall import ListedRecall
from test.unit.agent.offline.places.test_place_answers import ROOMS
from test.unit.agent.questions_month import NOW_NS, find


@pytest.mark.parametrize(
    ('before', 'text', 'full'),
    rows(
        """
        Where is the red cup? | And the blue one? | Where is the blue cup?
        Where is the red cup? | Is it on the table? | Is the red cup on the table?
        How often did you water the fern? | And the palm? | How often did you water the palm?
        How often did you dance? | What about yesterday? | How often did you dance yesterday?
        How often did you dance today? | And on Monday? | How often did you dance on Monday?
        How often did you water the fern? | Why? | why did you water the fern?
        Did you water the fern? | How often? | how often did you water the fern?
        When did you first see the lift? | And the last time? | When did you last see the lift?
        How long were you in the kitchen? | And in the hall? | How long were you in the hall?
        When did you bring tea to ward 3? | And to ward 5? | When did you bring tea to ward 5?
        How many deeds failed today? | Which? | which deeds failed today?
        Which room has the most chairs? | And the fewest? | Which room has the fewest chairs?
        How long were you in the kitchen? | And the hall? | How long were you in the hall?
        What did you put on the table? | How many of those? | how many things did you put on the table?
        What did you put on the table? | And on the white shelf? | What did you put on the white shelf?
        How often did you load the van? | How many of those failed? | how often did you load the van failed?
        Where are the chairs? | How many? | How many chairs are there?
        How many red cups are there? | How many of those are in the hall? | How many red cups are in the hall?
        How often did you dance on 21 September? | And the day after? | How often did you dance on 2026-09-22?
        How many demos did you give today? | Which ones? | which demos did you give today?
        Did you put the mug on the sofa? | And the bookshelf? | Did you put the mug on the bookshelf?
        How many apples are here? | How many of those are black? | How many black apples are here?
        Which drives failed last week? | Why? | Which drives failed last week?
        Did you see the lift? | Did you see the stairs? | Did you see the stairs?
        """
    ),
)
def test_one_part_is_changed(before: str, text: str, full: str) -> None:
    turn = Turn(before, Answer(Kind.TEXT, '', 'offline'))
    assert in_full(Question(text, NOW_NS, prior=turn, places=Places(ROOMS))) == full


def test_a_row_of_follow_ups_keeps_what_none_of_them_changed() -> None:
    agent = Agent(ListedRecall([one.memory for one in LOG]), [OfflinePlanner()])

    def ask(text: str) -> str:
        return agent.ask(Question(text, NOW_NS, asker='Ines')).text

    for text, some in [
        ('How often did you water the fern?', find(kind='water', object='fern')),
        ('And the palm?', find(kind='water', object='palm')),
        ('And yesterday?', find(29, kind='water', object='palm')),
        ('And the basil?', find(29, kind='water', object='basil')),
        ('And today?', find(30, kind='water', object='basil')),
    ]:
        assert ask(text).removeprefix('Perhaps: ').split(':')[0].split(' ')[0] in (str(len(some)), 'once')


def test_it_is_what_was_found() -> None:
    agent = Agent(ListedRecall([one.memory for one in LOG]), [OfflinePlanner()])
    agent.ask(Question('What did you unpack in the workshop?', NOW_NS, asker='Ines'))
    assert 'microscope' in agent.ask(Question('When did you unpack it?', NOW_NS, asker='Ines')).text


def test_what_stands_for_itself_stays() -> None:
    question = Question('And where is the lift?', NOW_NS)
    assert in_full(question) == question.text
    answer = OfflinePlanner().answer(question, ListedRecall([]), Run(time.monotonic() + 5.0))
    assert answer.kind is Kind.NOT_SEEN
