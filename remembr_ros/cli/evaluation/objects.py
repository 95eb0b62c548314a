"""remembr eval objects: the objects of simulated homes, by several rules, with several errors."""

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from remembr_ros.cli.options import add_json, count, sequence
from remembr_ros.cli.output import print_result, progress, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.objects.report import draw, results, table
from remembr_ros.evaluation.objects.run import LEVELS, PROMISED, RULES, drive_through
from remembr_ros.simulation.homes.layout import VISITS, generate_home
from remembr_ros.simulation.homes.recording import record_home


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--homes', nargs='+', type=sequence, required=True, metavar='SEED', help='seeds of the homes'
    )
    parser.add_argument(
        '--visits',
        type=count,
        default=VISITS,
        metavar='N',
        help='of the robot to each (default: %(default)s)',
    )
    parser.add_argument(
        '--rules',
        nargs='+',
        choices=list(RULES),
        default=list(RULES),
        help='(default: all; the first is the one)',
    )
    parser.add_argument(
        '--noise', nargs='+', choices=[level.name for level in LEVELS], metavar='LEVEL', help='(default: all)'
    )
    parser.add_argument('--jobs', type=count, default=1, metavar='N', help='homes at once (default: 1)')
    parser.add_argument('--bags', action='store_true', help='record each home, too: DIR/home_SEED')
    parser.add_argument(
        '--out', type=Path, required=True, metavar='DIR', help='for results.json, results.md and objects.png'
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    levels = [level for level in LEVELS if not args.noise or level.name in args.noise]
    homes = [generate_home(seed, args.visits) for seed in dict.fromkeys(args.homes)]
    drive = partial(drive_through, levels=levels, rules=args.rules)
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        with stdout_for_json(args.json), progress('homes', len(homes), unit='home') as show:
            for home in homes if args.bags else ():
                record_home(args.out / f'home_{home.seed}', home)
            if args.jobs == 1:
                driven = [show(i) or drive(home) for i, home in enumerate(homes)]
            else:
                with ProcessPoolExecutor(args.jobs) as pool:
                    driven = [show(i) or each for i, each in enumerate(pool.map(drive, homes))]
            show(len(homes))
            keys = driven[0][1]
            told = results(
                [home.seed for home in homes], {key: [of[1][key] for of in driven] for key in keys}
            )
            truth, _, beliefs = driven[0]
            at = PROMISED if (PROMISED, args.rules[0]) in beliefs else levels[0].name
            draw(args.out / 'objects.png', told, truth, beliefs[at, args.rules[0]])
        (args.out / 'results.json').write_text(json.dumps(told, indent=2) + '\n', encoding='utf-8')
        (args.out / 'results.md').write_text(table(told) + '\n', encoding='utf-8')
    except OSError as error:
        raise InvalidRequest(f'{args.out} cannot be written: {error}') from error
    print_result(args.json, told, table(told))
    return 0
