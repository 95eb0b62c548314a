import base64
from collections.abc import Callable, Iterator
from typing import Any

import cv2
import numpy as np
import pytest

from remembr_ros.agent.scripted_reply import completion
from remembr_ros.agent.scripted_server import ScriptedReply, ScriptedServer
from remembr_ros.captioning.openai_vision import MAX_TOKENS, OpenAIVisionCaptioner, evenly
from remembr_ros.errors import CaptionerFailed, InvalidRequest
from remembr_ros.images import Bgr


def said(text: str | None, finish: str = 'stop', **message: Any) -> ScriptedReply:
    return ScriptedReply(body=completion({'role': 'assistant', 'content': text, **message}, finish))


def failed(status: int, message: str = '') -> ScriptedReply:
    return ScriptedReply(message, status=status)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer([said('A corridor.')], 'tiny-vlm') as made:
        yield made


@pytest.fixture
def connect(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., OpenAIVisionCaptioner]]:
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    monkeypatch.delenv('OPENAI_BASE_URL', raising=False)
    made: list[OpenAIVisionCaptioner] = []

    def make(model: str | None = 'vlm', **options: Any) -> OpenAIVisionCaptioner:
        captioner = OpenAIVisionCaptioner(model, server.url, **{'max_retries': 0, **options})
        made.append(captioner)
        return captioner

    yield make
    for captioner in made:
        captioner.close()


def grey(value: int, width: int = 64, height: int = 48) -> Bgr:
    return np.full((height, width, 3), value, np.uint8)


def images_in(body: dict[str, Any]) -> list[Bgr]:
    found = []
    for part in body['messages'][0]['content']:
        if part['type'] == 'image_url':
            head, data = part['image_url']['url'].split(',')
            assert head == 'data:image/jpeg;base64'
            pixels = np.frombuffer(base64.b64decode(data), np.uint8)
            found.append(cv2.imdecode(pixels, cv2.IMREAD_COLOR))
    return found


def test_request_carries_prompt_and_images_in_order(server: ScriptedServer, connect: Any):
    server.reply = [said('  A corridor with a red door. \n')]
    caption = connect().caption([grey(value) for value in (10, 90, 200)])
    assert caption.text == 'A corridor with a red door.'
    assert caption.scene_text == ()
    request = server.requests[0]
    body = request.body
    assert request.path == '/v1/chat/completions'
    assert body['model'] == 'vlm'
    assert body['max_tokens'] == MAX_TOKENS
    assert len(body['messages']) == 1
    assert body['messages'][0]['role'] == 'user'
    assert 'robot' in body['messages'][0]['content'][0]['text']
    assert [round(float(image.mean()), -1) for image in images_in(body)] == [10, 90, 200]
    assert request.headers['authorization'] == 'Bearer none'


def test_key_comes_from_the_environment(
    server: ScriptedServer, connect: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv('OPENAI_API_KEY', 'from-env')
    connect().caption([grey(1)])
    assert server.requests[0].headers['authorization'] == 'Bearer from-env'


def test_large_images_are_reduced_and_their_number_limited(server: ScriptedServer, connect: Any):
    connect(max_images=3, max_side=100).caption([grey(value, 400, 200) for value in range(0, 250, 10)])
    sent = images_in(server.requests[0].body)
    assert [image.shape for image in sent] == [(50, 100, 3)] * 3
    assert [round(float(image.mean()), -1) for image in sent] == [0, 120, 240]


def test_without_a_model_the_first_of_the_server_is_used(server: ScriptedServer, connect: Any):
    captioner = connect(model=None)
    captioner.caption([grey(1)])
    captioner.caption([grey(1)])
    assert [request.body['model'] for request in server.requests] == ['tiny-vlm', 'tiny-vlm']


def test_server_without_models_says_so(server: ScriptedServer, connect: Any):
    server.models = ScriptedReply(body={'object': 'list', 'data': []})
    with pytest.raises(CaptionerFailed, match='offers no model'):
        connect(model=None).caption([grey(1)])


@pytest.mark.parametrize(
    ('reply', 'says'),
    [
        (failed(500, 'out of memory'), '500.*out of memory'),
        (failed(401, 'bad key'), '401.*key'),
        (ScriptedReply(status=404, body=b'<html>nothing here</html>'), '404'),
        (ScriptedReply(body=b'<html>a web page</html>'), 'no chat reply|without a message'),
        (ScriptedReply(body=b'"text"'), 'no chat reply|without a message'),
        (ScriptedReply(body={}), 'no chat reply|without a message'),
        (ScriptedReply(body={'choices': []}), 'without a message'),
        (ScriptedReply(body={'choices': [{'index': 0, 'message': None}]}), 'without a message'),
        (said(''), 'empty'),
        (said(' \n'), 'empty'),
        (said(None), 'empty'),
        (said(None, refusal='I cannot help with that.'), 'refused.*cannot help'),
        (said('', finish='content_filter'), 'content filter'),
    ],
)
def test_reply_of_no_use_is_a_failure(server: ScriptedServer, connect: Any, reply: ScriptedReply, says: str):
    server.reply = [reply]
    with pytest.raises(CaptionerFailed, match=f'(?s){says}'):
        connect().caption([grey(1)])


def test_failure_does_not_spoil_the_next_call(server: ScriptedServer, connect: Any):
    captioner = connect()
    server.reply = [failed(500)]
    with pytest.raises(CaptionerFailed):
        captioner.caption([grey(1)])
    server.reply = [said('A kitchen.')]
    assert captioner.caption([grey(1)]).text == 'A kitchen.'


def test_retries_are_bounded(server: ScriptedServer, connect: Any):
    server.reply = [failed(500)]
    with pytest.raises(CaptionerFailed):
        connect(max_retries=1).caption([grey(1)])
    assert len(server.requests) == 2


def test_server_that_hangs_is_a_failure_in_time(server: ScriptedServer, connect: Any):
    server.reply = [ScriptedReply(hang_s=30.0)]
    with pytest.raises(CaptionerFailed, match=r'within 0.2 s'):
        connect(timeout_s=0.2).caption([grey(1)])


def test_server_that_is_gone_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    gone = ScriptedServer()
    gone.close()
    captioner = OpenAIVisionCaptioner('m', gone.url, max_retries=0)
    with pytest.raises(CaptionerFailed, match='is the server running'):
        captioner.caption([grey(1)])
    captioner.close()


def test_no_images_need_no_server(connect: Any, server: ScriptedServer):
    assert connect().caption([]).text == ''
    assert server.requests == []


def test_neither_key_nor_server_is_refused_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    monkeypatch.delenv('OPENAI_BASE_URL', raising=False)
    with pytest.raises(CaptionerFailed, match='OPENAI_API_KEY'):
        OpenAIVisionCaptioner()


@pytest.mark.parametrize('option', ['max_images', 'max_side', 'timeout_s'])
def test_options_without_sense_are_refused(option: str):
    with pytest.raises(InvalidRequest, match=option):
        OpenAIVisionCaptioner('m', 'http://127.0.0.1:9/v1', **{option: 0})


@pytest.mark.parametrize(
    ('count', 'n', 'wanted'), [(0, 3, []), (2, 3, [0, 1]), (6, 1, [3]), (7, 3, [0, 3, 6]), (6, 2, [0, 5])]
)
def test_images_are_spread_evenly(count: int, n: int, wanted: list[int]):
    assert [int(image[0, 0, 0]) for image in evenly([grey(i) for i in range(count)], n)] == wanted
