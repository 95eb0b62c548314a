"""What all_captions and frames have in common: one contract, run over both."""

import json
import threading
import time

import pytest

from remembr_bench.evaluation.baselines.one_call import AllCaptionsPlanner, FramesPlanner
from remembr_ros.agent.chat.client import Reply, ToolCall
from remembr_ros.agent.model.answer import Kind, Usage
from remembr_ros.agent.planner import Run
from remembr_ros.errors import BudgetExceeded, Cancelled, ChatUnavailable, ReplyInvalid, Ungrounded
from remembr_ros.timestamps import NS
from test.scripted.chat import ScriptedChat
from test.unit.agent.hanging_chat import HangingChat

START_NS = 1_700_000_000 * NS


def native(arguments, **usage):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Reply('', (ToolCall('c0', 'answer', text),), Usage(1, **usage))


def in_text(arguments):
    call = {'calls': [{'tool': 'answer', 'arguments': arguments}]}
    return Reply(f'<think>{{hm}}</think>\n```json\n{json.dumps(call)}\n```')


GOOD = {'kind': 'position', 'text': 'The printer', 'ids': ['m3']}
UNGROUNDED = {'kind': 'position', 'text': 'The printer', 'ids': ['m77']}


def all_captions(chat, **options):
    return AllCaptionsPlanner(chat, **options)


def frames(chat, **options):
    return FramesPlanner(chat, lambda memory_id, index: f'{memory_id}-{index}'.encode(), **options)


@pytest.fixture(params=[all_captions, frames])
def make(request):
    return request.param


@pytest.fixture
def ask(make, remember, ask_about, run):
    def answered(*replies, chat=None):
        planner = make(chat or ScriptedChat(list(replies)))
        return planner.answer(ask_about('Where is the printer?'), remember(keyframes=('x.jpg',)), run)

    return answered


@pytest.mark.parametrize('protocol', [native, in_text])
@pytest.mark.parametrize(
    ('arguments', 'expected'),
    [
        (GOOD, {'kind': Kind.POSITION}),
        ({'kind': 'time', 'ids': ['m3']}, {'time_ns': START_NS + 43 * NS}),
        ({'kind': 'duration', 'start_id': 'm3', 'end_id': '[m4]'}, {'duration_s': 23.0}),
        ({'kind': 'binary', 'binary': True, 'ids': ['m3']}, {'binary': True}),
        ({'kind': 'text', 'text': 'A printer.', 'ids': ['m3']}, {'text': 'A printer.'}),
    ],
)
def test_an_answer_is_filled_in_from_what_it_cites(ask, protocol, arguments, expected):
    answer = ask(protocol(arguments))
    assert {name: getattr(answer, name) for name in expected} == expected
    assert answer.evidence[0].memory.id == 't2'
    assert answer.pose.position == (20.0, 1.0, 0.0)
    assert answer.cost.calls == 1


def test_the_model_must_answer_and_is_offered_nothing_else(ask):
    tools = []

    class Chat(ScriptedChat):
        def complete(self, call):
            tools.append([tool.name for tool in call.tools])
            return super().complete(call)

    chat = Chat([native(GOOD)])
    ask(chat=chat)
    ((messages, must_call),) = chat.asked
    assert [message.role for message in messages] == ['system', 'user']
    assert must_call == 'answer'
    assert tools == [['answer']]
    assert messages[1].content.startswith('Question: Where is the printer?\nNow: 2023-11-14 22:15:20 UTC\n')


def test_not_seen_is_an_answer(ask):
    answer = ask(native({'kind': 'not_seen', 'text': 'No printer.'}))
    assert (answer.kind, answer.evidence) == (Kind.NOT_SEEN, ())


@pytest.mark.parametrize(
    ('reply', 'complaint', 'role'),
    [
        (native(UNGROUNDED), 'm77', 'tool'),
        (native({'kind': 'guess'}), 'kind', 'tool'),
        (native('no json'), 'arguments', 'tool'),
        (Reply('', (ToolCall('c0', 'recall_text', '{"query": "x"}'),)), 'no answer', 'tool'),
        (in_text(UNGROUNDED), 'm77', 'user'),
        (Reply('It is at (3, 4).'), 'no answer', 'user'),
        (Reply(''), 'no answer', 'user'),
    ],
    ids=range(7),
)
def test_what_cannot_be_used_is_sent_back_once(ask, reply, complaint, role):
    chat = ScriptedChat([reply, native(GOOD)])
    answer = ask(chat=chat)
    assert (answer.kind, answer.cost.calls) == (Kind.POSITION, 2)
    *_, said, back = chat.asked[1][0]
    assert (said.role, said.tool_calls) == ('assistant', reply.tool_calls)
    assert (back.role, complaint in back.content) == (role, True)
    hopeless = ScriptedChat([reply] * 5)
    with pytest.raises((Ungrounded, ReplyInvalid), match=r'could not support|larger model'):
        ask(chat=hopeless)
    assert len(hopeless.asked) == 2


def test_a_model_that_gets_its_name_with_the_first_call_is_named_by_it(ask):
    class Chat(ScriptedChat):
        def complete(self, call):
            self.model = 'tiny'
            return super().complete(call)

    assert ask(chat=Chat([native(GOOD)], 'llm')).planner in ('all_captions+tiny', 'frames+tiny')


def test_tokens_are_summed(ask):
    answer = ask(
        native(UNGROUNDED, prompt_tokens=100, completion_tokens=7),
        native(GOOD, prompt_tokens=150, completion_tokens=8),
    )
    assert (answer.cost.prompt_tokens, answer.cost.completion_tokens) == (250, 15)


def test_a_server_out_of_reach_is_said_to_be(ask):
    with pytest.raises(ChatUnavailable, match='nobody'):
        ask(ChatUnavailable('nobody is there'))


def test_an_empty_memory_costs_no_call(make, nothing, ask_about, run):
    answer = make(ScriptedChat([])).answer(ask_about('Where is the printer?'), nothing, run)
    assert (answer.kind, answer.cost.calls) == (Kind.NOT_SEEN, 0)


def test_a_model_that_hangs_is_given_up_with_the_call_and_with_the_question(make, remember, ask_about):
    drive = remember(keyframes=('x.jpg',))
    chat = HangingChat([])
    with pytest.raises(ChatUnavailable, match='did not answer'):
        make(chat, call_timeout_s=0.05).answer(ask_about('Where?'), drive, Run(time.monotonic() + 20.0))
    with pytest.raises((ChatUnavailable, BudgetExceeded)):
        make(chat).answer(ask_about('Where?'), drive, Run(time.monotonic() + 0.2))


def test_a_question_can_be_cancelled_while_the_model_hangs(make, remember, ask_about):
    chat, cancel = HangingChat([]), threading.Event()

    def stop():
        chat.hangs.wait(10.0)
        cancel.set()

    threading.Thread(target=stop).start()
    with pytest.raises(Cancelled):
        make(chat).answer(
            ask_about('Where?'), remember(keyframes=('x.jpg',)), Run(time.monotonic() + 20.0, cancel)
        )
