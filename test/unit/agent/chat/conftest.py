"""A chat server by script, for the tests of the clients."""

from collections.abc import Iterator

import pytest

from test.scripted.server import ScriptedServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    for name in ('OPENAI_API_KEY', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)
    with ScriptedServer() as made:
        yield made
