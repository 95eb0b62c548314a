"""A home with a robot at work in it: what it can do, what is refused, and that a refusal changes nothing."""

import random

import pytest

from remembr_bench.simulation.homes.home import Impossible, Visit, name_of
from remembr_bench.simulation.homes.layout import START_NS, HomeMaking, round_through
from remembr_bench.simulation.homes.world import HomeWorld
from remembr_ros.timestamps import NS


@pytest.fixture
def world() -> HomeWorld:
    rng = random.Random(1)
    making = HomeMaking(random.Random(5))
    return HomeWorld(making, 5, Visit(START_NS, dict(making.placed), round_through(making.rooms, rng)))


def called(world: HomeWorld, name: str) -> int:
    return next(item.number for item in world.making.items if name_of(item) == name)


def test_a_thing_is_fetched_and_put_elsewhere(world: HomeWorld) -> None:
    cup, table = called(world, 'black cup'), called(world, 'sofa')
    world.go_to(cup)
    world.pick(cup, 5.0)
    assert world.held == cup
    assert cup not in world.making.placed
    world.go_to(table)
    world.place(table, seconds=7.0)
    assert world.held == 0
    assert world.making.placed[cup].receptacle == table
    pick, place = world.done
    assert (pick.kind, place.kind) == ('pick', 'place')
    assert place.end_ns - place.start_ns == 7 * NS
    assert pick.end_ns <= world.drives[-1].start_ns <= place.start_ns
    assert place.travelled > 0.5


def test_what_is_in_a_box_comes_along(world: HomeWorld) -> None:
    bowl, box, sofa = called(world, 'blue bowl'), called(world, 'blue box'), called(world, 'sofa')
    apple = called(world, 'red apple')
    world.carry(bowl, box, lambda: 5.0)
    world.carry(apple, bowl, lambda: 5.0)
    assert world.base(bowl) == world.base(box)
    assert world.holds(box) == [bowl]
    offset = [a - b for a, b in zip(*(world.making.placed[n].origin for n in (bowl, box)), strict=True)]
    world.go_to(box)
    world.pick(box)
    assert world.making.placed.keys().isdisjoint({bowl, box, apple})
    world.go_to(sofa)
    world.place(sofa)
    assert world.base(apple) == world.base(bowl) == sofa
    after = [a - b for a, b in zip(*(world.making.placed[n].origin for n in (bowl, box)), strict=True)]
    assert after == pytest.approx(offset)


def test_what_cannot_be_done_is_refused_and_changes_nothing(world: HomeWorld) -> None:
    cup, fridge, shelf = (called(world, name) for name in ('black cup', 'fridge', 'shelf'))
    before = dict(world.making.placed)
    with pytest.raises(Impossible, match='holds nothing'):
        world.place(shelf)
    with pytest.raises(Impossible, match='there is no thing 999'):
        world.pick(999)
    far = cup if not world.is_near(cup) else shelf
    with pytest.raises(Impossible, match='not within reach'):
        world.pick(far)
    world.go_to(fridge)
    with pytest.raises(Impossible, match='cannot be carried'):
        world.pick(fridge)
    with pytest.raises(Impossible, match='closed already'):
        world.act('close', fridge)
    with pytest.raises(Impossible, match='nobody can slice'):
        world.act('slice', fridge)
    world.act('open', fridge)
    with pytest.raises(Impossible, match='open already'):
        world.act('open', fridge)
    assert [one.kind for one in world.done] == ['open']
    assert world.making.placed == before


def test_an_attempt_that_fails_leaves_no_trace(world: HomeWorld) -> None:
    cup, sofa = called(world, 'black cup'), called(world, 'sofa')
    before, drives = dict(world.making.placed), list(world.drives)

    def both() -> None:
        with world.attempt():
            world.carry(cup, sofa, lambda: 5.0)
            world.go_to(cup)
            world.pick(cup)
            world.act('open', cup)

    with pytest.raises(Impossible):
        both()
    assert (world.making.placed, world.drives, world.done, world.held) == (before, drives, [], 0)


def test_what_stands_on_the_floor_is_too_big_to_carry(world: HomeWorld) -> None:
    bin_ = called(world, 'white bin')
    x, y, _ = world.middle(bin_)
    world.go((x, y))
    assert world.is_near(bin_)
    with pytest.raises(Impossible, match='cannot be carried'):
        world.pick(bin_)
