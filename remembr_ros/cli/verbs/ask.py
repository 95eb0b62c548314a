"""remembr ask: a question, answered from the memory."""

import argparse
import sys
import time

from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.agent.chat.presets import PRESETS
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.json_form import answer_json
from remembr_ros.agent.model.same_place import SAME_PLACE_M, SamePlace
from remembr_ros.agent.planner import Progress
from remembr_ros.cli.options import add_json, add_memory, coordinate, metres, open_memory, seconds, time_zone
from remembr_ros.cli.options import time as time_option
from remembr_ros.cli.output import answer_lines, print_result, stdout_for_json
from remembr_ros.geometry import Pose


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('question', metavar='QUESTION')
    add_memory(parser)
    parser.add_argument(
        '--llm', metavar='MODEL', default='', help="language model; default: the server's (REMEMBR_LLM)"
    )
    parser.add_argument(
        '--llm-url',
        metavar='URL',
        default='',
        help=f'its server: {", ".join(PRESETS)}, or the URL of any that speaks the OpenAI chat API, such as '
        'http://host:8000/v1 (REMEMBR_LLM_URL); with neither a model nor a server nor OPENAI_API_KEY, the '
        'offline planner answers',
    )
    parser.add_argument(
        '--llm-fallback',
        metavar='MODEL',
        default='',
        help='language model to ask when the first is out of reach (REMEMBR_LLM_FALLBACK)',
    )
    parser.add_argument(
        '--llm-fallback-url', metavar='URL', default='', help='its server (REMEMBR_LLM_FALLBACK_URL)'
    )
    parser.add_argument(
        '--trace',
        metavar='FILE',
        default='',
        help='append what happens to the question to this file; see remembr trace (REMEMBR_TRACE)',
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
        '--same-place',
        type=metres,
        metavar='M',
        default=SAME_PLACE_M,
        help='sights of a thing from this near to each other are of one thing (default: %(default)g m)',
    )
    parser.add_argument(
        '--time-zone',
        type=time_zone,
        metavar='NAME',
        default='',
        help="whose clock 'yesterday' and '3 pm' are on, such as Europe/Berlin (default: this machine's)",
    )
    parser.add_argument(
        '--look-again',
        metavar='MODEL',
        default='',
        help='vision language model that looks at keyframes again when the language model wants it to',
    )
    parser.add_argument('--look-again-url', metavar='URL', default='', help='its OpenAI-compatible server')
    parser.add_argument(
        '--timeout', type=seconds, metavar='S', default=60.0, help='seconds (default: %(default)s)'
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with stdout_for_json(args.json), open_memory(args, read_only=True) as store:
        config = AgentConfig(
            llm=args.llm,
            llm_url=args.llm_url,
            llm_fallback=args.llm_fallback,
            llm_fallback_url=args.llm_fallback_url,
            look_again_model=args.look_again,
            look_again_url=args.look_again_url,
            timeout_s=args.timeout,
            trace=args.trace,
        )
        agent = build_agent(store, config, keyframes=store)
        # Loaded now, not within the time of the question: a language model that does not answer shall leave
        # enough of it for the planner that steps in.
        store.embedder  # noqa: B018
        question = Question(
            args.question,
            now_ns=args.now if args.now is not None else time.time_ns(),
            here=Pose(*args.here) if args.here else None,
            map_id=args.map_id,
            zone=args.time_zone,
            same_place=SamePlace(args.same_place),
        )
        answer = agent.ask(question, on_progress=None if args.json else _show)
    print_result(args.json, answer_json(question, answer), answer_lines(question, answer))
    return 0


def _show(progress: Progress) -> None:
    if sys.stderr.isatty():
        print(f'{progress.stage}: {progress.detail}', file=sys.stderr)
