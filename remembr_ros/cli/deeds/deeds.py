"""remembr deeds: what the robot did, in order, time and number."""

import argparse
from collections import Counter

from remembr_ros.cli.options import add_json, add_memory, open_memory
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.forms.faces import add_options, from_options
from remembr_ros.forms.results import deeds_json
from remembr_ros.memory.deeds.query import MOVES, STAY, FoundDeeds, Occurrence
from remembr_ros.timestamps import format_clock, format_duration

EXAMPLES = (
    'deeds pick --object cup --outcome failed',
    'deeds stay --place kitchen --order longest --limit 3',
    "deeds --after docked --before '2026-11-23 18:00' --count",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    add_options(parser, DeedsForm, words='kind')
    parser.add_argument(
        '--count',
        action='store_true',
        help='how many there are, whatever --nth and --limit, and how they ended',
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    form = from_options(DeedsForm, args)
    form.query()
    with stdout_for_json(args.json), open_memory(args, read_only=True) as store:
        found = form.find(store)
    never = form.never or ''
    if args.count:
        outcomes = Counter(deed.outcome for deed in found.every)
        by_outcome = ', '.join(f'{number} {outcome}' for outcome, number in outcomes.most_common())
        counts = {'total': len(found.every), 'outcomes': dict(outcomes), 'whole': found.whole}
        print_result(args.json, counts, '\n'.join(filter(None, (str(len(found.every)), by_outcome))))
    else:
        lines = [*(_line(deed, never) for deed in found.found), _summary(found, never)]
        print_result(args.json, deeds_json(found), '\n'.join(lines))
    return 0


def _line(deed: Occurrence, never: str) -> str:
    cells = [format_clock(deed.start_ns), _sentence(deed)]
    if never:
        return '  '.join((getattr(deed.facts, never), *cells))
    cells += [deed.outcome] if deed.outcome != 'unknown' else []
    cells += [format_duration(deed.seconds)] if deed.seconds else []
    cells += [f'{deed.metres:.1f} m'] if deed.metres else []
    return '  '.join(cells)


def _sentence(deed: Occurrence) -> str:
    facts = deed.facts
    if facts.kind == STAY:
        return f'Was in {deed.where}'
    return (facts.text if facts.kind.split(' ')[0] in MOVES else '') or deed.memory.caption


def _summary(found: FoundDeeds, never: str) -> str:
    text = f'{len(found.every)} in all'
    if found.mean_seconds is not None and not never:
        text += f', {format_duration(found.seconds)} in total'
        text += f', {format_duration(found.mean_seconds)} on average'
        text += f', {found.metres:.1f} m' if found.metres else ''
    return text if found.whole else f'{text}; only the latest of very many memories were looked at'
