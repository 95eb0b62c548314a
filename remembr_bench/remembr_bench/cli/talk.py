"""remembr eval talk: a person and a robot, played by two language models, talk in simulated homes."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from remembr_bench.cli.field_options import add_fields, read_fields
from remembr_bench.evaluation.findingdory.episode import remembered
from remembr_bench.evaluation.records.config import Seconds, Seeds, option
from remembr_bench.evaluation.run.planners import RETRIES
from remembr_bench.evaluation.talk.conversation import Talking, hold
from remembr_bench.evaluation.talk.episode import TalkEpisode, read_episode, replay
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, progress, stdout_for_json, write_text
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import InvalidRequest

SAME_END = 'the same end'


class TalkOptions(BaseModel):
    """Who talks in which homes, or which talks are done again."""

    homes: Seeds = option((), 'seeds of the homes', 'SEED')
    episodes: int = option(20, 'in all, in the homes by turns', 'N', ge=1)
    user: str = option('', 'language model that plays the person', 'MODEL')
    user_llm_url: str = option('', 'its OpenAI-compatible server', 'URL')
    llm: str = option('', 'language model that plays the robot', 'MODEL')
    llm_url: str = option('', 'its OpenAI-compatible server', 'URL')
    planner: Literal['offline', 'agent'] = option(
        'offline', 'what answers when the robot asks its memory in words'
    )
    turns: int = option(6, 'of the person, at most', 'N', ge=1)
    steps: int = option(20, 'of the robot in a turn', 'N', ge=1)
    embedder: str = option('hashing', 'sentence-transformers model', 'NAME')
    timeout: Seconds = option(60.0, 'for one choice', 'S')
    out: Path | None = option(None, 'results.json, and episodes.jsonl: a talk a line', 'DIR')
    replay: Path | None = option(None, 'only do again what the talks of a file tell', 'FILE')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_fields(parser, TalkOptions)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    options = read_fields(args, TalkOptions)
    with stdout_for_json(args.json):
        if options.replay is not None:
            results = _results(_again(options.replay))
        elif not (options.homes and options.out):
            raise InvalidRequest('give --homes and --out, or --replay with a file of talks')
        elif not all((options.user or options.user_llm_url, options.llm or options.llm_url)):
            raise InvalidRequest(
                'two language models talk: give --user-llm-url and --llm-url, or --user and --llm'
            )
        else:
            results = _results(_held(options, options.out / 'episodes.jsonl'))
    if options.out is not None:
        write_text(options.out / 'results.json', json.dumps(results, indent=2) + '\n')
    print_result(args.json, results, _lines(results))
    return 0


def _held(options: TalkOptions, episodes: Path) -> Iterator[TalkEpisode]:
    """Hold the talks; each is on the disk before the next one begins."""
    robot = OpenAIChat(options.llm, options.llm_url or None, max_retries=RETRIES)
    user = OpenAIChat(options.user, options.user_llm_url or None, max_retries=RETRIES)
    rules = options.planner == 'offline'
    planner = OfflinePlanner() if rules else LoopPlanner(robot, call_timeout_s=options.timeout)
    talking = Talking(user, robot, planner, options.turns, options.steps, options.timeout)
    embedder = get_embedder(options.embedder)
    write_text(episodes, '')
    with progress('talks', options.episodes, unit='talk') as show:
        done = 0
        for at, seed in enumerate(options.homes[: options.episodes]):
            with remembered(seed, embedder) as (lived, store):
                for number in range(at, options.episodes, len(options.homes)):
                    episode = hold(talking, seed, number, lived, store)
                    write_text(episodes, episode.model_dump_json() + '\n', mode='a')
                    done += 1
                    show(done)
                    yield episode


def _again(path: Path) -> Iterator[TalkEpisode]:
    try:
        lines = path.read_text(encoding='utf-8-sig').splitlines()
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
    for episode in episodes:
        steps = [step for turn in episode.turns for step in turn.steps]
        kept = {'home', 'number', 'ended', 'failure', 'llm_calls', 'prompt_tokens'}
        rows.append(
            {
                **episode.model_dump(include=kept),
                'turns': len(episode.turns),
                'steps': len(steps),
                'deeds': sum(len(step.deeds) for step in steps),
                'unfounded': episode.unfounded,
                'replay': replay(episode) or SAME_END,
            }
        )
    return {
        'overall': {
            'n': len(rows),
            'replayed': sum(row['replay'] == SAME_END for row in rows),
            'with_unfounded_claims': sum(bool(row['unfounded']) for row in rows),
            'failed': sum(bool(row['failure']) for row in rows),
            'content': sum(row['ended'] == 'content' for row in rows),
        },
        'episodes': rows,
    }


def _lines(results: dict[str, Any]) -> str:
    overall = results['overall']
    lines = [
        f'{overall["n"]} talks: {overall["content"]} ended content, {overall["failed"]} failed, '
        f'{overall["replayed"]} replayed to the same end, '
        f'{overall["with_unfounded_claims"]} in which the robot claims what it did not do'
    ]
    for row in results['episodes']:
        name = f'home {row["home"]}, talk {row["number"]}'
        lines += [f'{name}: claimed, not done: {claim!r}' for claim in row['unfounded']]
        lines += [f'{name}: {row["replay"]}'] if row['replay'] != SAME_END else []
        lines += [f'{name}: {row["failure"]}'] if row['failure'] else []
    return '\n'.join(lines)
