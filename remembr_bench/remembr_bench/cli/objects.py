"""remembr eval objects: the objects of simulated homes, with several errors."""

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from remembr_bench.cli.field_options import add_fields, read_fields
from remembr_bench.evaluation.objects.measure import Tally
from remembr_bench.evaluation.objects.questions import ask_home
from remembr_bench.evaluation.objects.report import object_table, results
from remembr_bench.evaluation.objects.run import LEVELS, drive_through
from remembr_bench.evaluation.records.config import Seeds, option
from remembr_bench.simulation.homes.home_bag import record_home
from remembr_bench.simulation.homes.layout import VISITS, generate_home
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, progress, stdout_for_json, write_text
from remembr_ros.errors import InvalidRequest

NOISE = tuple(level.name for level in LEVELS)


class ObjectOptions(BaseModel):
    """Homes, and what is wrong with the poses and the detections."""

    homes: Seeds = option(..., 'seeds of the homes', 'SEED')
    visits: int = option(VISITS, 'to each home', 'N', ge=1)
    noise: tuple[str, ...] = option(NOISE, 'errors of poses and detections', 'LEVEL')
    jobs: int = option(1, 'homes at once', 'N', ge=1)
    questions: bool = option(False, 'ask questions to each home, by rules: questions.json')
    bags: bool = option(False, 'record each home as a rosbag, too: DIR/home_SEED')
    out: Path = option(..., 'results.json, results.md', 'DIR')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_fields(parser, ObjectOptions, noise={'choices': NOISE})
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    options = read_fields(args, ObjectOptions)
    seeds, out = options.homes, options.out
    drive = partial(_drive, options=options)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidRequest(f'{out} cannot be written: {error}') from error
    with stdout_for_json(args.json), progress('homes', len(seeds), unit='home') as show:
        for seed in seeds if options.bags else ():
            record_home(out / f'home_{seed}', generate_home(seed, options.visits))
        with ProcessPoolExecutor(options.jobs, get_context('spawn')) as pool:
            # One at a time is driven here: a process that is killed leaves no other behind.
            driven = []
            for home in (pool.map if options.jobs > 1 else map)(drive, seeds):
                driven.append(home)
                show(len(driven))
    figures = results(seeds, {key: [home[key] for home in driven] for key in driven[0]})
    table = object_table(figures['by_noise']).markdown()
    write_text(out / 'results.json', json.dumps(figures, indent=2) + '\n')
    write_text(out / 'results.md', table + '\n')
    if options.questions:
        write_text(out / 'questions.json', json.dumps(_asked(seeds, driven), indent=1) + '\n')
    print_result(args.json, figures, table)
    return 0


def _drive(seed: int, options: ObjectOptions) -> dict[str, Tally]:
    home = generate_home(seed, options.visits)
    courses = drive_through(home, [level for level in LEVELS if level.name in options.noise])
    for course in courses.values() if options.questions else ():
        course.tally.asked = ask_home(home, course)
    return {level: course.tally for level, course in courses.items()}


def _asked(seeds: Seeds, driven: list[dict[str, Tally]]) -> list[dict[str, Any]]:
    names = ('kind', 'question', 'answer', 'right')
    return [
        {'home': seed, 'noise': level, **dict(zip(names, asked, strict=True))}
        for seed, home in zip(seeds, driven, strict=True)
        for level, tally in home.items()
        for asked in tally.asked
    ]
