import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.memory.matching.ranking import MAX_SENTENCES, Passage, passages, split_sentences
from remembr_ros.memory.model.record import Memory


def memory(caption: str, *scene_text: str) -> Memory:
    return Memory('m', 'r', 0, 0, caption, scene_text=scene_text)


def texts(caption: str) -> list[str]:
    return [passage.text for passage in passages(memory(caption))]


def test_a_caption_is_split_at_its_sentence_ends() -> None:
    text = 'A door is open. Is it? "Yes!" It leads\nto room 4.5 on the left...'
    assert split_sentences(text) == [
        'A door is open.',
        'Is it?',
        '"Yes!"',
        'It leads',
        'to room 4.5 on the left...',
    ]


def test_passages_are_paragraphs_sentences_and_each_sign_once() -> None:
    parts = passages(memory('A door. A lift.\nA door.\n\n...', 'EXIT', 'A lift.', ' EXIT ', ''))
    assert parts == [
        Passage('A door. A lift.', is_sentence=False, is_paragraph=True),
        Passage('EXIT', is_sentence=True, is_paragraph=True),
        Passage('A lift.', is_sentence=True, is_paragraph=True),
        Passage('A door.', is_sentence=True, is_paragraph=False),
    ]


def test_a_heading_is_no_paragraph_but_a_short_note_is() -> None:
    assert [
        part.text for part in passages(memory('Seats:\nTwo chairs and a sofa.')) if part.is_paragraph
    ] == ['Two chairs and a sofa.']
    assert passages(memory("Anna's office")) == [Passage("Anna's office", True, True)]


def test_a_single_sentence_is_not_doubled() -> None:
    assert passages(memory('A door.')) == [Passage('A door.', True, True)]


def test_nothing_to_say_has_no_passages() -> None:
    assert passages(memory('  ', '')) == []


def test_a_caption_without_a_word_is_a_passage_of_its_own() -> None:
    assert passages(memory('...')) == [Passage('...', True, True)]


def test_passages_have_no_markdown() -> None:
    caption = '### People:\n1. **Seats**: Two `red` chairs.\n   - 3 lamps'
    assert texts(caption) == ['Seats: Two red chairs.', 'People:', '3 lamps']


@pytest.mark.parametrize(
    ('sentence', 'rest'),
    [
        ('In the video, you see a red sofa.', 'a red sofa.'),
        ('In this scene there is a red sofa.', 'a red sofa.'),
        ('The image shows a red sofa.', 'a red sofa.'),
        ('I can see a red sofa.', 'a red sofa.'),
        ('There are two red sofas.', 'two red sofas.'),
        ('The scene is bright.', 'The scene is bright.'),
        ('A sofa is in the image.', 'A sofa is in the image.'),
        ('I see.', 'I see.'),
    ],
)
def test_passages_have_no_preamble(sentence: str, rest: str) -> None:
    assert texts(sentence) == [rest]


@given(st.text(max_size=300))
def test_splitting_loses_no_character_but_white_space(text: str) -> None:
    parts = split_sentences(text)
    assert all(part and part == part.strip() for part in parts)
    assert ''.join(''.join(parts).split()) == ''.join(text.split())


def test_an_endless_caption_has_a_bounded_number_of_passages() -> None:
    assert len(passages(memory('. '.join(f'Thing {i}' for i in range(500))))) == MAX_SENTENCES
