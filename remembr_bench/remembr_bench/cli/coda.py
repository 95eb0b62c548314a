"""remembr coda: sequences of CODa, the UT Campus Object Dataset, become rosbags."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from remembr_bench.coda.conversion import ConvertedSequence, convert_coda
from remembr_bench.coda.folder import CAMERAS, POSES
from remembr_ros.cli.options import add_json, sequence
from remembr_ros.cli.output import print_json, progress, stdout_for_json
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.timestamps import NS, format_duration, format_iso


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'root',
        type=Path,
        metavar='ROOT',
        help='folder of the data set, with timestamps, poses and 2d_rect or 2d_raw',
    )
    parser.add_argument(
        '--sequence',
        nargs='+',
        type=sequence,
        required=True,
        metavar='N',
        help='which, by number (0 to 22)',
    )
    parser.add_argument('--out', type=Path, required=True, metavar='DIR', help='write the rosbags DIR/N')
    parser.add_argument(
        '--camera', choices=CAMERAS, default=CAMERAS[0], help='left or right (default: %(default)s)'
    )
    parser.add_argument(
        '--poses',
        choices=list(POSES),
        default='dense',
        help="dense: NaVQA's, from the start of each sequence; dense_global: in one map for all sequences; "
        'sparse: before interpolation (default: %(default)s)',
    )
    parser.add_argument('--force', action='store_true', help='replace rosbags that are there already')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    numbers = list(dict.fromkeys(args.sequence))
    taken = [str(args.out / str(number)) for number in numbers if (args.out / str(number)).exists()]
    if taken and not args.force:  # said before hours are spent on the others
        raise InvalidRequest(f'{", ".join(taken)}: there already; --force replaces, or leave it out')
    done: list[ConvertedSequence] = []
    failed: list[dict[str, Any]] = []
    with stdout_for_json(args.json):
        for number in numbers:
            try:
                done.append(_convert(args, number))
            except BagUnreadable as error:
                print(f'remembr coda: sequence {number}: {error}', file=sys.stderr)
                failed.append({'sequence': number, 'error': str(error)})
            else:
                if not args.json:
                    print(_line(done[-1]), flush=True)
    if args.json:
        print_json({'sequences': [_json(sequence) for sequence in done], 'failed': failed})
    return 1 if failed else 0


def _convert(args: argparse.Namespace, number: int) -> ConvertedSequence:
    with progress(f'sequence {number}', unit='frame', leave=False) as show:
        return convert_coda(
            args.root,
            number,
            args.out / str(number),
            camera=args.camera,
            poses=args.poses,
            replace=args.force,
            progress=show,
        )


def _line(sequence: ConvertedSequence) -> str:
    duration = format_duration((sequence.end_ns - sequence.start_ns) / NS)
    parts = [
        f'{sequence.path}: {sequence.frames} images of {sequence.images}, {sequence.poses} poses, {duration}'
    ]
    if sequence.unplaced:
        parts.append(f'{sequence.unplaced} images before the first pose or after the last')
    if sequence.left_out:
        parts.append(f'left out {sum(sequence.left_out.values())}')
    if sequence.absent:
        parts.append(f'without {", ".join(sequence.absent)}')
    return '; '.join(parts)


def _json(sequence: ConvertedSequence) -> dict[str, Any]:
    values = asdict(sequence) | {'left_out': dict(sequence.left_out), 'bag': str(sequence.path)}
    values |= {name: format_iso(values.pop(f'{name}_ns')) for name in ('start', 'end')}
    return {name: value for name, value in values.items() if name != 'path'}
