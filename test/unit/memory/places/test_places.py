import numpy as np
import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.place import place
from remembr_ros.memory.places.places import MOST, Places, described


def box(name, x0, y0, x1, y1, **about):
    return place(name, outline=[(x0, y0), (x1, y0), (x1, y1), (x0, y1)], **about)


def at(x, y, z=0.0, map_id=''):
    return Memory('m', 'r', 1, 1, '', Pose(x, y, z), map_id=map_id)


OFFICE = box('office', 0, 0, 10, 10)
DESK = place('desk', center=(2, 2), radius=1.0, other_names=["Anna's desk"])
HALL = box('hall', 9, -10, 30, 10)
UPPER = box('office', 0, 0, 10, 10, map_id='upper')
KNOWN = Places(one.memory for one in (OFFICE, DESK, HALL, UPPER))


def name_of(memory, known=KNOWN):
    return known.name_at(memory.map_id, memory.pose)


def test_the_smaller_one_counts():
    assert [name_of(at(*xy)) for xy in ((5, 5), (2, 2.5), (9.5, 5), (20, 0), (-1, 0))] == [
        'office',
        'desk',
        'office',
        'hall',
        '',
    ]
    assert name_of(at(5, 5, map_id='elsewhere')) == ''
    assert KNOWN.of(at(5, 5, map_id='upper')) == UPPER
    assert KNOWN.of(Memory('m', 'r', 1, 1, '')) is None


def test_storeys_of_one_map():
    cellar, ground = box('cellar', 0, 0, 4, 4, z=-3.0), box('shop', 0, 0, 5, 5)
    known = Places([cellar.memory, ground.memory])
    assert [name_of(at(1, 1, z), known) for z in (-3.0, -2.0, 0.0, 2.0, 9.0)] == [
        *('cellar', 'cellar', 'shop', 'shop', '')
    ]


def test_by_name():
    assert KNOWN.named("anna's DESK") == DESK
    assert KNOWN.named('The Office', 'upper') == UPPER
    with pytest.raises(InvalidRequest, match=r"called 'office' on the map '', 'upper'; name that map"):
        KNOWN.named('office')
    with pytest.raises(InvalidRequest, match=r"no place called 'attic'; there are: desk, hall, office"):
        KNOWN.named('attic', '')
    with pytest.raises(InvalidRequest, match=r"a place called 'hall' on the map ''; name that map"):
        KNOWN.named('hall', 'upper')


def test_its_area_is_without_what_is_no_part_of_it():
    points = np.array([(2, 2, 0), (9.5, 5, 0), (20, 0, 0), (30, 10, 0), (31, 0, 0)], float)
    assert KNOWN.area(OFFICE).covers(points).tolist() == [True, True, False, False, False]
    assert KNOWN.area(HALL).covers(points).tolist() == [False, False, True, True, False]
    center, radius = KNOWN.area(HALL).sphere
    assert all(np.linalg.norm(np.array(center) - p) <= radius for p in points[2:4])


def test_a_scope_within_a_place():
    scope = KNOWN.within(Scope(place='hall', source='person'))
    assert (scope.place, scope.map_id, scope.source) == (None, '', 'person')
    assert [scope.admits(at(x, 0)) for x in (20, 9.5, 31)] == [False, False, False]
    scope = KNOWN.within(Scope(place='hall', near=(20, 0, 0), radius_m=2.0))
    assert [scope.admits(at(x, 0)) for x in (20, 21.9, 22.1, 9.5)] == [True, True, False, False]
    assert KNOWN.within(Scope()) == Scope()


def test_one_name_for_one_place():
    for name in ('Office', 'the desk', "Anna's Desk"):
        with pytest.raises(InvalidRequest, match='already; choose another name'):
            KNOWN.with_new(box(name, 50, 50, 51, 51))
    with pytest.raises(InvalidRequest, match='already'):
        KNOWN.with_new(box('closet', 50, 50, 51, 51, other_names=['HALL']))
    many = Places(place(f'p{i}', center=(i, 0), radius=0.4).memory for i in range(MOST))
    with pytest.raises(InvalidRequest, match='up to 1,000 places; remove some'):
        many.with_new(HALL)
    assert KNOWN.with_new(box('hall', 50, 50, 51, 51, map_id='upper')).named('hall', 'upper')
    assert KNOWN.same_as(box('office', 0, 0, 10, 10, now_ns=99)) == OFFICE
    assert KNOWN.same_as(box('office', 0, 0, 10, 11)) is None


def test_no_places():
    assert not Places()
    assert name_of(at(0, 0), Places()) == ''
    with pytest.raises(InvalidRequest, match='there are: none'):
        Places().named('kitchen')


def test_described():
    assert described([]) == ''
    assert described([OFFICE]) == 'the office'
    assert described([OFFICE, HALL, DESK]) == 'the office, the hall and the desk'
