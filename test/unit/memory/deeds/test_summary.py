from datetime import date, timedelta, timezone

from remembr_ros.memory.deeds.summary import by_day, days_without, kinds_said, rarest
from test.unit.memory.deeds.test_query import DAY, done

ZONE = timezone(timedelta(hours=2))
WEEK = [done(1440 * day, 'wave') for day in (0, 1, 1, 3)]
FIRST = date(2026, 5, 28)  # 22:26 there


def test_days_are_those_of_the_calendar_of_the_zone() -> None:
    assert {str(day): len(some) for day, some in by_day(WEEK, ZONE).items()} == {
        '2026-05-28': 1,
        '2026-05-29': 2,
        '2026-05-31': 1,
    }


def test_days_without_one() -> None:
    assert days_without(WEEK[:1], WEEK, ZONE) == [FIRST + timedelta(days=n) for n in (1, 2, 3)]
    assert days_without(WEEK, WEEK, ZONE) == [date(2026, 5, 30)]
    assert days_without([], [], ZONE) == []


def test_kinds_with_what_most_were_done_to() -> None:
    assert kinds_said(DAY).startswith('pick 2 times (soy milk, red cup), place 2 times (soy milk, red cup)')


def test_what_is_told_in_the_rarest_words_comes_first() -> None:
    usual = [done(n, 'wave') for n in range(50)]
    rare = done(60, 'place', object='vase', text='Dropped the vase, which broke.', outcome='failed')
    assert rarest([*usual, rare], [*usual, rare], 1) == [rare]
    assert rarest([], usual, 3) == []
