import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembr_ros.errors import StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.pending.spool import Spool
from test.small_disk import MountRefused, small_disk

REPOSITORY = Path(__file__).resolve().parents[4]
IN_A_FOLDER = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def observation(i: int, caption: str = '', images: tuple[bytes, ...] = (b'jpeg\n\0',)) -> Observation:
    return Observation(Memory(f'm{i}', 'r', i, i + 1, caption or f'thing {i}', Pose(1.0, 2.0)), images)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'new' / 'folder' / 'spool'


def ids(spool: Spool) -> list[str]:
    return [o.memory.id for o in spool.peek(1_000_000)]


def test_what_is_appended_comes_back_in_order_and_whole_after_a_restart(path: Path) -> None:
    wanted = [
        observation(1),
        Observation(Memory('m2', 'r', 5, 9, 'two\nlines "and" 🚪 \ud800', None, scene_text=('EXIT', ''))),
        observation(3, images=(b'', b'\n' * 100, bytes(range(256)))),
    ]
    spool = Spool(path)
    spool.append(wanted[:2])
    spool.append(wanted[2:])
    spool.append([])
    assert (spool.count, spool.oldest_ns, spool.peek(2)) == (3, 2, wanted[:2])
    spool.close()
    spool = Spool(path)
    assert spool.peek(9) == wanted
    spool.drop(1)
    assert (spool.peek(9), spool.oldest_ns) == (wanted[1:], 9)
    spool.close()
    spool = Spool(path)
    assert spool.peek(9) == wanted[1:]
    spool.drop(9)
    assert (spool.count, spool.size, spool.oldest_ns) == (0, 0, None)
    spool.append(wanted[:1])
    spool.close()
    spool = Spool(path)
    assert spool.peek(9) == wanted[:1]
    spool.close()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just('append'), st.integers(1, 4)),
        st.tuples(st.just('drop'), st.integers(1, 6)),
        st.tuples(st.just('forget'), st.integers(2, 4)),
        st.tuples(st.just('reopen'), st.just(0)),
    ),
    max_size=20,
)


@IN_A_FOLDER
@given(STEPS)
def test_it_is_a_queue_whatever_happens_to_it(tmp_path: Path, steps: list[tuple[str, int]]) -> None:
    path = tmp_path / f'spool{len(list(tmp_path.iterdir()))}'
    spool = Spool(path)
    model: list[Observation] = []
    number = 0
    for step, n in steps:
        if step == 'append':
            new = [observation(number + i, images=(os.urandom(n),)) for i in range(n)]
            number += n
            spool.append(new)
            model += new
        elif step == 'drop':
            spool.drop(n)
            model = model[n:]
        elif step == 'forget':
            kept = [o for o in model if o.memory.start_ns % n]
            gone = {o.memory.id for o in model} - {o.memory.id for o in kept}
            assert spool.forget(gone | {'unknown'}) == len(gone)
            model = kept
        else:
            spool.close()
            spool = Spool(path)
        assert spool.peek(1_000) == model
        assert (spool.count, spool.size > 0) == (len(model), bool(model))
    spool.close()


def test_all_that_waits_can_be_looked_at_without_its_images(path: Path) -> None:
    spool = Spool(path)
    spool.append([observation(i, images=(os.urandom(100_000),)) for i in range(3)])
    assert [(o.memory.id, o.images) for o in spool.queued()] == [('m0', ()), ('m1', ()), ('m2', ())]
    spool.close()


def damage(path: Path, old: bytes, new: bytes) -> None:
    """Change bytes of the file, as a bad disk does."""
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))


def test_a_damaged_memory_does_not_take_the_others_along(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool = Spool(path)
    spool.append([observation(i) for i in range(3)])
    spool.close()
    damage(path, b'thing 1', b'thong 1')
    spool = Spool(path)
    assert ids(spool) == ['m0', 'm2']
    assert '1 memories that waited' in caplog.text
    assert spool.count == 2
    spool.append([observation(9)])
    spool.close()
    caplog.clear()
    spool = Spool(path)
    assert ids(spool) == ['m0', 'm2', 'm9']
    assert not caplog.text
    spool.close()


def test_who_forgets_forgets_what_nobody_can_read_too(path: Path) -> None:
    spool = Spool(path)
    spool.append([observation(i, f'secret{i}') for i in range(3)])
    spool.close()
    damage(path, b'secret1', b'secret7')
    spool = Spool(path)
    assert ids(spool) == ['m0', 'm2']
    assert spool.forget([]) == 0
    assert all(b'secret7' not in file.read_bytes() for file in path.parent.iterdir())
    assert path.stat().st_mode & 0o777 == 0o600
    spool.close()


def test_a_full_spool_says_so_and_takes_more_once_drained(path: Path) -> None:
    spool = Spool(path, max_bytes=3_000)
    spool.append([observation(1, images=(bytes(1_000),)), observation(2, images=(bytes(1_000),))])
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match='the spool is full'):
            spool.append([observation(3, images=(bytes(1_000),))])
    assert ids(spool) == ['m1', 'm2']
    spool.drop(1)
    spool.append([observation(3, images=(bytes(1_000),))])  # in the room of what has been drained
    assert ids(spool) == ['m2', 'm3']
    spool.close()


@pytest.fixture
def disk() -> Iterator[Path]:
    """A disk with little room."""
    try:
        with small_disk('2m') as folder:
            yield folder
    except MountRefused as error:
        pytest.skip(str(error))


def test_a_full_disk_leaves_what_was_there(disk: Path) -> None:
    spool = Spool(disk / 'spool')
    spool.append([observation(1)])
    with pytest.raises(StoreUnavailable, match='make room: what was stored before is safe'):
        spool.append([observation(2), observation(3, images=(os.urandom(3_000_000),))])
    assert ids(spool) == ['m1']
    spool.append([observation(4)])
    spool.close()
    spool = Spool(disk / 'spool')
    assert ids(spool) == ['m1', 'm4']
    spool.close()


def test_nothing_of_a_forgotten_memory_is_left_in_any_file(path: Path) -> None:
    spool = Spool(path)
    spool.append([observation(i, f'secret{i} words', (b'face%d' % i,)) for i in range(6)])
    spool.drop(2)  # stored on the server, and forgotten there

    def files() -> bytes:
        return b''.join(file.read_bytes() for file in path.parent.iterdir())

    assert b'secret1' in files()
    assert spool.forget(['m1', 'm3']) == 1
    assert ids(spool) == ['m2', 'm4', 'm5']
    for gone in (b'secret0', b'secret1', b'secret3', b'face3'):
        assert gone not in files()
    assert b'secret4' in files()
    spool.drop(9)
    assert b'secret' not in files()
    spool.close()


def test_one_process_has_it(path: Path) -> None:
    spool = Spool(path)
    with pytest.raises(StoreUnavailable, match='another process has it'):
        Spool(path)
    spool.close()
    Spool(path).close()


def test_another_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / 'notes.txt'
    path.write_text('buy milk')
    with pytest.raises(StoreUnavailable, match='choose another file'):
        Spool(path)
    assert path.read_text() == 'buy milk'
    with pytest.raises(StoreUnavailable, match='cannot open'):
        Spool(path / 'spool')


WRITER = """
import sys
from pathlib import Path
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.pending.spool import Spool
from test.small_disk import MountRefused, small_disk
spool = Spool(Path(sys.argv[1]))
i = int(sys.argv[2])
while True:
    spool.append([Observation(Memory(f'm{i}', 'r', i, i, 'x'), (bytes(3000),))])
    print(i, flush=True)
    i += 1
    if i % 7 == 0:
        spool.drop(1)
"""


def test_what_was_acknowledged_survives_kill_9(path: Path) -> None:
    acknowledged = 0
    for before_kill in (1, 15, 4):
        with subprocess.Popen(
            [sys.executable, '-c', WRITER, str(path), str(acknowledged)],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
        ) as writer:
            assert writer.stdout is not None
            lines = [writer.stdout.readline() for _ in range(before_kill)]
            writer.send_signal(signal.SIGKILL)
            lines += writer.stdout.read().splitlines()
        acknowledged = max(int(line) for line in lines if line.strip()) + 1
        spool = Spool(path)
        found = ids(spool)
        first = int(found[0][1:])
        assert found[: acknowledged - first] == [f'm{i}' for i in range(first, acknowledged)]
        assert first <= acknowledged // 7
        assert len(found) <= acknowledged - first + 1  # one may be whole and not acknowledged
        acknowledged = first + len(found)
        spool.close()


def test_a_lock_that_ended_with_its_process_is_free(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with open(f'{path}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    Spool(path).close()
