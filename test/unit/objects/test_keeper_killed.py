"""What an object memory comes to where it was killed while it stored, with the last rows of that left out."""

from collections.abc import Sequence
from typing import Any

import pytest

from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.objects.keeper import EVERY_NS, ObjectKeeper
from remembr_ros.timestamps import NS
from test.object_scene import T0, PixelRect, Scene, detection

THINGS: dict[str, tuple[PixelRect, tuple[int, int, int]]] = {
    'mug': ((40, 50, 60, 70), (30, 30, 200)),
    'bowl': ((100, 50, 120, 70), (200, 60, 30)),
    'vase': ((60, 10, 80, 30), (30, 160, 30)),
}
SECONDS = range(-(-EVERY_NS // NS) + 5)


class Killed(Exception):
    pass


class Rows:
    """A store of rows alone, which are written in their order: a kill leaves out the last of a change."""

    def __init__(self) -> None:
        self.rows: dict[str, Memory] = {}
        self.changes = 0
        self.kill_at = 0
        self.written = 0

    def matching(self, **_: Any) -> list[Memory]:
        return list(self.rows.values())

    def add(self, observations: Sequence[Observation], gone: Sequence[str] = ()) -> list[Memory]:
        assert not gone
        self.changes += 1
        killed = self.changes == self.kill_at
        for observation in observations[: self.written if killed else None]:
            self.rows[observation.memory.id] = observation.memory
        if killed:
            raise Killed
        return [self.rows[observation.memory.id] for observation in observations]


def looked(rows: Rows, kill_at: int = 0, written: int = 0, live: bool = True) -> None:
    """Look at a few things, as a process that may be killed."""
    rows.changes, rows.kill_at, rows.written = 0, kill_at, written
    store: Any = rows
    keeper = ObjectKeeper(store, 'robbie', live=live)
    try:
        for second in SECONDS:
            stamp_ns, scene, found = T0 + second * NS, Scene(), []
            for label, (box, bgr) in THINGS.items():
                scene.put(box, 1.5, bgr)
                left, top, right, bottom = map(float, box)
                found.append(detection((left, top, right, bottom), label, stamp_ns=stamp_ns))
            keeper.see(scene.view(stamp_ns), found)
        keeper.keep()
    except Killed:
        assert kill_at


def told(rows: Rows) -> dict[str, tuple[object, ...]]:
    found = known_objects(rows.rows.values())
    assert len({known.name for known in found}) == len(found)
    return {
        known.name: (known.id, known.facts.observations, known.facts.labels, known.facts.intervals)
        for known in found
    }


@pytest.mark.parametrize('written', range(len(THINGS) + 1))
def test_whatever_rows_a_kill_leaves_out_it_comes_to_the_same_when_it_is_read_again(written: int) -> None:
    undisturbed = Rows()
    looked(undisturbed)
    assert undisturbed.changes > 1
    for kill_at in range(1, undisturbed.changes + 1):
        rows = Rows()
        looked(rows, kill_at, written)
        looked(rows, kill_at, len(THINGS) - written)
        looked(rows)
        assert told(rows) == told(undisturbed), f'killed at change {kill_at}'


def test_what_is_not_live_is_stored_at_once_at_the_end() -> None:
    rows = Rows()
    looked(rows, live=False)
    assert (rows.changes, len(rows.rows)) == (1, len(THINGS))
    again, before = Rows(), dict(rows.rows)
    looked(again, kill_at=1, live=False)
    assert not again.rows
    looked(again, live=False)
    assert again.rows == before
    looked(again, live=False)
    assert (again.changes, again.rows) == (0, before)


def test_what_was_stored_whole_is_not_stored_anew_when_it_is_read_again() -> None:
    rows = Rows()
    looked(rows)
    before = dict(rows.rows)
    looked(rows)
    assert (rows.changes, rows.rows) == (0, before)


@pytest.mark.parametrize(('classes', 'told'), [(('mug', 'bowl'), ('mug', 'bowl')), (('x',) * 1_001, ())])
def test_objects_tell_what_is_looked_for(classes: tuple[str, ...], told: tuple[str, ...]) -> None:
    rows: Any = Rows()
    keeper = ObjectKeeper(rows, 'robbie', live=False, classes=lambda: classes)
    for second in range(5):
        stamp_ns, scene = T0 + second * NS, Scene()
        box, bgr = THINGS['mug']
        scene.put(box, 1.5, bgr)
        left, top, right, bottom = map(float, box)
        keeper.see(scene.view(stamp_ns), [detection((left, top, right, bottom), 'mug', stamp_ns=stamp_ns)])
    keeper.keep()
    assert [known.facts.classes for known in known_objects(rows.rows.values())] == [told]
