"""Days tell what robots did: where, when, in words and as JSON."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.overview.recalled_day import RecalledDay, day_json
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed, each_time
from remembr_ros.memory.diary.day import Diary, diary
from remembr_ros.memory.diary.day_text import day_lines
from remembr_ros.memory.diary.episode import Episode, EpisodeKind
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS, parse_time

START_NS = parse_time('2026-03-02T09:00:00Z')
UTC = timezone.utc


def at(second: float) -> int:
    return START_NS + round(second * NS)


def caption(
    second: float, x: float, travelled: float = 0.0, robot: str = 'ann', text: str = 'A door.'
) -> Memory:
    return Memory(
        f'{robot}{second}', robot, at(second), at(second + 3), text, Pose(x, 0.0), travelled=travelled
    )


def round_trip(robot: str = 'ann') -> list[Memory]:
    """Return a minute at 0, half a minute to 20, a minute there, half a minute back, and a minute at 0."""
    return [
        *(caption(3.0 * i, 0.0, robot=robot) for i in range(20)),
        *(caption(60 + 3.0 * i, 2.0 * i + 1, 2.0, robot) for i in range(10)),
        *(caption(90 + 3.0 * i, 20.0, robot=robot) for i in range(20)),
        *(caption(150 + 3.0 * i, 19.0 - 2.0 * i, 2.0, robot) for i in range(10)),
        *(caption(180 + 3.0 * i, 0.0, robot=robot) for i in range(20)),
    ]


def done(begin_s: float, end_s: float, x: float | None = None, robot: str = 'ann', **about: Any) -> Memory:
    about = {'kind': 'pick', 'outcome': 'succeeded', **about}
    pose = None if x is None else Pose(x, 0.0)
    return deed(at(begin_s), at(end_s), pose=pose, **about).memory(robot)


def patrol(*spans: tuple[float, float], **about: Any) -> Memory:
    """Return drives that are kept as one."""
    first = done(*spans[0], 20.0, kind='go', place='hall', **about)
    times = [[at(begin), at(end)] for begin, end in spans]
    return replace(
        first,
        end_ns=max(end for _, end in times),
        merged=len(times),
        travelled=20.0 * len(times),
        facts={**first.facts, 'times': times},
    )


def told(episodes: Sequence[Episode]) -> list[list[tuple[float, str]]]:
    """Return what was done in each episode: when it began, and the sentence."""
    return [[((d.start_ns - START_NS) / NS, d.caption) for d in one.deeds] for one in episodes]


def shape(found: Diary) -> list[tuple[EpisodeKind, int, int]]:
    return [(one.kind, one.start_ns, one.end_ns) for one in found.episodes]


PICK = done(10, 14, 0.0, object='cup')
PUT = done(100, 110, 20.0, kind='place', object='cup', receptacle='shelf')
DRIVE = done(61, 92, 20.0, kind='go', place='hall')


def test_they_are_told_at_the_stay_or_drive_in_which_they_began() -> None:
    found = diary([PUT, DRIVE, *round_trip(), PICK], UTC)
    assert told(found.episodes) == [
        [(10, 'Picked the cup')],
        [(61, 'Drove to the hall')],
        [(100, 'Put the cup on the shelf')],
        [],
        [],
    ]
    assert [one.kind.value for one in found.episodes] == ['stay', 'leg', 'stay', 'leg', 'stay']


def test_stays_and_drives_are_those_without_them() -> None:
    alone = diary(round_trip(), UTC)
    found = diary([*round_trip(), PICK, PUT, DRIVE, patrol((61, 92), (150, 181), (182, 190))], UTC)
    assert shape(found) == shape(alone)
    assert [one.driven_m for one in found.episodes] == [one.driven_m for one in alone.episodes]


def test_what_was_done_is_not_told_as_seen() -> None:
    found = diary([*round_trip(), PICK, PUT, DRIVE], UTC)
    assert {text for one in found.episodes for text in one.seen} == {'A door.'}
    (alone,) = diary([PUT], UTC).episodes
    assert (alone.seen, alone.read) == ((), ())
    ids = {memory.id for one in found.episodes for memory in one.memories}
    assert {PICK.id, PUT.id, DRIVE.id} <= ids, 'it is a memory of the day all the same'


def test_what_reaches_into_a_time_is_told_and_what_is_beside_it_is_not() -> None:
    memories = [*round_trip(), PICK, DRIVE, PUT, done(145, 145, 20.0, object='box')]
    found = diary(memories, UTC, at(80), at(140))
    assert [one.kind.value for one in found.episodes] == ['leg', 'stay']
    assert told(found.episodes) == [[(61, 'Drove to the hall')], [(100, 'Put the cup on the shelf')]]
    assert all(at(80) <= one.start_ns <= one.end_ns <= at(140) for one in found.episodes)


def test_drives_that_are_one_memory_are_told_each_at_its_time() -> None:
    memories = [*round_trip(), patrol((61, 91), (151, 181), (200, 235))]
    sentence = 'Drove to the hall'
    assert told(diary(memories, UTC).episodes) == [
        [],
        [(61, sentence)],
        [],
        [(151, sentence)],
        [(200, sentence)],
    ]
    assert told(diary(memories, UTC, at(140), at(190)).episodes) == [[], [(151, sentence)], []]
    assert told(diary(memories, UTC, at(95), at(140)).episodes) == [[]], 'it stood between two of them'
    each = [one for episode in diary(memories, UTC).episodes for one in episode.deeds]
    assert [(one.start_ns, one.end_ns) for one in each] == [
        (at(begin), at(end)) for begin, end in ((61, 91), (151, 181), (200, 235))
    ]


def test_what_each_of_several_robots_did_is_told_of_it() -> None:
    both = [*round_trip('ann'), *round_trip('bob')]
    mine = [done(10, 14, 0.0, robot='bob', object='box'), PUT]
    found = diary([*both, *mine], UTC).episodes
    assert {(one.robot, text) for one in found for _, text in told([one])[0]} == {
        ('ann', 'Put the cup on the shelf'),
        ('bob', 'Picked the box'),
    }
    lines = day_lines(diary([*both, *mine], UTC), UTC)
    assert ' bob stood 1 minute at (0.0, 0.0). A door. At 09:00:10: Picked the box.' in lines


def test_a_day_of_which_nothing_but_deeds_is_known() -> None:
    later = done(5000, 5060, kind='dock', outcome='failed', reason='the dock is gone')
    found = diary([later, PICK, done(20, 20, 0.0, object='box')], UTC)
    assert told(found.episodes) == [
        [(10, 'Picked the cup'), (20, 'Picked the box')],
        [(5000, 'Failed to dock: the dock is gone')],
    ]
    assert day_lines(found, UTC).splitlines() == [
        'Monday, 2026-03-02, morning:',
        '09:00:10 to 09:00:20 was busy 10 seconds at (0.0, 0.0). At 09:00:10: Picked the cup. '
        'At 09:00:20: Picked the box.',
        '10:23:20 to 10:24:20 was busy 1 minute at a place unknown. '
        'At 10:23:20: Failed to dock: the dock is gone.',
    ]


def test_what_was_done_over_midnight_is_told_once() -> None:
    zone = ZoneInfo('Pacific/Auckland')  # its midnight is at 11:00
    night = done(2 * 3600 - 60, 2 * 3600 + 60, 0.0, kind='charge')
    stood = replace(caption(3600, 0.0), end_ns=at(3 * 3600), merged=1000)
    found = diary([stood, night], zone)
    assert [str(day.date) for day in found.days] == ['2026-03-02', '2026-03-03']
    assert told(found.episodes) == [[(2 * 3600 - 60, 'Charged')], []]
    assert 'At 23:59:00: Charged.' in day_lines(found, zone)


def test_of_many_the_first_are_said_and_the_rest_counted() -> None:
    found = diary([done(i, i, 0.0, object=f'cup {i}') for i in range(30)], UTC)
    assert [len(one.deeds) for one in found.episodes] == [30]
    line = day_lines(found, UTC).splitlines()[1]
    assert 'Picked the cup 19. And 10 more.' in line
    assert 'cup 20' not in line


def test_json_has_them_with_outcome() -> None:
    broken = replace(done(20, 20, 0.0, object='box'), facts={'outcome': 'nonsense'})
    found = day_json(RecalledDay(diary([*round_trip(), PICK, broken], UTC)), UTC)
    first, *rest = found['days'][0]['parts'][0]['episodes']
    assert first['deeds'] == [
        {
            'id': PICK.id,
            'start': '2026-03-02T09:00:10.000000Z',
            'end': '2026-03-02T09:00:14.000000Z',
            'text': 'Picked the cup',
            'outcome': 'succeeded',
        },
        {
            'id': broken.id,
            'start': '2026-03-02T09:00:20.000000Z',
            'end': '2026-03-02T09:00:20.000000Z',
            'text': 'Picked the box',
            'outcome': 'unknown',
        },
    ]
    assert all(one['deeds'] == [] for one in rest)
    assert PICK.id in first['memories']
    assert 'At 09:00:10: Picked the cup.' in found['text']


@pytest.mark.parametrize(('begin_s', 'end_s', 'since_s'), [(300, 840, 660), (630, 1190, 610)])
def test_what_reaches_from_or_into_another_stay_is_told_where_nothing_else_is(
    begin_s: float, end_s: float, since_s: float
) -> None:
    stays = [replace(caption(at_s, 0.0), end_ns=at(at_s + 600), merged=200) for at_s in (0, 900)]
    found = diary([*stays, done(begin_s, end_s, 0.0, kind='charge')], UTC, at(since_s), at(860))
    assert [text for one in told(found.episodes) for _, text in one] == ['Charged']


@given(
    st.lists(
        st.tuples(st.integers(-60, 400), st.integers(0, 90), st.none() | st.integers(0, 20), st.booleans()),
        max_size=12,
    ),
    st.lists(st.tuples(st.integers(-60, 400), st.integers(0, 60)), max_size=6),
    st.tuples(st.integers(-60, 300), st.integers(1, 200)) | st.none(),
    st.integers(2, 20),
)
def test_whatever_was_done_in_a_time_is_told_once(
    spans: list[tuple[int, int, int | None, bool]],
    times: list[tuple[int, int]],
    window: tuple[int, int] | None,
    most: int,
) -> None:
    deeds = [
        done(begin, begin + lasted, x, 'bob' if other else 'ann', object=f'thing {i}')
        for i, (begin, lasted, x, other) in enumerate(spans)
    ]
    if times:
        deeds.append(patrol(*sorted((begin, begin + lasted) for begin, lasted in times)))
    after_ns, before_ns = (at(window[0]), at(sum(window))) if window else (None, None)
    # A bob stands all the time, an ann goes her round: an episode is there wherever a deed begins or ends.
    stood = replace(caption(-200, 0.0, robot='bob'), end_ns=at(800), merged=300)
    around = [
        replace(caption(-200, 0.0), end_ns=at(0)),
        replace(caption(240, 0.0), end_ns=at(800), merged=200),
    ]
    memories = [*round_trip(), stood, *around, *deeds]
    found = diary(memories, UTC, after_ns, before_ns, most)
    each = Counter(
        (one.robot, one.start_ns, one.caption) for episode in found.episodes for one in episode.deeds
    )
    assert each == Counter(
        (one.robot, one.start_ns, one.caption)
        for memory in deeds
        for one in each_time(memory)
        if (after_ns is None or one.end_ns >= after_ns) and (before_ns is None or one.start_ns <= before_ns)
    )
    for episode in found.episodes:
        assert all(one.robot == episode.robot for one in episode.deeds)
        assert list(episode.deeds) == sorted(episode.deeds, key=lambda one: one.start_ns)
