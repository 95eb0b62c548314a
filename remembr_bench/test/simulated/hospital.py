"""A hospital of two floors, as its porters see it: places, what stands there, what is moved in a month."""

from dataclasses import dataclass

from remembr_ros.geometry import Point

FLOORS = ('floor-1', 'floor-2')
CORRIDOR_Y = 10.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a robot stays.

    :param at: in the map frame [m]
    :param openings: a caption's first sentence is one of these
    :param details: and two of these may follow
    :param signs: what can be read there
    """

    name: str
    map_id: str
    at: Point
    openings: tuple[str, ...]
    details: tuple[str, ...]
    signs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Thing:
    """What is at one place at a time.

    :param sentence: how it is captioned; {} is where it is
    :param where: from which day of the month (1 is the first) at which place; None: nowhere
    """

    name: str
    sentence: str
    where: tuple[tuple[int, str | None], ...]

    def place(self, day: int) -> str | None:
        """Return the name of the place where it is on a day."""
        return next((place for first, place in reversed(self.where) if day >= first), None)


@dataclass(frozen=True, slots=True)
class Note:
    """What a person asked a robot to remember."""

    text: str
    robot: str
    day: int
    hour: int
    place: str


PLACES = (
    Place(
        'reception',
        'floor-1',
        (4.0, 6.0, 0.0),
        ('The robot stands in front of the reception desk.', 'A long reception desk is in view.'),
        (
            'A white printer stands on the reception desk.',
            'A bus timetable hangs on the wall.',
            'A row of grey chairs faces the desk.',
            'A rubber plant grows in a pot.',
        ),
        ('RECEPTION',),
    ),
    Place(
        'room 117',
        'floor-1',
        (14.0, 15.0, 0.0),
        ('The robot is in a patient room with two beds.', 'Two beds stand by a window.'),
        (
            'A curtain hangs between the beds.',
            'A picture of a dog hangs over the bed.',
            'A jug of water stands on a night table.',
        ),
        ('ROOM 117',),
    ),
    Place(
        'room 133',
        'floor-1',
        (30.0, 15.0, 0.0),
        ('The robot is in a treatment room.', 'A small treatment room with an examination couch is shown.'),
        (
            'A sink is fixed to the tiled wall.',
            'A cabinet with glass doors is closed.',
            'A lamp on a long arm hangs over the couch.',
        ),
        ('ROOM 133',),
    ),
    Place(
        'kitchen',
        'floor-1',
        (38.0, 6.0, 0.0),
        ('The robot stands in a large kitchen.', 'Steel counters of a kitchen are in view.'),
        (
            'A coffee machine stands on the counter.',
            'A dishwasher is open.',
            'Pots hang over the stove.',
            'A fire blanket hangs beside the door.',
        ),
        ('KITCHEN', 'STAFF ONLY'),
    ),
    Place(
        'lift',
        'floor-1',
        (22.0, 12.0, 0.0),
        ('The robot waits in front of a lift.', 'A closed lift door of steel is in view.'),
        ('A panel with two buttons is beside the door.', 'A fire extinguisher hangs beside the lift.'),
        ('LIFT',),
    ),
    Place(
        'dock',
        'floor-1',
        (4.0, 15.0, 0.0),
        ('The robot is at its charging station.', 'The robot charges, a white wall is in front of it.'),
        ('A cable lies on the floor.', 'A socket with a green light is on the wall.'),
    ),
    Place(
        'lift upstairs',
        'floor-2',
        (22.0, 12.0, 0.0),
        ('The robot waits in front of a lift.', 'A closed lift door of steel is in view.'),
        ('A panel with two buttons is beside the door.', 'A window shows the car park.'),
        ('LIFT', 'FLOOR 2'),
    ),
    Place(
        'room 214',
        'floor-2',
        (12.0, 15.0, 0.0),
        ('The robot is in a patient room with one bed.', 'A single bed stands in a bright room.'),
        (
            'A television hangs on the wall.',
            'A vase with tulips stands on the sill.',
            'A blue armchair is empty.',
        ),
        ('ROOM 214',),
    ),
    Place(
        "nurses' station",
        'floor-2',
        (32.0, 6.0, 0.0),
        ("The robot stands at a nurses' station.", 'A counter with two monitors and a telephone is in view.'),
        (
            'A whiteboard with names hangs behind the counter.',
            'A first aid box hangs on the wall.',
            'A water cooler hums in the corner.',
        ),
        ('WARD B',),
    ),
    Place(
        'store room',
        'floor-2',
        (40.0, 15.0, 0.0),
        ('The robot is between the shelves of a store room.', 'Shelves with boxes fill a narrow room.'),
        ('Folded sheets lie on a shelf.', 'An oxygen bottle stands in a rack.', 'A mop leans in the corner.'),
        ('STORE',),
    ),
    Place(
        'dock upstairs',
        'floor-2',
        (4.0, 15.0, 0.0),
        ('The robot is at its charging station.', 'The robot charges, a white wall is in front of it.'),
        ('A cable lies on the floor.', 'A socket with a green light is on the wall.'),
    ),
)

CORRIDORS = {
    'floor-1': (
        'A long corridor with a blue floor lies ahead.',
        'The robot drives along a corridor with handrails.',
        'Doors on both sides of a corridor are closed.',
    ),
    'floor-2': (
        'A corridor with a green floor lies ahead.',
        'The robot drives past the doors of a ward.',
        'A bright corridor with windows is shown.',
    ),
}
PASSED = {
    ('floor-1', 4): ('A notice board is covered with papers.', ()),
    ('floor-1', 7): ('An arrow on the wall points to the left.', ('ROOM 117',)),
    ('floor-1', 14): ('A red fire extinguisher hangs on the wall.', ()),
    ('floor-1', 16): ('A glass door leads to the garden.', ('EXIT',)),
    ('floor-2', 6): ('An arrow on the wall points to the right.', ('ROOM 214',)),
    ('floor-2', 9): ('A fire extinguisher hangs next to a hose.', ()),
    ('floor-2', 18): ('A fire door is held open by a magnet.', ('FIRE DOOR', 'KEEP CLEAR')),
}
"""What is at the corridor, by map and by half the x [m]: a sentence, and what can be read."""

THINGS = (
    Thing(
        'brown parcel',
        'A brown parcel lies on the floor {}.',
        ((2, 'reception'), (6, 'lift'), (13, 'room 214'), (21, 'store room')),
    ),
    Thing(
        'blue trolley',
        'A blue trolley stands {}.',
        ((1, 'kitchen'), (9, 'room 117'), (17, 'kitchen'), (26, "nurses' station")),
    ),
    Thing(
        'red trolley', 'A red trolley with sheets is parked {}.', ((1, 'store room'), (15, 'lift upstairs'))
    ),
    Thing(
        'wheelchair',
        'A folded wheelchair stands {}.',
        ((1, 'room 117'), (11, 'reception'), (24, "nurses' station")),
    ),
    Thing('stepladder', 'A stepladder stands {}.', ((9, 'room 133'), (12, None))),
    Thing(
        'yellow bucket', 'A yellow bucket is {}.', ((14, 'room 133'), (17, None), (23, 'kitchen'), (24, None))
    ),
    Thing('black umbrella', 'A black umbrella leans against the wall {}.', ((19, 'reception'), (20, None))),
    Thing('suitcase', 'A large suitcase stands {}.', ((5, 'room 214'), (10, None))),
)

BESIDE = {
    'reception': 'beside the desk',
    'room 117': 'beside the window',
    'room 133': 'under the sink',
    'kitchen': 'beside the counter',
    'lift': 'beside the lift',
    'lift upstairs': 'in front of the lift',
    'room 214': 'at the foot of the bed',
    "nurses' station": 'in front of the counter',
    'store room': 'between the shelves',
}

PEOPLE = (
    'A nurse in blue walks by.',
    'A doctor in a white coat talks on the phone.',
    'A woman pushes an empty bed.',
    'An old man with a walking stick waits.',
    'A cleaner wipes the floor.',
)

NOTES = (
    Note('The spare key hangs behind the reception desk.', 'porter-1', 3, 9, 'reception'),
    Note('There is a leak under the sink in room 133.', 'porter-1', 14, 8, 'room 133'),
    Note('The defibrillator was taken away for repair.', 'porter-3', 18, 15, "nurses' station"),
    Note('Mrs Ogawa in room 214 must not be woken before nine.', 'porter-2', 22, 7, 'room 214'),
)

ROUNDS = {
    'porter-1': ('dock', 'reception', 'room 117', 'room 133', 'kitchen', 'lift'),
    'porter-2': ('dock', 'kitchen', 'reception', 'lift upstairs', 'room 214', 'store room'),
    'porter-3': ('dock upstairs', 'room 214', "nurses' station", 'store room', 'lift upstairs'),
}
"""Where each robot goes; the first is where it charges."""
