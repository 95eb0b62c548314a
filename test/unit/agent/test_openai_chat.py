import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from remembr_ros.agent.chat import Message, Reply, ToolCall
from remembr_ros.agent.openai_chat import OpenAIChat
from remembr_ros.agent.tools import TOOLS
from remembr_ros.errors import ChatUnavailable

KEY = 'sk-secret-0123456789abcdef'

HELLO = (Message('system', 'Be brief.'), Message('user', 'Where is the lift?'))


def said(message: Any, **more: Any) -> dict[str, Any]:
    return {
        'id': '1',
        'object': 'chat.completion',
        'created': 0,
        'model': 'm',
        'choices': [{'index': 0, 'finish_reason': 'stop', 'message': message}],
        **more,
    }


class ChatServer:
    """A server that speaks the chat API: replies what it is told to, keeps what it was asked."""

    def __init__(self) -> None:
        self.replies: list[tuple[int, Any]] = []
        self.models: tuple[int, Any] = (200, {'object': 'list', 'data': [{'id': 'tiny'}, {'id': 'other'}]})
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.content_type = 'application/json'
        self.hang = False
        self.released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(*outer.models)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                outer.requests.append(({k.lower(): v for k, v in self.headers.items()}, body))
                if outer.hang:
                    outer.released.wait(30.0)
                    return
                self._send(*(outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]))

            def _send(self, status: int, body: Any) -> None:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header('Content-Type', outer.content_type)
                self.send_header('Content-Length', str(len(data)))
                self.send_header('retry-after-ms', '1')
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self._server.server_port}/v1'
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={'poll_interval': 0.01})
        self._thread.start()

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    for name in ('OPENAI_API_KEY', 'OPENAI_BASE_URL', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)
    made = ChatServer()
    yield made
    made.close()


@pytest.fixture
def connect(server: ChatServer) -> Iterator[Callable[..., OpenAIChat]]:
    made: list[OpenAIChat] = []

    def make(model: str = 'tiny', **options: Any) -> OpenAIChat:
        made.append(OpenAIChat(model, server.url, **{'max_retries': 0, **options}))
        return made[-1]

    yield make
    for chat in made:
        chat.close()


def complete(chat: OpenAIChat, **changes: Any) -> Reply:
    options: dict[str, Any] = {'must_call': None, 'timeout_s': 10.0, **changes}
    return chat.complete(options.pop('messages', HELLO), TOOLS, **options)


def test_plain_content_and_usage_come_back(server: ChatServer, connect: Any) -> None:
    usage = {'prompt_tokens': 12, 'completion_tokens': 3, 'total_tokens': 15}
    server.replies = [(200, said({'role': 'assistant', 'content': 'Hello.'}, usage=usage))]
    assert complete(connect()) == Reply('Hello.', (), 12, 3)


def test_tool_calls_come_back_as_they_were_written(server: ChatServer, connect: Any) -> None:
    call = {'id': 'a1', 'type': 'function', 'function': {'name': 'recall_text', 'arguments': '{"query": '}}
    server.replies = [(200, said({'role': 'assistant', 'content': None, 'tool_calls': [call]}))]
    reply = complete(connect())
    assert reply == Reply('', (ToolCall('a1', 'recall_text', '{"query": '),), 0, 0)


def test_calls_without_an_id_get_one_each(server: ChatServer, connect: Any) -> None:
    call = {'type': 'function', 'function': {'name': 'recall_text', 'arguments': '{}'}}
    server.replies = [(200, said({'role': 'assistant', 'content': None, 'tool_calls': [call, call]}))]
    first, second = complete(connect()).tool_calls
    assert first.id != second.id


def test_the_request_carries_messages_tools_and_the_forced_call(server: ChatServer, connect: Any) -> None:
    server.replies = [(200, said({'role': 'assistant', 'content': 'x'}))]
    call = ToolCall('a1', 'recall_text', '{"query": "lift"}')
    messages = (*HELLO, Message('assistant', '', (call,)), Message('tool', 'nothing', tool_call_id='a1'))
    complete(connect(), messages=messages, must_call='answer')
    _, body = server.requests[0]
    assert body['model'] == 'tiny'
    assert body['tool_choice'] == {'type': 'function', 'function': {'name': 'answer'}}
    assert [tool['function']['name'] for tool in body['tools']] == [tool.name for tool in TOOLS]
    assert body['messages'][0] == {'role': 'system', 'content': 'Be brief.'}
    assert body['messages'][2]['tool_calls'][0]['function'] == {
        'name': 'recall_text',
        'arguments': '{"query": "lift"}',
    }
    assert body['messages'][3] == {'role': 'tool', 'content': 'nothing', 'tool_call_id': 'a1'}
    complete(connect())
    assert server.requests[1][1]['tool_choice'] == 'auto'


def test_the_key_goes_into_the_header_and_nowhere_else(
    server: ChatServer, connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    server.replies = [(401, {'error': {'message': f'Incorrect API key provided: {KEY}.'}})]
    with pytest.raises(ChatUnavailable, match='401') as refusal:
        complete(connect())
    headers, body = server.requests[0]
    assert headers['authorization'] == f'Bearer {KEY}'
    assert KEY not in json.dumps(body)
    assert KEY not in str(refusal.value)


@pytest.mark.parametrize('status', [400, 401, 403, 404, 429, 500, 503])
def test_a_refusal_is_a_server_out_of_reach(server: ChatServer, connect: Any, status: int) -> None:
    server.replies = [(status, {'error': {'message': 'x' * 10_000}})]
    with pytest.raises(ChatUnavailable, match=str(status)) as refusal:
        complete(connect())
    assert len(str(refusal.value)) < 500


def test_a_busy_server_is_asked_again(server: ChatServer, connect: Any) -> None:
    server.replies = [(429, {}), (200, said({'role': 'assistant', 'content': 'At last.'}))]
    assert complete(connect(max_retries=1)).content == 'At last.'
    assert len(server.requests) == 2


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
    server: ChatServer, connect: Any, body: Any, content_type: str
) -> None:
    server.content_type = content_type
    server.replies = [(200, body)]
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
def test_content_of_a_wrong_type_is_no_content(server: ChatServer, connect: Any, message: Any) -> None:
    server.replies = [(200, said(message, usage={'prompt_tokens': 'many', 'completion_tokens': None}))]
    assert complete(connect()) == Reply()


def test_a_server_that_hangs_is_given_up(server: ChatServer, connect: Any) -> None:
    server.hang = True
    with pytest.raises(ChatUnavailable, match='did not answer'):
        complete(connect(), timeout_s=0.2)


def test_a_server_that_is_not_there_is_named(server: ChatServer) -> None:
    chat = OpenAIChat('tiny', 'http://127.0.0.1:9/v1', max_retries=0)
    with pytest.raises(ChatUnavailable, match=r'127\.0\.0\.1:9'):
        complete(chat)
    chat.close()


def test_without_a_name_the_servers_first_model_is_asked(server: ChatServer, connect: Any) -> None:
    server.replies = [(200, said({'role': 'assistant', 'content': 'x'}))]
    chat = connect('')
    complete(chat)
    assert (server.requests[0][1]['model'], chat.model) == ('tiny', 'tiny')


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
    server: ChatServer, connect: Any, models: tuple[int, Any]
) -> None:
    server.models = models
    server.replies = [(200, said({'role': 'assistant', 'content': 'x'}))]
    with pytest.raises(ChatUnavailable):
        complete(connect(''))


def test_openai_itself_needs_a_key(server: ChatServer) -> None:
    with pytest.raises(ChatUnavailable, match='OPENAI_API_KEY'):
        complete(OpenAIChat('gpt'))


def test_a_model_that_takes_no_tools_is_told_of_them_in_words(server: ChatServer, connect: Any) -> None:
    refusal = (400, {'error': {'message': 'registry/tiny does not support tools'}})
    server.replies = [refusal, (200, said({'role': 'assistant', 'content': '{"calls": []}'}))]
    chat = connect()
    assert complete(chat).content == '{"calls": []}'
    complete(chat, must_call='answer')
    with_tools, without, forced = (body for _, body in server.requests)
    assert 'tools' in with_tools
    assert 'tools' not in without
    assert 'recall_text' in without['messages'][-1]['content']
    assert '"answer"' in forced['messages'][-1]['content']
    assert 'recall_text' not in forced['messages'][-1]['content']
