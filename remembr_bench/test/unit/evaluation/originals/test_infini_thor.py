import pytest

from remembr_bench.evaluation.originals.infini_thor import is_match, load_infini_thor
from test.unit.evaluation.originals import written


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


@pytest.mark.parametrize(
    ('images', 'length'), [(10, 'to 32k'), (264, 'to 32k'), (265, 'to 64k'), (528, 'to 64k')]
)
def test_a_length_is_told_in_tokens_of_its_pictures(tmp_path, images, length):
    folder = written.infini_thor(tmp_path / 'thor')
    (folder / 'metadata/t1/metadata.json').unlink()
    for number in range(10, images):
        (folder / f'metadata/t1/img/{number:09}.png').touch()
    (footage,) = load_infini_thor(folder).episodes
    assert {asked.groups['length'] for asked in footage.asked} == {length}
