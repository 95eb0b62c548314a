import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_bench.evaluation.originals.findingdory_hub import accuracies, load_findingdory, read_goals

FRAMES = st.lists(st.integers(0, 50), min_size=1, max_size=5, unique=True)


@pytest.mark.parametrize(
    ('answer', 'goals'),
    [
        ('[[12, 13], [40]]', ({12, 13}, {40})),
        ('[7, 8]', ({7, 8},)),
        ([[1], [2]], ({1}, {2})),
        ('[["3"]]', ({3},)),
    ],
)
def test_frames_of_an_answer_are_read(answer, goals):
    assert tuple(read_goals(answer)) == goals


@pytest.mark.parametrize('answer', ['', 'none', '[]', '[[]]', '[[1], []]', '[[1, "x"]]', None, 5])
def test_an_answer_without_frames_is_refused(answer):
    with pytest.raises(ValueError, match=r'frame'):
        read_goals(answer)


@pytest.mark.parametrize(
    ('said', 'goals', 'found'),
    [
        ([[1, 2]], ({1, 2},), (1.0, 1.0)),
        ([[1]], ({1, 2},), (0.0, 1.0)),
        ([[1, 9]], ({1, 2},), (0.0, 0.5)),
        ([[1], [5]], ({1, 2}, {3}), (0.0, 0.0)),
        ([[1], [3, 4]], ({1, 2}, {3}), (0.0, 0.5)),
        ([[1]], ({1}, {2}), (0.0, 0.0)),
        ([], ({1},), (0.0, 0.0)),
    ],
)
def test_accuracy_is_exact_or_the_product_of_the_parts_that_are_right(said, goals, found):
    assert accuracies(said, tuple(map(frozenset, goals))) == found


@given(st.lists(FRAMES, min_size=1, max_size=4))
def test_what_is_exact_is_right_in_each_place(goals):
    assert accuracies(goals, tuple(map(frozenset, goals))) == (1.0, 1.0)
    assert (
        accuracies([[frame for frame in goal if frame >= 0] for goal in goals[1:]], (frozenset({99}),))[1]
        == 0.0
    )


def test_texts_may_have_breaks_lines_may_be_empty_and_numbers_none(tmp_path):
    row = {
        'video': 'videos/a.mp4',
        'question': 'Go to\u2028the \x85 cup',
        'answer': '[[1]]',
        'task_id': 'task_1',
    }
    odd = {**row, 'num_interactions': 'many'}
    lines = [json.dumps(one, ensure_ascii=False) for one in (row, odd)]
    (tmp_path / 'val.jsonl').write_text('\n\n'.join(lines) + '\n\n', encoding='utf-8')
    found = load_findingdory(tmp_path)
    assert [asked.text for asked in found.episodes[0].asked] == [row['question']]
    assert [excluded.id for excluded in found.excluded] == ['task_1-1']
