"""A memory with all that belongs to it, in plain types, on its way between stores."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import is_place
from remembr_ros.memory.keyframes.files import check_jpeg
from remembr_ros.memory.model.codec import checked
from remembr_ros.memory.model.record import Memory

FORMAT = 'remembr_ros memories'
VERSION = 1


@checked_dataclass(frozen=True, slots=True, config=ConfigDict(strict=True))
class Header:
    """What a portable file says of itself.

    :param embedder: name of the model that made the vectors; empty: there are none
    :param dimension: of the vectors
    :param vectors: whether the memories come with the vectors of their passages
    :param keyframes: whether they come with their images
    :param count: how many memories there should be; None: not known
    """

    embedder: str = ''
    dimension: Annotated[int, Field(ge=0, le=2**16)] = 0
    vectors: bool = False
    keyframes: bool = False
    count: Annotated[int, Field(ge=0)] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PortableMemory:
    """A memory with all that belongs to it.

    :param memory: the names of its keyframes are those in the store that it comes from
    :param vectors: of its passages, unit length: shape (passages, dimension); None: to be made from the texts
    :param images: its keyframes, JPEG
    """

    memory: Memory
    vectors: NDArray[np.float32] | None = None
    images: tuple[bytes, ...] = ()


def header_record(header: Header) -> dict[str, Any]:
    """Return a header in plain types."""
    return {'format': FORMAT, 'version': VERSION, **asdict(header)}


def header_from_record(record: Mapping[str, Any]) -> Header:
    """Return the header of a record.

    :raises ValueError: it is none, or of a version that this program does not know
    """
    if record.get('format') != FORMAT:
        raise ValueError(f'its format is {record.get("format")!r}, not {FORMAT!r}')
    if record.get('version') != VERSION:
        raise ValueError(
            f'it has version {record.get("version")} of the format, this program reads {VERSION}; '
            'read it with the program that wrote it, or a newer one'
        )
    return Header(**record)


def portable(
    record: Mapping[str, Any], vectors: NDArray[Any] | None, images: Sequence[bytes]
) -> PortableMemory:
    """Return a memory as it was read.

    :param vectors: of any length, which rounding has changed; shape (passages, dimension), or None
    :raises ValueError: a field is missing or of another kind, or a number is not finite
    :raises InvalidRequest: an image is no JPEG
    """
    for image in images:
        check_jpeg(image)
    memory = checked(record)
    if memory.pose and not is_place(memory.pose):
        memory = replace(memory, pose=None)
    return PortableMemory(memory, None if vectors is None else _unit(vectors), tuple(images))


def check_vectors(item: PortableMemory, header: Header) -> None:
    """Raise InvalidRequest if the vectors are not of the header's dimension."""
    if item.vectors is not None and (item.vectors.ndim != 2 or item.vectors.shape[1] != header.dimension):
        raise InvalidRequest(
            f'memory {item.memory.id} has vectors of the shape {item.vectors.shape}, not '
            f'(n, {header.dimension})'
        )


def whole_characters(record: Any) -> Any:
    """Return a value of plain types with the halves of characters, which JSON can hold, replaced by '?'."""
    return json.loads(json.dumps(record, ensure_ascii=False).encode('utf-8', 'replace'))


def _unit(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Return the vectors with length 1 again, which rounding has changed."""
    exact = vectors.astype(np.float32)
    if not np.isfinite(exact).all():
        raise ValueError('a vector has numbers that are not finite')
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    return np.asarray(exact / np.where(lengths > 0.0, lengths, 1.0), np.float32)


def reason(error: Exception) -> str:
    """Return why a record could not be read."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f'{".".join(map(str, first["loc"]))}: {first["msg"]}'
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
        return f'it is cut off or damaged ({error})'
    return str(error)
