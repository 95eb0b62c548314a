from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from remembr_ros.captioning.captioners.by_name import FusedCaptioner
from remembr_ros.captioning.captioners.captioner import Caption, Clip, caption_clip
from remembr_ros.captioning.observation import Describer, Remembering
from remembr_ros.captioning.placer import PlacedSegment
from remembr_ros.captioning.segmenter import SampledFrame, Segment
from remembr_ros.errors import CaptionerFailed
from remembr_ros.images import Bgr
from test.fake_captioner import FakeCaptioner

IMAGES = [np.zeros((4, 4, 3), np.uint8)]


class Scripted(FakeCaptioner):
    """Says what it is told to; keeps when it was asked."""

    def __init__(self, outcome: Caption | CaptionerFailed, order: list[str] | None = None) -> None:
        super().__init__()
        self.outcome = outcome
        self.order = order if order is not None else []

    def describe(self, images: Sequence[Bgr]) -> Caption:
        self.order.append(type(self.outcome).__name__ if not self.outcome_text() else self.outcome_text())
        if isinstance(self.outcome, CaptionerFailed):
            raise self.outcome
        return self.outcome

    def outcome_text(self) -> str:
        return self.outcome.text if isinstance(self.outcome, Caption) else ''


class Timed(FakeCaptioner):
    def describe(self, images: Sequence[Bgr]) -> Caption:
        assert self.spans[-1] is not None
        start_ns, end_ns = self.spans[-1]
        return Caption(f'From {start_ns} to {end_ns}.')


class Batching(FakeCaptioner):
    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        for clip in clips:
            yield Caption(f'One of {len(clips)}.') if clip.images else CaptionerFailed('nothing to see')


def placed(start_ns: int) -> PlacedSegment:
    return PlacedSegment(Segment(start_ns, start_ns + 1, (SampledFrame(start_ns, IMAGES[0], 1.0),)), None)


READER = Caption('Signs and labels that can be read: "EXIT".', ('EXIT', 'ROOM 117'))


def test_the_description_is_joined_with_what_was_read_before() -> None:
    order: list[str] = []
    fused = FusedCaptioner(Scripted(Caption('A green sign.'), order), Scripted(READER, order))
    assert caption_clip(fused, Clip(IMAGES)) == Caption('A green sign.', ('EXIT', 'ROOM 117'))
    assert order == [READER.text, 'A green sign.']


def test_what_the_describer_read_itself_is_named_once() -> None:
    fused = FusedCaptioner(Scripted(Caption('A sign.', ('EXIT', 'LIFT'))), Scripted(READER))
    assert caption_clip(fused, Clip(IMAGES)).scene_text == ('EXIT', 'LIFT', 'ROOM 117')


def test_a_description_that_fails_leaves_what_was_read_with_the_error() -> None:
    fused = FusedCaptioner(Scripted(CaptionerFailed('out of memory')), Scripted(READER))
    with pytest.raises(CaptionerFailed, match='out of memory') as caught:
        caption_clip(fused, Clip(IMAGES))
    assert caught.value.scene_text == ('EXIT', 'ROOM 117')


def test_reading_that_fails_costs_the_text_only(caplog: pytest.LogCaptureFixture) -> None:
    fused = FusedCaptioner(Scripted(Caption('A sign.')), Scripted(CaptionerFailed('no models')))
    assert caption_clip(fused, Clip(IMAGES)) == Caption('A sign.')
    assert 'no models' in caplog.text


def test_both_may_fail() -> None:
    fused = FusedCaptioner(Scripted(CaptionerFailed('no server')), Scripted(CaptionerFailed('no models')))
    with pytest.raises(CaptionerFailed, match='no server') as caught:
        caption_clip(fused, Clip(IMAGES))
    assert caught.value.scene_text == ()


def test_the_time_is_handed_on_to_a_describer_that_needs_it() -> None:
    fused = FusedCaptioner(Timed(), Scripted(READER))
    assert caption_clip(fused, Clip(IMAGES, (3, 5))) == Caption('From 3 to 5.', READER.scene_text)
    untimed = FusedCaptioner(Scripted(Caption('A sign.')), Scripted(READER))
    assert caption_clip(untimed, Clip(IMAGES, (3, 5))) == Caption('A sign.', READER.scene_text)


def test_a_batch_is_described_at_once_where_the_describer_can() -> None:
    fused = FusedCaptioner(Batching(), Scripted(READER))
    first, failed = fused.caption([Clip(IMAGES), Clip([])])
    assert first == Caption('One of 2.', READER.scene_text)
    assert isinstance(failed, CaptionerFailed)
    assert failed.scene_text == READER.scene_text


def test_a_batch_is_described_one_by_one_where_it_cannot() -> None:
    order: list[str] = []
    fused = FusedCaptioner(Scripted(Caption('A sign.'), order), Scripted(READER))
    assert list(fused.caption([Clip(IMAGES)] * 2)) == [Caption('A sign.', READER.scene_text)] * 2
    assert order == ['A sign.'] * 2


def test_a_describer_that_goes_by_time_is_asked_segment_by_segment_without_a_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fused = FusedCaptioner(Timed(), Scripted(READER))
    observed = Describer(fused, Remembering('robbie')).observe_all([placed(3), placed(5)])
    assert [one.memory.caption for one in observed] == ['From 3 to 4.', 'From 5 to 6.']
    assert [one.memory.scene_text for one in observed] == [READER.scene_text] * 2
    assert not caplog.records


def test_closing_closes_both() -> None:
    describer, reader = Scripted(READER), Scripted(READER)
    FusedCaptioner(describer, reader).close()
    assert describer.closed
    assert reader.closed
