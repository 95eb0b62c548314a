"""What is true of an episode: what was handled, in which order, what nobody touched, and how long the robot
was where."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from remembr_bench.simulation.homes.home import Interaction
from remembr_bench.simulation.simulator import Simulator
from remembr_ros.geometry import Pose
from remembr_ros.timestamps import NS


@dataclass(frozen=True, slots=True)
class Handling:
    """A thing was picked, and put elsewhere.

    :param thing: id; source and target: of the receptacles that it was taken from and put on
    """

    thing: str
    source: str
    target: str
    picked: Interaction
    placed: Interaction

    @property
    def seconds(self) -> float:
        """How long it took from the begin of the pick to the end of the place [s]."""
        return (self.placed.end_ns - self.picked.start_ns) / NS


@dataclass(frozen=True)
class EpisodeTruth:
    """What instructions are made from.

    :param handled: in the order of time
    :param known: ids of the things that the robot saw
    :param stays_s: how long the robot was in each room that it entered [s]
    :param here: where it stands when it is asked
    """

    simulator: Simulator
    handled: Sequence[Handling]
    known: frozenset[str]
    stays_s: Mapping[str, float]
    here: Pose

    @property
    def touched(self) -> list[str]:
        """The objects that were handled, each once, in their order."""
        return list(dict.fromkeys(one.thing for one in self.handled))

    @property
    def sources(self) -> list[str]:
        """What things were picked from, each once, in that order."""
        return list(dict.fromkeys(one.source for one in self.handled))

    @property
    def targets(self) -> list[str]:
        """What things were put on, each once, in that order."""
        return list(dict.fromkeys(one.target for one in self.handled))

    @property
    def used(self) -> list[str]:
        """The receptacles that were used, each once, in that order."""
        return list(dict.fromkeys(r for one in self.handled for r in (one.source, one.target)))

    @property
    def objects(self) -> list[str]:
        """The objects that the robot saw; as receptacles."""
        return self._known('object')

    @property
    def receptacles(self) -> list[str]:
        return self._known('receptacle')

    @property
    def untouched(self) -> list[str]:
        """The objects that it saw and did not handle; unused receptacles as well."""
        return [thing for thing in self.objects if thing not in self.touched]

    @property
    def unused(self) -> list[str]:
        return [receptacle for receptacle in self.receptacles if receptacle not in self.used]

    def _known(self, kind: str) -> list[str]:
        things = self.simulator.things.values()
        return [thing.id for thing in things if thing.kind == kind and thing.id in self.known]

    def name(self, thing: str) -> str:
        return self.simulator.things[thing].name

    def label(self, thing: str) -> str:
        return self.simulator.things[thing].label

    def once(self) -> list[int]:
        """Return which handlings are of a thing that was handled once, and that no other one is called as."""
        times = Counter(self.name(one.thing) for one in self.handled)
        return [i for i, one in enumerate(self.handled) if times[self.name(one.thing)] == 1]

    def away_m(self, thing: str) -> float:
        """Return how far it is to drive to a thing from here [m]."""
        at = np.array([self.simulator.beside(thing)])
        return float(self.simulator.metres((self.here.x, self.here.y), at)[0])
