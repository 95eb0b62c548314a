"""What a memory holds, as far as anybody can tell, in a form that can be compared."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from test.kills.verbs import START_NS

_ASKED = (
    'a sofa with a plant',
    'Room number7 has a thing7v0',
    'the lamp above thing24v1',
    'a fridge with notes',
)


def state_of(path: Path, live: bool = False) -> dict[str, Any]:
    """Return all that a memory holds and says of itself, but for the size of its file; live: see Verb."""
    with open_store(str(path), create=False) as store:
        memories = store.all()
        named = sorted({name for memory in memories for name in memory.keyframes})
        info, recalled = store.info(), _recall(store)
        return {
            'memories': [*map(_told if live else repr, memories)],
            'rows': _rows(store),
            'wrong vectors': _wrong_vectors(store),
            'recall': [asked for asked, _ in recalled],
            'scores': [score for _, score in recalled],
            'info': [
                f'{key}: {getattr(info, key)}'
                for key in info.__slots__
                if key not in ('uri', 'database_bytes')
            ],
            'pictures': pictures(store.keyframes.folder),
            'lost pictures': [n for n in named if not (store.keyframes.folder / n[:2] / n).is_file()],
            'orphans': [p for p in pictures(store.keyframes.folder) if p.split()[0] not in named],
        }


def _told(memory: Memory) -> str:
    """Return a memory; an object without what depends on which of its sightings are still at hand.

    What it was stored with before a kill counts as one sighting afterwards: its box, and how certain it is,
    differ by as much as single sightings do.
    """
    found = known_objects([memory])
    if not found:
        return repr(memory)
    [known] = found
    at = [round(2.0 * metres) / 2.0 for metres in known.position]
    facts = (known.facts.colour, known.facts.observations, known.facts.intervals, known.facts.aliases)
    return f'{memory.id} {memory.robot} {memory.caption} {known.name} {at} {facts} {memory.keyframes}'


def _rows(store: MemoryStore) -> list[str]:
    """Return the ids in the database itself, and how many bytes of vectors each has."""
    sql = 'SELECT id, length(vectors) FROM memories LEFT JOIN "memories vectors" USING (number)'
    with closing(sqlite3.connect(f'file:{store.info().uri}?mode=ro', uri=True)) as file:
        return sorted(f'record {memory_id} {size}' for memory_id, size in file.execute(sql))


def _wrong_vectors(store: MemoryStore) -> list[str]:
    vectors = store.engine.vectors([memory.id for memory in store.all()])
    wrong = []
    for memory in store.all():
        expected = store.embedder.embed([passage.text for passage in passages(memory)])
        there = vectors.get(memory.id)
        if there is None or there.shape != expected.shape or not np.allclose(there, expected, atol=2e-3):
            wrong.append(memory.id)
    return wrong


def _recall(store: MemoryStore) -> list[tuple[str, float]]:
    hits = {text: store.find(Query(text, limit=4)) for text in _ASKED}
    hits['place'] = store.find(Query(place=(100.0, 3.0, 0.0), limit=4))
    hits['time'] = store.find(Query(time_ns=START_NS + 55 * 10**9, limit=4))
    hits['newest'] = store.find(Query(limit=4))
    # Those without a caption are all alike: which of them comes first, or at all, says nothing.
    return [
        (f'{asked}: {hit.memory.id if hit.memory.is_captioned else ""}', hit.score)
        for asked, found in hits.items()
        for hit in found
    ]


def pictures(folder: Path) -> list[str]:
    """Return every file of a folder of pictures, whole or not, with a checksum."""
    files = sorted(file for file in folder.rglob('*') if file.is_file())
    return [f'{file.name} {hashlib.sha1(file.read_bytes()).hexdigest()}' for file in files]


def differences(state: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Return in what a state is not as expected; each difference begins with what it is in."""
    found = []
    for part, there in state.items():
        if part == 'scores':
            # What clusters find is compared with 8 bits, and they may have been found anew.
            apart = zip(there, expected[part], strict=False)  # how many there are, the recall tells
            if any(abs(one - other) > 2e-3 for one, other in apart):
                found.append(f'scores: {there} instead of {expected[part]}')
            continue
        much = [line for line in there if line not in expected[part]]
        little = [line for line in expected[part] if line not in there]
        if part != 'recall' and len(there) != len(set(there)):
            found.append(f'{part}: something is there twice')
        if much or little:
            found.append(f'{part}: {len(much)} too many: {much[:2]}; {len(little)} missing: {little[:2]}')
    return found
