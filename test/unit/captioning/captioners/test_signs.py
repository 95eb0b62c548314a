import math

import pytest

from remembr_ros.captioning.captioners.signs import Line, Sign, clean, group_signs, merge_signs


def line(
    text: str,
    left: float = 0.0,
    top: float = 0.0,
    *,
    height: float = 20.0,
    confidence: float = 0.99,
    cut: bool = False,
    tilt: float = 0.0,
) -> Line:
    """A line of text in a box, the picture turned about its origin by tilt [rad]."""
    width = 0.6 * height * len(text)
    box = ((left, top), (left + width, top), (left + width, top + height), (left, top + height))
    c, s = math.cos(tilt), math.sin(tilt)
    a, b, d, e = ((x * c - y * s, x * s + y * c) for x, y in box)
    return Line(text, confidence, (a, b, d, e), cut)


def texts(lines: list[Line]) -> list[str]:
    return [sign.text for sign in group_signs(lines)]


def merged(*frames: list[str]) -> list[str]:
    return [sign.text for sign in merge_signs([[Sign(text, 0.95) for text in frame] for frame in frames])]


@pytest.mark.parametrize(
    ('raw', 'wanted'),
    [
        ('  EXIT → ', 'EXIT'),
        ('ROOM\n 101.', 'ROOM 101'),
        ('\uff23\uff21\uff26\uff25', 'CAFE'),
        ('50%', '50%'),
        ('•·', ''),
    ],
)
def test_stray_characters_at_the_ends_are_removed(raw: str, wanted: str):
    assert clean(raw) == wanted


@pytest.mark.parametrize('tilt', [0.0, 0.4, -0.4, math.pi / 2])
def test_words_of_one_sign_are_joined_from_top_to_bottom(tilt: float):
    assert texts([line('101', 110, 125, tilt=tilt), line('ROOM', 100, 100, tilt=tilt)]) == ['ROOM 101']


@pytest.mark.parametrize('tilt', [0.0, 0.4])
def test_words_side_by_side_are_joined_from_left_to_right(tilt: float):
    assert texts([line('EXIT', 170, 101, tilt=tilt), line('FIRE', 110, 100, tilt=tilt)]) == ['FIRE EXIT']


@pytest.mark.parametrize(
    'other',
    [
        line('LIFT', 100, 180),  # far below
        line('LIFT', 300, 100),  # far to the right
        line('LIFT', 100, 125, height=60),  # much larger
        line('LIFT', 145, 122),  # a corner touches
        line('LIFT', 100, 125, tilt=0.5),  # another direction
    ],
)
def test_unrelated_texts_stay_separate(other: Line):
    assert sorted(texts([line('ROOM', 100, 100), other])) == ['LIFT', 'ROOM']


def test_page_of_text_is_not_one_sign():
    page = [line(f'paragraph {i}', 0, 22 * i) for i in range(8)]
    assert texts(page) == [f'paragraph {i}' for i in range(8)]


def test_noise_is_left_out():
    noise = [line('H', 0, 0), line('mu', 0, 100, confidence=0.6), line('aaaa', 0, 200, confidence=0.7)]
    assert texts([*noise, line('|·', 0, 300), line('VR', 0, 400, confidence=0.88), line('EXIT', 0, 500)]) == [
        'EXIT'
    ]


def test_single_character_counts_as_part_of_a_sign():
    assert texts([line('GATE', 100, 100), line('4', 115, 124)]) == ['GATE 4']


def test_sign_is_as_certain_as_its_least_certain_line():
    assert group_signs([line('ROOM', 100, 100), line('1014', 100, 124, confidence=0.9)])[0].confidence == 0.9


def test_degenerate_boxes_do_no_harm():
    flat = Line('EXIT', 0.99, ((5.0, 5.0),) * 4)
    assert sorted(texts([flat, line('LIFT', 300, 300)])) == ['EXIT', 'LIFT']
    assert texts([]) == []


def test_same_sign_in_several_frames_comes_once():
    assert merged(['EXIT', 'ROOM 101'], ['exit'], ['Room101']) == ['EXIT', 'ROOM 101']


def test_similar_readings_merge_and_the_more_confident_one_is_kept():
    frames = [[Sign('Combuter', 0.88)], [Sign('Computer', 0.97)], [Sign('Comouter', 0.9)]]
    assert merge_signs(frames) == [Sign('Computer', 0.97)]


@pytest.mark.parametrize(
    ('a', 'b'),
    [
        ('ROOM 101', 'ROOM 102'),
        ('ROOM', 'ROOM 101'),
        ('STAIRS A', 'STAIRS B'),
        ('EAST WING', 'WEST WING'),
        ('MEN', 'WOMEN'),
        ('LIFT', 'LEFT'),
        ('NORTH', 'SOUTH'),
        ('INLET', 'OUTLET'),
        ('10', '101'),
    ],
)
def test_different_signs_stay_apart(a: str, b: str):
    assert merged([a], [b]) == [a, b]
    assert merged([b], [a]) == [b, a]


def test_two_signs_in_one_image_stay_two():
    assert merged(['Laboratory', 'Laboratori']) == ['Laboratory', 'Laboratori']


@pytest.mark.parametrize('order', [1, -1])
def test_sign_that_the_border_cuts_is_part_of_the_whole(order: int):
    frames = [[Sign('Mob', 0.99, cut=True)], [Sign('Mobile', 0.9)]][::order]
    assert merge_signs(frames) == [Sign('Mobile', 0.9)]


@pytest.mark.parametrize('order', [1, -1])
def test_sign_that_lost_a_line_is_part_of_the_whole(order: int):
    assert merged(*[['Computer'], ['Computer Dedalus']][::order]) == ['Computer Dedalus']


@pytest.mark.parametrize('order', [1, -1])
def test_number_that_the_border_cuts_is_no_other_room(order: int):
    frames = [[Sign('ROOM 10', 0.99, cut=True)], [Sign('ROOM 101', 0.9)]][::order]
    assert merge_signs(frames) == [Sign('ROOM 101', 0.9)]
    assert merge_signs([[Sign('ROOM 10', 0.99, cut=True)]]) == []


def test_text_without_letters_is_compared_as_it_is():
    assert merged(['日本'], ['日本'], ['中国']) == ['日本', '中国']


@pytest.mark.parametrize('order', [1, -1])
@pytest.mark.parametrize(('left', 'whole'), [('RO', 'ROOM 133'), ('ROO', 'ROOM 133'), ('ILETS', 'TOILETS')])
def test_what_the_border_left_of_a_sign_is_no_sign_beside_the_whole_one(order: int, left: str, whole: str):
    frames = [[Sign(left, 0.99, cut=True)], [Sign(whole, 0.9)]][::order]
    assert merge_signs(frames) == [Sign(whole, 0.9)]


def test_of_a_sign_that_was_never_seen_whole_only_words_that_tell_something_are_kept():
    cut_off = [Sign(text, 0.99, cut=True) for text in ('RO', 'STU', 'CAFETER', 'THE KITC', 'TO THE CASH')]
    assert [sign.text for sign in merge_signs([cut_off])] == ['CAFETER']
