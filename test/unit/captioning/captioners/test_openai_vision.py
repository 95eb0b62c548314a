import base64
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from remembr_ros.captioning.captioners.by_name import get_captioner
from remembr_ros.captioning.captioners.captioner import Clip, caption_clip
from remembr_ros.captioning.captioners.openai_vision import OpenAIVisionCaptioner
from remembr_ros.captioning.captioners.vlm_options import VlmOptions
from remembr_ros.errors import CaptionerFailed, InvalidRequest
from remembr_ros.images import Bgr
from test.patience import patiently
from test.scripted.reply import completion
from test.scripted.server import ScriptedReply, ScriptedServer


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
        captioner = OpenAIVisionCaptioner(model, server.url, VlmOptions(**{'max_retries': 0, **options}))
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


def test_what_a_server_refuses_is_left_out_from_then_on(server: ScriptedServer, connect: Any) -> None:
    def reply(body: dict[str, Any]) -> ScriptedReply:
        if 'max_tokens' in body:
            return failed(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        if body.get('temperature', 1) != 1:
            return failed(400, "Unsupported value: 'temperature' does not support 0.0 with this model.")
        if len(images_in(body)) > 2:
            return failed(400, 'At most 2 image(s) may be provided in one request.')
        return said('A corridor.')

    server.reply = reply
    clip = Clip([grey(value) for value in (0, 50, 100, 150, 200)])
    captioner = connect()
    assert caption_clip(captioner, clip).text == 'A corridor.'
    assert caption_clip(captioner, clip).text == 'A corridor.'
    assert len(server.requests) == 5
    assert [round(float(image.mean())) for image in images_in(server.requests[-1].body)] == [0, 100]


def test_a_model_that_thinks_is_given_the_tokens_for_it(server: ScriptedServer, connect: Any) -> None:
    server.reply = lambda body: (
        said('<think>\nThe user sends six pictures. It may', 'length')
        if body['max_tokens'] < 2_000
        else said('<think>Six pictures.</think><|begin_of_box|>A corridor.<|end_of_box|>')
    )
    assert caption_clip(connect(), Clip([grey(0)])).text == 'A corridor.'


def test_a_thought_is_no_caption(server: ScriptedServer, connect: Any) -> None:
    server.reply = [said('<think>\nThe user sends six pictures. It may', 'length')]
    with pytest.raises(CaptionerFailed, match='--max-tokens'):
        caption_clip(connect(), Clip([grey(0)]))


def test_request_carries_prompt_and_images_in_order(server: ScriptedServer, connect: Any):
    server.reply = [said('  A corridor with a red door. \n')]
    caption = caption_clip(connect(), Clip([grey(value) for value in (10, 90, 200)]))
    assert caption.text == 'A corridor with a red door.'
    assert caption.scene_text == ()
    request = server.requests[0]
    body = request.body
    assert request.path == '/v1/chat/completions'
    assert body['model'] == 'vlm'
    assert body['max_tokens'] == 512
    assert len(body['messages']) == 1
    assert body['messages'][0]['role'] == 'user'
    assert 'robot' in body['messages'][0]['content'][-1]['text']
    assert [round(float(image.mean()), -1) for image in images_in(body)] == [10, 90, 200]
    assert request.headers['authorization'] == 'Bearer none'


def test_key_comes_from_the_environment(
    server: ScriptedServer, connect: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv('OPENAI_API_KEY', 'from-env')
    caption_clip(connect(), Clip([grey(1)]))
    assert server.requests[0].headers['authorization'] == 'Bearer from-env'


def test_large_images_are_reduced_and_their_number_limited(server: ScriptedServer, connect: Any):
    caption_clip(
        connect(max_images=3, max_side=100), Clip([grey(value, 400, 200) for value in range(0, 250, 10)])
    )
    sent = images_in(server.requests[0].body)
    assert [image.shape for image in sent] == [(50, 100, 3)] * 3
    assert [round(float(image.mean()), -1) for image in sent] == [0, 120, 240]


def test_without_a_model_the_first_of_the_server_is_used(server: ScriptedServer, connect: Any):
    captioner = connect(model=None)
    caption_clip(captioner, Clip([grey(1)]))
    caption_clip(captioner, Clip([grey(1)]))
    assert [request.body['model'] for request in server.requests] == ['tiny-vlm', 'tiny-vlm']


def test_server_without_models_says_so(server: ScriptedServer, connect: Any):
    server.models = ScriptedReply(body={'object': 'list', 'data': []})
    with pytest.raises(CaptionerFailed, match='offers no model'):
        caption_clip(connect(model=None), Clip([grey(1)]))


@pytest.mark.parametrize(
    ('reply', 'says'),
    [
        (failed(500, 'out of memory'), '500.*out of memory'),
        (failed(401, 'bad key'), '401.*key'),
        (ScriptedReply(status=404, body=b'<html>nothing here</html>'), '404'),
        (ScriptedReply(body=b'<html>a web page</html>'), 'no chat repl|without a message'),
        (ScriptedReply(body=b'"text"'), 'no chat repl|without a message'),
        (ScriptedReply(body={}), 'no chat repl|without a message'),
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
        caption_clip(connect(), Clip([grey(1)]))


@pytest.mark.parametrize(
    ('text', 'kept'),
    [
        ('A red door is open. To the left of it there is a', 'A red door is open.'),
        ('A corridor with doors and a', 'A corridor with doors and a'),
    ],
)
def test_a_reply_that_was_cut_off_ends_with_a_whole_sentence(
    server: ScriptedServer, connect: Any, text: str, kept: str
):
    server.reply = [said(text, finish='length')]
    assert caption_clip(connect(), Clip([grey(1)])).text == kept


def test_failure_does_not_spoil_the_next_call(server: ScriptedServer, connect: Any):
    captioner = connect()
    server.reply = [failed(500)]
    with pytest.raises(CaptionerFailed):
        caption_clip(captioner, Clip([grey(1)]))
    server.reply = [said('A kitchen.')]
    assert caption_clip(captioner, Clip([grey(1)])).text == 'A kitchen.'


def test_retries_are_bounded(server: ScriptedServer, connect: Any):
    server.reply = [failed(500)]
    with pytest.raises(CaptionerFailed):
        caption_clip(connect(max_retries=1), Clip([grey(1)]))
    assert len(server.requests) == 2


def test_server_that_hangs_is_a_failure_in_time(server: ScriptedServer, connect: Any):
    server.reply = [ScriptedReply(hang_s=30.0)]
    with pytest.raises(CaptionerFailed, match=r'within 0.2 s'):
        caption_clip(connect(timeout_s=0.2), Clip([grey(1)]))


def test_server_that_is_gone_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    gone = ScriptedServer()
    gone.close()
    captioner = OpenAIVisionCaptioner('m', gone.url, VlmOptions(max_retries=0))
    with pytest.raises(CaptionerFailed, match='is the server running'):
        caption_clip(captioner, Clip([grey(1)]))
    captioner.close()


def test_no_images_need_no_server(connect: Any, server: ScriptedServer):
    assert caption_clip(connect(), Clip([])).text == ''
    assert server.requests == []


def test_neither_key_nor_server_is_refused_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    monkeypatch.delenv('OPENAI_BASE_URL', raising=False)
    with pytest.raises(CaptionerFailed, match='OPENAI_API_KEY'):
        OpenAIVisionCaptioner()


def test_frames_are_kept_below_a_number_of_bytes(server: ScriptedServer, connect: Any):
    noise = np.random.default_rng(0).integers(0, 255, (480, 640, 3), np.uint8)
    caption_clip(connect(max_image_bytes=30_000), Clip([noise] * 2))
    for part in server.requests[0].body['messages'][0]['content'][:-1]:
        assert len(base64.b64decode(part['image_url']['url'].split(',')[1])) <= 30_000


def test_the_prompt_is_a_file(server: ScriptedServer, connect: Any, tmp_path: Path):
    prompt = tmp_path / 'prompt.md'
    prompt.write_text('Name the doors.')
    caption_clip(connect(prompt=str(prompt), max_tokens=77), Clip([grey(1)]))
    body = server.requests[0].body
    assert body['messages'][0]['content'][-1]['text'] == 'Name the doors.'
    assert body['max_tokens'] == 77
    with pytest.raises(InvalidRequest, match='cannot be read'):
        connect(prompt=str(tmp_path / 'none'))


@pytest.mark.parametrize(
    'reply',
    [
        ScriptedReply('A corridor.', drip_s=0.05),
        ScriptedReply('A corridor.', linger_s=30.0, cut_after=5),
        ScriptedReply('A corridor.', pad_mb=0.001, drip_s=0.02),
    ],
    ids=['dripping', 'stuck', 'padded'],
)
def test_a_server_that_does_not_come_to_an_end_is_a_failure_in_time(
    server: ScriptedServer, connect: Any, reply: ScriptedReply
):
    server.reply = [reply]
    captioner = connect(timeout_s=0.6)
    began = time.monotonic()
    with pytest.raises(CaptionerFailed, match=r'within 0.6 s'):
        caption_clip(captioner, Clip([grey(1)]))
    assert time.monotonic() - began < patiently(3.0)


def test_the_deadline_holds_over_all_retries(server: ScriptedServer, connect: Any):
    server.reply = [ScriptedReply('busy', status=503, retry_after_s=0.2)]
    captioner = connect(timeout_s=0.7, max_retries=1000)
    began = time.monotonic()
    with pytest.raises(CaptionerFailed, match=r'503|within'):
        caption_clip(captioner, Clip([grey(1)]))
    assert time.monotonic() - began < patiently(3.0)
    assert 2 <= len(server.requests) <= 5


def test_a_huge_reply_is_a_failure(server: ScriptedServer, connect: Any):
    server.reply = [ScriptedReply('A corridor.', pad_mb=20.0)]
    with pytest.raises(CaptionerFailed, match='longer than'):
        caption_clip(connect(), Clip([grey(1)]))


def test_a_caption_that_loops_is_asked_for_again_in_another_way(server: ScriptedServer, connect: Any):
    server.reply = [said('A door is red. ' * 20), said('A red door.')]
    assert caption_clip(connect(), Clip([grey(1)])).text == 'A red door.'
    first, second = (request.body for request in server.requests)
    assert first['temperature'] == 0.0
    assert second['temperature'] > 0.0
    assert first['messages'] == second['messages']


def test_a_loop_that_stays_is_cut(server: ScriptedServer, connect: Any):
    server.reply = [said('A red door is open. ' + 'It is red. ' * 20)]
    assert caption_clip(connect(), Clip([grey(1)])).text == 'A red door is open. It is red.'
    assert len(server.requests) == 2


def test_the_key_is_not_shown_where_a_server_repeats_it(
    server: ScriptedServer, connect: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-secret')
    server.reply = [failed(401, 'wrong key: sk-secret')]
    with pytest.raises(CaptionerFailed, match=r'wrong key: \*\*\*'):
        caption_clip(connect(), Clip([grey(1)]))


def vila(body: dict[str, Any], *, model: str, in_parts: bool) -> ScriptedReply:
    """Speak as the server does that comes with VILA: strict about the request, sparing with the reply.

    It has no /v1, lists no models, knows one by the last part of its path, and answers what fails with a 500
    that is a text.

    :param in_parts: the older one of its two, which looks at the last picture only
    """
    (message,) = body['messages']
    if message['role'] not in ('user', 'assistant') or {part['type'] for part in message['content']} - {
        'text',
        'image_url',
    }:
        return ScriptedReply(body={'detail': [{'type': 'literal_error'}]}, status=422)
    if body['model'] != model:
        said = (
            f'The endpoint is configured to use the model {model}, but the request model is {body["model"]}'
        )
        return ScriptedReply(body={'error': said}, status=500)
    for part in message['content']:
        if part['type'] == 'image_url':
            assert re.match(r'^data:image/(png|jpe?g);base64,(.*)$', part['image_url']['url'])
    shades = [f'{round(float(image.mean()), -1):.0f}' for image in images_in(body)]
    text = f'Frames of {" and ".join(shades[-1:] if in_parts else shades)}.'
    return ScriptedReply(
        body={
            'id': '0123',
            'object': 'chat.completion',
            'created': 1_700_000_000.5,
            'model': model,
            'choices': [
                {
                    'message': {
                        'role': 'assistant',
                        'content': [{'type': 'text', 'text': text}] if in_parts else text,
                    }
                }
            ],
        }
    )


@pytest.fixture(params=[True, False], ids=['server.py', 'serving/server.py'])
def vila_server(request: pytest.FixtureRequest) -> Iterator[tuple[ScriptedServer, bool]]:
    def reply(body: dict[str, Any]) -> ScriptedReply:
        return vila(body, model='NVILA-15B', in_parts=request.param)

    with ScriptedServer(reply, root='') as made:
        made.models = ScriptedReply(body={'detail': 'Not Found'}, status=404)
        yield made, request.param


def test_vila_is_asked_by_its_own_server(vila_server: tuple[ScriptedServer, bool]):
    server, in_parts = vila_server
    captioner = get_captioner('vila', model='NVILA-15B', base_url=server.url)
    caption = caption_clip(captioner, Clip([grey(value) for value in (10, 90, 200)]))
    assert caption.text == ('Frames of 200.' if in_parts else 'Frames of 10 and 90 and 200.')
    assert captioner.name == 'vila'
    assert server.requests[0].path == '/chat/completions'


def test_a_model_that_vilas_server_does_not_have_is_named(vila_server: tuple[ScriptedServer, bool]):
    options = VlmOptions(max_retries=0)
    with pytest.raises(CaptionerFailed, match=r'configured to use the model NVILA-15B, .* is NVILA-8B'):
        caption_clip(
            get_captioner('vila', model='NVILA-8B', base_url=vila_server[0].url, options=options),
            Clip([grey(1)]),
        )


def test_vilas_server_lists_no_models_so_one_is_asked_for(vila_server: tuple[ScriptedServer, bool]):
    with pytest.raises(CaptionerFailed, match='lists no models; name one with --vlm'):
        caption_clip(get_captioner('vila', base_url=vila_server[0].url), Clip([grey(1)]))


def test_a_url_with_a_path_that_is_not_there_is_doubted(vila_server: tuple[ScriptedServer, bool]):
    captioner = get_captioner('vila', model='NVILA-15B', base_url=f'{vila_server[0].url}/v1')
    with pytest.raises(CaptionerFailed, match=r"404.*check the URL .*VILA's own has none"):
        caption_clip(captioner, Clip([grey(1)]))
