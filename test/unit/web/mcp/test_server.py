"""Another agent and the memory, over streamable HTTP, by the SDK's own client."""

import base64
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import cv2
import httpx2
import numpy as np
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from remembr_ros.agent.model.quoting import quoted
from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.forms.places import PlacesForm
from remembr_ros.forms.results import deeds_json, places_json
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.places.place import place
from remembr_ros.timestamps import NS
from remembr_ros.web.door.access import Right
from remembr_ros.web.mcp.server import build_server
from remembr_ros.web.mcp.told import brief
from test.object_room import ROOM, thing
from test.unit.web.mcp.conftest import HOSTILE, T0, TOKENS, ServedSite

LOOKING = ['recall', 'objects', 'deeds', 'places', 'look', 'day', 'info']


def talk(
    served: ServedSite, right: str, words: Callable[[Client], Awaitable[Any]], mode: Any = 'auto'
) -> Any:
    """Return what comes of a conversation with the server."""

    async def conversation() -> Any:
        headers = {'Authorization': f'Bearer {TOKENS[right]}'}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30.0) as http,
            Client(streamable_http_client(served.url, http_client=http), mode=mode) as client,
        ):
            return await words(client)

    return anyio.run(conversation)


def call(served: ServedSite, name: str, right: str = 'act', **arguments: Any) -> Any:
    return talk(served, right, lambda client: client.call_tool(name, arguments))


@pytest.mark.parametrize(
    ('right', 'more'),
    [('look', []), ('ask', ['ask']), ('act', ['ask', 'remember', 'event', 'forget', 'go_to'])],
)
def test_each_right_has_its_tools(served: ServedSite, right: str, more: list[str]) -> None:
    tools = talk(served, right, lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == [*LOOKING, *more]
    assert [tool.name for tool in tools if not tool.annotations.read_only_hint] == [
        name for name in more if name != 'ask'
    ]
    assert {tool.name for tool in tools if tool.annotations.destructive_hint} <= {'forget'}
    assert all(tool.description for tool in tools)


@pytest.mark.parametrize(
    ('name', 'arguments'),
    [
        ('forget', {'id': ['x']}),
        ('go_to', {'position': [0, 0]}),
        ('remember', {'text': 'x'}),
        ('event', {'kind': 'dock'}),
    ],
)
@pytest.mark.parametrize('mode', ['auto', 'legacy'])
def test_a_tool_that_takes_another_right_says_which(
    served: ServedSite, name: str, arguments: dict[str, Any], mode: str
) -> None:
    result = talk(served, 'ask', lambda client: client.call_tool(name, arguments), mode)
    assert result.is_error
    assert result.content[0].text.startswith(f'{name} needs a token with the right to act')
    assert len(served.store.all()) == 3


@pytest.mark.parametrize('token', ['', 'Bearer wrong-wrong-wrong', f'Basic {TOKENS["act"]}'])
def test_without_a_token_nobody_comes_in(served: ServedSite, token: str) -> None:
    headers = {'Authorization': token} if token else {}
    asked = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/list', 'params': {}}
    answer = httpx2.post(
        served.url, json=asked, headers={**headers, 'Accept': 'application/json, text/event-stream'}
    )
    assert answer.status_code == 401
    assert 'red mug' not in answer.text


def test_recall_finds_by_text_place_and_time(served: ServedSite) -> None:
    found = call(served, 'recall', 'look', text='lift', limit=1).structured_content
    (best,) = found['memories']
    assert (best['caption'], best['pictures'], found['total']) == ('"A lift with two doors."', 1, 3)
    for where in ([2.0, 1.0], '2, 1', '[2.0, 1.0]', {'x': 2, 'y': 1}):
        near = call(served, 'recall', 'look', position=where, radius=0.5).structured_content['memories']
        assert [(each['id'], each['distance']) for each in near] == [(best['id'], 0.0)]
    narrow = call(served, 'recall', 'look', text='red mug', near=[2.0, 1.0], radius=0.5).structured_content
    assert ([each['id'] for each in narrow['memories']], narrow['total']) == ([best['id']], 1)
    asked = {'time': str(T0 / 1e9 + 11), 'limit': 1}
    assert call(served, 'recall', 'look', **asked).structured_content['memories'][0]['id'] == best['id']
    around = call(served, 'recall', 'look', time=asked['time'], around=True, limit=3).structured_content
    assert [each['start'] for each in around['memories']] == sorted(
        each['start'] for each in around['memories']
    )


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ({'limit': 51}, 'limit is 51: it has to be at most 50'),
        ({'position': [1.0]}, '1.0'),
        ({'position': [1.0]}, 'it has to be coordinates x, y and maybe z in metres'),
        ({'position': [1, 2, 3, 4]}, 'position is (1, 2, 3, 4): it has to be coordinates'),
        ({'position': 'kitchen'}, "position is 'kitchen': it has to be coordinates"),
        ({'position': 'kitchen'}, 'the name of a room or place is a place'),
        ({'place': [1, 2]}, 'place is (1, 2): it has to be the name of a room'),
        ({'place': [1, 2]}, 'coordinates are a position'),
        ({'place': '1, 2'}, "place is '1, 2': it has to be the name of a room"),
        ({'place': '1, 2'}, 'coordinates are a position'),
        ({'radius': 3.0}, 'near and radius go together: a radius needs near, a position around which it is'),
        ({'time': 'noon-ish'}, 'noon-ish'),
        ({'around': True}, 'around goes with time'),
        ({'text': ' '}, 'text is empty; leave it out for the newest memories'),
        ({'source': 'nobody'}, 'nobody'),
        ({'text': 'x' * 10_001}, 'text'),
        ({'after': '2', 'before': '1'}, 'empty'),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    served: ServedSite, arguments: dict[str, Any], said: str
) -> None:
    result = call(served, 'recall', 'look', **arguments)
    assert result.is_error
    assert said in result.content[0].text
    assert 'Traceback' not in result.content[0].text


@pytest.mark.parametrize(
    ('name', 'arguments', 'said'),
    [
        (
            'recall',
            {'query': 'lift'},
            "recall has no argument 'query': it is called text",
        ),
        ('recall', {'here': [0, 0]}, "recall has no argument 'here': it is called position"),
        ('recall', {'room': 'kitchen'}, "recall has no argument 'room': it is called place"),
        ('recall', {'text': 'lift', 'ceiling': 3}, "recall has no argument 'ceiling'; it takes "),
        ('recall', {'text': 'lift', 'limits': 3}, "'limits'"),
        ('objects', {'map_id': 'cellar'}, "objects has no argument 'map_id': it is called map"),
        ('remember', {'text': 'the spare key', 'point': [1, 2]}, "'point': it is called position"),
        ('remember', {'text': 'the spare key', 'kind': 'pick'}, "remember has no argument 'kind'"),
        ('event', {'kind': 'pick', 'where': 'kitchen'}, "'where': it is called place"),
        ('forget', {'ids': ['x']}, "forget has no argument 'ids': it is called id"),
        ('day', {'when': 'yesterday'}, "day has no argument 'when': it is called day"),
        ('info', {'<b>': 1}, 'it takes none'),
    ],
)
@pytest.mark.parametrize('mode', ['auto', 'legacy'])
def test_an_argument_that_nobody_knows_is_refused_with_those_that_are(
    served: ServedSite, name: str, arguments: dict[str, Any], said: str, mode: str
) -> None:
    result = talk(served, 'act', lambda client: client.call_tool(name, arguments), mode)
    assert result.is_error
    assert said in result.content[0].text
    assert '<' not in result.content[0].text
    assert len(served.store.all()) == 3


def test_null_is_not_given(served: ServedSite) -> None:
    plain = call(served, 'recall', 'look', text='lift')
    nulls = call(served, 'recall', 'look', text='lift', limit=None, around=None, near=None, radius=None)
    assert nulls.structured_content == plain.structured_content
    blanks = call(
        served, 'recall', 'look', text='lift', limit='null', around='', place='', near='', radius=''
    )
    assert blanks.structured_content == plain.structured_content
    assert not call(served, 'ask', 'ask', question='Where is the lift?', conversation=None).is_error


def test_tools_say_that_they_take_nothing_else(served: ServedSite) -> None:
    tools = talk(served, 'act', lambda client: client.list_tools()).tools
    assert all(tool.input_schema['additionalProperties'] is False for tool in tools)
    schemas = [(name, told) for tool in tools for name, told in tool.input_schema['properties'].items()]
    kinds = {name: {told['type'] for each, told in schemas if each == name} for name, _ in schemas}
    assert {name: kinds[name] for name in ('place', 'near', 'position', 'map', 'id')} == {
        'place': {'string'},  # a name
        'near': {'array'},  # coordinates
        'position': {'array'},
        'map': {'string'},
        'id': {'string', 'array'},  # of one memory to look at, of several to forget
    }
    assert not {'room', 'where', 'map_id', 'ids', 'when'} & kinds.keys()


def test_look_shows_the_pictures_beside_what_was_said(served: ServedSite) -> None:
    memory = served.store.all()[0]
    text, image = call(served, 'look', 'look', id=memory.id).content
    assert memory.id in text.text
    assert quoted(memory.caption) in text.text
    assert image.mime_type == 'image/jpeg'
    shown = cv2.imdecode(np.frombuffer(base64.b64decode(image.data), np.uint8), cv2.IMREAD_COLOR)
    assert shown.shape[1] <= 1024
    missing = call(served, 'look', 'look', id='nobody')
    assert missing.is_error
    assert 'no memory' in missing.content[0].text


def test_a_picture_that_is_missing_is_said_and_the_rest_is_shown(served: ServedSite) -> None:
    memory = served.store.all()[0]
    (name,) = memory.keyframes
    (served.store.keyframes.folder / name[:2] / name).unlink()
    text, said = call(served, 'look', 'look', id=memory.id).content
    assert quoted(memory.caption) in text.text
    assert 'missing' in said.text


def test_what_a_camera_saw_stays_quoted(served: ServedSite) -> None:
    hostile = next(memory for memory in served.store.all() if memory.caption == HOSTILE)
    told = call(served, 'recall', 'look', position=[4.0, 1.0], limit=1).structured_content['memories'][0]
    assert (told['id'], told['caption']) == (hostile.id, quoted(HOSTILE))
    for text in (told['caption'], call(served, 'look', 'look', id=hostile.id).content[0].text):
        assert not set('<>{}\u202e') & set(text.replace(hostile.id, ''))
        assert 'system:' not in text


def test_a_day_and_the_whole_are_told(served: ServedSite) -> None:
    assert 'red mug' in str(call(served, 'day', 'look', day='2023-11-14').content[0].text)
    told = call(served, 'info', 'look').structured_content
    (area,) = told['maps']
    assert (told['memories'], area['memories'], area['low'], area['high']) == (3, 3, [0.0, 1.0], [4.0, 1.0])


def test_results_are_short_and_say_nothing_twice(served: ServedSite) -> None:
    at = Pose(1 / 3, 2 / 3, 0.0, 1.23456789)
    long = (
        f'{"The corridor has white walls. " * 20}A sign points to the canteen. {"The floor is grey. " * 20}'
    )
    seen = [Memory(f'k{i}', 'anna', T0 + i * NS, T0 + i * NS, long, at) for i in range(30)]
    served.store.add([Observation(memory, ()) for memory in seen])
    found = call(served, 'recall', 'look', text='canteen')
    best = found.structured_content['memories'][0]
    assert (best['position'], best['yaw'], best['score']) == (
        [0.33, 0.67, 0.0],
        1.235,
        round(best['score'], 2),
    )
    assert best['sureness'] in ('surely', 'likely', 'perhaps', 'hardly')
    assert best['caption'] == '"A sign points to the canteen. ..."'
    assert len(found.model_dump_json()) < 8_000
    answer = call(served, 'ask', 'ask', question='Have you seen a sign to the canteen?')
    told = answer.structured_content
    assert len(told['evidence']) == 20
    assert told['sureness'] in answer.content[0].text
    assert ' memories, of which 20 are shown' in answer.content[0].text
    assert len(answer.model_dump_json()) < 8_000


def test_a_question_is_answered_and_shown_on_the_page(served: ServedSite) -> None:
    told: list[str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(message or '')

    answer = talk(
        served,
        'ask',
        lambda client: client.call_tool(
            'ask', {'question': 'Where is the lift?'}, progress_callback=progress
        ),
    ).structured_content
    assert (answer['kind'], answer['position']) == ('position', [2.0, 1.0, 0.0])
    assert answer['evidence'][0]['caption'] == '"A lift with two doors."'
    (exchange,) = served.site.exchanges.all()
    assert exchange.question == 'Where is the lift?'
    assert 'mcp' in exchange.asker


def test_a_note_is_stored_and_what_is_forgotten_goes_with_its_picture(served: ServedSite) -> None:
    made = call(served, 'remember', text='the spare key', position=[1.0, 2.0]).structured_content['id']
    assert served.store.get([made])[0].pose.position == (1.0, 2.0, 0.0)
    doomed = next(memory for memory in served.store.all() if memory.keyframes)
    (name,) = doomed.keyframes
    foreseen = call(served, 'forget', id=[doomed.id, 'nobody'], dry_run=True).structured_content
    assert foreseen == {'forgotten': 0, 'found': 1, 'unknown': ['nobody']}
    assert served.store.get([doomed.id])
    assert call(served, 'forget', id=[doomed.id]).structured_content['forgotten'] == 1
    assert not served.store.get([doomed.id])
    assert not (served.store.keyframes.folder / name[:2] / name).exists()


def test_what_the_robot_did_is_an_event(served: ServedSite) -> None:
    told = {'kind': 'pick', 'object': 'mug', 'receptacle': 'table', 'place': 'kitchen', 'outcome': 'failed'}
    made = call(served, 'event', **told, end='2023-11-14T22:13:25Z', reason='too hot', position=[1.0, 2.0])
    spoken = call(served, 'event', text='opened the window', begin=str(T0 / NS))
    ids = [one.structured_content['id'] for one in (made, spoken)]
    picked, opened = served.store.get(ids)
    assert picked.caption == 'Failed to pick the mug from the table (kitchen): too hot'
    assert (picked.source, picked.robot, picked.pose.position) == ('agent', 'anna', (1.0, 2.0, 0.0))
    assert picked.start_ns == picked.end_ns == T0 + 5 * NS
    assert (opened.source, opened.facts['kind'], opened.start_ns) == ('agent', 'open', T0)
    for name, refused, said in (
        ('remember', {}, 'text is missing'),
        ('event', {}, "needs a kind, such as 'pick', or a text"),
        ('event', {'object': 'mug'}, 'needs a kind'),
    ):
        result = call(served, name, **refused)
        assert result.is_error
        assert said in result.content[0].text
    assert len(served.store.all()) == 5


def test_deeds_and_places_are_told_as_the_command_line_tells_them(served: ServedSite) -> None:
    call(served, 'event', kind='pick', object='mug', reason=HOSTILE, begin=str(T0 / NS), end=str(T0 / NS + 4))
    call(served, 'event', kind='dock', place='hall', begin=str(T0 / NS + 20), outcome='succeeded')
    hall = place('hall', center=(1 / 3, 0.0), radius=2.0, other_names=('lobby',), now_ns=T0)
    served.store.name_places([hall])
    found = call(served, 'deeds', 'look', kind='pick', limit=1)
    json = deeds_json(DeedsForm(kind='pick', limit=1).find(served.store))
    assert found.structured_content == brief(json)
    (picked,) = found.structured_content['deeds']
    names = ('kind', 'object', 'outcome', 'seconds', 'start')
    assert {name: picked[name] for name in names} == {name: json['deeds'][0][name] for name in names}
    assert (picked['seconds'], picked['reason'], 'facts' in picked) == (4.0, quoted(HOSTILE), False)
    assert found.content[0].text == f'{picked["start"]} to {picked["end"]}: {picked["caption"]}'
    counted = call(served, 'deeds', 'look', kind='juggle')
    assert counted.structured_content['deeds'] == []
    assert counted.structured_content['total'] == 0
    assert counted.content[0].text == 'nothing of that kind took place'
    known = call(served, 'places', 'look', place='lobby')
    assert known.structured_content == brief(places_json(PlacesForm(place='lobby').find(served.store)))
    (told,) = known.structured_content['places']
    assert (told['name'], told['other_names'], told['center']) == (
        'hall',
        [quoted('lobby')],
        [0.33, 0.0],
    )
    assert known.content[0].text == '"hall" around [0.33, 0.0]'
    assert call(served, 'places', 'look', position=[9, 9]).structured_content == {'places': []}
    missing = call(served, 'places', 'look', place='attic')
    assert missing.is_error
    assert 'attic' in missing.content[0].text


def test_memories_are_forgotten_by_what_they_are(served: ServedSite) -> None:
    about = {'text': 'LIFT', 'near': [2.0, 1.0], 'radius': 0.5}
    foreseen = call(served, 'forget', **about, dry_run=True).structured_content
    assert foreseen == {'forgotten': 0, 'found': 1, 'unknown': []}
    assert len(served.store.all()) == 3
    assert call(served, 'forget', **about).structured_content == {'forgotten': 1, 'found': 1, 'unknown': []}
    assert 'A lift with two doors.' not in {memory.caption for memory in served.store.all()}
    assert len(served.store.all()) == 2
    for nothing in ({}, {'id': []}, {'dry_run': True}):
        refused = call(served, 'forget', **nothing)
        assert refused.is_error
        assert 'nothing says what to forget' in refused.content[0].text
    assert len(served.store.all()) == 2


@pytest.mark.parametrize('text', ['[1, 2]', '{"x": 1, "y": 2}', '["spare", "key"]'])
def test_a_text_that_looks_like_a_list_stays_a_text(served: ServedSite, text: str) -> None:
    made = call(served, 'remember', text=text).structured_content['id']
    assert served.store.get([made])[0].caption == text


@pytest.mark.parametrize('yes', [True, False])
def test_the_robot_drives_once_a_person_has_said_yes(served: ServedSite, yes: bool) -> None:
    memory = served.store.all()[1]

    async def words(client: Client) -> Any:
        async def person() -> None:
            await anyio.to_thread.run_sync(served.backend.proposed.wait)
            assert served.backend.driven == []
            served.backend.confirm(yes, '')

        async with anyio.create_task_group() as group:
            group.start_soon(person)
            return await client.call_tool('go_to', {'memory_id': memory.id})

    result = talk(served, 'act', words)
    if yes:
        assert result.structured_content == {'stage': 'arrived', 'position': [2.0, 1.0, 0.0]}
        ((target, asker),) = served.backend.driven
        assert target == memory
        assert 'act token' in asker
    else:
        assert result.is_error
        assert 'refused' in result.content[0].text
        assert served.backend.driven == []


def test_an_agent_that_goes_away_leaves_no_drive_behind(served: ServedSite) -> None:
    async def words(client: Client) -> None:
        with anyio.move_on_after(30.0):
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, 'go_to', {'position': [1.0, 1.0]})
                await anyio.to_thread.run_sync(served.backend.proposed.wait)
                group.cancel_scope.cancel()
        while not served.site.drives.current.is_over:
            await anyio.lowlevel.checkpoint()

    talk(served, 'act', words)
    assert served.backend.driven == []


def test_the_map_is_a_resource(served: ServedSite) -> None:
    async def words(client: Client) -> Any:
        assert [str(each.uri) for each in (await client.list_resources()).resources] == ['memory://map']
        with pytest.raises(Exception, match=r'Unknown resource|not exist'):
            await client.read_resource('memory://../m.db')
        return (await client.read_resource('memory://map')).contents[0]

    assert base64.b64decode(talk(served, 'look', words).blob).startswith(b'\x89PNG')


def test_the_previous_protocol_version_is_spoken_too(served: ServedSite) -> None:
    async def words(client: Client) -> Any:
        assert client.protocol_version == '2025-11-25'
        assert len((await client.list_tools()).tools) == len(LOOKING)
        return await client.call_tool('recall', {'text': 'lift', 'limit': 1})

    found = talk(served, 'look', words, mode='legacy').structured_content
    assert found['memories'][0]['caption'] == '"A lift with two doors."'


def test_ten_megabytes_are_refused(served: ServedSite) -> None:
    asked = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/list', 'params': {'x': 'x' * 10_000_000}}
    headers = {'Authorization': f'Bearer {TOKENS["act"]}', 'Accept': 'application/json, text/event-stream'}
    try:
        answer = httpx2.post(served.url, json=asked, headers=headers)
    except httpx2.WriteError:
        return  # it hung up at once
    assert answer.status_code == 413


def test_a_memory_that_is_out_of_reach_is_said(served: ServedSite) -> None:
    served.store.close()
    result = call(served, 'recall', 'look', text='lift')
    assert result.is_error
    assert 'closed' in result.content[0].text


def test_the_process_logs_where_it_did_before(served: ServedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, 'handlers', [])
    build_server(served.site, Right.LOOK)
    assert root.handlers == []


def test_objects_are_found_by_what_they_are_on_and_are_quoted(served: ServedSite) -> None:
    named = thing('cup', (5.0, 5.0, 0.0), (0.1, 0.1, 0.1), id='named', named=HOSTILE[:60])
    served.store.add([Observation(one.memory) for one in (*ROOM, named)])
    found = call(served, 'objects', 'look', relation='on', anchor='table').structured_content
    names = {one['name']: one['relations'] for one in found['objects']}
    assert set(names) == {'"red cup"', '"green book"'}
    assert 'on "table"' in names['"red cup"']
    assert found['total'] == 2
    one = call(served, 'objects', 'look', called='cup', position=[5.0, 5.0], limit=1)
    [told] = one.structured_content['objects']
    assert (told['id'], told['name'], told['presence']) == ('named', quoted(HOSTILE[:60]), 'present')
    assert told['position'] == [5.0, 5.0, 0.05]
    assert one.content[0].text.startswith(
        f'named: {quoted(HOSTILE[:60])} at [5.0, 5.0, 0.05], seen last 2023'
    )
    elsewhere = call(served, 'objects', 'look', robot='nobody', map='cellar').structured_content
    assert elsewhere == {'objects': [], 'total': 0}
    nothing = call(served, 'objects', 'look', called='cup', changed_since=str(T0 / NS + 1e6))
    assert nothing.structured_content == {'objects': [], 'total': 0}
    assert nothing.content[0].text == 'no such object is known'


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ({'relation': 'on'}, 'goes with the object'),
        ({'relation': 'above', 'anchor': 'table'}, 'relation'),
        ({'class': 'cup'}, "objects has no argument 'class': it is called called"),
        ({'limit': 51}, 'limit is 51: it has to be at most 50'),
    ],
)
def test_a_question_for_objects_that_makes_no_sense_is_refused(
    served: ServedSite, arguments: dict[str, Any], said: str
) -> None:
    result = call(served, 'objects', 'look', **arguments)
    assert result.is_error
    assert said in result.content[0].text
