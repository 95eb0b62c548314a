"""What is said of a time: its own sentences, each something new; and what could be read, once."""

from remembr_ros.memory.diary.highlights import MOST_LETTERS, SAMPLE, Vocabulary, readable, spread, texts_read
from remembr_ros.memory.model.record import UNCAPTIONED, Memory


def memory(caption: str, *texts: str) -> Memory:
    return Memory('id', 'r', 0, 1, caption, scene_text=texts)


ROAD = [memory(f'A road leads past trees. House number {i} is on the left.') for i in range(6)]
KITCHEN = [memory('A road leads past trees. A kettle and mugs stand on a table.') for _ in range(4)]


def test_what_is_always_said_is_not_telling() -> None:
    words = Vocabulary([ROAD, KITCHEN])
    assert words.telling(KITCHEN, 1) == ['A kettle and mugs stand on a table.']
    assert 'House' in words.telling(ROAD, 1)[0]


def test_what_was_said_already_is_not_said_again() -> None:
    alike = [
        memory('A red sofa stands by the window. A red sofa is by the large window.'),
        memory('By the window is a red sofa. A dog sleeps.'),
    ]
    told = Vocabulary([alike, ROAD]).telling(alike, 3)
    assert len([sentence for sentence in told if 'sofa' in sentence]) == 1
    assert 'A dog sleeps.' in told


def test_a_time_without_captions_has_no_sentences() -> None:
    silent = [memory(UNCAPTIONED), memory('No readable text.'), memory('')]
    assert Vocabulary([silent]).telling(silent, 3) == []


def test_sentences_that_only_repeat_what_could_be_read_are_left_out() -> None:
    read = [memory('Signs and labels that can be read: "LIFT".', 'LIFT'), memory('A sign says "EXIT".')]
    assert Vocabulary([read]).telling(read, 3) == ['A sign says "EXIT".']


def test_long_sentences_are_cut_between_words() -> None:
    long = [memory(' '.join(f'word{i}' for i in range(100)))]
    (told,) = Vocabulary([long]).telling(long, 1)
    assert len(told) <= MOST_LETTERS
    assert told.startswith('Word0 word1')
    assert told.endswith('\u2026')


def test_many_memories_are_looked_at_evenly() -> None:
    many = [memory(f'{i}') for i in range(1_001)]
    some = spread(many)
    assert len(some) <= SAMPLE
    assert (some[0], some[-1]) == (many[0], many[987])


def test_misreadings_are_told_as_the_sign_that_they_are_of() -> None:
    read = [
        *['CAFETERIA'] * 5,
        'CAFETERA',
        'CAFFETERIA',
        'CAFETERIAI',
        'FETERIA',
        'X',
        'Cafeteria',
        'KITCHEN',
    ]
    assert texts_read([memory('', text) for text in read]) == ['CAFETERIA', 'KITCHEN']


def test_rooms_with_other_numbers_are_other_rooms() -> None:
    read = ['ROOM 132', 'ROOM 133', 'ROOM 132', 'LAB 3', 'LAB 3', 'LAB 32']
    assert texts_read([memory('', text) for text in read]) == ['ROOM 132', 'ROOM 133', 'LAB 3', 'LAB 32']


def test_texts_come_in_the_order_of_time() -> None:
    assert texts_read([memory('', 'LIFT', 'EXIT'), memory('', 'EXIT'), memory('', 'STAIRS')]) == [
        'LIFT',
        'EXIT',
        'STAIRS',
    ]


def test_captions_quote_what_their_captioner_does_not_list() -> None:
    assert readable(memory('A sign says "LIFT." and another "EXIT".')) == ['LIFT', 'EXIT']
    assert readable(memory('A sign says "LIFT".', 'LIFT 2')) == ('LIFT 2',)
