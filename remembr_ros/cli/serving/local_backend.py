"""The memory that the options name, as the page and MCP see it."""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from remembr_ros.agent.build import build_agent
from remembr_ros.cli.options import open_memory
from remembr_ros.cli.planner_options import agent_config
from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.milvus.client import database_path, is_server, shown
from remembr_ros.memory.read_only import check_writable
from remembr_ros.web.local import LocalBackend
from remembr_ros.web.map_file import read_map


@contextmanager
def open_backend(args: argparse.Namespace, *, writable: bool) -> Iterator[LocalBackend]:
    """Open the memory of add_memory with the planner of add_planner and the map of add_map; what cannot be
    written is read.

    :param writable: notes may be stored and memories forgotten, where that can be
    :raises StoreUnavailable: it cannot be opened
    :raises InvalidRequest: the map cannot be read
    """
    grid = read_map(args.map) if args.map else None
    server = is_server(args.memory)
    name = shown(args.memory) if server else Path(args.memory).name
    # What waits for a server on this machine is left to a memory node, which may come later. The embedder is
    # loaded meanwhile: the page is there at once.
    with open_memory(args, read_only=True, behind=True, spool_quota=0) as store:
        yield LocalBackend(
            name,
            store,
            build_agent(store, agent_config(args), keyframes=store),
            writable=writable and (server or _can_be_written(args.memory)),
            grid=grid,
            now=time.time_ns if args.now is None else lambda: int(args.now),
            zone=args.time_zone,
        )


def _can_be_written(uri: str) -> bool:
    try:
        check_writable(database_path(uri))
    except StoreUnavailable:
        return False
    return True
