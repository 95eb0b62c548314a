import gc
import weakref

from remembr_ros.web.api import event_forms
from remembr_ros.web.exchanges import Exchanges
from test.unit.web.fake_backend import FakeBackend, eventually


def test_a_forgotten_answer_is_in_no_cache() -> None:
    told: list[str] = []
    backend = FakeBackend()
    exchanges = Exchanges(backend, lambda one: told.append(event_forms.exchange_json(one)['stage']))
    exchanges.begin('Where?', asker='somebody', conversation='')
    eventually(lambda: told[-1:] == ['answered'])
    (answered,) = exchanges.all()
    assert event_forms.exchange_json(answered) is event_forms.exchange_json(answered)
    assert answered.answer is not None
    answer = weakref.ref(answered)
    exchanges.forget({hit.memory.id for hit in answered.answer.evidence})
    del answered
    gc.collect()
    assert answer() is None
