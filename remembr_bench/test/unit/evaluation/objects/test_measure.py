from dataclasses import replace

import numpy as np
import pytest

from remembr_bench.evaluation.objects.measure import Belief, Changes, Tally, count, knowable
from remembr_bench.simulation.building import Solid
from remembr_bench.simulation.homes.home import Home, Item, Placement, Visit, centre_of
from remembr_bench.simulation.homes.home_views import CAMERA, HomeFrame
from remembr_ros.geometry import Pose

SOLIDS = (Solid((-0.05, -0.05, 0.0), (0.05, 0.05, 0.1), (255, 0, 0)),)
ITEMS = (
    Item(1, 'cup', 'red', 'small', SOLIDS),
    Item(2, 'bowl', 'blue', 'small', SOLIDS),
    Item(3, 'book', 'red', 'small', SOLIDS),
    Item(4, 'cat', 'orange', 'alive', SOLIDS),
)
FIRST = {n: Placement((float(n), 0.0, 0.7)) for n in (1, 2, 3, 4)}
SECOND = {**FIRST, 1: Placement((1.0, 3.0, 0.7)), 4: Placement((8.0, 8.0, 0.0))}
del SECOND[2]
HOME = Home(0, (10.0, 10.0), (), (), ITEMS, (Visit(0, FIRST, ()), Visit(10, SECOND, ())))
SHOWN = [np.array([0, 9, 9, 9, 9]), np.array([0, 9, 0, 9, 9])]


def believed(number: int, visit: int = 0, off: float = 0.0, **changes) -> Belief:
    item = ITEMS[number - 1]
    placement = HOME.visits[visit].placements.get(number) or FIRST[number]
    middle = np.array(centre_of(item, placement)) + np.array([off, 0.0, 0.0])
    return replace(Belief((item.label,), item.label, middle - 0.05, middle + 0.05), **changes)


ALL = [believed(1), believed(2), believed(3)]


def counted(*beliefs: Belief, visit: int = 0) -> Tally:
    tally = Tally()
    count(tally, beliefs, HOME, SHOWN, visit)
    return tally


def figures(tally: Tally) -> tuple[int, int, int, int]:
    return tally.found, tally.lost, tally.duplicates, tally.ghosts


def test_what_is_right_is_found_and_what_is_alive_counts_neither_way() -> None:
    tally = counted(*ALL)
    assert figures(tally) == (3, 0, 0, 0)
    assert tally.centre_m == pytest.approx([0.0, 0.0, 0.0])
    assert tally.iou == pytest.approx([1.0, 1.0, 1.0])
    cats = [replace(believed(4, off=x), names=(f'cat {x}',)) for x in (0.0, 5.0)]
    assert figures(counted(*ALL, *cats)) == (3, 0, 0, 0)


def test_a_second_one_is_a_duplicate_and_one_where_nothing_is_a_ghost() -> None:
    assert figures(counted(*ALL, replace(believed(1, off=0.2), names=('again',)))) == (3, 0, 1, 0)
    assert figures(counted(*ALL, replace(believed(1, off=0.5), names=('ghost',)))) == (3, 0, 0, 1)
    assert figures(counted(*ALL[:2], replace(believed(3), label='box'))) == (2, 1, 0, 1)
    assert figures(counted(believed(1), believed(2))) == (2, 1, 0, 0)


def test_what_is_missing_is_not_claimed_to_be_there() -> None:
    assert figures(counted(*ALL[:2], believed(3, missing=True))) == (2, 1, 0, 0)
    assert figures(counted(believed(1, 1), believed(3), believed(2, missing=True), visit=1)) == (2, 0, 0, 0)
    assert figures(counted(believed(1, 1), believed(3), believed(2), visit=1)) == (2, 0, 0, 1)


def test_half_off_is_a_third_in_common() -> None:
    tally = counted(believed(1, off=0.05), *ALL[1:])
    assert tally.centre_m[0] == pytest.approx(0.05)
    assert tally.iou[0] == pytest.approx(1 / 3)


def test_what_was_hardly_shown_since_it_came_there_could_not_be_known() -> None:
    shown = [SHOWN[0], np.array([0, 2, 0, 0, 9])]
    sure, others = knowable(HOME, shown, 1)
    assert [item.label for item in sure] == ['book']  # it stayed, and was shown before
    assert {item.label for item in others} == {'cup', 'cat'}
    tally = Tally()
    count(tally, [believed(1, 1), believed(3)], HOME, shown, 1)
    assert figures(tally) == (1, 0, 0, 0)


def frame(*, shown: bool = True) -> tuple[HomeFrame, np.ndarray]:
    """What is seen from where the places that things have left are ahead; or through a covered lens."""
    depth = np.full((CAMERA.height, CAMERA.width), 9.0 if shown else 0.0, np.float32)
    bgr, instances = np.zeros((*depth.shape, 3), np.uint8), np.zeros(depth.shape, np.uint16)
    return HomeFrame(10, Pose(-1.0, 0.0), bgr, depth, instances), np.full(5, shown)


def changes(shown: int = 24) -> Changes:
    """What changed, after five seconds that show nothing, and so many frames that show it all."""
    change = Changes(HOME, SHOWN[:1], 1, {n: believed(n) for n in (1, 2, 3)})
    for number in range(10 + shown):
        change.show(*frame(shown=number >= 10))
    return change


def closed(change: Changes, *beliefs: Belief) -> Tally:
    tally = Tally()
    change.close(tally, beliefs)
    return tally


def test_how_long_it_took_to_know_what_happened() -> None:
    change = changes(shown=0)
    change.look(ALL)
    for known in (
        [believed(1, 1, moved_ns=11), believed(2), believed(3)],
        [believed(1, 1, moved_ns=11), believed(2, missing=True), believed(3)],
    ):
        for _ in range(8):
            change.show(*frame())
        change.look(known)
    tally = closed(change, *known)
    assert tally.changed == {'moved': [4.0], 'missing': [8.0]}
    assert tally.still == [1, 0]


def test_what_is_no_longer_known_at_the_end_is_not_known() -> None:
    change = changes()
    change.look([believed(1, 1, moved_ns=11), believed(2, missing=True), believed(3)])
    assert closed(change, *ALL).changed == {'moved': [None], 'missing': [None]}


@pytest.mark.parametrize(
    'belief',
    [
        believed(1, 1),  # there, but not as what moved
        believed(1, 0, moved_ns=11),  # moved elsewhere
        believed(1, 1, moved_ns=11, missing=True),
        believed(1, 1, moved_ns=11, names=('another one',)),
    ],
)
def test_moved_is_known_only_where_the_same_one_is_known_to_be_there(belief: Belief) -> None:
    assert closed(changes(), belief).changed['moved'] == [None]


def test_another_name_of_it_is_the_same_one() -> None:
    known = believed(1, 1, moved_ns=11, names=('older', 'cup'))
    assert closed(changes(), known).changed['moved'] == [12.0]


def test_what_stayed_and_is_called_missing_or_moved_or_is_lost_is_false() -> None:
    for wrong in ([believed(3, missing=True)], [believed(3, moved_ns=11)], []):
        assert closed(changes(), *wrong).still == [1, 1]


def test_what_moved_before_the_visit_did_not_move_in_it() -> None:
    late = [believed(1, 1, moved_ns=9), believed(3, moved_ns=9)]
    tally = closed(changes(), *late)
    assert tally.changed['moved'] == [None]
    assert tally.still == [1, 0]


def test_what_nobody_could_see_does_not_count() -> None:
    assert closed(changes(shown=2), *ALL).changed == {'moved': [], 'missing': []}
    assert closed(changes(shown=3), *ALL).changed == {'moved': [None], 'missing': [None]}


def test_before_the_first_visit_nothing_changes() -> None:
    change = Changes(HOME, [], 0, {})
    change.show(*frame())
    tally = closed(change, *ALL)
    assert (tally.changed, tally.still) == ({'moved': [], 'missing': []}, [0, 0])
