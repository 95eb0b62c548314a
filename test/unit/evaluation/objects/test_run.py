"""A home driven through, with little noise and few rules: the figures of many are measured elsewhere."""

import pytest

from remembr_ros.evaluation.objects.run import LEVELS, PROMISED, Course, drive_through
from remembr_ros.simulation.homes.layout import generate_home

pytest.importorskip('pyvista', reason='the extra simulation is not installed')


@pytest.fixture(scope='module')
def courses() -> dict[tuple[str, str], Course]:
    levels = [level for level in LEVELS if level.name in ('none', PROMISED)]
    return drive_through(generate_home(2, 2), levels, ['remembr', 'dimos'])


def f1(course: Course) -> float:
    tally = course.tally
    return 2 * tally.found / (2 * tally.found + tally.lost + tally.ghosts + tally.duplicates)


def test_objects_are_found_and_their_changes_known(courses: dict[tuple[str, str], Course]) -> None:
    assert f1(courses['none', 'remembr']) >= 0.97
    assert f1(courses[PROMISED, 'remembr']) >= 0.85
    delays = [delay for of_kind in courses['none', 'remembr'].tally.changed.values() for delay in of_kind]
    assert len(delays) >= 4
    assert sum(delay is not None for delay in delays) >= 0.9 * len(delays)
    still, wrong = courses['none', 'remembr'].tally.still
    assert still > 20
    assert wrong <= 0.02 * still


def test_others_see_the_same_and_make_less_of_it(courses: dict[tuple[str, str], Course]) -> None:
    for level in ('none', PROMISED):
        ours, theirs = courses[level, 'remembr'].tally, courses[level, 'dimos'].tally
        assert ours.found + ours.lost == theirs.found + theirs.lost
        assert f1(courses[level, 'dimos']) < f1(courses[level, 'remembr'])
        assert ours.seen > theirs.seen > 0


def test_the_same_home_gives_the_same_figures(courses: dict[tuple[str, str], Course]) -> None:
    again = drive_through(generate_home(2, 2), LEVELS[:1], ['remembr'])
    assert again['none', 'remembr'].tally == courses['none', 'remembr'].tally
