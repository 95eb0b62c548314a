import pytest

from remembr_ros.agent.agent import Agent, Naming, name_said
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.place import NamedPlace, place
from remembr_ros.timestamps import NS
from test.unit.agent.listed_recall import ListedRecall

NOW = 1_700_000_000 * NS
HERE = Pose(1.0, 2.0)
SEEN = Memory('a', 'r', NOW - NS, NOW, 'A cup on the table.', HERE)


@pytest.mark.parametrize(
    ('text', 'name'),
    [
        ('This is room 315.', 'room 315'),
        ('this is the kitchen', 'kitchen'),
        ("Robot, this is Anna's office!", "Anna's office"),
        ('This room is called the lab', 'lab'),
        ('We are in the storage now.', 'storage'),
        ('You are at the charging dock', 'charging dock'),
        ('please call this place break room', 'break room'),
        ('Remember this spot as meeting point', 'meeting point'),
        ('name this library', 'library'),
        ('This is a cup.', ''),
        ('This is great!', ''),
        ('This is wrong', ''),
        ('You are in the way!', ''),
        ('We are in trouble.', ''),
        ('This is not the kitchen.', ''),
        ('This is my cup', ''),
        ('this is the cup that I left here this morning', ''),
        ('Is this the kitchen?', ''),
        ('This is the kitchen?', ''),
        ('What is this?', ''),
        ('Where is the kitchen?', ''),
        ('', ''),
    ],
)
def test_what_gives_a_name(text: str, name: str):
    assert name_said(text) == name


def ask(text: str, naming: Naming | None, here: Pose | None = HERE) -> Answer:
    agent = Agent(ListedRecall([SEEN]), [OfflinePlanner()], naming=naming)
    return agent.ask(Question(text, NOW, here))


def test_the_place_is_stored_and_said():
    named: list[NamedPlace] = []

    def naming(name: str, question: Question) -> NamedPlace:
        named.append(place(name, center=question.here.position, radius=2.0))
        return named[-1]

    answer = ask('This is the kitchen.', naming)
    assert (answer.kind, answer.text) == (Kind.TEXT, 'This is the kitchen now: what is within 2 m.')
    assert (answer.planner, answer.evidence[0].memory) == ('naming', named[0].memory)
    assert named[0].name == 'kitchen'
    assert ask('Where is the cup?', naming).kind is Kind.POSITION
    assert len(named) == 1


def test_what_cannot_be_named_is_told():
    def naming(name: str, question: Question) -> NamedPlace:
        raise InvalidRequest('there is a place called so already')

    answer = ask('This is the kitchen.', naming)
    assert (answer.kind, answer.text) == (
        Kind.NOT_SEEN,
        'I cannot call this the kitchen: there is a place called so already.',
    )
    answer = ask('This is the kitchen.', naming, here=None)
    assert answer.text == 'I do not know where I am, so I cannot call that the kitchen.'


def test_who_cannot_name_takes_it_for_a_question():
    assert ask('This is the kitchen.', None).planner == 'offline'
