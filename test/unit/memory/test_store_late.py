"""What was forgotten is not stored when it comes late, and what quotes it goes, too."""

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.memory.deeds.deed import TALK, deed
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS

Make = Callable[..., Memory]
Add = Callable[..., list[Memory]]


def heard(memory: Memory, ago_s: float = 0.0) -> Observation:
    return Observation(memory, heard_ns=time.time_ns() - round(ago_s * NS))


def answer(key: str, *evidence: str, start_ns: int = 1_800_000_000 * NS) -> Memory:
    told = deed(
        start_ns, kind='answer', text='Perhaps a woman named Zorblax sits there', evidence=evidence, key=key
    )
    return told.memory('robbie', TALK)


class Waiting:
    """A queue of somebody's own."""

    def __init__(self, *observations: Observation) -> None:
        self.observations = list(observations)

    def queued(self) -> list[Observation]:
        return self.observations

    def forget(self, ids: Collection[str]) -> None:
        self.observations = [o for o in self.observations if o.memory.id not in ids]


@pytest.mark.parametrize(
    'asked', [(None, Scope(), 'NUMBER 1'), (['m1'],), (None, Scope(near=(1.0, 0.0, 0.0), radius_m=0.5))]
)
def test_what_was_heard_before_a_forgetting_is_not_stored_after_it(
    store: MemoryStore, make: Make, asked: tuple[object, ...]
) -> None:
    early = [heard(make(i)) for i in range(3)]
    assert store.forget(*asked) == 0  # type: ignore[arg-type]
    assert store.add_heard(early) == [make(0), None, make(2)]
    assert store.add_heard([heard(make(1))]) == [make(1)]  # the robot has seen it again


def test_what_somebody_wants_stored_is_stored_whatever_was_forgotten(store: MemoryStore, make: Make) -> None:
    store.forget(['m1'])
    assert store.add([Observation(make(1))]) == [make(1)]


def test_a_queue_is_looked_at_and_counted(store: MemoryStore, make: Make, add: Add) -> None:
    queue = Waiting(heard(make(1)), heard(make(2)), heard(make(3, caption='a door')))
    store.late.queues.append(queue)
    add(make(2))  # is being stored: it is in both
    assert store.doomed(text='thing') == [make(1), make(2)]
    assert store.forget(text='thing') == 2
    assert [o.memory.id for o in queue.observations] == ['m3']
    assert store.all() == []


def test_it_holds_after_the_process_has_ended(tmp_path: Path, make: Make) -> None:
    early = heard(make(1), ago_s=100.0)
    with open_store(str(tmp_path / 'm.db'), HashingEmbedder(8)) as store:
        store.forget(text='thing')
    with open_store(str(tmp_path / 'm.db')) as store:
        assert store.add_heard([early]) == [None]
        assert store.add_heard([heard(make(1))]) == [make(1)]


def test_what_tidies_up_does_not_hold_for_what_comes_late(store: MemoryStore, make: Make, add: Add) -> None:
    early = heard(make(1))
    add(make(1))
    assert store.forget(['m1'], leave_traces=True) == 1
    assert store.add_heard([early]) == [make(1)]


@pytest.mark.parametrize(
    'asked',
    [
        (['m1'],),
        (None, Scope(map_id='hall')),
        (None, Scope(before_ns=1_750_000_000 * NS)),
        (None, Scope(), 'blue'),
    ],
)
def test_what_an_answer_rests_on_takes_it_along(
    store: MemoryStore, make: Make, add: Add, asked: tuple[object, ...]
) -> None:
    first, other = answer('1', 'm1'), answer('2', 'm2', start_ns=1_800_000_010 * NS)
    add(make(1, map_id='hall', caption='a blue desk'), make(2, start_ns=1_760_000_000 * NS), first, other)
    assert {m.id for m in store.doomed(*asked)} == {'m1', first.id}  # type: ignore[arg-type]
    assert store.forget(*asked) == 2  # type: ignore[arg-type]
    assert {m.id for m in store.all()} == {'m2', other.id}


def test_an_answer_that_comes_after_what_it_rests_on_was_forgotten_is_not_stored(
    store: MemoryStore, make: Make, add: Add
) -> None:
    add(make(1), make(2))
    store.forget(['m1'])
    late = answer('1', 'm1', 'm2')
    assert store.add_heard([heard(late), heard(answer('2', 'm2'))]) == [None, answer('2', 'm2')]
    add(make(1))  # somebody stored it again
    assert store.add_heard([heard(late)]) == [late]


def test_of_what_is_stored_only_what_was_shown_goes_but_late_ones_do_too(
    store: MemoryStore, make: Make, add: Add
) -> None:
    asked_ns = time.time_ns()
    add(make(1), make(2))
    assert store.forget(text='thing', among=['m1'], asked_ns=asked_ns) == 1
    early = replace(heard(make(3)), heard_ns=asked_ns)
    assert store.add_heard([early, heard(make(4))]) == [None, make(4)]
    assert [memory.id for memory in store.all()] == ['m2', 'm4']


def test_what_is_added_with_others_deleted_may_be_forgotten_as_well(
    store: MemoryStore, make: Make, add: Add
) -> None:
    early = heard(make(1))
    add(make(2))
    store.forget(text='number 1')
    assert store.add([early, heard(make(3))], ['m2']) == [make(3)]
    assert store.all() == [make(3)]


def test_what_was_heard_before_the_clock_was_put_back_is_forgotten(store: MemoryStore, make: Make) -> None:
    queue = Waiting(heard(make(1), ago_s=-3600.0))
    store.late.queues.append(queue)
    early = queue.observations[0]
    assert store.forget(text='thing') == 1
    assert queue.observations == []
    assert store.add_heard([early]) == [None]  # it was being stored meanwhile


def test_an_answer_that_waits_goes_with_what_it_rests_on(store: MemoryStore, make: Make, add: Add) -> None:
    add(make(1), make(2))
    queue = Waiting(heard(answer('1', 'm1')), heard(answer('2', 'm2')))
    store.late.queues.append(queue)
    assert len(store.doomed(['m1'])) == 2
    assert store.forget(['m1']) == 2
    assert [o.memory for o in queue.observations] == [answer('2', 'm2')]
