import pytest

from remembr_ros.agent.model.matching import has_number, is_english


@pytest.mark.parametrize(
    ('text', 'number', 'noun', 'expected'),
    [
        ('ROOM 103', '103', 'room', True),
        ('103', '103', 'room', True),
        ('103', '103', 'lab', True),
        ('Room B 12', 'b12', 'room', True),
        ('I see "EXIT", "103".', '103', 'room', True),
        ('OFFICE 7', '7', 'room', True),
        ('LAB 7', '7', '', True),
        ('a door labelled 103 on the left', '103', 'room', True),
        ('ROOM 1034', '103', 'room', False),
        ('ROOM 103', '10', 'room', False),
        ('LAB 7', '7', 'room', False),
        ('ROOM 7', '7', 'lab', False),
        ('GATE 7', '7', 'room', False),
        ('ROOM 7 and LAB 3', '7', 'lab', False),
        ('There are 7 chairs in a lab', '7', 'lab', False),
        ('', '7', 'lab', False),
    ],
)
def test_a_number_counts_as_that_of_what_was_asked(text: str, number: str, noun: str, expected: bool) -> None:
    assert has_number(text, number, noun) is expected


@pytest.mark.parametrize(
    ('text', 'english'),
    [
        ('When did Nurse Helga leave her message?', True),
        ('What changed since Friday?', True),
        ('Wo ist der Aufzug?', False),
        ('Dove si trova Maria?', False),
        ('WO IST DER AUFZUG?', False),
    ],
)
def test_names_need_not_be_english(text: str, english: bool) -> None:
    assert is_english(text) is english
