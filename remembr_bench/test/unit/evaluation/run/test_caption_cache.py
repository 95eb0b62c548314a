import numpy as np
import pytest

from remembr_bench.evaluation.run.caption_cache import CachingCaptioner
from remembr_ros.captioning.captioners.captioner import Caption, Clip, caption_clip
from remembr_ros.errors import CaptionerFailed
from test.fake_captioner import FakeCaptioner

DARK, BRIGHT = (np.full((4, 6, 3), value, np.uint8) for value in (0, 255))


class Counting(FakeCaptioner):
    name = 'counting'

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.fails = False

    def describe(self, images):
        self.calls += 1
        if self.fails:
            raise CaptionerFailed('no')
        return Caption(f'call {self.calls}', ('“EXIT”',))


@pytest.fixture
def counting():
    return Counting()


def test_the_same_images_are_captioned_once(counting, tmp_path):
    captioner = CachingCaptioner(counting, tmp_path / 'captions')
    first = caption_clip(captioner, Clip([DARK, BRIGHT]))
    assert (
        caption_clip(captioner, Clip([DARK.copy(), BRIGHT.copy()])) == first == Caption('call 1', ('“EXIT”',))
    )
    assert (captioner.name, counting.calls) == ('counting', 1)
    another = Counting()
    again = CachingCaptioner(another, tmp_path / 'captions')
    assert caption_clip(again, Clip([DARK, BRIGHT])) == first
    assert another.calls == 0


def test_other_images_order_shape_or_settings_are_other_captions(counting, tmp_path):
    captioner = CachingCaptioner(counting, tmp_path)
    caption_clip(captioner, Clip([DARK, BRIGHT]))
    caption_clip(captioner, Clip([BRIGHT, DARK]))
    caption_clip(captioner, Clip([DARK]))
    caption_clip(captioner, Clip([DARK.reshape(6, 4, 3), BRIGHT]))
    caption_clip(CachingCaptioner(counting, tmp_path, 'another model'), Clip([DARK, BRIGHT]))
    assert counting.calls == 5


def test_a_failure_is_not_kept_and_a_damaged_file_is_replaced(counting, tmp_path):
    captioner = CachingCaptioner(counting, tmp_path)
    counting.fails = True
    with pytest.raises(CaptionerFailed):
        caption_clip(captioner, Clip([DARK]))
    assert list(tmp_path.iterdir()) == []
    counting.fails = False
    caption_clip(captioner, Clip([DARK]))
    (file,) = tmp_path.iterdir()
    file.write_text('{"text": "cut o')
    assert caption_clip(captioner, Clip([DARK])).text == 'call 3'
    assert caption_clip(captioner, Clip([DARK])).text == 'call 3'


def test_a_folder_that_cannot_be_written_costs_the_cache_only(counting, tmp_path, caplog):
    (tmp_path / 'file').write_text('')
    captioner = CachingCaptioner(counting, tmp_path / 'file')
    assert caption_clip(captioner, Clip([DARK])).text == 'call 1'
    assert 'not kept' in caplog.text


def test_the_time_does_not_count(counting, tmp_path):
    captioner = CachingCaptioner(counting, tmp_path / 'untimed')
    first, again = (caption_clip(captioner, Clip([DARK], span)) for span in ((1, 2), None))
    assert first == again == Caption('call 1', ('“EXIT”',))


def test_of_a_batch_only_what_is_not_there_is_made(counting, tmp_path):
    captioner = CachingCaptioner(counting, tmp_path)
    caption_clip(captioner, Clip([BRIGHT]))
    captions = list(captioner.caption([Clip([DARK]), Clip([BRIGHT]), Clip([DARK, BRIGHT])]))
    assert [caption.text for caption in captions] == ['call 2', 'call 1', 'call 3']
    assert counting.calls == 3
