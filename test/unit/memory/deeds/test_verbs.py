import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.memory.deeds.verbs import base, is_form, is_same_kind, kinds_meant, verb_of


@pytest.mark.parametrize(
    ('one', 'other', 'same'),
    [
        ('loaded', 'loading', True),
        ('introduction', 'introduce', True),
        ('deliveries', 'deliver', True),
        ('took', 'taken', True),
        ('explanation', 'explain', True),
        ('dish', 'dishwasher', False),
        ('load', 'unload', False),
        ('hand', 'handle', False),
    ],
)
def test_forms_of_one_verb(one: str, other: str, same: bool) -> None:
    assert is_form(one, other) is is_form(other, one) is same


@pytest.mark.parametrize(
    ('asked', 'kinds', 'meant'),
    [
        ('grasped', ['pick', 'place'], [{'pick'}]),
        ('lift', ['lift', 'pick'], [{'lift'}, {'lift', 'pick'}]),
        ('handing over', ['hand over', 'hand wash'], [{'hand over'}] * 2),
        ('picked up', ['pick', 'drop'], [{'pick'}] * 2),
        ('sing', ['pick'], []),
        ('', ['pick'], []),
    ],
)
def test_which_kinds_are_meant(asked: str, kinds: list[str], meant: list[set[str]]) -> None:
    assert kinds_meant(asked, kinds) == meant


def test_a_particle_that_says_more_stays() -> None:
    assert verb_of('pick up') == ['pick']
    assert verb_of('step back') == ['step', 'back']


@given(st.text(), st.text())
def test_any_words_are_compared_both_ways_alike(one: str, other: str) -> None:
    assert is_form(one, other) == is_form(other, one)
    assert is_same_kind(one, one)
    assert base(one) == base(one)
