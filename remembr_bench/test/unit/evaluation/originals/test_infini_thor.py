import pytest

from remembr_bench.evaluation.originals.infini_thor import is_match


@pytest.mark.parametrize(
    ('said', 'right', 'same'),
    [
        ('Yes.', 'yes', True),
        ('No, I did not', 'yes', False),
        ('coffee table', 'CoffeeTable', True),
        ('the couch', 'Sofa', True),
        ('on the refrigerator', 'fridge', True),
        ('three', '3', True),
        ('It is the mug', 'Mug', True),
        ('apples', 'Apple', True),
        ('knife', 'Mug', False),
        ('', 'Mug', False),
        ('five', '3', False),
    ],
)
def test_short_answers_match_as_upstreams(said, right, same):
    assert is_match(said, right) is same
