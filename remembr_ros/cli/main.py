"""The remembr command."""

import argparse
import importlib
import logging
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from remembr_ros import __version__
from remembr_ros.errors import InvalidRequest, RemembrError

VERBS = {
    'ingest': 'turn a recording into memories',
    'ask': 'ask the memory a question',
    'recall': 'search the memory by text, position or time',
    'info': 'say what the memory holds',
    'eval': 'answer a data set of questions and score the answers',
    'coda': "convert CODa's folders to rosbags",
    'demo': 'render a building, remember a tour through it, ask five questions',
}
"""Each verb is the module of that name, with add_arguments(parser) and run(args) -> exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    :return: 0 done, 1 a stated failure (message on standard error), 2 wrong usage
    """
    parser = argparse.ArgumentParser(
        prog='remembr', description="A robot's memory: what it saw, where and when."
    )
    parser.add_argument('--version', action='version', version=__version__)
    parser.add_argument('-v', '--verbose', action='store_true', help='log what is being done')
    verbs = parser.add_subparsers(dest='verb', metavar='VERB', required=True)
    modules = {name: importlib.import_module(f'remembr_ros.cli.{name}') for name in VERBS}
    for name, summary in VERBS.items():
        modules[name].add_arguments(
            verbs.add_parser(name, help=summary, description=f'{summary[0].upper()}{summary[1:]}.')
        )
    args = parser.parse_args(argv)
    if isinstance(sys.stdout, TextIOWrapper):
        # What a camera read or a shell passed on may be more than the terminal's encoding has.
        sys.stdout.reconfigure(errors='replace')
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if args.verbose else logging.WARNING,
        format='%(levelname)s %(name)s: %(message)s',
    )
    try:
        code: int = modules[args.verb].run(args)
    except InvalidRequest as error:
        print(f'remembr {args.verb}: {error}', file=sys.stderr)
        return 2
    except RemembrError as error:
        print(f'remembr {args.verb}: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f'remembr {args.verb}: interrupted', file=sys.stderr)
        return 130
    return code


if __name__ == '__main__':
    sys.exit(main())
