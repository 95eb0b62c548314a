"""What holds for every captioner, whoever wraps it; a model or a server stands in where it has one."""

import base64
import importlib.util
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from remembr_ros.captioning.captioners.by_name import CAPTIONERS, get_captioner
from remembr_ros.captioning.captioners.captioner import Caption, Captioner, Clip, caption_clip
from remembr_ros.captioning.captioners.scene_text import SceneTextCaptioner
from remembr_ros.captioning.captioners.vlm_model import VlmModel
from remembr_ros.captioning.captioners.vlm_options import VlmOptions
from remembr_ros.errors import CaptionerFailed
from remembr_ros.images import Bgr
from remembr_ros.timestamps import NS
from test.scripted.server import ScriptedReply, ScriptedServer

START_S = 1_700_000_000
BAD = 250
"""Images as bright as this make whatever sees them fail."""

EVERY = (*CAPTIONERS, 'cache')


def grey(value: int, height: int = 48, width: int = 64) -> Bgr:
    return np.full((height, width, 3), value, np.uint8)


def is_bad(image: Bgr) -> bool:
    return abs(float(image.mean()) - BAD) < 2.0


def clip(number: int, images: int = 2) -> Clip:
    """Return a clip of grey images, at a time of its own; that of number -1 makes captioners fail."""
    shade = BAD if number < 0 else 10 * number
    # The bad one has no record.
    start_s = START_S + 10 * (number if number >= 0 else 1_000_000)
    return Clip([grey(shade) for _ in range(images)], (start_s * NS, (start_s + 3) * NS))


def reply(body: dict[str, Any]) -> ScriptedReply:
    """Tell how bright the first image is."""
    url = body['messages'][0]['content'][0]['image_url']['url']
    jpeg = np.frombuffer(base64.b64decode(url.partition(',')[2]), np.uint8)
    image = cv2.imdecode(jpeg, cv2.IMREAD_COLOR)
    if is_bad(image):
        return ScriptedReply('too bright', status=400)
    return ScriptedReply(f'A corridor, {round(float(image.mean()))}.')


@pytest.fixture(scope='module')
def url() -> Iterator[str]:
    with ScriptedServer(reply) as server:
        yield server.url


@pytest.fixture(scope='module')
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip('transformers', reason='needs the extra vlm: make setup')
    from test.unit.captioning.captioners.tiny_vlm import llava

    return str(llava(tmp_path_factory.mktemp('llava')))


@pytest.fixture(scope='module')
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Captions of 50 clips."""
    path = tmp_path_factory.mktemp('captions') / 'captions.json'
    times = [START_S + 10 * number for number in range(50)]
    records = [
        {
            'id': str(number),
            'position': [0.0, 0.0, 0.0],
            'time': start + 1.5,
            'start_time': start,
            'end_time': start + 3,
            'caption': f'Record {number}.',
        }
        for number, start in enumerate(times)
    ]
    path.write_text(json.dumps(records))
    return str(path)


@pytest.fixture(scope='module', params=EVERY)
def captioner(
    request: pytest.FixtureRequest, url: str, file: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Captioner]:
    kind = request.param
    name = 'openai' if kind == 'cache' else kind
    if name in ('scene_text', 'fused') and importlib.util.find_spec('rapidocr') is None:
        pytest.skip('RapidOCR is not installed (extra scene-text)')
    model = str(request.getfixturevalue('tiny')) if name == 'transformers' else 'm'
    options = VlmOptions(max_tokens=16, max_retries=0, batch_size=2)
    made = get_captioner(name, model=model, base_url=url, captions=file, options=options)
    if kind == 'cache':
        pytest.importorskip('remembr_bench', reason='needs the cache of captions of remembr_bench')
        from remembr_bench.evaluation.run.caption_cache import CachingCaptioner

        made = CachingCaptioner(made, tmp_path_factory.mktemp('kept'))
    assert made.name == name
    with pytest.MonkeyPatch.context() as patch:
        if name == 'scene_text':
            fail_on_bad(patch, SceneTextCaptioner, 'read', lambda _, image, **__: [image])
        if name == 'transformers':
            fail_on_bad(patch, VlmModel, 'write', lambda _, clips, *__, **___: [i for c in clips for i in c])
        yield made
    made.close()


def fail_on_bad(
    monkeypatch: pytest.MonkeyPatch, kind: Any, method: str, images: Callable[..., list[Bgr]]
) -> None:
    """Let a method raise CaptionerFailed where one of the images that it is given is bad."""
    known = getattr(kind, method)

    def picky(*args: Any, **more: Any) -> Any:
        if any(map(is_bad, images(*args, **more))):
            raise CaptionerFailed('too bright')
        return known(*args, **more)

    monkeypatch.setattr(kind, method, picky)


def said(outcomes: Any) -> list[str]:
    """Return captions and failures as text: failures are not equal."""
    return [repr(outcome) for outcome in outcomes]


def can_fail(captioner: Captioner) -> bool:
    return captioner.name != 'none'


@pytest.mark.parametrize('count', [0, 1, 5])
def test_as_many_come_out_as_go_in_in_order_and_each_as_if_it_were_alone(
    captioner: Captioner, count: int
) -> None:
    clips = [clip(number) for number in range(count)]
    together = list(captioner.caption(clips))
    assert all(isinstance(outcome, Caption) for outcome in together)
    assert together == [caption_clip(captioner, one) for one in clips]
    if captioner.name in ('openai', 'recorded', 'fused'):
        assert len({repr(outcome) for outcome in together}) == count, 'they tell the clips apart'


def test_one_that_fails_costs_the_others_nothing(captioner: Captioner) -> None:
    outcomes = list(captioner.caption([clip(1), clip(-1), clip(2), clip(-1), clip(3)]))
    failed = [isinstance(outcome, CaptionerFailed) for outcome in outcomes]
    assert failed == ([False, True, False, True, False] if can_fail(captioner) else [False] * 5)
    good = [outcomes[index] for index in (0, 2, 4)]
    assert said(good) == said(captioner.caption([clip(1), clip(2), clip(3)])), 'it goes on working'
    if can_fail(captioner):
        with pytest.raises(CaptionerFailed):
            caption_clip(captioner, clip(-1))


def test_all_may_fail(captioner: Captioner) -> None:
    outcomes = list(captioner.caption([clip(-1)] * 3))
    assert len(outcomes) == 3
    if can_fail(captioner):
        assert all(isinstance(outcome, CaptionerFailed) and str(outcome) for outcome in outcomes)


def test_the_rest_need_not_be_taken(captioner: Captioner) -> None:
    clips = [clip(number) for number in range(5)]
    first = list(islice(captioner.caption(clips), 2))
    assert said(first) == said(list(captioner.caption(clips))[:2])


def test_closing_comes_as_often_as_one_likes_and_a_later_caption_is_the_same(captioner: Captioner) -> None:
    captioner.close()
    before = list(captioner.caption([clip(1), clip(2)]))
    captioner.close()
    captioner.close()
    assert list(captioner.caption([clip(1), clip(2)])) == before


@pytest.mark.parametrize('count', [0, 1, 6, 40])
def test_any_number_of_images_gives_a_caption(captioner: Captioner, count: int) -> None:
    images = [np.full((48, 64, 3), 5 * i, np.uint8) for i in range(count)]
    caption = caption_clip(captioner, Clip(images, clip(1).span_ns))
    assert isinstance(caption, Caption)
    assert isinstance(caption.text, str)
    assert isinstance(caption.scene_text, tuple)
    assert caption.text or count == 0


@pytest.mark.parametrize('shape', [(1, 1, 3), (7, 2000, 3), (2000, 7, 3)])
def test_any_shape_of_image_is_taken(captioner: Captioner, shape: tuple[int, int, int]) -> None:
    assert caption_clip(captioner, Clip([np.zeros(shape, np.uint8)], clip(1).span_ns)).text


def test_images_are_left_as_they_are(captioner: Captioner) -> None:
    images = [np.random.default_rng(i).integers(0, 255, (120, 160, 3), np.uint8) for i in range(3)]
    copies = [image.copy() for image in images]
    for image in images:
        image.setflags(write=False)
    caption_clip(captioner, Clip(images, clip(1).span_ns))
    for image, copy in zip(images, copies, strict=True):
        np.testing.assert_array_equal(image, copy)


def test_the_same_images_give_the_same_caption(captioner: Captioner) -> None:
    same = Clip([np.full((48, 64, 3), 99, np.uint8)] * 2, clip(1).span_ns)
    assert caption_clip(captioner, same) == caption_clip(captioner, same)


@pytest.mark.parametrize('name', ['openai', 'transformers', 'fused'])
def test_without_its_model_every_clip_fails_and_nothing_else_leaks_out(name: str, tmp_path: Path) -> None:
    gone = ScriptedServer()
    gone.close()
    if name == 'fused':
        pytest.importorskip('rapidocr', reason='RapidOCR is not installed (extra scene-text)')
    captioner = get_captioner(
        name, model=str(tmp_path / 'none'), base_url=gone.url, options=VlmOptions(max_retries=0)
    )
    outcomes = list(captioner.caption([clip(1), clip(2), clip(3)]))
    assert len(outcomes) == 3
    assert all(isinstance(outcome, CaptionerFailed) for outcome in outcomes)
    captioner.close()
