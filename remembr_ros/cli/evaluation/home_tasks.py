"""remembr eval findingdory and needles: a run over what a robot saw and did in simulated homes."""

import argparse

from remembr_ros.cli.evaluation import data_set
from remembr_ros.cli.evaluation.field_options import add_fields
from remembr_ros.cli.options import add_json
from remembr_ros.evaluation.objects.run import LEVELS
from remembr_ros.evaluation.records.config import TASK_PLANNERS, RunConfig
from remembr_ros.evaluation.run.execution import Execution

FIELDS = {
    'findingdory': ('detections', 'fillings'),
    'needles': ('lengths', 'fillings'),
}
"""What decides about the tasks of each."""
SHARED = ('homes', 'planner', 'llm', 'llm_url', 'context_tokens', 'embedder', 'seeds', 'timeout')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    name = parser.prog.split()[-1]
    add_fields(
        parser,
        RunConfig,
        *FIELDS[name],
        *SHARED,
        required=('homes',),
        detections={'choices': [level.name for level in LEVELS]},
        planner={'choices': [planner.value for planner in TASK_PLANNERS]},
        embedder={'default': 'hashing'},
    )
    add_fields(parser, Execution)
    add_json(parser)


run = data_set.run
