import numpy as np
import pytest

from remembr_ros.captioning.captioners.caption_cache import CachingCaptioner
from remembr_ros.captioning.captioners.captioner import Caption
from remembr_ros.errors import CaptionerFailed

DARK, BRIGHT = (np.full((4, 6, 3), value, np.uint8) for value in (0, 255))


class Counting:
    name = 'counting'

    def __init__(self) -> None:
        self.calls = 0
        self.fails = False

    def caption(self, images):
        self.calls += 1
        if self.fails:
            raise CaptionerFailed('no')
        return Caption(f'call {self.calls}', ('“EXIT”',))


@pytest.fixture
def counting():
    return Counting()


def test_the_same_images_are_captioned_once(counting, tmp_path):
    captioner = CachingCaptioner(counting, tmp_path / 'captions')
    first = captioner.caption([DARK, BRIGHT])
    assert captioner.caption([DARK.copy(), BRIGHT.copy()]) == first == Caption('call 1', ('“EXIT”',))
    assert (captioner.name, captioner.made, captioner.found, counting.calls) == ('counting', 1, 1, 1)
    again = CachingCaptioner(Counting(), tmp_path / 'captions')
    assert again.caption([DARK, BRIGHT]) == first
    assert again.made == 0


def test_other_images_order_shape_or_settings_are_other_captions(counting, tmp_path):
    captioner = CachingCaptioner(counting, tmp_path)
    captioner.caption([DARK, BRIGHT])
    captioner.caption([BRIGHT, DARK])
    captioner.caption([DARK])
    captioner.caption([DARK.reshape(6, 4, 3), BRIGHT])
    CachingCaptioner(counting, tmp_path, 'another model').caption([DARK, BRIGHT])
    assert counting.calls == 5


def test_a_failure_is_not_kept_and_a_damaged_file_is_replaced(counting, tmp_path):
    captioner = CachingCaptioner(counting, tmp_path)
    counting.fails = True
    with pytest.raises(CaptionerFailed):
        captioner.caption([DARK])
    assert list(tmp_path.iterdir()) == []
    counting.fails = False
    captioner.caption([DARK])
    (file,) = tmp_path.iterdir()
    file.write_text('{"text": "cut o')
    assert captioner.caption([DARK]).text == 'call 3'
    assert captioner.caption([DARK]).text == 'call 3'


def test_a_folder_that_cannot_be_written_costs_the_cache_only(counting, tmp_path, caplog):
    (tmp_path / 'file').write_text('')
    captioner = CachingCaptioner(counting, tmp_path / 'file')
    assert captioner.caption([DARK]).text == 'call 1'
    assert 'not kept' in caplog.text


def test_the_time_counts_only_for_a_captioner_that_looks_at_it(counting, tmp_path):
    class Timed(Counting):
        def caption_between(self, images, start_ns, end_ns):
            self.calls += 1
            return Caption(f'From {start_ns} to {end_ns}.')

    captioner = CachingCaptioner(counting, tmp_path / 'untimed')
    assert (
        captioner.caption_between([DARK], 1, 2) == captioner.caption([DARK]) == Caption('call 1', ('“EXIT”',))
    )
    timed = CachingCaptioner(Timed(), tmp_path / 'timed')
    assert [timed.caption_between([DARK], *span).text for span in ((1, 2), (3, 4), (1, 2))] == [
        'From 1 to 2.',
        'From 3 to 4.',
        'From 1 to 2.',
    ]
    assert (timed.made, timed.found) == (2, 1)
