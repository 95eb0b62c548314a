"""remembr ask: a question, answered from the memory."""

import argparse
import sys

from remembr_ros.agent.agent import name_said
from remembr_ros.agent.build import build_agent
from remembr_ros.agent.model import english
from remembr_ros.agent.model.answer import Question, answer_json
from remembr_ros.agent.model.same_place import SAME_PLACE_M, SamePlace
from remembr_ros.agent.planner import Progress
from remembr_ros.cli.options import add_json, add_memory, metres, now_ns, open_memory
from remembr_ros.cli.output import answer_lines, print_result, stdout_for_json
from remembr_ros.cli.planner_options import add_planner, agent_config
from remembr_ros.forms.faces import add_options, from_options
from remembr_ros.forms.questions import AskHereForm
from remembr_ros.geometry import Pose

EXAMPLES = (
    'ask Where is the red mug?',
    "ask 'How long were you in the kitchen?' --after 2026-11-23 --time-zone Europe/Berlin",
    'ask Where is the nearest fire extinguisher --here 2 1.5 0 --llm-url ollama --json',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    add_options(parser, AskHereForm, words='question')
    add_planner(parser)
    parser.add_argument(
        '--same-place',
        type=metres,
        metavar='M',
        default=SAME_PLACE_M,
        help='sights of a thing from this near to each other are of one thing (default: %(default)g m)',
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    form = from_options(AskHereForm, args)
    # To name a place is to change the memory.
    with stdout_for_json(args.json), open_memory(args, read_only=not name_said(form.question)) as store:
        agent = build_agent(store, agent_config(args), keyframes=store)
        from remembr_ros.places.naming import name_here  # late: few questions name a place

        agent.naming = lambda name, question: name_here(name, question, lambda new: store.name_places([new]))
        # Loaded now, not within the time of the question: a language model that does not answer shall leave
        # enough of it for the planner that steps in.
        store.embedder  # noqa: B018
        english.alone = True  # behind what embeds, which may take torch
        question = Question(
            form.question,
            now_ns=now_ns(args),
            here=Pose(*form.here) if form.here else None,
            map_id=form.map or '',
            zone=args.time_zone,
            same_place=SamePlace(args.same_place),
            scope=form.scope(),
        )
        answer = agent.ask(question, on_progress=None if args.json else _show)
    print_result(args.json, answer_json(question, answer), answer_lines(question, answer))
    return 0


def _show(progress: Progress) -> None:
    if sys.stderr.isatty():
        print(f'{progress.stage}: {progress.detail}', file=sys.stderr)
