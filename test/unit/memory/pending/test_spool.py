import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembr_ros.errors import StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory import durable
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.pending.spool import Spool

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
            assert spool.forget(lambda memory, n=n: memory.start_ns % n == 0) == len(model) - len(kept)
            model = kept
        else:
            spool.close()
            spool = Spool(path)
        assert spool.peek(1_000) == model
        assert (spool.count, spool.size > 0) == (len(model), bool(model))
    spool.close()


@IN_A_FOLDER
@given(st.data())
def test_a_file_cut_at_any_byte_keeps_every_whole_entry(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / f'spool{len(list(tmp_path.iterdir()))}'
    spool = Spool(path)
    ends = []
    for i in range(data.draw(st.integers(1, 5))):
        spool.append(
            [observation(i, images=(b'\0jpeg',))]
        )  # ends in no byte of a tail, which would make it whole
        ends.append(path.stat().st_size)
    spool.close()
    cut = data.draw(st.integers(0, ends[-1]))
    tail = data.draw(st.sampled_from([b'', b'\0' * 50, b'x' * 50]))  # what a power cut may leave instead
    path.write_bytes(path.read_bytes()[:cut] + (tail if cut > 16 else b''))
    spool = Spool(path)
    whole = [f'm{i}' for i, end in enumerate(ends) if end <= cut]
    assert ids(spool) == whole
    spool.append([observation(9)])
    spool.close()
    spool = Spool(path)
    assert ids(spool) == [*whole, 'm9']
    spool.close()


@IN_A_FOLDER
@given(st.data())
def test_one_flipped_bit_costs_one_memory_at_most_which_is_kept_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, data: st.DataObject
) -> None:
    path = tmp_path / f'spool{len(list(tmp_path.iterdir()))}'
    spool = Spool(path)
    starts = []
    for i in range(5):
        starts.append(path.stat().st_size)
        spool.append([observation(i)])
    spool.close()
    content = bytearray(path.read_bytes())
    byte = data.draw(st.integers(starts[0], len(content) - 1) | st.sampled_from([s + 5 for s in starts]))
    content[byte] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    hit = sum(byte >= start for start in starts) - 1
    caplog.clear()
    spool = Spool(path)
    found = ids(spool)
    assert found in ([f'm{i}' for i in range(5)], [f'm{i}' for i in range(5) if i != hit])
    if len(found) < 5:  # a marker or a state tells nothing that is not known without it
        assert f'{path}.damaged' in caplog.text
        assert Path(f'{path}.damaged').read_bytes() == content[starts[hit] : (*starts, len(content))[hit + 1]]
    spool.append([observation(9)])
    spool.close()
    caplog.clear()
    spool = Spool(path)
    assert ids(spool) == [*found, 'm9']
    assert not caplog.text
    spool.close()


def test_who_forgets_forgets_what_nobody_can_read_too(path: Path) -> None:
    spool = Spool(path)
    spool.append([observation(i, f'secret{i}') for i in range(3)])
    spool.close()
    path.write_bytes(path.read_bytes().replace(b'secret1', b'secret7'))
    damaged = Path(f'{path}.damaged')
    spool = Spool(path)
    assert spool.forget(lambda memory: False, leave_traces=True) == 0
    assert b'secret7' in damaged.read_bytes()
    assert b'secret7' not in path.read_bytes()
    assert damaged.stat().st_mode & 0o777 == 0o600
    assert spool.forget(lambda memory: False) == 0
    assert not damaged.exists()
    assert ids(spool) == ['m0', 'm2']
    spool.close()


def test_a_damaged_entry_does_not_take_the_others_along(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    spool = Spool(path)
    spool.append([observation(i) for i in range(3)])
    spool.close()
    path.write_bytes(path.read_bytes().replace(b'thing 1', b'thong 1'))
    spool = Spool(path)
    assert ids(spool) == ['m0', 'm2']
    assert 'memories that were acknowledged are lost' in caplog.text
    assert b'thong 1' in Path(f'{path}.damaged').read_bytes()
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
    assert path.stat().st_size <= 3_000
    spool.close()


@pytest.mark.parametrize('written', [0, 5, 100])
def test_a_full_disk_leaves_what_was_there(path: Path, monkeypatch: pytest.MonkeyPatch, written: int) -> None:
    spool = Spool(path)
    spool.append([observation(1)])
    write = os.pwrite

    def full(handle: int, data: bytes, start: int) -> int:
        if len(data) <= written:
            raise OSError(errno.ENOSPC, 'No space left on device')
        return write(handle, bytes(data[:written]) or b'', start) if written else full(handle, b'', start)

    monkeypatch.setattr(durable.os, 'pwrite', full)
    with pytest.raises(StoreUnavailable, match='No space left'):
        spool.append([observation(2), observation(3)])
    with pytest.raises(StoreUnavailable, match='No space left'):
        spool.forget(lambda memory: memory.id == 'm1')
    monkeypatch.undo()
    assert ids(spool) == ['m1']
    spool.append([observation(4)])
    spool.close()
    spool = Spool(path)
    assert ids(spool) == ['m1', 'm4']
    spool.close()


def test_nothing_of_a_forgotten_memory_is_left_in_any_file(path: Path) -> None:
    spool = Spool(path)
    spool.append([observation(i, f'secret{i} words', (b'face%d' % i,)) for i in range(6)])
    spool.drop(2)  # stored on the server, and forgotten there

    def files() -> bytes:
        return b''.join(file.read_bytes() for file in path.parent.iterdir())

    assert b'secret1' in files()
    assert spool.forget(lambda memory: memory.id in ('m1', 'm3')) == 1
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
    with pytest.raises(StoreUnavailable, match='no spool'):
        Spool(path)
    assert path.read_text() == 'buy milk'
    with pytest.raises(StoreUnavailable, match='cannot be used'):
        Spool(path / 'spool')


WRITER = """
import sys
from pathlib import Path
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.pending.spool import Spool
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


def test_it_syncs_what_it_acknowledges(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    sync = os.fsync

    def recording(handle: int) -> None:
        synced.append(os.readlink(f'/proc/self/fd/{handle}'))
        sync(handle)

    monkeypatch.setattr('os.fsync', recording)
    spool = Spool(path)
    assert {str(path.parent), str(path.parent.parent), str(path.parent.parent.parent)} <= set(synced)
    synced.clear()
    spool.append([observation(1)])
    assert synced == [str(path)]
    spool.close()


Check = Callable[[Memory], bool]


def test_a_lock_that_ended_with_its_process_is_free(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with open(f'{path}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    Spool(path).close()
