"""A simulated place of one's own: two rooms of 4 m by 4 m with a door between, in which all is seen that is
ahead, in the same room and within 3 m."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from remembr_bench.simulation.simulator import Kind, SimulatedThing, nearest_in_room
from remembr_bench.simulation.ways import Ways
from remembr_ros.geometry import Pose, wrap_angle
from remembr_ros.navigation.grid import Grid, Points

HALF_VIEW = math.radians(40.0)


def thing(name: str, x: float, y: float, kind: Kind = 'object', **attributes: str) -> SimulatedThing:
    """Return a thing that is its own id; its last word is its label."""
    return SimulatedThing(name, name, name.rsplit(maxsplit=1)[-1], kind, (x, y, 0.5), room_at(x), attributes)


def room_at(x: float) -> str:
    return 'kitchen' if x < 4.0 else 'study'


class TaskWorld:
    """See remembr_bench.simulation.simulator.Simulator."""

    rooms: Sequence[str] = ('kitchen', 'study')

    def __init__(self, *things: SimulatedThing) -> None:
        cells = np.zeros((80, 160), np.int8)
        cells[:, 79:81] = 100
        cells[:20, 79:81] = 0
        self.grid = Grid(cells, 0.05, Pose(0.0, 0.0))
        self.things: Mapping[str, SimulatedThing] = {one.id: one for one in things}
        self._ways = Ways(self.grid, 0.2)
        self.closed = 0

    def room_at(self, pose: Pose) -> str:
        return room_at(pose.x) if 0.0 <= pose.x <= 8.0 and 0.0 <= pose.y <= 4.0 else ''

    def part_seen(self, pose: Pose, thing: str) -> float:
        one = self.things[thing]
        x, y, _ = one.position
        off = abs(wrap_angle(math.atan2(y - pose.y, x - pose.x) - pose.yaw))
        away = math.dist((x, y), (pose.x, pose.y))
        return 0.01 * (off <= HALF_VIEW and away <= 3.0 and self.room_at(pose) == one.room)

    def viewpoints(self, thing: str) -> Points:
        x, y, _ = self.things[thing].position
        places = self.places()
        return places[np.hypot(*(places - (x, y)).T) <= 1.0]

    def beside(self, thing: str) -> tuple[float, float]:
        return nearest_in_room(thing, self)

    def places(self) -> Points:
        return self._ways.places[self._ways.is_free][::3]

    def metres(self, start: Sequence[float], goals: Points) -> NDArray[np.float64]:
        return self._ways.metres(start, goals)

    def way(self, start: Sequence[float], goal: Sequence[float]) -> list[tuple[float, float]]:
        return self._ways.way(start, goal)

    def close(self) -> None:
        self.closed += 1
