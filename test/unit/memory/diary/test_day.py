"""Days: against the truth of tours, on clocks that are set, and whatever the memories are."""

from collections import Counter
from dataclasses import replace
from datetime import date, datetime, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.geometry import Pose, distance
from remembr_ros.memory.diary import day as module
from remembr_ros.memory.diary.day import Diary, diary
from remembr_ros.memory.diary.episode import Episode, EpisodeKind
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS, parse_time
from test.unit.agent.overview.driven_tour import DrivenTour, drive

BERLIN = ZoneInfo('Europe/Berlin')
NEAR_S = 1.5  # Half a memory
NEAR_M = 0.5


def at(text: str) -> int:
    return parse_time(text)


def stays(told: Diary) -> list[Episode]:
    return [one for one in told.episodes if one.kind is EpisodeKind.STAY]


def memory(start_s: float, x: float, caption: str = 'A corridor.', seconds: float = 3.0, **fields) -> Memory:
    start_ns = at('2026-03-02T09:00:00Z') + round(start_s * NS)
    made = Memory(f'm{start_s}', 'robbie', start_ns, start_ns + round(seconds * NS), caption, Pose(x, 0.0))
    return replace(made, **fields)


def assert_told(told: Diary, tours: list[DrivenTour]) -> None:
    """Assert that stays, drives and what was read are those of the tours."""
    stops = [stop for tour in tours for stop in tour.stops]
    found = stays(told)
    assert len(found) == len(stops)
    for stay, stop in zip(found, stops, strict=True):
        assert abs(stay.start_ns - stop.start_ns) <= NEAR_S * NS
        assert abs(stay.end_ns - stop.end_ns) <= NEAR_S * NS
        assert stay.pose is not None
        assert distance(stay.pose.position, stop.pose.position) <= NEAR_M
        assert_read(stay, tours)
    for tour in tours:
        legs = [
            one
            for one in told.episodes
            if one.kind is EpisodeKind.LEG and tour.truth.start_ns <= one.start_ns < tour.truth.end_ns
        ]
        assert sum(leg.driven_m for leg in legs) == pytest.approx(tour.length_m, abs=0.05 * tour.length_m)
        for leg, (before, after) in zip(legs, pairwise(tour.stops), strict=True):
            assert abs(leg.start_ns - before.end_ns) <= NEAR_S * NS
            assert leg.pose is not None
            assert distance(leg.pose.position, after.pose.position) <= 1.0
            assert_read(leg, tours)


def assert_read(episode: Episode, tours: list[DrivenTour]) -> None:
    """Assert that all that was readable then was read, and what was not readable was not."""
    slack_ns = 3 * NS  # A memory counts where most of it is
    views = [(sign.text, view) for tour in tours for sign in tour.truth.signs for view in sign.readable]
    around = {
        text
        for text, view in views
        if view.start_ns <= episode.end_ns + slack_ns and episode.start_ns - slack_ns <= view.end_ns
    }
    inside = {
        text
        for text, view in views
        if max(view.start_ns, episode.start_ns) + slack_ns < min(view.end_ns, episode.end_ns)
    }
    assert inside <= set(episode.read) <= around


@pytest.mark.parametrize('seed', range(6))
@pytest.mark.parametrize('dwell', [1.0, 25.0])
def test_a_tour_is_told_as_it_was(seed: int, dwell: float) -> None:
    tour = drive(seed, at('2026-03-02T09:00:00Z'), dwell)
    told = diary(tour.memories, timezone.utc)
    assert [(day.date, [part.name for part in day.parts]) for day in told.days] == [
        (date(2026, 3, 2), ['morning'])
    ]
    assert len(tour.stops) == 6
    assert_told(told, [tour])


def test_tours_of_a_day_and_of_the_next_one() -> None:
    starts = ['2026-03-02T04:10:00Z', '2026-03-02T11:59:30Z', '2026-03-02T19:00:00Z', '2026-03-03T13:00:00Z']
    tours = [drive(seed, at(start), 20.0) for seed, start in enumerate(starts)]
    memories = [memory for tour in reversed(tours) for memory in tour.memories]
    told = diary(memories, timezone.utc)
    shape = [(str(day.date), [(part.name, len(part.episodes)) for part in day.parts]) for day in told.days]
    assert shape == [
        ('2026-03-02', [('night', 11), ('morning', 2), ('afternoon', 9), ('evening', 11)]),
        ('2026-03-03', [('afternoon', 11)]),
    ]
    assert_told(told, tours)
    # Of one part of the day, only what was in it
    afternoon = diary(memories, timezone.utc, at('2026-03-02T12:00:00Z'), at('2026-03-02T18:00:00Z'))
    assert {part.name for day in afternoon.days for part in day.parts} == {'afternoon'}
    assert afternoon.episodes[0].start_ns >= at('2026-03-02T12:00:00Z')
    assert len(stays(afternoon)) == 5, 'all but the first, where the robot stood 20 s'


def test_the_rooms_of_a_stay_are_those_of_the_building() -> None:
    tour = drive(0, at('2026-03-02T09:00:00Z'), 20.0)
    pytest.importorskip('remembr_bench', reason='needs the worlds of remembr_bench')
    from remembr_bench.simulation.floor_plan import generate_building

    building = generate_building(0)
    rooms = [building.place_at(stop.pose.x, stop.pose.y) for stop in tour.stops]
    assert {'cafeteria', 'library'} <= set(rooms)
    for stay, room in zip(stays(diary(tour.memories, timezone.utc)), rooms, strict=True):
        assert room in ' '.join(stay.seen) or room.upper() in stay.read


def test_robots_are_told_apart() -> None:
    start_ns = at('2026-03-02T09:00:00Z')
    tours = [drive(1, start_ns, 20.0, 'ann'), drive(2, start_ns + 7 * NS, 20.0, 'bob')]
    told = diary([memory for tour in tours for memory in tour.memories], timezone.utc)
    for tour, robot in zip(tours, ('ann', 'bob'), strict=True):
        mine = [one for one in stays(told) if one.robot == robot]
        assert len(mine) == len(tour.stops)
        assert all(memory.robot == robot for one in mine for memory in one.memories)
        for stay, stop in zip(mine, tour.stops, strict=True):
            assert abs(stay.start_ns - stop.start_ns) <= NEAR_S * NS


@pytest.mark.parametrize(
    ('day', 'hours'), [('2026-03-29', 23), ('2026-10-25', 25), ('2026-03-02', 24)], ids=str
)
def test_a_day_has_as_many_hours_as_the_clock(day: str, hours: int) -> None:
    midnight = datetime.fromisoformat(f'{day}T00:00').replace(tzinfo=BERLIN)
    start_ns = round(midnight.timestamp()) * NS
    # A robot that stands from the evening before until the evening after
    stood = memory(0.0, 1.0, merged=1000)
    stood = replace(stood, start_ns=start_ns - 3_600 * NS, end_ns=start_ns + 26 * 3_600 * NS)
    told = diary([stood], BERLIN)
    assert [one.seconds / 3_600 for one in told.episodes] == [1, hours, 26 - hours]
    assert [str(one.date) for one in told.days][1] == day
    assert all(one.memories == (stood,) for one in told.episodes)


def test_parts_of_the_day_go_by_the_clock() -> None:
    # Clocks went from 2:00 to 3:00: 4:59 on the clock is 3:59 after midnight
    told = diary(
        [
            replace(memory(0.0, 1.0), id=text, start_ns=at(text), end_ns=at(text) + 3 * NS)
            for text in (
                '2026-03-29T04:59:00+02:00',
                '2026-03-29T05:01:00+02:00',
                '2026-03-29T12:00:00+02:00',
            )
        ],
        BERLIN,
    )
    assert [part.name for day in told.days for part in day.parts] == ['night', 'morning', 'afternoon']


def test_a_long_drive_is_cut_where_what_is_seen_changes() -> None:
    outside = [
        memory(3.0 * i, 2.0 * i, f'Trees and parked cars on street {i % 7}.', travelled=2.0)
        for i in range(90)
    ]
    inside = [
        memory(3.0 * i, 2.0 * i, f'A hall with tables and shelves {i % 7}.', travelled=2.0)
        for i in range(90, 160)
    ]
    told = diary([*outside, *inside], timezone.utc)
    assert {one.kind for one in told.episodes} == {EpisodeKind.LEG}
    assert 3 <= len(told.episodes) <= 2 * module.PIECES
    assert outside[-1].end_ns in [one.end_ns for one in told.episodes]
    assert sum(one.driven_m for one in told.episodes) == pytest.approx(320.0, rel=0.02)
    for one in told.episodes:
        seen = ' '.join(one.seen)
        assert ('Trees' in seen) != ('hall' in seen)


def test_of_many_stops_the_longest_are_told() -> None:
    memories, clock, x = [], 0.0, 0.0
    for stop in range(200):
        for _ in range(4):
            memories.append(memory(clock, x + 3.0, travelled=6.0))
            clock, x = clock + 3.0, x + 6.0
        seconds = 600.0 if stop % 40 == 7 else 12.0
        memories.append(memory(clock, x, f'Stop {stop}.', seconds, merged=10, scene_text=(f'STOP {stop}',)))
        clock += seconds
    told = diary(memories, timezone.utc, most=10)
    assert [one.read for one in stays(told)] == [(f'STOP {stop}',) for stop in (7, 47, 87, 127, 167)]
    assert len(told.episodes) <= 10 + module.PIECES
    assert sum(one.driven_m for one in told.episodes) == pytest.approx(200 * 24.0, rel=0.05)


def test_a_day_of_ten_thousand_memories_stays_short() -> None:
    memories = [
        memory(3.0 * i, float(i // 50 % 40) * 5.0, f'Thing {i % 97} stands beside a door of hall {i // 500}.')
        for i in range(10_000)
    ]
    told = diary(memories, timezone.utc)
    assert len(told.episodes) <= module.MOST + 2 * module.PIECES
    assert all(len(one.seen) <= module.SENTENCES for one in told.episodes)


def test_notes_and_unplaced_memories_are_told_too() -> None:
    note = memory(5.0, 0.0, 'The lift is broken.', 0.0, source='person', pose=None)
    alone = memory(900.0, 0.0, 'A dark room.', pose=None)
    told = diary([*(memory(3.0 * i, 2.0 * i, travelled=2.0) for i in range(9)), note, alone], timezone.utc)
    assert [len(one.memories) for one in told.episodes] == [10, 1]
    last = told.episodes[-1]
    assert (last.kind, last.pose, last.seen) == (EpisodeKind.STAY, None, ('A dark room.',))


def test_a_change_of_map_divides_a_drive() -> None:
    one = [memory(3.0 * i, 2.0 * i, travelled=2.0, map_id='ground') for i in range(9)]
    other = [memory(3.0 * i, 2.0 * i, travelled=2.0, map_id='first') for i in range(9, 18)]
    told = diary([*one, *other], timezone.utc)
    assert [episode.map_id for episode in told.episodes] == ['ground', 'first']


def test_what_lies_in_an_episode_that_another_one_interrupts_is_told() -> None:
    roof = [memory(at_s, 0.0, map_id='roof', pose=None, seconds=0) for at_s in (0.0, 2.0)]
    told = diary([*roof, memory(1.0, 0.0, seconds=0)], timezone.utc)
    assert sum(len(one.memories) for one in told.episodes) == 3


def test_what_overlaps_is_told_once() -> None:
    told = diary([memory(0.0, 0.0, merged=5), memory(1.0, 2.0, seconds=0)], timezone.utc)
    assert sorted(one.id for episode in told.episodes for one in episode.memories) == ['m0.0', 'm1.0']


def test_drives_without_a_stay_between_are_told_however_few_may_be() -> None:
    told = diary([memory(2.0 * i, 2.0 * i, travelled=2.0) for i in range(9)], timezone.utc, most=2)
    assert sum(len(one.memories) for one in told.episodes) == 9


def test_a_stay_of_years_by_a_wrong_clock_is_one() -> None:
    stood = memory(0.0, 1.0, merged=9)
    stood = replace(stood, end_ns=stood.start_ns + 20_000 * 86_400 * NS)
    assert [one.memories for one in diary([stood], timezone.utc).episodes] == [(stood,)]


def test_nothing_remembered_is_an_empty_day() -> None:
    assert diary([], timezone.utc, 5, 9) == Diary(5, 9, ())


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 30) | st.integers(0, 100_000),
            st.integers(0, 5) | st.integers(0, 5_000),
            st.one_of(st.none(), st.integers(-50, 50)),
            st.sampled_from(['ann', 'bob']),
            st.sampled_from(['', 'roof']),
            st.sampled_from(['captioner', 'person']),
        ),
        max_size=30,
    ),
    st.integers(2, 12),
    st.one_of(st.none(), st.tuples(st.integers(0, 100_000), st.integers(0, 50_000))),
)
def test_any_memories_make_a_tree(spans, most, window) -> None:
    memories = [
        memory(
            start,
            0.0,
            seconds=seconds,
            id=f'{i}',
            robot=robot,
            map_id=map_id,
            source=source,
            pose=None if x is None else Pose(float(x), 0.0),
        )
        for i, (start, seconds, x, robot, map_id, source) in enumerate(spans)
    ]
    zero_ns = at('2026-03-02T09:00:00Z')
    after_ns = None if window is None else zero_ns + window[0] * NS
    before_ns = None if window is None else zero_ns + sum(window) * NS
    told = diary(memories, BERLIN, after_ns, before_ns, most)
    assert diary(list(reversed(memories)), BERLIN, after_ns, before_ns, most) == told
    starts = [one.start_ns for one in told.episodes]
    assert starts == sorted(starts)
    for day in told.days:
        for part in day.parts:
            for one in part.episodes:
                local = datetime.fromtimestamp(one.start_ns // NS, BERLIN)
                assert local.date() == day.date
                assert one.start_ns <= one.end_ns
                assert told.start_ns <= one.start_ns
                assert one.end_ns <= told.end_ns
                assert one.memories
                assert all(memory.robot == one.robot for memory in one.memories)
    if window is None:
        leaves = Counter(memory.id for one in told.episodes for memory in one.memories)
        assert set(leaves) == {memory.id for memory in memories}
