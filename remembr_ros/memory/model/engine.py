"""Where memories are kept and looked up: what the embedded database and a server both can do."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING, Scope, Survey
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.model.stamp import Stamp


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory and what it is found by.

    :param vectors: of its passages, unit length: shape (passages, dimension)
    """

    memory: Memory
    vectors: NDArray[np.float32]


class Compared(NamedTuple):
    """A memory, compared with texts.

    :param cosines: of each passage to each text: shape (passages, texts)
    :param paragraphs: how many of the passages, the first ones, say all of one thing
    """

    memory: Memory
    cosines: NDArray[np.float32]
    paragraphs: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What an engine holds.

    :param memories: how many
    :param placed: how many of them have a pose
    :param first_ns: start of the earliest; None if there is none
    :param last_ns: end of the latest
    :param bytes: on disk; None: the server does not tell
    """

    memories: int
    placed: int
    first_ns: int | None
    last_ns: int | None
    robots: tuple[str, ...]
    maps: tuple[str, ...]
    sources: tuple[str, ...]
    bytes: int | None


class Engine(Protocol):
    """Durable rows and exact or nearly exact searches over them; ids are unique, ties are deterministic.

    Every method raises StoreUnavailable if the database does not work, and InvalidRequest for a scope without
    sense. Safe to share between threads, with one thread at a time in those that write.
    """

    @property
    def stamp(self) -> Stamp:
        """What the collection says of itself."""

    compares: int
    """How many memories a recall by text compares in full, of those that two searches find likeliest."""

    def put(self, entries: Sequence[Entry]) -> None:
        """Write memories, in place of those with the same ids; durable when it returns. Ids are unique."""

    def update(self, memories: Sequence[Memory]) -> None:
        """Rewrite stored memories whose texts, and so vectors, stay the same; unknown ids are left out."""

    def delete(self, ids: Sequence[str]) -> None:
        """Delete memories; unknown ids are passed over."""

    def vacuum(self) -> None:
        """Remove what deleted memories left behind in files."""

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories of these ids, in their order; unknown ids are passed over."""

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the passages' vectors per memory id; unknown ids are passed over."""

    def select(self, scope: Scope = ANYTHING) -> Iterator[Memory]:
        """Yield every memory in the scope, in no particular order."""

    def named(self, keyframes: Collection[str]) -> set[str]:
        """Return those of these keyframes that some memory names."""

    def count(self, scope: Scope = ANYTHING) -> int:
        """Return how many memories the scope admits."""

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        """Return what there is in the scope, without reading what was seen."""

    def outline(self) -> Outline:
        """Return where and when all memories are, without reading what was seen."""

    def summary(self) -> Summary:
        """Return what is stored."""

    def like(self, vector: NDArray[np.float32], scope: Scope, limit: int) -> dict[str, float]:
        """Return the memories with the best paragraphs, or passages where paragraphs are not told apart.

        :param limit: so many at least, if there are; those that come next where they are known
        :return: cosine of the best one per memory id, best first
        """

    def compared(self, vectors: NDArray[np.float32], ids: Sequence[str]) -> list[Compared]:
        """Return memories, in their order, compared with texts; unknown ids are passed over.

        :param vectors: of the texts: shape (texts, dimension)
        """

    def with_words(self, text: str, scope: Scope, limit: int) -> list[str]:
        """Return the ids of the memories whose words fit best (BM25), best first; none where it cannot."""

    def word_shares(self, text: str, memories: Sequence[Memory]) -> list[float]:
        """Return how much of a text's words each memory has, 0 to 1, rare words counting more."""

    def rarities(self, asked: Sequence[str], memories: Sequence[Memory]) -> NDArray[np.float32]:
        """Return how rare each word is, 0 to 1: among all memories, or these where it cannot tell of all."""

    def nearest_in_place(self, position: Point, scope: Scope, limit: int) -> list[Memory]:
        """Return the placed memories nearest to a point, nearest first, exactly; ties newest first, by id."""

    def nearest_in_time(self, time_ns: int, scope: Scope, limit: int) -> list[Memory]:
        """Return the memories nearest to a time, nearest first, exactly; then by start, then by id."""

    def newest(self, scope: Scope, limit: int) -> list[Memory]:
        """Return the memories that ended last, newest first; then by start, then by id."""

    def claim(self, name: str) -> None:
        """Keep others from moving maps until it is released; the same name may claim again.

        :raises InvalidRequest: somebody else moves maps
        """

    def is_claimed(self, name: str) -> bool:
        """Tell whether a claim holds; true where nobody else can be at it."""

    def release(self, name: str) -> None:
        """End a claim; one that does not hold is passed over."""

    def close(self) -> None:
        """Let go of the database."""
