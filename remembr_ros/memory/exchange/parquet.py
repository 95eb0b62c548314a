"""Portable memories as Parquet, for who analyses them: a row per memory, the header in the metadata."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from remembr_ros.errors import BagUnreadable, InvalidRequest, RemembrError
from remembr_ros.memory.exchange.portable_memory import (
    Header,
    PortableMemory,
    header_from_record,
    header_record,
    memory_from_record,
    memory_record,
    reason,
    unit_vectors,
    whole_characters,
)
from remembr_ros.memory.keyframes.jpeg import check_jpeg

MAGIC = b'PAR1'
_KEY = b'remembr_ros'
_ROWS = 1000
_BYTES = 32 * 2**20
"""A row group is written when it has that many rows, or vectors and images of that many bytes."""

MAX_COLUMN_BYTES = 2**28
"""Of a row group, decompressed: 1,000 memories of 48 passages of 1,024 numbers take 197 MB."""

_BATCH = 100
_BATCH_BYTES = 2**26
"""So many rows are decoded at once, or fewer: were each as large as all of its row group, they would take
that."""

PLAUSIBLE_BYTES = 2**26
MAX_RATIO = 1000
"""What is decoded may be this large, and beyond it so many times the file: in a column of equal values a row
takes some bits, but ids differ."""


def write_parquet(file: IO[bytes], header: Header, items: Iterable[PortableMemory]) -> Iterator[int]:
    """Write memories as they come; yield how many there were after each.

    :raises InvalidRequest: pyarrow is not installed, or a memory does not fit the header
    :raises OSError: it cannot be written
    """
    _, pq = _pyarrow()
    schema = _schema(header)
    with pq.ParquetWriter(file, schema, compression='zstd') as writer:
        rows: list[dict[str, Any]] = []
        size = 0
        for count, item in enumerate(items, 1):
            rows.append(_row(item, header))
            size += sum(map(len, item.images)) + (0 if item.vectors is None else item.vectors.nbytes)
            if len(rows) >= _ROWS or size >= _BYTES:
                writer.write_table(_table(rows, schema))
                rows, size = [], 0
            yield count
        if rows:
            writer.write_table(_table(rows, schema))


def read_parquet_header(path: Path) -> Header:
    """Return what the file says of itself.

    :raises InvalidRequest: pyarrow is not installed
    :raises BagUnreadable: it is cut off, or does not hold memories
    """
    pa, pq = _pyarrow()
    try:
        metadata = pq.read_metadata(path)
        record = json.loads((metadata.metadata or {}).get(_KEY, b'{}'))
        if not isinstance(record, dict):
            raise ValueError('its header is no object')
        return header_from_record(record)
    except (pa.ArrowException, OSError, ValueError, RecursionError) as error:
        raise BagUnreadable(
            f'{path} is not a Parquet file of memories as remembr exports them, or is cut off, which leaves '
            f'nothing to be read: {reason(error)}'
        ) from error


def read_parquet(path: Path, header: Header) -> Iterator[PortableMemory]:
    """Yield the memories of a file, one by one.

    :param header: of the file
    :raises BagUnreadable: the file is damaged; what came before is whole
    """
    pa, _ = _pyarrow()
    count = 0
    try:
        for batch in _batches(path):
            for row in batch.to_pylist():
                item = _item(row, header)
                yield item
                count += 1
    # TypeError: a column of another kind
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, InvalidRequest) as error:
        raise BagUnreadable(
            f'{path}, row {count + 1}: {reason(error)}. The {count} memories before it are whole'
        ) from error


def _batches(path: Path) -> Iterator[Any]:
    """Yield the rows, few at a time.

    :raises ValueError: a small file becomes a large one: it was made to fill the memory, or the time
    """
    pa, pq = _pyarrow()
    size, total = path.stat().st_size, 0
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            rows = _rows_at_once(file.metadata.row_group(group))
            for batch in file.iter_batches(batch_size=rows, row_groups=[group]):
                total += sum(_decoded_bytes(pa, column) for column in batch.columns)
                if total > PLAUSIBLE_BYTES + MAX_RATIO * size:
                    raise ValueError(
                        f'{total} bytes came out of a file of {size} so far; no memories are that alike'
                    )
                yield batch


def _decoded_bytes(pa: Any, column: Any) -> int:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()  # as each row will have it
    return int(column.nbytes)


def _rows_at_once(group: Any) -> int:
    columns = [group.column(index) for index in range(group.num_columns)]
    # Of a list of nothing, too, each value is counted.
    largest = [max(column.total_uncompressed_size, 4 * column.num_values) for column in columns]
    if max(largest, default=0) > MAX_COLUMN_BYTES:
        raise ValueError(
            f'a column of its row group has {max(largest)} bytes, at most {MAX_COLUMN_BYTES} are read; write '
            f'smaller row groups, such as of {_ROWS} rows'
        )
    return int(min(_BATCH, max(1, _BATCH_BYTES // max(1, sum(largest)))))


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise InvalidRequest(
            'Parquet takes pyarrow; install it with: pip install "remembr_ros[parquet]", '
            'or write .jsonl or .jsonl.gz instead'
        ) from error
    return pyarrow, pyarrow.parquet


def _schema(header: Header) -> Any:
    pa, _ = _pyarrow()
    texts = pa.list_(pa.string())
    fields = [
        *((name, pa.string()) for name in ('id', 'robot')),
        *((name, pa.int64()) for name in ('start_ns', 'end_ns')),
        *((name, pa.float64()) for name in ('x', 'y', 'z', 'yaw')),
        *((name, pa.string()) for name in ('frame_id', 'map_id')),
        ('travelled', pa.float64()),
        ('caption', pa.string()),
        ('scene_text', texts),
        *((name, pa.string()) for name in ('captioner', 'camera', 'source')),
        ('keyframes', texts),
        ('merged', pa.int64()),
    ]
    if header.vectors:
        fields.append(('vectors', pa.list_(pa.list_(pa.float32()))))
    if header.keyframes:
        fields.append(('images', pa.list_(pa.binary())))
    return pa.schema(fields, metadata={_KEY: json.dumps(header_record(header))})


def _table(rows: list[dict[str, Any]], schema: Any) -> Any:
    pa, _ = _pyarrow()
    try:
        return pa.Table.from_pylist(rows, schema)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise RemembrError(
            f'memories {rows[0]["id"]} to {rows[-1]["id"]} cannot be written: {error}'
        ) from error


def _row(item: PortableMemory, header: Header) -> dict[str, Any]:
    row: dict[str, Any] = whole_characters(memory_record(item.memory))
    pose = row.pop('pose') or {}
    row.update({axis: pose.get(axis) for axis in ('x', 'y', 'z', 'yaw')})
    if header.vectors and item.vectors is not None:
        if item.vectors.ndim != 2 or item.vectors.shape[1] != header.dimension:
            raise InvalidRequest(
                f'memory {item.memory.id} has vectors of the shape {item.vectors.shape}, not '
                f'(n, {header.dimension})'
            )
        row['vectors'] = [vector.astype(np.float32) for vector in item.vectors]
    if header.keyframes:
        row['images'] = list(item.images)
    return row


def _item(row: dict[str, Any], header: Header) -> PortableMemory:
    axes = {axis: row.pop(axis) for axis in ('x', 'y', 'z', 'yaw')}
    memory = memory_from_record({**row, 'pose': None if axes['x'] is None else axes})
    vectors, images = row.get('vectors'), row.get('images') or []
    matrix = None
    if vectors is not None:
        if not isinstance(vectors, list):
            raise ValueError('its vectors are no list')
        matrix = unit_vectors(np.array(vectors, np.float32).reshape(len(vectors), header.dimension))
    if not (isinstance(images, list) and all(isinstance(image, bytes) for image in images)):
        raise ValueError('its images are no list of bytes')
    for image in images:
        check_jpeg(image)
    return PortableMemory(memory, matrix, tuple(images))
