"""The bar that shows how far a run is."""

import sys
from typing import Any

from tqdm import tqdm

from remembr_ros.evaluation.records.record import QuestionRecord


class ProgressBar:
    """A bar over what a sequence takes, with the scores and the cost so far."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._shown = ''

    def __call__(self, name: str, stage: str, done: int, total: int, records: list[QuestionRecord]) -> None:
        title = f'{name}: {stage}'
        if self._bar is None or title != self._shown:
            if self._bar is not None:
                self._bar.close()
            self._bar, self._shown = tqdm(desc=title, total=total, disable=None, file=sys.stderr), title
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
