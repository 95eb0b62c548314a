"""What tasks want of a simulator: things, rooms, what is seen from where, and ways. One is the homes' own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point, Pose
from remembr_ros.navigation.grid import Grid, Points

Kind = Literal['object', 'receptacle', 'other']


@dataclass(frozen=True, slots=True)
class SimulatedThing:
    """A thing in a simulated place.

    :param id: unique there
    :param name: what tells it from others, such as 'red cup'; several may have one name
    :param label: what it is: 'cup'
    :param kind: receptacle: other things can be put on or in it
    :param position: its middle, in the map frame [m]
    :param room: the name of its room
    :param attributes: more that is true of it by the name of the attribute, such as colour: red
    """

    id: str
    name: str
    label: str
    kind: Kind
    position: Point
    room: str
    attributes: Mapping[str, str] = field(default_factory=dict)


class Simulator(Protocol):
    """A place at one moment. Poses are of the robot's base_link, lengths in metres, in the map frame."""

    @property
    def things(self) -> Mapping[str, SimulatedThing]:
        """All things, by id."""

    @property
    def rooms(self) -> Sequence[str]:
        """The names of the rooms."""

    @property
    def grid(self) -> Grid:
        """The map that the robot drives by."""

    def room_at(self, pose: Pose) -> str:
        """Return the name of the room that a pose is in; empty: it is in none."""

    def part_seen(self, pose: Pose, thing: str) -> float:
        """Return which part of the pixels shows a thing to a robot that stands so, 0 to 1."""

    def viewpoints(self, thing: str) -> Points:
        """Return where the robot can stand near a thing and see it, shape (n, 2)."""

    def beside(self, thing: str) -> tuple[float, float]:
        """Return where the robot can be nearest to a thing; see :func:`nearest_in_room`."""

    def places(self) -> Points:
        """Return where the robot can stand, as a lattice, shape (n, 2)."""

    def metres(self, start: Sequence[float], goals: Points) -> NDArray[np.float64]:
        """Return how far the robot drives to each of some places; infinite where no way leads."""

    def way(self, start: Sequence[float], goal: Sequence[float]) -> list[tuple[float, float]]:
        """Return the corners of the shortest way, start and goal among them; empty: there is none."""

    def close(self) -> None:
        """Let go of what it holds; what is asked of it later takes it again."""


def nearest_in_room(thing: str, simulator: Simulator) -> tuple[float, float]:
    """Return where the robot can be nearest to a thing, in its room: nothing is near through a wall.

    Not in a corner that furniture cuts off, from where it could not get to half of the room.
    """
    one, places = simulator.things[thing], simulator.places()
    inside = places[[simulator.room_at(Pose(x, y)) == one.room for x, y in places.tolist()]]
    places = inside if len(inside) else places
    nearest = places[np.argsort(np.hypot(*(places - one.position[:2]).T))].tolist()
    x, y = next((at for at in nearest if np.isfinite(simulator.metres(at, places)).mean() >= 0.5), nearest[0])
    return x, y
