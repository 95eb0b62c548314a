import math
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from remembr_ros.geometry import Pose
from remembr_ros.memory.places.place import place
from remembr_ros.navigation.grid import Grid
from remembr_ros.timestamps import NS
from remembr_ros.web.site import Site
from test.object_room import ROOM
from test.unit.memory.recall_contract import DRIVE
from test.unit.web.conftest import PICTURE
from test.unit.web.fake_backend import FakeBackend, eventually

NAME = 'a' * 32 + '.jpg'


def get(client: TestClient, path: str, **parameters: Any) -> dict[str, Any]:
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_cells_leave_out_objects_where_these_are_drawn_themselves(
    client: TestClient, backend: FakeBackend, site: Site
) -> None:
    before = get(client, '/api/cells')['total']
    backend.memories += [one.memory for one in ROOM]
    site.following.tell()
    eventually(lambda: get(client, '/api/cells')['total'] == before + len(ROOM))
    assert get(client, '/api/cells', objects=False)['total'] == before


def test_the_map_is_drawn_by_cells(client: TestClient) -> None:
    placed = [memory for memory in DRIVE if memory.pose]
    found = get(client, '/api/cells', cell=0.01)
    assert found['total'] == sum(row[2] for row in found['cells']) == len(placed)
    assert {row[4] for row in found['cells']} == {memory.id for memory in placed}
    robots = {memory.id: memory.robot for memory in placed}
    assert all(row[5] == robots[row[4]] for row in found['cells'])
    coarse = get(client, '/api/cells', cell=1e6)
    assert [(row[2], row[4], row[5]) for row in coarse['cells']] == [
        (len(placed), None, None)
    ]  # of two robots
    assert coarse['cells'][0][3] == round(max(memory.end_ns for memory in placed) / NS, 3)
    assert get(client, '/api/cells', box='100,100,200,200')['cells'] == []
    assert get(client, '/api/cells', map='cellar', cell=1)['total'] == sum(
        m.map_id == 'cellar' for m in placed
    )
    for wrong in ({'box': '1,2,3'}, {'box': '5,0,1,1'}, {'box': 'nan,0,1,1'}, {'cell': 0}):
        assert client.get('/api/cells', params=wrong).status_code == 400


def test_what_is_drawn_is_in_the_place_that_is_chosen(client: TestClient, backend: FakeBackend) -> None:
    dock = place('dock', center=(8.0, 2.0), radius=1.0)
    inside = [m for m in DRIVE if m.pose and not m.map_id and math.dist((8, 2), m.pose.position[:2]) <= 1]
    assert 0 < len(inside) < len(DRIVE)
    backend.memories.append(dock.memory)
    narrow = {'place': 'Dock'}
    found = get(client, '/api/cells', cell=0.01, **narrow)
    assert {row[4] for row in found['cells']} == {memory.id for memory in inside}
    assert found['total'] == len(inside)
    assert sum(get(client, '/api/activity', **narrow)['stored']) == len(inside)
    points = [point for track in get(client, '/api/track', **narrow)['tracks'] for point in track['points']]
    assert all(math.dist((8, 2), point[:2]) <= 1 for point in points)
    for path in ('cells', 'track', 'activity'):
        refused = client.get(f'/api/{path}', params={'place': 'attic'})
        assert (refused.status_code, 'attic' in refused.json()['error']) == (400, True)


def test_the_way_and_the_times_are_drawn(client: TestClient, site: Site) -> None:
    tracks = get(client, '/api/track')['tracks']
    assert {track['robot'] for track in tracks} == {'a', 'b'}
    assert all(len(point) == 3 for track in tracks for point in track['points'])
    found = get(client, '/api/activity', bins=20)
    assert sum(found['stored']) == len(DRIVE)
    length = {len(found[name]) for name in ('stored', 'driving', 'standing', 'questions')}
    assert len(length) == 1
    assert length.pop() <= 20
    assert sum(found['questions']) == 0


def test_pictures_are_kept_by_browsers_for_good(client: TestClient, backend: FakeBackend) -> None:
    backend.pictures[NAME] = PICTURE
    whole = client.get(f'/api/pictures/{NAME}')
    assert (whole.status_code, whole.content, whole.headers['content-type']) == (200, PICTURE, 'image/jpeg')
    assert whole.headers['cache-control'] == 'private, max-age=31536000, immutable'
    small = client.get(f'/api/pictures/{NAME}', params={'width': 256})
    assert small.content.startswith(b'\xff\xd8\xff')
    assert small.headers['etag'] != whole.headers['etag']
    again = client.get(f'/api/pictures/{NAME}', headers={'If-None-Match': whole.headers['etag']})
    assert (again.status_code, again.content) == (304, b'')
    backend.pictures.clear()
    gone = client.get(f'/api/pictures/{NAME}', headers={'If-None-Match': whole.headers['etag']})
    assert gone.status_code == 404


def test_the_map_is_a_picture_that_changes_its_name(client: TestClient, backend: FakeBackend) -> None:
    assert client.get('/api/map').status_code == 204
    assert client.get('/api/map.png').status_code == 404
    backend.grid = Grid(np.zeros((20, 30), np.int8), 0.05, Pose(-1.0, -2.0, 0.0, 0.3))
    found = get(client, '/api/map')
    assert (found['width'], found['height'], found['origin']) == (30, 20, [-1.0, -2.0, 0.3])
    image = client.get(found['image'])
    assert image.headers['content-type'] == 'image/png'
    assert 'immutable' in image.headers['cache-control']
    assert client.get('/api/map.png').headers['cache-control'] == 'no-cache'
