"""remembr web: a page to look at the memory."""

import argparse
import sys
from pathlib import Path

from remembr_ros.cli.options import add_json, add_map_file, add_memory, add_parameters
from remembr_ros.cli.output import print_json
from remembr_ros.cli.planner_options import add_planner
from remembr_ros.errors import RemembrError
from remembr_ros.nodes.web.parameters import WebParameters, door_of
from remembr_ros.stop import stop_on_signals

EXAMPLES = (
    'web --memory kitchen.db',
    'web --map-file floor1.yaml --llm-url ollama',
    'web --host 0.0.0.0 --token-file tokens --certificate cert.pem',
)
_DOOR = ('host', 'port', 'token_file', 'certificate', 'key')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser, token_file='--milvus-token-file')
    door = parser.add_argument_group('who may come in; see docs/security.md')
    add_parameters(door, WebParameters, *_DOOR, names='--name')
    door.add_argument('--new-tokens', metavar='FILE', type=Path, help='write such a file, and do no more')
    add_map_file(parser)
    parser.add_argument('--speech', metavar='MODEL', help='Whisper model that understands spoken questions')
    add_planner(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    try:
        from remembr_ros.cli.serving.local_backend import open_backend
        from remembr_ros.web.app import build_app, give_back_freed
        from remembr_ros.web.door.access import Access, new_tokens
        from remembr_ros.web.door.serving import WebServer
        from remembr_ros.web.site import transcriber
    except ImportError as error:
        raise RemembrError(
            f'the page needs the extra web ({error}): pip install "remembr_ros[web]"'
        ) from error

    if args.new_tokens:
        new_tokens(args.new_tokens)
        print(f'{args.new_tokens} has a new token for each right', file=sys.stderr)
        return 0
    door = door_of(WebParameters(**{name: getattr(args, name) for name in (*_DOOR, 'names')}))
    access = Access.by(door.token_file)
    give_back_freed()  # also what it takes to open a large memory
    # Before anything is opened: it shall be closed as it should, whenever somebody has had enough.
    stop = stop_on_signals()
    with open_backend(args, writable=True) as backend:
        server = WebServer(door, access)
        try:
            zone = getattr(args.time_zone, 'key', '')
            server.start(build_app(backend, access, transcribe=transcriber(args.speech or ''), zone=zone))
            if args.json:
                print_json({'url': server.url})
                sys.stdout.flush()
            print(f'{server.url} shows {backend.name}; Ctrl-C ends it', file=sys.stderr)
            stop.wait()
        finally:
            server.stop()
    return 0
