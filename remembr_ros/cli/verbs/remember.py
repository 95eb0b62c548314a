"""remembr remember: a person's note becomes a memory."""

import argparse
import time
from contextlib import ExitStack

from remembr_ros.cli.options import add_json, add_memory, name, open_memory
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.forms.events import NoteForm
from remembr_ros.forms.faces import add_options, from_options
from remembr_ros.memory.model.codec import memory_json
from remembr_ros.memory.notes import store_note

EXAMPLES = (
    'remember The spare key hangs behind the fridge. --position 2 1.5 0',
    "remember 'Anna is on holiday.' --time 2026-11-23T08:10Z",
    "remember 'The lift is out of order.' --position 5 0 0 --yaw 1.57 --map floor1 --robot anna",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    add_options(parser, NoteForm, words='text')
    parser.add_argument(
        '--frame-id',
        type=name,
        metavar='F',
        default='map',
        help='the frame of the map (default: %(default)s)',
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    form = from_options(NoteForm, args)
    stamp_ns = form.time if form.time is not None else time.time_ns()
    about = {'pose': form.pose, 'frame_id': args.frame_id, 'map_id': form.map}
    with stdout_for_json(args.json), ExitStack() as until_told:
        made = lambda: until_told.enter_context(open_memory(args, create=True))  # noqa: E731
        memory = store_note(made, form.text, form.robot or 'robot', stamp_ns, **about)
    print_result(args.json, memory_json(memory), memory.id)
    return 0
