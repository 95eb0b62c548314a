from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_bench.simulation.homes.home import Home, Placement, centre_of
from remembr_bench.simulation.homes.layout import DOOR_M, generate_home
from remembr_ros.errors import InvalidRequest

SEEDS = st.integers(0, 10_000)


def room_at(home: Home, x: float, y: float) -> str:
    return next((room.name for room in home.rooms if room.holds(x, y)), '')


def look(item) -> tuple[str, str]:
    return item.label, item.colour


def box(home: Home, number: int, placement: Placement) -> tuple[list[float], list[float]]:
    centre, size = centre_of(home.items[number - 1], placement), home.items[number - 1].size
    low = [c - s / 2 for c, s in zip(centre, size, strict=True)]
    return low, [c + s / 2 for c, s in zip(centre, size, strict=True)]


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_a_seed_makes_one_home_with_the_things_that_are_promised(seed):
    home = generate_home(seed)
    assert home == generate_home(seed)
    assert {room.name for room in home.rooms} == {'kitchen', 'living room', 'bedroom', 'study'}
    assert {'table', 'counter', 'shelf', 'fridge', 'drawer'} <= {item.label for item in home.items}
    assert [item.number for item in home.items] == list(range(1, len(home.items) + 1))
    for visit in home.visits:
        assert 30 <= len(visit.placements) <= 80
        for number, placement in visit.placements.items():
            assert room_at(home, *centre_of(home.items[number - 1], placement)[:2])
            low, high = box(home, number, placement)
            assert all(0.0 <= low[i] <= high[i] <= home.size[i] for i in range(2))


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_no_small_thing_lies_in_another_and_each_stands_on_what_it_is_said_to(seed):
    home = generate_home(seed)
    for visit in home.visits:
        small = [n for n in visit.placements if home.items[n - 1].kind != 'furniture']
        boxes = {number: box(home, number, visit.placements[number]) for number in visit.placements}
        for i, a in enumerate(small):
            for b in small[i + 1 :]:
                (a0, a1), (b0, b1) = boxes[a], boxes[b]
                assert any(a1[k] <= b0[k] or b1[k] <= a0[k] for k in range(3)), (a, b)
            on = visit.placements[a].receptacle
            if on == 0:
                assert visit.placements[a].origin[2] == 0.0
            else:
                (low, high), (x, y, z) = boxes[on], visit.placements[a].origin
                assert low[0] <= x <= high[0]
                assert low[1] <= y <= high[1]
                assert low[2] < z <= high[2]


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_between_two_visits_some_things_move_some_go_and_furniture_stays(seed):
    home = generate_home(seed, 4)
    for before, after in pairwise(home.visits):
        assert after.start_ns - before.start_ns >= 2 * 3600 * 10**9
        common = set(before.placements) & set(after.placements)
        moved = {n for n in common if before.placements[n] != after.placements[n]}
        taken = set(before.placements) - set(after.placements)
        assert len(taken) >= 2
        assert {home.items[n - 1].kind for n in taken} == {'small'}
        small = [home.items[n - 1] for n in moved if home.items[n - 1].kind == 'small']
        assert small
        assert not any(home.items[n - 1].kind == 'furniture' for n in moved)
        # Of things that nobody can tell apart one at most changes: what happened can be known.
        looks = [look(item) for item in small] + [look(home.items[n - 1]) for n in taken]
        assert len(looks) == len(set(looks))


def test_there_are_things_that_look_alike():
    looks = [look(item) for item in generate_home(1).items if item.kind == 'small']
    assert len(set(looks)) < len(looks)


@pytest.mark.parametrize('seed', range(5))
def test_every_room_is_looked_around_in_and_entered_by_its_doors(seed):
    home = generate_home(seed)
    for visit in home.visits:
        stops = [(x, y) for x, y, turns in visit.corners if turns]
        assert {room_at(home, x, y) for x, y in stops} == {room.name for room in home.rooms}
        walls = [wall for wall in home.walls if wall.high[2] > 0.1]
        for (x0, y0, _), (x1, y1, _) in pairwise(visit.corners):
            for k in range(101):
                x, y = x0 + (x1 - x0) * k / 100, y0 + (y1 - y0) * k / 100
                for wall in walls:  # with room for a robot as wide as the half of a door
                    off = [max(wall.low[i] - p, p - wall.high[i], 0.0) for i, p in enumerate((x, y))]
                    assert sum(d * d for d in off) ** 0.5 > DOOR_M / 5


@pytest.mark.parametrize(('seed', 'visits'), [(-1, 3), (0, 0)])
def test_what_is_out_of_range_is_refused(seed, visits):
    with pytest.raises(InvalidRequest, match='give a seed from 0, visits from 1'):
        generate_home(seed, visits)
