"""A site over a backend in lists, as a browser on the same machine asks it."""

from collections.abc import Iterator

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from remembr_ros.images import encode_jpeg
from remembr_ros.web.app import build_app
from remembr_ros.web.door.access import Access
from remembr_ros.web.door.door import Door
from remembr_ros.web.door.guard import Guard
from remembr_ros.web.door.serving import WebServer
from remembr_ros.web.site import Site
from test.unit.web.fake_backend import FakeBackend, eventually

PICTURE = encode_jpeg(np.full((480, 640, 3), 90, np.uint8))


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def app(backend: FakeBackend) -> FastAPI:
    return build_app(backend, Access(), zone='Europe/Berlin')


@pytest.fixture
def site(app: FastAPI) -> Site:
    site: Site = app.state.site
    return site


@pytest.fixture
def client(app: FastAPI, site: Site) -> Iterator[TestClient]:
    """Ask as a page of this machine does, once the memories were read."""
    here = {'base_url': 'http://127.0.0.1:8765', 'client': ('127.0.0.1', 50_000)}
    with TestClient(Guard(app, Access()), **here) as asking:  # type: ignore[arg-type]
        eventually(lambda: not site.following.contents.reading or bool(site.following.contents.problem))
        yield asking


@pytest.fixture
def server(app: FastAPI) -> Iterator[WebServer]:
    served = WebServer(Door(port=0), Access())
    served.start(app)
    yield served
    served.stop()
