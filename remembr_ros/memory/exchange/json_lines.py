"""Memories with all that belongs to them, between stores, as JSON Lines (docs/memory-format.md)."""

import base64
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import IO, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.geometry import is_place
from remembr_ros.memory.keyframes.files import check_jpeg
from remembr_ros.memory.model.codec import checked, to_plain
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


BOM = b'\xef\xbb\xbf'

MAX_LINE = 2**25  # bytes; a memory with ten images takes some megabytes
MAX_VALUES = 2**18  # in a line; a memory has a few. Each takes up to seventy bytes, whatever it is
MAX_BLANK = 1000  # lines between two memories
# What is decompressed may be this large, and beyond it so many times the file; text is up to 20 times.
PLAUSIBLE_BYTES, MAX_RATIO = 2**26, 200

_DAMAGED = (ValueError, OSError, EOFError, zlib.error, RecursionError, OverflowError)


def write_lines(
    file: IO[bytes], header: Header, items: Iterable[PortableMemory], compress: bool
) -> Iterator[int]:
    """Write memories as they come; yield how many are written after each.

    :raises InvalidRequest: a memory does not fit the header, or has numbers that are not finite
    :raises OSError: it cannot be written
    """
    # Neither name nor time inside: the same memories make the same file.
    target = gzip.GzipFile('', 'wb', 6, file, mtime=0) if compress else file
    count = 0
    target.write(_line(header_record(header)))
    for count, item in enumerate(items, 1):
        try:
            target.write(_line(_record(item, header)))
        except ValueError as error:
            raise InvalidRequest(f'memory {item.memory.id} cannot be written: {error}') from error
        yield count
    target.write(_line({'end': count}))
    if compress:
        target.close()


def read_lines(path: Path) -> tuple[Header, Iterator[PortableMemory]]:
    """Return what the file says of itself, and its memories, one by one.

    :raises BagUnreadable: it is no file of portable memories, or of another version; the iterator raises it
        where the file is cut off or damaged: what came before is whole
    """
    with opened(path) as file:
        try:
            _, line = next(_lines(file, path), (0, b''))
            header = header_from_record(_parsed(line.removeprefix(BOM)))
        except _DAMAGED as error:
            raise BagUnreadable(
                f'{path} is not a file of memories as remembr exports them: {reason(error)}'
            ) from error
    return header, _memories(path, header)


def _memories(path: Path, header: Header) -> Iterator[PortableMemory]:
    count, number = 0, 1
    end: int | None = None
    with opened(path) as file:
        try:
            lines = _lines(file, path)
            next(lines, None)  # the header
            for number, line in lines:  # noqa: B007  (told below)
                if end is not None:
                    raise ValueError('it goes on after its end; were files joined? Read them one by one')
                record = _parsed(line)
                if 'end' in record:
                    end = record['end']
                    continue
                if b'\\ud' in line.lower():  # escaped, and so perhaps half a character
                    record = whole_characters(record)
                yield _item(record, header)
                count += 1
        except (*_DAMAGED, InvalidRequest) as error:
            # What cannot be decompressed is the line after the last one that could.
            number += isinstance(error, (OSError, EOFError, zlib.error))
            raise BagUnreadable(
                f'{path}, line {number}: {reason(error)}. The {count} memories before it are whole'
            ) from error
    # A file that was written by hand may do without its last line.
    if count != (header.count if end is None else end):
        expected = 'its last line is missing' if end is None else f'it says that it has {end}'
        raise BagUnreadable(
            f'{path} is cut off after line {number}: {expected}. The {count} memories in it are whole'
        )


def _lines(file: gzip.GzipFile | BufferedReader, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each line that is not blank.

    :raises ValueError: a small file becomes a large one: it was made to fill the memory, or the time
    """
    size = path.stat().st_size
    blank = total = 0
    for number, line in enumerate(iter(lambda: file.readline(MAX_LINE), b''), 1):
        total += len(line)
        if len(line) >= MAX_LINE:
            raise ValueError(f'line {number} is longer than {MAX_LINE} bytes')
        if total > PLAUSIBLE_BYTES + MAX_RATIO * size:
            raise ValueError(f'{total} bytes came out of a file of {size} so far; no memories are that alike')
        if line.strip():
            blank = 0
            yield number, line
        elif (blank := blank + 1) > MAX_BLANK:
            raise ValueError(f'the {MAX_BLANK} lines before line {number} are blank')


def _parsed(line: bytes) -> dict[str, Any]:
    # Whatever becomes a value has one of these before it.
    if sum(line.count(mark) for mark in (b',', b'[', b'{')) > MAX_VALUES:
        raise ValueError(f'it has more than {MAX_VALUES} values')
    record = json.loads(line)
    if not isinstance(record, dict):
        raise ValueError('it holds no memory and is no header')
    return record


def _record(item: PortableMemory, header: Header) -> dict[str, Any]:
    record = to_plain(item.memory)
    if header.vectors and item.vectors is not None:
        check_vectors(item, header)
        if not (np.abs(item.vectors) <= np.finfo(np.float16).max).all():
            raise ValueError('its vectors are not finite, or far from length 1')
        record['vectors'] = base64.b64encode(item.vectors.astype('<f2').tobytes()).decode()
    if header.keyframes:
        record['images'] = [base64.b64encode(image).decode() for image in item.images]
    return record


def _line(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(',', ':'))
    return text.encode('utf-8', 'replace') + b'\n'


def _item(record: dict[str, Any], header: Header) -> PortableMemory:
    vectors = None
    encoded = record.get('vectors')
    if encoded is not None and header.vectors:
        numbers = np.frombuffer(_decoded(encoded), '<f2')
        if not header.dimension or numbers.size % header.dimension:
            raise ValueError(f'its vectors have {numbers.size} numbers, no multiple of {header.dimension}')
        vectors = numbers.reshape(-1, header.dimension)
    images = record.get('images', [])
    if not isinstance(images, list):
        raise ValueError('its images are no list')
    return portable(record, vectors, [_decoded(image) for image in images])


def _decoded(text: Any) -> bytes:
    if not isinstance(text, str):
        raise ValueError('its vectors or images are no base64')
    return base64.b64decode(text, validate=True)


@contextmanager
def opened(path: Path) -> Iterator[gzip.GzipFile | BufferedReader]:
    """Open a file that may be compressed, which its content tells.

    :raises BagUnreadable: it is missing, or not to be read
    """
    try:
        file = path.open('rb')
    except OSError as error:
        raise BagUnreadable(f'{path} cannot be read: {error.strerror}') from error
    with file:
        compressed = file.peek(2).startswith(b'\x1f\x8b')
        yield gzip.GzipFile(fileobj=file) if compressed else file
