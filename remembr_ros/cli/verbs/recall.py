"""remembr recall: search the memory without a planner."""

import argparse

from remembr_ros.cli.options import add_json, add_memory, open_memory
from remembr_ros.cli.output import memory_line, print_result, stdout_for_json
from remembr_ros.forms.faces import add_options, from_options
from remembr_ros.forms.recall import RecallForm
from remembr_ros.forms.results import hits_json

EXAMPLES = (
    'recall red fire extinguisher',
    'recall --position 2 1.5 0 --radius 3 --after 2026-11-23T09:00',
    'recall --place kitchen --source person --limit 20 --json',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    add_options(parser, RecallForm, words='text')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    form = from_options(RecallForm, args)
    form.query()
    with stdout_for_json(args.json), open_memory(args, read_only=True) as store:
        hits, total = form.find(store), store.count(form.scope())
    lines = [f'{hit.score:.2f}  {memory_line(hit.memory)}' for hit in hits] or ['nothing found']
    print_result(args.json, hits_json(hits, total), '\n'.join(lines))
    return 0
