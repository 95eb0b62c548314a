"""Cut off at any step, a change is finished when the memory is opened, or asked for again, once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.geometry import Pose, RigidTransform
from remembr_ros.memory import whole_changes
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.pending import change_log
from remembr_ros.memory.pending.change_log import ChangeLog
from remembr_ros.memory.whole_changes import MapMove, WholeChanges
from test.unit.memory.test_store import jpeg

Make = Callable[..., Memory]
PARTLY = 7  # steps, after which some rows were written
BY_100 = MapMove('a', RigidTransform((100.0, 0.0, 0.0)), None, None)
A_TO_B = MapMove('a', None, 'b', None)


class Killed(BaseException):
    """The process ends here."""


class Steps:
    """Counts what is done, and ends it."""

    def __init__(self) -> None:
        self.left = 10**9

    def __call__(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed


class Rows:
    """The part of an engine that is needed, on a disk that keeps what was written row by row."""

    def __init__(self, memories: Iterable[Memory], step: Steps) -> None:
        self.there = {memory.id: memory for memory in memories}
        self.traces: set[str] = set()
        self.asked: list[list[str]] = []
        self.room = True
        self.claimed = ''
        self.step = step

    def select(self, scope: Scope) -> list[Memory]:
        return [memory for memory in self.there.values() if scope.admits(memory)]

    def get(self, ids: Sequence[str]) -> list[Memory]:
        return [self.there[i] for i in ids if i in self.there]

    def update(self, memories: Sequence[Memory]) -> None:
        for memory in memories:
            self.step()
            self.there[memory.id] = memory

    def delete(self, ids: Sequence[str]) -> None:
        for memory_id in ids:
            self.step()
            if self.there.pop(memory_id, None):
                self.traces.add(memory_id)

    def vacuum(self) -> None:
        self.step()
        if not self.room:
            raise StoreUnavailable('make room')
        self.traces.clear()
        self.step()

    def claim(self, name: str) -> None:
        self.step()
        if self.claimed not in ('', name):
            raise InvalidRequest('another machine is at it')
        self.claimed = name

    def is_claimed(self, name: str) -> bool:
        return self.claimed == name

    def release(self, name: str) -> None:
        self.step()
        if self.claimed == name:
            self.claimed = ''

    def named(self, keyframes: Iterable[str]) -> set[str]:
        self.step()
        self.asked.append(sorted(keyframes))
        return {name for memory in self.there.values() for name in memory.keyframes} & set(self.asked[-1])


class Case:
    """Four memories, of which the last two share a keyframe, and what a process does with them."""

    def __init__(self, folder: Path, make: Make, step: Steps) -> None:
        self.folder = folder
        self.keyframes = KeyframeFolder(folder / 'keyframes')
        names = self.keyframes.put([jpeg(i) for i in range(4)])
        named = [names[:1], names[1:2], names[2:], names[3:]]
        self.rows = Rows((make(i, map_id='a', keyframes=named[i]) for i in range(4)), step)

    def opened(self) -> WholeChanges:
        changes = WholeChanges(ChangeLog(self.folder / 'log', 'c'), self.keyframes)
        changes.open(self.rows)  # type: ignore[arg-type]
        return changes

    def begun(self) -> list[Any]:
        return ChangeLog(self.folder / 'log', 'c').unfinished()

    def state(self) -> Any:
        files = sorted(path.name for path in self.keyframes.folder.rglob('*') if path.is_file())
        places = [(i, one.pose and one.pose.x, one.map_id) for i, one in sorted(self.rows.there.items())]
        return places, self.rows.traces, self.rows.claimed, files


Verb = Callable[[WholeChanges, Rows], None]


def forget(changes: WholeChanges, rows: Any) -> None:
    changes.delete(rows, [m for m in rows.there.values() if m.id in ('m0', 'm2', 'm3')], vacuum=True)


def retain(changes: WholeChanges, rows: Any) -> None:
    changes.delete(rows, [m for m in rows.there.values() if m.id in ('m0', 'm2')], vacuum=False)


def transform(changes: WholeChanges, rows: Any) -> None:
    changes.move(rows, BY_100)
    changes.close()


def rename(changes: WholeChanges, rows: Any) -> None:
    changes.move(rows, A_TO_B)
    changes.close()


def replace_first(changes: WholeChanges, rows: Any) -> None:
    first = rows.there['m0']
    with changes.dropping(rows, set(first.keyframes)):
        rows.update([replace(first, keyframes=())])


@pytest.fixture
def step(monkeypatch: pytest.MonkeyPatch) -> Steps:
    step = Steps()
    real = change_log.changing

    @contextmanager
    def stepping(*arguments: Any) -> Iterator[None]:
        step()
        with real(*arguments):
            yield
        step()

    monkeypatch.setattr(change_log, 'changing', stepping)
    monkeypatch.setattr(whole_changes, 'BATCH', 2)
    return step


@pytest.mark.parametrize('verb', [forget, retain, transform, rename, replace_first])
@pytest.mark.parametrize('opened_between', [False, True])
def test_cut_off_anywhere_and_asked_for_again_it_is_done_once(
    tmp_path: Path, make: Make, step: Steps, verb: Verb, opened_between: bool
) -> None:
    undisturbed = Case(tmp_path / 'undisturbed', make, step)
    verb(undisturbed.opened(), undisturbed.rows)
    cuts = 0
    while True:
        case = Case(tmp_path / str(cuts), make, step)
        changes = case.opened()
        step.left = cuts
        try:
            verb(changes, case.rows)
            break
        except Killed:
            pass
        finally:
            step.left = 10**9
        changes.close(reported=False)  # as the end of the process does, let go of what is locked
        if opened_between:
            case.opened()
        told = not case.begun() and case.state() == undisturbed.state()
        if not (told and verb is transform):  # it was taken as told: the last step of all
            verb(case.opened(), case.rows)
        assert case.state() == undisturbed.state(), f'cut off at step {cuts}'
        cuts += 1
    assert cuts > 5


@pytest.mark.parametrize('again', range(12))
def test_finishing_may_be_cut_off_as_well(tmp_path: Path, make: Make, step: Steps, again: int) -> None:
    undisturbed = Case(tmp_path / 'undisturbed', make, step)
    transform(undisturbed.opened(), undisturbed.rows)
    case = Case(tmp_path / 'case', make, step)
    changes = case.opened()
    step.left = PARTLY  # when some rows were written
    with pytest.raises(Killed):
        transform(changes, case.rows)
    assert len({m.pose.x - int(m.id[1:]) for m in case.rows.there.values() if m.pose}) == 2
    changes.close(reported=False)
    step.left = again
    try:
        changes = case.opened()
        transform(changes, case.rows)
    except Killed:
        changes.close(reported=False)
        step.left = 10**9
        if case.begun():
            transform(case.opened(), case.rows)
    step.left = 10**9
    assert case.state() == undisturbed.state()


def test_what_was_told_is_done_again_when_asked_again(tmp_path: Path, make: Make, step: Steps) -> None:
    case = Case(tmp_path, make, step)
    changes = case.opened()
    transform(changes, case.rows)
    transform(changes, case.rows)
    transform(case.opened(), case.rows)
    assert [m.pose and m.pose.x for m in case.rows.there.values()] == [300.0, 301.0, 302.0, 303.0]


def test_something_else_may_be_asked_for_after_a_cut(tmp_path: Path, make: Make, step: Steps) -> None:
    case = Case(tmp_path, make, step)
    changes = case.opened()
    step.left = PARTLY
    with pytest.raises(Killed):
        transform(changes, case.rows)
    changes.close()  # nobody was told of anything
    step.left = 10**9
    changes = case.opened()
    assert changes.was_cut_off(case.rows, BY_100)
    assert not changes.was_cut_off(case.rows, A_TO_B)
    rename(changes, case.rows)
    assert case.state()[0] == [(f'm{i}', 100.0 + i, 'b') for i in range(4)]
    assert not changes.was_cut_off(case.rows, BY_100)


def cut_off(case: Case, step: Steps, verb: Verb) -> None:
    """End the process when some rows were written, and finish what it was at."""
    changes = case.opened()
    step.left = PARTLY
    with pytest.raises(Killed):
        verb(changes, case.rows)
    step.left = 10**9
    changes.close(reported=False)
    case.opened()


def test_an_older_copy_of_the_rows_is_moved_anew(tmp_path: Path, make: Make, step: Steps) -> None:
    case = Case(tmp_path, make, step)
    before = dict(case.rows.there)
    cut_off(case, step, transform)
    case.rows.there = before
    changes = case.opened()
    assert not changes.was_cut_off(case.rows, BY_100)
    transform(changes, case.rows)
    assert [m.pose and m.pose.x for m in case.rows.there.values()] == [100.0, 101.0, 102.0, 103.0]


def test_memories_without_a_place_do_not_tell_that_others_were_moved(
    tmp_path: Path, make: Make, step: Steps
) -> None:
    case = Case(tmp_path, make, step)
    case.rows.there['m0'] = replace(case.rows.there['m0'], pose=None)  # where it was and is to be alike
    before = dict(case.rows.there)
    cut_off(case, step, transform)
    case.rows.there = before
    changes = case.opened()
    assert not changes.was_cut_off(case.rows, BY_100)  # type: ignore[arg-type]
    transform(changes, case.rows)
    assert [m.pose and m.pose.x for m in case.rows.there.values()] == [None, 101.0, 102.0, 103.0]


def test_of_an_older_copy_of_some_rows_these_are_moved(tmp_path: Path, make: Make, step: Steps) -> None:
    case = Case(tmp_path, make, step)
    before = dict(case.rows.there)
    cut_off(case, step, transform)
    case.rows.there |= {'m1': before['m1'], 'm2': before['m2'], 'm4': make(4, map_id='a')}
    changes = case.opened()
    assert changes.was_cut_off(case.rows, BY_100)  # type: ignore[arg-type]
    transform(changes, case.rows)
    places = [m.pose and m.pose.x for m in case.rows.there.values()]
    assert places == [100.0, 101.0, 102.0, 103.0, 4.0]  # the last one came since


@pytest.mark.parametrize('vacuum', [True, False])
def test_notes_do_not_pile_up_where_every_write_is_refused(
    tmp_path: Path, make: Make, step: Steps, vacuum: bool
) -> None:
    case = Case(tmp_path, make, step)
    real = case.rows.delete
    case.rows.delete = lambda ids: real(ids) if not ids else _away(ids)  # type: ignore[method-assign]
    changes = case.opened()
    for i in range(50):
        case.rows.there[f'm{i}'] = make(i, map_id='a')
        with pytest.raises(StoreUnavailable):
            changes.delete(case.rows, [case.rows.there[f'm{i}']], vacuum=vacuum)  # type: ignore[arg-type]
        with pytest.raises(StoreUnavailable), changes.dropping(case.rows, {'x.jpg'}):  # type: ignore[arg-type]
            _away([])
    assert len(case.begun()) == 2  # what is to go, and the picture of what was replaced
    case.rows.delete = real  # type: ignore[method-assign]
    case.opened()
    assert not case.rows.there
    assert not case.begun()


def test_a_move_is_finished_though_some_were_forgotten_or_extended_since(
    tmp_path: Path, make: Make, step: Steps
) -> None:
    case = Case(tmp_path, make, step)
    cut_off(case, step, transform)
    del case.rows.there['m0']
    case.rows.there['m1'] = replace(case.rows.there['m1'], pose=Pose(101.5, 0.0, 0.0, 0.0))
    transform(case.opened(), case.rows)
    assert [m.pose and m.pose.x for m in case.rows.there.values()] == [101.5, 102.0, 103.0]


def test_what_came_to_the_old_name_since_is_renamed_as_well(tmp_path: Path, make: Make, step: Steps) -> None:
    case = Case(tmp_path, make, step)
    cut_off(case, step, rename)
    case.rows.there['m4'] = make(4, map_id='a')
    changes = case.opened()
    assert changes.was_cut_off(case.rows, A_TO_B)
    rename(changes, case.rows)
    assert {m.map_id for m in case.rows.there.values()} == {'b'}
    assert not case.begun()


def test_maps_are_moved_by_one_machine_at_a_time(tmp_path: Path, make: Make, step: Steps) -> None:
    case = Case(tmp_path / 'first', make, step)
    changes = case.opened()
    step.left = PARTLY  # when some rows were written
    with pytest.raises(Killed):
        transform(changes, case.rows)
    step.left = 10**9
    assert case.rows.claimed
    other = WholeChanges(ChangeLog(tmp_path / 'second', 'c'), case.keyframes)
    with pytest.raises(InvalidRequest, match='another machine'):
        rename(other, case.rows)
    other.open(case.rows)  # type: ignore[arg-type]  # what was refused does not happen later
    assert {map_id for _, _, map_id in case.state()[0]} == {'a'}
    case.opened()
    rename(other, case.rows)
    assert case.state()[0] == [(f'm{i}', 100.0 + i, 'b') for i in range(4)]


def test_what_lost_its_claim_is_not_finished(tmp_path: Path, make: Make, step: Steps) -> None:
    case = Case(tmp_path / 'first', make, step)
    changes = case.opened()
    step.left = PARTLY
    with pytest.raises(Killed):
        transform(changes, case.rows)
    step.left = 10**9
    case.rows.claimed = ''  # dropped, because that machine seemed to be gone for ever
    before = case.state()[0]
    assert not case.opened().was_cut_off(case.rows, BY_100)
    assert case.state()[0] == before


def test_without_room_the_deleted_stays_noted_until_it_is_cleaned(
    tmp_path: Path, make: Make, step: Steps, caplog: pytest.LogCaptureFixture
) -> None:
    case = Case(tmp_path, make, step)
    case.rows.room = False
    changes = case.opened()
    with pytest.raises(StoreUnavailable, match='make room'):
        forget(changes, case.rows)
    assert changes.problem == 'make room'
    changes = case.opened()  # no reason not to open
    assert changes.problem == 'make room'
    assert 'make room' in caplog.text
    retain(changes, case.rows)  # what leaves traces does not care
    with pytest.raises(StoreUnavailable, match='make room'):
        forget(changes, case.rows)
    case.rows.room = True
    forget(changes, case.rows)
    assert changes.problem == ''
    assert case.state()[:2] == ([('m1', 1.0, 'a')], set())
    assert len(case.state()[-1]) == 1  # the keyframe of the one that is left


def test_what_was_to_go_goes_before_others_of_its_ids_come(tmp_path: Path, make: Make, step: Steps) -> None:
    case = Case(tmp_path, make, step)
    changes = case.opened()
    step.left = 6
    real = case.rows.delete
    case.rows.delete = _away  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailable):
        forget(changes, case.rows)
    step.left = 10**9
    assert not case.begun(), 'what is refused at once does not happen later'
    case.rows.delete = lambda ids: real(ids) if not ids else _away(ids)  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailable):
        forget(changes, case.rows)
    with pytest.raises(StoreUnavailable):
        changes.ready(case.rows)  # type: ignore[arg-type]
    case.rows.delete = real  # type: ignore[method-assign]
    changes.ready(case.rows)  # type: ignore[arg-type]
    assert list(case.rows.there) == ['m1']
    case.rows.there['m0'] = make(0, map_id='a')
    case.opened()
    assert sorted(case.rows.there) == ['m0', 'm1']
    assert not case.rows.traces


def _away(ids: Sequence[str]) -> None:
    raise StoreUnavailable('the server is away')


@pytest.mark.parametrize('content', ['', '[]', '{"ids": 5}', '{"ids": [1]}', '[' * 10_000, '{"vacuum": 1}'])
def test_a_note_of_another_shape_is_a_problem_and_stays(
    tmp_path: Path, make: Make, step: Steps, content: str
) -> None:
    case = Case(tmp_path, make, step)
    log = ChangeLog(case.folder / 'log', 'c')
    log.write('INSERT INTO "{0} begun" VALUES (\'x\', 1, ?)', content)
    changes = case.opened()
    assert 'is damaged: check what it left' in changes.problem
    forget(changes, case.rows)
    log.write('UPDATE "{0} begun" SET name = \'y\' WHERE plan = ?', content)  # it is still there
    assert 'is damaged' in case.opened().problem
    assert list(case.rows.there) == ['m1']


def test_keyframes_are_asked_for_by_name_and_once_per_change(tmp_path: Path, make: Make, step: Steps) -> None:
    case = Case(tmp_path, make, step)
    names = sorted({name for memory in case.rows.there.values() for name in memory.keyframes})
    forget(case.opened(), case.rows)
    assert case.rows.asked == [sorted(set(names) - set(case.rows.there['m1'].keyframes))]
