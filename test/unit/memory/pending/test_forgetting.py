"""A forgetting holds for what comes late, and does not tell what was forgotten."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.memory.deeds.deed import TALK, deed
from remembr_ros.memory.model.area import Area
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.pending.forgetting import (
    IDS,
    Forgetting,
    forgetting_from,
    forgettings_of,
    sealed,
    with_quoting,
)

Make = Callable[..., Memory]
AT_NS = 1_800_000_000_000_000_000


def answer(key: str, *evidence: str) -> Memory:
    """Make what is remembered of an answer."""
    return deed(AT_NS, kind='answer', text='Perhaps a woman sits there', evidence=evidence, key=key).memory(
        'r', TALK
    )


@given(st.text(min_size=1, max_size=20), st.text(max_size=40), st.text(max_size=40))
def test_a_sealed_text_is_found_wherever_it_is_in_whatever_case(text: str, before: str, after: str) -> None:
    seal = sealed(text)
    assert seal.is_in(before + text + after)
    assert seal.is_in((before + text + after).casefold())
    assert text.casefold() not in f'{seal.salt} {seal.digest}' or len(text) < 4


@given(st.text(min_size=1, max_size=8), st.text(max_size=30))
def test_a_sealed_text_is_found_nowhere_else(text: str, other: str) -> None:
    assert sealed(text).is_in(other) == (text.casefold() in other.casefold())


def test_the_same_text_is_sealed_otherwise_each_time() -> None:
    assert sealed('Alice').digest != sealed('Alice').digest


AREA = Area(shapely.box(0.0, 0.0, 1.5, 1.0 / 3.0), 0.1)


@pytest.mark.parametrize(
    'scope',
    [
        Scope(),
        Scope(after_ns=1, before_ns=2, robots=('a', 'b'), map_id='', source='person', without=('object',)),
        Scope(near=(1.0, 2.0, 0.5), radius_m=0.1),
        Scope(near=AREA.sphere[0], radius_m=AREA.sphere[1], area=AREA),
    ],
)
def test_a_forgetting_comes_back_as_it_was_kept(scope: Scope) -> None:
    for forgetting in (
        Forgetting(AT_NS, None, scope, sealed('x')),
        Forgetting(AT_NS, frozenset('ab'), scope),
    ):
        back = forgetting_from(AT_NS, forgetting.to_text())
        if scope.area is not None:
            assert back.scope.area is not None
            assert back.scope.area.shape.equals(scope.area.shape)
            back = replace(back, scope=replace(back.scope, area=scope.area))
        assert back == forgetting


def test_what_is_kept_of_a_forgetting_does_not_have_its_text() -> None:
    (kept,) = forgettings_of(AT_NS, None, Scope(map_id='hall'), 'Zorblax')
    assert 'zorblax' not in kept.to_text().casefold()
    assert 'hall' in kept.to_text()


def test_it_holds_for_what_was_heard_before_it_and_meets_every_condition(make: Make) -> None:
    (kept,) = forgettings_of(AT_NS, None, Scope(robots=('robbie',)), 'THING')
    heard = Observation(make(1), heard_ns=AT_NS)
    assert kept.holds(heard)
    assert not kept.holds(replace(heard, heard_ns=AT_NS + 1))
    assert not kept.holds(replace(heard, heard_ns=0))  # somebody wants it stored
    assert not kept.holds(replace(heard, memory=make(1, robot='other')))
    assert not kept.holds(replace(heard, memory=make(1, caption='a door')))
    assert kept.holds(replace(heard, memory=make(1, caption='a door', scene_text=('Things',))))


def test_many_ids_are_kept_in_parts_and_none_in_no_part(make: Make) -> None:
    ids = [f'm{i}' for i in range(2 * IDS + 1)]
    parts = forgettings_of(AT_NS, ids)
    assert [len(part.ids or ()) for part in parts] == [IDS, IDS, 1]
    assert (
        max(len(part.to_text()) for part in forgettings_of(AT_NS, [f'{i:064}' for i in range(IDS)])) < 65_535
    )
    assert sum(part.holds(Observation(make(7), heard_ns=1)) for part in parts) == 1
    assert forgettings_of(AT_NS, []) == []


def test_answers_that_rest_on_memories_go_with_them_and_answers_that_rest_on_these(make: Make) -> None:
    first, second, other = answer('1', 'm1', 'm2'), answer('2', 'x'), answer('3', 'm3')
    second = replace(second, facts={**second.facts, 'evidence': [first.id]})
    assert with_quoting([make(1)], [second, other, first]) == [make(1), first, second]
    assert with_quoting([], [second, other, first]) == []
