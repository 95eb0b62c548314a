import numpy as np

from remembr_ros.memory.embedded.row_runs import RowRun, Runs


def attach(runs: Runs, slot: int, first: int, size: int, paragraphs: int) -> None:
    runs.attach(*(np.array([number]) for number in (slot, first, size, paragraphs)))


def test_rows_belong_to_the_slot_that_they_were_given_to_last() -> None:
    runs = Runs()
    attach(runs, 5_000, first=0, size=2, paragraphs=1)
    attach(runs, 3, first=2, size=3, paragraphs=0)
    assert runs.owner.tolist() == [5_000, 5_000, 3, 3, 3]
    assert runs.is_paragraph.tolist() == [True, False, False, False, False]
    slots, counts = runs.in_order(np.array([3, 7, 5_000, 99_999]))
    assert (slots.tolist(), counts.tolist()) == ([5_000, 3], [2, 3])
    assert runs.rows_of(np.array([3, 5_000, 4])).tolist() == [0, 1, 2, 3, 4]
    assert runs.detach(5_000) == RowRun(0, 2)
    assert runs.detach(5_000) is None
    assert runs.detach(10**6) is None
    attach(runs, 4, first=1_999, size=1, paragraphs=1)
    assert runs.live.tolist() == [2, 3, 4, 1_999]
    assert len(runs.owner) == 2_000
    assert runs.rows_of(np.array([], np.int64)).tolist() == []


def test_many_runs_at_once_are_those_one_after_the_other() -> None:
    one, many = Runs(), Runs()
    given = [(9, 4, 3, 1), (2, 0, 4, 4), (5, 20, 2, 0)]
    for run in given:
        attach(one, *run)
    many.attach(*(np.array(numbers) for numbers in zip(*given, strict=True)))
    assert many.owner.tolist() == one.owner.tolist()
    assert many.is_paragraph.tolist() == one.is_paragraph.tolist()
    assert many.in_order(np.array([2, 5, 9]))[1].tolist() == [4, 3, 2]
