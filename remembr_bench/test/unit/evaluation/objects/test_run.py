"""A home driven through, with little noise: the figures of many are measured elsewhere."""

import pytest

from remembr_bench.evaluation.objects.run import LEVELS, PROMISED, Course, drive_through
from remembr_bench.simulation.homes.layout import generate_home

pytest.importorskip('pyvista', reason='pyvista is not installed')


@pytest.fixture(scope='module')
def courses() -> dict[str, Course]:
    levels = [level for level in LEVELS if level.name in ('none', PROMISED)]
    return drive_through(generate_home(2, 2), levels)


def f1(course: Course) -> float:
    tally = course.tally
    return 2 * tally.found / (2 * tally.found + tally.lost + tally.ghosts + tally.duplicates)


def test_objects_are_found_and_their_changes_known(courses: dict[str, Course]) -> None:
    assert f1(courses['none']) >= 0.97
    assert f1(courses[PROMISED]) >= 0.85
    delays = [delay for of_kind in courses['none'].tally.changed.values() for delay in of_kind]
    assert len(delays) >= 4
    assert sum(delay is not None for delay in delays) >= 0.9 * len(delays)
    still, wrong = courses['none'].tally.still
    assert still > 20
    assert wrong <= 0.02 * still


def test_the_same_home_gives_the_same_figures(courses: dict[str, Course]) -> None:
    again = drive_through(generate_home(2, 2), LEVELS[:1])
    assert again['none'].tally == courses['none'].tally
