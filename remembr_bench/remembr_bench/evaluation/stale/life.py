"""Days in a home in which people and the robot carry things about, and what the robot remembers of it."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from remembr_bench.evaluation.findingdory.episode import relive
from remembr_bench.evaluation.objects.run import LEVELS
from remembr_bench.simulation.homes.day import GRASP_S, WorkDay
from remembr_bench.simulation.homes.home import Home, Impossible, Item, Placement, Visit, centre_of, name_of
from remembr_bench.simulation.homes.layout import START_NS, HomeMaking, round_through
from remembr_bench.simulation.homes.world import HomeWorld
from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.model.record import CAPTIONER, Memory
from remembr_ros.memory.notes import note
from remembr_ros.timestamps import NS

DAYS, DAY_NS = 4, 24 * 3600 * NS
NOW_NS = START_NS + DAYS * DAY_NS
NIGHT_NS, TELL_NS = 8 * 3600 * NS, 7 * 3600 * NS  # before a visit people change things, and then tell of it
CARRIED, TOLD = 6, 0.5  # things that the robot carries on a day, and how much of the changes people tell
RATE_HZ, FRAMES = 1.0, 3  # of the camera, and of a caption


@dataclass(frozen=True, slots=True)
class ThingStay:
    """From when to when [ns] the middle of a thing was where [m]; None: people had taken it away."""

    place: Point | None
    from_ns: int
    to_ns: int


Stays = Mapping[Item, Sequence[ThingStay]]  # of each thing that looks like no other, in their order
_Moves = dict[int, list[tuple[int, int, Placement | None]]]  # when it left [ns], when it came, where to


def live_days(seed: int) -> tuple[Stays, list[Memory]]:
    """Return where things were and what is remembered: by day the robot tidies up, by night people do."""
    rng, making, notes = random.Random(f'life {seed}'), HomeMaking(random.Random(seed)), []
    world, placed = HomeWorld(making, seed, visit_of(0, making, rng)), making.placed
    moves: _Moves = {n: [(0, START_NS, placed[n])] for n in placed}
    for day in range(DAYS):
        if day:
            world.drives.append(visit_of(day, making, rng))
        for number in rng.sample([number for number in placed if world.carries(number)], CARRIED):
            target = rng.choice([n for n, _ in making.surfaces if n not in (0, placed[number].receptacle)])
            with suppress(Impossible):
                world.carry(number, target, lambda: rng.uniform(*GRASP_S), 60 * NS)
                moves[number].append((world.done[-2].end_ns, world.done[-1].start_ns, placed[number]))
        before, ns = dict(placed), START_NS + (day + 1) * DAY_NS - NIGHT_NS
        making.change()
        for number in sorted(n for n in before.keys() | placed.keys() if placed.get(n) != before.get(n)):
            at, item = placed.get(number), making.items[number - 1]
            moves.setdefault(number, []).append((ns, ns, at))
            text, pose = f'I took the {name_of(item)} away.', None
            if at is not None:
                on = name_of(making.items[at.receptacle - 1]) if at.receptacle else 'floor'
                pose, room = Pose(*centre_of(item, at)), world.room_of(*at.origin[:2])
                text = f'The {name_of(item)} is on the {on} in the {room} now.'
            if rng.random() < TOLD:
                notes.append(note(text, 'robot', ns + TELL_NS + number, existing=lambda _: None, pose=pose))
    return _stays(world.home(), moves), [*_memories(world), *notes]


def visit_of(day: int, making: HomeMaking, rng: random.Random) -> Visit:
    first = rng.randrange(4)
    corners = round_through([*making.rooms[first:], *making.rooms[:first]], rng)
    return Visit(START_NS + day * DAY_NS, dict(making.placed), corners)


def _memories(world: HomeWorld) -> Iterator[Memory]:
    day, lasts_ns = WorkDay(world.home(), tuple(world.done)), round(FRAMES / RATE_HZ * NS)
    episode = relive(day, LEVELS[0], rate_hz=RATE_HZ, frames=FRAMES)
    episode.simulator.close()
    for one in episode.memories:  # between two drives the robot sees nothing
        is_caption, until_ns = one.source == CAPTIONER, one.start_ns + lasts_ns
        yield replace(one, end_ns=min(one.end_ns, until_ns)) if is_caption else one


def _stays(home: Home, moves: _Moves) -> Stays:
    looks, stays = Counter(map(name_of, home.items)), {}
    for item in home.items:
        if item.kind == 'small' and item.label != 'plant' and looks[name_of(item)] == 1:
            left_ns, came_ns, spots = zip(*moves[item.number], strict=True)
            places = [None if at is None else centre_of(item, at) for at in spots]
            stays[item] = [*map(ThingStay, places, came_ns, (*left_ns[1:], NOW_NS))]
    return stays
