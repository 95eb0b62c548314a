import numpy as np

from remembr_ros.memory.embedded.row_runs import Runs

RUN = np.dtype([('first', '<i8'), ('rows', '<u4'), ('paragraphs', '<u4')])


def attach(runs: Runs, *given: tuple[int, int, int, int]) -> None:
    """Give slots their runs: slot, first row, rows, paragraphs of each."""
    table = np.zeros(max(slot for slot, *_ in given) + 1, RUN)
    for slot, *run in given:
        table[slot] = tuple(run)
    runs.attach(table, np.array([slot for slot, *_ in given]))


def test_rows_belong_to_the_slot_that_they_were_given_to_last() -> None:
    runs = Runs()
    attach(runs, (5_000, 0, 2, 1))
    attach(runs, (3, 2, 3, 2))
    assert runs.owner.tolist() == [5_000, -1, 3, 3, -1]
    assert (runs.live.tolist(), runs.count) == ([0, 2, 3], 3)
    slots, counts = runs.in_order(np.array([3, 7, 5_000, 99_999]))
    assert (slots.tolist(), counts.tolist()) == ([5_000, 3], [2, 3])
    assert runs.rows_of(np.array([3, 5_000, 4])).tolist() == [0, 1, 2, 3, 4]
    assert runs.paragraphs_of(np.array([3, 5_000, 4])).tolist() == [0, 2, 3]
    assert runs.detach(5_000).tolist() == [0, 1]
    assert (runs.live.tolist(), runs.count) == ([2, 3], 2)
    assert runs.detach(5_000).tolist() == []
    assert runs.detach(10**6).tolist() == []
    attach(runs, (4, 1_999, 1, 1))
    assert (runs.live.tolist(), runs.count) == ([2, 3, 1_999], 3)
    assert len(runs.owner) == 2_000
    assert runs.rows_of(np.array([], np.int64)).tolist() == []


def test_many_runs_at_once_are_those_one_after_the_other() -> None:
    one, many = Runs(), Runs()
    given = [(9, 4, 3, 1), (2, 0, 4, 4), (5, 20, 2, 0)]
    for run in given:
        attach(one, run)
    attach(many, *given)
    assert many.owner.tolist() == one.owner.tolist()
    assert (many.live.tolist(), many.count) == (one.live.tolist(), one.count) == ([0, 1, 2, 3, 4], 5)
    assert many.in_order(np.array([2, 5, 9]))[1].tolist() == [4, 3, 2]
