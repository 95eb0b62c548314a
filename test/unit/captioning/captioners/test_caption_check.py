import html
import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remembr_ros.captioning.captioners.caption_check import (
    before_loop,
    checked,
    fault_of,
    find_loop,
    whole,
    whole_sentences,
)
from remembr_ros.errors import CaptionerFailed

DATA = Path(__file__).resolve().parents[4] / '../shared/data'

CAPTION = (
    'The robot is in a corridor with white walls. A red door is open on the left, and a green plant stands '
    'beside it. A sign reads "ROOM 117". Two people walk away; one of them wears a blue coat.'
)

words = st.text('abcdefghijklmnopqrstuvwxyz', min_size=1, max_size=9)
phrases = st.lists(words, min_size=1, max_size=30).map(' '.join)


def times(phrase: str) -> int:
    """How often a phrase has to be said to be a loop, at most."""
    count = len(phrase.split())
    return 6 if count == 1 else 4


@settings(max_examples=200)
@given(phrases, st.integers(0, 5), st.sampled_from([' ', '. ', ', ', '\n', '! ']))
@example('a aa aa aa aa aa aa', 0, ' ')
def test_a_phrase_that_is_said_again_and_again_is_found_and_cut(phrase: str, more: int, between: str) -> None:
    text = f'{CAPTION} {between.join([phrase] * (times(phrase) + more))}'
    assert fault_of(text) == 'looping'
    found = find_loop(text)
    assert found is not None
    begins, again = found
    assert len(CAPTION) - 40 <= begins < again, 'it begins after the caption, or with words of it that fit'
    kept = before_loop(text)
    assert kept.startswith(CAPTION)
    assert fault_of(kept) is None


@settings(max_examples=200)
@given(st.text('abcxyz0-_|#', min_size=1, max_size=20), st.integers(60, 200))
def test_characters_without_end_are_found(piece: str, length: int) -> None:
    run = piece * (max(6 * len(piece), length) // len(piece) + 1)
    assert fault_of(f'{CAPTION} {run}') == 'looping'
    assert before_loop(f'{CAPTION} {run}').startswith(CAPTION)


@settings(max_examples=100)
@given(st.lists(words, min_size=4, max_size=60, unique=True))
def test_words_that_do_not_come_again_are_no_loop(unique: list[str]) -> None:
    assert find_loop(' '.join(unique)) is None


@settings(max_examples=300)
@given(st.text(max_size=300))
def test_any_text_is_judged(text: str) -> None:
    assert fault_of(text) in (None, 'empty', 'looping')
    kept = before_loop(whole(text))
    assert fault_of(kept) is None or not kept


@pytest.mark.parametrize(
    'text',
    [
        CAPTION,
        f'{CAPTION} {CAPTION}',
        'It is very, very, very far.',
        'A sign reads "HA HA HA".',
        'The floor is grey. The wall is grey. The ceiling is grey. The door is grey.',
        'There is a car. There is a tree. There is a car. There is a tree.',
        'Room 101, room 102, room 103, room 104, room 105 and room 106.',
        '- a chair\n- a table\n- a lamp\n----------------\n- a door',
        '门在左边。墙上有一个红色的标志。',
    ],
)
def test_what_people_write_is_no_loop(text: str) -> None:
    assert fault_of(text) is None


@pytest.mark.parametrize(
    ('text', 'kept'),
    [
        ('A car is on the left. ' * 9, 'A car is on the left.'),
        ('A car is on the left. A tree is near. ' * 4, 'A car is on the left. A tree is near.'),
        ('A red door. the the the the the the the', ''),
        ('A red door is open. the the the the the the the', 'A red door is open.'),
        ('There is a door and a door and a door and a door and a door', 'There is a door and'),
        ('the ' * 300, ''),
        ('!' * 300, ''),
        ('门在左边' * 30, ''),
    ],
)
def test_what_comes_before_a_loop_is_kept_if_it_is_a_caption(text: str, kept: str) -> None:
    assert fault_of(text) is not None
    assert before_loop(text) == kept


@pytest.mark.parametrize('text', ['', ' \n', '...', '<think>A door?</think>', '“”'])
def test_a_text_without_words_is_empty(text: str) -> None:
    assert fault_of(text) == 'empty'


@settings(max_examples=100)
@given(st.text(st.characters(categories=['Cs', 'L', 'Cc']), max_size=30))
def test_what_is_left_can_be_sent(text: str) -> None:
    sent = whole(text)
    assert '\0' not in sent
    assert sent.encode().decode() == sent  # no half a character


def test_half_a_character_spoils_no_caption() -> None:
    assert whole('A red\ud83d door.\0') == 'A red? door.'


def test_thoughts_are_no_part_of_a_caption() -> None:
    assert whole('<think>Hm, hm, hm. A door?</think>\n A red door. ') == 'A red door.'


def test_a_text_that_was_cut_is_left_with_whole_sentences() -> None:
    assert whole_sentences('A door. It is 2.5 m high. A sign reads "EX') == 'A door. It is 2.5 m high.'
    assert whole_sentences('A sign reads "EXIT!" and a') == 'A sign reads "EXIT!"'
    assert whole_sentences('A door and') == ''


class Model:
    """Says one thing after the other, and keeps how it was asked."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.asked: list[bool] = []

    def __call__(self, again: bool) -> str:
        self.asked.append(again)
        return self.texts[min(len(self.asked), len(self.texts)) - 1]


def test_a_caption_is_asked_for_a_second_time_only_if_it_is_of_no_use() -> None:
    model = Model(' A door. ')
    assert checked(model, 'm') == 'A door.'
    assert model.asked == [False]
    model = Model('', 'A door.')
    assert checked(model, 'm') == 'A door.'
    assert model.asked == [False, True]


def test_of_two_captions_of_no_use_what_is_left_is_taken_or_it_is_a_failure() -> None:
    assert checked(Model('A door is open. ' * 9, '...'), 'm') == 'A door is open.'
    model = Model('the ' * 300)
    with pytest.raises(CaptionerFailed, match='looping, twice'):
        checked(model, 'm')
    assert model.asked == [False, True]


@pytest.mark.skipif(not (DATA / 'navqa').exists(), reason='the captions of NaVQA are not there')
def test_no_real_caption_of_a_drive_is_taken_for_a_loop() -> None:
    files = sorted((DATA / 'navqa').glob('*/captions*.json'))
    captions = {entry['caption'] for file in files for entry in json.loads(file.read_text())}
    assert len(captions) > 500
    assert [text[:60] for text in sorted(captions) if fault_of(text)] == []


@pytest.mark.skipif(not (DATA / 'streetview').exists(), reason='the street views are not there')
def test_no_real_caption_of_a_street_view_is_taken_for_a_loop() -> None:
    (file,) = (DATA / 'streetview').glob('*.gml')
    captions = set(map(html.unescape, re.findall(r'\bcaption "([^"]+)"', file.read_text())))
    assert len(captions) > 3000
    assert [text[:60] for text in sorted(captions) if fault_of(text)] == []
    # The same captions, stuck at their last sentence or their last four words.
    for text in sorted(captions)[::40]:
        *_, last = re.split(r'(?<=[.!?])\s+', text.strip())
        assert fault_of(f'{text} {" ".join([last] * 5)}') == 'looping'
        assert fault_of(f'{text} {" ".join(text.split()[-4:] * 5)}') == 'looping'
