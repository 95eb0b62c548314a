"""What becomes of observations whose captions repeat."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from remembr_ros.embedding.embedder import BULK_BYTES, MOST_BYTES
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import EmbedderLoading
from remembr_ros.memory.intake import embedded
from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore

Make = Callable[..., Memory]

DOOR = 'A red door is open. A man stands beside it.'
HALL = 'A man stands beside it. The hall behind is empty.'


class Counting(HashingEmbedder):
    """Keeps what it was asked for, and fails where it is to."""

    def __init__(self) -> None:
        super().__init__(64)
        self.texts: list[str] = []
        self.fails = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.fails:
            raise EmbedderLoading('it is being loaded')
        self.texts += texts
        return super().embed(texts)


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
def counted(tmp_path: Path, counting: Counting) -> Iterator[MemoryStore]:
    """An empty store with the embedder that counts."""
    with open_store(str(tmp_path / 'memory.db'), counting) as store:
        counting.texts.clear()
        yield store


def test_a_passage_is_embedded_once_whatever_is_stored_with_it(
    counted: MemoryStore, counting: Counting, make: Make
) -> None:
    memories = [make(i, caption=(DOOR, HALL)[i % 2]) for i in range(10)]
    counted.add([Observation(memory) for memory in memories[:4]])
    for memory in memories[4:]:
        counted.add([Observation(memory)])
    different = {passage.text for memory in memories for passage in passages(memory)}
    assert sorted(counting.texts) == sorted(different)
    vectors = counted.engine.vectors([memory.id for memory in memories])
    for memory in memories:
        expected = HashingEmbedder(64).embed([passage.text for passage in passages(memory)])
        np.testing.assert_allclose(vectors[memory.id], expected, atol=1e-3)
        np.testing.assert_array_equal(vectors[memory.id], vectors[memories[int(memory.id[1:]) % 2].id])


def test_nothing_is_stored_or_kept_of_an_embedder_that_fails(
    counted: MemoryStore, counting: Counting, make: Make
) -> None:
    counting.fails = True
    with pytest.raises(EmbedderLoading):
        counted.add([Observation(make(0, caption=DOOR))])
    assert counted.count() == 0
    counting.fails = False
    counted.add([Observation(make(0, caption=DOOR))])
    assert sorted(counting.texts) == sorted(passage.text for passage in passages(make(0, caption=DOOR)))


def test_a_memory_without_a_word_has_a_vector_too(make: Make) -> None:
    silent, door = embedded([make(0, caption=''), make(1, caption=DOOR)], HashingEmbedder(64))
    np.testing.assert_array_equal(silent.vectors, HashingEmbedder(64).embed(['']))
    assert door.vectors.shape == (len(passages(door.memory)), 64)
    assert embedded([], HashingEmbedder(64)) == []


def test_bulk_is_told_before_anything_is_stored(counted: MemoryStore, make: Make) -> None:
    assert counted._intake.vector_bytes == MOST_BYTES
    counted.expect_bulk()
    assert counted._intake.vector_bytes == BULK_BYTES
