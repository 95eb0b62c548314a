import threading

import pytest

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import BudgetExceeded, InvalidRequest, StoreUnavailable
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING, Hit
from remembr_ros.web.exchanges import (
    FORGOTTEN,
    MOST_KEPT,
    MOST_UNDER_WAY,
    MOST_WAITING,
    Exchange,
    Exchanges,
    TooManyQuestions,
)
from test.unit.memory.recall_contract import DRIVE
from test.unit.web.fake_backend import FakeBackend, eventually
from test.unit.web.seen import outlined


@pytest.fixture
def told() -> list[Exchange]:
    return []


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def exchanges(backend: FakeBackend, told: list[Exchange]) -> Exchanges:
    return Exchanges(backend, told.append)


def ended(exchanges: Exchanges, exchange_id: str) -> Exchange:
    eventually(lambda: (one := exchanges.get(exchange_id)) is not None and one.is_over)
    found = exchanges.get(exchange_id)
    assert found is not None
    return found


def test_a_question_is_answered_and_its_progress_told(
    exchanges: Exchanges, backend: FakeBackend, told: list[Exchange]
) -> None:
    begun = exchanges.begin('Where?', asker='local', conversation='page 1')
    over = ended(exchanges, begun.id)
    assert over.answer is not None
    assert over.answer.text == 'Near the wall.'
    assert [one.stage for one in told] == ['waiting', 'recalling', 'answered']
    assert {(one.id, one.question, one.asker, one.own) for one in told} == {
        (begun.id, 'Where?', 'local', True)
    }
    assert backend.asked == [('Where?', 'page 1')]


def test_an_answer_that_rests_on_what_was_forgotten_meanwhile_is_not_shown(
    exchanges: Exchanges, backend: FakeBackend, told: list[Exchange], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, 'get', lambda ids: [])
    over = ended(exchanges, exchanges.begin('Where?', asker='local', conversation='').id)
    assert (over.stage, over.error, over.answer) == ('failed', FORGOTTEN, None)
    assert not any(one.answer for one in told)


def test_what_others_were_answered_goes_where_it_was_forgotten_meanwhile(
    exchanges: Exchanges, backend: FakeBackend
) -> None:
    hit = Hit(backend.memories[0], 0.9)
    exchanges.heard(
        'Where?', 'topic question', Answer(Kind.TEXT, 'Near the wall.', 'offline', evidence=(hit,))
    )
    del backend.memories[0]
    exchanges.heard(
        'And now?', 'topic question', Answer(Kind.TEXT, 'Still there.', 'offline', evidence=(hit,))
    )
    eventually(lambda: [one.error for one in exchanges.all()] == [FORGOTTEN, FORGOTTEN])


def test_why_there_is_no_answer_is_told(
    exchanges: Exchanges, backend: FakeBackend, caplog: pytest.LogCaptureFixture
) -> None:
    backend.broken = BudgetExceeded('no answer within the time allowed')
    over = ended(exchanges, exchanges.begin('Where?', asker='local', conversation='').id)
    assert (over.stage, over.error) == ('failed', 'no answer within the time allowed')
    backend.broken = ZeroDivisionError('secret')
    over = ended(exchanges, exchanges.begin('Where?', asker='local', conversation='').id)
    assert over.stage == 'failed'
    assert 'secret' not in over.error
    assert 'ZeroDivisionError' in caplog.text


def test_a_few_are_answered_at_a_time_a_few_wait_and_more_are_refused(
    exchanges: Exchanges, backend: FakeBackend
) -> None:
    backend.answers.clear()
    most = MOST_UNDER_WAY + MOST_WAITING
    begun = [exchanges.begin(f'{number}', asker='', conversation='').id for number in range(most)]
    with pytest.raises(TooManyQuestions, match='ask again'):
        exchanges.begin('one more', asker='', conversation='')
    eventually(lambda: len(backend.asked) == MOST_UNDER_WAY)
    cancelled = exchanges.cancel(begun[-1])  # it waits
    assert cancelled.stage == 'cancelled'
    assert exchanges.cancel(begun[0]).stage == 'cancelled'  # it is being answered
    eventually(lambda: len(backend.asked) == MOST_UNDER_WAY + 1)
    backend.answers.set()
    assert {ended(exchanges, one).stage for one in begun[1:-1]} == {'answered'}
    assert str(most - 1) not in {question for question, _ in backend.asked}


def test_what_is_over_or_unknown_cannot_be_cancelled(exchanges: Exchanges) -> None:
    over = ended(exchanges, exchanges.begin('Where?', asker='', conversation='').id)
    with pytest.raises(InvalidRequest, match='over'):
        exchanges.cancel(over.id)
    assert exchanges.get(over.id) == over
    with pytest.raises(KeyError):
        exchanges.cancel('unknown')


def test_an_answer_that_comes_after_the_cancelling_changes_nothing(backend: FakeBackend) -> None:
    entered, told = threading.Event(), list[Exchange]()

    def changed(exchange: Exchange) -> None:
        told.append(exchange)
        if exchange.stage == 'recalling':
            exchanges.cancel(exchange.id)
            entered.set()

    exchanges = Exchanges(backend, changed)
    begun = exchanges.begin('Where?', asker='', conversation='')
    assert entered.wait(20.0)
    exchanges.begin('And?', asker='', conversation='')
    eventually(lambda: told[-1].is_over and told[-1].question == 'And?' and exchanges._running == 0)
    found = exchanges.get(begun.id)
    assert found is not None
    assert (found.stage, found.answer) == ('cancelled', None)


def test_what_others_asked_is_kept_and_the_oldest_go(exchanges: Exchanges, backend: FakeBackend) -> None:
    backend.answers.clear()
    open_one = exchanges.begin('It takes long.', asker='', conversation='')
    answer = Answer(Kind.TEXT, 'Yes.', 'offline')
    for number in range(MOST_KEPT + 20):
        exchanges.heard(f'{number}', 'topic question', answer)
    kept = exchanges.all()
    assert len(kept) == MOST_KEPT
    assert kept[0].id == open_one.id
    assert [one.question for one in kept[1:]] == [str(number) for number in range(21, MOST_KEPT + 20)]
    assert not kept[-1].own
    exchanges.close()
    assert ended(exchanges, open_one.id).stage == 'cancelled'


@pytest.fixture
def heard(backend: FakeBackend) -> Exchanges:
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


def answered(heard: Exchanges) -> int:
    return sum(one.answer is not None for one in heard.all())


def test_answers_stay_while_their_memories_do(heard: Exchanges, backend: FakeBackend, whole: Outline) -> None:
    heard.drop_gone(whole)
    heard.drop_gone(outlined(DRIVE[1:]))  # read before it was stored
    assert answered(heard) == 2


def test_answers_go_with_what_they_rest_on(heard: Exchanges, backend: FakeBackend) -> None:
    del backend.memories[0]
    heard.drop_gone(outlined(backend.memories))
    assert answered(heard) == 0
    assert {one.error for one in heard.all()} == {'what this answer rested on was forgotten meanwhile'}
    assert not any(one.cited for one in heard.all())


def test_answers_go_where_nobody_can_tell_any_more(heard: Exchanges, backend: FakeBackend) -> None:
    backend.broken = StoreUnavailable('away')
    heard.drop_gone(outlined(()))
    assert answered(heard) == 0
