import numpy as np

from remembr_ros.memory.embedded.row_runs import Run, Runs


def test_rows_belong_to_the_slot_that_they_were_given_to_last() -> None:
    runs = Runs()
    runs.grow(6)
    runs.attach(5_000, Run(entry=0, first=0, size=2), paragraphs=1)
    runs.attach(3, Run(entry=1, first=2, size=3), paragraphs=0)
    assert runs.owner.tolist() == [5_000, 5_000, 3, 3, 3, -1]
    assert runs.is_paragraph.tolist() == [True, False, False, False, False, False]
    slots, counts = runs.in_order(np.array([3, 7, 5_000, 99_999]))
    assert (slots.tolist(), counts.tolist()) == ([5_000, 3], [2, 3])
    assert runs.rows_of(np.array([3, 5_000, 4])).tolist() == [0, 1, 2, 3, 4]
    assert runs.detach(5_000) == Run(0, 0, 2)
    assert runs.detach(5_000) is None
    assert runs.detach(10**6) is None
    runs.grow(2_000)
    assert runs.live.tolist() == [2, 3, 4]
    assert len(runs.owner) == 2_000
    assert runs.rows_of(np.array([], np.int64)).tolist() == []
