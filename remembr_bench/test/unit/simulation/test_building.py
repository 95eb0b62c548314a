import math

import pytest

from remembr_bench.simulation.building import Building, SignPanel, mirrored
from remembr_bench.simulation.floor_plan import generate_building
from remembr_ros.errors import InvalidRequest

SEEDS = range(8)


@pytest.fixture(scope='module', params=SEEDS)
def building(request: pytest.FixtureRequest) -> Building:
    return generate_building(request.param)


def test_same_seed_gives_the_same_building():
    assert generate_building(5) == generate_building(5)


def test_seeds_differ_in_rooms_and_furniture():
    texts = {tuple(sign.text for sign in generate_building(seed).signs) for seed in SEEDS}
    things = {tuple((thing.name, thing.centre) for thing in generate_building(seed).things) for seed in SEEDS}
    assert len(texts) == len(things) == len(SEEDS)


def test_seeds_give_all_four_mirrorings():
    starts = {(generate_building(seed).route[0].x, generate_building(seed).route[0].y) for seed in range(20)}
    assert len(starts) == 4


def test_negative_seed_is_refused():
    with pytest.raises(InvalidRequest, match='0 or more'):
        generate_building(-1)


def test_at_least_eight_rooms_have_a_door_and_a_sign(building):
    rooms = [place for place in building.places if place.name.isupper()]
    named = {sign.text for sign in building.signs}
    doors = [thing for thing in building.things if thing.name.endswith(' door')]
    assert len(rooms) - 3 >= 8
    assert {room.name for room in rooms} <= named
    assert len(doors) == len(rooms) + 2


def test_named_places_have_signs_and_exit_has_two(building):
    texts = [sign.text for sign in building.signs]
    named = {'CAFETERIA', 'EXIT', 'LIFT', 'PRINTER', 'RECEPTION', 'LIBRARY', 'TOILETS', 'STAIRS'}
    assert named <= set(texts)
    assert texts.count('EXIT') == 2
    assert len(set(texts)) == len(texts) - 1


def test_everything_is_inside_the_building(building):
    wide, deep = building.size
    for solid in building.solids():
        assert all(low < high for low, high in zip(solid.low, solid.high, strict=True))
        assert solid.low[0] >= -0.1
        assert solid.low[1] >= -0.1
        assert solid.high[0] <= wide + 0.1
        assert solid.high[1] <= deep + 0.1
        assert solid.low[2] >= 0.0


def test_things_stand_in_the_place_they_name(building):
    for thing in building.things:
        place = next(place for place in building.places if place.name == thing.place)
        assert place.holds(*thing.centre[:2]), thing.name


def test_corridors_are_named_by_their_compass_direction(building):
    middle = (building.size[0] / 2, building.size[1] / 2)
    for place in building.places:
        if place.is_corridor:
            x, y = (place.low[0] + place.high[0]) / 2, (place.low[1] + place.high[1]) / 2
            where = {
                'south': y < middle[1] - 3,
                'north': y > middle[1] + 3,
                'west': x < middle[0] - 3,
                'east': x > middle[0] + 3,
            }
            assert where[place.name.split()[0]], place


def test_mirroring_twice_gives_the_same_building(building):
    for axis in (0, 1):
        once, twice = mirrored(building, axis), mirrored(mirrored(building, axis), axis)
        assert once != building
        assert [sign.text for sign in twice.signs] == [sign.text for sign in building.signs]
        for a, b in zip(twice.solids(), building.solids(), strict=True):
            assert a.low == pytest.approx(b.low, abs=1e-8)
        for a, b in zip(twice.signs, building.signs, strict=True):
            assert math.cos(a.yaw - b.yaw) == pytest.approx(1.0)


def test_a_reader_sees_a_sign_from_left_to_right():
    # it hangs on a wall in the east and faces west: its reader looks east, so left is north
    sign = SignPanel('EXIT', 'hall', (5.0, 2.0, 1.7), math.pi, 0.2, (0, 0, 0), (255, 255, 255))
    left, right = sign.point(-0.5, 0.0), sign.point(0.5, 0.0)
    assert left[1] > right[1]
    assert left[0] == right[0] == 5.0
    assert sign.point(0.0, 0.5)[2] > sign.point(0.0, -0.5)[2]
    assert sign.point(0.0, 0.0, 0.1)[0] == pytest.approx(4.9)


def test_place_at_prefers_rooms_and_knows_the_outside(building):
    cafeteria = next(place for place in building.places if place.name == 'cafeteria')
    x, y = (cafeteria.low[0] + cafeteria.high[0]) / 2, (cafeteria.low[1] + cafeteria.high[1]) / 2
    assert building.place_at(x, y) == 'cafeteria'
    assert building.place_at(-5.0, -5.0) == ''
