"""What holds for every captioner."""

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.agent.scripted.server import ScriptedReply, ScriptedServer
from remembr_ros.captioning.captioners.by_name import CAPTIONERS, get_captioner
from remembr_ros.captioning.captioners.captioner import Caption, Captioner
from remembr_ros.captioning.captioners.recorded import RecordedCaptioner
from remembr_ros.captioning.captioners.vlm_options import VlmOptions
from remembr_ros.errors import CaptionerFailed, InvalidRequest


@pytest.fixture(scope='module')
def url() -> Iterator[str]:
    with ScriptedServer([ScriptedReply('A corridor.')]) as server:
        yield server.url


@pytest.fixture(scope='module')
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip('transformers', reason='needs the extra vlm: make setup')
    from test.unit.captioning.captioners.tiny_vlm import llava

    return llava(tmp_path_factory.mktemp('llava'))


@pytest.fixture(params=[name for name in CAPTIONERS if name != 'recorded'])
def make(request: pytest.FixtureRequest, url: str) -> Iterator[Callable[[], Captioner]]:
    """Every captioner but recorded, which looks at the time only."""
    made: list[Captioner] = []

    def get() -> Captioner:
        if request.param in ('scene_text', 'fused') and importlib.util.find_spec('rapidocr') is None:
            pytest.skip('RapidOCR is not installed (extra scene-text)')
        model = str(request.getfixturevalue('tiny')) if request.param == 'transformers' else 'm'
        options = VlmOptions(max_tokens=16)
        made.append(get_captioner(request.param, model=model, base_url=url, options=options))
        assert made[-1].name == request.param
        return made[-1]

    yield get
    for captioner in made:
        if (close := getattr(captioner, 'close', None)) is not None:
            close()


@pytest.mark.parametrize('count', [0, 1, 6, 40])
def test_any_number_of_images_gives_a_caption(make: Callable[[], Captioner], count: int):
    caption = make().caption([np.full((48, 64, 3), 5 * i, np.uint8) for i in range(count)])
    assert isinstance(caption, Caption)
    assert isinstance(caption.text, str)
    assert isinstance(caption.scene_text, tuple)
    assert caption.text or count == 0


@pytest.mark.parametrize('shape', [(1, 1, 3), (7, 2000, 3), (2000, 7, 3)])
def test_any_shape_of_image_is_taken(make: Callable[[], Captioner], shape: tuple[int, int, int]):
    assert make().caption([np.zeros(shape, np.uint8)]).text


def test_images_are_left_as_they_are(make: Callable[[], Captioner]):
    images = [np.random.default_rng(i).integers(0, 255, (120, 160, 3), np.uint8) for i in range(3)]
    copies = [image.copy() for image in images]
    for image in images:
        image.setflags(write=False)
    make().caption(images)
    for image, copy in zip(images, copies, strict=True):
        np.testing.assert_array_equal(image, copy)


def test_the_same_images_give_the_same_caption(make: Callable[[], Captioner]):
    captioner = make()
    images = [np.full((48, 64, 3), 99, np.uint8)] * 2
    assert captioner.caption(images) == captioner.caption(images)


def test_unknown_captioner_is_refused_with_the_known_ones():
    with pytest.raises(InvalidRequest, match='scene_text, openai, transformers, recorded, fused, none'):
        get_captioner('vila')


def test_openai_without_server_or_key_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    monkeypatch.delenv('OPENAI_BASE_URL', raising=False)
    with pytest.raises(CaptionerFailed, match='OPENAI_API_KEY'):
        get_captioner('openai')


def test_fused_joins_what_it_is_told_to(url: str):
    pytest.importorskip('rapidocr', reason='RapidOCR is not installed (extra scene-text)')
    fused = get_captioner('fused', base_url=url)
    assert fused.caption([np.zeros((48, 64, 3), np.uint8)]) == Caption('A corridor.')
    with pytest.raises(InvalidRequest, match='--captions'):
        get_captioner('fused', describer='recorded')
    with pytest.raises(InvalidRequest, match='openai, transformers, recorded'):
        get_captioner('fused', describer='scene_text')


def test_recorded_takes_a_file():
    with pytest.raises(CaptionerFailed, match=r'no file of captions /no/such.json'):
        get_captioner('recorded', captions='/no/such.json')
    assert RecordedCaptioner.name in CAPTIONERS
