"""Questions and wishes about deeds, in as many phrasings as people have, asked of two logs."""

from dataclasses import replace

import pytest

from remembr_ros.agent.model import english
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.embedding.embedders import OFFLINE
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.places import known_places
from remembr_ros.timestamps import NS
from test.object_room import thing
from test.unit.agent.in_short import assert_told, rows
from test.unit.agent.listed_recall import ListedRecall
from test.unit.agent.offline.places.test_place_answers import room

T = 1_700_056_800 * NS  # 14:00
MINUTE = 60 * NS
ROOMS = {'study': 0, 'hall': 10, 'kitchen': 20, 'lounge': 30}
"""Where each begins, along x."""

CARRIED = """
1    | 20  | pick  | blue mug  | desk    | study
2    | 20  | place | blue mug  | shelf   | hall
3    | 60  | open  | drawer    |         | hall
4    | 20  | pick  | vase      | table   | study
6    | 20  | place | vase      | counter | kitchen
9    | 20  | pick  | newspaper | rack    | hall
10   | 20  | place | newspaper | table   | kitchen
12   | 20  | pick  | pen       | desk    | lounge
13   | 20  | place | pen       | sofa    | lounge
14   | 20  | pick  | red ball  | sofa    | lounge
14.5 | 20  | place | red ball  | rack    | hall
17   | 20  | pick  | blue mug  | shelf   | hall
19   | 20  | place | blue mug  | sink    | kitchen
20   | 60  | drop  | keys      |         | hall
22   | 20  | pick  | purple teddy bear | sofa | lounge
23   | 20  | place | purple teddy bear | rack | kitchen
"""
"""Minute, seconds, what was done to what, at what, in which room."""

GUIDED = """
0    | 60  | go         |            | | study
2    | 60  | pick       | red book   | | study
4    | 60  | open       | drawer     | | study
6    | 180 | go         |            | | kitchen
10   | 60  | open       | fridge     | | kitchen
12   | 300 | load       | dishwasher | | kitchen
18   | 60  | polish     | cup        | | kitchen
20   | 60  | wave       |            | | hall
22   | 600 | tour       |            | | lounge
24   | 60  | greet      | Mia        | | lounge
34   | 240 | wait       |            | | hall
39   | 60  | greet      | Tom        | | hall
41   | 180 | tour       |            | | hall
45   | 60  | hand over  | parcel     | | hall
47   | 60  | dock       |            | | hall
50   | 360 | tour       |            | | kitchen
58   | 60  | wave       |            | | kitchen
59   | 60  | dock       |            | | study
"""


def did(line: str) -> Memory:
    minute, seconds, kind, name, at, where = (cell.strip() for cell in line.split('|'))
    begin_ns, pose = T + round(float(minute) * MINUTE), Pose(ROOMS[where] + float(minute) / 10.0, 5.0)
    about = {'object': name, 'receptacle': at, 'place': where, 'outcome': 'succeeded'}
    made = deed(begin_ns, begin_ns + int(seconds) * NS, kind=kind, pose=pose, **about).memory('r')
    return replace(made, id=f'{kind} {(name or where).split()[-1]} {at}'.strip())


def log(table: str) -> list[Memory]:
    rooms = [replace(room(name, x), id=name) for name, x in ROOMS.items()]
    return [*map(did, table.strip().splitlines()), *rooms]


CUP = thing('cup', (40.0, 1.0, 0.0), (0.3, 0.3, 0.3), colour='green', intervals=((0, T),))
WITH_CUP, WITH_TOURS = [*log(CARRIED), CUP.memory], log(GUIDED)


def ask(text: str, memories: list[Memory] = WITH_TOURS) -> Answer:
    recall = ListedRecall(memories, embedder_name=OFFLINE)
    question = Question(text, T + 90 * MINUTE, here=Pose(0.0, 0.0), places=known_places(recall))
    return OfflinePlanner().answer(question, recall, Run(float('inf')))


WISHES = """
Take me to the shelf onto which you put something | at place mug shelf
Drive to the receptacle that you lifted the vase from | at pick vase table
Bring me to the thing that you took off the desk | at place pen sofa
Head to the thing you picked up from the desk in the study | at place mug sink
Go to the vase you picked up from the table in the lounge | not seen
Revisit the table the newspaper was placed on | at place newspaper table
Go to the counter to which you carried the vase | at place vase counter
Proceed to the room where you used the pen | at place pen sofa
Visit something you dealt with | at place bear rack
Go to where you dropped the keys | at drop keys
Go to the rack you put the red ball on before you took the purple teddy bear | at place ball rack
Go to the thing you used four items before you lifted the red ball | at open drawer
Go to the receptacle you put something on 2 interactions after handling the vase | at place pen sofa
Go to the receptacle you took one from just before you started moving the red ball | at pick ball sofa
Go to the thing you used after the vase but before the pen | at place newspaper table
Go to the last thing you used before the pen | at place newspaper table
Go to the thing you used at least two times | at place mug sink
Go to the thing you used more than once | at place mug sink
Go to the thing which was used most often | at place mug sink
Go to the thing you touched the least | perhaps at place bear rack
Which thing did you use most frequently? | at place mug sink
Go to the thing you needed the longest to rearrange | at place vase counter
Go to the thing that took you the least time to carry | at place ball rack
Go to the receptacle you used which is the furthest from your current position | at place pen sofa
Go to the receptacle nearest to me that you used | at pick mug desk
Go to each of the desks you used | each pick mug desk, pick pen desk
In the same order, revisit all the desks you used | in order pick mug desk, pick pen desk
Visit all desks you used. The order to visit them is: second, first | in order pick pen desk, pick mug desk
Go to a spherical object that you used | at place ball rack
Go to a box-shaped object that you used | not seen
Go to a red colored thing you used | at place ball rack
Go to a cup that was never touched | (perhaps) at cup
Go to a cup you haven't handled | (perhaps) at cup
Go to the object you moved from the desk to the sofa | (perhaps) at place pen sofa | not: "sofa"
Go to the shelf you used that is farthest from the oven | perhaps at place mug shelf | not: "farthest", "oven"
Go to the vase made of glass that you moved | perhaps at place vase counter | not: "made", "glass"
Go to the vase in the hall that you moved | perhaps at place vase counter | not: "hall"
Visit all desks you used in reverse order | perhaps each pick mug desk, pick pen desk
Where did you take the pen that you put on the sofa? | at pick pen desk
Where was the pen before you moved it? | at pick pen desk
Where did you take the pen from? | at pick pen desk
Which mug did you move? | text place mug shelf, place mug sink
Take me to the painting that she likes | perhaps not seen
"""

QUESTIONS = """
What did you do right before you opened the fridge? | text go kitchen
What did you do right after you opened the fridge? | text load dishwasher
What did you do before you opened the drawer? | text go study, pick book
What did you do since the tour of the kitchen? | text wave kitchen, dock study
What was the next thing you did after the tour of the lounge? | text wait hall
After the tour of the lounge, what did you do next? | text wait hall
When you gave the tour of the lounge, what did you do then? | text wait hall
What was the last thing you did? | text dock study
How long did you wait until Tom came? | 240 s
What did you pick up as soon as you drove to the study? | (perhaps) text pick book
What did you hand over prior to docking? | (perhaps) text hand over parcel
Before you opened the fridge, which room were you in? | text go study | tudy.
Which room were you in when you polished the cup? | text polish cup | itchen.
What did you do in the middle of the tour? | (perhaps) text greet Mia
Whom did you greet during the tour of the lounge? | text greet Mia
What did you greet the last time you were in the lounge? | (perhaps) text greet Mia
What did you do between opening the drawer and loading the dishwasher? | text go kitchen, open fridge
How far did you drive from polishing the cup to waving? | text polish cup, wave kitchen, wave hall ...
How long did it take from opening the drawer to opening the fridge? | 420 s
You loaded the dishwasher. What did you do before that? | text open fridge
You polished the cup. What did you do right afterwards? | (perhaps) text wave hall
When did you dock? | since dock study | the last of 2 times
How often did you dock? | text dock hall, dock study | 2 times
How many times did you wave at people from the window? | perhaps text wave hall, wave kitchen
When was the second tour? | since tour hall
What was the second to last thing you did? | text wave kitchen
When was your most recent tour? | (perhaps) since tour kitchen
When did you pick up the first aid kit? | perhaps not seen
What were the last three things you did? | text tour kitchen, wave kitchen, dock study
What were the first three things you did? | text go study, pick book, open drawer
What were the last couple of things you did? | (perhaps) text wave kitchen, dock study
How long was your longest tour? | 600 s
How long was your shortest tour? | 180 s
What was your longest tour? | 600 s
Which of these did you pick up: the cup, the book or the keys? | text pick book | the book.
The cup and the book: which of them did you pick up? | text pick book | the book.
Which did you open first, the fridge or the drawer? | text open drawer, open fridge | the drawer first, 2023
Which did you open last, the fridge or the drawer? | text open fridge, open drawer | the fridge last, 2023
How far from here did you open the fridge? | text open fridge | 21.6 m from here
"""


@pytest.mark.parametrize(('text', 'short', 'said'), rows(WISHES))
def test_a_wish_leads_somewhere(text: str, short: str, said: str) -> None:
    assert_told(ask(text, WITH_CUP), short, said)


@pytest.mark.parametrize(('text', 'short', 'said'), rows(QUESTIONS))
def test_a_question_is_answered(text: str, short: str, said: str) -> None:
    assert_told(ask(text), short, said)


def test_without_a_model_what_is_before_what_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    forget = english.is_there.cache_clear, english.parse.cache_clear, english.tags.cache_clear
    with monkeypatch.context() as patched:
        patched.setattr(english, 'MODELS', ('no_such_model',))
        for clear in forget:
            clear()
        try:
            assert_told(ask('How often did you dock?'), 'perhaps text dock hall, dock study', '2 times')
            assert_told(ask('What did you do before docking?'), 'perhaps not seen')
            assert ask('Go to the mug you moved', WITH_CUP).confidence <= 0.4
        finally:
            for clear in forget:
                clear()
