"""The table with the vectors of memories: 16-bit numbers, and a checksum of them and of whose they are."""

import json
import sqlite3

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.durable import checksums

Numbers = NDArray[np.int64]
Shorts = NDArray[np.int16]

SCALE = 32_767  # of unit vectors' numbers in the file; as exact as 16-bit floats, read in a sixth of the time


def vector_row(number: int, vectors: NDArray[np.float32]) -> tuple[int, bytes, int]:
    """Return the row of a memory.

    :param vectors: of unit length: shape (vectors, dimension)
    """
    shorts = np.rint(np.clip(vectors, -1.0, 1.0) * SCALE).astype('<i2')
    return number, shorts.tobytes(), int(_sums(shorts, np.array([number]), np.array([len(shorts)]))[0])


def read_vectors(
    reader: sqlite3.Connection, table: str, numbers: Numbers, dimension: int
) -> tuple[Shorts, Numbers]:
    """Return the vectors of memories, shape (vectors, dimension), and how many each has: none if damaged.

    :param numbers: ascending
    """
    found = _rows(reader, table, numbers)
    vectors, counts = _joined([blob for _, blob, _ in found], 2 * dimension)
    sums = _sums(vectors, np.array([number for number, *_ in found], np.int64), counts).tolist()
    whole = [row for row, crc in zip(found, sums, strict=True) if row[2] == crc]
    if len(whole) < len(found):
        vectors, counts = _joined([blob for _, blob, _ in whole], 2 * dimension)
    if len(whole) < len(numbers):
        of_number = dict(zip((number for number, *_ in whole), counts.tolist(), strict=True))
        counts = np.array([of_number.get(number, 0) for number in numbers.tolist()], np.int64)
    return vectors, counts


def _rows(reader: sqlite3.Connection, table: str, numbers: Numbers) -> list[tuple[int, bytes, int]]:
    """Return the rows of memories (ascending), of those that can be read."""
    asked: list[int] | list[str]
    if len(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1:
        which, asked = 'BETWEEN ? AND ?', [int(numbers[0]), int(numbers[-1])]
    else:
        which, asked = 'IN (SELECT value FROM json_each(?))', [json.dumps(numbers.tolist())]
    columns = "number, coalesce(CAST(vectors AS BLOB), x''), crc"  # damaged, it may be anything
    sql = f'SELECT {columns} FROM "{table} vectors" WHERE number {which} ORDER BY number'
    try:
        return reader.execute(sql, asked).fetchall()
    except sqlite3.DatabaseError as error:
        if 'malformed' not in str(error):
            raise
        # A page is damaged: those in other pages are whole.
        halves = np.array_split(numbers, 2) if len(numbers) > 1 else ()
        return [row for half in halves for row in _rows(reader, table, half)]


def _joined(blobs: list[bytes], width: int) -> tuple[Shorts, Numbers]:
    """Return vectors of so many bytes each, and how many lie in each of the blobs; half ones are left out."""
    counts = np.array([len(blob) // width for blob in blobs], np.int64)
    whole = [blob[: len(blob) // width * width] for blob in blobs]  # no copy of one that is
    return np.frombuffer(b''.join(whole), '<i2').reshape(-1, width // 2), counts


def _sums(vectors: Shorts, numbers: Numbers, counts: Numbers) -> Numbers:
    """Return the checksums of memories with so many of the vectors each: shape (memories,)."""
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(checksums(vectors), dtype=np.uint64)])
    ends = np.cumsum(counts)
    found: Numbers = (total[ends] - total[ends - counts] + numbers.astype(np.uint64)).view(np.int64)
    return found
