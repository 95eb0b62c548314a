"""Pictures of runs."""

import cv2
import numpy as np
import pytest

from remembr_bench.evaluation.report.pictures import heat_map, history_picture, pictures_of

BINS = {
    '0-1': {'scored': 4, 'correct': 0.75, 'interval': (0.25, 1.0)},
    '1-2': {'scored': 0, 'correct': None, 'interval': None},
}
CELLS = {'10000': {'0.0-0.2': {'n': 2, 'accuracy': 0.5}}, '30000': {'0.8-1.0': {'n': 1, 'accuracy': 1.0}}}
NEEDLES = {'planner': 'x', 'overall': {'n': 3, 'accuracy': 0.6}, 'by_cell': CELLS}


def size(png: bytes) -> tuple[int, ...]:
    image = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return image.shape


def test_runs_are_shown_side_by_side_over_their_history() -> None:
    one = history_picture({'offline': {'over_history': BINS}})
    two = history_picture({'offline': {'over_history': BINS}, 'agent': {'over_history': BINS}})
    assert size(one) == size(two)
    assert one != two
    assert history_picture({'offline': {'over_history': BINS}}) == one, 'the same each time'


@pytest.mark.parametrize('title', ['', '_x', '$x', 'a$b$c', '</svg>\ud800', 'x' * 300])
def test_any_title_can_be_shown(title: str) -> None:
    assert size(history_picture({title: {'over_history': BINS}}))


def test_a_heat_map_has_a_column_for_each_length() -> None:
    wider = heat_map({**CELLS, '1': {}, '2': {}}, 'accuracy')
    assert size(heat_map(CELLS, 'accuracy'))[1] < size(wider)[1]


@pytest.mark.parametrize(
    ('results', 'names'),
    [
        ({'planner': 'x', 'over_history': BINS}, {'history.png'}),
        ({'planner': 'x', 'over_history': {'0-1': BINS['1-2']}}, set()),
        ({'planner': 'x', 'over_history': BINS, 'by_category': {}}, set()),
        (NEEDLES, {'heat_map.png'}),
        ({**NEEDLES, 'overall': {'n': 3}}, set()),
        ({'planner': 'x'}, set()),
    ],
)
def test_a_run_has_the_pictures_that_its_figures_make(results: dict, names: set[str]) -> None:
    assert set(pictures_of(results)) == names
