"""Which of the things that came is which of those that are missing. Times are hours after T0."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from remembr_ros.objects.appearance import Appearance
from remembr_ros.objects.assignment import found_again
from remembr_ros.objects.lifting import Lifted
from remembr_ros.objects.presence import CLEAR, Presence
from remembr_ros.objects.track import SURE_SIGHTS, ObjectTrack
from remembr_ros.timestamps import NS
from test.object_scene import T0, detection

Look = NDArray[np.float32]

HOUR_NS = 3600 * NS
LATE_NS = T0 + 2000 * HOUR_NS
EYE = (0.0, 0.0, 1.2)


def turned(degrees: float) -> Look:
    """Return an appearance whose cosine with that of no degrees is that of these."""
    angle = np.radians(degrees)
    return np.array([np.cos(angle), np.sin(angle), 0.0, 0.0], np.float32)


SAME = turned(0.0)


def at(hours: float) -> int:
    return T0 + round(hours * HOUR_NS)


def seen(
    identity: str,
    *hours: float,
    y: float = 0.0,
    label: str = 'mug',
    size: float = 0.1,
    look: Any = SAME,
) -> ObjectTrack:
    """Return an object that was seen at some times, in as many frames each time as leave no doubt."""
    track, low = ObjectTrack(identity), np.array([2.0, y, 0.8])
    for stamp_ns in (at(hour) + number for hour in hours for number in range(SURE_SIGHTS)):
        one = replace(detection((10.0, 10.0, 50.0, 50.0), label), stamp_ns=stamp_ns)
        track.see(Lifted(one, low, low + size, 0.02, False, True, Appearance(look), bytes), EYE)
    track.confirmed = True
    return track


def missing(identity: str, *hours: float, empty: tuple[float, float], **changes: Any) -> ObjectTrack:
    """Return an object whose place was found empty from one time to another."""
    track = seen(identity, *hours, **changes)
    track.presence = Presence(at(hours[-1]), at(empty[1]), ((at(empty[0]), at(empty[1])),))
    assert track.presence.missing
    return track


def doubtful(looks: int, **changes: Any) -> ObjectTrack:
    """Return an object whose place was found empty in so many frames at two hours."""
    track = seen('old', 0.0, 1.0, **changes)
    for number in range(looks):
        track.presence.look(at(2.0) + number * NS // 2, CLEAR, seen=False)
    assert not track.presence.missing
    return track


def found(*tracks: ObjectTrack) -> list[tuple[str, str]]:
    return [(old.id, new.id) for old, new in found_again(tracks, LATE_NS)]


def a_missing_mug(**changes: Any) -> ObjectTrack:
    return missing('old', 0.0, 1.0, empty=(2.0, 2.1), **changes)


def test_a_missing_mug_and_a_new_one_that_is_alike_are_one() -> None:
    old, new = a_missing_mug(), seen('new', 3.0, y=5.0)
    assert found(old, new) == [('old', 'new')]
    assert found(new, old) == [('old', 'new')]


def test_it_is_found_wherever_it_is_and_before_its_place_is_found_empty() -> None:
    assert found(a_missing_mug(), seen('new', 1.9, 3.0, y=50.0)) == [('old', 'new')]


def test_nothing_is_found_where_nothing_is_missing_or_nothing_is_new() -> None:
    there = seen('there', 0.0, 1.0, 3.0)
    assert found() == []
    assert found(there, seen('new', 3.0, y=5.0)) == []
    assert found(a_missing_mug()) == []
    assert found(a_missing_mug(), there) == []


@pytest.mark.parametrize(
    'changes',
    [
        {'label': 'cup'},
        {'look': turned(60.0)},
        {'look': None},
        {'look': np.ones(7, np.float32)},
        {'size': 0.2},
        {'size': 0.05},
    ],
    ids=[
        'another label',
        'another look',
        'a look that is not known',
        'a look of another kind',
        'twice as large',
        'half as large',
    ],
)
def test_what_is_otherwise_is_another_thing(changes: dict[str, Any]) -> None:
    assert found(a_missing_mug(), seen('new', 3.0, y=5.0, **changes)) == []


@pytest.mark.parametrize(
    'changes',
    [{'look': turned(25.0)}, {'size': 0.13}],
    ids=['a similar look', 'a little larger'],
)
def test_what_may_be_the_same_from_another_side_is_the_same(changes: dict[str, Any]) -> None:
    assert found(a_missing_mug(), seen('new', 3.0, y=5.0, **changes)) == [('old', 'new')]


def test_a_label_that_flips_now_and_then_is_no_other_label() -> None:
    old, new = a_missing_mug(), seen('new', 3.0, y=5.0)
    new.labels.update({'cup': 0.7})
    assert found(old, new) == [('old', 'new')]
    new.labels.update({'cup': 7.0})
    assert found(old, new) == []


def test_what_came_a_second_after_it_was_seen_last_is_another_one() -> None:
    old = a_missing_mug()
    assert found(old, seen('new', 1.0 + 1.0 / 3600.0, 3.0, y=5.0)) == []
    assert found(old, seen('new', 1.0 + 6.5 / 60.0, 3.0, y=5.0)) == [('old', 'new')]


def test_what_came_before_it_was_seen_last_is_another_one() -> None:
    assert found(a_missing_mug(), seen('new', 0.9, 3.0, y=5.0)) == []


def test_what_was_seen_together_with_it_is_another_one() -> None:
    for one, other in permutations(('old', 'new')):
        tracks = {'old': a_missing_mug(), 'new': seen('new', 3.0, y=5.0)}
        tracks[one].beside.update([other])
        assert found(*tracks.values()) == []


def test_what_is_no_object_yet_is_neither_missing_nor_found() -> None:
    old, new = a_missing_mug(), seen('new', 3.0, y=5.0)
    new.confirmed = False
    assert found(old, new) == []
    old.confirmed, new.confirmed = False, True
    assert found(old, new) == []


def test_what_is_missing_itself_is_not_what_another_one_became() -> None:
    gone_too = missing('new', 3.0, y=5.0, empty=(3.5, 3.6))
    assert found(a_missing_mug(), gone_too) == []


def test_of_two_that_are_missing_the_one_that_looks_like_it_is_found() -> None:
    like_it = a_missing_mug(look=turned(30.0))
    other = missing('other', 0.0, 1.0, y=1.0, empty=(2.0, 2.1))
    new = seen('new', 3.0, y=5.0, look=turned(28.0))
    assert found(other, like_it, new) == [('old', 'new')]
    assert found(like_it, other, new) == [('old', 'new')]


def test_of_two_that_are_missing_and_alike_the_one_that_was_seen_more_recently_is_found() -> None:
    day_before = missing('long ago', -30.0, -24.0, y=1.0, empty=(2.0, 2.1))
    old, new = a_missing_mug(), seen('new', 3.0, y=5.0)
    assert found(day_before, old, new) == [('old', 'new')]
    assert found(old, day_before, new) == [('old', 'new')]


def test_of_two_that_came_the_one_that_looks_like_it_is_it() -> None:
    like_it, unlike = seen('like it', 3.0, y=5.0), seen('unlike', 3.0, y=6.0, look=turned(30.0))
    assert found(a_missing_mug(), unlike, like_it) == [('old', 'like it')]


def test_two_that_changed_are_each_what_looks_like_it() -> None:
    red, blue = a_missing_mug(), missing('blue', 0.0, 1.0, y=1.0, empty=(2.0, 2.1), look=turned(30.0))
    new_blue, new_red = seen('new blue', 3.0, y=5.0, look=turned(30.0)), seen('new red', 3.0, y=6.0)
    for tracks in permutations((red, blue, new_blue, new_red)):
        assert sorted(found(*tracks)) == [('blue', 'new blue'), ('old', 'new red')]


def test_nothing_is_found_twice() -> None:
    first, second = a_missing_mug(), missing('second', 0.0, 1.0, y=1.0, empty=(2.0, 2.1))
    assert len(found(first, second, seen('new', 3.0, y=5.0))) == 1
    assert len(found(first, seen('new', 3.0, y=5.0), seen('another', 3.0, y=6.0))) == 1


def test_it_was_found_before_and_is_missing_again() -> None:
    old = seen('old', 0.0, 1.0, 5.0)
    old.presence = Presence(at(5.0), at(6.1), ((at(2.0), at(2.1)), (at(6.0), at(6.1))))
    assert found(old, seen('new', 3.0, y=5.0)) == []
    assert found(old, seen('new', 7.0, y=5.0)) == [('old', 'new')]


def test_when_another_one_turns_out_to_be_missing_too_the_one_seen_last_is_found() -> None:
    other = missing('other', 0.0, 2.2, y=2.0, empty=(3.05, 3.06))
    day_before = missing('old', -30.0, -24.0, empty=(2.0, 2.1))
    assert found(day_before, other, seen('new', 3.0, y=5.0)) == [('other', 'new')]


def test_what_came_long_before_an_absence_in_which_it_was_seen_is_another_one() -> None:
    # As after a merger with one that was seen meanwhile.
    old = missing('old', 0.0, 960.0, empty=(240.0, 961.0))
    bowl = missing('bowl', 0.0, empty=(1.0, 2.0), label='bowl')
    assert found(old, bowl, seen('new', 900.0, y=5.0)) == []


def test_what_is_not_surely_missing_and_was_left_so_is_found_too() -> None:
    old, new = doubtful(2), seen('new', 3.0, y=5.0)
    assert found(old, new) == [('old', 'new')]
    assert found(new, old) == [('old', 'new')]


def test_it_is_not_found_while_somebody_is_there_to_look_once_more() -> None:
    old, new = doubtful(2), seen('new', 3.0, y=5.0)
    assert found_again((old, new), at(2.0) + 10 * NS) == []
    assert found_again((old, new), at(2.0) + 30 * NS) == [(old, new)]


def test_one_look_at_an_empty_place_is_not_enough_and_a_sight_ends_the_doubt() -> None:
    new = seen('new', 3.0, y=5.0)
    assert found(doubtful(1), new) == []
    old = doubtful(2)
    old.presence.see(at(2.5))
    assert found(old, new) == []


def test_of_one_that_may_be_missing_and_one_that_is_the_one_that_is_missing_is_found() -> None:
    gone = missing('gone', 0.0, 1.0, y=1.0, empty=(2.0, 2.1))
    new = seen('new', 3.0, y=5.0)
    for tracks in permutations((doubtful(2), gone, new)):
        assert found(*tracks) == [('gone', 'new')]


def test_what_may_be_missing_itself_is_not_what_another_one_became() -> None:
    between = seen('between', 1.5, y=3.0)
    for number in range(2):
        between.presence.look(at(2.5) + number * NS // 2, CLEAR, seen=False)
    assert found(a_missing_mug(), between) == []
    assert found(between, seen('new', 3.0, y=5.0)) == [('between', 'new')]
