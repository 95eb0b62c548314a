"""remembr remember: a person's note becomes a memory."""

import argparse
import time
from contextlib import ExitStack

from remembr_ros.cli.options import PLACE, add_json, add_memory, name, open_memory, point, radians
from remembr_ros.cli.options import time as time_option
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose, wrap_angle
from remembr_ros.memory.model.codec import memory_json
from remembr_ros.memory.notes import store_note


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('text', metavar='TEXT', help='what shall be remembered')
    add_memory(parser)
    parser.add_argument('--position', **PLACE, help='the place that it is about [m] (default: none)')
    parser.add_argument('--yaw', type=radians, metavar='RAD', help='the heading there (default: 0)')
    parser.add_argument('--time', type=time_option, metavar='TIME', help='when it was (default: now)')
    parser.add_argument(
        '--robot', type=name, metavar='NAME', default='robot', help='whose memory (default: %(default)s)'
    )
    parser.add_argument('--map-id', metavar='ID', default='', help='the map that the place is in')
    parser.add_argument(
        '--frame-id', type=name, metavar='F', default='map', help='its frame (default: %(default)s)'
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    if args.yaw is not None and args.position is None:
        raise InvalidRequest('--yaw is a heading at a place: give --position, too')
    place = point(args.position)
    pose = Pose(*place, wrap_angle(args.yaw or 0.0)) if place else None
    stamp_ns = args.time if args.time is not None else time.time_ns()
    about = {'pose': pose, 'frame_id': args.frame_id, 'map_id': args.map_id}
    with stdout_for_json(args.json), ExitStack() as until_told:
        made = lambda: until_told.enter_context(open_memory(args, create=True))  # noqa: E731
        memory = store_note(made, args.text, args.robot, stamp_ns, **about)
    print_result(args.json, memory_json(memory), memory.id)
    return 0
