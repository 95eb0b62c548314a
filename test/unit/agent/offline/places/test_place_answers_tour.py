"""Questions about the rooms of the demo's tour, as people ask; where the robot was says what is true."""

from functools import cache

import pytest

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.place import place
from remembr_ros.timestamps import NS
from test.unit.agent.listed_recall import ListedRecall

pytest.importorskip('remembr_bench', reason='needs the worlds of remembr_bench')

from remembr_bench.simulation.floor_plan import generate_building
from remembr_bench.simulation.tour import Tour
from remembr_bench.simulation.truth import observe

NINE = 1_795_424_400 * NS  # 2026-11-23 09:00:00 UTC
OFF_S = 4.5  # a memory covers 3 s, and was made where the robot was in the middle of them
BUILDING = generate_building(0)
TOUR = Tour(BUILDING)
END_S = TOUR.duration_s
RIGHT = 0.9  # of the questions, at least


def room_at(pose: Pose) -> str:
    """Return the smallest room that has a pose."""
    x, y = pose.x, pose.y
    inside = [p for p in BUILDING.places if p.low[0] <= x <= p.high[0] and p.low[1] <= y <= p.high[1]]
    areas = {p.name: (p.high[0] - p.low[0]) * (p.high[1] - p.low[1]) for p in inside}
    return min(areas, key=areas.__getitem__, default='')


WAY = [(i / 5, room_at(TOUR.pose_at(i / 5))) for i in range(int(END_S * 5))]
"""Where the robot was, each fifth of a second."""


@cache
def agent() -> Agent:
    count = int(END_S * 2)
    truth = observe(BUILDING, [StampedPose(NINE + i * NS // 2, TOUR.pose_at(i / 2)) for i in range(count)])
    memories = [
        Memory(
            f'm{i:02}', 'r', one.start_ns, one.end_ns - 1, one.caption, one.pose,
            scene_text=one.visible_signs, captioner='truth',
        )
        for i, one in enumerate(truth.segments)
    ]  # fmt: skip
    also = {'cafeteria': ['canteen'], 'library': ['reading room']}
    for one in BUILDING.places:
        (x0, y0), (x1, y1) = one.low, one.high
        outline = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        memories.append(place(one.name, outline=outline, other_names=also.get(one.name, ())).memory)
    return Agent(ListedRecall(memories), [OfflinePlanner()])


def times(name: str) -> list[float]:
    return [s for s, room in WAY if room == name]


def spent(name: str) -> float:
    return len(times(name)) / 5


def right(answer: Answer, true: object) -> bool:
    """Tell whether an answer says what is true: yes or no, a time [s], a place, or all of these words."""
    if isinstance(true, bool):
        return answer.binary is true
    if isinstance(true, float):
        at_s = (answer.time_ns - NINE) / NS if answer.time_ns is not None else answer.duration_s
        return at_s is not None and abs(at_s - true) <= OFF_S
    if isinstance(true, Pose):
        return answer.pose is not None and room_at(answer.pose) == room_at(true)
    return all(part in answer.text for part in str(true).split('|'))


def middle(name: str) -> Pose:
    one = next(one for one in BUILDING.places if one.name == name)
    return Pose(*((low + high) / 2 for low, high in zip(one.low, one.high, strict=True)))


ROOMS = [room for i, (_, room) in enumerate(WAY) if room and (i == 0 or WAY[i - 1][1] != room)]
NEVER = sorted({one.name for one in BUILDING.places} - set(ROOMS))
LONGEST = max(ROOMS, key=spent)
IN_CAFETERIA, IN_LIBRARY = times('cafeteria'), times('library')
AFTER, BEFORE = (ROOMS[ROOMS.index('library') + step] for step in (1, -1))
ASKED: list[tuple[str, object]] = [
    ('How long did you hang out in the library?', spent('library')),
    ('How many seconds was the robot in the canteen today?', spent('cafeteria')),
    ('Could you tell me how long we were in the north corridor?', spent('north corridor')),
    ("What's the total time you spent in the east corridor?", spent('east corridor')),
    ('How often have we been to the reading room so far?', 'once'),
    ('How frequently did you go through the north corridor?', '2 times'),
    ('How many visits did you make to the cafeteria?', 'once'),
    ('When did you leave the cafeteria?', IN_CAFETERIA[-1]),
    ('When did you go into the library?', IN_LIBRARY[0]),
    ('At what time did the robot arrive at the cafeteria?', IN_CAFETERIA[0]),
    ('How long ago did you exit the library?', IN_LIBRARY[-1]),
    (f'Have you ever been in {NEVER[2]}?', False),
    ('Did you go into the library?', True),
    ("Haven't you been to the canteen?", True),
    ('Were you in the library between 9:00:00 and 9:00:10?', False),
    ('Has the library been visited?', True),
    ('Is the robot in the library now?', False),
    ('Are we still in the reception?', True),
    ('Where did you spend the most time today?', LONGEST),
    ('Which room did you stay in the longest?', LONGEST),
    ('How many different rooms did you enter?', f'{len(set(ROOMS))} places'),
    ('Show me the rooms you went into.', '|'.join(set(ROOMS))),
    ('What was the last room you were in?', ROOMS[-1]),
    (f'Which room were you in {END_S - 75:.0f} seconds ago?', room_at(TOUR.pose_at(75.0))),
    ('After the library, which room did you go to?', AFTER),
    ('Where were you right before the library?', BEFORE),
    ("Which rooms haven't you seen yet?", '|'.join(NEVER)),
    ('Have you been in every room?', '|'.join(NEVER)),
    ('What rooms can I ask about?', '|'.join(one.name for one in BUILDING.places)),
    ('In which room is the robot now?', 'reception'),
    ('Which room has the vending machine?', 'In the cafeteria: '),
    ('Do you know which room the bookshelf is in?', 'In the library: '),
    ('Is there a vending machine in the library?', False),
    ("What's in the library?", 'bookshel'),
    ('What objects did you see in the cafeteria?', 'CAFETERIA'),
    ('How far apart are the cafeteria and the library?', ' m in a straight line'),
    ('How long did you need from the canteen to the library?', IN_LIBRARY[0] - IN_CAFETERIA[-1]),
    (
        'Which rooms did you pass between the cafeteria and the library?',
        f'the east corridor and the {BEFORE}',
    ),
    ('Could you take us to the canteen, please?', middle('cafeteria')),
    (f"Let's go to {NEVER[-1]}!", middle(NEVER[-1])),
    ('Please meet me in the canteen.', middle('cafeteria')),
    ('How long has it been since you were in the cafeteria?', IN_CAFETERIA[-1]),
    ('Which rooms did you never set foot in?', '|'.join(NEVER)),
]


def test_nearly_all_are_answered_right():
    asked = [
        (question, true, agent().ask(Question(question, NINE + round(END_S * NS), here=TOUR.pose_at(END_S))))
        for question, true in ASKED
    ]
    wrong = [
        f'{question} {answer.text} Not {true}.' for question, true, answer in asked if not right(answer, true)
    ]
    assert len(wrong) <= (1.0 - RIGHT) * len(ASKED), '\n'.join(wrong)
