"""What may happen before a parked robot: each would be asked for later."""

from dataclasses import dataclass

from test.simulated.parked_view import Wordings


@dataclass(frozen=True, slots=True)
class Happening:
    """One kind of event.

    :param wordings: how a captioner says it
    :param question: a search that looks for it
    :param segments: how long it lasts, least and most
    :param dark: nothing else can be seen meanwhile
    :param text: what can be read on it; empty: nothing
    """

    wordings: Wordings
    question: str
    segments: tuple[int, int]
    dark: bool = False
    text: str = ''


HAPPENINGS = (
    Happening(
        (
            'A person in a red jacket walks past.',
            'A person wearing a red jacket is walking by.',
            'Someone in a red jacket passes the robot.',
        ),
        'person in a red jacket',
        (1, 3),
    ),
    Happening(
        (
            'A man pushes a cart with boxes through the scene.',
            'A man is pushing a cart loaded with boxes.',
        ),
        'man pushing a cart',
        (2, 4),
    ),
    Happening(
        ('The lights are off and the room is dark.', 'The room is dark because the lights are switched off.'),
        'When was the light off?',
        (40, 400),
        dark=True,
    ),
    Happening(
        (
            'A large cardboard box stands in the middle of the floor.',
            'In the middle of the floor there is a large cardboard box.',
        ),
        'large cardboard box on the floor',
        (20, 300),
    ),
    Happening(
        ('A brown dog runs across the floor.', 'A brown dog is running through the scene.'),
        'dog',
        (1, 2),
    ),
    Happening(
        (
            'Two women stand and talk to each other.',
            'Two women are standing together and having a conversation.',
        ),
        'two women talking to each other',
        (10, 60),
    ),
    Happening(
        ('A cleaner mops the floor.', 'A cleaning worker is mopping the floor.'),
        'cleaner mopping the floor',
        (10, 40),
    ),
    Happening(
        ('A puddle of water has formed on the floor.', 'There is a puddle of spilled water on the floor.'),
        'water spilled on the floor',
        (60, 200),
    ),
    Happening(
        (
            'A yellow warning sign stands on the floor.',
            'There is a yellow warning sign placed on the floor.',
        ),
        'wet floor warning sign',
        (60, 200),
        text='CAUTION WET FLOOR',
    ),
    Happening(
        ('A ladder leans against the wall.', 'There is a ladder leaning on the wall.'),
        'ladder',
        (100, 400),
    ),
    Happening(
        ('A woman with an umbrella comes in.', 'A woman carrying an umbrella is entering.'),
        'woman with an umbrella',
        (1, 3),
    ),
    Happening(
        ('A child rides a scooter.', 'A child on a scooter is riding past.'),
        'child on a scooter',
        (1, 3),
    ),
    Happening(
        (
            'Smoke rises from a machine in the background.',
            'In the background, smoke is coming out of a machine.',
        ),
        'smoke',
        (5, 20),
    ),
    Happening(
        ('A drone hovers in the air.', 'A small drone is flying in the air.'),
        'drone flying',
        (2, 5),
    ),
    Happening(
        ('A delivery robot drives by.', 'Another robot, carrying a parcel, drives past.'),
        'another robot delivering a parcel',
        (2, 4),
    ),
    Happening(
        (
            'A man in a wheelchair waits in front of the robot.',
            'In front of the robot, a man sits in a wheelchair.',
        ),
        'man in a wheelchair',
        (5, 30),
    ),
)
