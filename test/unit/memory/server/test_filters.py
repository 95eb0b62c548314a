import math

from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.memory.model.recall import ANYTHING
from remembr_ros.memory.server.filters import EVERYTHING, box, expression, quote


def test_no_condition_admits_everything() -> None:
    assert expression(ANYTHING) == EVERYTHING


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
