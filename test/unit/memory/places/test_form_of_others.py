import contextlib
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.places.form import read_places
from remembr_ros.memory.places.place import NamedPlace

RING = [[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0], [0.0, 0.0]]
IN_DEGREES = [[x * 1e-5 - 79.94377147, y * 1e-5 + 40.43877564] for x, y in RING]
FEW_DIGITS = [[8.54, 47.37], [8.5401, 47.37], [8.5401, 47.3701], [8.54, 47.37]]
CRS84 = {'type': 'name', 'properties': {'name': 'urn:ogc:def:crs:OGC:1.3:CRS84'}}


def room(kind: str, coordinates: Any, name: Any = 'Kitchen', **properties: Any) -> dict[str, Any]:
    geometry = {'type': kind, 'coordinates': coordinates}
    return {'type': 'Feature', 'properties': {'name': name, **properties}, 'geometry': geometry}


def read(
    folder: Path, *features: dict[str, Any], encoding: str = 'utf-8', **members: Any
) -> list[NamedPlace]:
    path = folder / 'rooms.geojson'
    content = {'type': 'FeatureCollection', **members, 'features': features}
    path.write_text(json.dumps(content), encoding)
    return read_places(path)


def test_the_only_part_of_several(tmp_path: Path) -> None:
    kitchen, dock = read(
        tmp_path, room('MultiPolygon', [[RING]]), room('MultiPoint', [[1, 2]], 'dock', radius=0.5)
    )
    assert (kitchen.name, kitchen.outline) == ('Kitchen', ((0, 0), (4, 0), (4, 3), (0, 3)))
    assert (dock.pose.x, dock.pose.y, dock.facts.radius) == (1.0, 2.0, 0.5)


@pytest.mark.parametrize(
    ('feature', 'said'),
    [
        (
            room('MultiPolygon', [[RING], [RING]]),
            r'feature 2 \(Kitchen\) is a MultiPolygon of 2 parts; .* Multipart to Singleparts',
        ),
        (
            room('MultiPolygon', [[RING, RING]]),
            r'feature 2 \(Kitchen\) is a Polygon of 2 rings; give polygons without holes',
        ),
        (room('Polygon', [RING, RING, RING]), r'feature 2 \(Kitchen\) is a Polygon of 3 rings'),
        (room('LineString', RING), r'feature 2 \(Kitchen\) is a LineString of 5 parts; give polygons'),
        (room('MultiPoint', [[1, 2], [3, 4]]), r'feature 2 \(Kitchen\) is a MultiPoint of 2 parts'),
        (
            {'properties': {}, 'geometry': {'type': 'GeometryCollection', 'geometries': []}},
            r'feature 2 \(without a name\) is a GeometryCollection',
        ),
        ({'attributes': {}, 'geometry': {'rings': [RING]}}, 'feature 2 .* shape of another format'),
        (room('Point', [1, 2]), "place 2: 'Kitchen' needs an outline of corners, or a center and a radius"),
        (room('Polygon', [RING], None), 'place 2: that is no place: it has no name; give a name'),
        (room('Polygon', [RING], True), 'place 2: name .* valid string'),
    ],
)
def test_what_is_no_place_is_refused_by_its_number(
    tmp_path: Path, feature: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        read(tmp_path, room('Polygon', [RING], 'first'), feature)


def test_what_has_no_geometry_is_left_out_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    empty = {'type': 'Feature', 'properties': {'name': 'attic'}, 'geometry': None}
    with caplog.at_level(logging.WARNING):
        (found,) = read(tmp_path, empty, room('Polygon', [RING]), room('Polygon', [], None))
    assert found.name == 'Kitchen'
    assert '2 features have no geometry, and are left out: 1 (attic), 3 (without a name)' in caplog.text
    with pytest.raises(InvalidRequest, match='none of its features has a geometry'):
        read(tmp_path, empty)


def test_a_feature_alone_and_a_list_of_them(tmp_path: Path) -> None:
    for content in (room('Polygon', [RING]), [room('Polygon', [RING])]):
        path = tmp_path / 'ROOMS.GEOJSON'
        path.write_text(json.dumps(content))
        assert [found.name for found in read_places(path)] == ['Kitchen']


@pytest.mark.parametrize('encoding', ['utf-8-sig', 'utf-16'])
def test_with_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    assert read(tmp_path, room('Polygon', [RING], 'Küche'), encoding=encoding)[0].name == 'Küche'


def test_names_that_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / 'rooms.geojson'
    path.write_text(json.dumps(room('Polygon', [RING], 117, map_id=3)).replace('117', '1.10'))
    assert [(found.name, found.memory.map_id) for found in read_places(path)] == [('1.10', '3')]
    assert [found.name for found in read(tmp_path, room('Polygon', [RING], 117))] == ['117']


@pytest.mark.parametrize('key', ['Name', 'NAME'])
def test_names_in_capitals(tmp_path: Path, key: str) -> None:
    feature = {'properties': {'fid': 1, key: 'Kitchen', 'RADIUS': 2.0}}
    geometry = {'type': 'Point', 'coordinates': [1, 2]}
    (found,) = read(tmp_path, {**feature, 'geometry': geometry})
    assert (found.name, found.facts.radius) == ('Kitchen', 2.0)


def test_corners_with_a_height_and_attributes_of_other_programs(tmp_path: Path) -> None:
    upstairs = [[x, y, 3.5] for x, y in RING]
    (found,) = read(tmp_path, room('Polygon', [upstairs], z=1.0, center='yes', outline=3, colour='red'))
    assert (found.pose.z, len(found.outline)) == (1.0, 4)


@pytest.mark.parametrize('name', ['urn:ogc:def:crs:OGC:1.3:CRS84', 'EPSG:4326', 'urn:ogc:def:crs:EPSG::4326'])
def test_a_file_that_says_degrees_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        InvalidRequest,
        match=r'its coordinates are degrees \(.*; they have to be metres in the map frame: draw',
    ):
        read(tmp_path, room('Polygon', [RING]), crs={'type': 'name', 'properties': {'name': name}})


def test_a_file_in_another_system_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    name = 'urn:ogc:def:crs:EPSG::32632'
    with caplog.at_level(logging.WARNING):
        assert read(tmp_path, room('Polygon', [RING]), crs={'type': 'name', 'properties': {'name': name}})
    assert 'taken for metres in the map frame' in caplog.text


@pytest.mark.parametrize(
    'features',
    [
        [room('Polygon', [IN_DEGREES])],
        [room('MultiPolygon', [[IN_DEGREES]])],
        [room('Polygon', [FEW_DIGITS])],
        [room('Polygon', [RING]), room('Polygon', [IN_DEGREES])],
        [room('Point', point, radius=2) for point in IN_DEGREES[:2]],
    ],
)
def test_what_looks_like_degrees_is_refused(tmp_path: Path, features: list[dict[str, Any]]) -> None:
    with pytest.raises(
        InvalidRequest,
        match=r'such as (-79\.94377147|8\.54).* look like degrees; they have to be metres',
    ):
        read(tmp_path, *features)


def test_degrees_in_yaml_are_refused_as_well(tmp_path: Path) -> None:
    path = tmp_path / 'rooms.yaml'
    path.write_text(json.dumps({'places': [{'name': 'a', 'outline': IN_DEGREES[:-1]}]}))
    with pytest.raises(InvalidRequest, match='look like degrees'):
        read_places(path)


@given(
    st.lists(
        st.tuples(*(st.floats(-1e3, 1e3).map(lambda m: round(m, 7)),) * 2),
        min_size=1,
        max_size=5,
        unique=True,
    )
)
def test_metres_are_no_degrees(
    tmp_path_factory: pytest.TempPathFactory, corners: list[tuple[float, float]]
) -> None:
    shifted = [room('Polygon', [[[x, y], [x + 0.5, y], [x + 0.5, y + 0.5], [x, y]]]) for x, y in corners]
    assert len(read(tmp_path_factory.getbasetemp(), *shifted)) == len(corners)


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(['type', 'coordinates', 'x', 'y', 'name']), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(geometry=values, properties=values, crs=values)
def test_garbage_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, geometry: Any, properties: Any, crs: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / 'garbage.json'
    feature = {'geometry': geometry, 'properties': properties}
    path.write_text(json.dumps({'features': [feature], 'crs': crs}))
    with contextlib.suppress(InvalidRequest):
        assert read_places(path)
