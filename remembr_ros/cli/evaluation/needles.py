"""remembr eval needles: questions about clues in long trajectories through simulated homes."""

import argparse
import sys

from remembr_ros.cli.evaluation.findingdory import add_planner, carried_out
from remembr_ros.cli.options import count
from remembr_ros.evaluation.records.config import NEEDLE_LENGTHS
from remembr_ros.evaluation.report.needle_figures import draw


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    text = f'tokens of captions (default: {" ".join(map(str, NEEDLE_LENGTHS))})'
    add('--lengths', nargs='+', type=count, metavar='TOKENS', default=NEEDLE_LENGTHS, help=text)
    text = 'questions of a category with one clue, and with several, in a fifth, at most (default: 2)'
    add('--fillings', type=count, metavar='N', help=text)
    add_planner(parser)


def run(args: argparse.Namespace) -> int:
    args.lengths = list(dict.fromkeys(args.lengths))
    told = carried_out(args)
    if args.out is not None:
        try:
            draw(args.out / 'needles.png', told)
        except OSError as error:  # the figures are there
            print(f'no needles.png: {error}', file=sys.stderr)
    return 0
