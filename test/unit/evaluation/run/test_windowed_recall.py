import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.run.windowed_recall import WindowedRecall
from remembr_ros.memory.milvus.filters import expression
from remembr_ros.memory.model.recall import ANYTHING, Scope


class Recall:
    """Records the scopes that it was asked for; refuses those that the store refuses."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []

    def by_text(self, text, scope=ANYTHING, limit=5):
        expression(scope)
        self.scopes.append(scope)
        return []

    def by_position(self, position, scope=ANYTHING, limit=5):
        return self.by_text('', scope)

    by_time = by_position

    def newest(self, scope=ANYTHING, limit=5):
        return self.by_text('', scope)

    def count(self, scope=ANYTHING):
        self.by_text('', scope)
        return 7


def ask_everything(recall, scope=ANYTHING):
    recall.by_text('mug', scope)
    recall.by_position((0.0, 0.0, 0.0), scope)
    recall.by_time(150, scope)
    recall.newest(scope)
    return recall.count(scope)


@pytest.mark.parametrize(
    ('asked', 'seen'),
    [
        (ANYTHING, Scope(100, 200, map_id='m')),
        (Scope(50, 300), Scope(100, 200, map_id='m')),
        (Scope(after_ns=150), Scope(150, 200, map_id='m')),
        (Scope(before_ns=150, robots=('r',)), Scope(100, 150, robots=('r',), map_id='m')),
        (Scope(map_id='m', near=(0.0, 0.0, 0.0), radius_m=1.0), None),
    ],
)
def test_every_recall_is_clipped_to_the_window(asked, seen):
    inner = Recall()
    assert ask_everything(WindowedRecall(inner, Scope(100, 200, map_id='m')), asked) == 7
    if seen is None:
        seen = Scope(100, 200, asked.near, asked.radius_m, map_id='m')
    assert inner.scopes == [seen] * 5


@pytest.mark.parametrize('asked', [Scope(after_ns=201), Scope(before_ns=99), Scope(map_id='other')])
def test_outside_the_window_there_is_nothing(asked):
    inner = Recall()
    recall = WindowedRecall(inner, Scope(100, 200, map_id='m'))
    assert ask_everything(recall, asked) == 0
    assert recall.by_text('mug', asked) == []
    assert inner.scopes == []


def test_an_empty_window_that_is_asked_for_stays_a_mistake():
    with pytest.raises(InvalidRequest, match='empty'):
        WindowedRecall(Recall(), Scope(100, 200)).by_text('mug', Scope(180, 120))


def test_an_open_window_changes_nothing():
    inner = Recall()
    ask_everything(WindowedRecall(inner, ANYTHING), Scope(after_ns=3, map_id='x'))
    assert inner.scopes == [Scope(after_ns=3, map_id='x')] * 5
