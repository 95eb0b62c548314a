import threading
from collections.abc import Callable

import numpy as np
import pytest

from remembr_ros.embedding.behind import EmbedderBehind
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import EmbedderLoading, EmbedderUnavailable, StoreUnavailable


def ended(behind: EmbedderBehind) -> None:
    done = threading.Event()
    behind.then(done.set)
    assert done.wait(10.0)


def test_it_says_that_it_is_being_loaded_and_is_the_embedder_from_then_on() -> None:
    released, told = threading.Event(), threading.Event()

    def load() -> Embedder:
        assert released.wait(10.0)
        return HashingEmbedder(8)

    behind = EmbedderBehind('hashing-8', 8, load)
    behind.then(told.set)
    assert isinstance(behind, Embedder)
    assert (behind.name, behind.dimension, behind.loading) == ('hashing-8', 8, True)
    for ask in (lambda: behind.embed(['a door']), lambda: behind.embed_query('a door')):
        with pytest.raises(EmbedderLoading, match=r'hashing-8 is being loaded.*ask again'):
            ask()
    assert not told.is_set()
    released.set()
    assert told.wait(10.0)
    ended(behind)  # and whoever asks late is told, too
    assert (behind.loading, behind.problem) == (False, '')
    np.testing.assert_array_equal(behind.embed(['a door']), HashingEmbedder(8).embed(['a door']))
    np.testing.assert_array_equal(behind.embed_query('door'), HashingEmbedder(8).embed_query('door'))


def refused() -> Embedder:
    raise EmbedderUnavailable('the weights are damaged')


def broken() -> Embedder:
    raise ZeroDivisionError('of a library')


@pytest.mark.parametrize(
    ('load', 'why'),
    [
        (refused, 'the weights are damaged'),
        (broken, "cannot load the embedder 'm': ZeroDivisionError: of a library"),
        (lambda: HashingEmbedder(16), 'makes vectors of 16 numbers, but its files say 8'),
    ],
)
def test_one_that_cannot_be_loaded_says_why_each_time(load: Callable[[], Embedder], why: str) -> None:
    behind = EmbedderBehind('m', 8, load)
    ended(behind)
    assert not behind.loading
    assert why in behind.problem
    for _ in range(2):
        with pytest.raises(EmbedderUnavailable, match=why):
            behind.embed(['a door'])


def test_what_waits_for_the_store_waits_for_the_embedder() -> None:
    """Such as the spool of a server that is away."""
    assert issubclass(EmbedderLoading, StoreUnavailable)
