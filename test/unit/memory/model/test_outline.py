import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.memory.model.outline import outline_of

ROWS = st.lists(
    st.tuples(
        st.text('abc0', min_size=1, max_size=4),
        st.integers(0, 3),
        st.integers(0, 2**62),
        st.none() | st.tuples(*[st.floats(-1e6, 1e6)] * 3),
        *[st.sampled_from(['', 'a', 'b'])] * 3,
    ),
    max_size=12,
    unique_by=lambda row: row[0],
)


@given(ROWS)
def test_an_outline_says_what_its_rows_say_in_the_order_of_start_and_id(rows) -> None:
    outline = outline_of(rows)
    assert len(outline) == len(rows)
    told = [
        (
            *(outline.ids[i].decode(), int(outline.start_ns[i]), int(outline.end_ns[i])),
            None if np.isnan(outline.x[i]) else (outline.x[i], outline.y[i], outline.z[i]),
            *(outline.names[of[i]] for of in (outline.robot, outline.map_id, outline.source)),
        )
        for i in range(len(rows))
    ]
    assert told == sorted(rows, key=lambda row: (row[1], row[0]))
