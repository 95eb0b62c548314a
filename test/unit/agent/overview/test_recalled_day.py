"""Days by the words for their time, and the days that there are."""

from datetime import date, timezone
from zoneinfo import ZoneInfo

import pytest

from remembr_ros.agent.overview import recalled_day
from remembr_ros.agent.overview.recalled_day import days_remembered, nothing_of_day, recall_day, scope_of_day
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.questions import DayForm
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.recall_protocol import every
from remembr_ros.timestamps import NS, parse_time
from test.unit.agent.listed_recall import ListedRecall

NOW_NS = parse_time('2026-11-23T15:00:00Z')


def seen(*times: str, robot: str = 'r') -> list[Memory]:
    return [
        Memory(
            f'{robot}{text}', robot, parse_time(text), parse_time(text) + 3 * NS, 'A hall.', Pose(1.0, 2.0)
        )
        for text in times
    ]


RECALL = ListedRecall(
    [
        *seen('2026-11-23T09:00:00Z', '2026-11-22T23:30:00Z', '2026-11-20T10:00:00Z'),
        *seen('2026-11-01T08:00:00Z', robot='s'),
    ]
)


@pytest.mark.parametrize(
    ('words', 'ids'),
    [
        ('', ['r2026-11-23T09:00:00Z']),
        ('today', ['r2026-11-23T09:00:00Z']),
        ('this morning', ['r2026-11-23T09:00:00Z']),
        ('this afternoon', []),
        ('yesterday evening', ['r2026-11-22T23:30:00Z']),
        ('2026-11-20', ['r2026-11-20T10:00:00Z']),
        ('Friday', ['r2026-11-20T10:00:00Z']),
        ('last 8 hours', ['r2026-11-23T09:00:00Z']),
        ('since yesterday', ['r2026-11-22T23:30:00Z', 'r2026-11-23T09:00:00Z']),
    ],
)
def test_a_day_is_found_by_words(words: str, ids: list[str]) -> None:
    day = recall_day(RECALL, scope_of_day(DayForm(day=words), NOW_NS, timezone.utc), timezone.utc)
    assert [memory.id for one in day.diary.episodes for memory in one.memories] == ids
    assert day.whole


def test_of_more_memories_than_are_read_the_latest_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalled_day, 'every', lambda recall, scope: every(recall, scope, 1))
    day = recall_day(RECALL, scope_of_day(DayForm(day='since yesterday'), NOW_NS, timezone.utc), timezone.utc)
    assert [memory.id for one in day.diary.episodes for memory in one.memories] == ['r2026-11-23T09:00:00Z']
    assert not day.whole
    assert day.diary.start_ns == parse_time('2026-11-23T09:00:00Z')
    assert day.lines(timezone.utc).startswith('Only the latest')


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(InvalidRequest, match='not a time'):
        scope_of_day(DayForm(day='purple'), NOW_NS, timezone.utc)


def test_the_days_that_there_are_are_those_of_the_askers_clock() -> None:
    days = [date(2026, 11, 23), date(2026, 11, 22), date(2026, 11, 20), date(2026, 11, 1)]
    assert days_remembered(RECALL) == days
    assert days_remembered(RECALL, zone=ZoneInfo('Asia/Tokyo'))[:2] == [
        date(2026, 11, 23),
        date(2026, 11, 20),
    ]


def test_where_nothing_is_remembered_the_days_with_something_are_named() -> None:
    told = nothing_of_day(RECALL, scope_of_day(DayForm(day='2026-11-21'), NOW_NS, timezone.utc), timezone.utc)
    assert told == (
        'Nothing is remembered of that time; there are memories of 2026-11-23, 2026-11-22, 2026-11-20, '
        '2026-11-01.'
    )
    other = scope_of_day(DayForm(day='today', robot=('s',)), NOW_NS, timezone.utc)
    assert nothing_of_day(RECALL, other, timezone.utc).endswith('memories of 2026-11-01.')
    assert nothing_of_day(RECALL, Scope(robots=('t',)), timezone.utc) == 'The memory holds nothing of t.'
    many = ListedRecall(seen(*(f'2026-10-{day:02}T08:00:00Z' for day in range(1, 31))))
    assert nothing_of_day(many, Scope(after_ns=NOW_NS), timezone.utc).endswith('2026-10-24 and earlier.')


def test_a_floor_narrows_it_down() -> None:
    high = [
        Memory(f'{i}', 'r', NOW_NS + i * NS, NOW_NS + i * NS, 'A hall.', Pose(1.0, 2.0, 4.0 * (i // 5)))
        for i in range(10)
    ]
    day = recall_day(ListedRecall(high), Scope(), timezone.utc, floor=2)
    assert (day.by, {memory.id for one in day.diary.episodes for memory in one.memories}) == (
        'height',
        set('56789'),
    )
