"""remembr eval: the questions of a data set, asked and scored; runs compared, and grids of them."""

import argparse
import importlib

NAMES = {
    'navqa': ('data_set', "the questions of the ReMEmbR paper, with upstream's labels"),
    'oc-navqa': ('data_set', 'the same questions with the corrected labels of OC-NaVQA'),
    'openeqa': ('data_set', "OpenEQA's questions about its episode histories, marked by a language model"),
    'findingdory-hub': ('data_set', "FindingDory's videos: which frames show where to go"),
    'infini-thor': ('data_set', "infinity-THOR's questions about clues in its trajectories"),
    'env-qa': ('data_set', "Env-QA's questions about what happens in its videos"),
    'vq3d': ('data_set', "Ego4D's queries for where objects are"),
    'building': ('data_set', 'questions about a rendered building, from its truth file'),
    'findingdory': ('data_set', 'instructions about what a robot did yesterday in simulated homes'),
    'embodied': ('embodied', 'tasks carried out step by step in simulated homes that a robot remembers'),
    'needles': ('data_set', 'questions about clues in long trajectories through simulated homes'),
    'talk': ('talk', 'a person and a robot talk in simulated homes, each played by a language model'),
    'objects': ('objects', 'the objects of simulated homes, with errors of poses and detections'),
    'stale': ('stale', 'how often answers tell where things were for where they are, in simulated homes'),
    'grid': ('grid', 'every combination of the settings in a YAML file, a run each'),
    'compare': ('compare', 'two runs, question by question, with a paired test'),
    'report': ('report', 'the report of a run, written anew'),
}
"""Each name is a module of this room with add_arguments(parser) and run(args)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = parser.add_subparsers(dest='name', metavar='NAME', required=True)
    for name, (module, summary) in NAMES.items():
        sub = names.add_parser(name, help=summary, description=f'{summary[0].upper()}{summary[1:]}.')
        importlib.import_module(f'remembr_bench.cli.{module}').add_arguments(sub)


def run(args: argparse.Namespace) -> int:
    code: int = importlib.import_module(f'remembr_bench.cli.{NAMES[args.name][0]}').run(args)
    return code
