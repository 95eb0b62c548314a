"""remembr ask: a question, answered from the memory."""

import argparse
import sys
import time

from remembr_ros.agent.agent import AgentConfig, build_agent
from remembr_ros.agent.answer import Question
from remembr_ros.agent.offline import NAME as OFFLINE
from remembr_ros.agent.planner import Progress
from remembr_ros.cli.options import add_json, add_memory, coordinate, seconds
from remembr_ros.cli.options import time as time_option
from remembr_ros.cli.output import answer_json, answer_lines, print_json, stdout_for_json
from remembr_ros.geometry import Pose
from remembr_ros.memory.store import open_store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('question', metavar='QUESTION')
    add_memory(parser)
    parser.add_argument('--llm', metavar='MODEL', default='', help='language model (REMEMBR_LLM)')
    parser.add_argument(
        '--llm-url',
        metavar='URL',
        default='',
        help='its OpenAI-compatible server, such as http://localhost:11434/v1 (REMEMBR_LLM_URL); with '
        'neither a model nor OPENAI_API_KEY, the offline planner answers',
    )
    parser.add_argument(
        '--now', type=time_option, metavar='TIME', help="the asker's now (default: the clock)"
    )
    parser.add_argument(
        '--here',
        nargs=3,
        type=coordinate,
        metavar=('X', 'Y', 'Z'),
        help='where the robot is, in the map frame',
    )
    parser.add_argument('--map-id', metavar='ID', default='', help='the map that the robot is on')
    parser.add_argument(
        '--timeout', type=seconds, metavar='S', default=60.0, help='seconds (default: %(default)s)'
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with stdout_for_json(args.json), open_store(args.memory, args.embedder, create=False) as store:
        agent = build_agent(store, AgentConfig(llm=args.llm, llm_url=args.llm_url, timeout_s=args.timeout))
        if agent.planner != OFFLINE:
            # Now, not within the time of the question: a model that does not answer shall leave enough for
            # the planner that steps in.
            store.embedder  # noqa: B018
        question = Question(
            args.question,
            now_ns=args.now if args.now is not None else time.time_ns(),
            here=Pose(*args.here) if args.here else None,
            map_id=args.map_id,
        )
        answer = agent.ask(question, on_progress=None if args.json else _show)
    if args.json:
        print_json(answer_json(question, answer))
    else:
        print(answer_lines(question, answer))
    return 0


def _show(progress: Progress) -> None:
    if sys.stderr.isatty():
        print(f'{progress.stage}: {progress.detail}', file=sys.stderr)
