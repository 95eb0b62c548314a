import base64
import json
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from remembr_ros.agent.chat.client import Call, Message, Picture, Reply, ToolCall
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.llm.tools import TOOLS
from remembr_ros.agent.model.answer import Ledger, Usage
from remembr_ros.bounded_request import Bounds
from remembr_ros.chat_endpoint import LOADING_S
from remembr_ros.errors import ChatUnavailable
from test.patience import patiently
from test.scripted.reply import completion
from test.scripted.server import ScriptedReply, ScriptedServer

KEY = 'sk-secret-0123456789abcdef'

HELLO = (Message('system', 'Be brief.'), Message('user', 'Where is the lift?'))


def said(message: Any, **more: Any) -> ScriptedReply:
    return ScriptedReply(body=completion(message, **more))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    for name in ('OPENAI_API_KEY', 'OPENAI_BASE_URL', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)
    with ScriptedServer() as made:
        yield made


@pytest.fixture
def connect(server: ScriptedServer) -> Callable[..., OpenAIChat]:
    def make(model: str = 'tiny', **options: Any) -> OpenAIChat:
        return OpenAIChat(model, server.url, **{'max_retries': 0, **options})

    return make


def complete(chat: OpenAIChat, **changes: Any) -> Reply:
    options: dict[str, Any] = {'must_call': None, 'timeout_s': 10.0, 'ledger': Ledger(), **changes}
    return chat.complete(Call(options.pop('messages', HELLO), TOOLS, **options))


def test_plain_content_and_usage_come_back(server: ScriptedServer, connect: Any) -> None:
    usage = {'prompt_tokens': 12, 'completion_tokens': 3, 'total_tokens': 15}
    server.reply = [said({'role': 'assistant', 'content': 'Hello.'}, usage=usage)]
    assert complete(connect()) == Reply('Hello.', (), Usage(1, 12, 3), model='tiny')


def test_a_thinking_model_gets_the_tokens_it_needs(server: ScriptedServer, connect: Any) -> None:
    def reply(body: dict[str, Any]) -> ScriptedReply:
        usage = {'prompt_tokens': 10, 'completion_tokens': body['max_tokens']}
        if body['max_tokens'] < 1_600:
            thought = {'role': 'assistant', 'content': '', 'reasoning_content': 'The user asks where ...'}
            return ScriptedReply(body=completion(thought, 'length', usage=usage))
        return ScriptedReply(body=completion({'role': 'assistant', 'content': 'Here.'}, usage=usage))

    server.reply = reply
    ledger = Ledger()
    chat = connect()
    said = complete(chat, ledger=ledger)
    assert (said.content, said.cut_off, ledger.usage.calls) == ('Here.', False, 2)
    assert complete(chat).content == 'Here.'
    assert [request.body['max_tokens'] for request in server.requests] == [1_000, 8_000, 8_000]


def test_who_repeats_himself_is_not_asked_for_more(server: ScriptedServer, connect: Any) -> None:
    babble = {'role': 'assistant', 'content': 'The lift is beside the stairs. ' * 50}
    server.reply = [ScriptedReply(body=completion(babble, 'length'))]
    assert complete(connect()).cut_off
    assert len(server.requests) == 1


def test_a_call_that_a_server_takes_for_a_thought_is_read(server: ScriptedServer, connect: Any) -> None:
    call = '<tool_call>{"name": "recall_text", "arguments": {"query": "lift"}}</tool_call>'
    server.reply = [said({'role': 'assistant', 'content': None, 'reasoning_content': call})]
    assert complete(connect()).content == call


def test_content_in_parts_is_one_text_without_thoughts(server: ScriptedServer, connect: Any) -> None:
    parts = [
        {'type': 'thinking', 'thinking': [{'type': 'text', 'text': 'Let me see.'}]},
        {'type': 'text', 'text': 'Hello.'},
    ]
    server.reply = [said({'role': 'assistant', 'content': parts})]
    assert complete(connect()).content == 'Hello.'


def test_a_call_comes_back_as_it_was_sent_before_there_could_be_several(
    server: ScriptedServer, connect: Any
) -> None:
    call = {'name': 'recall_text', 'arguments': '{"query": "lift"}'}
    server.reply = [said({'role': 'assistant', 'content': None, 'function_call': call})]
    assert complete(connect()).tool_calls == (ToolCall('call_0', 'recall_text', '{"query": "lift"}'),)


def test_tool_calls_come_back_as_they_were_written(server: ScriptedServer, connect: Any) -> None:
    call = {'id': 'a1', 'type': 'function', 'function': {'name': 'recall_text', 'arguments': '{"query": '}}
    server.reply = [said({'role': 'assistant', 'content': None, 'tool_calls': [call]})]
    reply = complete(connect())
    assert (reply.content, reply.tool_calls) == ('', (ToolCall('a1', 'recall_text', '{"query": '),))


def test_half_a_character_in_a_reply_is_replaced(server: ScriptedServer, connect: Any) -> None:
    call = {
        'id': 'a1',
        'type': 'function',
        'function': {'name': 'recall_text', 'arguments': '{"q": "\ud83d"}'},
    }
    server.reply = [said({'role': 'assistant', 'content': 'A \ud83d', 'tool_calls': [call]})]
    reply = complete(connect())
    assert (reply.content, reply.tool_calls[0].arguments) == ('A ?', '{"q": "?"}')


def test_calls_without_an_id_get_one_each(server: ScriptedServer, connect: Any) -> None:
    call = {'type': 'function', 'function': {'name': 'recall_text', 'arguments': '{}'}}
    server.reply = [said({'role': 'assistant', 'content': None, 'tool_calls': [call, call]})]
    first, second = complete(connect()).tool_calls
    assert first.id != second.id


def test_the_request_carries_messages_tools_and_the_forced_call(server: ScriptedServer, connect: Any) -> None:
    server.reply = [said({'role': 'assistant', 'content': 'x'})]
    call = ToolCall('a1', 'recall_text', '{"query": "lift"}')
    messages = (*HELLO, Message('assistant', '', (call,)), Message('tool', 'nothing', tool_call_id='a1'))
    complete(connect(), messages=messages)
    body = server.requests[0].body
    assert body['model'] == 'tiny'
    assert body['tool_choice'] == 'auto'
    assert [tool['function']['name'] for tool in body['tools']] == [tool.name for tool in TOOLS]
    assert body['messages'][0] == {'role': 'system', 'content': 'Be brief.'}
    assert body['messages'][2]['tool_calls'][0]['function'] == {
        'name': 'recall_text',
        'arguments': '{"query": "lift"}',
    }
    assert body['messages'][3] == {'role': 'tool', 'content': 'nothing', 'tool_call_id': 'a1'}


def test_a_forced_call_is_asked_for_by_the_schema_of_its_arguments(
    server: ScriptedServer, connect: Any
) -> None:
    server.reply = [said({'role': 'assistant', 'content': '<think>So.</think>\n{"kind": "not_seen"}'})]
    call = ToolCall('a1', 'recall_text', '{"query": "lift"}')
    messages = (*HELLO, Message('assistant', '', (call,)), Message('tool', 'nothing', tool_call_id='a1'))
    reply = complete(connect(), messages=messages, must_call='answer')
    assert reply.tool_calls == (ToolCall('call_0', 'answer', '{"kind": "not_seen"}'),)
    body = server.requests[0].body
    (answer,) = (tool for tool in TOOLS if tool.name == 'answer')
    assert not {'tools', 'tool_choice'} & body.keys()
    assert body['response_format']['json_schema'] == {'name': 'answer', 'schema': dict(answer.parameters)}
    assert {message['role'] for message in body['messages']} == {'system', 'user', 'assistant'}
    assert 'nothing' in body['messages'][-1]['content']


@pytest.mark.parametrize('content', ['No lift.', '[1]', '{"tool": "answer", "arguments": {"kind": "text"}}'])
def test_what_is_no_object_of_arguments_stays_text(
    server: ScriptedServer, connect: Any, content: str
) -> None:
    server.reply = [ScriptedReply(content)]
    assert (complete(connect(), must_call='answer').content) == content


def test_where_no_schema_is_taken_the_call_is_forced_by_its_name(
    server: ScriptedServer, connect: Any
) -> None:
    server.reply = [ScriptedReply('x', refuse=('response_format',))]
    complete(connect(), must_call='answer')
    body = server.requests[-1].body
    assert body['tool_choice'] == {'type': 'function', 'function': {'name': 'answer'}}


def test_the_key_goes_into_the_header_and_nowhere_else(
    server: ScriptedServer, connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    server.reply = [ScriptedReply(f'Incorrect API key provided: {KEY}.', status=401)]
    with pytest.raises(ChatUnavailable, match='401') as refusal:
        complete(connect())
    request = server.requests[0]
    assert request.headers['authorization'] == f'Bearer {KEY}'
    assert KEY not in json.dumps(request.body)
    assert KEY not in str(refusal.value)


@pytest.mark.parametrize('status', [400, 401, 403, 404, 429, 500, 503])
def test_a_refusal_is_a_server_out_of_reach(server: ScriptedServer, connect: Any, status: int) -> None:
    server.reply = [ScriptedReply('x' * 10_000, status=status)]
    with pytest.raises(ChatUnavailable, match=str(status)) as refusal:
        complete(connect())
    assert len(str(refusal.value)) < 500


@pytest.mark.parametrize('status', [429, 500])
def test_a_busy_server_is_asked_again_when_it_says(
    server: ScriptedServer, connect: Any, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(Bounds, 'pause', lambda _, seconds: slept.append(seconds))
    busy = ScriptedReply(status=status, retry_after_s=7.0)
    dated = ScriptedReply(status=status, retry_after_s=9.0, retry_after_date=True)
    server.reply = [busy, dated, ScriptedReply('At last.')]
    ledger = Ledger()
    reply = complete(connect(max_retries=2), ledger=ledger)
    assert (reply.content, ledger.usage.calls) == ('At last.', 1)
    assert slept == [7.0, pytest.approx(8.0, abs=1.0)]
    assert len(server.requests) == 3


def test_a_server_that_loads_its_model_is_asked_as_long_as_there_is_time(
    server: ScriptedServer, connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(Bounds, 'pause', lambda _, seconds: slept.append(seconds))
    loading = ScriptedReply(status=503, body={'error': {'message': 'Loading model', 'code': 503}})
    server.reply = [loading] * 40 + [ScriptedReply('At last.')]
    assert complete(connect(max_retries=2)).content == 'At last.'
    assert slept == [LOADING_S] * 40
    server.reply = [loading]
    with pytest.raises(ChatUnavailable, match='Loading model'):
        complete(connect(max_retries=2), timeout_s=0.5 * LOADING_S)


def test_a_server_that_stays_busy_is_given_up(
    server: ScriptedServer, connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(Bounds, 'pause', lambda _, seconds: slept.append(seconds))
    server.reply = [ScriptedReply(status=429, headers={'Retry-After': '2'})]
    with pytest.raises(ChatUnavailable, match='429'):
        complete(connect(max_retries=3))
    assert slept == [2.0] * 3
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    'body',
    [
        b'<html>It works!</html>',
        b'',
        b'{"choices": [{"message": {"content": "cut of',
        b'null',
        b'[]',
        b'"text"',
        b'5',
        b'{}',
        b'\xff\xfe\x00',
        {'choices': []},
        {'choices': None},
        {'choices': 'abc'},
        {'choices': [None]},
        {'choices': [{}]},
        {'choices': [{'message': None}]},
        {'choices': [{'message': 'hello'}]},
        said({'role': 'assistant', 'tool_calls': 5}),
        said({'role': 'assistant', 'tool_calls': [None]}),
        said({'role': 'assistant', 'tool_calls': [{'id': '1', 'function': None}]}),
        said({'role': 'assistant', 'tool_calls': [{'id': '1'}]}),
        {'error': {'message': 'out of memory'}},
    ],
    ids=range(21),
)
@pytest.mark.parametrize('content_type', ['application/json', 'text/html'])
def test_what_is_no_chat_reply_is_said_to_be_none(
    server: ScriptedServer, connect: Any, body: Any, content_type: str
) -> None:
    server.reply = [ScriptedReply(body=body, headers={'Content-Type': content_type})]
    with pytest.raises(ChatUnavailable):
        complete(connect())


@pytest.mark.parametrize(
    'message',
    [
        {'role': 'assistant', 'content': 5},
        {'role': 'assistant', 'content': [{'type': 'text'}]},
        {'role': 'assistant'},
        {'role': 'assistant', 'content': None, 'tool_calls': None},
    ],
)
def test_content_of_a_wrong_type_is_no_content(server: ScriptedServer, connect: Any, message: Any) -> None:
    server.reply = [said(message, usage={'prompt_tokens': 'many', 'completion_tokens': None})]
    reply = complete(connect())
    assert (reply.content, reply.tool_calls) == ('', ())


def test_a_server_that_hangs_is_given_up(server: ScriptedServer, connect: Any) -> None:
    server.reply = [ScriptedReply(hang_s=30.0)]
    with pytest.raises(ChatUnavailable, match='did not answer'):
        complete(connect(), timeout_s=0.2)


def test_a_server_that_is_not_there_is_named(server: ScriptedServer) -> None:
    chat = OpenAIChat('tiny', 'http://127.0.0.1:9/v1', max_retries=0)
    with pytest.raises(ChatUnavailable, match=r'127\.0\.0\.1:9'):
        complete(chat)


def test_without_a_name_the_servers_first_model_is_asked(server: ScriptedServer, connect: Any) -> None:
    server.reply = [said({'role': 'assistant', 'content': 'x'})]
    server.model = 'tiny'
    chat = connect('')
    complete(chat)
    assert (server.requests[0].body['model'], chat.model) == ('tiny', 'tiny')


def test_a_server_is_asked_once_how_large_a_model_is_whose_name_does_not_say_it(
    server: ScriptedServer, connect: Any
) -> None:
    counted = {'id': 'mine', 'object': 'model', 'meta': {'n_params': 494_032_768}}
    server.models = ScriptedReply(status=503, body={'error': {'message': 'Loading model'}})
    chat = connect('mine')
    assert chat.parameters_b(5.0) == math.inf
    server.models = ScriptedReply(body={'object': 'list', 'data': [counted]})
    assert chat.parameters_b(5.0) == pytest.approx(0.494, abs=1e-3)
    server.models = ScriptedReply(status=404)
    assert chat.parameters_b(5.0) == pytest.approx(0.494, abs=1e-3)
    assert connect('mine').parameters_b(5.0) == math.inf
    assert connect('mine-7b').parameters_b(5.0) == 7.0
    server.models = ScriptedReply(hang_s=30.0)
    assert connect('mine').parameters_b(0.1) == math.inf
    assert OpenAIChat('mine', 'http://127.0.0.1:9/v1').parameters_b(5.0) == math.inf
    assert OpenAIChat('gpt').parameters_b(5.0) == math.inf, 'OpenAI is not asked'
    assert OpenAIChat('meta/llama-3.2-1b-instruct', 'nim').parameters_b(5.0) == 1.0


@pytest.mark.parametrize(
    'models',
    [
        (404, {'error': 'no such page'}),
        (200, {'object': 'list', 'data': []}),
        (200, {'object': 'list', 'data': None}),
        (200, {'object': 'list', 'data': [{}]}),
        (200, {'object': 'list', 'data': [None]}),
        (200, {}),
        (200, b'<html>'),
    ],
    ids=range(7),
)
def test_a_server_without_models_is_out_of_reach(
    server: ScriptedServer, connect: Any, models: tuple[int, Any]
) -> None:
    status, body = models
    server.models = ScriptedReply(status=status, body=body)
    server.reply = [said({'role': 'assistant', 'content': 'x'})]
    with pytest.raises(ChatUnavailable):
        complete(connect(''))


def test_openai_itself_needs_a_key(server: ScriptedServer) -> None:
    with pytest.raises(ChatUnavailable, match='OPENAI_API_KEY'):
        complete(OpenAIChat('gpt'))


def test_no_wait_goes_past_the_deadline(server: ScriptedServer, connect: Any) -> None:
    server.reply = [ScriptedReply(status=429, retry_after_s=60.0)]
    began = time.monotonic()
    with pytest.raises(ChatUnavailable, match='429'):
        complete(connect(max_retries=3), timeout_s=20.0)
    assert time.monotonic() - began < patiently(10.0)
    assert len(server.requests) == 1


@pytest.mark.parametrize('status', [400, 401, 403, 404, 413, 422, 501])
def test_what_will_be_refused_again_is_not_asked_again(
    server: ScriptedServer, connect: Any, status: int
) -> None:
    server.reply = [ScriptedReply('no', status=status)]
    with pytest.raises(ChatUnavailable, match=str(status)):
        complete(connect(max_retries=3))
    bodies = [json.dumps(request.body) for request in server.requests]
    assert len(set(bodies)) == len(bodies) <= 3  # in a simpler way, perhaps, but never the same again


def test_an_empty_account_is_not_asked_again(server: ScriptedServer, connect: Any) -> None:
    server.reply = [ScriptedReply('insufficient_quota', status=429)]
    with pytest.raises(ChatUnavailable, match='quota'):
        complete(connect(max_retries=3))
    assert len(server.requests) == 1


def test_a_lost_connection_is_made_again_and_its_tokens_are_estimated(
    server: ScriptedServer, connect: Any
) -> None:
    server.reply = [ScriptedReply('x' * 100, cut_after=50), ScriptedReply('At last.', (), 100, 3)]
    ledger = Ledger()
    reply = complete(connect(max_retries=1), ledger=ledger)
    usage = ledger.usage
    assert (reply.content, usage.calls, usage.completion_tokens) == ('At last.', 2, 3)
    assert usage.prompt_tokens > 500  # the tools are some 1,700 characters
    assert usage.estimated
    assert reply.usage == Usage(1, 100, 3)


def test_tokens_that_are_not_counted_are_estimated(server: ScriptedServer, connect: Any) -> None:
    server.reply = [said({'role': 'assistant', 'content': 'x' * 40})]
    chat = connect()
    reply = chat.complete(
        Call((Message('user', 'y' * 80),), (), must_call=None, timeout_s=10.0, ledger=Ledger())
    )
    assert reply.usage == Usage(1, 20, 10, estimated=True)


def test_a_model_that_takes_no_tools_is_told_of_them_in_words(server: ScriptedServer, connect: Any) -> None:
    refusal = ScriptedReply('registry/tiny does not support tools', status=400)
    server.reply = [refusal, ScriptedReply('{"calls": []}')]
    chat = connect()
    assert complete(chat).content == '{"calls": []}'
    complete(chat, must_call='answer')
    with_tools, without, forced = (request.body for request in server.requests)
    assert 'tools' in with_tools
    assert 'tools' not in without
    assert 'recall_text' in without['messages'][-1]['content']
    assert 'Now answer' in forced['messages'][-1]['content']
    assert 'recall_text' not in forced['messages'][-1]['content']


def test_seed_and_temperature_are_sent(server: ScriptedServer, connect: Any) -> None:
    server.reply = [ScriptedReply('x')]
    complete(connect())
    complete(connect(seed=0, temperature=0.7))
    plain, seeded = (request.body for request in server.requests)
    assert (plain['temperature'], 'seed' in plain) == (0.0, False)
    assert (seeded['temperature'], seeded['seed']) == (0.7, 0)


def test_without_tools_none_are_spoken_of(server: ScriptedServer, connect: Any) -> None:
    server.reply = [ScriptedReply('x')]
    chat = connect()
    chat.complete(Call(HELLO, (), timeout_s=10.0))
    body = server.requests[0].body
    assert not {'tools', 'tool_choice', 'parallel_tool_calls', 'response_format'} & set(body)
    assert len(body['messages']) == len(HELLO)


def test_images_are_sent_after_the_text_each_with_its_own(server: ScriptedServer, connect: Any) -> None:
    server.reply = [ScriptedReply('x')]
    pictures = (Picture('[m1]', b'\xff\xd8one'), Picture('[m2]', b'\xff\xd8two'))
    complete(connect(), messages=(HELLO[0], Message('user', 'What is this?', images=pictures)))
    system, user = server.requests[0].body['messages']
    assert system['content'] == 'Be brief.'
    assert [part.get('text') for part in user['content']] == ['What is this?', '[m1]', None, '[m2]', None]
    head, data = user['content'][4]['image_url']['url'].split(',')
    assert (head, base64.b64decode(data)) == ('data:image/jpeg;base64', b'\xff\xd8two')
