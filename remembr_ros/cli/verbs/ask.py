"""remembr ask: a question, answered from the memory."""

import argparse
import sys

from remembr_ros.agent.agent import name_said
from remembr_ros.agent.build import build_agent
from remembr_ros.agent.model.answer import Question, answer_json
from remembr_ros.agent.model.same_place import SAME_PLACE_M, SamePlace
from remembr_ros.agent.planner import Progress
from remembr_ros.cli.options import PLACE, add_json, add_memory, add_narrowing, metres, now_ns, open_memory
from remembr_ros.cli.output import answer_lines, print_result, stdout_for_json
from remembr_ros.cli.planner_options import add_planner, agent_config
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Scope
from remembr_ros.places.naming import name_here


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('question', metavar='QUESTION')
    add_memory(parser)
    add_planner(parser)
    add_narrowing(parser, map_option='--map')
    parser.add_argument('--here', **PLACE, help='where the robot is, in the map frame')
    parser.add_argument('--map-id', metavar='ID', default='', help='the map that the robot is on')
    parser.add_argument(
        '--same-place',
        type=metres,
        metavar='M',
        default=SAME_PLACE_M,
        help='sights of a thing from this near to each other are of one thing (default: %(default)g m)',
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    # To name a place is to change the memory.
    with stdout_for_json(args.json), open_memory(args, read_only=not name_said(args.question)) as store:
        agent = build_agent(store, agent_config(args), keyframes=store)
        agent.naming = lambda name, question: name_here(name, question, lambda new: store.name_places([new]))
        # Loaded now, not within the time of the question: a language model that does not answer shall leave
        # enough of it for the planner that steps in.
        store.embedder  # noqa: B018
        question = Question(
            args.question,
            now_ns=now_ns(args),
            here=Pose(*args.here) if args.here else None,
            map_id=args.map_id,
            zone=args.time_zone,
            same_place=SamePlace(args.same_place),
            scope=Scope(args.after, args.before, robots=tuple(args.robot), map_id=args.map, place=args.place),
        )
        answer = agent.ask(question, on_progress=None if args.json else _show)
    print_result(args.json, answer_json(question, answer), answer_lines(question, answer))
    return 0


def _show(progress: Progress) -> None:
    if sys.stderr.isatty():
        print(f'{progress.stage}: {progress.detail}', file=sys.stderr)
