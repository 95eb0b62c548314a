"""Portable memories as Parquet, for analysis: a row per memory, the header in the metadata."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from remembr_ros.errors import BagUnreadable, InvalidRequest, RemembrError
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
from remembr_ros.memory.model.codec import AXES, MemoryRecord, PoseRecord, to_plain

MAGIC = b'PAR1'
_KEY = b'remembr_ros'
# A row group is written when it has that many rows, or vectors and images of that many bytes.
_ROWS, _BYTES = 1000, 32 * 2**20
# Of a row group, decompressed: 1,000 memories of 48 passages of 1,024 numbers take 197 MB.
MAX_COLUMN_BYTES = 2**28
# So many rows are decoded at once, or fewer: were each as large as its row group, they would take that.
_BATCH, _BATCH_BYTES = 100, 2**26
# What is decoded may be this large, and beyond it so many times the file: in a column of equal values a row
# takes some bits, but ids differ.
PLAUSIBLE_BYTES, MAX_RATIO = 2**26, 1000


def write_parquet(file: IO[bytes], header: Header, items: Iterable[PortableMemory]) -> Iterator[int]:
    """Write memories as they come; yield how many there were after each.

    :raises InvalidRequest: pyarrow is not installed, or a memory does not fit the header
    :raises OSError: it cannot be written
    """
    schema = _schema(header)
    with _pyarrow().parquet.ParquetWriter(file, schema, compression='zstd') as writer:
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


def read_parquet(path: Path) -> tuple[Header, Iterator[PortableMemory]]:
    """Return what the file says of itself, and its memories, one by one.

    :raises InvalidRequest: pyarrow is not installed
    :raises BagUnreadable: it is cut off, or does not hold memories; the iterator raises it where the file is
        damaged: what came before is whole
    """
    pa = _pyarrow()
    try:
        metadata = pa.parquet.read_metadata(path).metadata or {}
        record = json.loads(metadata.get(_KEY, b'{}'))
        if not isinstance(record, dict):
            raise ValueError('its header is no object')
        header = header_from_record(record)
    except (pa.ArrowException, OSError, ValueError, RecursionError) as error:
        raise BagUnreadable(
            f'{path} is not a Parquet file of memories as remembr exports them, or is cut off, which leaves '
            f'nothing to be read: {reason(error)}'
        ) from error
    return header, _memories(path, header)


def _memories(path: Path, header: Header) -> Iterator[PortableMemory]:
    count = 0
    try:
        for batch in _batches(path):
            for row in batch.to_pylist():
                yield _item(row, header)
                count += 1
    # TypeError: a column of another kind
    except (_pyarrow().ArrowException, OSError, ValueError, KeyError, TypeError, InvalidRequest) as error:
        raise BagUnreadable(
            f'{path}, row {count + 1}: {reason(error)}. The {count} memories before it are whole'
        ) from error


def _batches(path: Path) -> Iterator[Any]:
    """Yield the rows, few at a time.

    :raises ValueError: a small file becomes a large one: it was made to fill the memory, or the time
    """
    pa = _pyarrow()
    size, total = path.stat().st_size, 0
    with pa.parquet.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            rows = _rows_at_once(file.metadata.row_group(group))
            for batch in file.iter_batches(batch_size=rows, row_groups=[group]):
                columns = (
                    c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for c in batch.columns
                )
                total += sum(column.nbytes for column in columns)  # as the rows will have them
                if total > PLAUSIBLE_BYTES + MAX_RATIO * size:
                    raise ValueError(
                        f'{total} bytes came out of a file of {size} so far; no memories are that alike'
                    )
                yield batch


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


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise InvalidRequest(
            'Parquet takes pyarrow; install it with: pip install "remembr_ros[parquet]", '
            'or write .jsonl or .jsonl.gz instead'
        ) from error
    return pyarrow


def _schema(header: Header) -> Any:
    pa = _pyarrow()
    texts = pa.list_(pa.string())
    types: dict[Any, Any] = {str: pa.string(), int: pa.int64(), float: pa.float64(), tuple[str, ...]: texts}
    types[dict[str, Any]] = pa.string()
    fields = []
    for name, field in MemoryRecord.model_fields.items():
        flat = PoseRecord.model_fields if name == 'pose' else {name: field}
        fields += [(column, types[of.annotation]) for column, of in flat.items()]
    if header.vectors:
        fields.append(('vectors', pa.list_(pa.list_(pa.float32()))))
    if header.keyframes:
        fields.append(('images', pa.list_(pa.binary())))
    return pa.schema(fields, metadata={_KEY: json.dumps(header_record(header))})


def _table(rows: list[dict[str, Any]], schema: Any) -> Any:
    pa = _pyarrow()
    try:
        return pa.Table.from_pylist(rows, schema)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise RemembrError(
            f'memories {rows[0]["id"]} to {rows[-1]["id"]} cannot be written: {error}'
        ) from error


def _row(item: PortableMemory, header: Header) -> dict[str, Any]:
    row: dict[str, Any] = whole_characters(to_plain(item.memory))
    row |= row.pop('pose') or dict.fromkeys(AXES)
    row['facts'] = json.dumps(row['facts'], ensure_ascii=False)  # a column has one type
    if header.vectors and item.vectors is not None:
        check_vectors(item, header)
        row['vectors'] = list(item.vectors.astype(np.float32))
    if header.keyframes:
        row['images'] = list(item.images)
    return row


def _item(row: dict[str, Any], header: Header) -> PortableMemory:
    axes = {axis: row.pop(axis) for axis in AXES}
    row['pose'] = None if axes['x'] is None else axes
    row['facts'] = json.loads(row.get('facts') or '{}')
    vectors, images = row.get('vectors'), row.get('images') or []
    matrix = None
    if vectors is not None:
        if not isinstance(vectors, list):
            raise ValueError('its vectors are no list')
        matrix = np.array(vectors, np.float32).reshape(len(vectors), header.dimension)
    if not (isinstance(images, list) and all(isinstance(image, bytes) for image in images)):
        raise ValueError('its images are no list of bytes')
    return portable(row, matrix, images)
