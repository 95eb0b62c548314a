"""What it costs that parts of the map have names: the same recalls and questions without, and with them.

10,000 captions of a robot on its round, and 32 rooms. The baseline of each figure is the same store before
the rooms got their names. Then what only rooms make possible, and the rooms of a large map.
"""

import math
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.places.place import place
from remembr_ros.memory.store import MemoryStore
from remembr_ros.navigation.grid import Grid
from remembr_ros.places.rooms import find_rooms
from remembr_ros.timestamps import NS
from test.bench.figure import Figure
from test.bench.latency import timed
from test.unit.places import plans

MEMORIES, ROOMS, SIDE_M = 10_000, 32, 5.0
T0 = 1_700_000_000 * NS
NOW_NS = T0 + MEMORIES * 3 * NS
LARGE = 4_000  # cells along each side
THINGS = ('cup', 'chair', 'door', 'printer', 'plant')


def run() -> list[Figure]:
    """Measure before and after the rooms get their names."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(f'{folder}/m.db', 'hashing', create=True) as store,
    ):
        for first in range(0, MEMORIES, 500):
            store.add([Observation(_caption(i)) for i in range(first, first + 500)])
        before = {name: timed(call, arguments) for name, (call, arguments) in _calls(store).items()}
        corners = [(SIDE_M * (i % 8), SIDE_M * (i // 8)) for i in range(ROOMS)]
        store.name_places(
            [
                place(
                    f'room {i}',
                    outline=[(x, y), (x + SIDE_M, y), (x + SIDE_M, y + SIDE_M), (x, y + SIDE_M)],
                    now_ns=T0,
                )
                for i, (x, y) in enumerate(corners)
            ]
        )
        after = {name: timed(call, arguments) for name, (call, arguments) in _calls(store).items()}
        figures = [
            Figure(f'{ROOMS} rooms: {name} (baseline: none)', after[name][0], before[name][0], 'ms')
            for name in before
        ]
        inside = [Query(text, scope=Scope(place='room 5')) for text in THINGS]
        figures.append(
            Figure('recall by text in a room', timed(store.find, inside)[0], after['recall by text'][0], 'ms')
        )
        asked = [Question('Which room were you in longest?', NOW_NS)] * 3
        longest_ms = timed(_agent(store).ask, asked)[0]
        figures.append(Figure(f'longest room of {MEMORIES} memories', longest_ms, None, 'ms', most=5_000.0))
    return [*figures, _large_map()]


def _calls(store: MemoryStore) -> dict[str, tuple[Callable[[Any], object], Sequence[Any]]]:
    rng = np.random.default_rng(5)
    points = [(float(x), float(y), 0.0) for x, y in rng.uniform(0.0, 40.0, (100, 2))]
    asked = [Question(f'Where is the {thing}?', NOW_NS) for thing in THINGS]
    return {
        'recall by text': (store.find, [Query(thing) for thing in THINGS * 4]),
        'recall by place': (store.find, [Query(place=point) for point in points]),
        'newest': (store.find, [Query()] * 100),
        'offline question': (_agent(store).ask, asked * 2),
    }


def _agent(store: MemoryStore) -> Agent:
    return Agent(store, [OfflinePlanner()])


def _caption(i: int) -> Memory:
    pose = Pose(20 + 20 * math.sin(i / 300), 10 + 10 * math.cos(i / 230))
    text, start_ns = f'A {THINGS[i % len(THINGS)]}, number {i}.', T0 + 3 * i * NS
    return Memory(f'm{i}', 'r', start_ns, start_ns + 2 * NS, text, pose, captioner='vlm')


def _large_map() -> Figure:
    one, _ = plans.grid_of(plans.office())
    height, width = one.cells.shape
    cells = np.tile(one.cells, (math.ceil(LARGE / height), math.ceil(LARGE / width)))[:LARGE, :LARGE]
    grid = Grid(np.ascontiguousarray(cells), one.resolution, one.origin)
    return Figure(f'rooms of {LARGE} x {LARGE} cells', timed(find_rooms, [grid])[0], None, 'ms', most=5_000.0)
