"""Days in a home in which people and the robot carry things about, and what the robot remembers of it."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from remembr_bench.evaluation.findingdory.episode import relive
from remembr_bench.evaluation.objects.run import LEVELS
from remembr_bench.simulation.homes.day import GRASP_S, WorkDay
from remembr_bench.simulation.homes.home import Impossible, Item, Placement, Visit, centre_of, name_of
from remembr_bench.simulation.homes.layout import START_NS, HomeMaking, round_through
from remembr_bench.simulation.homes.world import HomeWorld
from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.model.record import CAPTIONER, Memory
from remembr_ros.memory.notes import note
from remembr_ros.timestamps import NS

DAYS, DAY_NS = 4, 24 * 3600 * NS
NOW_NS = START_NS + DAYS * DAY_NS
CHANGE_NS, TELL_NS = -8 * 3600 * NS, -3600 * NS  # before the next visit: what people do, and say
CARRIED, TOLD = 6, 0.5  # things that the robot carries on a day, and how much of the changes people tell
RATE_HZ, FRAMES = 1.0, 3  # of the camera, and of a caption


@dataclass(frozen=True, slots=True)
class ThingStay:
    """From when to when [ns] the middle of a thing was where [m]; None: people had taken it away."""

    place: Point | None
    from_ns: int
    to_ns: int


Stays = Mapping[Item, Sequence[ThingStay]]
"""Of each thing that looks like no other its stays, in their order."""
_Moves = dict[int, list[tuple[int, int, Placement | None]]]  # when it left [ns], when it came, where to


def live_days(seed: int) -> tuple[Stays, list[Memory]]:
    """Return where things were and what is remembered: by day the robot tidies up, by night people do.

    :raises RemembrError: pyvista is not installed
    """
    rng, making = random.Random(f'life {seed}'), HomeMaking(random.Random(seed))
    world, notes = HomeWorld(making, seed, _visit(0, making, rng)), []
    placed = making.placed
    moves: _Moves = {n: [(0, START_NS, placed[n])] for n in placed}
    for day in range(DAYS):
        if day:
            world.drives.append(_visit(day, making, rng))
        for number in rng.sample([number for number in placed if world.carries(number)], CARRIED):
            target = rng.choice([n for n, _ in making.surfaces if n not in (0, placed[number].receptacle)])
            with suppress(Impossible):
                world.carry(number, target, lambda: rng.uniform(*GRASP_S), 60 * NS)
                moves[number].append((world.done[-2].end_ns, world.done[-1].start_ns, placed[number]))
        before, next_ns = dict(placed), START_NS + (day + 1) * DAY_NS
        making.change()
        for number in sorted(n for n in before.keys() | placed.keys() if placed.get(n) != before.get(n)):
            ns, at = next_ns + CHANGE_NS, placed.get(number)
            moves.setdefault(number, []).append((ns, ns, at))
            if rng.random() < TOLD:
                notes.append(_told(number, at, world, next_ns + TELL_NS + number * NS))
    return _remembered(world, moves, notes)


def _visit(day: int, making: HomeMaking, rng: random.Random) -> Visit:
    first = rng.randrange(4)
    corners = round_through([*making.rooms[first:], *making.rooms[:first]], rng)
    return Visit(START_NS + day * DAY_NS, dict(making.placed), corners)


def _told(number: int, at: Placement | None, world: HomeWorld, ns: int) -> Memory:
    """Return what a person says of a change."""
    text, pose = f'I took the {name_of(world.item(number))} away.', None
    if at is not None:
        pose = Pose(*centre_of(world.item(number), at))
        on = name_of(world.item(at.receptacle)) if at.receptacle else 'floor'
        text = f'The {name_of(world.item(number))} is on the {on} in the {world.room_of(pose.x, pose.y)} now.'
    return note(text, 'robot', ns, existing=lambda _: None, pose=pose)


def _remembered(world: HomeWorld, moves: _Moves, notes: list[Memory]) -> tuple[Stays, list[Memory]]:
    home, lasts_ns = world.home(), round(FRAMES / RATE_HZ * NS)
    episode = relive(WorkDay(home, tuple(world.done)), LEVELS[0], rate_hz=RATE_HZ, frames=FRAMES)
    episode.simulator.close()
    memories = [
        replace(one, end_ns=min(one.end_ns, one.start_ns + lasts_ns)) if one.source == CAPTIONER else one
        for one in episode.memories  # between two drives the robot sees nothing
    ]
    looks, stays = Counter(map(name_of, home.items)), {}
    for item in home.items:
        if item.kind == 'small' and item.label != 'plant' and looks[name_of(item)] == 1:
            ends_ns = [*(left_ns for left_ns, _, _ in moves[item.number][1:]), NOW_NS]
            stays[item] = [
                ThingStay(None if at is None else centre_of(item, at), came_ns, end_ns)
                for (_, came_ns, at), end_ns in zip(moves[item.number], ends_ns, strict=True)
            ]
    return stays, [*memories, *notes]
