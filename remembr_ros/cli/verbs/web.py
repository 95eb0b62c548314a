"""remembr web: a page to look at the memory."""

import argparse
import sys
import time
from pathlib import Path

from remembr_ros.agent.build import build_agent
from remembr_ros.cli.options import add_memory, open_memory
from remembr_ros.cli.planner_options import add_planner, agent_config
from remembr_ros.errors import RemembrError, StoreUnavailable
from remembr_ros.memory.milvus.client import database_path, is_server, shown
from remembr_ros.memory.read_only import check_writable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    parser.add_argument('--host', metavar='ADDRESS', default='127.0.0.1', help='(default: %(default)s)')
    parser.add_argument('--port', metavar='N', type=int, default=8765, help='(default: %(default)s)')
    parser.add_argument(
        '--map', metavar='FILE', type=Path, help='the YAML of a map, as nav2_map_server has it'
    )
    add_planner(parser)


def run(args: argparse.Namespace) -> int:
    try:
        import uvicorn

        from remembr_ros.web.app import build_app
        from remembr_ros.web.local import LocalBackend
    except ImportError as error:
        raise RemembrError(
            f'the page needs the extra web ({error}): pip install "remembr_ros[web]"'
        ) from error

    writable = is_server(args.memory)
    if not writable:
        try:
            check_writable(database_path(args.memory))
            writable = True
        except StoreUnavailable:
            pass
    with open_memory(args, read_only=True, behind=True) as store:
        agent = build_agent(store, agent_config(args), keyframes=store)
        name = shown(args.memory) if is_server(args.memory) else Path(args.memory).name
        backend = LocalBackend(
            name,
            store,
            agent,
            writable=writable,
            grid=None,
            now=time.time_ns if args.now is None else lambda: args.now,
            zone=args.time_zone,
        )
        print(f'http://{args.host}:{args.port}', file=sys.stderr)
        uvicorn.run(build_app(backend), host=args.host, port=args.port, log_level='warning')
    return 0
