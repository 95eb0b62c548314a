"""A thing that was moved is searched for in a rendered home."""

import pytest

from test.bench.searched_homes import figures_of, search_home

pytest.importorskip('pyvista', reason='pyvista is not installed')


def test_the_same_search_finds_the_same_thing_after_the_same_way() -> None:
    told = search_home(2)
    assert told == search_home(2)
    assert told['found']
    assert 0.0 <= told['way'] < 60.0
    assert told['oracle_way'] > 0.0


def test_a_search_that_has_nowhere_to_look_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('test.bench.searched_homes.looking_round', lambda start, goals: iter(()))
    told = search_home(2)
    assert (told['found'], told['way']) == (False, 0.0)


def test_figures_are_of_all_things() -> None:
    rows = [
        {'found': True, 'way': 4.0, 'oracle_way': 4.0},
        {'found': False, 'way': 8.0, 'oracle_way': 4.0},
    ]
    assert figures_of(rows) == {'asked': 2, 'found': 0.5, 'of_oracle': 1.5}
