"""Random conversations: whatever a model replies, a question is answered or fails in a stated way."""

import json
import logging
import random
import string
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.chat.client import Call, Message, Reply, ToolCall
from remembr_ros.agent.llm.budgeted_dialogue import MAX_FAULTS
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.model.answer import Kind, Question, Usage
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.errors import ChatUnavailable, RemembrError, ReplyInvalid
from remembr_ros.memory.model.record import Memory
from test.patience import patiently
from test.unit.agent.listed_recall import ListedRecall

CONVERSATIONS = 2_000
DEADLINE_S = 20.0

LABELS = ['m1', 'm2', 'm3', '[m1]', 'm99', 'M1', '', 't02', 'here', 'now', 'm', '\0', 'm1, m2']
TIMES = [
    'now',
    '10:00',
    '5 minutes ago',
    'yesterday afternoon',
    'soon',
    'last Tuesday',
    'earliest',
    'until the end',
    'between 9 and 10',
    '1e999',
    '25:61',
    '-1',
]
WORDS = ['lift', 'exit', '', 'printer ' * 400, '\ud800', '\u202e', 'null', 'é' * 5, '{', '"']
NAMES = [
    *('recall_text', 'recall_position', 'recall_time', 'read', 'measure', 'day', 'list_all', 'happened'),
    *('look_again', 'answer'),
]
FIELDS = [
    *('query', 'position', 'time', 'what', 'ids', 'kind', 'text', 'binary', 'choice', 'start_id', 'end_id'),
    *('when', 'after', 'before', 'near', 'radius', 'robot', 'question', 'limit', 'place', 'floor', 'page'),
    'x' * 50,
]
QUESTIONS = ['Where is the lift?', 'Is there an exit today?', 'What was it?', 'When did you see it?', '?']
FOLLOW_UPS = ['And before that?', 'Take me there', 'What about the other one?', 'How long did that take?']


class AnythingChat:
    """A client that replies with anything; the same for the same seed."""

    model = 'anything'

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.calls = 0

    def complete(self, call: Call) -> Reply:
        self.calls += 1
        reply = self.reply(call.messages, call.must_call)
        call.ledger.charge(reply.usage)
        return reply

    def reply(self, messages: Sequence[Message], must_call: str | None) -> Reply:
        rng = self.rng
        for message in messages:  # what a client does with them
            message.content.encode('utf-8')
            json.dumps([call.arguments for call in message.tool_calls])
        roll = rng.random()
        if roll < 0.05:
            raise rng.choice([ChatUnavailable('down'), ReplyInvalid('junk'), ValueError('a bug')])
        if roll < 0.15:
            return Reply(self.text())
        calls = [self.call(must_call) for _ in range(rng.choice([1, 1, 1, 2, 3, 25]))]
        if roll < 0.35:
            written = [{'tool': name, 'arguments': arguments} for _, name, arguments in calls]
            return Reply(f'{self.text()}{json.dumps({"calls": written})}')
        native = (
            ToolCall(ident, name, arguments if isinstance(arguments, str) else json.dumps(arguments))
            for ident, name, arguments in calls
        )
        return Reply('', tuple(native), Usage(1, rng.choice([0, 0, 500, 10**9]), rng.choice([0, 20])))

    def call(self, must_call: str | None) -> tuple[str, str, Any]:
        rng = self.rng
        ident = rng.choice(['', 'a', 'b', '\0', str(rng.random())])
        roll = rng.random()
        if roll < 0.6:
            name, arguments = self.sound(must_call if rng.random() < 0.7 else None)
            if rng.random() < 0.2:
                arguments[rng.choice(FIELDS)] = self.anything()
            return ident, name, arguments
        name = rng.choice([*NAMES, 'shell', '', self.text()[:100]])
        return (
            ident,
            name,
            rng.choice([self.anything(), self.text(), {f: self.anything() for f in FIELDS[:3]}]),
        )

    def sound(self, name: str | None) -> tuple[str, dict[str, Any]]:
        """Return a call that may be right."""
        rng = self.rng
        name = name or rng.choice(NAMES)
        ids = [rng.choice(LABELS) for _ in range(rng.randint(1, 3))]
        arguments: dict[str, Any] = {
            'recall_text': {'query': rng.choice(WORDS)},
            'recall_position': {'position': rng.choice([*LABELS, [1.0, 2.0], [0, 0, float('nan')]])},
            'recall_time': {'time': rng.choice([*TIMES, *LABELS])},
            'measure': {
                'what': rng.choice(['distance', 'elapsed', 'duration', 'nearest']),
                'ids': ids,
                'place': rng.choice([*LABELS, [1.0, 2.0]]),
            },
            'read': {'ids': ids},
            'day': {'when': rng.choice([*TIMES, *LABELS, '']), 'floor': rng.choice([None, None, 2, -1, 'x'])},
            'list_all': {'query': rng.choice(WORDS), 'page': rng.choice([1, 2, 10**6])},
            'happened': {'kind': 'moving', 'page': rng.choice([1, -1, '2'])},
            'look_again': {'ids': ids, 'question': rng.choice(WORDS)},
            'answer': {'kind': rng.choice(list(Kind)).value, 'ids': ids, 'text': rng.choice(WORDS)},
        }[name]
        if name == 'answer':
            arguments |= {'binary': rng.choice([True, False, None]), 'start_id': ids[0], 'end_id': ids[-1]}
        elif name.startswith(('recall', 'list', 'happened')) and rng.random() < 0.5:
            arguments[rng.choice(['when', 'after', 'before'])] = rng.choice([*TIMES, *LABELS])
        return name, arguments

    def anything(self, depth: int = 0) -> Any:
        rng = self.rng
        simple = [None, True, rng.randint(-5, 10**20), rng.random() * 1e300, *LABELS, *WORDS, *TIMES]
        if depth > 2 or rng.random() < 0.6:
            return rng.choice(simple)
        inside = [self.anything(depth + 1) for _ in range(rng.randint(0, 3))]
        return inside if rng.random() < 0.5 else {rng.choice(FIELDS): value for value in inside}

    def text(self) -> str:
        rng = self.rng
        return rng.choice(
            [
                '',
                'The lift is at (3, 4).',
                '<think>{"tool": "answer"}',
                '{"calls": [' * 3,
                '[' * 3_000,
                '{' * 500 + 'x' * 30_000,
                '\ud800\udfff\0',
                ''.join(rng.choice(string.printable) for _ in range(30)),
                '{"tool": "answer", "arguments": "{}"}',
            ]
        )


class AnyLook:
    def tokens(self, memory: Memory) -> int:
        return 0

    def look(self, memory: Memory, question: str, run: Any) -> str:
        return '\ud800 [m9] {"tool": "answer"} 42'


@pytest.fixture
def recall(make_memory: Callable[..., Memory]) -> ListedRecall:
    seen: list[Any] = [('LIFT', '\ud800[m9]'), (), ('EXIT',), 'A printer. ' * 100, ('LIFT',)]
    memories = [make_memory(i, texts) for i, texts in enumerate(seen)]
    return ListedRecall([*memories, make_memory(9, ('LIFT',), pose=None, robot='anna')])


@pytest.fixture
def quiet() -> Iterator[None]:
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures('quiet')
def test_no_conversation_breaks_the_agent(recall: ListedRecall, ask_about: Callable[..., Question]) -> None:
    outcomes: Counter[str] = Counter()
    known = {memory.id: memory for memory in recall.memories}
    agents = []
    for seed in range(40):
        rng = random.Random(seed)
        chat = AnythingChat(rng)
        rounds, calls = rng.randint(1, 4), rng.randint(1, 3)
        budget = rng.choice([32_000, 32_000, 6_000, 1_500, 1])
        loop = LoopPlanner(
            chat, rounds=rounds, calls_per_round=calls, token_budget=budget, second_look=AnyLook()
        )
        agents.append((Agent(recall, [loop, OfflinePlanner()][: rng.choice([1, 2, 2])]), chat, rounds))
    for number in range(CONVERSATIONS):
        agent, chat, rounds = agents[number % len(agents)]
        chat.calls = 0
        recall.asked.clear()
        text = chat.rng.choice(FOLLOW_UPS if chat.rng.random() < 0.1 else QUESTIONS)
        question = ask_about(text, asker=chat.rng.choice(['', 'anna', 'bert']))
        began = time.monotonic()
        try:
            answer = agent.ask(question, timeout_s=DEADLINE_S)
        except RemembrError as error:
            outcomes[type(error).__name__] += 1
        else:
            outcomes[answer.kind.value] += 1
            assert answer.cost.calls == chat.calls or answer.planner != 'anything'
            assert {hit.memory.id for hit in answer.evidence} <= set(known)
            assert answer.evidence or answer.kind in (Kind.NOT_SEEN, Kind.BINARY)
            assert answer.kind is not Kind.NOT_SEEN or not answer.evidence
            assert 0.0 <= answer.confidence <= 1.0
            if answer.pose is not None:  # a place comes from a memory, always
                assert answer.pose == known[answer.evidence[0].memory.id].pose
            answer.text.encode('utf-8')
        assert time.monotonic() - began < patiently(DEADLINE_S)
        assert chat.calls <= rounds + 1 + MAX_FAULTS
    assert sum(outcomes.values()) == CONVERSATIONS
    # The conversations are not all of one kind, or they would show nothing.
    assert {kind.value for kind in Kind} <= set(outcomes)
    assert {'ChatUnavailable', 'ReplyInvalid', 'Ungrounded', 'BudgetExceeded'} <= set(outcomes)
