"""What the verbs that serve a memory to others open: store, agent and what they may change."""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from remembr_ros.agent.build import build_agent
from remembr_ros.cli.options import check_memory, open_memory
from remembr_ros.cli.output import stdout_for_json
from remembr_ros.cli.planner_options import agent_config
from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.milvus.client import is_server, shown
from remembr_ros.navigation.grid import Grid
from remembr_ros.web.local import LocalBackend


@contextmanager
def open_backend(
    args: argparse.Namespace, *, writable: bool = True, grid: Grid | None = None
) -> Iterator[LocalBackend]:
    """Open the memory that the options say, with the agent that answers from it.

    :param args: of add_memory and add_planner
    :param writable: notes and forgetting are allowed, where the memory can be written
    :param grid: the map; None: there is none
    """
    if writable:
        writable = False
        with suppress(StoreUnavailable):
            check_memory(args)
            writable = True
    # What libraries print while they load is none of the protocol that may be spoken on standard output.
    with stdout_for_json(True):
        store = open_memory(args, read_only=not writable, behind=True)
    with store:
        yield LocalBackend(
            shown(args.memory) if is_server(args.memory) else Path(args.memory).name,
            store,
            build_agent(store, agent_config(args), keyframes=store),
            writable=writable,
            grid=grid,
            now=time.time_ns if args.now is None else lambda: args.now,
            zone=args.time_zone,
        )
