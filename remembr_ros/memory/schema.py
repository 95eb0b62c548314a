"""The two Milvus collections: a row per memory, and a row per passage of its caption with its vector.

Passages repeat the fields that a scope filters by, so that a search by meaning filters while it searches.
One dense vector field per collection: servers before Milvus 2.4 have no more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Pose
from remembr_ros.memory.record import Memory

VERSION = 1

MAX_TEXT = 60_000
"""Bytes of a caption that a VARCHAR field (65,535 bytes) holds beside its scene text."""

RECORD_FIELDS = [
    *('id', 'robot', 'map_id', 'frame_id', 'start_ns', 'end_ns', 'placed', 'x', 'y', 'z', 'yaw', 'travelled'),
    *('caption', 'scene_text', 'captioner', 'source', 'keyframes', 'merged'),
]


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a collection says of itself.

    :param version: of the schema
    :param embedder: name of the model that made its vectors
    :param dimension: of those vectors
    """

    version: int
    embedder: str
    dimension: int


def create(client: Any, collection: str, stamp: str, dimension: int, full_text: bool) -> None:
    """Make the two collections.

    :param client: pymilvus.MilvusClient
    :param stamp: kept as the description of the first collection
    :param full_text: with BM25 over caption and scene text (Milvus 2.5 or newer)
    """
    from pymilvus import DataType, Function, FunctionType

    def scalars(schema: Any) -> None:
        for name in ('robot', 'map_id', 'source'):
            schema.add_field(name, DataType.VARCHAR, max_length=256)
        for name in ('start_ns', 'end_ns'):
            schema.add_field(name, DataType.INT64)
        for name in ('x', 'y', 'z'):
            schema.add_field(name, DataType.DOUBLE)
        schema.add_field('placed', DataType.BOOL)

    passages = client.create_schema(auto_id=False, enable_dynamic_field=False)
    passages.add_field('id', DataType.VARCHAR, max_length=128, is_primary=True)
    passages.add_field('memory_id', DataType.VARCHAR, max_length=64)
    scalars(passages)
    passages.add_field('vector', DataType.FLOAT_VECTOR, dim=dimension)
    index = client.prepare_index_params()
    index.add_index('vector', index_type='FLAT', metric_type='IP')
    client.create_collection(
        passages_of(collection), schema=passages, index_params=index, consistency_level='Strong'
    )

    records = client.create_schema(auto_id=False, enable_dynamic_field=False, description=stamp)
    records.add_field('id', DataType.VARCHAR, max_length=64, is_primary=True)
    scalars(records)
    for name in ('frame_id', 'captioner'):
        records.add_field(name, DataType.VARCHAR, max_length=256)
    for name in ('yaw', 'travelled'):
        records.add_field(name, DataType.DOUBLE)
    records.add_field('caption', DataType.VARCHAR, max_length=65_535)
    for name in ('scene_text', 'keyframes'):
        records.add_field(name, DataType.JSON)
    records.add_field('merged', DataType.INT64)
    records.add_field('position', DataType.FLOAT_VECTOR, dim=3)
    index = client.prepare_index_params()
    index.add_index('position', index_type='FLAT', metric_type='L2')
    if full_text:
        records.add_field(
            'text',
            DataType.VARCHAR,
            max_length=65_535,
            enable_analyzer=True,
            analyzer_params={'type': 'english'},
        )
        records.add_field('words', DataType.SPARSE_FLOAT_VECTOR)
        records.add_function(
            Function(
                name='bm25',
                input_field_names=['text'],
                output_field_names=['words'],
                function_type=FunctionType.BM25,
            )
        )
        index.add_index('words', index_type='SPARSE_INVERTED_INDEX', metric_type='BM25')
    # Last, because its presence says that the memory is ready.
    client.create_collection(collection, schema=records, index_params=index, consistency_level='Strong')


def passages_of(collection: str) -> str:
    """Return the name of the collection with the passages."""
    return f'{collection}_passages'


def record_row(memory: Memory, full_text: bool) -> dict[str, Any]:
    """Return the row of a memory."""
    pose = memory.pose or Pose(0.0, 0.0)
    row: dict[str, Any] = {
        **_scalars(memory),
        'id': memory.id,
        'frame_id': memory.frame_id,
        'captioner': memory.captioner,
        'yaw': pose.yaw,
        'travelled': memory.travelled,
        'caption': memory.caption,
        'scene_text': list(memory.scene_text),
        'keyframes': list(memory.keyframes),
        'merged': memory.merged,
        'position': list(pose.position),
    }
    if full_text:
        row['text'] = cut(' '.join((memory.caption, *memory.scene_text)))
    return row


def passage_rows(memory: Memory, vectors: NDArray[np.float32]) -> list[dict[str, Any]]:
    """Return the rows of a memory's passages.

    :param vectors: shape (passages, dimension)
    """
    scalars = _scalars(memory)
    return [
        {**scalars, 'id': f'{memory.id}/{index}', 'memory_id': memory.id, 'vector': vector}
        for index, vector in enumerate(vectors)
    ]


def memory_from_row(row: Mapping[str, Any]) -> Memory:
    """Return the memory that a row holds."""
    pose = Pose(row['x'], row['y'], row['z'], row['yaw']) if row['placed'] else None
    texts: Sequence[str] = row['scene_text']
    return Memory(
        id=row['id'],
        robot=row['robot'],
        start_ns=int(row['start_ns']),
        end_ns=int(row['end_ns']),
        caption=row['caption'],
        pose=pose,
        frame_id=row['frame_id'],
        map_id=row['map_id'],
        travelled=row['travelled'],
        scene_text=tuple(texts),
        captioner=row['captioner'],
        source=row['source'],
        keyframes=tuple(row['keyframes']),
        merged=int(row['merged']),
    )


def cut(text: str) -> str:
    """Return the text, cut at MAX_TEXT bytes without splitting a character."""
    data = text.encode('utf-8', errors='replace')
    return data[:MAX_TEXT].decode('utf-8', errors='ignore')


def _scalars(memory: Memory) -> dict[str, Any]:
    pose = memory.pose or Pose(0.0, 0.0)
    return {
        'robot': memory.robot,
        'map_id': memory.map_id,
        'source': memory.source,
        'start_ns': memory.start_ns,
        'end_ns': memory.end_ns,
        'x': pose.x,
        'y': pose.y,
        'z': pose.z,
        'placed': memory.pose is not None,
    }
