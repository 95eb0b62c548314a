"""Servers that tests share, for they only look."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from test.unit.web.door.small_site import Site, served


@pytest.fixture(scope='module')
def open_site() -> Iterator[Site]:
    """Asks for no tokens."""
    with served() as site:
        yield site


@pytest.fixture(scope='module')
def closed_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Asks for tokens; also called robot.example."""
    token_file: Path = tmp_path_factory.mktemp('tokens') / 'tokens'
    with served(token_file, names=('robot.example',)) as site:
        yield site
