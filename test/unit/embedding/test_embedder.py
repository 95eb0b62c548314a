"""The vector of a text that comes again is not made again."""

import gc
import threading
import tracemalloc

import numpy as np
import pytest

from remembr_ros.embedding import embedder
from remembr_ros.embedding.embedder import RememberedEmbedder
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import EmbedderLoading


class Counting(HashingEmbedder):
    """Keeps what it was asked for, and fails where it is to."""

    def __init__(self) -> None:
        super().__init__(64)
        self.texts: list[str] = []
        self.fails = False

    def embed(self, texts):
        if self.fails:
            raise EmbedderLoading('it is being loaded')
        self.texts += texts
        return super().embed(texts)


def room_for(texts: int) -> int:
    """Return the bytes of so many vectors of a Counting."""
    return texts * (4 * 64 + embedder._ENTRY_BYTES)


def test_a_text_is_embedded_once_within_a_call_and_over_calls():
    counting = Counting()
    embedder = RememberedEmbedder(counting)
    texts = ['a', 'b', 'a', 'lone \ud800 surrogate', '']
    first = embedder.embed(texts)
    second = embedder.embed(['', 'c', 'a'])
    assert counting.texts == ['a', 'b', 'lone \ud800 surrogate', '', 'c']
    np.testing.assert_array_equal(first, HashingEmbedder(64).embed(texts))
    np.testing.assert_array_equal(second[[0, 2]], first[[4, 0]])
    np.testing.assert_array_equal(embedder.embed_query('a'), first[0])


def test_what_came_last_is_kept_within_the_room_that_there_is():
    counting = Counting()
    embedder = RememberedEmbedder(counting, room_for(3))
    for text in ('a', 'b', 'c', 'a', 'd', 'a', 'b'):
        embedder.embed([text])
    assert counting.texts == ['a', 'b', 'c', 'd', 'b'], 'a was used again and again'
    more = [str(number) for number in range(100)]
    np.testing.assert_array_equal(embedder.embed(more), HashingEmbedder(64).embed(more))
    assert len(embedder._vectors) == 3
    RememberedEmbedder(counting, 0).embed(['a'])


def test_the_room_is_that_of_all_that_is_kept():
    embedder = RememberedEmbedder(HashingEmbedder(384), 2**20)
    embedder.embed(['what the hashing embedder keeps for itself'])
    gc.collect()
    tracemalloc.start()
    try:
        for first in range(0, 2_000, 50):
            embedder.embed([f'{number} words' for number in range(first, first + 50)])
        gc.collect()
        assert 0.8 * 2**20 < tracemalloc.get_traced_memory()[0] < 1.1 * 2**20
    finally:
        tracemalloc.stop()


def test_vectors_given_may_be_changed():
    embedder = RememberedEmbedder(Counting())
    expected = HashingEmbedder(64).embed(['a'])
    for _ in range(2):
        given = embedder.embed(['a', 'a'])
        given[0] = 7.0
        np.testing.assert_array_equal(given[1:], expected)
    np.testing.assert_array_equal(embedder.embed(['a']), expected)


def test_no_text_is_kept():
    embedder = RememberedEmbedder(Counting())
    embedder.embed(['the code of the door is 4711'])
    assert [len(key) for key in embedder._vectors] == [16]
    assert all(isinstance(key, bytes) for key in embedder._vectors)


def test_an_embedder_that_fails_is_asked_again():
    counting = Counting()
    embedder = RememberedEmbedder(counting)
    known = embedder.embed(['a'])
    counting.fails = True
    with pytest.raises(EmbedderLoading):
        embedder.embed(['a', 'b'])
    np.testing.assert_array_equal(embedder.embed(['a']), known)
    counting.fails = False
    np.testing.assert_array_equal(embedder.embed(['b']), HashingEmbedder(64).embed(['b']))
    assert counting.texts == ['a', 'b']


def test_threads_that_say_the_same_have_it_embedded_once():
    counting = Counting()
    embedder = RememberedEmbedder(counting)
    texts = [str(number) for number in range(200)]
    start = threading.Barrier(4)
    results = []

    def work() -> None:
        start.wait(60.0)
        results.append(np.concatenate([embedder.embed(texts[i : i + 10]) for i in range(0, 200, 10)]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert sorted(counting.texts) == sorted(texts)
    for vectors in results:
        np.testing.assert_array_equal(vectors, HashingEmbedder(64).embed(texts))
    assert len(results) == 4
