import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.record import CAPTIONER, PLACE, Memory
from remembr_ros.memory.model.storable import storable
from remembr_ros.memory.places.place import place, place_of, said_name, same_name

NOW = 1_700_000_000 * 10**9
SQUARE = [(1.0, 2.0), (5.0, 2.0), (5.0, 4.0), (1.0, 4.0)]


def test_a_polygon():
    made = place('  the   Kitchen ', outline=SQUARE, other_names=['galley'], map_id='m', z=3.0, now_ns=NOW)
    assert (made.name, made.names) == ('Kitchen', ('Kitchen', 'galley'))
    assert made.outline == tuple(SQUARE)
    assert made.pose.position == (3.0, 3.0, 3.0)
    assert made.shape.area == pytest.approx(8.0)
    memory = storable(made.memory)
    assert (memory.source, memory.map_id, memory.start_ns) == (PLACE, 'm', NOW)
    assert memory.caption == 'A place called Kitchen, also called galley.'
    assert place_of(memory) == made


def test_a_circle():
    made = place('dock', center=(1.0, 2.0), radius=0.5, now_ns=NOW)
    assert (made.outline, made.facts.radius, made.pose.z) == ((), 0.5, 0.0)
    assert made.shape.area == pytest.approx(math.pi * 0.25, rel=0.01)
    assert place_of(made.memory) == made


def test_its_middle_lies_in_it():
    made = place('hall', outline=[(0, 0), (9, 0), (9, 9), (8, 9), (8, 1), (0, 1)])
    assert made.shape.buffer(1e-3).contains(__import__('shapely').Point(made.pose.x, made.pose.y))


@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 2), min_size=3, max_size=6, unique=True))
def test_corners_come_back(corners):
    try:
        made = place('x', outline=corners)
    except InvalidRequest:
        return
    for (x, y), (a, b) in zip(made.outline, corners, strict=True):
        assert math.isclose(x, a, abs_tol=1e-3)
        assert math.isclose(y, b, abs_tol=1e-3)


@pytest.mark.parametrize(
    ('about', 'why'),
    [
        ({'outline': [(0, 0), (1, 1), (1, 0), (0, 1)]}, 'crosses or touches itself'),
        ({'outline': [(0, 0), (1, 1)]}, 'has 2 corners; give 3 to 1000'),
        ({'outline': [(0, 0), (1, 1), (2, 2)]}, 'crosses or touches itself'),
        ({'outline': [(0, 0), (1e-4, 0), (0, 1e-4)]}, 'covers nothing'),
        ({'outline': [(0, 0), (math.nan, 1), (1, 0)]}, 'is no corner'),
        ({'outline': [(0, 0, 0), (1, 1, 0), (1, 0, 0)]}, 'is no corner'),
        ({'outline': [(math.cos(i / 200), math.sin(i / 200)) for i in range(1001)]}, 'has 1001 corners'),
        ({}, 'needs an outline of corners, or a center and a radius'),
        ({'center': (0, 0)}, 'needs an outline'),
        ({'outline': SQUARE, 'center': (0, 0), 'radius': 1.0}, 'needs an outline'),
        ({'center': (0, 0), 'radius': 0.0}, 'radius'),
        ({'center': (0, 0), 'radius': math.inf}, 'radius'),
        ({'center': (math.nan, 0), 'radius': 1.0}, 'is not a position'),
        ({'center': (2e9, 0), 'radius': 1.0}, 'is not a position'),
        ({'center': (0, 0), 'radius': 1.0, 'other_names': ['x'] * 21}, 'other names'),
        ({'center': (0, 0), 'radius': 1.0, 'other_names': [' ']}, 'other names'),
    ],
)
def test_what_is_no_place(about, why):
    with pytest.raises(InvalidRequest, match=why):
        place('kitchen', **about)


@pytest.mark.parametrize('name', ['', '  ', 'the ', 'x' * 10_000, 'x' * 201])
def test_what_is_no_name(name):
    with pytest.raises(InvalidRequest) as raised:
        place(name, center=(0, 0), radius=1.0)
    assert 'name' in str(raised.value)
    assert len(str(raised.value)) < 300


def test_no_place():
    assert place_of(Memory('a', 'r', NOW, NOW, 'A cup.', source=CAPTIONER)) is None
    made = place('dock', center=(1.0, 2.0), radius=0.5).memory
    assert place_of(Memory('a', 'r', NOW, NOW, '', made.pose, source=PLACE, facts={'name': 3})) is None


def test_names():
    assert same_name('The  Front_Desk') == same_name('front desk') == 'front desk'
    assert [said_name(name) for name in ('kitchen', 'room 315', 'ROOM 3', 'Anna')] == [
        'the kitchen',
        'room 315',
        'ROOM 3',
        'Anna',
    ]
