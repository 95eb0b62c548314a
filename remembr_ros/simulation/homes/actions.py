"""What a robot can do to the things of a home, and what it did."""

from dataclasses import dataclass

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose

OPENS = ('fridge', 'drawer')
MOVABLE = {'box': ('cup', 'bowl', 'book', 'apple', 'clock', 'candle'), 'bowl': ('apple', 'candle')}
"""What can be carried with other things in it, and what fits in."""
ACTIONS = {
    'slice': ('apple',),
    'light': ('candle',),
    'water': ('plant',),
    'fill': ('cup', 'bottle', 'vase'),
    'switch on': ('toaster', 'laptop', 'lamp'),
}
"""What else the robot does to what."""


class Impossible(InvalidRequest):
    """What the robot was to do cannot be done there and then."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """The robot did something to a thing.

    :param kind: pick, place, open, close, or one of ACTIONS
    :param item: number of the thing
    :param receptacle: number of what it was taken from, or put on or into, or stands on; 0: there is none
    :param start_ns: nanoseconds since the Unix epoch
    :param pose: of the robot meanwhile
    :param travelled: way to there, from where the robot stood before [m]
    """

    kind: str
    item: int
    receptacle: int
    room: str
    start_ns: int
    end_ns: int
    pose: Pose
    travelled: float


@dataclass(frozen=True, slots=True)
class Act:
    """Something that the robot did, as it can be done again.

    :param do: go, pick, place, open, close, or one of ACTIONS
    :param thing: its number; of place, that of what something was put on or into; of go 0
    :param at: of go where to, x and y; of place where it was put, x, y and z [m]
    :param towards: what it turned to after a drive
    :param turns: how often it turned round then
    """

    do: str
    thing: int = 0
    at: tuple[float, ...] = ()
    towards: tuple[float, ...] = ()
    turns: int = 0
