"""One run from its configuration to its figures."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from remembr_bench.evaluation.datasets.sample import Sequence
from remembr_bench.evaluation.metrics.judge import Judge
from remembr_bench.evaluation.pacing import PacedChat, Pacer
from remembr_bench.evaluation.records.config import PlannerName, RunConfig, option
from remembr_bench.evaluation.records.folder import RunFolder
from remembr_bench.evaluation.records.record import QuestionRecord, QuestionTrace
from remembr_bench.evaluation.report.results import results_json
from remembr_bench.evaluation.run import loading as datasets
from remembr_bench.evaluation.run.episodes import ORIGINALS
from remembr_bench.evaluation.run.planners import RETRIES, get_chats, get_planner
from remembr_bench.evaluation.run.runner import evaluate, remember
from remembr_ros.agent.chat.client import ChatClient
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.planner import Planner
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.printable import shown_url

MOST_CALLS = 14
"""Of the language model for one question: ten rounds, the answer, and what has to be said again."""

OnProgress = Callable[[str, str, int, int, list[QuestionRecord]], None]
"""Called with a sequence's name, what is done with it (captioning, remembering or asking), how much of that
is done and how much there is, and the records of all questions so far."""


class Execution(BaseModel):
    """How a run is carried out, without a say in its outcome."""

    model_config = ConfigDict(frozen=True, extra='forbid')

    out: Path | None = option(
        None,
        'keep the run there: configuration, answers, traces, figures, report.html, memories',
        'DIR',
    )
    resume: bool = option(False, 'go on with the run in --out')
    parallel: int = option(1, 'questions at once', 'N', ge=1)
    rate: float | None = option(None, 'calls of the language model per minute, at most', 'N', gt=0.0)
    cache: Path = option(
        Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'remembr',
        'captions and verdicts of earlier runs',
        'DIR',
    )


def carry_out(
    config: RunConfig,
    execution: Execution,
    on_progress: OnProgress = lambda name, stage, done, total, records: None,
    *,
    memories: Path | None = None,
    embedder: Embedder | None = None,
) -> tuple[list[QuestionRecord], dict[str, Any]]:
    """Ask the questions of a run and score the answers. What is done when it is stopped is kept.

    :param memories: folder of those of several runs; None: memories in the run's own, a file per sequence
    :param embedder: loaded before; None: that of the configuration
    :return: the records, and the figures as in results.json
    :raises InvalidRequest: the data set is not there, or the folder holds another run
    :raises BagUnreadable: a file or a bag is missing, damaged or in another format
    :raises StoreUnavailable: the database does not work
    """
    with ExitStack() as stack:
        out = execution.out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='remembr_eval_')))
        folder = RunFolder(out, config, resume=execution.resume)
        stack.callback(folder.close)
        embedder = embedder or get_embedder(config.embedder or None)

        def progress(name: str, stage: str, done: int, total: int) -> None:
            on_progress(name, stage, done, total, folder.records)

        sequences = datasets.load(
            config,
            execution.cache / 'captions',
            embedder,
            lambda name, done, total: progress(name, 'captioning', done, total),
        )
        _check_frames(config, sequences)
        folder.keep_tracks(sequences)
        chats, pacer = get_chats(config), Pacer(execution.rate) if execution.rate else None
        # What is paced waits for its turn at most so long, once per call; that is not the question's fault.
        turn_s = 60.0 * execution.parallel / execution.rate if execution.rate else 0.0
        judge = _judge(config, execution.cache, pacer, config.timeout + turn_s)
        for sequence in sequences:
            keys = {(sequence.name, s.id, seed) for s in sequence.samples for seed in config.seeds}
            if keys <= folder.done:
                continue
            # A file of the default collection, so that `remembr ask --memory` opens it like any other.
            path = (memories or out / 'memories') / _memory_file(sequence, config)
            try:
                path.parent.mkdir(exist_ok=True)
            except OSError as error:
                raise InvalidRequest(f'{path.parent} cannot hold memories: {error}') from error
            with open_store(str(path), embedder) as store:
                remember(sequence, store, partial(progress, sequence.name, 'remembering'))

                def make_planner(
                    trace: QuestionTrace, seed: int, store: MemoryStore = store
                ) -> Planner | None:
                    chat = chats.get(seed)
                    if chat is not None and pacer is not None:
                        chat = trace.pace = PacedChat(chat, pacer)
                    return get_planner(config, chat, store.keyframe, config.timeout + turn_s)

                asked = evaluate(
                    sequence,
                    store,
                    make_planner,
                    config,
                    judge=judge,
                    timeout_s=config.timeout + MOST_CALLS * turn_s,
                    parallel=execution.parallel,
                    done=folder.done,
                )
                for record, trace in asked:
                    folder.add(record, trace)
                    progress(sequence.name, 'asking', len(keys & folder.done), len(keys))
            if sequence.trial is not None:
                sequence.trial.close()
        summary = results_json(
            folder.records,
            [row for sequence in sequences for row in sequence.excluded],
            planner=planner_title(config),
            data=data_title(config, sequences),
            embedder=embedder.name,
        )
        folder.finish(summary)
        return folder.records, summary


def planner_title(config: RunConfig) -> str:
    """Return what a planner is called in tables: its name, with the language model behind it."""
    if not config.uses_llm:
        return config.planner.value
    return f'{config.planner.value}+{config.llm or shown_url(config.llm_url)}'


def data_title(config: RunConfig, sequences: list[Sequence]) -> str:
    """Return what the questions were asked about."""
    if config.data == 'needles':
        return f'trajectories {", ".join(sequence.name for sequence in sequences)}'
    if config.homes:
        return f'homes {", ".join(map(str, config.homes))}, objects {config.detections or "as simulated"}'
    if config.data in ORIGINALS:
        return f'{config.data}, captioner {config.captioner}, {len(sequences)} episodes'
    source = (
        f'bags, captioner {config.captioner}' if config.bags or config.data == 'building' else config.captions
    )
    return f'{config.data} {source}, sequences {", ".join(s.name.rsplit("-", 1)[-1] for s in sequences)}'


def _check_frames(config: RunConfig, sequences: list[Sequence]) -> None:
    """Refuse before every question fails for the same reason."""
    without = [sequence.name for sequence in sequences if not sequence.images]
    if config.planner is PlannerName.FRAMES and without:
        raise InvalidRequest(
            f'the planner frames has no frames of {", ".join(without)}: captions files have none; '
            'give a recording of each with --bag N=BAG'
        )


def _judge(config: RunConfig, cache: Path, pacer: Pacer | None, timeout_s: float) -> Judge | None:
    if not (config.judge or config.judge_url):
        return None
    chat: ChatClient = OpenAIChat(config.judge, config.judge_url or None, max_retries=RETRIES)
    chat = PacedChat(chat, pacer) if pacer is not None else chat
    return Judge(chat, cache / 'verdicts', timeout_s=timeout_s)


def _memory_file(sequence: Sequence, config: RunConfig) -> str:
    """Return a file's name: another one for whatever makes other memories of the same drive."""
    fields = {'detections', 'captions', 'bags', 'captioner', 'vlm', 'vlm_url', 'embedder'}
    fields |= {'data', 'subsample', 'frame_rate'}
    made = config.model_dump(mode='json', include=fields | {'segment_length', 'consolidation'})
    made['of'] = [config.captions_alone, config.frames if config.planner is PlannerName.FRAMES else 0]
    digest = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()[:8]
    return f'{sequence.name}_{digest}.db'
