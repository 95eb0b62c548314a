"""Prompt tokens of NaVQA's questions, each answered from the first recall, or after more of the model's own.

    python -m test.bench.question_tokens --data NAVQA --memory FILE [--recalls N]

The model is a script: recalls by half of the question's words, and an answer. What memories cost depends on
their captions, hardly on which are found, so that any embedder will do.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from remembr_bench.evaluation.records.config import run_config
from remembr_bench.evaluation.run import loading as datasets
from remembr_bench.evaluation.run.runner import WindowedRecall, remember
from remembr_ros.agent.agent import Agent
from remembr_ros.agent.chat.client import Call, Reply, ToolCall
from remembr_ros.agent.llm.budgeted_dialogue import estimate, estimate_tools
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.memory.opening import open_store
from test.scripted.chat import ScriptedChat


class EstimatingChat(ScriptedChat):
    """Adds up what the loop's own estimate is of all that it is sent."""

    tokens = 0

    def complete(self, call: Call) -> Reply:
        self.tokens += estimate(call.messages) + estimate_tools(call.tools)
        return super().complete(call)


def strong_model(question: str, recalls: int) -> EstimatingChat:
    """Return a model that recalls so often, one call a round, then cites the first memory."""
    words = question.split()
    queries = [{'query': ' '.join(words[i % 2 :: 2]) + '?' * i} for i in range(recalls)]
    answer = {'kind': 'text', 'text': 'It is in the first memory.', 'ids': ['m1']}
    calls = [('recall_text', query) for query in queries] + [('answer', answer)]
    replies = [Reply('', (ToolCall('call_0', name, json.dumps(given)),)) for name, given in calls]
    return EstimatingChat([*replies])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else '')
    parser.add_argument('--data', required=True, metavar='NAVQA')
    parser.add_argument('--memory', type=Path, required=True, metavar='FILE', help='made if missing')
    parser.add_argument('--embedder', default='hashing')
    parser.add_argument('--recalls', type=int, default=0, metavar='N', help='of the model, 0 to 3')
    args = parser.parse_args(arguments)
    embedder = get_embedder(args.embedder)
    every: list[int] = []
    for sequence in datasets.load(run_config(data='navqa', folder=args.data), Path(), embedder):
        name = sequence.name.replace('-', '_')
        with open_store(str(args.memory), embedder, collection=name) as store:
            remember(sequence, store)
            tokens, calls = [], []
            for sample in sequence.samples:
                chat = strong_model(sample.question.text, args.recalls)
                asked = Agent(WindowedRecall(store, sample.scope), [LoopPlanner(chat)])
                calls.append(asked.ask(sample.question).cost.calls)
                tokens.append(chat.tokens)
        sys.stdout.write(f'{sequence.name}: {_figures(tokens)}, calls {min(calls)} to {max(calls)}\n')
        every += tokens
    sys.stdout.write(f'all: {_figures(every)}\n')


def _figures(tokens: Sequence[int]) -> str:
    return f'{len(tokens)} questions, mean {np.mean(tokens):.0f} prompt tokens, most {max(tokens)}'


if __name__ == '__main__':
    main()
