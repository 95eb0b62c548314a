"""Servers that refuse parts of a request are asked without them from then on."""

from typing import Any

import pytest

from remembr_ros.agent.chat.client import Call, Message, ToolCall
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.llm.tools import TOOLS
from remembr_ros.agent.model.answer import Ledger
from remembr_ros.chat_capabilities import Capabilities
from remembr_ros.errors import ChatUnavailable
from test.scripted.server import ScriptedReply, ScriptedServer


@pytest.fixture
def chat(server: ScriptedServer) -> OpenAIChat:
    return OpenAIChat('tiny', server.url, seed=1)


FEATURES = (
    *('tools', 'tool_choice', 'parallel_tool_calls', 'response_format'),
    *('temperature', 'seed', 'max_tokens', 'max_completion_tokens'),
)
HELLO = (Message('system', 'Be brief.'), Message('user', 'Where is the lift?'))


@pytest.mark.parametrize('refused', [*((name,) for name in FEATURES), FEATURES], ids=str)
def test_a_server_that_refuses_is_asked_without_and_that_is_remembered(
    server: ScriptedServer, chat: OpenAIChat, refused: tuple[str, ...]
) -> None:
    server.reply = [ScriptedReply('yes', refuse=refused)]
    for must_call in (None, 'answer', None):
        assert chat.complete(Call(HELLO, TOOLS, must_call=must_call, timeout_s=10.0)).content == 'yes'
    bodies = [request.body for request in server.requests]
    assert not set(refused) & set(bodies[-1])
    assert len(bodies) <= 3 + len(refused) + 1  # a schema is refused twice: then it is a JSON object


def test_what_fails_all_the_same_is_not_remembered(server: ScriptedServer, chat: OpenAIChat) -> None:
    server.reply = [ScriptedReply('tools are not supported; neither is anything else', status=400)]
    with pytest.raises(ChatUnavailable, match='400'):
        chat.complete(Call(HELLO, TOOLS, timeout_s=10.0))
    assert chat.capabilities == Capabilities()


@pytest.mark.parametrize('status', [400, 422, 500])
@pytest.mark.parametrize(
    'refuses', [{'tools'}, {'system'}, {'tools', 'system', 'temperature'}], ids=['tools', 'system', 'three']
)
def test_a_refusal_without_a_word_is_found_out_by_trying(
    server: ScriptedServer, status: int, refuses: set[str]
) -> None:
    def reply(body: dict[str, Any]) -> ScriptedReply:
        has = {*body, *(message['role'] for message in body['messages'])}
        return (
            ScriptedReply(body=b'Internal Server Error', status=status)
            if has & refuses
            else ScriptedReply('yes')
        )

    server.reply = reply
    chat = OpenAIChat('tiny', server.url, max_retries=0)
    assert chat.complete(Call(HELLO, TOOLS, timeout_s=10.0)).content == 'yes'
    tried = len(server.requests)
    assert chat.complete(Call(HELLO, TOOLS, must_call='answer', timeout_s=10.0)).content == 'yes'
    assert (tried, len(server.requests)) == (2 if refuses == {'tools'} else 3, tried + 1)


def test_a_server_that_was_of_use_is_not_simplified_for_a_mishap(server: ScriptedServer) -> None:
    chat = OpenAIChat('tiny', server.url, max_retries=0)
    server.reply = [ScriptedReply('yes'), ScriptedReply(body=b'oops', status=500), ScriptedReply('yes')]
    chat.complete(Call(HELLO, TOOLS, timeout_s=10.0))
    with pytest.raises(ChatUnavailable, match='500'):
        chat.complete(Call(HELLO, TOOLS, timeout_s=10.0))
    assert chat.complete(Call(HELLO, TOOLS, timeout_s=10.0)).content == 'yes'
    assert chat.capabilities == Capabilities()


@pytest.mark.parametrize(
    ('status', 'said'),
    [
        (400, 'Failed to call a function. Please adjust your prompt.'),
        (400, "Invalid 'messages[3].tool_calls[0].id': empty string"),
        (500, 'cannot generate a tool call now'),
        (400, 'temperature: out of luck'),
    ],
)
def test_what_was_accepted_before_is_left_out_only_once(
    server: ScriptedServer, chat: OpenAIChat, status: int, said: str
) -> None:
    server.reply = [ScriptedReply('yes'), ScriptedReply(said, status=status), ScriptedReply('yes')]
    for _ in range(3):
        assert chat.complete(Call(HELLO, TOOLS, timeout_s=10.0)).content == 'yes'
    bodies = [request.body for request in server.requests]
    assert len(bodies) == 4
    assert bodies[2].keys() < bodies[1].keys() | {'response_format'}
    assert bodies[3] == bodies[0]
    assert chat.capabilities == Capabilities()


def test_a_conversation_goes_on_in_words_when_tools_are_refused(
    server: ScriptedServer, chat: OpenAIChat
) -> None:
    server.reply = [ScriptedReply('yes', refuse=('tools',))]
    call = ToolCall('a1', 'recall_text', '{"query": "lift"}')
    results = (Message('tool', 'm1: a lift', tool_call_id='a1'), Message('tool', 'm2', tool_call_id='zz'))
    chat.complete(
        Call(
            (*HELLO, Message('assistant', 'Hm.', (call,)), *results),
            TOOLS,
            must_call=None,
            timeout_s=10.0,
            ledger=Ledger(),
        )
    )
    system, user, assistant, last = server.requests[-1].body['messages']
    assert [message['role'] for message in (system, user, assistant, last)] == [
        'system',
        'user',
        'assistant',
        'user',
    ]
    assert assistant['content'] == 'Hm.\n{"calls": [{"tool": "recall_text", "arguments": {"query": "lift"}}]}'
    assert last['content'].startswith(
        'Result of recall_text:\nm1: a lift\n\nResult of the tool:\nm2\n\nReply'
    )
    schema = server.requests[-1].body['response_format']['json_schema']['schema']
    calls = schema['properties']['calls']['items']['properties']
    assert calls['tool']['enum'] == [tool.name for tool in TOOLS]


def test_without_a_system_role_its_text_comes_first(server: ScriptedServer, chat: OpenAIChat) -> None:
    def reply(body: dict[str, Any]) -> ScriptedReply:
        if body['messages'][0]['role'] == 'system':
            return ScriptedReply('System role not supported', status=400)
        return ScriptedReply('yes')

    server.reply = reply
    chat.complete(Call(HELLO, (), timeout_s=10.0))
    assert server.requests[-1].body['messages'] == [
        {'role': 'user', 'content': 'Be brief.\n\nWhere is the lift?'}
    ]


def test_a_forced_call_is_said_in_words_where_it_cannot_be_forced(server: ScriptedServer) -> None:
    server.reply = [ScriptedReply('yes', refuse=('response_format', 'tool_choice'))]
    chat = OpenAIChat('tiny', server.url)
    chat.complete(Call(HELLO, TOOLS, must_call='answer', timeout_s=10.0))
    body = server.requests[-1].body
    assert len(body['tools']) == len(TOOLS)
    assert body['messages'][-1]['content'].endswith('Now call the tool answer, and no other.')
