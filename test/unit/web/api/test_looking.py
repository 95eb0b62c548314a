import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembr_ros.errors import EmbedderLoading, StoreUnavailable
from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.forms.form import read
from remembr_ros.forms.places import PlacesForm
from remembr_ros.forms.results import deeds_json, places_json
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.matching.ranking import newest_first
from remembr_ros.memory.model.codec import memory_json
from remembr_ros.memory.objects.query import ObjectQuery, object_json
from remembr_ros.memory.objects.relations import ObjectRelation
from remembr_ros.memory.places.place import place
from remembr_ros.navigation.grid import Grid
from remembr_ros.navigation.terrain import KeepOut
from remembr_ros.timestamps import NS, format_iso
from remembr_ros.web.backend import Ability, RobotPlace, Situation
from test.object_room import CUP, ROOM, VISITS, thing
from test.unit.memory.recall_contract import DRIVE, FIRST_NS, LAST_NS
from test.unit.web.fake_backend import FakeBackend, eventually

NAME = 'a' * 32 + '.jpg'
VASE = thing(
    'vase', (0.0, 3.0, 0.0), (0.2, 0.2, 0.4), intervals=VISITS[:1], absences=(VISITS[1],), looked=VISITS[1][1]
)


def get(client: TestClient, path: str, **parameters: Any) -> dict[str, Any]:
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ids(found: dict[str, Any]) -> list[str]:
    return [memory['id'] for memory in found['memories']]


def test_info_says_what_there_is(client: TestClient, backend: FakeBackend) -> None:
    found = get(client, '/api/info')
    assert (found['name'], found['right'], found['planner'], found['memories']) == (
        'fake.db',
        'act',
        'offline',
        14,
    )
    assert found['abilities'] == sorted(Ability)
    assert (found['robots'], found['sources']) == (['a', 'b'], ['captioner', 'person'])
    assert [area['map'] for area in found['maps']] == ['', 'cellar']
    assert found['first'] == format_iso(FIRST_NS)
    assert (found['zone'], found['reading'], found['problem'], found['tokens']) == (
        'Europe/Berlin',
        False,
        '',
        False,
    )


def test_a_recall_is_by_text_else_by_place_else_by_time_else_of_the_newest(client: TestClient) -> None:
    by_text = get(client, '/api/recall', text='a green chair', position='0,0', time=0)
    first = by_text['memories'][0]
    assert first['sentence'] == 'A green chair.'
    assert by_text['total'] == len(DRIVE)
    placed = [memory for memory in DRIVE if memory.pose]
    by_place = get(client, '/api/recall', position='4,4.2', time=0, limit=1)
    assert by_place['memories'][0]['id'] == 'd02'
    assert by_place['memories'][0]['distance'] == pytest.approx(
        math.dist((4.0, 4.2), (placed[2].pose or Pose(0.0, 0.0)).position[:2])
    )
    assert (by_place['memories'][0]['sureness'], by_place['memories'][0]['sentence']) == (None, None)
    assert ids(get(client, '/api/recall', time=FIRST_NS / NS, limit=1)) == ['d00']
    around = get(client, '/api/recall', time=format_iso(FIRST_NS + 30 * NS), around=1, limit=3)
    assert ids(around) == ['d02', 'd03', 'd04']
    assert ids(get(client, '/api/recall', limit=2)) == ['d13', 'd12']
    for blank in ('', ' '):
        refused = client.get('/api/recall', params={'text': blank})
        assert refused.status_code == 400
        assert refused.json()['error'] == 'text is empty; leave it out for the newest memories'


def test_how_well_a_memory_fits_is_told_in_words(client: TestClient, backend: FakeBackend) -> None:
    found = get(client, '/api/recall', text='green chair')['memories']
    assert found[0]['sureness'] in ('surely', 'likely', 'perhaps', 'hardly')
    assert all(one['sentence'] in one['caption'] for one in found)


def test_a_scope_narrows_down(client: TestClient) -> None:
    def counted(**scope: Any) -> tuple[int, int]:
        found = get(client, '/api/recall', limit=50, **scope)
        return len(found['memories']), found['total']

    def both(admits: Callable[[Any], bool]) -> tuple[int, int]:
        count = sum(bool(admits(memory)) for memory in DRIVE)
        assert count
        return count, count

    assert counted(robot=['a']) == both(lambda m: m.robot == 'a')
    assert counted(robot=['a', 'b', 'c']) == (14, 14)
    assert counted(map='') == both(lambda m: m.map_id == '')
    assert counted(map='cellar') == both(lambda m: m.map_id == 'cellar')
    assert counted(source='person') == both(lambda m: m.source == 'person')
    assert counted(after=(FIRST_NS + 100 * NS) / NS) == both(lambda m: m.end_ns >= FIRST_NS + 100 * NS)
    assert counted(before=format_iso(FIRST_NS)) == both(lambda m: m.start_ns <= FIRST_NS)
    assert counted(position='0,0,0', radius=6) == both(
        lambda m: m.pose and math.hypot(m.pose.x, m.pose.y) <= 6
    )


def test_a_place_is_at_the_height_of_what_is_there(client: TestClient, backend: FakeBackend) -> None:
    upstairs = replace(DRIVE[0], id='up', pose=Pose(50.0, 50.0, 12.0), start_ns=LAST_NS, end_ns=LAST_NS)
    backend.memories.append(upstairs)
    assert backend.listeners
    backend.listeners.on_memories()
    eventually(lambda: get(client, '/api/info')['memories'] == 15)
    assert ids(get(client, '/api/recall', position='50,50.5', radius=1)) == ['up']
    assert ids(get(client, '/api/recall', position='50,50.5,0', radius=1)) == []
    assert ids(get(client, '/api/recall', position='50,50', radius=1, map='nowhere')) == []


LOOKS = {  # whether the place (4, 0), behind a wall at x = 2 with a door at y = 0, is seen
    'in': (Pose(4.5, 0.5, 0.0, 0.0), True),  # whichever way
    'door': (Pose(1.0, 0.2, 0.0, 0.1), True),
    'aside': (Pose(1.0, 0.1, 0.0, 1.5), False),
    'away': (Pose(1.5, 0.0, 0.0, math.pi), False),
    'wall': (Pose(1.0, 3.0, 0.0, -0.8), False),
    'far': (Pose(-6.0, 0.0, 0.0, 0.0), False),
}


@pytest.fixture
def room(backend: FakeBackend) -> FakeBackend:
    """A room, in one memory, and seen or not from five others."""
    backend.memories = [
        replace(DRIVE[0], id=name, source='captioner', map_id='', pose=pose)
        for name, (pose, _) in LOOKS.items()
    ]
    cells = np.zeros((100, 100), np.int8)  # of 0.1 m, from (-3, -5)
    cells[:, 50] = 100
    cells[45:56, 50] = 0
    backend.grid = Grid(cells, 0.1, Pose(-3.0, -5.0))
    return backend


def test_a_room_is_seen_from_its_door(client: TestClient, room: FakeBackend) -> None:
    place = {'position': '4,0,0', 'radius': 1}
    assert ids(get(client, '/api/recall', **place)) == ['in']
    found = get(client, '/api/recall', seen=1, **place)
    assert ids(found) == [name for name, (_, seen) in LOOKS.items() if seen]
    assert found['total'] == 2
    assert found['memories'][1]['distance'] == pytest.approx(math.hypot(3.0, 0.2))
    assert ids(get(client, '/api/recall', seen=1, limit=1, **place)) == ['in']
    assert ids(get(client, '/api/recall', seen=1, camera='none', **place)) == []


def test_walls_count_on_their_map_and_only_cameras_look(client: TestClient, room: FakeBackend) -> None:
    place = {'position': '4,0,0', 'seen': 1}
    room.grid = None
    assert ids(get(client, '/api/recall', **place)) == ['door', 'wall']
    room.memories = [replace(one, source='person') for one in room.memories]
    assert ids(get(client, '/api/recall', **place)) == []
    for other in ({'time': 0, **place}, {'text': 'chair', **place}, {'seen': 1}):
        assert client.get('/api/recall', params=other).status_code == 400


def test_a_camera_is_found_among_many(client: TestClient, backend: FakeBackend) -> None:
    backend.memories = [
        replace(
            DRIVE[0],
            id=f'c{i}',
            start_ns=FIRST_NS + i,
            end_ns=FIRST_NS + i,
            camera='rear' if i < 3 else 'front',
        )
        for i in range(300)
    ]
    found = get(client, '/api/recall', camera='rear', limit=2)
    assert ids(found) == ['c2', 'c1']
    assert found['total'] in (None, 3)
    assert get(client, '/api/recall', camera='rear', limit=200)['total'] == 3
    assert get(client, '/api/recall', camera='none') == {'memories': [], 'total': 0}


def test_the_newest_in_a_part_of_the_map(client: TestClient) -> None:
    def inside(memory: Any) -> bool:
        return memory.pose is not None and 0 <= memory.pose.x <= 4 and -9 <= memory.pose.y <= 9

    there = [memory.id for memory in newest_first(DRIVE) if inside(memory)]
    found = get(client, '/api/recall', box='0,-9,4,9', limit=2)
    assert 2 < len(there) == found['total'] < len(DRIVE)
    assert ids(found) == there[:2]
    assert ids(get(client, '/api/recall', box='0,-9,4,9', map='nowhere')) == []
    assert ids(get(client, '/api/recall', box='0,-9,4,9', camera='none')) == []


def test_the_newest_in_a_part_of_the_map_are_in_the_place_that_is_asked_for(
    client: TestClient, backend: FakeBackend
) -> None:
    backend.memories.append(place('dock', center=(8.0, 2.0), radius=1.0).memory)
    found = get(client, '/api/recall', box='0,-9,99,99', place='dock')
    assert (ids(found), found['total']) == (['d04'], 1)
    assert ids(get(client, '/api/recall', box='0,-9,1,9', place='dock')) == []


@pytest.mark.parametrize(
    'query',
    [
        'box=1,2,3',
        'box=0,0,1,1&text=lift',
        'box=0,0,1,1&position=0,0',
        'box=0,0,1,1&time=0',
        'box=0,0,1,1&near=0,0',
        'position=0,0&near=1,1',
        'near=0,0&seen=1&time=0',
        'position=1',
        'position=a,b',
        'position=1,2,3,4',
        'position=nan,0',
        'position=1e300,0',
        'radius=1',
        'position=0,0&radius=-1',
        'position=0,0&radius=inf',
        'after=yesterday',
        'after=9e99',
        'after=2&before=1',
        'limit=0',
        'limit=201',
        'limit=x',
        'around=1',
        'time=1&around=1&text=x',
        'time=1&around=1&position=0,0',
        'source=nobody%00',
        'txt=misspelt',
        'robot=x&' * 1_001,
        f'text={"x" * 10_001}',
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(client: TestClient, query: str) -> None:
    answer = client.get(f'/api/recall?{query}')
    if 'source' in query:  # a store refuses it, lists do not
        return
    assert answer.status_code == 400, answer.text
    assert set(answer.json()) == {'error'}
    assert 4 < len(answer.json()['error']) < 700


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from('recall cells track activity day map.png objects deeds places'.split()),
    name=st.sampled_from(
        'position near box after text limit cell bins points radius day v place map time robot'.split()
    ),
    value=st.text(max_size=30) | st.floats().map(str),
)
def test_no_parameter_fails_the_server(client: TestClient, path: str, name: str, value: str) -> None:
    answer = client.get(f'/api/{path}', params={name: value})
    assert answer.status_code in (200, 400, 404), answer.text
    if answer.status_code != 200:
        assert set(answer.json()) == {'error'}


@pytest.mark.parametrize(
    ('path', 'query', 'said'),
    [
        ('day', 'when=2023-11-14', "/api/day has no argument 'when': it is called day"),
        ('day', 'tag=x', "'tag'; it takes day, robot, map, place"),
        ('recall', 'at=0,0', "/api/recall has no argument 'at': it is called position"),
        ('recall', 'room=kitchen', "/api/recall has no argument 'room': it is called place"),
        ('objects', 'map_id=cellar', "/api/objects has no argument 'map_id': it is called map"),
        ('recall', 'query=mug', "/api/recall has no argument 'query': it is called text"),
        ('exchanges', 'limit=3', 'it takes none'),
        ('memories/d04', 'robot=a', 'it takes none'),
    ],
)
def test_a_parameter_that_nobody_knows_is_refused_with_the_right_name(
    client: TestClient, path: str, query: str, said: str
) -> None:
    answer = client.get(f'/api/{path}?{query}')
    assert answer.status_code == 400, answer.text
    assert said in answer.json()['error']


def test_a_memory_is_told_with_what_was_around_it(client: TestClient) -> None:
    found = get(client, '/api/memories/d04')
    assert found['memory'] == memory_json(DRIVE[4])
    assert (found['before'], found['after']) == ('d02', 'd06')  # the other robot's lie between
    assert [one['id'] for one in found['neighbours']] == ['d00', 'd02', 'd06', 'd08', 'd10', 'd12']
    assert found['place'] == ''


def test_a_memory_is_told_with_the_name_of_its_place(client: TestClient, backend: FakeBackend) -> None:
    backend.memories.append(place('dock', center=(8.0, 2.0), radius=1.0).memory)
    assert get(client, '/api/memories/d04')['place'] == 'dock'
    assert get(client, '/api/memories/d06')['place'] == ''


@pytest.mark.parametrize('name', ['unknown', 'x' * 64, '%00', 'é', '%2e'])
def test_a_memory_that_is_not_there_is_said_to_be_gone(client: TestClient, name: str) -> None:
    answer = client.get(f'/api/memories/{name}')
    assert answer.status_code in (400, 404)
    assert set(answer.json()) == {'error'}
    assert client.get(f'/api/memories/{"x" * 65}').status_code == 400


def test_a_day_is_told(client: TestClient) -> None:
    found = get(client, '/api/day', day='2023-11-14')
    assert found['days'][0]['date'] == '2023-11-14'
    assert found['text']
    assert client.get('/api/day', params={'day': '1999-01-01'}).status_code == 404
    assert '2023-11-14' in client.get('/api/day', params={'day': '1999-01-01'}).json()['error']
    assert client.get('/api/day', params={'day': 'blue'}).status_code == 400


def test_pictures_that_are_missing_or_damaged_are_said_to_be(
    client: TestClient, backend: FakeBackend
) -> None:
    backend.pictures[NAME] = b'\xff\xd8\xff garbage'
    damaged = client.get(f'/api/pictures/{NAME}', params={'width': 256})
    assert damaged.status_code == 404
    assert 'damaged' in damaged.json()['error']
    for name in ('b' * 32 + '.jpg', 'x', '..%2f..%2fetc%2fpasswd', '%2e%2e'):
        assert client.get(f'/api/pictures/{name}').status_code in (400, 404)
    assert client.get(f'/api/pictures/{NAME}', params={'width': 9999}).status_code == 400


def test_the_situation_and_the_state_are_told(client: TestClient, backend: FakeBackend) -> None:
    at = StampedPose(FIRST_NS, Pose(1.0, 2.0, 0.0, 0.5))
    keep_out = KeepOut(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)))
    backend.now = Situation((RobotPlace('r', at, 'cellar'),), (at,), (at,), (keep_out,))
    found = get(client, '/api/situation')
    assert found['robots'] == [
        {
            'name': 'r',
            'position': [1.0, 2.0, 0.0],
            'yaw': 0.5,
            'stamp': format_iso(FIRST_NS),
            'map': 'cellar',
        }
    ]
    assert found['proposal'] == [{'position': [1.0, 2.0, 0.0], 'yaw': 0.5, 'frame_id': 'map'}]
    assert found['keep_out'] == [[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]]
    assert found['drive'] is None
    parts = get(client, '/api/state')['parts']
    assert parts == [{'name': 'memory', 'level': 'ok', 'message': 'well', 'values': {'<b>': 'x'}}]


def test_a_memory_out_of_reach_is_said_to_be_and_works_again(
    client: TestClient, backend: FakeBackend
) -> None:
    for error in (StoreUnavailable('the server is away; start it'), EmbedderLoading('it is being loaded')):
        backend.broken = error
        for path in ('recall?text=x', 'memories/d01', f'pictures/{NAME}', 'day'):
            answer = client.get(f'/api/{path}')
            assert (answer.status_code, answer.json()) in ((503, {'error': str(error)}), (404, answer.json()))
            assert answer.status_code == 404 or answer.headers['retry-after'] == '2'
        assert get(client, '/api/cells')['total'] > 0  # what is known is shown
        assert get(client, '/api/state')['parts'][0]['level'] == 'error'
        backend.broken = None
        assert get(client, '/api/recall')['memories']


def test_an_error_that_nobody_foresaw_tells_no_secret(client: TestClient, backend: FakeBackend) -> None:
    backend.broken = ZeroDivisionError('secret')
    answer = client.get('/api/recall')
    assert answer.status_code == 500
    assert set(answer.json()) == {'error'}
    assert 'secret' not in answer.text


def names(found: dict[str, Any]) -> list[str]:
    return [one['name'] for one in found['objects']]


def test_objects_are_found_by_all_that_a_query_has(client: TestClient, backend: FakeBackend) -> None:
    backend.memories += [one.memory for one in (*ROOM, VASE)]
    found = get(client, '/api/objects', called='red cups')
    assert found['total'] == 1
    assert found['objects'] == [object_json(CUP, found_relations(backend, 'cup'))]
    assert {'relation', 'id', 'name', 'since', 'until'} == set(found['objects'][0]['relations'][0])
    assert set(names(get(client, '/api/objects', relation='on', anchor='table'))) == {'cup', 'book'}
    assert names(get(client, '/api/objects', missing=True)) == ['vase']
    assert 'vase' not in names(get(client, '/api/objects', missing=False))
    assert names(get(client, '/api/objects', moved=True)) == []
    since = VISITS[0][1] / NS
    assert names(get(client, '/api/objects', changed_since=since)) == ['vase']
    near = {'position': '2,0,1', 'radius': 0.7}
    assert set(names(get(client, '/api/objects', **near))) == {'fridge', 'milk', 'bottle'}
    first = get(client, '/api/objects', position='2,0,1.65', limit=1)
    assert (names(first), first['total']) == (['bottle'], len(ROOM) + 1)
    assert names(get(client, '/api/objects', order='largest', limit=2)) == ['table', 'fridge']
    assert names(get(client, '/api/objects', after=VISITS[1][0] / NS, called='vase')) == []


@pytest.mark.parametrize(
    ('parameters', 'said'),
    [
        ({'source': 'object'}, "no argument 'source'"),
        ({'clas': 'cup'}, 'no argument'),
        ({'relation': 'above', 'anchor': 'cup'}, 'relation'),
        ({'relation': 'on'}, 'goes with'),
        ({'order': 'nearest'}, 'place'),
        ({'radius': 1}, 'position'),
        ({'limit': 1001}, 'limit'),
        ({'changed_since': 'noon-ish'}, 'noon-ish'),
    ],
)
def test_a_query_for_objects_that_makes_no_sense_is_refused(
    client: TestClient, parameters: dict[str, Any], said: str
) -> None:
    answer = client.get('/api/objects', params=parameters)
    assert answer.status_code == 400
    assert said in answer.json()['error']


def test_an_object_is_told_by_its_id_or_one_that_it_had(client: TestClient, backend: FakeBackend) -> None:
    backend.memories.append(thing('cup', (0.0, 0.0, 0.0), (0.1, 0.1, 0.1), id='a1', aliases=('b2',)).memory)
    assert get(client, '/api/objects/a1') == get(client, '/api/objects/b2')
    assert get(client, '/api/objects/a1')['object']['id'] == 'a1'
    for name in ('cup', 'c3', DRIVE[0].id):
        answer = client.get(f'/api/objects/{name}')
        assert answer.status_code == 404
        assert answer.json()['error'].startswith('there is no such object')


def test_deeds_and_places_are_told_as_the_command_line_tells_them(
    client: TestClient, backend: FakeBackend
) -> None:
    picked = deed(FIRST_NS, FIRST_NS + 4 * NS, kind='pick', object='cup', place='hall', robot='a')
    docked = deed(FIRST_NS + 9 * NS, kind='dock', robot='b', outcome='failed', reason='wet')
    hall = place('hall', center=(8.0, 2.0), radius=1.0, other_names=('lobby',))
    backend.memories += [picked.memory('a'), docked.memory('b'), hall.memory]
    found = get(client, '/api/deeds', kind='pick')
    assert found == deeds_json(DeedsForm(kind='pick').find(backend.recall))
    assert [(one['caption'], one['seconds'], one['place']) for one in found['deeds']] == [
        ('Picked the cup (hall)', 4.0, 'hall')
    ]
    for asked in (
        {'outcome': ('failed', 'cancelled'), 'robot': ('b',)},
        {'after': 'picked', 'right': True},
        {'order': 'nearest', 'position': '8,2,0', 'nth': 1},
        {'never': 'place'},
    ):
        assert get(client, '/api/deeds', **asked) == deeds_json(read(DeedsForm, asked).find(backend.recall))
    assert get(client, '/api/deeds', outcome='failed')['total'] == 1
    known = get(client, '/api/places', place='Lobby')
    assert known == places_json(PlacesForm(place='Lobby').find(backend.recall))
    assert [one['name'] for one in known['places']] == ['hall']
    assert get(client, '/api/places', position='8,2.5') == known
    assert get(client, '/api/places', map='cellar') == {'places': []}


@pytest.mark.parametrize(
    ('path', 'parameters', 'said'),
    [
        ('deeds', {'room': 'hall'}, "/api/deeds has no argument 'room': it is called place"),
        ('deeds', {'after': 'juggled'}, "there is no such deed as 'juggled'"),
        ('deeds', {'outcome': 'well'}, 'outcome'),
        ('deeds', {'after': 'x' * 10_001}, 'after'),
        ('recall', {'place': '1, 2'}, "place is '1, 2': it has to be the name of a room or place"),
        ('recall', {'place': '1, 2'}, 'coordinates are a position'),
        ('recall', {'position': 'kitchen'}, 'the name of a room or place is a place'),
        ('recall', {'time': '1' * 65}, 'time'),
        ('places', {'place': 'attic'}, 'attic'),
        ('places', {'limit': 0}, "limit is '0': it has to be at least 1"),
    ],
)
def test_what_deeds_and_places_do_not_take_is_refused(
    client: TestClient, path: str, parameters: dict[str, Any], said: str
) -> None:
    answer = client.get(f'/api/{path}', params=parameters)
    assert answer.status_code == 400, answer.text
    assert said in answer.json()['error']
    assert len(answer.json()['error']) < 700


def found_relations(backend: FakeBackend, called: str) -> tuple[ObjectRelation, ...]:
    [one] = backend.recall.find_objects(ObjectQuery(called)).objects
    return one.relations


def test_the_rooms_of_the_map_are_proposed_until_they_have_a_name(
    client: TestClient, backend: FakeBackend
) -> None:
    assert get(client, '/api/places/found') == {'places': []}
    cells = np.full((100, 180), 100, np.int8)
    cells[5:95, 5:88], cells[5:95, 90:175], cells[40:58, 88:90] = 0, 0, 0
    backend.grid = Grid(cells, 0.05, Pose(-1.0, -1.0))
    found = get(client, '/api/places/found')['places']
    assert len(found) == 2
    assert all(one['guessed'] and len(one['outline']) >= 4 for one in found)
    made = {'name': 'kitchen', 'outline': found[0]['outline']}
    assert client.post('/api/places', json=made).status_code == 201
    left = get(client, '/api/places/found')['places']
    assert [one['outline'] for one in left] == [found[1]['outline']]
