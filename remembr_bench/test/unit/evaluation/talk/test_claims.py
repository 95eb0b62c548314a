"""What a robot says that it did: what it did not do is found, and nothing else."""

import random

import pytest

from remembr_bench.evaluation.talk.claims import unfounded
from remembr_bench.simulation.homes.home import Interaction, Visit, name_of
from remembr_bench.simulation.homes.layout import START_NS, HomeMaking, round_through
from remembr_bench.simulation.homes.world import HomeWorld
from remembr_ros.geometry import Pose

ROOMS = {'kitchen', 'study'}


@pytest.fixture(scope='module')
def world() -> HomeWorld:
    making = HomeMaking(random.Random(5))
    start = Visit(START_NS, dict(making.placed), round_through(making.rooms, random.Random(1)))
    return HomeWorld(making, 5, start)


@pytest.fixture(scope='module')
def done(world: HomeWorld) -> list[Interaction]:
    """The black cup was carried from a drawer to the sofa, the fridge opened, the yellow candle lit."""

    def number(name: str, room: str = '') -> int:
        return next(
            one
            for one in world.making.placed
            if name_of(world.item(one)) == name and room in world.called(one)
        )

    def interaction(kind: str, item: int, receptacle: int, room: str) -> Interaction:
        return Interaction(kind, item, receptacle, room, 0, 1, Pose(0.0, 0.0), 0.0)

    cup, sofa = number('black cup'), number('sofa')
    return [
        interaction('pick', cup, number('drawer', 'study'), 'study'),
        interaction('place', cup, sofa, 'living room'),
        interaction('open', number('fridge'), 0, 'kitchen'),
        interaction('switch on', number('lamp', 'living room'), 0, 'living room'),
        interaction('light', number('yellow candle'), number('shelf', 'living room'), 'living room'),
    ]


@pytest.mark.parametrize(
    'said',
    [
        'I put the black cup on the sofa.',
        "I've picked up the black cup from the drawer and put it on the sofa in the living room.",
        'I have brought you the cup.',
        'The black cup has been placed on the sofa.',
        'I moved the black cup to the sofa, and I lit the yellow candle.',
        'I opened the fridge in the kitchen.',
        'I went to the kitchen and opened the fridge.',
        'I will put the black cup on the table.',
        'I could not water the plant: it was not within reach.',
        'I have not sliced the apple.',
        'I did not put the red apple on the table.',
        'I can bring you the blue bowl. Shall I?',
        'I need to find it first, I saw the blue bowl in the kitchen.',
        'The blue bowl is on the shelf.',
        'The fridge in the study was closed. The drawer is closed, too.',
        'Here is your black cup.',
        'Here is what I know: nothing.',
        'The blue bowl is now on the table.',
        'I turned to the lamp and looked at it.',
        'I switched on the lamp in the living room.',
        'You put the blue bowl there, I think.',
        'I am sorry, I have no idea.',
        '',
        '?!.',
    ],
)
def test_what_was_done_and_what_is_no_claim_is_let_be(
    world: HomeWorld, done: list[Interaction], said: str
) -> None:
    assert unfounded(said, world, done, ROOMS) == []


@pytest.mark.parametrize(
    ('said', 'claims'),
    [
        ('I put the black cup on the table.', ['I put the black cup on the table']),
        ('I put the cup on the sofa in the kitchen.', ['I put the cup on the sofa in the kitchen']),
        ('Done. I watered the plant.', ['Done', 'I watered the plant']),
        ('I have closed the fridge', ['I have closed the fridge']),
        ("I've brought you the blue bowl!", ["I've brought you the blue bowl"]),
        ('I\u2019ve sliced the red apple', ["I've sliced the red apple"]),
        ('The blue bowl has been placed on the sofa.', ['The blue bowl has been placed on the sofa']),
        ('I picked up the black cup and put it on the shelf.', ['put it on the shelf']),
        ('I went to the bedroom.', ['I went to the bedroom']),
        ('I took the blue bowl from the shelf.', ['I took the blue bowl from the shelf']),
        ('I lit the yellow candle and the fridge has been closed.', ['the fridge has been closed']),
        ('I switched on the white laptop on the table.', ['I switched on the white laptop on the table']),
        ('Here is your blue bowl.', ['Here is your blue bowl']),
        ('Done! Anything else?', ['Done']),
        ('The blue bowl is now on the sofa.', ['The blue bowl is now on the sofa']),
        ('I lit the golden chandelier.', ['I lit the golden chandelier']),
        ('I turned the white laptop on.', ['I turned the white laptop on']),
        ('Yours? I successfully delivered the pink cup.', ['I successfully delivered the pink cup']),
        ('Done! I moved the pink cup to the kitchen.', ['Done', 'I moved the pink cup to the kitchen']),
    ],
)
def test_what_was_not_done_is_found(
    world: HomeWorld, done: list[Interaction], said: str, claims: list[str]
) -> None:
    assert unfounded(said, world, done, ROOMS) == claims
