import math

import numpy as np
import pytest

from test.object_scene import detection

BOX = (1.0, 2.0, 3.0, 4.0)


def test_it_is_called_what_scores_best_and_of_equal_ones_always_the_same() -> None:
    assert detection(BOX, scores={'cup': 0.4, 'bowl': 0.6}).label == 'bowl'
    assert detection(BOX, scores={'cup': 0.6, 'bowl': 0.6}).label == 'bowl'
    assert detection(BOX, scores={'cup': 0.4, 'bowl': 0.6}).score == 0.6


@pytest.mark.parametrize(
    'bad',
    [
        detection((math.nan, 2.0, 3.0, 4.0)),
        detection((1.0, 2.0, math.inf, 4.0)),
        detection((3.0, 2.0, 3.0, 4.0)),
        detection((1.0, 5.0, 3.0, 4.0)),
        detection(BOX, scores={}),
        detection(BOX, scores={'cup': 0.0}),
        detection(BOX, scores={'cup': math.nan}),
        detection(BOX, scores={'cup': 1.5}),
        detection(BOX, scores={'': 0.5}),
    ],
)
def test_what_makes_no_sense_is_known(bad: object) -> None:
    assert not bad.is_sound()  # type: ignore[attr-defined]
    assert detection(BOX, mask=np.ones((5, 5), np.bool_)).is_sound()
