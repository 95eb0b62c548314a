"""remembr web: a page to look at the memory."""

import argparse
import sys
from pathlib import Path

from remembr_ros.cli.options import add_json, add_map_file, add_memory, name
from remembr_ros.cli.output import print_json
from remembr_ros.cli.planner_options import add_planner
from remembr_ros.errors import RemembrError
from remembr_ros.stop import stop_on_signals

EXAMPLES = (
    'web --memory kitchen.db',
    'web --map-file floor1.yaml --llm-url ollama',
    'web --host 0.0.0.0 --token-file tokens --certificate cert.pem',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser, token_file='--milvus-token-file')
    door = parser.add_argument_group('who may come in; see docs/security.md')
    door.add_argument(
        '--host', metavar='ADDRESS', default='127.0.0.1', help='where it is served (default: %(default)s)'
    )
    door.add_argument(
        '--port', metavar='N', type=int, default=8765, help='0 takes a free one (default: %(default)s)'
    )
    door.add_argument(
        '--token-file',
        dest='page_tokens',
        metavar='FILE',
        type=Path,
        help='tokens, and what each allows: look, ask or act; needed for every other address',
    )
    door.add_argument('--new-tokens', metavar='FILE', type=Path, help='write such a file, and do no more')
    door.add_argument('--certificate', metavar='FILE', type=Path, help='PEM with the chain, for https')
    door.add_argument('--key', metavar='FILE', type=Path, help='its key, if it is in another file')
    door.add_argument(
        '--name',
        metavar='HOST',
        type=name,
        action='append',
        default=[],
        help='a further name that it is called by, such as that of a reverse proxy; several times: several',
    )
    add_map_file(parser)
    parser.add_argument('--speech', metavar='MODEL', help='Whisper model that understands spoken questions')
    add_planner(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    try:
        from remembr_ros.cli.serving.local_backend import open_backend
        from remembr_ros.web.app import build_app, give_back_freed
        from remembr_ros.web.door.access import Access, new_tokens
        from remembr_ros.web.door.door import Door
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
    door = Door(args.host, args.port, args.page_tokens, args.certificate, args.key, tuple(args.name))
    access = Access.by(args.page_tokens)
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
