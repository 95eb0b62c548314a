import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_bench.evaluation.originals.env_qa import alike, roles

SPACE = {
    'action': ['NONE', 'opening', 'turning on', 'putting'],
    'subjects': ['NONE', 'fridge', 'remote control', 'mug'],
    'prep': ['NONE', 'on', 'to'],
    'objects': ['NONE', 'fridge', 'table', 'mug'],
    'order': ['NONE', 'former', 'latter', 'unanswerable'],
}


def test_roles_of_an_answer_are_its_values():
    found = roles('Putting the remotecontrol on the table, near the mug.', 'What is it doing?', SPACE)
    assert (found['action'], found['prep'], found['objects']) == ('putting', 'on', 'mug')
    assert found['order'] == 'NONE'
    assert roles('turning on the fridge', 'What?', SPACE)['prep'] == 'NONE'
    alone = roles('the fridge', 'What?', SPACE)
    assert (alone['subjects'], alone['objects']) == ('fridge', 'NONE'), 'an object is a second thing'


@pytest.mark.parametrize(
    ('answer', 'which'),
    [('opening fridge', 'former'), ('moving mug', 'latter'), ('unanswerable', 'unanswerable')],
)
def test_of_two_options_one_is_the_former(answer, which):
    question = 'What did it do first, opening fridge or moving mug?'
    assert roles(answer, question, SPACE)['order'] == which


@given(st.lists(st.sampled_from(['NONE', 'a', 'b']), min_size=3, max_size=3))
def test_roles_are_as_alike_as_they_share_values(values):
    one = dict(zip('xyz', values, strict=True))
    assert alike(one, one) == 1.0
    other = {role: 'c' if value != 'NONE' else value for role, value in one.items()}
    assert alike(one, other) == (0.0 if set(values) != {'NONE'} else 1.0)
