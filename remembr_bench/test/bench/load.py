"""What the benchmarks fill memories with: real captions, embedded once, perturbed into as many as wanted."""

import hashlib
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import EmbedderUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.exchange.captions_file import read_captions
from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.record import Memory, memory_id
from remembr_ros.timestamps import NS
from test.simulated.parked_view import CAPTIONINGS, VIEWS, Narrator

ROOT = Path(__file__).resolve().parents[3]
NAVQA = ROOT / '../shared/data/navqa'
CACHE = ROOT / '.cache'

PASSAGES = 7
"""Vectors per memory: a caption of one paragraph and six sentences."""

NOISE = 0.3
"""Length of what is added to each unit vector: two memories of one caption have a cosine of 0.92."""

START_NS = 1_700_000_000 * NS
EVERY_NS = 3 * NS
SIDE_M = 100.0
ROBOTS = ('anna', 'bert', 'carl')

QUESTIONS = (
    'Where did you see a red car parked next to a stone building?',
    'How many bicycles stand by the entrance?',
    'Is there a bench to sit on near the lawn?',
    'When did you pass the sign that says EXIT?',
    'Where is the fire hydrant?',
    'Have you seen a person with a backpack?',
    'Which building has large glass windows?',
    'Where can I get something to drink?',
    'Was the parking lot full?',
    'Where did the sidewalk end?',
    'What colour is the door at the end of the corridor?',
    'Take me to the desk with two monitors.',
)


@dataclass(frozen=True)
class Material:
    """Captions with the vectors of their passages.

    :param captions: each of PASSAGES passages
    :param vectors: shape (captions, PASSAGES, dimension)
    :param queries: of the QUESTIONS, shape (questions, dimension)
    """

    captions: list[str]
    vectors: NDArray[np.float32]
    queries: NDArray[np.float32]

    def projected(self, dimension: int) -> 'Material':
        """Return the same with longer vectors, angles kept as nearly as a random projection keeps them."""
        known = self.vectors.shape[2]
        if dimension == known:
            return self
        random_map = np.random.default_rng(1).normal(size=(known, dimension)).astype(np.float32)
        return Material(self.captions, _unit(self.vectors @ random_map), _unit(self.queries @ random_map))


class GivenQueries:
    """An embedder that has the vectors of the QUESTIONS, and for single words some near to nothing."""

    def __init__(self, of: Material) -> None:
        self.name = 'bench'
        self.dimension = of.queries.shape[1]
        self._vectors = dict(zip(QUESTIONS, of.queries, strict=True))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._vectors[text]

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        made = [
            np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dimension) for text in texts
        ]
        return np.array([vector / np.linalg.norm(vector) for vector in made], np.float32)


def material(count: int = 1500) -> Material:
    """Return real captions where there are any, else simulated ones; embedded once, then from a cache."""
    try:
        embedder = get_embedder('all-MiniLM-L6-v2')
    except EmbedderUnavailable:
        embedder = get_embedder('hashing-384')
    captions = _captions()[:count]
    texts = [_passages_of(caption) for caption in captions]
    key = hashlib.sha256('\0'.join([embedder.name, *captions, *QUESTIONS]).encode()).hexdigest()[:16]
    cache = CACHE / f'bench-{key}.npz'
    if cache.exists():
        saved = np.load(cache)
        return Material(captions, saved['vectors'], saved['queries'])
    vectors = embedder.embed([text for of_one in texts for text in of_one])
    vectors = vectors.reshape(len(captions), PASSAGES, -1)
    queries = np.stack([embedder.embed_query(question) for question in QUESTIONS])
    CACHE.mkdir(exist_ok=True)
    np.savez(cache, vectors=vectors, queries=queries)
    return Material(captions, vectors, queries)


def entries(of: Material, count: int, seed: int = 0) -> Iterator[Entry]:
    """Yield memories, one every 3 s, of robots that drive about."""
    rng = np.random.default_rng(seed)
    _, passages_each, dimension = of.vectors.shape
    for number in range(count):
        chosen = int(rng.integers(len(of.captions)))
        noise = rng.standard_normal((passages_each, dimension), np.float32) * (NOISE / dimension**0.5)
        start_ns = START_NS + number * EVERY_NS
        x, y = rng.uniform(0.0, SIDE_M, 2)
        memory = Memory(
            id=memory_id('bench', str(seed), start_ns),
            robot=ROBOTS[number % len(ROBOTS)],
            start_ns=start_ns,
            end_ns=start_ns + 2 * NS,
            caption=of.captions[chosen],
            pose=Pose(float(x), float(y), 0.0, float(rng.uniform(-3.0, 3.0))),
            map_id='campus',
        )
        yield Entry(memory, _unit(of.vectors[chosen] + noise))


def _captions() -> list[str]:
    """Return captions of PASSAGES passages each."""
    found: list[str] = []
    for path in sorted(NAVQA.glob('*/captions*.json')):
        found += [timed.memory.caption for timed in read_captions(path, 'bench')]
    if not found:
        narrators = [Narrator(view, CAPTIONINGS['restless'], random.Random(7)) for view in VIEWS]
        found = [narrator.caption() for _ in range(300) for narrator in narrators]
    cut = (' '.join(_sentences(caption)[: PASSAGES - 1]) for caption in found)
    unique = dict.fromkeys(caption for caption in cut if len(_passages_of(caption)) == PASSAGES)
    shuffled = list(unique)
    random.Random(3).shuffle(shuffled)
    return shuffled


def _sentences(caption: str) -> list[str]:
    return [p.text for p in passages(Memory('', '', 0, 0, caption)) if p.is_sentence]


def _passages_of(caption: str) -> list[str]:
    return [passage.text for passage in passages(Memory('', '', 0, 0, caption))]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit
