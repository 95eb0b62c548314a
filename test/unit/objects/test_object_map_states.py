"""Objects that deeds leave in states, and what an image shows that agrees with what is known."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.objects.lifting import CameraView, Lifted, lift
from remembr_ros.objects.object_map import ObjectMap
from remembr_ros.timestamps import NS
from test.object_home import BOWL, MUG, VASE, Home, home_of
from test.object_scene import T0, Scene, detection, known_object


def done(kind: str, object_id: str, *, key: str = 'goal', **about: Any) -> Memory:
    return deed(T0 + 60 * NS, object_id=object_id, kind=kind, key=key, **about).memory('robbie')


@pytest.fixture
def home() -> Home:
    return home_of(MUG, BOWL)


def states(home: Home) -> dict[str, str]:
    return {known.name: known.state[0] for known in home.known()}


def test_a_deed_leaves_its_object_in_a_state_which_stays(home: Home) -> None:
    home.objects.take_states(done('pick', home.one('mug').id))
    home.show(MUG, BOWL)
    assert states(home) == {'mug': 'in hand', 'bowl': ''}
    assert states(home.restarted(NS)) == {'mug': 'in hand', 'bowl': ''}
    home.objects.take_states(done('place', home.one('mug').id, key='another goal'))
    assert [state for _, state, _ in home.one('mug').facts.states] == ['in hand', 'normal']


def test_a_deed_that_was_of_another_object_changes_that_one(home: Home) -> None:
    for label in ('mug', 'bowl'):
        home.objects.take_states(done('pick', home.one(label).id))
    assert states(home) == {'mug': '', 'bowl': 'in hand'}
    home.objects.take_states(done('pick', home.one('bowl').id, outcome='failed'))
    assert states(home) == {'mug': '', 'bowl': ''}


def test_an_object_is_meant_by_an_alias_too_and_nobody_by_no_id() -> None:
    objects = ObjectMap('robbie', known=[known_object(0, aliases=('younger',)), known_object(1)])
    before = objects.memories()
    for name in ('', 'stranger'):
        objects.take_states(done('pick', name))
    objects.take_states(before[0])
    assert objects.memories() == before
    objects.take_states(done('pick', 'younger'))
    assert [known.state[0] for known in known_objects(objects.memories())].count('in hand') == 1


def seen(home: Home, *things: Any) -> tuple[CameraView, list[Lifted]]:
    """Return what an image shows of things, without telling the map."""
    scene, found = Scene(), []
    for thing in things:
        left, top, right, bottom = thing.pixels(0.0)
        scene.put((left, top, right, bottom), thing.ahead, thing.bgr)
        box = (float(left), float(top), float(right), float(bottom))
        found.append(detection(box, thing.label, stamp_ns=home.now_ns + NS))
    view = scene.view(home.now_ns + NS)
    return view, lift(found, view, Counter())


@pytest.mark.parametrize(
    ('things', 'counts'),
    [((), (0, 0)), ((MUG,), (1, 1)), ((MUG, BOWL), (2, 2)), ((VASE, BOWL), (2, 1)), ((VASE,), (1, 0))],
)
def test_what_agrees_is_counted_and_changes_nothing(home: Home, things: Any, counts: tuple[int, int]) -> None:
    home.show(MUG, BOWL, VASE, times=1)  # which is not enough for an object
    before, _ = home.objects.memories(), home.objects.changed()
    for _ in range(10):
        some, known = home.objects.agrees(*seen(home, *things))
        assert (some, len(known)) == counts
        assert all(first_ns <= home.now_ns for first_ns in known)
    assert home.objects.memories() == before
    assert home.objects.changed() == []
    assert len(home.objects) == 2


def test_nothing_agrees_from_a_wrong_place(home: Home) -> None:
    view, placed = seen(home, MUG, BOWL)
    off = [replace(one, low=one.low + 5.0, high=one.high + 5.0) for one in placed]
    assert home.objects.agrees(view, off) == (2, [])
