"""Long trajectories: what was done can be done, in order, and the last of it joins their ends."""

import itertools
from collections import Counter

import pytest

from remembr_bench.simulation.homes.home import ACTIONS
from remembr_bench.simulation.homes.rounds import arrival
from remembr_bench.simulation.homes.trajectory import (
    FIFTH,
    LEAST_STEPS,
    STEP_S,
    Trajectory,
    generate_trajectory,
)
from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import NS

STEPS = 600


@pytest.fixture(scope='module')
def trajectory() -> Trajectory:
    return generate_trajectory(5, STEPS)


def test_it_has_as_many_steps_as_were_asked_for(trajectory: Trajectory) -> None:
    visits = trajectory.day.home.visits
    driven_ns = sum(arrival(visit)[0] - visit.start_ns for visit in visits)
    assert 0.8 * STEPS <= driven_ns / NS / STEP_S <= 1.3 * STEPS
    assert all(a.start_ns < b.start_ns for a, b in itertools.pairwise(visits))


def test_tasks_of_all_kinds_follow_each_other(trajectory: Trajectory) -> None:
    done, tasks = trajectory.day.interactions, trajectory.tasks
    assert {'pick_and_place', 'two_of_a_kind', 'into_movable', 'open_close'} <= {one.kind for one in tasks}
    assert [one.first for one in tasks] == [0, *(one.last for one in tasks[:-1])]
    assert tasks[-1].last == len(done)
    assert all(a.end_ns <= b.start_ns for a, b in itertools.pairwise(done))
    for task in tasks:
        if task.kind == 'two_of_a_kind':
            _, one, _, other = done[task.first : task.last]
            items = [trajectory.day.home.items[place.item - 1] for place in (one, other)]
            assert items[0].label == items[1].label
            assert one.receptacle == other.receptacle


def test_an_action_is_done_to_two_things_at_most(trajectory: Trajectory) -> None:
    done = [one for one in trajectory.day.interactions if one.kind in ACTIONS]
    things = Counter(kind for kind, _ in {(one.kind, one.item) for one in done})
    assert len(done) == things.total()
    assert max(things.values()) == 2


def test_the_last_task_is_about_things_of_both_ends(trajectory: Trajectory) -> None:
    done, last = trajectory.day.interactions, trajectory.tasks[-1]
    assert last.kind == 'recall'
    pick, place = done[last.first :]
    begin_ns = trajectory.day.home.visits[0].start_ns
    first_ns = begin_ns + FIFTH * (pick.start_ns - begin_ns)
    last_ns = begin_ns + (1.0 - FIFTH) * (pick.start_ns - begin_ns)
    early = [one.item for one in done if one.kind == 'place' and one.start_ns <= first_ns]
    late = [one for one in done[: last.first] if one.start_ns >= last_ns - 60 * NS]
    assert pick.item in early
    placements = trajectory.day.home.visits[-1].placements
    beside = {one.item for one in late} | {one.receptacle for one in late}
    assert place.receptacle in beside | {placements[one].receptacle for one in beside if one in placements}


def test_a_guest_is_there_for_one_round(trajectory: Trajectory) -> None:
    assert trajectory.guests
    for guest in trajectory.guests:
        assert sum(guest in visit.placements for visit in trajectory.day.home.visits) == 1


def test_the_same_arguments_give_the_same() -> None:
    one, other = (generate_trajectory(5, LEAST_STEPS) for _ in range(2))
    assert one == other


@pytest.mark.parametrize(('seed', 'steps'), [(-1, 600), (5, 10)])
def test_nonsense_is_refused(seed: int, steps: int) -> None:
    with pytest.raises(InvalidRequest, match='no trajectory'):
        generate_trajectory(seed, steps)
