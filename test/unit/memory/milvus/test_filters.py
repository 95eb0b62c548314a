import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.milvus.filters import EVERYTHING, box, check_point, expression, quote
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import Memory

NAN, INF = math.nan, math.inf


def test_no_condition_admits_everything() -> None:
    assert expression(ANYTHING) == EVERYTHING


@pytest.mark.parametrize(
    'scope',
    [
        Scope(after_ns=2, before_ns=1),
        Scope(near=(0.0, 0.0, 0.0)),
        Scope(radius_m=1.0),
        Scope(near=(0.0, 0.0, 0.0), radius_m=-1.0),
        Scope(near=(0.0, 0.0, 0.0), radius_m=NAN),
        Scope(near=(0.0, 0.0, 0.0), radius_m=INF),
        Scope(near=(NAN, 0.0, 0.0), radius_m=1.0),
        Scope(near=(0.0, -INF, 0.0), radius_m=1.0),
        Scope(near=(0.0, 0.0), radius_m=1.0),  # type: ignore[arg-type]
        Scope(near=(1e300, 0.0, 0.0), radius_m=1.0),
        Scope(robots=('a\nb',)),
        Scope(map_id='a\0b'),
        Scope(robots=('\ud800',)),
        Scope(source='camera'),
        Scope(source="captioner' or 1 == 1"),
    ],
)
def test_scopes_without_sense_are_refused(scope: Scope) -> None:
    with pytest.raises(InvalidRequest):
        expression(scope)


@given(st.text(alphabet=st.characters(exclude_categories=['Cc', 'Cs']), max_size=50))
def test_a_quoted_text_cannot_leave_its_quotes(text: str) -> None:
    quoted = quote(text)
    assert quoted[0] == quoted[-1] == '"'
    inside = quoted[1:-1].replace('\\\\', '').replace('\\"', '')
    assert '"' not in inside
    assert '\\' not in inside


@given(st.tuples(*[st.floats(-1e6, 1e6)] * 3), st.tuples(*[st.floats(-1.0, 1.0)] * 3), st.floats(0.0, 1e6))
def test_the_box_holds_the_ball(centre: tuple, direction: tuple, radius: float) -> None:
    length = math.hypot(*direction) or 1.0
    point = tuple(c + d / length * radius for c, d in zip(centre, direction, strict=True))
    if math.dist(point, centre) <= radius:
        x, y, z = point
        assert eval(
            box(centre, radius), {}, {'x': x, 'y': y, 'z': z}
        )  # our own text, in Python's grammar too


def test_an_unplaced_memory_is_within_no_radius() -> None:
    unplaced = Memory('m', 'r', 0, 0, '')
    assert ANYTHING.admits(unplaced)
    assert not Scope(near=(0.0, 0.0, 0.0), radius_m=1e9).admits(unplaced)


@pytest.mark.parametrize('point', [(1.0, 2.0), (1.0, 2.0, 3.0, 4.0), (NAN, 0.0, 0.0), (0.0, 0.0, 2e9)])
def test_what_is_no_position_is_refused(point: tuple) -> None:
    with pytest.raises(InvalidRequest, match='not a position'):
        check_point(point)
