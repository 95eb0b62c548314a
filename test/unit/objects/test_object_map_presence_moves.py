"""What is known of things that were found elsewhere, after restarts, and when frames are read again."""

from collections.abc import Callable

import pytest

from remembr_ros.timestamps import NS
from test.object_home import BOWL, ELSEWHERE, FURTHER_M, HOUR_NS, MUG, Home, home_of
from test.object_scene import T0


def moved_home() -> tuple[Home, str, str]:
    """Return a home whose mug was missing, and was found elsewhere; and the ids of it, before and there."""
    home = home_of(MUG, BOWL)
    identity = home.one().id
    home.show(BOWL)
    home.now_ns += HOUR_NS
    [other, _] = home.show(ELSEWHERE, BOWL, times=4)
    stored = {memory.id for memory, _ in home.objects.changed()}
    assert {identity, other} <= stored
    return home, identity, other


def test_what_is_found_elsewhere_keeps_its_id_and_its_move_is_remembered() -> None:
    home, identity, other = moved_home()
    left_ns, empty_ns, came_ns = T0 + 6 * NS, T0 + 7 * NS, T0 + HOUR_NS + 13 * NS
    mug = home.one()
    assert (mug.id, mug.facts.aliases) == (identity, (other,))
    [(left, came, start, end)] = mug.moves
    assert (left, came) == (left_ns, came_ns)
    assert start == pytest.approx((MUG.ahead, 0.4, 1.0), abs=0.02)
    assert end == pytest.approx((MUG.ahead, 0.0, 1.3), abs=0.02)
    assert mug.position == pytest.approx(end, abs=0.02)
    assert mug.missing_ns is None
    assert 'gone' not in mug.memory.caption
    assert [first for first, _ in mug.facts.absences] == [empty_ns]
    assert all(last <= came_ns for _, last in mug.facts.absences)
    assert home.objects.gone() == [other]
    assert home.objects.gone() == []
    assert home.show(ELSEWHERE, BOWL, times=1)[0] == identity
    assert len(home.known()) == 2


def test_what_was_found_elsewhere_is_missed_there_not_where_it_was() -> None:
    home, identity, _ = moved_home()
    assert home.one().id == identity
    home.show(ELSEWHERE, BOWL, times=20)
    assert not home.is_missing()
    home.show(BOWL)
    assert home.one().missing_ns == home.now_ns - 5 * NS


def test_one_look_alone_does_not_make_missing_what_was_just_found_elsewhere() -> None:
    home, identity, _ = moved_home()
    before = home.one()
    assert (before.id, len(before.moves)) == (identity, 1)
    home.show(BOWL, times=1)
    assert home.one().facts.absences == before.facts.absences


def test_what_is_put_back_where_it_was_has_two_moves() -> None:
    home, identity, _ = moved_home()
    assert home.one().id == identity
    home.show(ELSEWHERE, BOWL, times=6, back_m=FURTHER_M)
    home.show(BOWL)
    home.now_ns += HOUR_NS
    home.show(MUG, BOWL, times=10)
    mug = home.one()
    assert (mug.id, len(mug.moves), mug.missing_ns) == (identity, 2, None)
    [(_, _, start, end), (_, _, again, back)] = mug.moves
    assert again == pytest.approx(end, abs=0.02)
    assert back == pytest.approx(start, abs=0.02)


def test_what_is_missing_is_missing_after_a_restart_and_its_absence_grows() -> None:
    home = home_of(MUG, BOWL)
    home.show(BOWL)
    [(first_ns, _)] = home.one().facts.absences
    home = home.restarted(HOUR_NS)
    assert home.one().missing_ns == first_ns
    home.show(BOWL, times=1)
    assert home.one().facts.absences == ((first_ns, home.now_ns),)
    home.show(MUG, BOWL)
    assert home.one().missing_ns is None


def test_what_is_taken_away_while_nobody_runs_is_missing_after_looks_at_its_place() -> None:
    home = home_of(MUG, BOWL).restarted(HOUR_NS)
    assert not home.is_missing()
    home.show(BOWL, times=1)
    assert not home.is_missing()
    first_ns = home.now_ns
    home.show(BOWL)
    assert home.one().facts.absences == ((first_ns, home.now_ns),)


def test_what_comes_elsewhere_after_a_restart_is_found() -> None:
    home = home_of(MUG, BOWL)
    identity = home.one().id
    home.show(BOWL)
    home = home.restarted(HOUR_NS)
    home.show(ELSEWHERE, BOWL)
    mug = home.one()
    assert (mug.id, len(mug.moves), mug.missing_ns) == (identity, 1, None)
    assert len(home.known()) == 2


def test_moves_and_absences_outlast_restarts() -> None:
    home, _, other = moved_home()
    before = home.one()
    home = home.restarted(HOUR_NS)
    home.show(ELSEWHERE, BOWL)
    after = home.one()
    assert (after.id, after.facts.aliases) == (before.id, (other,))
    assert after.facts.absences == before.facts.absences
    [(left, came, start, end)], [(*times, again_start, again_end)] = before.moves, after.moves
    assert times == [left, came]
    assert again_start == pytest.approx(start, abs=0.001)
    assert again_end == pytest.approx(end, abs=0.001)


def told(home: Home) -> list[tuple[object, ...]]:
    """Return what is known of each object that a second reading may not change."""
    return [
        (
            known.id,
            known.name,
            known.facts.observations,
            known.facts.intervals,
            known.facts.absences,
            known.facts.aliases,
            len(known.moves),
        )
        for known in home.known()
    ]


def taken_away() -> Home:
    home = home_of(MUG, BOWL)
    home.show(BOWL)
    return home


def brought_back() -> Home:
    home = taken_away()
    home.now_ns += HOUR_NS
    home.show(MUG, BOWL, times=10)
    return home


def found_elsewhere() -> Home:
    home = taken_away()
    home.now_ns += HOUR_NS
    home.show(ELSEWHERE, BOWL, times=14)
    return home


@pytest.mark.parametrize(('home', 'moves'), [(taken_away, 0), (found_elsewhere, 1)])
def test_frames_that_are_read_again_add_nothing(home: Callable[[], Home], moves: int) -> None:
    first = home()
    mug = first.one()
    assert (len(mug.facts.absences), len(mug.moves)) == (1, moves)
    again = first.restarted()
    for _ in range(2):
        again.show_again(first.frames)
        assert told(again) == told(first)
        again = again.restarted()


def test_what_came_back_is_not_missed_again_when_its_frames_are_read_again() -> None:
    first = brought_back()
    again = first.restarted()
    again.show_again(first.frames)
    mug, expected = again.one(), first.one()
    assert (mug.id, mug.missing_ns, mug.moves) == (expected.id, None, ())
    assert mug.facts.absences == expected.facts.absences
    assert len(again.known()) == 2


@pytest.mark.parametrize('home', [brought_back, found_elsewhere])
@pytest.mark.parametrize('frames', [3, 7, 8, 11, 13, 14, 20, 22])
def test_a_recording_that_was_cut_off_and_is_read_again_comes_to_the_same(
    home: Callable[[], Home], frames: int
) -> None:
    first, cut_off = home(), Home()
    cut_off.show_again(first.frames[:frames])
    again = cut_off.restarted()
    again.show_again(first.frames)
    mug, expected = again.one(), first.one()
    assert (mug.id, mug.missing_ns, len(mug.moves)) == (expected.id, None, len(expected.moves))
    assert mug.facts.absences == expected.facts.absences
    assert mug.position == pytest.approx(expected.position, abs=0.02)
    assert len(again.known()) == 2
