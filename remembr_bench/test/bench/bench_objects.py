"""What following objects costs beside finding them, and how long a memory of many takes to open."""

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from remembr_bench.evaluation.objects.run import LEVELS, PROMISED, detected
from remembr_bench.simulation.homes.home_views import frames_of
from remembr_bench.simulation.homes.layout import generate_home
from remembr_ros.geometry import Transform
from remembr_ros.memory.model.record import OBJECT, Memory, Observation, memory_id
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.opening import open_store
from remembr_ros.objects.appearance import HUES, TONES, Appearance
from remembr_ros.objects.camera import Pinhole
from remembr_ros.objects.detectors.by_name import get_detector
from remembr_ros.objects.detectors.detection import Detection
from remembr_ros.objects.keeper import ObjectKeeper
from remembr_ros.objects.lifting import CameraView, DepthView, Lifted, lift
from remembr_ros.objects.object_map import ObjectMap
from remembr_ros.objects.recorded_views import RecordedViews
from remembr_ros.objects.track import ObjectTrack
from remembr_ros.timestamps import NS
from test.bench.figure import Figure
from test.bench.latency import timed
from test.bench.processes import resident_mb

DATA = Path(__file__).resolve().parents[3] / '../shared/data'
KITCHEN, MODEL = DATA / 'bags/redkitchen_rgbd', DATA / 'models/yolox_nano.onnx'
LABELS = DATA / 'models/coco_labels.txt'
DEPTH_TOPIC = '/camera/depth/image_raw'

T0 = 1_700_000_000 * NS
EMBEDDER = 'hashing-384'
NAMES = ('mug', 'bowl', 'book', 'chair', 'bottle', 'table', 'laptop', 'plant')
COLOURS = ('red', 'blue', 'green', '')
KNOWN, SEEN, FRAMES = 1_000, 20, 200
HALL_M = 30.0
"""Side of the hall in which the known objects stand."""

STORED, LOOKS = 5_000, 20
LOOKS_EVERY_NS = 600 * NS

HOME, ROUNDS, ROUND_HZ = 50, 12, 1.0
"""A home that is driven through so often a day."""

FRAME_MS, OPEN_S, WHOLE_HZ = 5.0, 2.0, 5.0
OPENED = 3
"""Times, of which the middle one counts."""


def run() -> list[Figure]:
    """Measure a frame, the opening, and a recording where that is there."""
    return [*_a_frame(), *_week(), *_opening(), *_whole()]


def _a_frame() -> list[Figure]:
    """Follow 20 things that a camera looks at, in a hall that holds a thousand."""
    rng = np.random.default_rng(3)
    known = _objects(rng, KNOWN - SEEN, 3)
    view, found = _shelf(rng)
    objects = ObjectMap('bench', known=known)
    dropped: Counter[str] = Counter()
    taken = np.zeros((FRAMES, 2))
    placed: list[Lifted] = []
    for number in range(FRAMES):
        stamp_ns = T0 + 3600 * NS + number * NS // 5
        now = replace(view, stamp_ns=stamp_ns), [replace(one, stamp_ns=stamp_ns) for one in found]
        began = time.perf_counter()
        placed = lift(now[1], now[0], dropped)
        lifted = time.perf_counter()
        objects.update(now[0], placed)
        taken[number] = 1e3 * (lifted - began), 1e3 * (time.perf_counter() - lifted)
    lift_ms, follow_ms = np.percentile(taken, 50, axis=0).tolist()
    lift_most, follow_most = np.percentile(taken, 95, axis=0).tolist()
    both_ms = float(np.percentile(taken.sum(axis=1), 50))
    assert len(objects) == KNOWN, f'{len(objects)} objects instead of {KNOWN}; dropped: {dropped}'
    tracks = [(one.position, one.size) for one in known_objects(objects.memories())]
    loop_ms, _ = timed(lambda those: _loop(those, tracks), [placed] * 9)
    name = f'a frame of {SEEN} detections, {KNOWN} objects known'
    return [
        Figure(f'{name}: lifting, p50', lift_ms, None, 'ms'),
        Figure(f'{name}: lifting, p95', lift_most, None, 'ms'),
        Figure(f'{name}: following (baseline: distances in a loop), p50', follow_ms, loop_ms, 'ms'),
        Figure(f'{name}: following, p95', follow_most, loop_ms, 'ms'),
        Figure(f'{name}: both, p50', both_ms, None, 'ms', most=FRAME_MS),
    ]


def _loop(
    placed: list[Lifted], tracks: list[tuple[tuple[float, float, float], tuple[float, float, float]]]
) -> list[int]:
    """Return the nearest track of each detection: the least that pairing them takes."""
    nearest = []
    for one in placed:
        middle = ((one.low + one.high) / 2.0).tolist()
        best, least = -1, float('inf')
        for number, (at, size) in enumerate(tracks):
            off = sum(max(abs(a - b) - c / 2.0, 0.0) ** 2 for a, b, c in zip(middle, at, size, strict=True))
            if off < least:
                best, least = number, off
        nearest.append(best)
    return nearest


def _shelf(rng: np.random.Generator) -> tuple[CameraView, list[Detection]]:
    """Return what a camera before a shelf sees: colour 640 x 480, depth 320 x 240, and what is found."""
    colour, deep = (
        Pinhole(640, 480, 520.0, 520.0, 319.5, 239.5),
        Pinhole(320, 240, 290.0, 290.0, 159.5, 119.5),
    )
    bgr = rng.integers(0, 256, (480, 640, 3), np.uint8)
    metres = np.full((240, 320), 3.0, np.float32)
    pose: Transform = ((HALL_M / 2.0, HALL_M / 2.0, 1.0), (-0.5, 0.5, -0.5, 0.5))
    found = []
    for number in range(SEEN):
        left, top = 30 + 120 * (number % 5), 20 + 115 * (number // 5)
        bgr[top : top + 80, left : left + 80] = rng.integers(0, 256, 3)
        away = 1.5 + 0.05 * (number % 3)
        # Where these pixels lie in the depth image, which has the same middle.
        rows, columns = (
            (np.array((0, 80)) + start - middle) * 290.0 / 520.0
            for start, middle in ((top, 239.5), (left, 319.5))
        )
        metres[slice(*(rows + 119.5).astype(int)), slice(*(columns + 159.5).astype(int))] = away
        scores = {NAMES[number % len(NAMES)]: 0.8, NAMES[(number + 1) % len(NAMES)]: 0.1}
        found.append(Detection(T0, '', (left, top, left + 80.0, top + 80.0), scores))
    return CameraView(T0, bgr, colour, pose, DepthView(metres, deep, pose)), found


def _objects(rng: np.random.Generator, count: int, looks: int) -> list[KnownObject]:
    """Return things all over a hall, each seen so often, a while apart."""
    memories = []
    for number in range(count):
        label, colour = NAMES[number % len(NAMES)], COLOURS[number % len(COLOURS)]
        at = np.array((*rng.uniform(0.0, HALL_M, 2), rng.uniform(0.2, 2.0)))
        look = np.abs(rng.standard_normal(2 * (2 * HUES + TONES))).astype(np.float32)
        appearance = Appearance(look / np.float32(np.linalg.norm(look)), colour)
        track = ObjectTrack(memory_id('bench', OBJECT, T0 + number))
        for sight in range(looks):
            middle, half = at + rng.normal(0.0, 0.02, 3), rng.uniform(0.05, 0.15)
            detection = Detection(
                T0 + sight * LOOKS_EVERY_NS + number, '', (10.0, 10.0, 60.0, 60.0), {label: 0.8}
            )
            placed = Lifted(
                detection, middle - half, middle + half, 0.02, False, True, appearance, lambda: b''
            )
            track.see(placed, (float(at[0]) - 2.0, float(at[1]), 1.0))
        memories.append(track.memory('bench', '', 'map', NAMES[(number + 3) % len(NAMES)]))
    return known_objects(memories)


def _week() -> list[Figure]:
    """Drive a week through a home, twelve rounds a day, with the errors of the level that is promised.

    Between the rounds things are moved, taken away and brought back: it is in one of three states. A figure's
    baseline is that of the end of the first day.
    """
    home, rng = generate_home(HOME), random.Random(HOME)
    level = next(level for level in LEVELS if level.name == PROMISED)
    rounds = [list(frames_of(home, visit, ROUND_HZ)) for visit in home.visits]
    labels, objects = {item.number: item.label for item in home.items}, ObjectMap('bench')
    days: list[tuple[int, float]] = []
    for number in range(7 * ROUNDS):
        shift_ns = T0 + number * 24 * 3600 * NS // ROUNDS - rounds[number % 3][0].stamp_ns
        for frame in rounds[number % 3]:
            now = replace(frame, stamp_ns=frame.stamp_ns + shift_ns)
            objects.update(*detected(home, now, level, rng, labels))
        if number % ROUNDS == ROUNDS - 1:
            objects.review(now.stamp_ns)
            there = [one for one in known_objects(objects.memories()) if one.missing_ns is None]
            days.append((len(there), resident_mb()))
    (first, first_mb), (last, last_mb) = days[0], days[-1]
    return [
        Figure('objects that are there, after a week of driving', last, first, '', most=1.1 * first),
        Figure('this process, after a week of driving', last_mb, first_mb, 'MB', most=1.05 * first_mb),
        Figure('all objects, also those that are missing', len(objects), first, ''),
    ]


def _opening() -> list[Figure]:
    """Open a memory of many objects, in a process of its own; the baseline is a memory of one object."""
    rng = np.random.default_rng(4)
    with tempfile.TemporaryDirectory(prefix='remembr-bench-') as folder:
        taken = {}
        for name, count in (('few', 1), ('many', STORED)):
            path = f'{folder}/{name}.db'
            _fill(path, [one.memory for one in _objects(rng, count, LOOKS)])
            taken[name] = [_fresh(path) for _ in range(OPENED)]
    few_s, many_s = (sorted(one[0] for one in taken[name])[OPENED // 2] for name in ('few', 'many'))
    few_mb, many_mb = (max(one[1] for one in taken[name]) for name in ('few', 'many'))
    store_s = sorted(one[2] for one in taken['many'])[OPENED // 2]
    name = f'a memory of {STORED} objects, {LOOKS * STORED} observations'
    return [
        Figure(f'{name}: opening, with their tracks (baseline: of 1)', many_s, few_s, 's', most=OPEN_S),
        Figure(f'{name}: of that the store', store_s, None, 's'),
        Figure(f'{name}: resident, all processes (baseline: of 1)', many_mb, few_mb, 'MB'),
    ]


def _fill(path: str, memories: list[Memory]) -> None:
    with open_store(path, EMBEDDER) as store:
        for start in range(0, len(memories), 250):
            store.add([Observation(memory) for memory in memories[start : start + 250]])


def _fresh(path: str) -> tuple[float, float, float]:
    with ProcessPoolExecutor(1, get_context('spawn')) as pool:
        return pool.submit(_opened, path).result()


def _opened(path: str) -> tuple[float, float, float]:
    """Return how long opening takes [s], what the processes take then [MB], and how long the store took."""
    import faiss  # noqa: F401
    import pymilvus  # noqa: F401

    began = time.perf_counter()
    with open_store(path, create=False) as store:
        opened = time.perf_counter() - began
        keeper = ObjectKeeper(store, 'bench')
        seconds = time.perf_counter() - began
        assert len(keeper) in (1, STORED)
        return seconds, resident_mb(), opened


class _Shares:
    """Adds up where the time goes [s]."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    @contextmanager
    def of(self, what: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[what] += time.perf_counter() - began


def _whole() -> list[Figure]:
    """Make objects of the kitchen recording; the baseline is the detector alone."""
    missing = [str(path) for path in (KITCHEN, MODEL, LABELS) if not path.exists()]
    if missing:
        print(f'objects of a recording left out: {missing[0]} is not there', file=sys.stderr)
        return []
    shares = _Shares()
    with tempfile.TemporaryDirectory() as folder, open_store(f'{folder}/memory.db', EMBEDDER) as store:
        detector = get_detector(f'onnx:{MODEL}', str(LABELS))
        detector.detect(np.zeros((480, 640, 3), np.uint8), T0)  # loads the model
        views = RecordedViews(KITCHEN, None, DEPTH_TOPIC)
        try:
            keeper = ObjectKeeper(store, 'bench', '', views.map_frame)
            began, seen = time.perf_counter(), iter(views)
            while True:
                with shares.of('decoding'):
                    view = next(seen, None)
                if view is None:
                    break
                with shares.of('detector'):
                    detections = detector.detect(view.image, view.stamp_ns)
                with shares.of('objects'):
                    keeper.see(view, detections)
            with shares.of('objects'):
                keeper.keep()
            seconds = time.perf_counter() - began
        finally:
            views.close()
            detector.close()
    alone = keeper.images / shares.seconds['detector']
    rate = keeper.images / seconds
    return [
        Figure('objects of the kitchen (baseline: the detector alone)', rate, alone, 'frames/s', WHOLE_HZ),
        *(
            Figure(f'objects of the kitchen: {what} per frame', 1e3 * taken / keeper.images, None, 'ms')
            for what, taken in shares.seconds.items()
        ),
    ]
