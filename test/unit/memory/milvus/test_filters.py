import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.milvus.filters import EVERYTHING, box, expression, quote
from remembr_ros.memory.model.recall import ANYTHING, Scope


def test_no_condition_admits_everything() -> None:
    assert expression(ANYTHING) == EVERYTHING


@pytest.mark.parametrize(
    'scope',
    [
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
