"""What changes a memory, on a memory that each of them finds: the same command line as a user's."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from remembr_ros.cli.main import main
from remembr_ros.errors import RemembrError
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.consolidation.rule import Consolidation
from remembr_ros.memory.exchange.transfer import export_memories
from remembr_ros.memory.model.record import UNCAPTIONED, Memory, Observation
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.retention import RetentionPolicy
from remembr_ros.memory.store import MemoryStore
from remembr_ros.objects.keeper import ObjectKeeper
from test.object_scene import AHEAD, PixelRect, Scene, detection
from test.unit.cli.conftest import START_NS, write_bag

NS = 10**9
EMBEDDER = 'hashing-64'
COUNT = 36
SECRET = 'secret'
"""In each caption that is to be forgotten, and in no other."""

KEPT = 24
"""Memories that retention leaves."""


@dataclass(frozen=True)
class Verb:
    """What is killed.

    :param act: does it, given the folder of the memory and that of its inputs; returns the exit code
    :param done: what it prints when it is done; empty: it is done when it returns
    :param erases: nothing can be read in any file of what is gone afterwards
    :param live: objects go on from what was stored of them: they come to nearly the same
    :param prepare: makes its own inputs and memory in a folder; else see prepare
    :param needs: what is missing here; empty: nothing
    """

    act: Callable[[Path, Path], int]
    done: str = ''
    erases: bool = False
    live: bool = False
    prepare: Callable[[Path], None] | None = None
    needs: str = ''


def memory(number: int, version: int = 0) -> Memory:
    start_ns = START_NS + number * 10 * NS
    thing = f'{SECRET}{number}' if number % 4 == 1 else f'thing{number}v{version}'
    caption = f'Room number{number} has a {thing}. A lamp is above the {thing}.'
    return Memory(
        f'm{number}',
        'r',
        start_ns,
        start_ns + 3 * NS,
        UNCAPTIONED if number % 4 == 2 and not version else caption,
        Pose(float(number), 0.5 * number),
        map_id='old' if number % 2 else 'other',
        captioner='' if number % 4 == 2 and not version else 'before',
    )


def picture(number: int, version: int = 0) -> bytes:
    """Every sixth shows the same."""
    chance = np.random.default_rng([1 if number % 6 == 5 else 2 + number, version])
    return encode_jpeg(chance.integers(0, 256, (16, 16, 3), np.uint8))


def observation(number: int, version: int = 0) -> Observation:
    return Observation(memory(number, version), (picture(number, version),))


def prepare(base: Path) -> None:
    """Make the memory that every verb finds, and what the verbs read."""
    inputs = base / 'inputs'
    inputs.mkdir(parents=True)
    with open_store(str(base / 'm' / 'memory.db'), EMBEDDER) as store:
        for start in range(0, COUNT, 12):
            store.add([observation(number) for number in range(start, start + 12)])
    # Such pictures are not taken for those of an add that is going on.
    for file in (base / 'm').rglob('*.jpg'):
        os.utime(file, (time.time() - 7200,) * 2)
    with open_store(str(base / 'other' / 'memory.db'), EMBEDDER) as store:
        # Every second one is there already, but otherwise.
        store.add([observation(number, 1) for number in range(24, 48) if number % 4 != 1])
        export_memories(store, inputs / 'other.jsonl')
    shutil.rmtree(base / 'other')
    for speed, name in ((0.5, 'drive'), (0.0, 'still')):
        write_bag(inputs / name, lambda shown: cv2.imencode('.jpg', shown)[1].tobytes(), speed=speed)
    spans = [(START_NS / NS + i, 1.0) for i in range(8)] + [
        (m.start_ns / NS, 3.0) for m in map(memory, range(1, COUNT)) if not m.is_captioned
    ]
    (inputs / 'captions.json').write_text(json.dumps([_record(*span) for span in sorted(set(spans))]))


def _record(start: float, length: float) -> dict[str, object]:
    return {
        'id': int(start),
        'position': [0.0, 0.0, 0.0],
        'time': start + length / 2,
        'start_time': start,
        'end_time': start + length,
        'caption': f'A sofa stands in view{int(start)}. A plant is beside it.',
        'file_start': '',
        'file_end': '',
    }


def cli(*arguments: str) -> Callable[[Path, Path], int]:
    def act(folder: Path, inputs: Path) -> int:
        given = [argument.replace('INPUTS', str(inputs)) for argument in arguments]
        return main([*given, '--memory', str(folder / 'memory.db')])

    return act


def _stored(act: Callable[[MemoryStore], None], **options: Any) -> Callable[[Path, Path], int]:
    """Return what a node does with its store, with an end like a command's."""

    def done(folder: Path, inputs: Path) -> int:
        try:
            with open_store(str(folder / 'memory.db'), EMBEDDER, **options) as store:
                act(store)
        except RemembrError as error:
            sys.stderr.write(f'{error}\n')
            return 1
        return 0

    return done


_SCENES = ('A red sofa. A table with a lamp. A wide window.', 'A kitchen. A fridge with notes. Two chairs.')
_RULE = Consolidation(alike=0.6, max_gap_ns=60 * NS)


def _stand(store: MemoryStore) -> None:
    """Stand before two scenes for a while each, and look at the first one again."""
    seen = [0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1]
    for start in range(0, len(seen), 3):
        batch = []
        for number, scene in enumerate(seen[start : start + 3], start):
            at_ns = START_NS + (10_000 + 4 * number) * NS
            standing = Memory(
                f's{number}', 'stander', at_ns, at_ns + 3 * NS, _SCENES[scene], Pose(90.0, 0.0), travelled=0.1
            )
            batch.append(Observation(standing, (picture(200 + number),)))
        store.add(batch)


def _retain(store: MemoryStore) -> None:
    store.retain(RetentionPolicy(max_memories=KEPT), START_NS + 3600 * NS)


def _replace(store: MemoryStore) -> None:
    """Store memories anew with another text and picture, as a captioner does that sees them again."""
    for start in range(0, 12, 4):
        known = [(number, memory(number)) for number in range(start, start + 4)]
        store.add(
            [
                Observation(replace(one, caption=f'{one.caption} It is new.'), (picture(number, 1),))
                for number, one in known
            ]
        )


_THINGS: dict[str, tuple[PixelRect, tuple[int, int, int], range]] = {
    'bottle': ((8, 40, 24, 72), (30, 160, 30), range(62)),
    'bowl': ((120, 50, 144, 70), (200, 60, 30), range(4, 62)),
    'cup': ((8, 4, 28, 24), (160, 30, 160), range(62)),
    'vase': ((44, 4, 64, 24), (30, 100, 220), range(1, 62)),
    'clock': ((84, 4, 104, 24), (30, 30, 30), range(2, 62)),
    'phone': ((124, 4, 144, 24), (250, 250, 250), range(3, 62)),
    'book': ((70, 80, 96, 98), (30, 200, 200), range(52, 62)),
}
"""Their pixels, colours, and in which frames they are seen."""

_MUG = (60, 40, 80, 60)
_OFF_M = (*[0.0] * 12, *[0.4] * 12, *[0.3] * 4, *[0.2] * 6, *[0.1] * 16, *[0.0] * 12)
"""How far the robot's place is off in each frame: the mug is taken for another one, until that passes."""


def look(store: MemoryStore) -> None:
    """Look at a few things for a minute, and store what they are every ten seconds."""
    keeper = ObjectKeeper(store, 'looker')
    for number, off in enumerate(_OFF_M):
        stamp_ns = START_NS + (20_000 + number) * NS
        scene, found = Scene(), []
        there = {
            label: (box, bgr) for label, (box, bgr, when) in _THINGS.items() if number in when and not off
        }
        for label, (box, bgr) in {**there, 'mug': (_MUG, (30, 30, 200))}.items():
            scene.put(box, 1.5, bgr)
            left, top, right, bottom = map(float, box)
            found.append(detection((left, top, right, bottom), label, stamp_ns=stamp_ns))
        (x, y, z), turned = AHEAD
        keeper.see(scene.view(stamp_ns, ((x, y + off, z), turned)), found)
    keeper.keep()


def _watched(base: Path) -> None:
    """Make a memory of things that a person corrects, and note their ids."""
    (base / 'inputs').mkdir(parents=True)
    with open_store(str(base / 'm' / 'memory.db'), EMBEDDER) as store:
        look(store)
        ids = {known.name: known.id for known in known_objects(store.all())}
    (base / 'inputs' / 'ids.json').write_text(json.dumps(ids))


def _correcting(action: str, label: str, other: str) -> Callable[[Path, Path], int]:
    def act(folder: Path, inputs: Path) -> int:
        ids = json.loads((inputs / 'ids.json').read_text())
        given = (ids[label], ids.get(other, other))
        return main(['objects', f'--{action}', *given, '--memory', str(folder / 'memory.db')])

    return act


_CAPTIONS = ('--captioner', 'recorded', '--captions', 'INPUTS/captions.json')
_NO_MODEL = ('--embedder', EMBEDDER)

VERBS = {
    'ingest': Verb(
        cli('ingest', 'INPUTS/drive', '--no-consolidation', *_CAPTIONS, *_NO_MODEL), 'remembered as'
    ),
    'ingest a stay': Verb(cli('ingest', 'INPUTS/still', *_CAPTIONS, *_NO_MODEL), 'remembered as'),
    'stay': Verb(_stored(_stand, consolidation=_RULE)),
    'replace': Verb(_stored(_replace)),
    'import': Verb(cli('import', 'INPUTS/other.jsonl'), 'memories read'),
    'recaption': Verb(cli('recaption', '--batch', '4', *_CAPTIONS), 'memories captioned'),
    'forget': Verb(cli('forget', '--text', SECRET, '--yes'), 'deleted', erases=True),
    'map rename': Verb(cli('map', 'rename', 'old', 'new'), 'are now in map'),
    'map transform': Verb(cli('map', 'transform', 'old', '--by', '100', '0', '0.5'), 'are now in map'),
    'map merge': Verb(
        cli('map', 'transform', 'old', '--by', '100', '0', '0.5', '--new-map', 'other'), 'are now in map'
    ),
    'retention': Verb(_stored(_retain)),
    'objects': Verb(_stored(look), live=True),
    'split': Verb(_correcting('split', 'cup', str((START_NS + 20_030 * NS) / NS)), 'seen', prepare=_watched),
    'merge': Verb(_correcting('merge', 'vase', 'clock'), 'seen', prepare=_watched),
}
