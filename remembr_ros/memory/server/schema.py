"""The two Milvus collections: a row per memory, and a row per passage of its caption with its vector.

Passages repeat the fields that a scope filters by, so that a search by meaning filters while it searches.
One dense vector field per collection: servers before Milvus 2.4 have no more.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Pose
from remembr_ros.memory.model import codec
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.model.storable import cut

_SCOPED = ('robot', 'map_id', 'source', 'start_ns', 'end_ns')  # what one filters by, beside the place
RECORD_FIELDS = [*(name for name in codec.FIELDS if name != 'pose'), 'placed', *codec.AXES]


def passages_of(collection: str) -> str:
    """Return the name of the collection with the passages."""
    return f'{collection}_passages'


def add_record_fields(records: Any, robots_apart: bool) -> None:
    """Add the fields of a memory to a schema.

    :param records: pymilvus.CollectionSchema
    :param robots_apart: spread the rows over partitions by robot
    """
    from pymilvus import DataType

    records.add_field('id', DataType.VARCHAR, max_length=64, is_primary=True)
    add_scope_fields(records, robots_apart)
    for name in ('frame_id', 'captioner', 'camera'):
        records.add_field(name, DataType.VARCHAR, max_length=256)
    for name in ('yaw', 'travelled'):
        records.add_field(name, DataType.DOUBLE)
    records.add_field('caption', DataType.VARCHAR, max_length=65_535)
    for name in (*codec.LISTS, 'facts'):
        records.add_field(name, DataType.JSON)
    records.add_field('merged', DataType.INT64)
    records.add_field('position', DataType.FLOAT_VECTOR, dim=3)


def add_scope_fields(fields: Any, robots_apart: bool) -> None:
    """Add what one filters by."""
    from pymilvus import DataType

    fields.add_field('robot', DataType.VARCHAR, max_length=256, is_partition_key=robots_apart)
    for name in ('map_id', 'source'):
        fields.add_field(name, DataType.VARCHAR, max_length=256)
    for name in ('start_ns', 'end_ns'):
        fields.add_field(name, DataType.INT64)
    for name in ('x', 'y', 'z'):
        fields.add_field(name, DataType.DOUBLE)
    fields.add_field('placed', DataType.BOOL)


def record_row(memory: Memory, full_text: bool) -> dict[str, Any]:
    """Return the row of a memory."""
    pose = memory.pose or Pose(0.0, 0.0)
    row = codec.to_plain(memory)
    del row['pose']
    row |= {**_place(memory), 'yaw': pose.yaw, 'position': list(pose.position)}
    row |= {name: {'list': row[name]} for name in codec.LISTS}  # Milvus 2.3 takes no JSON but objects
    if full_text:
        row['text'] = cut(' '.join((memory.caption, *memory.scene_text)))
    return row


def passage_id(memory_id: str, index: int) -> str:
    """Return the id of a memory's passage."""
    return f'{memory_id}/{index}'


def passage_rows(memory: Memory, vectors: Iterable[NDArray[np.float32]]) -> list[dict[str, Any]]:
    """Return the rows of a memory's passages.

    :param vectors: one per passage, shape (dimension,)
    """
    scalars = {**_place(memory), **{name: getattr(memory, name) for name in _SCOPED}}
    return [
        {**scalars, 'id': passage_id(memory.id, index), 'memory_id': memory.id, 'vector': vector}
        for index, vector in enumerate(vectors)
    ]


def memory_from_row(row: Mapping[str, Any]) -> Memory:
    """Return the memory that a row holds."""
    pose = {axis: row[axis] for axis in codec.AXES} if row['placed'] else None
    lists = {name: row[name]['list'] for name in codec.LISTS}
    return codec.from_plain({**row, **lists, 'pose': pose})


def whereabouts(row: Mapping[str, Any]) -> Memory:
    """Return the memory of a row without what was seen."""
    pose = Pose(row['x'], row['y'], row['z']) if row['placed'] else None
    return Memory(row['id'], row['robot'], row['start_ns'], row['end_ns'], '', pose, map_id=row['map_id'])


def _place(memory: Memory) -> dict[str, Any]:
    x, y, z = memory.pose.position if memory.pose else (0.0, 0.0, 0.0)
    return {'x': x, 'y': y, 'z': z, 'placed': memory.pose is not None}
