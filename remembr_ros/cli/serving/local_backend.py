"""The memory that the options name, as the page and MCP see it."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from remembr_ros.agent.build import build_agent
from remembr_ros.cli.options import check_memory, now_ns, open_memory
from remembr_ros.cli.planner_options import agent_config
from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.model.uri import database_path, is_server, shown
from remembr_ros.web.local import LocalBackend
from remembr_ros.web.map_file import read_map


@contextmanager
def open_backend(args: argparse.Namespace, *, writable: bool) -> Iterator[LocalBackend]:
    """Open the memory of add_memory with the planner of add_planner and the map of add_map_file; what cannot
    be written is read.

    :param writable: notes may be stored and memories forgotten, where that can be
    :raises StoreUnavailable: it cannot be opened
    :raises InvalidRequest: the map cannot be read
    """
    grid = read_map(args.map_file) if args.map_file else None
    name = shown(args.memory) if is_server(args.memory) else database_path(args.memory).name
    # What waits for a server on this machine is left to a memory node, which may come later. The embedder is
    # loaded meanwhile: the page is there at once.
    with open_memory(args, read_only=True, behind=True, spool_quota=0) as store:
        yield LocalBackend(
            name,
            store,
            build_agent(store, agent_config(args), keyframes=store),
            writable=writable and _can_be_written(args),
            grid=grid,
            now=lambda: now_ns(args),
            zone=args.time_zone,
        )


def _can_be_written(args: argparse.Namespace) -> bool:
    try:
        check_memory(args)
    except StoreUnavailable:
        return False
    return True
