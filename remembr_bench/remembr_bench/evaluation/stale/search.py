"""A thing was moved since it was seen: how far a robot that searches for it drives, and an oracle that knows
where things can be put."""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain, islice
from tempfile import TemporaryDirectory
from typing import Any

from remembr_bench.evaluation.findingdory.episode import ROBOT, relive
from remembr_bench.evaluation.objects.run import LEVELS
from remembr_bench.evaluation.stale.life import FRAMES, RATE_HZ, visit_of
from remembr_bench.simulation.homes.catalogue import ON_FURNITURE
from remembr_bench.simulation.homes.day import WorkDay
from remembr_bench.simulation.homes.home import Item, Visit, centre_of, name_of
from remembr_bench.simulation.homes.home_simulator import VISIBLE_PART, HomeSimulator
from remembr_bench.simulation.homes.layout import HomeMaking
from remembr_bench.simulation.simulator import nearest_in_room
from remembr_ros.agent.arrival import MOST_PLACES, WAY_M, errand_of, likely_places
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import GoalRejected
from remembr_ros.geometry import Pose, distance
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.opening import open_store
from remembr_ros.navigation.plan import Rules, looking_round, plan_goals
from remembr_ros.navigation.route import shortest_order
from remembr_ros.navigation.terrain import Terrain

STEP_M, NEAR_M = 0.5, 0.3  # between two looks on the way, and between what was seen and where it was


def search_home(seed: int) -> dict[str, Any]:
    """Return whether a thing that was moved was found, and after which way [m]; the same of the oracle.

    :raises RemembrError: pyvista is not installed
    """
    rng, making = random.Random(f'search {seed}'), HomeMaking(random.Random(seed))
    before = visit_of(0, making, rng)
    episode = relive(WorkDay(making.home(seed, [before]), ()), LEVELS[0], rate_hz=RATE_HZ, frames=FRAMES)
    episode.simulator.close()
    item, known = rng.choice(_movable(making, known_objects(episode.memories)))
    while (spot := making.spot(item)) is None or not spot.receptacle:
        pass
    making.placed[item.number] = spot
    moved = making.home(seed, [Visit(before.start_ns, dict(making.placed), before.corners)])
    with (
        TemporaryDirectory() as folder,
        open_store(f'{folder}/memory.db', HashingEmbedder()) as store,
        closing(HomeSimulator(moved)) as home,
    ):
        store.add([Observation(memory) for memory in episode.memories])
        terrain, errand = Terrain(map=home.grid), errand_of('', known.memory, ROBOT)
        start = _goals([known.memory], terrain)[0]
        places = likely_places(errand, store, start, way_m=WAY_M)
        ours = _drive(home, item, start, looking_round(start, _goals(islice(places, MOST_PLACES), terrain)))
        held = before.placements[item.number].receptacle
        surfaces = sorted({number for number, _ in making.surfaces} - {0, held})
        stands = [nearest_in_room(str(number), home) for number in surfaces]
        order = shortest_order(stands, (start.x, start.y))
        facing = (_facing(stands[i], home.things[str(surfaces[i])].position) for i in order)
        best = _drive(home, item, start, ([pose] for pose in facing))
    return {'home': seed, 'thing': name_of(item), 'found': ours[0], 'way': ours[1], 'oracle_way': best[1]}


def search_figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the share of things found, and the way to all of them as a part of the oracle's."""
    ours, oracle = (sum(row[way] for row in rows) for way in ('way', 'oracle_way'))
    return {
        'asked': len(rows),
        'found': sum(row['found'] for row in rows) / len(rows),
        'of_oracle': ours / oracle,
    }


def _movable(making: HomeMaking, known: Sequence[KnownObject]) -> list[tuple[Item, KnownObject]]:
    """Return what can be moved and is known by a look that no other thing has."""
    looks = [name_of(item) for item in making.items]
    return [
        (item, one)
        for item in making.items
        if item.label in ON_FURNITURE and looks.count(name_of(item)) == 1
        for one in known
        if one.name == item.label
        and distance(one.position, centre_of(item, making.placed[item.number])) <= NEAR_M
    ]


def _goals(places: Iterable[Memory], terrain: Terrain) -> list[Pose]:
    """Return how the robot stands to see places, as it is sent to answers; without those that it cannot."""
    goals = []
    for memory in places:
        answer = Answer(Kind.POSITION, '', '', pose=memory.pose, evidence=(Hit(memory, 1.0),))
        with suppress(GoalRejected):
            goals.append(plan_goals(answer, Rules(), terrain).goals[0].pose)
    return goals


def _facing(at: Sequence[float], thing: Sequence[float]) -> Pose:
    return Pose(at[0], at[1], 0.0, math.atan2(thing[1] - at[1], thing[0] - at[0]))


def _drive(
    home: HomeSimulator, item: Item, start: Pose, stops: Iterable[Sequence[Pose]]
) -> tuple[bool, float]:
    """Return whether a thing was seen on the way by some stops, and how long that was until then [m]."""
    at, way_m = start, 0.0
    for goal in chain.from_iterable(stops):
        for x, y in home.way((at.x, at.y), (goal.x, goal.y))[1:]:
            away = math.hypot(x - at.x, y - at.y)
            yaw, steps = math.atan2(y - at.y, x - at.x), max(1, math.ceil(away / STEP_M))
            for part in (step / steps for step in range(1, steps + 1)):
                pose = Pose(at.x + part * (x - at.x), at.y + part * (y - at.y), 0.0, yaw)
                if home.part_seen(pose, str(item.number)) >= VISIBLE_PART:
                    return True, way_m + part * away
            at, way_m = Pose(x, y, 0.0, yaw), way_m + away
        at = goal
        if home.part_seen(at, str(item.number)) >= VISIBLE_PART:
            return True, way_m
    return False, way_m
