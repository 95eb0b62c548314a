import socket
import time

import pytest

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.server.connection import Connection
from remembr_ros.memory.server.link import Link
from test.patience import patiently


def ask(link: Link) -> None:
    with link.client() as client:
        client.list_collections()


def test_a_server_that_is_away_is_told_at_once() -> None:
    with socket.socket() as taken:  # a port at which nobody listens
        taken.bind(('127.0.0.1', 0))
        link = Link(Connection(f'http://127.0.0.1:{taken.getsockname()[1]}'))
        started = time.monotonic()
        for _ in range(50):
            with pytest.raises(StoreUnavailable, match=r'127\.0\.0\.1.* cannot be reached: start the server'):
                ask(link)
        assert time.monotonic() - started < patiently(5.0)
    assert 'cannot be reached' in link.problem
    link.close()


def test_while_a_server_does_not_answer_one_asks_and_the_others_fail() -> None:
    with socket.socket() as silent:
        silent.bind(('127.0.0.1', 0))
        silent.listen()
        link = Link(Connection(f'http://127.0.0.1:{silent.getsockname()[1]}'))
        with pytest.raises(StoreUnavailable):
            ask(link)
        took = []
        for _ in range(20):
            started = time.monotonic()
            with pytest.raises(StoreUnavailable):
                ask(link)
            took.append(time.monotonic() - started)
        assert sorted(took)[-2] < 1.0
        link.close()
