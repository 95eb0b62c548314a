from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.memory.record import Memory
from remembr_ros.memory.sentences import MAX_SENTENCES, passages, split_sentences


def memory(caption: str, *scene_text: str) -> Memory:
    return Memory('m', 'r', 0, 0, caption, scene_text=scene_text)


def test_a_caption_is_split_at_its_sentence_ends() -> None:
    text = 'A door is open. Is it? "Yes!" It leads\nto room 4.5 on the left...'
    assert split_sentences(text) == [
        'A door is open.',
        'Is it?',
        '"Yes!"',
        'It leads',
        'to room 4.5 on the left...',
    ]


def test_passages_are_caption_sentences_and_each_sign_once() -> None:
    texts = passages(memory('A door. A lift.', 'EXIT', 'A door.', ' EXIT ', ''))
    assert texts == ['A door. A lift.', 'A door.', 'A lift.', 'EXIT']


def test_a_single_sentence_is_not_doubled() -> None:
    assert passages(memory('A door.')) == ['A door.']


def test_nothing_to_say_has_no_passages() -> None:
    assert passages(memory('  ', '')) == []


@given(st.text(max_size=300))
def test_splitting_loses_no_character_but_white_space(text: str) -> None:
    parts = split_sentences(text)
    assert all(part and part == part.strip() for part in parts)
    assert ''.join(''.join(parts).split()) == ''.join(text.split())


def test_an_endless_caption_has_a_bounded_number_of_passages() -> None:
    assert len(passages(memory('. '.join(f'Thing {i}' for i in range(500))))) == MAX_SENTENCES
