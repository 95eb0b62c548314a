"""The interface of a database of memories, and the stamp that says which schema and embedder made it."""

import json
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import canonical_name
from remembr_ros.errors import StoreMismatch, StoreUnavailable
from remembr_ros.geometry import Point
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING, Scope, Survey
from remembr_ros.memory.model.record import Memory

VERSION = 3  # of the schema


Forgotten = tuple[int, str]
"""When something was forgotten [ns since the epoch], and its conditions: see memory.pending.forgetting."""


class NoSuchMemory(StoreUnavailable):
    """Raised when there is no memory, and none shall be made."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a collection says of itself.

    :param version: of its schema
    :param embedder: that made its vectors
    :param dimension: of these
    :param identity: no other collection has it
    """

    version: int
    embedder: str
    dimension: int
    identity: str = field(default_factory=lambda: uuid.uuid4().hex)

    def to_text(self) -> str:
        """Return what is kept as the description of the collection."""
        return json.dumps(asdict(self))


def stamp_from(text: str, collection: str) -> Stamp:
    """Return the stamp that a collection says of itself.

    :raises StoreMismatch: another program, or another version of this one, made it
    """
    try:
        stamp = Stamp(**{'identity': ''} | json.loads(text))
    except (ValueError, TypeError):
        raise StoreMismatch(
            f'the collection {collection!r} was not made by remembr_ros; choose another file or collection'
        ) from None
    if stamp.version != VERSION:
        raise StoreMismatch(
            f'the collection {collection!r} has schema version {stamp.version}, this program {VERSION}; '
            'export it with the program that made it, and import it into a new one'
        )
    return stamp


def no_such_memory(others: Iterable[str], collection: str, uri: str) -> NoSuchMemory:
    """Return the error that says that a store lacks a memory, and which others it has.

    :param uri: of the store, as it may be shown
    """
    remedy = f'make one with: remembr ingest BAG --memory {uri}'
    if names := sorted(others):
        held = ', '.join(map(repr, names[:10])) + (' and more' if len(names) > 10 else '')
        remedy = f"it holds {held} (the memory node's parameter collection names one); or {remedy}"
    return NoSuchMemory(f'there is no memory {collection!r} at {uri}; {remedy}')


def check_embedder(stamp: Stamp, embedder: Embedder | str, collection: str) -> None:
    """Check that an embedder, or the embedder of that name, made the collection.

    :raises StoreMismatch: it did not
    """
    name = embedder if isinstance(embedder, str) else embedder.name
    if canonical_name(name) != canonical_name(stamp.embedder):
        raise StoreMismatch(
            f'the collection {collection!r} was made with the embedder {stamp.embedder!r}, not {name!r}: '
            f'their vectors do not compare. Use {stamp.embedder!r}, or ingest again into a new file.'
        )
    if not isinstance(embedder, str) and embedder.dimension != stamp.dimension:
        raise StoreMismatch(
            f'the embedder {name!r} makes vectors of {embedder.dimension} numbers now, but the collection '
            f'{collection!r} has {stamp.dimension}; ingest again into a new file'
        )


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

    @property
    def problem(self) -> str:
        """What is lost or damaged, though the rest works, and what to do; empty: nothing that is known."""

    def put(self, entries: Sequence[Entry], changed: Sequence[Memory] = (), gone: Sequence[str] = ()) -> None:
        """Write memories, in place of those with the same ids; durable when it returns. Ids are unique.

        :param changed: with them update these, as update does,
        :param gone: and delete those of these ids: in a file all or nothing, on a server in this order
        """

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

    def note(self, forgotten: Sequence[Forgotten], before_ns: int) -> None:
        """Keep what was forgotten, for whoever stores what comes late; what is from before a time goes."""

    def noted(self, since_ns: int) -> list[Forgotten]:
        """Return what was noted since a time, by whomever."""

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
