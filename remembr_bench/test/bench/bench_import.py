"""How fast memories are imported whose vectors are to be made, where captions repeat and where none does."""

import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from random import Random

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.errors import EmbedderUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.exchange import transfer
from remembr_ros.memory.exchange.json_lines import Header, PortableMemory
from remembr_ros.memory.exchange.transfer import import_memories
from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS
from test.bench.figure import Figure

MEMORIES = 300
CAPTIONS = 120
"""Different ones, one after the other until they begin again: a repetition is never in the same batch."""
SENTENCES = 4

COLOURS = (
    'red',
    'dark blue',
    'grey',
    'bright yellow',
    'green',
    'brown',
    'white',
    'black',
    'orange',
    'silver',
)
THINGS = (
    'a sofa',
    'a bicycle',
    'a vending machine',
    'a fire extinguisher',
    'a row of lockers',
    'a notice board',
)
THINGS += (
    'a trolley with boxes',
    'a plant in a pot',
    'a coat rack',
    'a glass door',
    'a bench',
    'a water fountain',
)
PLACES = ('beside the stairs', 'at the end of the corridor', 'under the window', 'in front of the lift')
PLACES += ('on the left side of the hall', 'next to a door that is closed', 'between two pillars')
PLACES += ('where the corridor turns right', 'near the entrance', 'behind a person who waits')

UNIT = 'memories per s'


def run() -> list[Figure]:
    """Import captions that repeat, and as many that do not; the latter beside embedding their texts alone."""
    embedder = _embedder()
    embedder.embed(['a sentence that loads the model'])
    captions = _captions()
    different = _memories(captions)
    texts = [passage.text for memory in different for passage in passages(memory)]
    began = time.perf_counter()
    embedder.embed(texts)
    bare = MEMORIES / (time.perf_counter() - began)
    once = _import(different, embedder)
    repeated = _import(_memories(captions[:CAPTIONS]), embedder)
    title = f'import {MEMORIES} memories, {embedder.name}'
    return [
        Figure(f'{title}: all captions different, beside embedding alone', once, bare, UNIT, 0.6 * bare),
        Figure(f'{title}: {CAPTIONS} different ones, beside all different', repeated, once, UNIT, 1.5 * once),
    ]


def _embedder() -> Embedder:
    try:
        return get_embedder(OFFLINE)
    except EmbedderUnavailable as error:
        print(f'{error}: the hashing embedder instead', file=sys.stderr)
        return get_embedder('hashing')


def _captions() -> list[str]:
    """Return captions that have no sentence in common."""
    sentences = [
        f'There is {thing}, {colour}, {place}.' for colour, thing, place in product(COLOURS, THINGS, PLACES)
    ]
    Random(1).shuffle(sentences)
    return [' '.join(sentences[i : i + SENTENCES]) for i in range(0, MEMORIES * SENTENCES, SENTENCES)]


def _memories(captions: list[str]) -> list[Memory]:
    start_ns = 1_700_000_000 * NS
    return [
        Memory(
            id=f'import-{number}',
            robot='bench',
            start_ns=start_ns + 3 * number * NS,
            end_ns=start_ns + (3 * number + 3) * NS - 1,
            caption=captions[number % len(captions)],
            pose=Pose(float(number), 0.0),
        )
        for number in range(MEMORIES)
    ]


def _import(memories: list[Memory], embedder: Embedder) -> float:
    """Return how many memories are imported per second from a file without vectors."""
    with tempfile.TemporaryDirectory() as folder, open_store(f'{folder}/memory.db', embedder) as store:
        path = Path(folder, 'memories.jsonl')
        transfer.write(
            path, Header('', 0, count=len(memories)), map(PortableMemory, memories), lambda done: None
        )
        began = time.perf_counter()
        assert import_memories(store, path).embedded == len(memories)
        return len(memories) / (time.perf_counter() - began)
