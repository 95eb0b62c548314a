"""How fast a recording becomes memories: reading, segments, captions, embedding and storing."""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from remembr_ros.bags.reader import open_bag
from remembr_ros.captioning.captioners.by_name import get_captioner
from remembr_ros.captioning.captioners.captioner import Captioner, Clip, caption_clip
from remembr_ros.captioning.observation import Describer, Remembering, observations
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import CaptionerFailed, EmbedderUnavailable
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.images import Bgr, Frame, decode_compressed, encode_jpeg
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS
from test.bench.figure import Figure

KITCHEN = Path(__file__).resolve().parents[3] / '../shared/data/bags/redkitchen_6hz'
UNIT = 's of recording per s of work'
Events = Callable[[], Iterator[Frame | StampedPose]]


def run() -> list[Figure]:
    """Ingest the kitchen recording, or noise of the same shape, without the time that models take to load."""
    if KITCHEN.exists():
        name, events = 'kitchen', _kitchen
    else:
        print('the kitchen recording is not there: noise instead', file=sys.stderr)
        name, events = 'noise', _noise
    seconds, decode_s = _decode_all(events)
    baseline = seconds / decode_s
    embedder = _embedder()
    figures = []
    for captioner_name, least in (('none', 20.0), ('scene_text', 1.0)):
        try:
            captioner = get_captioner(captioner_name)
        except CaptionerFailed as error:
            print(f'ingest with {captioner_name} left out: {error}', file=sys.stderr)
            continue
        caption_clip(captioner, Clip([np.zeros((480, 640, 3), np.uint8)] * 2))  # loads the models
        speed = seconds / _ingest(events, captioner, embedder)
        title = f'ingest {name}, captioner {captioner_name}, embedder {embedder.name}'
        figures.append(Figure(title, speed, baseline, UNIT, least))
    return figures


def _embedder() -> Embedder:
    try:
        embedder = get_embedder()
    except EmbedderUnavailable as error:
        print(f'{error}: the hashing embedder instead', file=sys.stderr)
        embedder = get_embedder('hashing')
    embedder.embed(['a sentence that loads the model'])
    return embedder


def _decode_all(events: Events) -> tuple[float, float]:
    """Return how long the recording is and how long reading it with every frame decoded takes [s]."""
    began = time.perf_counter()
    stamps = []
    for event in events():
        if isinstance(event, Frame):
            event.decode()
            stamps.append(event.stamp_ns)
    return (stamps[-1] - stamps[0]) / NS, time.perf_counter() - began


def _ingest(events: Events, captioner: Captioner, embedder: Embedder) -> float:
    with tempfile.TemporaryDirectory() as folder, open_store(f'{folder}/memory.db', embedder) as store:
        began = time.perf_counter()
        store.add(list(observations(events(), Describer(captioner, Remembering('bench')))))
        return time.perf_counter() - began


def _kitchen() -> Iterator[Frame | StampedPose]:
    with open_bag(KITCHEN) as bag:
        yield from bag.events()


def _noise() -> Iterator[Frame | StampedPose]:
    """30 s at 6 Hz, 640x480 JPEG."""
    generator = np.random.default_rng(1)
    jpegs = [encode_jpeg(generator.integers(0, 255, (480, 640, 3), np.uint8)) for _ in range(6)]
    for i in range(180):
        stamp_ns = 1_700_000_000 * NS + i * NS // 6
        yield StampedPose(stamp_ns, Pose(i / 6, 0.0))
        yield Frame(stamp_ns, _decoder(jpegs[i % len(jpegs)]))


def _decoder(jpeg: bytes) -> Callable[[], Bgr]:
    return lambda: decode_compressed('jpeg', jpeg)
