"""The parameters of the memory node."""

import dataclasses

from remembr_ros.forms.parameter import parameter
from remembr_ros.memory.model.uri import WHERE
from remembr_ros.nodes.base.parameters import NodeParameters


@dataclasses.dataclass(frozen=True)
class MemoryParameters(NodeParameters):
    """Parameters of the memory node."""

    robot: str = parameter('robot', 'name of the robot that notes without a robot belong to')
    map_frame: str = parameter('map', 'frame of the markers, and of notes without a frame')
    follow_pose_graph: bool = parameter(False, 'true: memories move as SLAM corrects the map that it makes')
    uri: str = parameter('remembr.db', f'the store: {WHERE}')
    collection: str = parameter('memories', 'name of the collection in the store')
    db_name: str = parameter('', 'database on the server; empty: its default one')
    user: str = parameter(
        '',
        'user of the server; empty: REMEMBR_MILVUS_USER. Secrets come from the environment only: '
        'REMEMBR_MILVUS_PASSWORD, or REMEMBR_MILVUS_TOKEN, which comes before user and password',
    )
    ca_pem_path: str = parameter('', "file of the certificates to trust instead of the system's (TLS)")
    client_pem_path: str = parameter('', 'file of the certificate that this client shows (two-way TLS)')
    client_key_path: str = parameter('', 'file of the key to client_pem_path')
    server_name: str = parameter('', "name in the server's certificate, where it is not the host's")
    read_only: bool = parameter(
        False, 'true: nothing is remembered, extended, forgotten or deleted; there has to be a memory'
    )
    embedder: str = parameter('', 'embedding model by name or path; empty: the best one installed')
    consolidate: bool = parameter(
        True,
        'while the robot stands and sees the same its last memory is extended; false: each caption becomes a '
        'memory of its own',
    )
    max_age_days: float = parameter(
        0.0, 'older memories are deleted, except of persons; 0: never', '0 to 36500 d', live=True
    )
    max_memories: int = parameter(
        0,
        'above this number the least telling memories are deleted; 0: any number',
        '0 to 100000000',
        live=True,
    )
    max_size_gb: float = parameter(
        0.0,
        'above this size, estimated, the least telling memories are deleted; 0: any size',
        '0 to 100000 GB',
        live=True,
    )
    keyframe_quota_gb: float = parameter(
        20.0, 'the keyframes may take so much of the disk; memories go on without them', '0 to 100000 GB'
    )
    spool_quota_gb: float = parameter(
        0.512, 'captions that wait for the server may take so much of the disk', '0.001 to 100000 GB'
    )
    batch_size: int = parameter(16, 'captions stored at once', '1 to 1000')
    retry_period: float = parameter(
        2.0, 'try again so long after the store was out of reach', '0.05 to 600 s'
    )
    drain_timeout: float = parameter(
        10.0, 'on deactivation, wait so long for waiting captions', '0 to 600 s', live=True
    )
    marker_count: int = parameter(500, 'newest memories shown as markers', '0 to 100000', live=True)
