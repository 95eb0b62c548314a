"""remembr day: what the robot did and saw on a day, as a list."""

import argparse

from remembr_ros.agent.overview.recalled_day import TODAY, day_json, day_of, scope_of_day
from remembr_ros.cli.options import (
    add_clock,
    add_json,
    add_memory,
    add_place,
    add_robots,
    now_ns,
    open_memory,
)
from remembr_ros.cli.output import print_result, stdout_for_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'date',
        metavar='DATE',
        nargs='*',
        help='such as 2026-11-23, yesterday, Tuesday, yesterday afternoon, last 2 hours (default: today)',
    )
    add_memory(parser)
    add_robots(parser, 'only what this robot did; several times: any of these')
    add_place(parser)
    add_clock(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    zone = args.time_zone
    words = ' '.join(args.date) or TODAY
    scope = scope_of_day(words, now_ns(args), zone, tuple(args.robot), place=args.place)
    with stdout_for_json(args.json), open_memory(args, read_only=True) as store:
        day = day_of(store, scope, zone)
    print_result(args.json, day_json(day, zone), day.lines(zone))
    return 0
