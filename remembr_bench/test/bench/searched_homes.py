"""How far a robot drives that searches for what was moved since it was seen, and an oracle that knows where
things can be put.

python -m test.bench.searched_homes SEED... [--picture HOME.png]
"""

import json
import math
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain, islice, pairwise
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

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
from remembr_ros.geometry import Point, Pose, distance
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.opening import open_store
from remembr_ros.navigation.plan import Rules, looking_round, plan_goals
from remembr_ros.navigation.route import shortest_order
from remembr_ros.navigation.terrain import Terrain

STEP_M, NEAR_M = 0.5, 0.3  # between two looks on the way, and between what was seen and where it was


def search_home(seed: int, picture: str | None = None) -> dict[str, Any]:
    """Return whether a thing that was moved was found, and after which way [m]; the same of the oracle.

    :param picture: the path of one of the map and the way; None: none is drawn
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
        stops = looking_round(start, _goals(islice(places, MOST_PLACES), terrain))
        ours = _drive(home, item, start, stops, way := [start])
        if picture is not None:
            _draw(picture, home, item, known.position, way)
        held = before.placements[item.number].receptacle
        surfaces = sorted({number for number, _ in making.surfaces} - {0, held})
        stands = [nearest_in_room(str(number), home) for number in surfaces]
        order = shortest_order(stands, (start.x, start.y))
        facing = (_facing(stands[i], home.things[str(surfaces[i])].position) for i in order)
        best = _drive(home, item, start, ([pose] for pose in facing), [])
    return {'home': seed, 'thing': name_of(item), 'found': ours[0], 'way': ours[1], 'oracle_way': best[1]}


def figures_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the share of things found, and the way to all of them as a part of the oracle's."""
    ours, oracle = (sum(row[way] for row in rows) for way in ('way', 'oracle_way'))
    found = sum(row['found'] for row in rows) / len(rows)
    return {'asked': len(rows), 'found': found, 'of_oracle': ours / oracle}


def main(arguments: Sequence[str]) -> int:
    """Search in homes, print a line for each, and the figures."""
    picture = arguments[arguments.index('--picture') + 1] if '--picture' in arguments else None
    rows = []
    for seed in map(int, filter(str.isdecimal, arguments)):
        rows.append(search_home(seed, picture))
        print(json.dumps(rows[-1]), flush=True)
    print(json.dumps(figures_of(rows)))
    return 0


def _draw(path: str, home: HomeSimulator, item: Item, was: Point, way: Sequence[Pose]) -> None:
    """Draw the map with where a thing was and is, and the way to it."""
    import matplotlib as mpl

    mpl.use('Agg')
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 6.6), layout='constrained')
    cells, metres = home.grid.cells, home.grid.resolution
    wide, deep = cells.shape[1] * metres, cells.shape[0] * metres
    axes.imshow(-cells, cmap='gray', vmin=-160, vmax=0, origin='lower', extent=(0.0, wide, 0.0, deep))
    axes.plot([pose.x for pose in way], [pose.y for pose in way], '-', color='tab:blue', label='the way')
    looks = [[f(pose.yaw) for pose in way] for f in (math.cos, math.sin)]
    axes.quiver([p.x for p in way], [p.y for p in way], *looks, color='tab:blue', scale=28, width=0.004)
    axes.plot(*was[:2], 'x', color='tab:red', markersize=11, mew=3, label=f'where the {name_of(item)} was')
    at = home.things[str(item.number)].position
    axes.plot(*at[:2], '*', color='tab:green', markersize=16, label='where it is, and was seen')
    for thing in home.things.values():
        if thing.kind == 'receptacle':
            axes.annotate(thing.label, thing.position[:2], ha='center', va='center', fontsize='small')
    axes.set(xlabel='x [m]', ylabel='y [m]', title='A search: look round, then drive to where it may be')
    axes.legend(loc='upper center', bbox_to_anchor=(0.5, -0.08), ncol=3, fontsize='small')
    figure.savefig(path, dpi=110)


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
    home: HomeSimulator, item: Item, start: Pose, stops: Iterable[Sequence[Pose]], way: list[Pose]
) -> tuple[bool, float]:
    """Return whether a thing was seen on the way by some stops, and how long that was until then [m].

    :param way: is given the poses from which the robot looked
    """
    way.append(start)
    for goal in chain.from_iterable(stops):
        for x, y in home.way((way[-1].x, way[-1].y), (goal.x, goal.y))[1:]:
            at = way[-1]
            away, yaw = math.hypot(x - at.x, y - at.y), math.atan2(y - at.y, x - at.x)
            for part in np.linspace(0.0, 1.0, max(1, math.ceil(away / STEP_M)) + 1)[1:].tolist():
                way.append(Pose(at.x + part * (x - at.x), at.y + part * (y - at.y), 0.0, yaw))
                if home.part_seen(way[-1], str(item.number)) >= VISIBLE_PART:
                    return True, _length(way)
        way.append(goal)
        if home.part_seen(goal, str(item.number)) >= VISIBLE_PART:
            return True, _length(way)
    return False, _length(way)


def _length(way: Sequence[Pose]) -> float:
    return sum(math.dist((a.x, a.y), (b.x, b.y)) for a, b in pairwise(way))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
