"""The collections of a memory on a Milvus server, what each version can do, and who may move maps."""

import logging
import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.memory.model.engine import Forgotten, Stamp
from remembr_ros.memory.server import schema
from remembr_ros.memory.server.table import CONSISTENCY, Table
from remembr_ros.timestamps import format_iso

logger = logging.getLogger(__name__)

INDEX = {'M': 16, 'efConstruction': 128}
"""Of the graph over the passages' vectors (HNSW)."""

EF = 160
"""Candidates that a search in that graph keeps; recall@5 and the time it costs: docs/fleet.md."""

PARTITIONS = 16
"""The robots are spread over these, so that recall of one robot's memories searches its part alone."""


@dataclass(frozen=True, slots=True)
class Features:
    """What a server can do.

    :param version: as it calls itself; empty: Milvus Lite behind a network address
    :param robots_apart: rows may be spread by robot
    :param grouping: a search can return each memory once
    :param full_text: BM25
    """

    version: str
    robots_apart: bool
    grouping: bool
    full_text: bool

    @property
    def lite(self) -> bool:
        """Whether it is Milvus Lite, which has no partitions, no graph and no scalar indexes."""
        return not self.version


def features(client: Any) -> Features:
    """Ask a server what it can do; what it cannot is logged once.

    :param client: pymilvus.MilvusClient
    :raises StoreUnavailable: it is too old
    """
    import grpc

    try:
        version = str(client.get_server_version(timeout=10.0)).lstrip('v')
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.UNIMPLEMENTED:
            raise
        return Features('', robots_apart=False, grouping=True, full_text=True)
    return features_of(version)


def features_of(version: str) -> Features:
    """Return what a Milvus server of a version, such as 2.3.5, can do.

    :raises StoreUnavailable: it is older than 2.3
    """
    digits = re.match(r'(\d+)\.(\d+)', version)
    # A version without numbers is built from the newest sources.
    numbers = (int(digits[1]), int(digits[2])) if digits else (99, 0)
    if numbers < (2, 3):
        raise StoreUnavailable(f'Milvus {version} is too old; 2.3 is the least, and 2.5 has full-text search')
    lacking = []
    if numbers < (2, 5):
        lacking.append('full-text search (2.5 has): recall by text uses meaning alone')
    if numbers < (2, 4):
        # Early ones put what is upserted into the wrong partition, where a filter by robot does not find it,
        # and later ones bring replaced rows back (milvus-io/milvus issues 30607 and 31548).
        lacking.append('reliable partitions (2.4 has): robots are told apart by filters alone')
        lacking.append('grouping (2.4 has): recall by text fetches more')
    if lacking:
        logger.warning('Milvus %s lacks %s', version, '; '.join(lacking))
    return Features(version, numbers >= (2, 4), numbers >= (2, 4), numbers >= (2, 5))


def create(client: Any, collection: str, stamp: Stamp, able: Features, timeout_s: float) -> None:
    """Make the collections of a memory.

    :param client: pymilvus.MilvusClient
    """
    # Passages without records are left from a start that was cut off, or another robot is at it right now.
    if not client.has_collection(schema.passages_of(collection), timeout=timeout_s):
        _create_passages(client, collection, stamp.dimension, able, timeout_s)
    # Last, because its presence says that the memory is ready.
    _create_records(client, collection, stamp.to_text(), able, timeout_s)


def _create_passages(client: Any, collection: str, dimension: int, able: Features, timeout_s: float) -> None:
    """Make the collection with a row per passage."""
    from pymilvus import DataType

    fields = client.create_schema(auto_id=False, enable_dynamic_field=False)
    fields.add_field('id', DataType.VARCHAR, max_length=128, is_primary=True)
    fields.add_field('memory_id', DataType.VARCHAR, max_length=64)
    schema.add_scope_fields(fields, able.robots_apart)
    fields.add_field('vector', DataType.FLOAT_VECTOR, dim=dimension)
    index = client.prepare_index_params()
    if able.lite:
        index.add_index('vector', index_type='FLAT', metric_type='IP')
    else:
        index.add_index('vector', index_type='HNSW', metric_type='IP', params=INDEX)
        index.add_index('memory_id', index_type='INVERTED' if able.grouping else 'Trie')
        for name in ('start_ns', 'end_ns'):
            index.add_index(name, index_type='STL_SORT')
    client.create_collection(
        schema.passages_of(collection), schema=fields, index_params=index, timeout=timeout_s, **_kind(able)
    )


def _create_records(client: Any, collection: str, stamp: str, able: Features, timeout_s: float) -> None:
    """Make the collection with a row per memory and the stamp as its description."""
    from pymilvus import DataType, Function, FunctionType

    fields = client.create_schema(auto_id=False, enable_dynamic_field=False, description=stamp)
    schema.add_record_fields(fields, able.robots_apart)
    index = client.prepare_index_params()
    index.add_index('position', index_type='FLAT', metric_type='L2')
    if not able.lite:
        for name in ('start_ns', 'end_ns'):
            index.add_index(name, index_type='STL_SORT')
    if able.full_text:
        fields.add_field(
            'text',
            DataType.VARCHAR,
            max_length=65_535,
            enable_analyzer=True,
            analyzer_params={'type': 'english'},
        )
        fields.add_field('words', DataType.SPARSE_FLOAT_VECTOR)
        fields.add_function(
            Function(
                name='bm25',
                input_field_names=['text'],
                output_field_names=['words'],
                function_type=FunctionType.BM25,
            )
        )
        index.add_index('words', index_type='SPARSE_INVERTED_INDEX', metric_type='BM25')
    client.create_collection(collection, schema=fields, index_params=index, timeout=timeout_s, **_kind(able))


def create_small(
    client: Any, collection: str, timeout_s: float, *, description: str = '', rows: bool = True
) -> None:
    """Make a collection for what was forgotten, or one that stays without rows, unless somebody just has.

    :param client: pymilvus.MilvusClient
    """
    from pymilvus import DataType
    from pymilvus.exceptions import MilvusException

    fields = client.create_schema(auto_id=False, enable_dynamic_field=False, description=description)
    fields.add_field('id', DataType.VARCHAR, max_length=64, is_primary=True)
    fields.add_field('vector', DataType.FLOAT_VECTOR, dim=2)  # there has to be one
    index = client.prepare_index_params() if rows else None  # with an index it is loaded, too
    if index is not None:
        fields.add_field('at_ns', DataType.INT64)
        fields.add_field('conditions', DataType.VARCHAR, max_length=65_535)
        index.add_index('vector', index_type='FLAT', metric_type='L2')
    try:
        client.create_collection(collection, schema=fields, index_params=index, timeout=timeout_s)
    except MilvusException:
        if not client.has_collection(collection, timeout=timeout_s):
            raise


def _kind(able: Features) -> dict[str, Any]:
    """Return what both collections have in common."""
    return {'consistency_level': CONSISTENCY, **({'num_partitions': PARTITIONS} if able.robots_apart else {})}


def claim(client: Any, collection: str, name: str, timeout_s: float) -> None:
    """Keep others from moving maps until it is released.

    A claim is an empty collection: it can be made once, whoever tries, and its description tells whose it is.

    :param client: pymilvus.MilvusClient
    :param name: of the claim; the same one may claim again
    :raises InvalidRequest: somebody else is at it
    """
    claim_name = _collection(collection)
    if not client.has_collection(claim_name, timeout=timeout_s):
        whose = f'{name} {socket.gethostname()} {format_iso(time.time_ns())}'
        create_small(client, claim_name, timeout_s, description=whose, rows=False)
    whose = client.describe_collection(claim_name, timeout=timeout_s)['description']
    if whose.partition(' ')[0] != name:
        raise InvalidRequest(
            f'maps of this memory are being moved by another machine: {whose.partition(" ")[2]}. Do this '
            'again when that is done; if it was cut off, open the memory there, which finishes it. If that '
            f'machine is gone, drop the collection {claim_name!r}: what was moved stays moved'
        )


def is_claimed(client: Any, collection: str, name: str, timeout_s: float) -> bool:
    """Tell whether a claim holds."""
    claim_name = _collection(collection)
    if not client.has_collection(claim_name, timeout=timeout_s):
        return False
    whose: str = client.describe_collection(claim_name, timeout=timeout_s)['description']
    return whose.partition(' ')[0] == name


def release(client: Any, collection: str, name: str, timeout_s: float) -> None:
    """End a claim; one that does not hold is passed over."""
    if is_claimed(client, collection, name, timeout_s):
        client.drop_collection(_collection(collection), timeout=timeout_s)


def note(
    client: Any, collection: str, forgotten: Sequence[Forgotten], before_ns: int, timeout_s: float
) -> None:
    """Keep what was forgotten, in a collection that is made with the first of it; see Engine.note.

    :param client: pymilvus.MilvusClient
    """
    table = Table(client, forgotten_of(collection), timeout_s)
    if not client.has_collection(table.name, timeout=timeout_s):
        create_small(client, table.name, timeout_s)
    table.upsert(
        {'id': uuid4().hex, 'vector': [0.0, 0.0], 'at_ns': at_ns, 'conditions': conditions}
        for at_ns, conditions in forgotten
    )
    table.delete([row['id'] for row in table.rows(f'at_ns < {before_ns}', ['id'])])


def noted(client: Any, collection: str, since_ns: int, timeout_s: float) -> list[Forgotten]:
    """Return what was forgotten since a time, also what others have just noted.

    :param client: pymilvus.MilvusClient
    """
    table, condition = Table(client, forgotten_of(collection), timeout_s), f'at_ns >= {since_ns}'
    if not client.has_collection(table.name, timeout=timeout_s):
        return []
    table.settle(condition)
    return [(row['at_ns'], row['conditions']) for row in table.rows(condition, ['at_ns', 'conditions'])]


def forgotten_of(collection: str) -> str:
    """Return the name of the collection with what was forgotten of a memory."""
    return f'{collection}_forgotten'


def _collection(collection: str) -> str:
    return f'{collection}_moving'
