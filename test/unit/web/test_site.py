import threading

import pytest

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING
from remembr_ros.web.exchanges import Exchange, Exchanges
from remembr_ros.web.following import News
from remembr_ros.web.live import Event
from remembr_ros.web.site import drop_gone, make_site, merged
from test.unit.memory.recall_contract import DRIVE
from test.unit.web.fake_backend import FakeBackend
from test.unit.web.seen import outlined


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def exchanges(backend: FakeBackend) -> Exchanges:
    """Two answers that rest on the first memory."""
    told: list[Exchange] = []
    found = Exchanges(backend, told.append)
    for question in ('Where?', 'When?'):
        answer = backend.ask(
            question, asker='', scope=ANYTHING, on_progress=lambda _: None, cancel=threading.Event()
        )
        found.heard(question, 'topic question', answer)
    return found


@pytest.fixture
def whole() -> Outline:
    return outlined(DRIVE)


def answered(exchanges: Exchanges) -> int:
    return sum(one.answer is not None for one in exchanges.all())


def test_answers_stay_while_their_memories_do(
    exchanges: Exchanges, backend: FakeBackend, whole: Outline
) -> None:
    drop_gone(exchanges, whole, backend)
    drop_gone(exchanges, outlined(DRIVE[1:]), backend)  # read before it was stored
    assert answered(exchanges) == 2


def test_answers_go_with_what_they_rest_on(exchanges: Exchanges, backend: FakeBackend) -> None:
    del backend.memories[0]
    drop_gone(exchanges, outlined(backend.memories), backend)
    assert answered(exchanges) == 0
    assert {one.error for one in exchanges.all()} == {'what this answer rested on was forgotten meanwhile'}
    assert exchanges.cited() == set()


def test_answers_go_where_nobody_can_tell_any_more(exchanges: Exchanges, backend: FakeBackend) -> None:
    backend.broken = StoreUnavailable('away')
    drop_gone(exchanges, outlined(()), backend)
    assert answered(exchanges) == 0


def test_of_memories_that_a_page_missed_it_learns_that_it_did() -> None:
    first, second = (News(version, 14 + version, (DRIVE[0],), False) for version in (1, 2))
    found = merged(Event('memories', first), Event('memories', second)).about
    assert found == News(2, 16, (), True)
    assert merged(Event('map'), Event('map', 1)) == Event('map', 1)


def test_a_site_knows_its_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_site(FakeBackend(), zone='Asia/Tokyo').zone_name == 'Asia/Tokyo'
    monkeypatch.setenv('TZ', 'Europe/Berlin')
    assert make_site(FakeBackend()).zone_name == 'Europe/Berlin'
    monkeypatch.setenv('TZ', 'CET-1CEST')
    assert not make_site(FakeBackend()).zone_name
