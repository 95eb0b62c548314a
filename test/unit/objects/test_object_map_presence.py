"""What is known of things that are taken away, hidden, brought back, or replaced: is each one there?"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.objects.presence import LOOK_EVERY_NS
from remembr_ros.timestamps import NS
from test.object_home import BOARD, BOWL, FURTHER_M, HOUR_NS, MUG, VASE, WALL_M, Home, home_of
from test.object_scene import CAMERA, T0, Scene


def test_what_is_taken_away_is_missing_after_several_looks_since_the_first_of_them() -> None:
    home = home_of(MUG, BOWL)
    seen_ns = home.now_ns
    for _ in range(2):
        home.show(BOWL, times=1)
        assert home.one().facts.absences == ()
    home.show(BOWL, times=4)
    mug, bowl = home.one(), home.one('bowl')
    assert mug.facts.absences == ((seen_ns + NS, home.now_ns),)
    assert mug.missing_ns == seen_ns + NS
    assert mug.memory.end_ns == seen_ns
    assert mug.memory.caption.endswith(', which is gone.')
    assert (bowl.facts.absences, bowl.missing_ns) == ((), None)
    assert 'gone' not in bowl.memory.caption


def test_what_is_missing_is_told_once_and_the_absence_grows_with_each_look() -> None:
    home = home_of(MUG, BOWL)
    home.objects.changed()
    home.show(BOWL)
    first_ns = home.now_ns
    told = {memory.id for memory, _ in home.objects.changed()}
    assert home.one().id in told
    home.show(BOWL, times=20)
    assert home.one().facts.absences == ((first_ns - 5 * NS, home.now_ns),)


def test_the_moments_in_which_nobody_looked_belong_to_no_absence() -> None:
    home = home_of(MUG)
    home.now_ns += 5 * HOUR_NS
    home.show()
    assert home.one().facts.absences == ((home.now_ns - 5 * NS, home.now_ns),)


@pytest.mark.parametrize('still_there', [True, False])
def test_what_is_hidden_for_an_hour_is_not_missing(still_there: bool) -> None:
    home = home_of(MUG)
    home.show(BOARD, times=100, every_ns=36 * NS, unseen=[MUG] if still_there else [])
    assert home.one().facts.absences == ()
    home.show()
    assert home.is_missing()


@pytest.mark.parametrize('metres', [0.0, np.nan, np.inf])
def test_depth_images_that_measure_nothing_say_nothing(metres: float) -> None:
    home = home_of(MUG)
    for view, *_ in home.frames:
        assert view.depth is not None
        nothing = replace(view.depth, metres=np.full_like(view.depth.metres, metres))
        home.take(replace(view, stamp_ns=view.stamp_ns + HOUR_NS, depth=nothing), (), 0.0)
    home.take(replace(home.frames[-1][0], stamp_ns=home.now_ns + 2 * HOUR_NS, depth=None), (), 0.0)
    assert home.one().facts.absences == ()


def test_a_place_is_not_looked_at_from_further_than_the_thing_was_ever_seen_from() -> None:
    home = home_of(MUG)
    home.show(back_m=2.0 * FURTHER_M, times=20)
    assert home.one().facts.absences == ()
    home.show()
    assert home.is_missing()


def test_whoever_walks_away_is_not_missing() -> None:
    home = home_of(replace(MUG, label='person'), BOWL)
    home.show(BOWL, times=30)
    assert home.one('person').facts.absences == ()
    assert 'gone' not in home.one('person').memory.caption


def test_what_has_no_depth_is_never_missing() -> None:
    home, scene = Home(), Scene(WALL_M)
    scene.put(MUG.pixels(0.0), MUG.ahead, MUG.bgr)
    for number in range(4):
        home.take(scene.view(T0 + number * NS, depth=False), [MUG], 0.0)
    home.now_ns += HOUR_NS
    home.show(times=20)
    mug = home.one()
    assert (mug.facts.measured, mug.facts.absences) == (False, ())


def test_what_comes_back_is_the_same_and_present_and_its_absence_is_remembered() -> None:
    home = home_of(MUG, BOWL)
    identity = home.one().id
    home.show(BOWL)
    absences = home.one().facts.absences
    home.now_ns += HOUR_NS
    ids = home.show(MUG, BOWL)
    mug = home.one()
    assert (mug.id, ids[0]) == (identity, identity)
    assert (mug.missing_ns, mug.facts.absences, mug.moves) == (None, absences, ())
    assert mug.memory.end_ns == home.now_ns
    assert 'gone' not in mug.memory.caption
    home.show(BOWL)
    assert home.one().facts.absences == (*absences, (home.now_ns - 5 * NS, home.now_ns))


@pytest.mark.parametrize('restarts', [False, True])
@pytest.mark.parametrize('sights', [1, 2])
def test_however_long_it_was_missing_a_sight_brings_it_back_and_the_second_one_for_sure(
    restarts: bool, sights: int
) -> None:
    home = home_of(MUG, BOWL)
    home.show(BOWL, times=200)
    home = home.restarted(HOUR_NS) if restarts else home
    home.show(MUG, BOWL, times=1)
    assert not home.is_missing()
    home.show(MUG, BOWL, times=sights - 1)
    assert home.one().memory.end_ns == home.now_ns
    home.show(BOWL, times=1)
    # One sight may be of another thing, and its place is as empty as it was.
    assert home.is_missing() == (sights == 1)


def test_one_frame_that_misses_it_does_not_make_it_missing_however_often_that_happens() -> None:
    home = home_of(MUG)
    for _ in range(30):
        home.show(times=1)
        home.show(MUG, times=2)
    assert home.one().facts.absences == ()


def test_what_a_detector_misses_four_times_of_ten_is_not_missing_until_it_is_gone() -> None:
    home, rng = home_of(MUG, BOWL), np.random.default_rng(2)
    for sees in rng.random(200) < 0.6:
        home.show(*((MUG, BOWL) if sees else (BOWL,)), unseen=[] if sees else [MUG], times=1)
    assert home.one().facts.absences == ()
    home.show(BOWL)
    assert home.is_missing()


def test_what_a_detector_never_finds_again_but_rays_meet_is_not_missing() -> None:
    home = home_of(MUG, BOWL)
    home.show(BOWL, times=100, unseen=[MUG])
    assert home.one().facts.absences == ()


def test_looks_that_follow_at_once_are_one() -> None:
    home = home_of(MUG, BOWL)
    home.show(BOWL, times=10, every_ns=LOOK_EVERY_NS // 11)
    assert home.one().facts.absences == ()
    home.show(BOWL, times=4, every_ns=LOOK_EVERY_NS)
    assert home.is_missing()


def test_what_was_put_in_its_place_and_looks_otherwise_makes_it_missing() -> None:
    home = home_of(replace(MUG, slant=0.1), BOWL)
    identity = home.one().id
    first_ns = home.now_ns + NS
    ids = home.show(replace(VASE, slant=0.1), BOWL, times=12)
    mug, vase = home.one(), home.one('vase')
    assert mug.id == identity != vase.id == ids[0]
    assert mug.missing_ns is not None
    assert first_ns < mug.missing_ns < home.now_ns
    assert mug.memory.end_ns == first_ns - NS
    assert (vase.facts.absences, home.one('bowl').facts.absences) == ((), ())


def test_what_stands_in_its_place_but_was_seen_by_nobody_leaves_it_there() -> None:
    home = home_of(MUG, BOWL)
    home.show(BOWL, times=12, unseen=[VASE])
    assert home.one().facts.absences == ()


def test_a_colour_camera_of_more_pixels_tells_the_same_of_absences() -> None:
    home, camera = Home(), CAMERA.at(320, 240, 'image')
    plain = home_of(MUG, BOWL)
    plain.show(BOWL)
    for view, things, back_m in plain.frames:
        image = view.image.repeat(2, axis=0).repeat(2, axis=1)
        home.take(replace(view, image=image, camera=camera), things, back_m)
    home.now_ns = plain.now_ns
    assert home.one().facts.absences == plain.one().facts.absences
    assert not home.is_missing('bowl')


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from(['seen', 'unseen', 'gone', 'hidden', 'restart']), st.integers(1, 5)),
        max_size=12,
    )
)
def test_only_looks_at_an_empty_place_are_absences_whatever_happens(story: list[tuple[str, int]]) -> None:
    home = home_of(MUG, BOWL)
    identity, gone_ns = home.one().id, list[int]()
    for what, times in story:
        if what == 'restart':
            home = home.restarted(HOUR_NS)
            continue
        before_ns = home.now_ns
        if what == 'seen':
            home.show(MUG, BOWL, times=times)
        else:
            home.show(BOWL, times=times, unseen={'unseen': [MUG], 'gone': [], 'hidden': [BOARD]}[what])
        if what == 'gone':
            gone_ns += range(before_ns + NS, home.now_ns + 1, NS)
    mug = home.one()
    assert mug.id == identity
    assert {ns for absence in mug.facts.absences for ns in absence} <= set(gone_ns)
    edges = [ns for absence in mug.facts.absences for ns in absence]
    assert edges == sorted(edges)
    home.show(MUG, BOWL)
    assert home.one().id == identity
    assert not home.is_missing()
    home.show(BOWL)
    assert home.is_missing()
    assert home.one('bowl').facts.absences == ()
