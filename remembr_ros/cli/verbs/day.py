"""remembr day: what the robot did and saw on a day, as a list."""

import argparse

from remembr_ros.agent.overview.recalled_day import day_json, day_of, scope_of_day
from remembr_ros.cli.options import add_clock, add_json, add_memory, now_ns, open_memory
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.forms.faces import add_options, from_options
from remembr_ros.forms.questions import DayForm

EXAMPLES = ('day', 'day yesterday afternoon --robot anna', 'day 2026-11-23 --time-zone Europe/Berlin --json')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    add_options(parser, DayForm, words='day')
    add_clock(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    zone = args.time_zone
    scope = scope_of_day(from_options(DayForm, args), now_ns(args), zone)
    with stdout_for_json(args.json), open_memory(args, read_only=True) as store:
        day = day_of(store, scope, zone)
    print_result(args.json, day_json(day, zone), day.lines(zone))
    return 0
