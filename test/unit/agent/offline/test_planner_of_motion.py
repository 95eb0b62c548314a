"""Questions about how the robot moved, in as many phrasings as people have, asked of a short drive."""

import math

import pytest

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.embedding.embedders import OFFLINE
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS
from test.unit.agent.in_short import assert_told, rows
from test.unit.agent.listed_recall import ListedRecall

T = 1_700_000_000 * NS

LEGS = """
lift 6 on; road1 20 left; bridge 20 on; road2 20 right; crossing 130 stop; road3 20 on; exit 6 on;
road4 20 right; library 60 stop; road5 20 on
"""
"""What was seen, for how many seconds, and where the robot turned before it drove 1 m/s, or that it stood."""


def drive() -> tuple[list[Memory], int]:
    """Return memories of at most 5 s of driving, or of a stop, and when the last one ends."""
    memories, at_ns, x, y, yaw = list[Memory](), T, 0.0, 0.0, 0.0
    for name, long, how in map(str.split, LEGS.split(';')):
        seconds = int(long)
        yaw += {'left': math.pi / 2, 'right': -math.pi / 2}.get(how, 0.0)
        parts = 1 if how == 'stop' else max(seconds // 5, 1)
        for part in range(parts):
            metres = 0.0 if how == 'stop' else seconds / parts
            pose = Pose(x + math.cos(yaw) * metres / 2, y + math.sin(yaw) * metres / 2, 0.0, yaw)
            end_ns = at_ns + round(seconds / parts * NS)
            id_ = f'{name}.{part}' if part else name
            caption = f'A sign that reads "{name.upper()}".' if seconds == 6 else f'A {name.strip("12345")}.'
            memories.append(Memory(id_, 'r', at_ns, end_ns, caption, pose, travelled=metres))
            x, y, at_ns = x + math.cos(yaw) * metres, y + math.sin(yaw) * metres, end_ns
    return memories, at_ns


MEMORIES, END_NS = drive()


def ask(text: str) -> Answer:
    recall = ListedRecall(MEMORIES, embedder_name=OFFLINE)
    return OfflinePlanner().answer(Question(text, END_NS + NS), recall, Run(float('inf')))


QUESTIONS = """
Did you turn right? | yes exit | I turned right
Did you turn right after the bridge? | yes bridge.3 | I turned right
Did you turn left after the bridge? | no bridge.3 | I turned right
Did you turn left before the bridge? | yes lift | I turned left
After the bridge, did you turn right? | yes bridge.3 | I turned right
After the bridge, did you turn left? | no bridge.3 | I turned right
How many left turns did you make? | text lift | I turned left once.
How many right turns did you make? | (perhaps) text bridge.3, exit | I turned right 2 times.
Which direction did you turn? | text exit | I turned right
Which way did you turn after leaving the lift? | (perhaps) text lift | I turned left
Which way did you turn after the exit? | text exit | I turned right
Did you turn left or right at the exit? | text exit | I turned right
Did you make a U-turn? | no lift | I did not turn around.
How long did you wait at the crossing? | 130 s | I stood
Did you stop at the library? | yes library | I stood for 60 s.
Did you stop in front of the library? | (perhaps) yes library | I stood for 60 s.
Did you stop in front of the bridge? | no bridge | I did not stop
How many stops did you make before you got to the exit? | text crossing | I stopped once.
How many stops were there before you got to the exit? | text crossing | I stopped once.
How many times did you stop for more than 2 minutes? | (perhaps) text crossing | I stopped once.
Where did you stop first? | at crossing | I stopped
Where did you stop last? | at library | I stopped
How long was your longest stop? | 130 s | I stood
Which way did you face when you saw the "EXIT" sign? | text exit | yaw 0 degrees
Which way did you face when you saw the bridge? | text bridge.1 | yaw 90 degrees
What was your heading? | text road5.3 | yaw -90 degrees
How fast were you at the bridge? | text bridge, bridge.1, bridge.2 ... | 1.00 m/s
How fast were you at the library? | text library | 0.00 m/s
How fast did you drive on average? | text lift, road5.3 | 0.41 m/s
How far did you drive from the lift to the exit? | text lift, exit | I drove 86.0 m.
Were you moving? | yes road5.1 | I drove
Are you moving? | yes road5.1 | I was driving
When did you start moving again after the crossing? | since exit | I set off
What was on your left when you passed the bridge? | (perhaps) not seen | No memory says what was on my left
"""

OTHERS = """
Did the car turn right?                            | perhaps not seen
Where is the bus stop?                             | not seen
Were you driving on the left side of the sidewalk? | perhaps not seen
What does "YOU TURN LEFT" say?                     | perhaps not seen
Was anyone waiting at the bus stop?                | perhaps not seen
How far is it from the lift to the exit?           | (perhaps) text lift, exit | in a straight line
What did you see on the right side of the road?    | (perhaps) text road1, road1.1, road1.2 ... | a road
How long did you stay in the library?              | (perhaps) 60 s | the library was seen for
Where did you go after the exit?                   | at road4 | I was (after the exit)
"""
"""What others did, and what was seen."""


@pytest.mark.parametrize(('text', 'short', 'said'), rows(QUESTIONS + OTHERS))
def test_a_question_is_answered(text: str, short: str, said: str) -> None:
    assert_told(ask(text), short, said)
