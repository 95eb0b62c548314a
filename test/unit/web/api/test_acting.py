from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.memory.places.place import place
from remembr_ros.timestamps import NS, format_iso
from remembr_ros.web.backend import Ability, Situation
from remembr_ros.web.door.access import Right, needs
from remembr_ros.web.following import News
from remembr_ros.web.live import Event
from remembr_ros.web.site import Site
from test.object_room import ROOM, VISITS, thing
from test.unit.memory.recall_contract import DRIVE
from test.unit.web.conftest import PICTURE
from test.unit.web.fake_backend import FakeBackend, eventually

NAMES = ('a' * 32 + '.jpg', 'b' * 32 + '.jpg')


def test_what_would_go_with_a_memory_is_told(client: TestClient, backend: FakeBackend) -> None:
    backend.memories[4] = replace(DRIVE[4], keyframes=NAMES, merged=7)
    backend.memories[5] = replace(DRIVE[5], keyframes=NAMES[1:])
    assert client.get('/api/memories/d04/forgetting').json() == {
        'memories': 1,
        'segments': 7,
        'pictures': 1,
        'shared': 1,
        'start': format_iso(DRIVE[4].start_ns),
        'end': format_iso(DRIVE[4].end_ns),
    }
    assert client.get('/api/memories/unknown/forgetting').status_code == 404
    assert len(backend.memories) == len(DRIVE)


def test_a_memory_is_forgotten_once_with_its_thumbnails(
    client: TestClient, backend: FakeBackend, caplog: pytest.LogCaptureFixture
) -> None:
    backend.memories[4] = replace(DRIVE[4], keyframes=NAMES[:1])
    backend.pictures[NAMES[0]] = PICTURE
    path = f'/api/pictures/{NAMES[0]}?width=256'
    assert client.get(path).status_code == 200
    gone = client.delete('/api/memories/d04')
    assert (gone.status_code, gone.json()) == (200, {'forgotten': 1})
    assert gone.headers['clear-site-data'] == '"cache"'
    del backend.pictures[NAMES[0]]
    assert client.get(path).status_code == 404
    assert client.get('/api/memories/d04').status_code == 404
    again = client.delete('/api/memories/d04')
    assert again.status_code == 404
    assert 'forgotten meanwhile' in again.json()['error']
    assert 'local wants 1 memories forgotten: d04' in caplog.text


def test_memories_are_forgotten_by_conditions(
    client: TestClient, backend: FakeBackend, caplog: pytest.LogCaptureFixture
) -> None:
    about = {'robot': 'a', 'map': '', 'text': 'LIFT'}
    doomed = [
        memory.id
        for memory in DRIVE
        if (memory.robot, memory.map_id) == ('a', '') and 'lift' in memory.caption.lower()
    ]
    assert 0 < len(doomed) < len(DRIVE)
    foreseen = client.post('/api/forget', json={**about, 'dry_run': True})
    assert (foreseen.status_code, foreseen.json()) == (200, {'forgotten': 0, 'found': len(doomed)})
    assert 'clear-site-data' not in foreseen.headers
    assert backend.memories == list(DRIVE)
    gone = client.post('/api/forget', json=about)
    assert (gone.status_code, gone.json()) == (200, {'forgotten': len(doomed), 'found': len(doomed)})
    assert gone.headers['clear-site-data'] == '"cache"'
    assert backend.memories == [memory for memory in DRIVE if memory.id not in doomed]
    assert f'local wants {len(doomed)} memories forgotten: {", ".join(doomed)}' in caplog.text
    assert client.post('/api/forget', json=about).json() == {'forgotten': 0, 'found': 0}


@pytest.mark.parametrize(
    ('body', 'said'),
    [
        ({}, 'nothing says what to forget'),
        ({'dry_run': True}, 'nothing says what to forget'),
        ({'id': [], 'text': ''}, 'nothing says what to forget'),
        ({'text': ' '}, 'text is blank'),
        ({'ids': ['d04']}, "/api/forget has no argument 'ids': it is called id"),
        ({'radius': 3}, 'a radius needs near'),
        ({'id': ['x'] * 1_001}, 'id'),
        ({'place': 'attic'}, 'attic'),
    ],
)
def test_a_forgetting_without_a_condition_that_makes_sense_deletes_nothing(
    client: TestClient, backend: FakeBackend, body: dict[str, Any], said: str
) -> None:
    answer = client.post('/api/forget', json=body)
    assert answer.status_code == 400
    assert said in answer.json()['error']
    assert backend.memories == list(DRIVE)


def test_a_note_is_stored_as_it_is_written(client: TestClient, backend: FakeBackend) -> None:
    text = '<script>alert(1)</script> \u202e' + 'x' * 50_000
    answer = client.post(
        '/api/notes', json={'text': text, 'position': [1, 2, 0.5], 'yaw': 7.0, 'map': 'cellar'}
    )
    assert answer.status_code == 201
    (memory,) = backend.get([answer.json()['id']])
    assert (memory.caption, memory.map_id, memory.source) == (text, 'cellar', 'person')
    assert memory.pose == Pose(1.0, 2.0, 0.5, pytest.approx(7.0 - 2 * 3.141592653589793))
    told = client.get(f'/api/memories/{memory.id}')
    assert told.json()['memory']['caption'] == text
    assert told.headers['content-type'] == 'application/json'
    assert client.post('/api/notes', json={'text': 'Nowhere.'}).status_code == 201
    about = {'text': 'Flat.', 'position': [1, 2], 'time': '2023-11-14T22:13:20Z', 'robot': 'b'}
    (flat,) = backend.get([client.post('/api/notes', json=about).json()['id']])
    assert (flat.pose, flat.start_ns, flat.robot) == (Pose(1.0, 2.0, 0.0), 1_700_000_000 * NS, 'b')


def test_a_deed_is_stored_as_it_is_told(
    client: TestClient, backend: FakeBackend, caplog: pytest.LogCaptureFixture
) -> None:
    told = {
        'kind': 'place',
        'object': 'cup',
        'receptacle': 'shelf',
        'place': 'kitchen',
        'begin': '2023-11-14T22:13:20Z',
        'end': '2023-11-14T22:13:25Z',
        'outcome': 'failed',
        'reason': 'the shelf is full',
        'position': [1, 2, 0.5],
        'map': 'cellar',
    }
    answer = client.post('/api/events', json=told)
    assert answer.status_code == 201
    memory = client.get(f'/api/memories/{answer.json()["id"]}').json()['memory']
    assert (memory['source'], memory['start'], memory['end']) == (
        'agent',
        '2023-11-14T22:13:20.000000Z',
        '2023-11-14T22:13:25.000000Z',
    )
    assert memory['caption'] == 'Failed to put the cup on the shelf (kitchen): the shelf is full'
    assert (memory['position'], memory['map']) == ([1.0, 2.0, 0.5], 'cellar')
    assert memory['facts'] == {
        key: told[key] for key in ('kind', 'object', 'receptacle', 'place', 'outcome', 'reason')
    }
    assert 'local told deed' in caplog.text
    bodies = [
        {'text': 'opened the door'},
        {'kind': 'dock', 'robot': 'b', 'position': [1, 2], 'travelled': 4.5},
    ]
    opened, docked = backend.get([client.post('/api/events', json=body).json()['id'] for body in bodies])
    assert (opened.facts['kind'], opened.start_ns >= backend.now_ns()) == ('open', True)
    assert (docked.robot, docked.pose, docked.travelled) == ('b', Pose(1.0, 2.0), 4.5)


@pytest.mark.parametrize(
    ('body', 'said'),
    [
        ({}, "needs a kind, such as 'pick', or a text"),
        ({'object': 'cup'}, 'needs a kind'),
        ({'kind': 'pick', 'begin': '20', 'end': '10'}, 'ends before it begins'),
        ({'kind': 'pick', 'end': 'noon-ish'}, 'noon-ish'),
        ({'kind': 'pick', 'outcome': 'well'}, 'outcome'),
        ({'kind': 'x' * 501}, 'kind'),
        ({'kind': 'x' * 10_001}, 'kind'),
        ({'kind': 'pick', 'position': [1]}, 'position'),
        ({'kind': 'pick', 'position': [10**400, 0]}, 'position'),
        ({'kind': 'pick', 'yaw': 1}, 'yaw'),
        ({'kind': 'pick', 'robot': ''}, 'robot'),
        ({'kind': 'pick', 'who': 'b'}, "/api/events has no argument 'who'"),
        ({'kind': 'pick', 'map_id': ''}, "/api/events has no argument 'map_id': it is called map"),
    ],
)
def test_a_deed_that_makes_no_sense_is_refused(
    client: TestClient, backend: FakeBackend, body: dict[str, Any], said: str
) -> None:
    answer = client.post('/api/events', json=body)
    assert answer.status_code == 400
    assert said in answer.json()['error']
    assert backend.memories == list(DRIVE)


@pytest.mark.parametrize(
    ('path', 'body'),
    [
        ('notes', {}),
        ('notes', {'text': ''}),
        ('notes', {'text': ' '}),
        ('notes', {'text': 'x' * 60_001}),
        ('notes', {'text': 'x', 'position': [1]}),
        ('notes', {'text': 'x', 'yaw': 1.0}),
        ('notes', {'text': 'x', 'time': 'noon-ish'}),
        ('notes', {'text': 'x', 'map_id': ''}),
        ('notes', {'text': 'x', 'position': [1, 2, 1e300]}),
        ('notes', {'text': 'x', 'where': 1}),
        ('go', {}),
        ('go', {'memory_id': 'd00', 'position': [1, 2]}),
        ('go', {'position': [1]}),
        ('go', {'position': [1, 1e300]}),
        ('go', {'position': [1, 2], 'yaw': 'north'}),
        ('confirm', {}),
        ('confirm', {'yes': 'perhaps'}),
    ],
)
def test_what_makes_no_sense_is_refused(client: TestClient, path: str, body: dict[str, Any]) -> None:
    answer = client.post(f'/api/{path}', json=body)
    assert answer.status_code == 400, answer.text
    assert set(answer.json()) == {'error'}
    assert client.post(f'/api/{path}', content=b'\xff{"yes":NaN').status_code == 400


def test_the_robot_drives_once_somebody_said_yes(
    client: TestClient, backend: FakeBackend, site: Site
) -> None:
    begun = client.post('/api/go', json={'memory_id': 'd01'})
    assert begun.status_code == 202
    assert begun.json()['asker'] == 'local'
    busy = client.post('/api/go', json={'position': [1, 2]})
    assert busy.status_code == 409
    assert 'stop it first' in busy.json()['error']
    eventually(lambda: client.get('/api/situation').json()['drive']['stage'] == 'confirming')
    assert client.get('/api/situation').json()['drive']['goal']['position'] == [2.0, 1.1, 0.0]
    yes = {'yes': True, 'proposal': client.get('/api/situation').json()['proposal_id']}
    assert client.post('/api/confirm', json=yes).json() == {'detail': 'it is told'}
    eventually(lambda: client.get('/api/situation').json()['drive']['stage'] == 'arrived')
    assert [target for target, _, _ in backend.driven] == [DRIVE[1]]
    assert client.post('/api/go', json={'position': [1, 2], 'map': 'cellar'}).status_code == 202
    eventually(lambda: client.get('/api/situation').json()['drive']['stage'] == 'confirming')
    assert client.post('/api/stop').json() == {'detail': 'it stands'}
    assert client.get('/api/situation').json()['drive']['stage'] == 'stopped'
    assert client.post('/api/go', json={'memory_id': 'unknown'}).status_code == 404


def test_a_yes_is_for_the_goals_that_were_shown(client: TestClient, backend: FakeBackend) -> None:
    here = Pose(2.0, 1.1)
    backend.now = Situation(proposal=(StampedPose(2**62, here), StampedPose(2**62, Pose(3.0, 0.1))))
    shown = client.get('/api/situation').json()['proposal_id']
    assert client.post('/api/confirm', json={'yes': True, 'proposal': shown}).status_code == 200
    assert client.post('/api/confirm', json={'yes': True}).status_code == 409
    backend.now = Situation(proposal=(StampedPose(2**62 + 1, here),))  # the same place, asked for by another
    for yes in (True, False):
        late = client.post('/api/confirm', json={'yes': yes, 'proposal': shown})
        assert (late.status_code, late.json()['error'][:11]) == (409, 'other goals')
    assert client.post('/api/confirm', json={'yes': False}).status_code == 200
    assert backend.said == [True, False]


def test_nothing_waits_for_a_yes(
    client: TestClient, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def confirm(_: bool, proposal: str) -> str:
        raise InvalidRequest('no goal waits')

    monkeypatch.setattr(backend, 'confirm', confirm)
    answer = client.post('/api/confirm', json={'yes': True, 'proposal': '1'})
    assert (answer.status_code, answer.json()) == (409, {'error': 'no goal waits'})


def test_what_this_memory_cannot_is_said(client: TestClient, backend: FakeBackend) -> None:
    backend.abilities = frozenset({Ability.ASK})
    for method, path, body in (
        ('POST', 'go', {'memory_id': 'd01'}),
        ('POST', 'confirm', {'yes': True, 'proposal': '1'}),
        ('POST', 'stop', None),
        ('POST', 'objects/cup', {'action': 'gone'}),
        ('POST', 'notes', {'text': 'x'}),
        ('POST', 'events', {'kind': 'dock'}),
        ('DELETE', 'memories/d01', None),
        ('POST', 'forget', {'id': ['d01']}),
    ):
        answer = client.request(method, f'/api/{path}', json=body)
        assert answer.status_code == 409, path
        assert 'here' in answer.json()['error']
    assert backend.get(['d01'])


def test_every_route_needs_the_right_that_it_should(site: Site) -> None:
    from remembr_ros.web.api import acting, asking, drawing, event_stream, looking

    expected = {acting: Right.ACT, asking: Right.ASK}
    for module in (acting, asking, drawing, event_stream, looking):
        right = expected.get(module, Right.LOOK)
        assert module.routes.routes
        (needed,) = module.routes.dependencies
        assert needed.dependency is not None
        assert needed.dependency.__closure__ == needs(right).__closure__


def test_an_answer_goes_with_what_it_rests_on(client: TestClient) -> None:
    for _ in range(2):
        assert client.post('/api/ask', json={'question': 'Where is the mug?'}).json()['answer']['evidence']
    assert client.delete('/api/memories/d00').status_code == 200
    told = client.get('/api/exchanges')
    assert {(one['stage'], one['answer']) for one in told.json()['exchanges']} == {('failed', None)}
    assert 'red mug' not in told.text


def test_a_person_corrects_objects(
    client: TestClient, backend: FakeBackend, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    backend.memories += [one.memory for one in ROOM]
    backend.memories.append(thing('cup', (0.5, 0.5, 0.0), (0.1, 0.1, 0.1), id='other').memory)

    def say(action: str, **more: Any) -> dict[str, Any] | None:
        answer = client.post('/api/objects/cup', json={'action': action, 'map': '', **more})
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] | None = answer.json()['object']
        return told

    told = say('rename', name="Anna's mug")
    assert told is not None
    assert (told['name'], told['recognised_as']) == ("Anna's mug", 'cup')
    assert {one['relation'] for one in told['relations']} >= {'on'}
    assert 'local corrects object cup: rename' in caplog.text
    assert (say('gone') or {})['presence'] == 'missing'
    assert (say('there') or {})['presence'] == 'present'
    parted = say('split', time=format_iso(VISITS[1][0]))
    assert (parted or {})['last_seen'] == format_iso(VISITS[0][1])
    assert (say('merge', other='other') or {})['aliases'] == ['other']
    assert client.get('/api/objects/other').json()['object']['id'] == 'cup'
    assert say('delete') is None
    assert client.get('/api/objects/cup').status_code == 404
    assert (say('there') or {})['id'] == 'cup'  # which takes that back


def test_whoever_looks_is_told_of_a_correction(client: TestClient, backend: FakeBackend, site: Site) -> None:
    backend.memories.append(ROOM[0].memory)
    told: list[Event] = []
    site.live.tell = told.append  # type: ignore[method-assign]
    client.post(f'/api/objects/{ROOM[0].id}', json={'action': 'rename', 'name': 'desk'})
    [event] = [event for event in told if isinstance(event.about, News) and event.about.anew]
    assert event.kind == 'memories'


def test_whoever_looks_is_told_that_a_place_has_no_name_any_more(
    client: TestClient, backend: FakeBackend, site: Site
) -> None:
    backend.memories.append(place('dock', center=(8.0, 2.0), radius=1.0).memory)
    told: list[Event] = []
    site.live.tell = told.append  # type: ignore[method-assign]
    assert client.delete(f'/api/memories/{backend.memories[-1].id}').status_code == 200
    assert any(isinstance(event.about, News) and event.about.anew for event in told)


@pytest.mark.parametrize(
    ('body', 'status'),
    [
        ({'action': 'paint'}, 400),
        ({'action': 'rename', 'name': 'x' * 201}, 400),
        ({'action': 'rename', 'colour': 'red'}, 400),
        ({'action': 'gone', 'map': 'cellar'}, 400),
        ({'action': 'merge', 'other': 'nothing'}, 400),
        ({'action': 'split'}, 400),
        ({'action': 'split', 'time': 'noon-ish'}, 400),
    ],
)
def test_a_correction_that_makes_no_sense_changes_nothing(
    client: TestClient, backend: FakeBackend, body: dict[str, Any], status: int
) -> None:
    backend.memories.append(ROOM[0].memory)
    before = list(backend.memories)
    answer = client.post(f'/api/objects/{ROOM[0].id}', json=body)
    assert (answer.status_code, bool(answer.json()['error'])) == (status, True)
    assert backend.memories == before


SQUARE = [[-1.0, -1.0], [5.0, -1.0], [5.0, 9.0], [-1.0, 9.0]]


def test_a_place_gets_a_name_which_is_told_to_who_follows(
    client: TestClient, backend: FakeBackend, site: Site
) -> None:
    heard: list[Event] = []
    site.live.tell = heard.append  # type: ignore[method-assign]
    made = client.post('/api/places', json={'name': 'kitchen', 'outline': SQUARE, 'other_names': ['galley']})
    assert made.status_code == 201, made.text
    assert any(isinstance(event.about, News) and event.about.anew for event in heard)
    (told,) = client.get('/api/places').json()['places']
    assert (told['id'], told['name'], told['outline']) == (made.json()['id'], 'kitchen', SQUARE)
    found = client.get('/api/recall', params={'place': 'Galley', 'limit': 50}).json()
    assert found['total'] == len(found['memories']) > 0
    assert all(memory['position'][0] <= 5.0 for memory in found['memories'])
    assert client.delete(f'/api/memories/{told["id"]}').status_code == 200
    assert client.get('/api/places').json() == {'places': []}
    assert client.get('/api/recall', params={'place': 'galley'}).status_code == 400


@pytest.mark.parametrize(
    ('body', 'why'),
    [
        ({'name': 'x', 'outline': [SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]]}, 'crosses or touches itself'),
        ({'name': 'x', 'outline': SQUARE[:2]}, 'has 2 corners'),
        ({'name': 'x'}, 'needs an outline'),
        ({'name': 'x', 'center': [0, 0]}, 'needs an outline'),
        ({'name': 'x' * 500, 'outline': SQUARE}, 'at most 200 characters'),
        ({'name': 'x' * 10_000, 'outline': SQUARE}, 'name'),
        ({'name': 'Hall', 'outline': SQUARE}, "called 'hall' already"),
        ({'name': 'x', 'outline': SQUARE, 'colour': 'red'}, 'colour'),
        ({'name': 'x', 'outline': SQUARE, 'map': 3}, 'map'),
    ],
)
def test_what_is_no_place_is_refused(
    client: TestClient, backend: FakeBackend, body: dict[str, Any], why: str
) -> None:
    assert client.post('/api/places', json={'name': 'hall', 'center': [9, 9], 'radius': 1}).status_code == 201
    refused = client.post('/api/places', json=body)
    assert refused.status_code == 400
    assert why in refused.json()['error']
    assert len(client.get('/api/places').json()['places']) == 1
