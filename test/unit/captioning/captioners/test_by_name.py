from collections.abc import Iterator

import numpy as np
import pytest

from remembr_ros.captioning.captioners.by_name import CAPTIONERS, get_captioner
from remembr_ros.captioning.captioners.captioner import Caption, Clip, caption_clip
from remembr_ros.captioning.captioners.recorded import RecordedCaptioner
from remembr_ros.errors import CaptionerFailed, InvalidRequest
from test.scripted.server import ScriptedReply, ScriptedServer


@pytest.fixture(scope='module')
def url() -> Iterator[str]:
    with ScriptedServer([ScriptedReply('A corridor.')]) as server:
        yield server.url


def test_unknown_captioner_is_refused_with_the_known_ones():
    with pytest.raises(InvalidRequest, match='scene_text, openai, vila, transformers, recorded, fused, none'):
        get_captioner('clip')


def test_openai_without_server_or_key_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    monkeypatch.delenv('OPENAI_BASE_URL', raising=False)
    with pytest.raises(CaptionerFailed, match='OPENAI_API_KEY'):
        get_captioner('openai')


def test_fused_joins_what_it_is_told_to(url: str):
    pytest.importorskip('rapidocr', reason='RapidOCR is not installed (extra scene-text)')
    fused = get_captioner('fused', base_url=url)
    assert caption_clip(fused, Clip([np.zeros((48, 64, 3), np.uint8)])) == Caption('A corridor.')
    with pytest.raises(InvalidRequest, match='--captions'):
        get_captioner('fused', describer='recorded')
    with pytest.raises(InvalidRequest, match='openai, vila, transformers, recorded'):
        get_captioner('fused', describer='scene_text')


def test_recorded_takes_a_file():
    with pytest.raises(CaptionerFailed, match=r'no file of captions /no/such.json'):
        get_captioner('recorded', captions='/no/such.json')
    assert RecordedCaptioner.name in CAPTIONERS
