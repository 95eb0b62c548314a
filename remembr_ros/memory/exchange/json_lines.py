"""Portable memories as JSON Lines (docs/memory-format.md): a header, a memory per line, their number."""

import base64
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

import numpy as np

from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.memory.exchange.portable_memory import (
    Header,
    PortableMemory,
    check_vectors,
    header_from_record,
    header_record,
    portable,
    reason,
    whole_characters,
)
from remembr_ros.memory.model.codec import to_plain

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
