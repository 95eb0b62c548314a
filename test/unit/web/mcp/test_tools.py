"""Calls as language models make them: every one is answered, or refused in words that say what to do."""

from typing import Any

import pytest

from remembr_ros.forms.events import EventForm
from remembr_ros.forms.form import read
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.places.place import place
from remembr_ros.timestamps import NS
from test.object_room import ROOM
from test.unit.web.mcp.conftest import T0, ServedSite
from test.unit.web.mcp.test_server import talk

ANSWERED: list[tuple[str, dict[str, Any], str]] = [
    ('recall', {'text': 'lift', 'limit': '2', 'position': None, 'around': None}, 'A lift'),
    ('recall', {'position': '2.0, 1.0', 'radius': '0.5'}, 'A lift'),
    ('recall', {'position': {'x': 2.0, 'y': 1.0}, 'radius': 0.5, 'robot': 'anna'}, 'A lift'),
    ('recall', {'near': [2, 1, 0], 'radius': 0.5, 'robot': ['anna']}, 'A lift'),
    ('recall', {'near': '[2, 1]', 'radius': 1, 'robot': '["anna"]', 'source': 'captioner'}, 'A lift'),
    ('recall', {'place': 'hall', 'limit': 1.0}, 'A lift'),
    ('recall', {'time': 1_700_000_011, 'around': 'true', 'limit': 1}, 'A lift'),
    ('recall', {'after': '', 'before': 'null', 'text': 'lift'}, 'A lift'),
    ('objects', {'called': 'red cup', 'missing': False, 'order': 'last_seen'}, 'red cup'),
    ('objects', {'relation': 'On', 'anchor': 'table', 'limit': 5}, 'red cup'),
    ('deeds', {'kind': 'pick', 'outcome': 'failed'}, 'Failed to pick the mug'),
    ('deeds', {'after': 'opened', 'right': True}, 'Failed to pick the mug'),
    ('deeds', {'object': 'mug', 'outcome': ['failed', 'cancelled'], 'order': 'LATEST'}, 'too hot'),
    ('deeds', {'place': 'kitchen', 'after': '2023-11-14T22:13:00Z', 'nth': '-1'}, 'Failed to pick'),
    ('deeds', {'kind': 'dance'}, 'nothing of that kind took place'),
    ('places', {}, 'hall'),
    ('places', {'position': [2, 1], 'map': None}, 'hall'),
    ('day', {'day': '2023-11-14', 'place': None}, 'red mug'),
    ('ask', {'question': 'Where is the lift?', 'conversation': None, 'robot': 'anna'}, '2.0'),
    ('forget', {'text': 'mug', 'dry_run': 'true'}, 'found'),
]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        'recall',
        {'place': [2, 1]},
        'place is (2, 1): it has to be the name of a room or place',
    ),
    ('recall', {'place': '2, 1'}, 'coordinates are a position, or near with a radius'),
    (
        'recall',
        {'position': 'hall'},
        "position is 'hall': it has to be coordinates x, y and maybe z",
    ),
    ('recall', {'place': 'attic'}, "there is no place called 'attic'; there are: hall"),
    ('recall', {'room': 'hall'}, "recall has no argument 'room': it is called place"),
    ('recall', {'limit': 'ten'}, "limit is 'ten': it has to be a whole number"),
    ('recall', {'limit': 500}, 'limit is 500: it has to be at most 50'),
    ('recall', {'radius': 3}, 'a radius needs near, a position around which it is'),
    ('recall', {'after': 'yesterday'}, "after is 'yesterday': 'yesterday' is not a time; give ISO 8601"),
    ('recall', {'map_id': 'floor1'}, "recall has no argument 'map_id': it is called map"),
    (
        'objects',
        {'relation': 'above', 'anchor': 'table'},
        "relation is 'above': it has to be one of 'on'",
    ),
    ('objects', {'class': 'cup'}, "objects has no argument 'class': it is called called"),
    ('deeds', {'outcome': 'well'}, "outcome.0 is 'well': it has to be one of 'succeeded'"),
    ('deeds', {'after': 'played the piano'}, "there is no such deed as 'played the piano'"),
    ('deeds', {'order': 'nearest'}, 'nearest needs a place to start from'),
    ('places', {'place': 'attic'}, "there is no place called 'attic'; there are: hall"),
    ('day', {'day': 'banana'}, "'banana' is not a time"),
    ('look', {}, 'id is missing'),
    ('ask', {'question': 'Where?', 'map': 'attic'}, "there is no memory of a map 'attic'; there are: ''"),
    ('remember', {'text': 'x', 'position': [1]}, 'position is (1): it has to be coordinates'),
    ('event', {'object': 'mug'}, 'a deed needs a kind'),
    ('forget', {'dry_run': True}, 'nothing says what to forget'),
    ('go_to', {'position': [1, 1], 'memory_id': 'x'}, 'give either a memory_id or a position'),
]


@pytest.fixture
def filled(served: ServedSite) -> ServedSite:
    """Things, two deeds and a place besides what was seen."""
    told = [
        {'kind': 'open', 'object': 'fridge', 'begin': T0 / NS + 1, 'end': T0 / NS + 2},
        {'kind': 'pick', 'object': 'mug', 'place': 'kitchen', 'begin': T0 / NS + 5, 'outcome': 'failed'},
    ]
    told[1]['reason'] = 'too hot'
    deeds = [read(EventForm, one).deed().memory('anna') for one in told]
    served.store.add([*map(Observation, deeds), *(Observation(one.memory) for one in ROOM)])
    served.store.name_places([place('hall', center=(2.0, 1.0), radius=1.0, now_ns=T0)])
    return served


@pytest.mark.parametrize(('name', 'arguments', 'said'), ANSWERED)
def test_what_can_be_meant_in_one_way_is_understood(
    filled: ServedSite, name: str, arguments: dict[str, Any], said: str
) -> None:
    result = talk(filled, 'act', lambda client: client.call_tool(name, arguments))
    assert not result.is_error, result.content[0].text
    assert said in str(result.content) + str(result.structured_content)


@pytest.mark.parametrize(('name', 'arguments', 'said'), REFUSED)
def test_the_rest_is_refused_with_the_right_word(
    filled: ServedSite, name: str, arguments: dict[str, Any], said: str
) -> None:
    result = talk(filled, 'act', lambda client: client.call_tool(name, arguments))
    text = result.content[0].text
    assert result.is_error
    assert said in text
    assert not any(dump in text for dump in ('validation error', 'pydantic', 'Traceback', 'type=', '\n'))
