"""remembr deeds: what the robot did, in order, time and number."""

import argparse
from collections import Counter
from typing import Any

from remembr_ros.cli.options import PLACE, add_json, add_memory, add_robots, count, open_memory, point, time
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.deeds.asked import deed_said, find_asked
from remembr_ros.memory.deeds.deed import OUTCOMES
from remembr_ros.memory.deeds.query import FIELDS, MOVES, STAY, DeedOrder, DeedQuery, FoundDeeds, Occurrence
from remembr_ros.memory.model.codec import memory_json
from remembr_ros.memory.model.recall import Scope
from remembr_ros.timestamps import format_clock, format_duration, parse_time

_WORDS = {
    'kind': 'by a usual word for it, such as pick; sight: --object was in view; stay: it was in a place; '
    'handling: a thing was picked and put; moving, standing, turning, driving: how it moved',
    'object': 'words of the name of what it was done to',
    'receptacle': 'words of the name of what that was taken from or put on',
    'place': 'words of the name of the place that is told, or that it was in',
    'attribute': 'more words that its names or its sentence have',
}
_SIDES = {
    'after': 'only what was over at or after this time, or began after the last deed with these words',
    'before': 'only what began at or before this time, or was over before the last deed with these words',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    add = parser.add_argument
    for name, text in _WORDS.items():
        add(f'--{name}', default='', metavar='WORDS', help=text)
    add(
        '--outcome',
        choices=OUTCOMES,
        action='append',
        default=[],
        help='how it ended; several times: any of these',
    )
    for name, text in _SIDES.items():
        add(f'--{name}', metavar='TIME|WORDS', help=text)
    add('--right', action='store_true', help='with words for one of these: the very next deed')
    add('--at', type=time, metavar='TIME', help='what was going on then, or else was nearest in time')
    add(
        '--order',
        choices=[order.value for order in DeedOrder],
        default=DeedOrder.FIRST.value,
        help='what comes first; way: on a short way by all of them (default: %(default)s)',
    )
    add('--here', **PLACE, help='where nearest, farthest and way start [m]')
    add('--nth', type=int, metavar='N', help='only this one: 1 is the first of the order, -1 its last')
    add('--limit', type=count, metavar='N', help='so many (default: all)')
    add(
        '--never',
        choices=FIELDS,
        default='',
        help='not these deeds, but the names that none of them has, with what was heard of each last',
    )
    add_robots(parser, 'only deeds of this robot; several times: of any of these')
    add('--map-id', metavar='ID', help='only deeds on this map')
    add(
        '--count',
        action='store_true',
        help='how many there are, whatever --nth and --limit, and how they ended',
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    query = _query(args)
    with stdout_for_json(args.json), open_memory(args, read_only=True) as store:
        found = find_asked(store, query)
    if args.count:
        outcomes = Counter(deed.outcome for deed in found.every)
        by_outcome = ', '.join(f'{number} {outcome}' for outcome, number in outcomes.most_common())
        counts = {'total': len(found.every), 'outcomes': dict(outcomes), 'whole': found.whole}
        print_result(args.json, counts, '\n'.join(filter(None, (str(len(found.every)), by_outcome))))
    else:
        lines = [*(_line(deed, args.never) for deed in found.found), _summary(found, args.never)]
        print_result(args.json, _json(found), '\n'.join(lines))
    return 0


def _query(args: argparse.Namespace) -> DeedQuery:
    after_ns, before_ns = _time_told(args.after), _time_told(args.before)
    scope = Scope(after_ns, before_ns, robots=tuple(args.robot), map_id=args.map_id)
    return DeedQuery(
        **{name: getattr(args, name) for name in _WORDS},
        outcomes=tuple(args.outcome),
        scope=scope,
        after=deed_said(args.after, scope) if args.after is not None and after_ns is None else None,
        before=deed_said(args.before, scope) if args.before is not None and before_ns is None else None,
        right=args.right,
        at_ns=args.at,
        order=DeedOrder(args.order),
        here=point(args.here),
        nth=args.nth,
        limit=args.limit,
        never=args.never,
    )


def _time_told(text: str | None) -> int | None:
    """Return the time that a text is [ns]; None: it is none, but words."""
    try:
        return None if text is None else parse_time(text)
    except InvalidRequest:
        return None


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


def _json(found: FoundDeeds) -> dict[str, Any]:
    return {
        'deeds': [_deed_json(deed) for deed in found.found],
        'total': len(found.every),
        'anchors': [_deed_json(anchor) for anchor in found.anchors],
        'whole': found.whole,
        'seconds': found.seconds,
        'mean_seconds': found.mean_seconds,
        'metres': found.metres,
    }


def _deed_json(deed: Occurrence) -> dict[str, Any]:
    facts = deed.facts
    return {
        **memory_json(deed.as_memory),
        'kind': facts.kind,
        'object': facts.object,
        'receptacle': facts.receptacle,
        'place': deed.where,
        'outcome': deed.outcome,
        'reason': facts.reason,
        'seconds': deed.seconds,
        'metres': deed.metres,
    }
