"""remembr mcp: the memory for other agents, by the Model Context Protocol on standard input and output."""

import argparse
import threading

from remembr_ros.cli.options import add_map_file, add_memory
from remembr_ros.cli.planner_options import add_planner
from remembr_ros.errors import RemembrError
from remembr_ros.stop import stop_on_signals

EXAMPLES = (
    'mcp --memory kitchen.db',
    'mcp --act --map-file floor1.yaml',
    'mcp --llm-url ollama',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    parser.add_argument(
        '--act', action='store_true', help='allow notes and forgetting; without it the memory is only read'
    )
    add_map_file(parser)
    add_planner(parser)


def run(args: argparse.Namespace) -> int:
    try:
        import anyio

        from remembr_ros.cli.serving.local_backend import open_backend
        from remembr_ros.web.door.access import Right
        from remembr_ros.web.mcp.server import build_server
        from remembr_ros.web.site import make_site
    except ImportError as error:
        raise RemembrError(
            f'this needs the extras web and mcp ({error}): pip install "remembr_ros[web,mcp]"'
        ) from error
    stop = stop_on_signals()
    with open_backend(args, writable=args.act) as backend:
        site = make_site(backend)
        server = build_server(site, Right.ACT if args.act else Right.ASK)

        def serve() -> None:
            try:
                anyio.run(server.run_stdio_async)
            finally:
                stop.set()

        # A thread that reads standard input cannot be ended: it is left to the process, the memory is not.
        threading.Thread(target=serve, name='mcp', daemon=True).start()
        stop.wait()
        site.exchanges.close()
    return 0
