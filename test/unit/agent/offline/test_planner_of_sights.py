"""Questions about what was seen, in as many phrasings as people have, and what is answered."""

from collections.abc import Callable
from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.offline.request import MOST_SEARCHED, searched, thing_of
from remembr_ros.agent.planner import Run
from remembr_ros.embedding.embedders import OFFLINE
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import MAX_NS, NS
from test.object_room import ROOM
from test.unit.agent.in_short import assert_told, rows
from test.unit.agent.listed_recall import ListedRecall

T = 1_700_000_000 * NS  # 2023-11-14 22:13:20

SEEN = """
exit 1: "EXIT"; first aid 1: A first aid kit hangs on a wall; printer 1: A printer on a desk;
lift: "LIFT"; person: A person walks by; room 103: "ROOM 103"; first aid 2: A first aid kit on a shelf;
kitchen 1: A kitchen with a coffee machine; kitchen 2: A kitchen with a sink; tables: Tables in a hall;
sofa: A red sofa; blue sofa: A blue sofa; way out: "WAY OUT"; lab 3: "LAB 3"; room 3: "ROOM 3";
stairs: Stairs with a rail; front desk: A front desk; stop sign: The back of a stop sign;
trash can: A trash can; trash: Trash on the floor; fire exit: "FIRE EXIT"; toilet 1: A toilet;
toilet 2: An all-gender toilet; magazine: A magazine called Computer on a bench;
nature: A magazine called Nature; wheeler: An 18-wheeler in a yard;
umbrella: A dog and a man with an umbrella; food: A food truck; fountain: A water fountain;
Ellis: "Dr. Ellis"; B-204: "B-204"; cafeteria 1: A cafeteria; check-in 1: A check-in desk;
minute 1: A last-minute desk; wash: "WASH BEFORE AND AFTER LUNCH"; minute 2: A last-minute desk;
check-in 2: A check-in desk; printer 2: A printer stands by a door; exit 2: "EXIT";
cafeteria 2: A cafeteria; cafeteria 3: A cafeteria; outside: Outside, a brick wall; bicycle: A bicycle
"""
"""What was seen, or read, for 5 s every 10 s at x = 0, 8, 16 ... m."""


def memory(i: int, name: str, seen: str) -> Memory:
    texts = (seen.strip('"'),) if seen.startswith('"') else ()
    caption = f'Signs and labels that can be read: {seen}.' if texts else f'{seen}.'
    start_ns = T + 10 * i * NS
    return Memory(name, 'r', start_ns, start_ns + 5 * NS, caption, Pose(8.0 * i, 0.0), scene_text=texts)


MEMORIES = [memory(i, *map(str.strip, one.split(':'))) for i, one in enumerate(SEEN.split(';'))]


def ask(text: str, memories: list[Memory] = MEMORIES, now_ns: int = T + 435 * NS) -> Answer:
    question = Question(text, now_ns, here=Pose(155.0, 0.0))
    return OfflinePlanner().answer(question, ListedRecall(memories, embedder_name=OFFLINE), Run(float('inf')))


PLACES = """
Where is 103?                                     | at room 103
Where's the lift                                  | at lift
Robot, where is the exit?                         | at exit 2
WHERE IS THE CAFETERIA?                           | at cafeteria 3
where is Lab 3                                    | at lab 3
Where is B-204?                                   | (perhaps) at B-204
Where is Dr. Ellis?                               | (perhaps) at Ellis
Where is Professor Ellis's office?                | perhaps at Ellis       | "Dr. Ellis"
Where are the stairs in this house?               | (perhaps) at stairs
Where is "Fire exit"?                             | at fire exit
Where is the WAY OUT?                             | (perhaps) at way out
Where is "Wash before and after lunch"?           | at wash
Where is the First Aid kit?                       | (perhaps) at first aid 2
Where is the first-aid kit?                       | at first aid 2
Where did you see the last-minute desk?           | at minute 1
Where did you see the check-in desk?              | at check-in 1
Where was the check-in desk that you saw last?    | at check-in 2
Where did you see the sign 'WAY OUT'?             | (perhaps) at way out
Where did you see the magazine called Computer?   | at magazine
Where can I find coffee?                          | (perhaps) at kitchen 1
Where can I throw something away?                 | (perhaps) at trash can | a place to throw something away
Where was the last door you saw?                  | at printer 2
Where is the furthest exit?                       | at exit 1
Can you drive me to the closest exit?             | at fire exit
Visit all the places where you saw a printer      | each printer 1, printer 2
Go to each of the exits                           | each exit 1, fire exit, exit 2
Where did you see all printers?                   | each printer 1, printer 2
Where is the all-gender toilet?                   | at toilet 2
Please visit the lift                             | at lift
Where were you five minutes ago?                  | at lab 3
Hey robot, could you please bring me to the lift? | at lift
Lead me back to where you saw the bicycle         | at bicycle
navigate to room 103                              | at room 103
I want to go to the lift                          | at lift
I need a printer                                  | at printer 2
I am looking for the lift                         | at lift
I'm looking for the lift                          | at lift
I would like to sit down                          | (perhaps) at magazine
Show me the way to the exit                       | at exit 2
Show me the printer                               | at printer 2
How do I get to room 103?                         | at room 103
How do I get from the lift to the exit?           | perhaps at exit 2
How far is it from here to the lift?              | at lift
How far is the lift from here?                    | at lift
What is the location of the lift?                 | at lift
In which room did you see the red sofa?           | (perhaps) at sofa
find me the nearest toilet                        | at toilet 1
Locate the red sofa                               | at sofa
Do you know where the toilet is?                  | at toilet 2
Can you tell me where the toilet is?              | at toilet 2
I want to know where the toilet is                | at toilet 2
I'm thirsty. Where can I find water?              | (perhaps) at fountain
Where is the trash can?                           | at trash can
i am looking for the trash                        | at trash
Where did you see over 5 tables?                  | (perhaps) at tables
Can you take me to the second floor?              | perhaps at trash
Where is the red fire extinguisher?               | perhaps at fire exit
"""

TIMES = """
When did you last see the EXIT sign?             | when exit 2
When was the last time you saw a toilet?         | when toilet 2
What was the last time you saw a printer?        | when printer 2
Please tell me when you saw the bicycle          | when bicycle
How long ago was it that you saw the bicycle?    | when bicycle
How many minutes ago did you pass room 103?      | when room 103
How long has it been since you saw the lift?     | when lift
How long since you saw the lift?                 | when lift
How much time has passed since you saw the lift? | when lift
At what time did you pass the lift?              | when lift
Could you tell me what time you saw the exit?    | when exit 1
When did you cross the brick wall?               | perhaps when outside | What fits "cross the brick wall"
How long were you in the kitchen?                | (perhaps) 15 s
For how long did you see the red sofa?           | 5 s
How long did you stay near the printer?          | (perhaps) 5 s
How much time did you spend in the kitchen?      | (perhaps) 15 s
How many minutes were you in the kitchen?        | (perhaps) 15 s
How long did we stay in the kitchen?             | (perhaps) 15 s
How long were you in the cafeteria?              | (perhaps) 5 s
How long have you been in the cafeteria?         | (perhaps) 15 s
How long have you been outside?                  | (perhaps) 5 s
"""

YES_OR_NO = """
Is there room 103 in this building?           | (perhaps) yes room 103
Is the bicycle still there?                   | (perhaps) yes bicycle
Did you see a printer anywhere yet?           | (perhaps) yes printer 1
Isn't there a bicycle?                        | yes bicycle
Did you see a printer in the last half hour?  | yes printer 1
Did you see a printer in the last 30 s?       | no
Did you see a bicycle in the last 30 s?       | yes bicycle
Did you see a person between 22:13 and 22:15? | yes person
Did you see a person between 22:15 and 22:16? | no
Have you seen any stairs?                     | yes stairs
Do you remember seeing a bicycle?             | yes bicycle
Can you see a door?                           | yes printer 2
Did you see an 18-wheeler?                    | yes wheeler
Did you see the back of a stop sign?          | yes stop sign
Did you see anything?                         | yes bicycle
Is there trash here?                          | yes trash
Is the printer near here?                     | no
Is the fire exit near here?                   | yes fire exit
Have you been here before?                    | perhaps not seen
Did you see any sign near the lift?           | yes lift
Was a sofa or a box left at the door?         | perhaps not seen
"""

WHATEVER = """
What can be read near the printer?              | (perhaps) text printer 1 | Nothing could be read
What does the sign next to the lift say?        | (perhaps) text lift | "LIFT"
What is written on the door of room 103?        | perhaps text room 103 | "ROOM 103"
What did you see after 22:20?                   | text bicycle, outside, cafeteria 3
What did you see near room 103?                 | text room 103
What is in front of the red sofa?               | (perhaps) text sofa, tables, blue sofa
Which room is next to the lift?                 | (perhaps) text lift, printer 1, person
What did you see while you were in the kitchen? | (perhaps) text kitchen 1, kitchen 2
Describe the kitchen.                           | text kitchen 1, kitchen 2
I want to know what you saw in the kitchen      | text kitchen 1, kitchen 2
How many times did you pass the exit?           | text exit 1, fire exit, exit 2 | 3 times
What did you read in the Times?                 | (perhaps) text exit 2, wash, B-204 ...
Who are you?                                    | perhaps not seen | no question about
What do you do in the morning?                  | perhaps not seen | Nothing is remembered of that time
"""


@pytest.mark.parametrize(('text', 'short', 'said'), rows(PLACES + TIMES + YES_OR_NO + WHATEVER))
def test_a_question_is_answered(text: str, short: str, said: str) -> None:
    assert_told(ask(text), short, said)


@pytest.mark.parametrize('text', ['Where were you at 09:01?', 'What did you see before 9:00?'])
def test_of_a_time_without_memories_nothing_is_told(text: str) -> None:
    assert_told(ask(text), 'perhaps not seen', 'I remember nothing of that time')


NAMED = """
Did you see a person with a dog?                                    | a person with a dog
Where is the red car near the bridge?                               | the red car
Where did you see two red chairs?                                   | two red chairs
Did you see any bicyclists?                                         | bicyclists
Take me to the nearest exit, please                                 | the nearest exit
Have you seen people with umbrellas today?                          | people with umbrellas
Where is "MEETING POINT"?                                           | "MEETING POINT"
When did you last see room 101?                                     | room 101
i am looking for the keys                                           | the keys
Did you see a person holding a door for you to enter the building?  | a person holding a door
Where can I throw something away?                                   | a place to throw something away
When did you cross the brick street?                                | what fits "cross the brick street"
"""


@pytest.mark.parametrize(('text', 'thing', '_'), rows(NAMED))
def test_a_thing_is_called_what_the_asker_calls_it(text: str, thing: str, _: str) -> None:
    assert thing_of(text) == thing


@pytest.mark.parametrize(
    ('be', 'things'),
    [
        ('was', 'a bus with seats, the glass, a man in jeans, room 101'),
        ('were', 'two red chairs, people with dogs, the stairs in the hall, bikes'),
    ],
)
def test_one_or_several_are_meant(be: str, things: str) -> None:
    for thing in things.split(', '):
        seen = Memory('m', 'r', T, T + NS, f'I see {thing}.', Pose(0.0, 0.0))
        assert f'{thing} {be} seen' in ask(f'Where did you see {thing}?', [seen]).text.lower()


@pytest.mark.parametrize(
    ('text', 'names'),
    [
        ('Where is the Lift?', {'lift'}),
        ('Lift', set()),
        ('LIFT', {'lift'}),
        ('Is it there? Rooms are. Lifts are: Doors, Windows', {'lift', 'window'}),
        ('ask Dr. Ellis. Room', {'ellis'}),
        ('- Lift', set()),
        ('_Lift of the_ Printer', {'lift', 'printer'}),
        ('see: _Lift', {'lift'}),
        ("the 'Old Mill'", {'old', 'mill'}),
    ],
)
def test_a_name_has_a_capital_letter_and_does_not_begin_a_sentence(text: str, names: set[str]) -> None:
    assert searched(text).names == names


def test_of_a_pasted_page_the_beginning_says_what_is_searched_for() -> None:
    words = ' '.join(f'word{number} Name{number}' for number in range(1000))
    asked = searched(f'a red chair {words}')
    assert asked.target.startswith('red chair')
    assert len(asked.target) <= MOST_SEARCHED
    assert len(asked.names) < MOST_SEARCHED / 5


FRAGMENTS = st.sampled_from(
    'where|when|how long|ago|did you see|take me to|the|nearest|last|first|room 103|lab 7|"EXIT"|here|go to'
    '|Dr. Ellis|between 9:00 and|5 minutes ago|hey robot,|can you|tell me|i want to|turn left after|what'
    '|is on|the cup|still|before|moved|since|things|did you do|that you put|how often|today|floor|or|than'
    '|more often|longer|nearest to|which room|which rooms|on which day|per day|in each room|never|not|without'
    '|except|the most|fewest|at least 3 times|more than two minutes|and the red one?|how many?'.split('|')
    + list('"\'²Ⅷ١İß?.([\\')
)
PUT = deed(T, T + NS, kind='place', object='cup', receptacle='table', pose=Pose(1.0, 1.0))
OF_ALL_SORTS = [*MEMORIES[:6], *(one.memory for one in ROOM), PUT.memory('r')]


@settings(max_examples=300)
@given(
    st.one_of(st.text(), st.lists(FRAGMENTS, max_size=12).map(' '.join)),
    st.integers(T, MAX_NS),
)
def test_any_text_has_an_answer(text: str, now_ns: int) -> None:
    assert isinstance(ask(text, OF_ALL_SORTS, now_ns).kind, Kind)
    searched(text)


def test_a_digit_without_a_value_counts_nothing() -> None:
    assert isinstance(ask('What were the ² things that you did?', OF_ALL_SORTS).kind, Kind)


@pytest.mark.parametrize(
    'part', ['1:', '10 minutes ago ', 'The Lift ', '5 tables ', '"a ', 'what is on ', 'is it still ']
)
@pytest.mark.parametrize('read', [searched, thing_of, ask])
def test_the_longest_question_is_read_in_a_moment(part: str, read: Callable[[str], object]) -> None:
    seconds = []
    for _ in range(3):  # of which the garbage collector may take one
        began = thread_time()
        read(part * (5_000 // len(part)))
        seconds.append(thread_time() - began)
    assert min(seconds) < 1.0
