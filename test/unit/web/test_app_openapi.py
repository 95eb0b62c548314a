"""The description of the API that others use."""

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from remembr_ros.web.api import acting, asking, drawing, event_stream, looking

DOCUMENTED = {
    'GET /api/info', 'GET /api/recall', 'GET /api/memories/{memory_id}', 'DELETE /api/memories/{memory_id}',
    'GET /api/memories/{memory_id}/forgetting', 'POST /api/notes', 'GET /api/cells', 'GET /api/track',
    'GET /api/activity', 'GET /api/day', 'GET /api/pictures/{name}', 'GET /api/map', 'GET /api/map.png',
    'GET /api/state', 'GET /api/situation', 'GET /api/exchanges', 'DELETE /api/exchanges/{exchange_id}',
    'POST /api/ask', 'POST /api/speech', 'POST /api/go', 'POST /api/confirm', 'POST /api/stop',
    'GET /api/events', 'POST /api/events', 'POST /api/login', 'POST /api/logout',
    'GET /api/places',
    'GET /api/places/found',
    'POST /api/places',
    'GET /api/deeds',
    'POST /api/forget',
    'GET /api/objects', 'GET /api/objects/{object_id}', 'POST /api/objects/{object_id}',
}  # fmt: skip


@pytest.fixture
def description(app: FastAPI) -> dict[str, Any]:
    return app.openapi()


def operations(description: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f'{method.upper()} {path}': operation
        for path, methods in description['paths'].items()
        for method, operation in methods.items()
    }


def test_every_route_is_described(app: FastAPI, description: dict[str, Any]) -> None:
    assert set(operations(description)) == DOCUMENTED
    for module in (acting, asking, drawing, event_stream, looking):
        for route in module.routes.routes:
            assert isinstance(route, APIRoute)
            assert route.include_in_schema
            assert {f'{method} {route.path}' for method in route.methods} <= DOCUMENTED


def test_every_described_route_is_there(client: TestClient) -> None:
    assert set(operations(client.get('/api/openapi.json').json())) == DOCUMENTED
    for name in DOCUMENTED - {'GET /api/events'}:  # which would not end
        method, path = name.split(' ')
        answer = client.request(method, path.format(memory_id='x', object_id='x', exchange_id='x', name='x'))
        assert answer.status_code != 405, name
        assert answer.status_code != 404 or answer.json() != {'error': 'Not Found'}, name
    assert client.get('/api/nothing').json() == {'error': 'Not Found'}
    assert client.put('/api/info').status_code == 405


def test_what_is_asked_and_answered_is_described(description: dict[str, Any]) -> None:
    schemas = description['components']['schemas']
    for name, operation in operations(description).items():
        assert operation['description'].strip(), name
        assert operation['responses']['default']['content']['application/json']['schema'] == {
            '$ref': '#/components/schemas/ErrorJson'
        }, name
        assert '422' not in operation['responses'], name
        for parameter in operation.get('parameters', ()):
            assert parameter['description'], (name, parameter['name'])
            assert bounded(parameter['schema'], schemas), (name, parameter)
    for name, schema in schemas.items():
        assert schema.get('description') or schema.get('enum'), name
    assert not {'HTTPValidationError', 'ValidationError'} & set(schemas)


def bounded(schema: dict[str, Any], schemas: dict[str, Any]) -> bool:
    """Tell whether a parameter can be as long or as large as it likes."""
    if '$ref' in schema:
        return bounded(schemas[schema['$ref'].rpartition('/')[2]], schemas)
    if 'anyOf' in schema:
        return all(bounded(one, schemas) for one in schema['anyOf'])
    if schema.get('type') in ('boolean', 'null') or 'enum' in schema:
        return True
    bounds = {'string': ('maxLength',), 'array': ('maxItems',)}.get(schema['type'], ('maximum', 'minimum'))
    return all(bound in schema or f'exclusive{bound.capitalize()}' in schema for bound in bounds)
