"""A robot's day: what it does is possible, and the pictures show it."""

import math
from itertools import pairwise

import pytest

from remembr_bench.simulation.homes.day import GRASP_S, HANDLED, WorkDay, generate_day
from remembr_bench.simulation.homes.home import centre_of
from remembr_bench.simulation.homes.home_views import items_seen
from remembr_bench.simulation.homes.rounds import arrival
from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import NS

SEEDS = (5, 6)


@pytest.fixture(scope='module', params=SEEDS)
def day(request: pytest.FixtureRequest) -> WorkDay:
    return generate_day(request.param)


def test_what_is_picked_is_put_down_before_the_next_thing(day: WorkDay) -> None:
    done = day.interactions
    assert 2 * HANDLED[0] <= len(done) <= 2 * HANDLED[1]
    assert len(done) % 2 == 0
    assert [one.kind for one in done] == ['pick', 'place'] * (len(done) // 2)
    for pick, place in zip(done[::2], done[1::2], strict=True):
        assert pick.item == place.item
        assert GRASP_S[0] * NS <= pick.end_ns - pick.start_ns <= GRASP_S[1] * NS
    assert all(a.end_ns <= b.start_ns for a, b in pairwise(done))


def test_things_lie_where_the_robot_put_them(day: WorkDay) -> None:
    """Who replays the interactions from the first picture on comes to the last one."""
    first, last = day.home.visits[0].placements, day.home.visits[-1].placements
    where = {number: placement.receptacle for number, placement in first.items()}
    for one in day.interactions:
        if one.kind == 'pick':
            assert where.pop(one.item) == one.receptacle
        else:
            assert one.item not in where
            where[one.item] = one.receptacle
    carried = {one.item for one in day.interactions}
    assert {number for number in first if first[number] != last.get(number)} <= carried
    assert all(where[n] == last[n].receptacle for n in last if n in where and n != day.interactions[-1].item)


def test_the_robot_sees_what_it_reaches_for_and_never_enters_the_secluded_room(day: WorkDay) -> None:
    home = day.home
    rooms = {room.name: room for room in home.rooms}
    for one in day.interactions:
        before = [visit for visit in home.visits if arrival(visit)[0] == one.start_ns]
        assert len(before) == 1
        assert one.room != day.secluded
        assert rooms[one.room].holds(one.pose.x, one.pose.y)
        if one.kind == 'pick':
            with items_seen(home, before[0]) as items:
                assert (items(one.pose) == one.item).sum() > 60
            x, y, _ = centre_of(home.items[one.item - 1], before[0].placements[one.item])
            assert math.dist((x, y), (one.pose.x, one.pose.y)) < 2.0
    for visit in home.visits if day.secluded else ():
        assert not any(rooms[day.secluded].holds(x, y) for x, y, turns in visit.corners if turns)


def test_drives_follow_each_other(day: WorkDay) -> None:
    for before, after in pairwise(day.home.visits):
        end_ns, pose = arrival(before)
        assert after.start_ns >= end_ns
        assert after.corners[0][:2] == pytest.approx((pose.x, pose.y))
        assert after.yaw == pose.yaw


def test_the_same_seed_gives_the_same_day() -> None:
    assert generate_day(5) == generate_day(5)
    with pytest.raises(InvalidRequest, match='seed'):
        generate_day(-1)
