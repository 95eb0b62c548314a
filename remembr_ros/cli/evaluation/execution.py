"""Options that say how runs are carried out, and the bar that shows how far they are."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

from remembr_ros.cli.options import count, per_minute
from remembr_ros.evaluation.records.record import QuestionRecord
from remembr_ros.evaluation.run.execution import Execution


def add_execution(parser: argparse.ArgumentParser) -> None:
    """Add --out, --resume, --parallel, --rate and --cache."""
    parser.add_argument(
        '--out',
        type=Path,
        metavar='DIR',
        help='keep the run there: configuration, answers, traces, figures, report.html and the memory',
    )
    parser.add_argument('--resume', action='store_true', help='go on with the run in --out')
    parser.add_argument(
        '--parallel', type=count, metavar='N', default=1, help='questions at once (default: %(default)s)'
    )
    parser.add_argument(
        '--rate', type=per_minute, metavar='N', help='calls of the language model per minute, at most'
    )
    parser.add_argument(
        '--cache',
        type=Path,
        metavar='DIR',
        default=Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'remembr',
        help='captions and verdicts of earlier runs (default: %(default)s)',
    )


def execution(args: argparse.Namespace) -> Execution:
    """Return how a run is carried out, with a progress bar on standard error."""
    return Execution(
        out=args.out,
        resume=args.resume,
        parallel=args.parallel,
        per_minute=args.rate,
        cache=args.cache,
        on_progress=ProgressBar(),
    )


class ProgressBar:
    """A bar over what a sequence takes, with the scores and the cost so far."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._shown = ('', '')

    def __call__(self, name: str, stage: str, done: int, total: int, records: list[QuestionRecord]) -> None:
        if self._bar is None or (name, stage) != self._shown:
            if self._bar is not None:
                self._bar.close()
            self._bar = tqdm(desc=f'{name}: {stage}', total=total, disable=None, file=sys.stderr)
            self._shown = (name, stage)
        self._bar.n = done
        self._bar.set_postfix_str(_so_far(records), refresh=False)
        self._bar.refresh()
        if done >= total:
            self._bar.close()
            self._bar = None


def _so_far(records: list[QuestionRecord]) -> str:
    scored = [record.correct for record in records if record.correct is not None]
    if not scored:
        return ''
    text = f'correct {sum(scored) / len(scored):.2f} of {len(scored)}'
    calls = sum(record.llm_calls for record in records)
    tokens = sum(record.prompt_tokens + record.completion_tokens for record in records)
    return f'{text}, {calls} LLM calls, {tokens / 1000:.0f} k tokens' if calls else text
