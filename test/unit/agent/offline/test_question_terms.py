from time import thread_time

import pytest

from remembr_ros.agent.offline.question_terms import names, without_counts
from remembr_ros.agent.offline.request import parse_request


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('Where is the Lift?', {'lift'}),
        ('Lift', set()),
        ('LIFT', {'lift'}),
        ('Is it there? Rooms are. Lifts are: Doors, Windows', {'lift', 'window'}),
        ('ask Dr. Ellis. Room', {'ellis'}),
        ('- Lift', set()),
        ('_Lift of the_ Printer', {'lift', 'printer'}),
        ('see: _Lift', {'lift'}),
        ("the 'Old Mill'", {'old', 'mill'}),
    ],
)
def test_a_name_has_a_capital_letter_and_does_not_begin_a_sentence(text: str, expected: set[str]) -> None:
    assert names(text) == expected


def test_a_number_that_counts_is_left_out_wherever_it_stands() -> None:
    text = f'{"word " * 100}in 5 tables by room 5 doors'
    assert without_counts(text) == text.replace('5 tables', '  tables')


@pytest.mark.parametrize('part', ['1:', '10 minutes ago ', 'The Lift ', '5 tables ', '5 lots ', '"a '])
def test_reading_a_text_twice_as_long_takes_about_twice_as_long(part: str) -> None:
    def took(length: int) -> float:
        text = part * (length // len(part))
        tries = []
        for _ in range(3):
            began = thread_time()
            names(text)
            without_counts(text)
            tries.append(thread_time() - began)
        return min(tries)

    # 8 times as long, which would take 64 times as long if each word looked at all before it
    assert took(16_000) < 24.0 * took(2_000) + 0.05


@pytest.mark.parametrize('part', ['1:', '10 minutes ago ', 'The Lift '])
def test_the_longest_question_is_read_in_a_moment(part: str) -> None:
    seconds = []
    for _ in range(3):  # of which the garbage collector may take one
        began = thread_time()
        parse_request(part * (10_000 // len(part)), 0)
        seconds.append(thread_time() - began)
    assert min(seconds) < 1.0
