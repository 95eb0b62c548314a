"""The remembr command."""

import argparse
import gc
import importlib
import logging
import os
import re
import select
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from difflib import get_close_matches
from io import TextIOWrapper
from keyword import iskeyword
from pathlib import Path
from typing import Any, NoReturn

from remembr_ros import __version__
from remembr_ros.bags.stand_in import stand_in
from remembr_ros.errors import ExtensionFailed, InvalidRequest, RemembrError
from remembr_ros.extensions import extensions, load_extension, origin
from remembr_ros.printable import plain_output
from remembr_ros.stop import ignore_signals_at_exit

VERBS = {
    'ingest': 'turn a recording into memories',
    'ask': 'ask the memory a question',
    'recall': 'search the memory by text, position or time',
    'objects': 'list the things that the robot knows, and where they are',
    'deeds': 'list what the robot did, by what, when, where and how it ended',
    'day': 'tell what the robot did and saw on a day',
    'trace': 'show what happened to the questions that were asked',
    'info': 'say what the memory holds',
    'remember': "store a person's note",
    'event': 'store what the robot did',
    'place': 'give parts of a map, such as rooms, their names',
    'recaption': 'describe memories anew, by their images',
    'forget': 'delete memories, their images and their traces in files',
    'export': 'write memories to a file',
    'import': 'store the memories of a file',
    'map': 'rename a map, or place its memories in another one',
    'captioner': 'try captioners on images',
    'web': 'show the memory as a page in a browser',
    'mcp': 'let other agents use the memory, by the Model Context Protocol',
}
"""Each verb is the module of that name with add_arguments(parser) and run(args) -> exit code."""

BRIEF = frozenset(('ask', 'recall', 'remember', 'event', 'objects', 'deeds', 'day', 'info', 'forget'))
"""Verbs that embed a text at most."""

_EXAMPLES = 'examples:'

LABORATORY = {
    'eval': 'answer a data set of questions and score the answers',
    'demo': 'render a building, remember a tour through it, ask five questions',
    'coda': "convert CODa's folders to rosbags",
}
"""The verbs of the package remembr_bench: they come by entry points, as those of any package do."""
NO_LABORATORY = (
    'this verb comes with the package remembr_bench; where its sources are: pip install ./remembr_bench, or '
    'colcon build --base-paths . remembr_msgs remembr_bench'
)


class _Help(argparse.HelpFormatter):
    """Keeps the lines of examples, and shows an option by one word, whatever others are understood."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(_EXAMPLES) else super()._fill_text(text, width, indent)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        shown = copy(action)
        if len(action.option_strings) > 1 and action.option_strings[0] != '-h':
            negated = [word for word in action.option_strings if word.startswith('--no-')]
            shown.option_strings = [action.option_strings[0], *negated[:1]]
        return super()._format_action_invocation(shown)


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong, and takes -1e-05, which programs print for a coordinate, for a number;
    Python before 3.14 does not."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{'formatter_class': _Help, **options})
        self.color = False  # of Python 3.14: escapes would be shown, see plain_output
        self._negative_number_matcher = re.compile(r'-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$')

    def error(self, message: str) -> NoReturn:
        wrong = re.match(r"argument VERB: invalid choice: '(.+?)' \(", message)
        if wrong and (like := get_close_matches(wrong[1], VERBS, 1, 0.7)):
            message = f'there is no verb {wrong[1]!r}, but {like[0]}'
        message = re.sub(r'^argument (--[\w-]+)(?:/[-\w]+)*:', r'\1:', message)
        self.exit(2, f'{self.prog}: {message}; {self.prog} --help shows what it takes\n')

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Say which option is unknown, and which is like it."""
        word = next((word for word in unknown if word.startswith('-')), unknown[0]).partition('=')[0]
        like = get_close_matches(word, self._option_string_actions, 1)
        self.error(f'it does not take {word!r}' + (f', but {like[0]}' if like else ''))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    :return: 0 done, 1 a stated failure (message on standard error), 2 wrong usage
    """
    if isinstance(sys.stdout, TextIOWrapper):
        # What a camera read or a shell passed on may be more than the terminal's encoding has.
        sys.stdout.reconfigure(errors='replace')
    with plain_output():
        try:
            code = _run(argv)
            sys.stdout.flush()
        except BrokenPipeError:
            if not _is_unheard():  # it is of a connection, and a fault
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 128 + signal.SIGPIPE
        return code


def _is_unheard() -> bool:
    """Tell whether nobody reads what is printed any more, as behind `| head`."""
    output = select.poll()
    output.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in output.poll(0))


def _run(argv: Sequence[str] | None) -> int:
    parser = _Parser(prog='remembr', description="A robot's memory: what it saw, where and when.")
    parser.add_argument('--version', action='version', version=__version__)
    parser.add_argument('-v', '--verbose', action='store_true', help='log what is being done')
    # What stands before the verb are options without a value. Only the verb that is used is imported.
    words = sys.argv[1:] if argv is None else argv
    verb = next((word for word in words if not word.startswith('-')), '')
    if verb in BRIEF:  # before numpy: for one short text its threads only wait for each other
        os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    gc.disable()  # what a verb imports stays: to look through it for garbage takes a tenth of its start
    try:
        module = _load(verb)
    except ExtensionFailed as error:
        return _fail(verb, error)
    finally:
        gc.enable()
    used = parser
    verbs = parser.add_subparsers(dest='verb', metavar='VERB', required=True)
    # All that others add is told by --help, and where the verb is wrong.
    others = {} if verb in VERBS else _added() if module is None else {verb: LABORATORY.get(verb, verb)}
    for name, summary in (VERBS | others).items():
        made = verbs.add_parser(name, help=summary, description=f'{summary[0].upper()}{summary[1:]}.')
        if name == verb:
            used = made
            module.add_arguments(made)
            if examples := getattr(module, 'EXAMPLES', ()):
                made.epilog = '\n'.join([_EXAMPLES, *(f'  remembr {example}' for example in examples)])
    args, rest = parser.parse_known_args(words)
    rest = [*vars(args).pop('behind', ()), *rest]
    if rest and not (hasattr(args, 'words') and all(word[:1] != '-' for word in rest)):
        used.refuse(rest)
    if rest:  # words that stand behind options
        args.words += rest
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if args.verbose else logging.WARNING,
        format='%(levelname)s %(name)s: %(message)s',
    )
    for name in ('httpx', 'httpx2'):  # they log whole URLs, with what is secret in them
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        code: int = module.run(args)
    except RemembrError as error:
        return _fail(args.verb, error, _never_fetched(words))
    except KeyboardInterrupt:
        ignore_signals_at_exit()
        print(f'remembr {args.verb}: interrupted', file=sys.stderr)
        return 130
    if argv is None and args.verb == 'map':
        _end_at_once(code)
    return code


def _added() -> dict[str, str]:
    """Return the verbs that other packages add, and what each does."""
    added = {name: origin(entry) for name, entry in extensions('verbs').items() if name not in VERBS}
    return {name: LABORATORY.get(name, f'a verb of {package}') for name, package in added.items()}


def _load(verb: str) -> Any:
    """Return the module of a verb; None: there is no such verb.

    :raises ExtensionFailed: it is part of a package that is not installed, or does not work
    """
    if verb in VERBS:
        return importlib.import_module(_module(verb))
    module = load_extension('verbs', verb)
    if module is None and verb in LABORATORY:
        raise ExtensionFailed(NO_LABORATORY)
    if module is not None and not (hasattr(module, 'add_arguments') and hasattr(module, 'run')):
        raise ExtensionFailed(f'{module.__name__} has no add_arguments(parser) and run(args)')
    return module


def _never_fetched(words: Sequence[str]) -> str:
    """Return which file of a command line is none, what it is, and what brings it; empty: all may be."""
    for word in words:
        file = Path(word.rpartition(':')[2])  # also of 'onnx:FILE'
        with suppress(OSError):
            if file.is_file() and (what := stand_in(file)):
                return f'{file} is {what}'
    return ''


def _fail(verb: str, error: RemembrError, cause: str = '') -> int:
    text = str(error)
    print(f'remembr {verb}: {text}' + (f'; {cause}' if cause and cause not in text else ''), file=sys.stderr)
    return 2 if isinstance(error, InvalidRequest) else 1


def _end_at_once(code: int) -> NoReturn:
    """End the process without taking the interpreter apart, which takes 0.2 s.

    Killed in these, a change that is done, and is taken as told, would look as if nobody had been told, and
    be done once more.
    """
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _module(verb: str) -> str:
    rooms = {'web': 'serving', 'mcp': 'serving', 'event': 'deeds', 'deeds': 'deeds', 'place': 'places'}
    room = rooms.get(verb, 'verbs')
    # A module cannot have the name of a keyword.
    return f'remembr_ros.cli.{room}.{verb}{"_" if iskeyword(verb) else ""}'


if __name__ == '__main__':
    sys.exit(main())
