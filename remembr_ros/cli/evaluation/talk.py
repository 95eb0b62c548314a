"""remembr eval talk: a person and a robot, played by two language models, talk in simulated homes."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.cli.options import add_json, count, seconds, sequence
from remembr_ros.cli.output import print_result, progress, stdout_for_json, write_text
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.findingdory.episode import remembered
from remembr_ros.evaluation.run.planners import RETRIES
from remembr_ros.evaluation.talk.conversation import Talking, hold
from remembr_ros.evaluation.talk.episode import TalkEpisode, read_episode, replay


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('--homes', nargs='+', type=sequence, metavar='SEED', help='seeds of the homes')
    add('--episodes', type=count, default=20, metavar='N', help='in all, in the homes by turns (default: 20)')
    add('--user', default='', metavar='MODEL', help='language model that plays the person')
    add('--user-llm-url', metavar='URL', help='its OpenAI-compatible server')
    add('--llm', default='', metavar='MODEL', help='language model that plays the robot')
    add('--llm-url', metavar='URL', help='its OpenAI-compatible server')
    text = 'what answers when the robot asks its memory in words (default: %(default)s)'
    add('--planner', choices=('offline', 'agent'), default='offline', help=text)
    add('--turns', type=count, default=6, metavar='N', help='of the person, at most (default: 6)')
    add('--steps', type=count, default=20, metavar='N', help='of the robot in a turn (default: 20)')
    add('--embedder', metavar='NAME', default='hashing', help='(default: %(default)s)')
    add('--timeout', type=seconds, default=60.0, metavar='S', help='for one choice (default: 60)')
    add('--out', type=Path, metavar='DIR', help='results.json, and episodes.jsonl: a talk a line')
    add('--replay', type=Path, metavar='FILE', help='only do again what the talks of a file tell')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    if args.replay is None and not (args.homes and args.out):
        raise InvalidRequest('give --homes and --out, or --replay with a file of talks')
    if args.replay is None and not all((args.user or args.user_llm_url, args.llm or args.llm_url)):
        raise InvalidRequest(
            'two language models talk: give --user-llm-url and --llm-url, or --user and --llm'
        )
    with stdout_for_json(args.json):
        told = _results(_again(args.replay) if args.replay is not None else _held(args))
    if args.out is not None:
        write_text(args.out / 'results.json', json.dumps(told, indent=2) + '\n')
    print_result(args.json, told, _lines(told))
    return 0


def _held(args: argparse.Namespace) -> Iterator[TalkEpisode]:
    """Hold the talks; each is on the disk before the next one begins."""
    robot = OpenAIChat(args.llm, args.llm_url, max_retries=RETRIES)
    user = OpenAIChat(args.user, args.user_llm_url, max_retries=RETRIES)
    planner = LoopPlanner(robot, call_timeout_s=args.timeout) if args.planner == 'agent' else OfflinePlanner()
    talking = Talking(user, robot, planner, args.turns, args.steps, args.timeout)
    homes, embedder = list(dict.fromkeys(args.homes)), get_embedder(args.embedder)
    write_text(args.out / 'episodes.jsonl', '')
    with progress('talks', args.episodes, unit='talk') as show:
        done = 0
        for at, seed in enumerate(homes):
            numbers = range(at, args.episodes, len(homes))
            if not numbers:
                break
            with remembered(seed, embedder) as (lived, store):
                for number in numbers:
                    episode = hold(talking, seed, number, lived, store)
                    write_text(args.out / 'episodes.jsonl', episode.model_dump_json() + '\n', mode='a')
                    done += 1
                    show(done)
                    yield episode


def _again(path: Path) -> Iterator[TalkEpisode]:
    try:
        lines = path.read_text(encoding='utf-8').splitlines()
    except (OSError, UnicodeError) as error:
        raise InvalidRequest(f'{path} cannot be read: {error}') from error
    for number, line in enumerate(lines, start=1):
        try:
            yield read_episode(line)
        except InvalidRequest as error:
            raise InvalidRequest(f'{path}, line {number}: {error}') from error


def _results(episodes: Iterator[TalkEpisode]) -> dict[str, Any]:
    """Return the figures, with a row for each talk."""
    rows = []
    for one in episodes:
        wrong = replay(one)
        rows.append(
            {
                'home': one.home,
                'number': one.number,
                'ended': one.ended,
                'failure': one.failure,
                'turns': len(one.turns),
                'steps': sum(len(turn.steps) for turn in one.turns),
                'deeds': sum(len(step.deeds) for turn in one.turns for step in turn.steps),
                'unfounded': one.unfounded,
                'replay': wrong or 'the same end',
                'llm_calls': one.llm_calls,
                'prompt_tokens': one.prompt_tokens,
            }
        )
    return {
        'overall': {
            'n': len(rows),
            'replayed': sum(row['replay'] == 'the same end' for row in rows),
            'with_unfounded_claims': sum(bool(row['unfounded']) for row in rows),
            'failed': sum(bool(row['failure']) for row in rows),
            'content': sum(row['ended'] == 'content' for row in rows),
        },
        'episodes': rows,
    }


def _lines(told: dict[str, Any]) -> str:
    overall = told['overall']
    lines = [
        f'{overall["n"]} talks: {overall["content"]} ended content, {overall["failed"]} failed, '
        f'{overall["replayed"]} replayed to the same end, '
        f'{overall["with_unfounded_claims"]} in which the robot claims what it did not do'
    ]
    for row in told['episodes']:
        name = f'home {row["home"]}, talk {row["number"]}'
        lines += [f'{name}: claimed, not done: {claim!r}' for claim in row['unfounded']]
        lines += [f'{name}: {row["replay"]}'] if row['replay'] != 'the same end' else []
        lines += [f'{name}: {row["failure"]}'] if row['failure'] else []
    return '\n'.join(lines)
