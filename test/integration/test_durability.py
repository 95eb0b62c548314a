"""What the memory promises: acknowledged means durable, whatever ends the process or fills the disk."""

import json
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.model.recall import ANYTHING, Query
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.memory.writable import LAST_RESERVE, RESERVE
from test.integration.durable_writer import State, check, image, make_small, memory, opened
from test.small_disk import MountRefused, small_disk

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class Left:
    """What a killed process may have left: the states that each memory may be in."""

    states: dict[str, list[State]] = field(default_factory=dict)

    def note(self, lines: list[str]) -> None:
        """Take in what a writer said."""
        begun: dict[str, State] = {}
        for line in lines:
            if not line.endswith('\n'):  # it was killed while it said that
                continue
            word, _, value = line.partition(' ')
            if word == 'checked':
                self.states = {i: [state] for i, state in json.loads(value).items()}
            elif word == 'begins':
                begun = json.loads(value)
                for i, state in begun.items():
                    self.states[i] = [*self.states.get(i, [None]), state]
            elif word == 'done':
                self.states |= {i: [state] for i, state in begun.items()}


def run_round(path: Path, seed: int, left: Left, moment: str, delay_sec: float) -> None:
    """Start a writer, kill it so long after it said the word, and note what it had acknowledged."""
    stays = '0' if moment == 'closing' else '1'
    with subprocess.Popen(
        [
            *(sys.executable, '-m', 'test.integration.durable_writer'),
            *(str(path), str(seed), json.dumps(left.states), stays),
        ],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith(moment) and (moment != 'begins' or ': null' in line):
                break
        else:
            pytest.fail(f'round {seed}: the writer ended early: {lines[-1:]}')
        # How long the process lives on is what is tried out here.
        time.sleep(delay_sec)
        process.kill()
        lines += process.stdout.readlines()
    left.note(lines)


MOMENTS = {'checked': 0.5, 'opening': 1.0, 'closing': 0.05, 'begins': 0.15}
"""Words after which a writer is killed, and the longest time until then [s]."""


@pytest.mark.timeout(600)
def test_kill_9_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    left, chance = Left(), random.Random(11)
    moments = ['checked', *(['checked', 'begins', 'opening', 'closing'] * 5)]
    for seed, moment in enumerate(moments):
        run_round(tmp_path / 'memory.db', seed, left, moment, chance.uniform(0.0, MOMENTS[moment]))
    with opened(str(tmp_path / 'memory.db')) as store:
        assert len(check(store, left.states)) > 20


@pytest.fixture
def disk() -> Iterator[Path]:
    try:
        with small_disk() as folder:
            yield folder
    except MountRefused as error:
        pytest.skip(str(error))


def room(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def fill(store: MemoryStore) -> tuple[int, StoreUnavailable]:
    """Add memories until that fails; return how many were acknowledged, and why it failed."""
    acknowledged = 0
    while True:
        numbers = range(acknowledged, acknowledged + 200)
        try:
            store.add([Observation(memory(n, 1, 1), (image(n),)) for n in numbers])
        except StoreUnavailable as error:
            return acknowledged, error
        acknowledged += len(numbers)


def test_a_full_disk_is_told_loses_nothing_and_goes_on_when_there_is_room(disk: Path) -> None:
    path = str(disk / 'memory.db')
    ballast = disk / 'ballast'  # somebody else's file, which is deleted to make room
    ballast.write_bytes(bytes(RESERVE - LAST_RESERVE + 1_000_000))
    with open_store(path, 'hashing-64') as store:
        acknowledged, error = fill(store)
        assert re.search('is full: .* Make room; what was stored before is safe', str(error))
        assert acknowledged > 500
        assert room(disk) >= LAST_RESERVE  # so that forgetting still works
        # Pictures are given up long before memories are.
        assert 'make room' in store.problem
        assert store.info().keyframes == 0
        assert store.forget(['m3'], leave_traces=True) == 1
        filling = disk / 'filling'
        filling.write_bytes(bytes(room(disk) - 40_000))
        known = store.get(['m4'])
        for attempt in (
            lambda: store.add([Observation(memory(9_999, 0, 1))]),
            lambda: store.forget(['m4']),
            lambda: store.engine.update(known),
        ):
            with pytest.raises(StoreUnavailable, match='full'):
                attempt()
        left = {f'm{n}': [[1, 1]] for n in range(acknowledged) if n != 3}
        check_all(store, left)
    with open_store(path, 'hashing-64') as store:  # with its index and the disk as it is
        assert store.count() == acknowledged - 1
    filling.unlink()
    # To rewrite the file takes the reserve and twice its size.
    filling.write_bytes(bytes(room(disk) - RESERVE - Path(path).stat().st_size))
    with open_store(path, 'hashing-64') as store:
        check_all(store, left)
        with pytest.raises(StoreUnavailable, match=r'can still be read from the file .* Make room'):
            store.forget(['m5'])
        del left['m5']
        ballast.unlink()
        filling.unlink()
        store.add([Observation(memory(10_000, 0, 1))])
        check_all(store, left | {'m10000': [[0, 1]]})


def check_all(store: MemoryStore, left: dict[str, list[State]]) -> None:
    """Check what can be checked of many memories in a short time."""
    there = {one.id: one for one in store.all()}
    assert there.keys() == left.keys()
    vectors = store.engine.vectors(list(there))
    for i in random.Random(1).sample(sorted(there), 20):
        assert store.find(Query(there[i].caption, limit=1))[0].memory == there[i]
        assert len(vectors[i]) == len(store.engine.compared(vectors[i][:1], [i])[0].cosines)


@pytest.fixture(scope='module')
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with clusters, closed."""
    with pytest.MonkeyPatch.context() as patched:
        make_small(patched.setattr)
        folder = tmp_path_factory.mktemp('made')
        with open_store(str(folder / 'memory.db'), 'hashing-64') as store:
            for start in range(0, 150, 50):
                numbers = range(start, start + 50)
                store.add([Observation(memory(n, n % 3, 1), (image(n),)) for n in numbers])
    return folder


def damage(file: Path, chance: random.Random) -> None:
    """Flip some bits of a file, or cut it off."""
    data = bytearray(file.read_bytes())
    if chance.random() < 0.3:
        del data[chance.randrange(len(data)) :]
    else:
        for _ in range(chance.choice([1, 1, 20])):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


@pytest.mark.parametrize('seed', range(12))
def test_a_damaged_file_beside_the_database_is_mended_from_it(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    make_small(monkeypatch.setattr)
    shutil.copytree(made, tmp_path / 'copy')
    chance = random.Random(seed)
    damage(tmp_path / 'copy' / 'memory.db.memories.cache', chance)
    with opened(str(tmp_path / 'copy' / 'memory.db')) as store:
        check(store, {f'm{n}': [[n % 3, 1]] for n in range(150)})
        # What is found by its vector alone is what comparing them all finds.
        ids = [one.id for one in store.all()]
        for one in chance.sample(store.all(), 10):
            vector = store.embedder.embed_query(one.caption)
            compared = store.engine.compared(vector[None], ids)
            best = sorted(float(c.cosines[: c.paragraphs].max()) for c in compared)
            found = list(store.engine.like(vector, ANYTHING, 3).values())[:3]
            assert sorted(found) == pytest.approx(best[-3:], abs=1e-3)
