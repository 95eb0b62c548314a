"""What becomes of things that are taken away, hidden, brought back, replaced, or put elsewhere."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.memory.objects import KnownObject, known_objects
from remembr_ros.objects.lifting import CameraView, lift
from remembr_ros.objects.object_map import ObjectMap
from remembr_ros.objects.track import LOOK_EVERY_NS
from remembr_ros.timestamps import NS
from test.object_scene import AHEAD, CAMERA, T0, PixelRect, Scene, detection

HOUR_NS = 3600 * NS
WALL_M = 4.0
FURTHER_M = 0.3
"""By so much the camera is further away when a thing is seen first: from nearer, it could be told, too."""


@dataclass(frozen=True)
class Thing:
    """Something flat that faces the camera.

    :param at: its middle [m]; as y and z of the map, z from where the camera is
    :param ahead: how far it is from where the camera usually is [m]
    :param slant: by so much its right edge is further away than its left one [m]
    """

    at: tuple[float, float]
    bgr: tuple[int, int, int] = (30, 30, 200)
    label: str = 'mug'
    ahead: float = 1.5
    size: float = 0.2
    slant: float = 0.0

    def pixels(self, back_m: float) -> PixelRect:
        """Return where it appears to a camera so much further back."""
        (y, z), half, away = self.at, self.size / 2.0, self.ahead + back_m
        left, right = (CAMERA.cx - CAMERA.fx * edge / away for edge in (y + half, y - half))
        top, bottom = (CAMERA.cy - CAMERA.fy * edge / away for edge in (z + half, z - half))
        return round(left), round(top), round(right), round(bottom)


MUG = Thing((0.4, 0.0))
BOWL = Thing((-0.4, 0.0), (200, 60, 30), 'bowl')
VASE = Thing((0.4, 0.0), (40, 180, 40), 'vase')
"""Where the mug is, and about as large."""
BOARD = Thing((0.2, 0.0), (90, 90, 90), 'board', 0.8, 0.3)
"""Nearer than the mug, and in front of it."""
ELSEWHERE = replace(MUG, at=(0.0, 0.3))


class Home:
    """A map of objects that is shown what a camera sees."""

    def __init__(self, objects: ObjectMap | None = None, start_ns: int = T0) -> None:
        self.objects = ObjectMap('robbie') if objects is None else objects
        self.now_ns = start_ns
        self.frames: list[tuple[CameraView, tuple[Thing, ...], float]] = []

    def show(
        self,
        *things: Thing,
        times: int = 6,
        every_ns: int = NS,
        unseen: Sequence[Thing] = (),
        back_m: float = 0.0,
    ) -> list[str]:
        """Show it some things.

        :param unseen: what is there, too, but is not detected
        :return: which objects the things are, empty where they are none
        """
        scene, ids = Scene(WALL_M + back_m), ['']
        for thing in sorted((*things, *unseen), key=lambda thing: -thing.ahead):
            left, top, right, bottom = thing.pixels(back_m)
            scene.put((left, top, right, bottom), thing.ahead + back_m, thing.bgr)
            scene.metres[top:bottom, left:right] += np.linspace(0.0, thing.slant, right - left)
        (x, y, z), rotation = AHEAD
        for _ in range(times):
            self.now_ns += every_ns
            view = scene.view(self.now_ns, ((x - back_m, y, z), rotation))
            self.frames.append((view, things, back_m))
            ids = self.take(*self.frames[-1])
        return ids

    def show_again(self, frames: Iterable[tuple[CameraView, tuple[Thing, ...], float]]) -> None:
        """Show it what another one was shown."""
        for view, things, back_m in frames:
            self.now_ns = view.stamp_ns
            self.take(view, things, back_m)

    def take(self, view: CameraView, things: Sequence[Thing], back_m: float) -> list[str]:
        zoom, boxes = view.camera.width // CAMERA.width, []
        for thing in things:
            left, top, right, bottom = (float(zoom * edge) for edge in thing.pixels(back_m))
            boxes.append((left, top, right, bottom))
        named = zip(boxes, things, strict=True)
        found = [detection(box, thing.label, stamp_ns=view.stamp_ns) for box, thing in named]
        placed = lift(found, view, Counter())
        placed.sort(key=lambda one: boxes.index(one.detection.box))
        return self.objects.update(view, placed)

    def known(self) -> list[KnownObject]:
        self.objects.review(self.now_ns)
        return sorted(known_objects(self.objects.memories()), key=lambda known: known.name)

    def one(self, label: str = 'mug') -> KnownObject:
        [found] = [known for known in self.known() if known.name == label]
        return found

    def is_missing(self, label: str = 'mug') -> bool:
        return self.one(label).missing_ns is not None

    def restarted(self, after_ns: int = 0) -> 'Home':
        return Home(ObjectMap('robbie', known=self.known()), self.now_ns + after_ns)


def home_of(*things: Thing) -> Home:
    """Return a home whose things are known, seen six times."""
    home = Home()
    home.show(*things, times=4, back_m=FURTHER_M)
    home.show(*things, times=2)
    assert [known.name for known in home.known()] == sorted(thing.label for thing in things)
    return home


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
def test_one_sight_alone_does_not_bring_back_what_is_missing(restarts: bool) -> None:
    home = home_of(MUG, BOWL)
    seen_ns = home.now_ns
    home.show(BOWL)
    home = home.restarted(HOUR_NS) if restarts else home
    home.show(MUG, BOWL, times=1)
    assert home.is_missing()
    assert home.one().memory.end_ns == seen_ns
    home.show(BOWL, times=1)
    assert home.one().facts.absences == ((seen_ns + NS, home.now_ns),)


def test_however_long_it_was_missing_a_few_sights_bring_it_back() -> None:
    home = home_of(MUG, BOWL)
    home.show(BOWL, times=200)
    assert home.is_missing()
    home.show(MUG, BOWL, times=4)
    assert not home.is_missing()


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


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from(['seen', 'unseen', 'gone', 'hidden', 'restart']), st.integers(1, 5)),
        max_size=12,
    )
)
def test_only_looks_at_an_empty_place_are_absences_whatever_happens(story: list[tuple[str, int]]) -> None:
    home, gone_ns = home_of(MUG, BOWL), []
    identity = home.one().id
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
