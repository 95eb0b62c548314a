"""Questions of a trajectory: each has one answer, clues that were interactions or sights, and a depth."""

import random
from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_bench.evaluation.needles.questions import FIFTHS, MOST, NeedleTruth
from remembr_bench.simulation.homes.home import Interaction, name_of
from remembr_ros.geometry import Pose
from test.unit.evaluation.needles.trajectory import START_NS, STEP_NS, live

CATEGORIES = {'presence', 'open state', 'location', 'action', 'content', 'put', 'final state', 'moves'}
STEPS = 330


def depth(ns: int) -> float:
    return (ns - START_NS) / (STEPS * STEP_NS)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 60), st.integers(1, 3))
def test_what_is_asked_has_one_answer_and_clues_that_took_place(seed: int, each: int) -> None:
    lived = live(seed, STEPS)
    truth = lived.truth
    asked = truth.needles(random.Random(seed), each, depth)
    assert {one.category for one, _ in asked} <= CATEGORIES
    begun = {one.start_ns for one in lived.day.interactions}
    numbers = Counter()
    for one, at in asked:
        assert (bool(one.right) + (one.yes is not None) + (one.number is not None)) == 1
        assert len(one.right) <= MOST
        assert one.right <= truth.titles.keys()
        assert list(one.clues_ns) == sorted(one.clues_ns)
        assert one.category == 'presence' or begun.issuperset(one.clues_ns)
        assert (at is None) == (not one.clues_ns)
        assert one.clues_ns or one.yes is False
        fifth = -1 if at is None else min(int(at * FIFTHS), FIFTHS - 1)
        numbers[one.category, len(one.clues_ns) > 1, fifth] += 1
    assert all(n <= each * (FIFTHS if key[2] < 0 else 1) for key, n in numbers.items())


def test_all_categories_are_asked_where_everything_took_place() -> None:
    asked = [one for one, _ in live(5, 990).truth.needles(random.Random(0), 3, depth)]
    assert {one.category for one in asked} == CATEGORIES
    several = {one.category for one in asked if len(one.clues_ns) > 1}
    assert several >= {'presence', 'location', 'content', 'put', 'moves'}


def test_where_a_thing_is_takes_two_clues_if_what_it_is_in_was_carried() -> None:
    lived = live(5)
    cup, box, *others = (n for n in lived.truth.titles if lived.truth.item(n).kind == 'small')
    furniture = [n for n in lived.truth.titles if lived.truth.item(n).kind == 'furniture']

    def did(step: int, kind: str, item: int, receptacle: int) -> Interaction:
        start_ns = START_NS + step * STEP_NS
        return Interaction(kind, item, receptacle, 'study', start_ns, start_ns + 1, Pose(1.0, 1.0), 0.0)

    one, other, *_ = furniture
    moves = [(cup, one, box), (others[0], one, other), (box, one, other), (box, other, one)]
    done = tuple(
        did(10 * i + j, kind, moved[0], moved[1 + j])
        for i, moved in enumerate(moves)
        for j, kind in enumerate(('pick', 'place'))
    )
    asked = NeedleTruth(replace(lived.day, interactions=done), {}).needles(random.Random(0), 9, depth)
    found = {one.right: one.clues_ns for one, _ in asked if one.category == 'final state'}
    assert found[frozenset((box,))] == (done[1].start_ns, done[7].start_ns)
    assert {len(clues_ns) for right, clues_ns in found.items() if right != {box}} == {1}


def test_titles_tell_things_apart() -> None:
    lived = live(5)
    titles = Counter(lived.truth.titles.values())
    assert set(titles.values()) == {1}
    names = Counter(name_of(item) for item in lived.day.home.items)
    for number, title in lived.truth.titles.items():
        item = lived.truth.item(number)
        assert title == item.label or ' in the ' in title or names[title] == 1
    twice = [item for item in lived.day.home.items if item.label == 'counter']
    assert len(twice) == 2  # in one kitchen: nobody can tell which
    assert not {item.number for item in twice} & lived.truth.titles.keys()
