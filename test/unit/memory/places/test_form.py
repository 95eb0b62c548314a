import json
from pathlib import Path

import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.places.form import place_json, read_places, told_place, write_places
from remembr_ros.memory.places.place import place

PLACES = [
    place('Küche', outline=[(0, 0), (4, 0), (4, 3)], other_names=['kitchen'], map_id='m', z=1.0),
    place('dock', center=(1.5, -2.0), radius=0.5, guessed='"DOCK" was read there'),
]


@pytest.mark.parametrize('name', ['rooms.yaml', 'rooms.yml', 'rooms.geojson', 'rooms.json'])
def test_what_is_written_is_read(tmp_path: Path, name: str):
    path = tmp_path / name
    write_places(path, PLACES)
    again = read_places(path)
    assert [(one.facts, one.pose, one.memory.map_id) for one in again] == [
        (one.facts, one.pose, one.memory.map_id) for one in PLACES
    ]


def test_as_others_write_geojson(tmp_path: Path):
    path = tmp_path / 'rooms.geojson'
    ring = [[0, 0], [4, 0], [4, 3], [0, 0]]
    features = [
        {'type': 'Feature', 'properties': {'name': 'a', 'colour': 'red'},
         'geometry': {'type': 'Polygon', 'coordinates': [ring]}},
        {'type': 'Feature', 'properties': {'name': 'b', 'radius': 2},
         'geometry': {'type': 'Point', 'coordinates': [1, 2, 0]}},
    ]  # fmt: skip
    path.write_text(json.dumps({'type': 'FeatureCollection', 'features': features}))
    a, b = read_places(path, map_id='m', now_ns=5)
    assert (a.outline, b.facts.radius, a.memory.map_id, b.memory.start_ns) == (
        *(((0, 0), (4, 0), (4, 3)), 2.0, 'm', 5),
    )


@pytest.mark.parametrize(
    'content',
    ['', '[]', '{}', '{"features": 3}', '{"features": [{}]}', 'places: 3', '\0', '{', '{"features": [[]]}'],
)
@pytest.mark.parametrize('name', ['rooms.yaml', 'rooms.geojson'])
def test_no_file_of_places(tmp_path: Path, name: str, content: str):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InvalidRequest, match='is no file of places'):
        read_places(path)


def test_what_is_wrong_is_told_by_its_number(tmp_path: Path):
    path = tmp_path / 'rooms.yaml'
    path.write_text('places: [{name: a, center: [0, 0], radius: 1}, {name: b, outline: [[0, 0], [1, 1]]}]')
    with pytest.raises(InvalidRequest, match=r"rooms.yaml, place 2: the outline of 'b' has 2 corners"):
        read_places(path)
    path = tmp_path / 'rooms.geojson'
    hole = [[[0, 0], [9, 0], [9, 9]], [[1, 1], [2, 1], [2, 2]]]
    feature = {'properties': {'name': 'a'}, 'geometry': {'type': 'Polygon', 'coordinates': hole}}
    path.write_text(json.dumps({'features': [feature]}))
    with pytest.raises(InvalidRequest, match='without holes'):
        read_places(path)


def test_paths(tmp_path: Path):
    with pytest.raises(InvalidRequest, match='cannot be read'):
        read_places(tmp_path / 'none.yaml')
    with pytest.raises(InvalidRequest, match='cannot be written'):
        write_places(tmp_path / 'no' / 'rooms.yaml', PLACES)
    with pytest.raises(InvalidRequest, match=r'has to end in \.yaml'):
        write_places(tmp_path / 'rooms.txt', PLACES)


@pytest.mark.parametrize(
    'form',
    [
        None, 3, 'kitchen', [], {}, {'name': 3}, {'name': 'a'}, {'name': 'a', 'outline': 3},
        {'name': 'a', 'outline': [3]}, {'name': 'a', 'outline': [['x', 'y']] * 3},
        {'name': 'a', 'center': [1], 'radius': 1}, {'name': 'a', 'center': {}, 'radius': 1},
        {'name': 'a', 'center': [0, 0], 'radius': 'x'}, {'name': 'a', 'center': [0, 0], 'radius': 10**400},
        {'name': 'a', 'center': [0, 0], 'radius': 1, 'other_names': 'b'},
        {'name': 'a', 'center': [0, 0], 'radius': 1, 'z': 'high'},
        {'name': 'a', 'center': [0, 0], 'radius': 1, 'map_id': 3},
        {'name': 'a', 'center': [0, 0], 'radius': 1, 'map': 3},
    ],
)  # fmt: skip
def test_no_place(form):
    with pytest.raises(InvalidRequest):
        told_place(form)


def test_as_json():
    told = place_json(PLACES[0])
    assert told['outline'] == [[0, 0], [4, 0], [4, 3]]
    assert (told['name'], told['radius'], told['z'], told['map']) == ('Küche', None, 1.0, 'm')
    assert place_json(PLACES[1])['center'] == [1.5, -2.0]


@pytest.mark.parametrize(
    'name', ['117', '0x10', '1_000', '1.10', '007', '12:30', '2026-03-01', 'no', 'on', 'Off']
)
@pytest.mark.parametrize('key', ['map', 'map_id'])
def test_names_in_yaml_are_as_they_are_written(tmp_path: Path, name: str, key: str):
    path = tmp_path / 'rooms.yaml'
    shape = 'center: [1, 2], radius: 1'
    path.write_text(f'places: [{{name: {name}, other_names: [{name}, b], {key}: {name}, {shape}}}]')
    (found,) = read_places(path)
    assert (found.name, found.facts.other_names, found.memory.map_id) == (name, (name, 'b'), name)
    write_places(path, [found])
    (again,) = read_places(path)
    assert (again.name, again.memory.map_id) == (name, name), 'and comes back'


@pytest.mark.parametrize('name', ['~', 'null', '', '""'])
def test_no_name_is_told(tmp_path: Path, name: str):
    path = tmp_path / 'rooms.yaml'
    path.write_text(f'places:\n- name: {name}\n  center: [1, 2]\n  radius: 1\n')
    with pytest.raises(InvalidRequest, match=r'place 1: .*it has no name; give a name'):
        read_places(path)


def test_positions_by_name(tmp_path: Path):
    path = tmp_path / 'rooms.json'
    outline = [{'x': 0, 'y': 0}, {'x': 4, 'y': 0, 'z': 0}, {'x': 4, 'y': 3}]
    places = [
        {'name': 'a', 'outline': [corner | {} for corner in outline[::2]] + [{'x': 0, 'y': 3}]},
        {'name': 'b', 'center': {'x': 1, 'y': 2, 'z': 3}, 'radius': 1},
    ]
    for content in (places, {'places': places}):
        path.write_text(json.dumps(content))
        a, b = read_places(path)
        assert a.outline == ((0, 0), (4, 3), (0, 3))
        assert b.pose.position == (1.0, 2.0, 3.0)


def test_a_file_in_another_encoding_is_told(tmp_path: Path):
    path = tmp_path / 'rooms.yaml'
    path.write_bytes('places: [{name: Küche, center: [0, 0], radius: 1}]'.encode('latin-1'))
    with pytest.raises(InvalidRequest, match=r'no file of places: .*invalid start byte'):
        read_places(path)
    for encoding in ('utf-8-sig', 'utf-16'):
        path.write_text('places: [{name: Küche, center: [0, 0], radius: 1}]', encoding)
        assert read_places(path)[0].name == 'Küche'
