"""remembr eval objects: the objects of simulated homes, by several rules, with several errors."""

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from remembr_ros.cli.options import add_json, count, sequence
from remembr_ros.cli.output import print_result, progress, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.objects.measure import Tally
from remembr_ros.evaluation.objects.questions import ask_home
from remembr_ros.evaluation.objects.report import draw, results, table
from remembr_ros.evaluation.objects.rules import RULES
from remembr_ros.evaluation.objects.run import LEVELS, drive_through
from remembr_ros.simulation.homes.layout import VISITS, generate_home
from remembr_ros.simulation.homes.recording import record_home


def add_arguments(parser: argparse.ArgumentParser) -> None:
    levels = [level.name for level in LEVELS]
    add = parser.add_argument
    add('--homes', nargs='+', type=sequence, required=True, metavar='SEED', help='seeds of the homes')
    add('--visits', type=count, default=VISITS, metavar='N', help='to each home (default: %(default)s)')
    add('--rules', nargs='+', choices=list(RULES), default=list(RULES), help='(default: all)')
    add('--noise', nargs='+', choices=levels, default=levels, metavar='LEVEL', help='(default: all)')
    add('--jobs', type=count, default=1, metavar='N', help='homes at once (default: %(default)s)')
    add('--questions', action='store_true', help='ask questions to each home, by rules: questions.json')
    add('--bags', action='store_true', help='record each home as a rosbag, too: DIR/home_SEED')
    add('--out', type=Path, required=True, metavar='DIR', help='results.json, results.md, objects.png')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    seeds = list(dict.fromkeys(args.homes))
    drive = partial(_drive, visits=args.visits, noise=args.noise, rules=args.rules, ask=args.questions)
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        with stdout_for_json(args.json), progress('homes', len(seeds), unit='home') as show:
            for seed in seeds if args.bags else ():
                record_home(args.out / f'home_{seed}', generate_home(seed, args.visits))
            with ProcessPoolExecutor(args.jobs, get_context('spawn')) as pool:
                # One at a time is driven here: a process that is killed leaves no other behind.
                driven = []
                for home in (pool.map if args.jobs > 1 else map)(drive, seeds):
                    driven.append(home)
                    show(len(driven))
            told = results(seeds, {key: [of[key] for of in driven] for key in driven[0]})
            draw(args.out / 'objects.png', told)
        (args.out / 'results.json').write_text(json.dumps(told, indent=2) + '\n', encoding='utf-8')
        if args.questions:
            asked = [
                {
                    'home': seed,
                    'noise': level,
                    'kind': kind,
                    'question': text,
                    'answer': answer,
                    'right': right,
                }
                for seed, of in zip(seeds, driven, strict=True)
                for (level, _), tally in of.items()
                for kind, text, answer, right in tally.asked
            ]
            (args.out / 'questions.json').write_text(json.dumps(asked, indent=1) + '\n', encoding='utf-8')
        (args.out / 'results.md').write_text(table(told) + '\n', encoding='utf-8')
    except OSError as error:
        raise InvalidRequest(f'{args.out} cannot be written: {error}') from error
    print_result(args.json, told, table(told))
    return 0


def _drive(
    seed: int, visits: int, noise: list[str], rules: list[str], *, ask: bool
) -> dict[tuple[str, str], Tally]:
    levels, home = [level for level in LEVELS if level.name in noise], generate_home(seed, visits)
    courses = drive_through(home, levels, rules)
    for (_, rule), course in courses.items():
        if ask and rule == 'remembr':
            course.tally.asked = ask_home(home, course)
    return {key: course.tally for key, course in courses.items()}
