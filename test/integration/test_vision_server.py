"""The openai captioner against a real server, `transformers serve`, with a tiny vision model made here."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.captioning.captioners.by_name import get_captioner
from remembr_ros.captioning.captioners.vlm_options import VlmOptions
from remembr_ros.errors import CaptionerFailed
from remembr_ros.images import Bgr
from test.integration.transformers_server import served
from test.unit.captioning.captioners.tiny_vlm import WORDS, llava

pytest.importorskip('transformers', reason='needs the extra vlm: make setup')
for library in ('fastapi', 'uvicorn'):
    pytest.importorskip(library, reason='transformers serve needs it: make setup')

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope='module')
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llava(tmp_path_factory.mktemp('model'))


@pytest.fixture(scope='module')
def url(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(model, tmp_path_factory.mktemp('server')) as url:
        yield url


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('OPENAI_API_KEY', 'OPENAI_BASE_URL', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)


def frames(count: int, seed: int) -> list[Bgr]:
    """Patches of bright colours: what random weights tell apart."""
    random = np.random.default_rng(seed)
    patches = random.choice(np.array([0, 255], np.uint8), (count, 2, 2, 3))
    return [np.kron(patch, np.ones((60, 80, 1), np.uint8)) for patch in patches]


def test_segments_are_captioned_from_what_the_server_sees(url: str, model: Path) -> None:
    captioner = get_captioner('openai', model=str(model), base_url=url, options=VlmOptions(max_tokens=24))
    captions = [captioner.caption(frames(6, seed)).text for seed in range(3)]
    for caption in captions:
        assert len(caption.split()) >= 3
        assert set(caption.split()) <= set(WORDS), caption
    assert len(set(captions)) > 1, 'the images count'
    assert captioner.caption(frames(6, 0)).text == captions[0]
    captioner.close()  # type: ignore[attr-defined]


def test_the_server_and_the_process_see_the_same(url: str, model: Path) -> None:
    """Both run the same model: what differs is that the server gets JPEG."""
    options = VlmOptions(max_tokens=12)
    remote = get_captioner('openai', model=str(model), base_url=url, options=options)
    here = get_captioner('transformers', model=str(model), options=options)
    plain = [[np.full((120, 160, 3), value, np.uint8)] * 2 for value in (0, 128, 255)]
    assert [remote.caption(images) for images in plain] == [here.caption(images) for images in plain]
    remote.close()  # type: ignore[attr-defined]
    here.close()  # type: ignore[attr-defined]


def test_a_model_that_the_server_refuses_is_a_failure_and_the_next_caption_is_made(
    url: str, model: Path
) -> None:
    wrong = get_captioner('openai', model='another/model', base_url=url)
    with pytest.raises(CaptionerFailed, match='check the model'):
        wrong.caption(frames(1, 1))
    right = get_captioner('openai', model=str(model), base_url=url, options=VlmOptions(max_tokens=24))
    assert right.caption(frames(1, 1)).text
    wrong.close()  # type: ignore[attr-defined]
    right.close()  # type: ignore[attr-defined]
