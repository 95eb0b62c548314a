import pytest

from remembr_ros.memory.matching.terms import new_readings


@pytest.mark.parametrize(
    ('text', 'known'),
    [
        ('EXIT', 'EXIT'),
        ('exit', 'EXIT'),
        ('EXI', 'EXIT'),
        ('EX1T', 'EXIT'),
        ('FXIT', 'EXIT'),
        ('R00M 214', 'ROOM 214'),
        ('OOM 214', 'ROOM 214'),
        ('CAUTION WET', 'CAUTION WET FLOOR'),
        ('Caution: wet floor', 'CAUTION WET FLOOR'),
    ],
)
def test_a_part_or_a_misreading_is_the_same_sign(text, known):
    assert new_readings([text], ['RECEPTION', known]) == []


@pytest.mark.parametrize(
    ('text', 'known'),
    [
        ('ROOM 215', 'ROOM 214'),
        ('PULL', 'PUSH'),
        ('CLOSED', 'OPEN'),
        ('EXIT', 'EXI'),
        ('EXIT CLOSED', 'EXIT'),
        ('7', '6'),
    ],
)
def test_another_sign_or_a_better_reading_is_new(text, known):
    assert new_readings([text], [known]) == [text]


def test_specks_are_no_signs():
    assert new_readings(['|', 'l.', 'ab', '', '\u2014'], []) == []


def test_every_new_text_is_named_once_in_order():
    assert new_readings(['LIFT', 'EXIT', 'BAR'], ['EXIT']) == ['LIFT', 'BAR']
