"""remembr eval with questions: a run over a data set, a paper's own data, or homes."""

import argparse
import sys
from typing import Any

from tqdm import tqdm

from remembr_bench.cli.field_options import add_fields, read_fields
from remembr_bench.evaluation.objects.run import LEVELS
from remembr_bench.evaluation.records.config import TASK_PLANNERS, PlannerName, RunConfig, with_llm
from remembr_bench.evaluation.records.record import QuestionRecord
from remembr_bench.evaluation.report.page import write_report
from remembr_bench.evaluation.report.run_tables import tables
from remembr_bench.evaluation.run.episodes import ORIGINALS
from remembr_bench.evaluation.run.execution import Execution, carry_out
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import RemembrError

GROUPS = {
    'data': ('folder', 'sequences', 'captions', 'judge', 'judge_url', 'timeout'),
    'straight from recordings': ('bags', 'captioner', 'vlm', 'vlm_url', 'tf', 'segment_length'),
    'planner': (
        *('planner', 'llm', 'llm_url', 'temperature', 'seeds', 'rounds', 'calls_per_round'),
        *('memories_per_call', 'frames', 'frame_rate', 'context_tokens'),
    ),
    'recall': ('embedder', 'hybrid', 'consolidation'),
}
EPISODES = {
    'data': ('folder', 'episodes', 'subsample', 'judge', 'judge_url', 'timeout'),
    'captions': ('captioner', 'vlm', 'vlm_url', 'segment_length'),
    'planner': GROUPS['planner'],
    'recall': GROUPS['recall'],
}
HOMES = {
    'findingdory': ('detections', 'fillings', 'frames'),
    'needles': ('lengths', 'fillings'),
}
"""What decides about the tasks of those in simulated homes."""
IN_HOMES = ('homes', 'planner', 'llm', 'llm_url', 'context_tokens', 'embedder', 'seeds', 'timeout')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    name = parser.prog.split()[-1]
    if name in HOMES:
        add_fields(
            parser,
            RunConfig,
            *HOMES[name],
            *IN_HOMES,
            required=('homes',),
            detections={'choices': [level.name for level in LEVELS]},
            planner={'choices': [p.value for p in TASK_PLANNERS if (name, p.value) != ('needles', 'frames')]},
            embedder={'default': 'hashing'},
        )
    else:
        planners = [planner.value for planner in PlannerName if planner not in TASK_PLANNERS[-2:]]
        for title, names in (EPISODES if name in ORIGINALS else GROUPS).items():
            add_fields(
                parser.add_argument_group(title),
                RunConfig,
                *names,
                required=('folder',),
                planner={'choices': planners},
            )
    add_fields(parser, Execution)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Carry out a run, write its report, and print its figures."""
    config = with_llm(read_fields(args, RunConfig, data=args.name))
    execution = read_fields(args, Execution)
    with stdout_for_json(args.json):
        records, results = carry_out(config, execution, ProgressBar())
    if execution.out is not None:
        print(f'a memory per sequence, for --memory: {execution.out / "memories"}', file=sys.stderr)
        try:
            print(write_report(execution.out), file=sys.stderr)
        except RemembrError as error:  # the figures are there
            print(f'no report.html: {error}', file=sys.stderr)
    print_result(args.json, results, _text(records, results))
    return 0


def _text(records: list[QuestionRecord], results: dict[str, Any]) -> str:
    first = f'{results["data"]}, planner {results["planner"]}, embedder {results["embedder"]}'
    caution = [results['caution']] if 'caution' in results else []
    lines = ['\n\n'.join([*caution, first, *(table.text() for table in tables(records, results))])]
    lines += [f'excluded: {row["id"]} {row["question"]!r}: {row["reason"]}' for row in results['excluded']]
    return '\n'.join(lines)


class ProgressBar:
    """A bar over what is done with a sequence, with the part of the answers that are correct so far."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] = tqdm(disable=None, file=sys.stderr)
        self._title = ''

    def __call__(self, name: str, stage: str, done: int, total: int, records: list[QuestionRecord]) -> None:
        title = f'{name}: {stage}'
        if title != self._title:
            self._title = title
            self._bar.reset(total)
            self._bar.set_description(title, refresh=False)
        scored = [record.correct for record in records if record.correct is not None]
        if scored:
            self._bar.set_postfix_str(
                f'correct {sum(scored) / len(scored):.2f} of {len(scored)}', refresh=False
            )
        self._bar.update(done - self._bar.n)
