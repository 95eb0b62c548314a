import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.chat.client import Reply, ToolCall
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.llm.budgeted_dialogue import MAX_FAULTS
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.model.answer import Answer, Kind, Question, Usage
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.errors import (
    BudgetExceeded,
    Cancelled,
    ChatUnavailable,
    InvalidRequest,
    ReplyInvalid,
    Ungrounded,
)
from remembr_ros.memory.model.recall import ANYTHING as EVERYTHING
from remembr_ros.memory.model.recall import Scope, Survey
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
from test.patience import patiently
from test.scripted.chat import ScriptedChat
from test.scripted.server import ScriptedReply, ScriptedServer
from test.unit.agent.hanging_chat import HangingChat
from test.unit.agent.listed_recall import ListedRecall

START_NS = 1_700_000_000 * NS

Ask = Callable[..., Answer]
Script = Sequence[Any]


def native(*calls: tuple[str, Any], **usage: int) -> Reply:
    """A reply with tool calls."""
    return Reply(
        '',
        tuple(
            ToolCall(f'c{i}', name, arguments if isinstance(arguments, str) else json.dumps(arguments))
            for i, (name, arguments) in enumerate(calls)
        ),
        Usage(1, **usage),
    )


def in_text(*calls: tuple[str, Any]) -> Reply:
    """The same as JSON in the content, from a model without tool calling."""
    written = [{'tool': name, 'arguments': arguments} for name, arguments in calls]
    return Reply(f'<think>{{hm}} {{"a": 1}}</think>Sure!\n```json\n{json.dumps({"calls": written})}\n```')


RECALL = ('recall_text', {'query': 'lift'})
GOOD = ('answer', {'kind': 'position', 'text': 'The lift', 'ids': ['m1']})
UNGROUNDED = ('answer', {'kind': 'position', 'text': 'The lift', 'ids': ['m77']})


@pytest.fixture
def ask(hashing_tour: MemoryStore, ask_about: Callable[..., Question], run: Run) -> Ask:
    def answered(script: Script, **options: Any) -> Answer:
        chat = script if isinstance(script, ScriptedChat) else ScriptedChat(list(script))
        return LoopPlanner(chat, **options).answer(ask_about('Where is the lift?'), hashing_tour, run)

    return answered


@pytest.mark.parametrize('protocol', [native, in_text])
@pytest.mark.parametrize(
    ('arguments', 'expected'),
    [
        (
            {'kind': 'position', 'text': 'The lift', 'ids': ['m1']},
            {'kind': Kind.POSITION, 'time_ns': None},
        ),
        ({'kind': 'time', 'ids': ['m1']}, {'kind': Kind.TIME, 'time_ns': START_NS + 23 * NS}),
        (
            {'kind': 'duration', 'start_id': 'm1', 'end_id': 'm1'},
            {'kind': Kind.DURATION, 'duration_s': 3.0},
        ),
        ({'kind': 'binary', 'binary': True, 'ids': ['m1']}, {'kind': Kind.BINARY, 'binary': True}),
        ({'kind': 'text', 'text': 'A lift.', 'ids': ['m1']}, {'kind': Kind.TEXT, 'text': 'A lift.'}),
    ],
)
def test_every_kind_of_answer_is_filled_in_from_the_evidence(
    ask: Ask, protocol: Callable[..., Reply], arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    answer = ask([protocol(RECALL), protocol(('answer', arguments))])
    assert {name: getattr(answer, name) for name in expected} == expected
    assert [hit.memory.id for hit in answer.evidence] == ['t02']
    assert answer.pose == answer.evidence[0].memory.pose
    assert answer.planner == 'scripted'
    assert answer.cost.calls == 2


def test_not_seen_is_an_answer(ask: Ask) -> None:
    answer = ask([native(RECALL), native(('answer', {'kind': 'not_seen', 'text': 'No lift.'}))])
    assert (answer.kind, answer.evidence, answer.pose) == (Kind.NOT_SEEN, (), None)


def test_a_coordinate_written_by_the_model_is_not_taken(ask: Ask) -> None:
    lie = ('answer', {'kind': 'position', 'text': 'At (99, 99)', 'ids': ['m1'], 'position': [99, 99, 0]})
    answer = ask([native(RECALL), native(lie), native(GOOD)])
    assert answer.pose is not None
    assert answer.pose.x == 10.0


def test_an_ungrounded_answer_is_sent_back_once(ask: Ask) -> None:
    chat = ScriptedChat([native(RECALL), native(UNGROUNDED), native(GOOD)])
    assert ask(chat).kind is Kind.POSITION
    assert 'm77' in chat.asked[2][0][-1].content
    assert 'not_seen' in chat.asked[2][0][-1].content


def test_an_answer_that_stays_ungrounded_is_refused(ask: Ask) -> None:
    with pytest.raises(Ungrounded, match='could not support'):
        ask([native(RECALL), native(UNGROUNDED), native(UNGROUNDED)])


@pytest.mark.parametrize(
    'unsupported',
    [
        {'kind': 'text', 'text': 'I just know'},
        {'kind': 'position'},
        {'kind': 'binary', 'binary': True},
        {'kind': 'time', 'ids': []},
    ],
)
def test_what_nothing_supports_is_left_to_the_rules(
    hashing_tour: MemoryStore,
    ask_about: Callable[..., Question],
    ask: Ask,
    unsupported: dict[str, Any],
) -> None:
    script = [native(RECALL), *[native(('answer', unsupported))] * 2]
    chat = ScriptedChat(list(script))
    with pytest.raises(Ungrounded, match='could not support'):
        ask(chat)
    assert 'cite its label: ids ["m1"]' in chat.asked[2][0][-1].content
    agent = Agent(hashing_tour, [LoopPlanner(ScriptedChat(script)), OfflinePlanner()])
    answer = agent.ask(ask_about('Where is the lift?'))
    assert (answer.kind, answer.planner, answer.cost.calls) == (Kind.POSITION, 'offline', 3)


def test_no_of_an_empty_memory_is_no_answer(ask_about: Callable[..., Question], run: Run) -> None:
    chat = ScriptedChat([native(('answer', {'kind': 'binary', 'binary': False}))] * 2)
    with pytest.raises(Ungrounded, match='could not support'):
        LoopPlanner(chat).answer(ask_about('Is there a lift?'), ListedRecall([]), run)


def test_an_answer_beside_a_recall_waits_for_what_that_finds(ask: Ask) -> None:
    hasty = ('answer', {'kind': 'not_seen'})
    chat = ScriptedChat([native(RECALL, hasty), native(GOOD)])
    assert ask(chat).kind is Kind.POSITION
    results = [message.content for message in chat.asked[1][0] if message.role == 'tool']
    assert ' of 20 memories' in results[0]
    assert 'when you have read' in results[1]


def test_a_call_that_a_server_would_refuse_is_kept_in_a_form_that_it_takes(ask: Ask) -> None:
    odd = Reply('', (ToolCall('', 'run it!', 'no json'), ToolCall('', 'recall_text', '{"query": "lift"}')))
    chat = ScriptedChat([odd, native(GOOD)])
    ask(chat)
    calls = chat.asked[1][0][2].tool_calls
    assert [(call.id, call.name, call.arguments) for call in calls] == [
        ('call_0', 'unknown', '{}'),
        ('call_1', 'recall_text', '{"query": "lift"}'),
    ]
    assert [message.tool_call_id for message in chat.asked[1][0][3:]] == ['call_0', 'call_1']


@pytest.mark.parametrize(
    'reply',
    [
        Reply(''),
        Reply('The lift is at (3, 4).'),
        Reply('{"tool": "recall_text"'),
        Reply('{' * 50_000 + '}' * 50_000),
        Reply('{"calls": 5}'),
        Reply('{"calls": [5, null, {"tool": 7}]}'),
        Reply('[1, 2]'),
        native(('shell', {'command': 'rm -rf /'})),
        native(('recall_text', 'no json')),
        native(('recall_text', {'query': []})),
        native(('answer', {'kind': 'guess'})),
        native(('answer', '')),
        native(('', '')),
    ],
    ids=range(13),
)
def test_unusable_replies_are_answered_with_what_is_wrong_and_then_given_up(ask: Ask, reply: Reply) -> None:
    chat = ScriptedChat([reply] * MAX_FAULTS + [native(RECALL), native(GOOD)])
    # A reply that uses up a round leaves fewer for recalling.
    assert ask(chat, rounds=MAX_FAULTS + 1).kind is Kind.POSITION
    assert chat.asked[1][0][-1].role in ('user', 'tool')
    hopeless = ScriptedChat([reply] * 20)
    with pytest.raises(ReplyInvalid, match='larger model'):
        ask(hopeless)
    assert len(hopeless.asked) == MAX_FAULTS + 1


def test_the_last_round_forces_an_answer(ask: Ask) -> None:
    chat = ScriptedChat([native(RECALL), native(RECALL), native(GOOD)])
    ask(chat, rounds=2)
    assert [must for _, must in chat.asked] == [None, None, 'answer']


def test_endless_recalling_ends(ask: Ask) -> None:
    chat = ScriptedChat([native(RECALL)] * 50)
    with pytest.raises(ReplyInvalid):
        ask(chat, rounds=3)
    assert len(chat.asked) <= 3 + MAX_FAULTS + 1
    assert 'no rounds left' in chat.asked[-1][0][-1].content


def test_calls_and_memories_are_limited(ask: Ask) -> None:
    chat = ScriptedChat([native(*[RECALL] * 5), native(GOOD)])
    ask(chat, calls_per_round=2, memories_per_call=3)
    results = [message.content for message in chat.asked[1][0] if message.role == 'tool']
    assert len(results) == 5  # each call gets its result, as the protocol demands
    assert results[0].startswith('3 of 20 memories')
    assert results[0].count('\n[m') == 3
    assert results[1] == 'the same call as above'
    assert [text for text in results if 'at most 2 calls' in text] == results[2:]


def test_a_result_goes_back_to_its_call(ask: Ask) -> None:
    measured = [('measure', {'what': 'distance', 'ids': [label]}) for label in ('m1', 'm99')]
    chat = ScriptedChat([native(RECALL), native(*measured), native(GOOD)])
    ask(chat)
    messages = chat.asked[2][0]
    assert [message.role for message in messages[2:]] == ['assistant', 'tool', 'assistant', 'tool', 'tool']
    assert [message.tool_call_id for message in messages[5:]] == ['c0', 'c1']
    assert messages[5].content == '32.00 m'
    assert 'never' not in messages[6].content
    assert 'error' in messages[6].content


def test_the_model_is_told_the_question_now_and_here(ask: Ask) -> None:
    chat = ScriptedChat([native(RECALL), native(GOOD)])
    ask(chat)
    system, user = chat.asked[0][0]
    assert 'never' in system.content
    situation, recalled = user.content.split('\n\n')
    assert situation == (
        'Question: Where is the lift?\nNow: 2023-11-14 22:18:20 UTC\nHere: (42.00, 1.00, 0.00)\n'
        'Remembered: 20 memories from 2023-11-14 22:13:20 to 22:16:33, 95 m driven, x 0 to 95, y 1 to 1'
    )
    assert recalled.startswith(
        'Recalled for the question as it was asked:\n5 of 20 memories, best first:\n[m1] 22:13:40'
    )


def test_a_question_is_answered_in_one_call_from_what_it_recalls(ask: Ask) -> None:
    answer = ask([native(GOOD)])
    assert (answer.kind, answer.cost.calls) == (Kind.POSITION, 1)
    assert [hit.memory.id for hit in answer.evidence] == ['t02']


def test_the_first_recall_is_of_the_time_that_the_question_names(
    hashing_tour: MemoryStore, ask_about: Callable[..., Question], run: Run
) -> None:
    chat = ScriptedChat([native(GOOD)])
    LoopPlanner(chat).answer(ask_about('What did you see between 22:14:00 and 22:15:00?'), hashing_tour, run)
    assert '\n5 of 7 memories' in chat.asked[0][0][1].content


def test_a_recall_that_is_repeated_tells_the_same(ask: Ask) -> None:
    chat = ScriptedChat([native(RECALL), native(RECALL), native(GOOD)])
    ask(chat)
    first, second = [message.content for message in chat.asked[2][0] if message.role == 'tool']
    assert first == second


def test_who_says_the_same_again_is_guided_to_an_answer(ask: Ask) -> None:
    lost = native(('recall_text', {'query': 'lift', 'near': 'm99'}))
    chat = ScriptedChat([lost, lost, native(GOOD)])
    assert ask(chat, rounds=5).kind is Kind.POSITION
    assert [must for _, must in chat.asked] == [None, None, 'answer']


def test_a_model_that_calls_nothing_is_guided_by_the_schema_of_an_answer(ask: Ask) -> None:
    chat = ScriptedChat([Reply('The lift is at (3, 4).'), native(GOOD)])
    assert ask(chat).kind is Kind.POSITION
    assert [must for _, must in chat.asked] == [None, 'answer']
    assert chat.offered[1] == {'answer'}


def test_tokens_are_summed(ask: Ask) -> None:
    answer = ask(
        [
            native(RECALL, prompt_tokens=100, completion_tokens=7),
            native(GOOD, prompt_tokens=250, completion_tokens=30),
        ]
    )
    assert (answer.cost.prompt_tokens, answer.cost.completion_tokens) == (350, 37)


@pytest.mark.parametrize('option', ['rounds', 'calls_per_round', 'memories_per_call'])
@pytest.mark.parametrize('value', [0, -1, 1_000])
def test_a_budget_without_sense_is_refused(option: str, value: int) -> None:
    with pytest.raises(InvalidRequest, match=option):
        LoopPlanner(ScriptedChat([]), **{option: value})  # type: ignore[arg-type]


def test_a_model_that_hangs_gives_way_to_the_offline_planner(
    hashing_tour: MemoryStore, ask_about: Callable[..., Question]
) -> None:
    chat = HangingChat([])
    told: list[Progress] = []
    loop = LoopPlanner(chat, call_timeout_s=0.05)
    began = time.monotonic()
    answer = Agent(hashing_tour, [loop, OfflinePlanner()]).ask(
        ask_about('Where is the lift?'), timeout_s=20.0, on_progress=told.append
    )
    assert (answer.kind, answer.planner) == (Kind.POSITION, 'offline')
    assert time.monotonic() - began < patiently(5.0)
    assert any('out of reach' in progress.detail for progress in told)


def test_time_is_kept_back_for_the_offline_planner(
    hashing_tour: MemoryStore, ask_about: Callable[..., Question]
) -> None:
    chat = HangingChat([])
    agent = Agent(hashing_tour, [LoopPlanner(chat), OfflinePlanner()])
    answer = agent.ask(ask_about('Where is the lift?'), timeout_s=4.0)
    assert answer.planner == 'offline'
    assert answer.cost.seconds < 4.0


def test_a_question_can_be_cancelled_while_the_model_hangs(
    hashing_tour: MemoryStore, ask_about: Callable[..., Question]
) -> None:
    chat = HangingChat([])
    cancel = threading.Event()
    ended: list[float] = []
    failures: list[Exception] = []

    def work() -> None:
        try:
            Agent(hashing_tour, [LoopPlanner(chat)]).ask(ask_about('Where is the lift?'), cancel=cancel)
        except Cancelled as error:
            failures.append(error)
        ended.append(time.monotonic())

    thread = threading.Thread(target=work)
    thread.start()
    assert chat.hangs.wait(10.0)
    cancelled = time.monotonic()
    cancel.set()
    thread.join(10.0)
    assert len(failures) == 1
    assert ended[0] - cancelled < 0.5


def test_a_question_ends_with_its_time(hashing_tour: MemoryStore, ask_about: Callable[..., Question]) -> None:
    with pytest.raises(BudgetExceeded):
        LoopPlanner(ScriptedChat([native(RECALL)])).answer(ask_about('?'), hashing_tour, Run(deadline=0.0))


def test_a_chat_client_that_fails_in_any_way_is_out_of_reach(ask: Ask) -> None:
    with pytest.raises(ChatUnavailable, match='ZeroDivisionError'):
        ask([ZeroDivisionError('a bug')])
    with pytest.raises(ReplyInvalid, match='as it came'):
        ask([ReplyInvalid('as it came')])


LABELS = st.sampled_from(['m1', 'm2', '[m3]', 'm99', '', 't02', 'here', 'now', 'm', '\0'])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | LABELS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = {
    'recall_text': st.fixed_dictionaries(
        {'query': st.text(max_size=10)},
        optional={'near': LABELS, 'after': LABELS, 'before': LABELS, 'radius': st.floats()},
    ),
    'recall_position': st.fixed_dictionaries({'position': LABELS | st.lists(st.floats(), max_size=4)}),
    'recall_time': st.fixed_dictionaries({'time': LABELS | st.text(max_size=12)}),
    'measure': st.fixed_dictionaries(
        {
            'what': st.sampled_from(['distance', 'elapsed', 'nearest', 'farthest']),
            'ids': st.lists(LABELS, min_size=1, max_size=3),
        }
    ),
    'answer': st.fixed_dictionaries(
        {'kind': st.sampled_from([kind.value for kind in Kind]), 'ids': st.lists(LABELS, max_size=3)},
        optional={
            'text': st.text(max_size=20),
            'binary': st.booleans(),
            'start_id': LABELS,
            'end_id': LABELS,
        },
    ),
    'shell': ANYTHING,
}
CALLS = st.one_of(
    *(st.tuples(st.just(name), arguments) for name, arguments in ARGUMENTS.items()),
    st.tuples(st.sampled_from(sorted(ARGUMENTS)), ANYTHING),
    st.tuples(st.text(max_size=5), st.text(max_size=30)),
)
REPLIES = st.one_of(
    st.lists(CALLS, min_size=1, max_size=4).map(lambda calls: native(*calls)),
    st.lists(CALLS, max_size=4).map(lambda calls: in_text(*calls)),
    st.text(max_size=60).map(Reply),
    ANYTHING.map(lambda value: Reply(json.dumps(value))),
)


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(st.lists(REPLIES, min_size=12, max_size=12), st.integers(1, 3))
def test_no_conversation_breaks_the_loop(
    hashing_tour: MemoryStore, ask_about: Callable[..., Question], script: list[Reply], rounds: int
) -> None:
    chat = ScriptedChat(list(script))
    planner = LoopPlanner(chat, rounds=rounds, memories_per_call=2)
    try:
        answer = planner.answer(ask_about('Where?'), hashing_tour, Run(time.monotonic() + 60.0))
    except (ReplyInvalid, Ungrounded):
        pass
    else:
        known = {memory.id for memory in hashing_tour.all()}
        assert {hit.memory.id for hit in answer.evidence} <= known
        assert answer.evidence or answer.kind in (Kind.NOT_SEEN, Kind.BINARY)
        assert answer.cost.calls == len(chat.asked)
    assert len(chat.asked) <= rounds + 1 + MAX_FAULTS


def test_the_answer_names_the_model_that_gave_it(ask: Ask) -> None:
    replies = [native(RECALL), replace(native(GOOD), model='the second one')]
    assert ask(replies).planner == 'the second one'
    assert ask([native(RECALL), native(GOOD)]).planner == 'scripted'


def test_calls_are_understood_however_a_model_writes_them(ask: Ask) -> None:
    odd = native((f'functions.{RECALL[0]}', str(RECALL[1])))
    chat = ScriptedChat([odd, native(('Answer', f'{json.dumps(GOOD[1])[:-1]},}}'))])
    assert ask(chat).kind is Kind.POSITION
    kept = chat.asked[1][0][-2].tool_calls[0]
    assert (kept.name, json.loads(kept.arguments)) == RECALL


def test_a_whole_caption_is_read_in_the_second_round(
    make_memory: Callable[..., Memory], ask_about: Callable[..., Question], run: Run
) -> None:
    walls = ' '.join(f'Wall {i} is made of grey stone.' for i in range(60))
    caption = f'A lift with a steel door. {walls} A note says that it is out of order.'
    recall = ListedRecall([make_memory(i, (), caption=caption if i == 3 else 'A hall.') for i in range(9)])
    script = [native(RECALL), native(('read', {'ids': ['m1']})), native(GOOD)]
    calls = [ScriptedReply(tool_calls=reply.tool_calls) for reply in script]
    with ScriptedServer(calls) as server:
        answer = LoopPlanner(OpenAIChat('scripted', server.url)).answer(ask_about('Lift?'), recall, run)
        results = [request.body['messages'][-1]['content'] for request in server.requests[1:]]
    assert answer.evidence[0].memory.id == 't03'
    assert ['out of order' in result for result in results] == [False, True]
    assert caption in results[1]
    assert 0.0 < answer.confidence < 1.0


def test_no_round_brings_nothing_new_while_something_new_matches(
    make_memory: Callable[..., Memory], ask_about: Callable[..., Question], run: Run
) -> None:
    recall = ListedRecall([make_memory(4 * i, (f'LIFT {i}',)) for i in range(32)])
    others = [native(('recall_text', {'query': f'lift {"again " * i}'})) for i in range(1, 4)]
    calls = [ScriptedReply(tool_calls=reply.tool_calls) for reply in (*others, native(GOOD))]
    with ScriptedServer(calls) as server:
        LoopPlanner(OpenAIChat('scripted', server.url)).answer(ask_about('Lifts?'), recall, run)
        rounds = [request.body['messages'][-1] for request in server.requests]
    assert [message['content'].count('\n[m') for message in rounds[:3]] == [5, 5, 5]


def test_the_situation_says_what_there_is_and_does_without(
    ask_about: Callable[..., Question], run: Run
) -> None:
    class Unsurveyed(ListedRecall):
        def survey(self, scope: Scope = EVERYTHING) -> Survey:
            raise InvalidRequest('it cannot')

    class Counted(ListedRecall):
        def survey(self, scope: Scope = EVERYTHING) -> Survey:
            return Survey(9_000, 0, NS, driven_m=None)

    unknown = Unsurveyed([]), 'Here: (42.00, 1.00, 0.00)'
    counted = Counted([]), '\nRemembered: 9000 memories from 1970-01-01 00:00:00 to 00:00:01'
    for recall, told in ((ListedRecall([]), '\nRemembered: nothing'), unknown, counted):
        chat = ScriptedChat([native(RECALL), native(('answer', {'kind': 'not_seen'}))])
        LoopPlanner(chat).answer(ask_about('?'), recall, run)
        assert chat.asked[0][0][1].content.split('\n\n')[0].endswith(told)
