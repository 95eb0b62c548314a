"""The captioner that looks and reads: a vision language model's caption, and the text that OCR reads."""

import logging
from collections.abc import Callable, Sequence

from remembr_ros.captioning.captioners.captioner import (
    BatchCaptioner,
    Caption,
    Captioner,
    TimedCaptioner,
    caption_segment,
)
from remembr_ros.errors import CaptionerFailed
from remembr_ros.images import Bgr

_log = logging.getLogger(__name__)


class FusedCaptioner:
    """Has one captioner describe a segment and another one read its signs, which language models do badly.

    Reading comes first: if the description fails, the error carries what was read.

    :param describer: says what is seen
    :param reader: its scene text counts, not its caption
    """

    name = 'fused'

    def __init__(self, describer: Captioner, reader: Captioner) -> None:
        self._describer = describer
        self._reader = reader
        if not isinstance(describer, TimedCaptioner):
            # Else it is no BatchCaptioner: who has a batch described does not say when its segments were.
            self.caption_batch = self._caption_batch

    def caption(self, images: Sequence[Bgr]) -> Caption:
        return self._fused(images, lambda: self._describer.caption(images))

    def caption_between(self, images: Sequence[Bgr], start_ns: int, end_ns: int) -> Caption:
        return self._fused(images, lambda: caption_segment(self._describer, images, start_ns, end_ns))

    def close(self) -> None:
        """Let go what the captioners hold; a later caption takes it up again."""
        for captioner in (self._describer, self._reader):
            if (close := getattr(captioner, 'close', None)) is not None:
                close()

    def _caption_batch(self, segments: Sequence[Sequence[Bgr]]) -> list[Caption | CaptionerFailed]:
        """See :class:`BatchCaptioner`; one by one, if the describer knows no batches."""
        read = [self._read(images) for images in segments]
        if isinstance(self._describer, BatchCaptioner):
            described = self._describer.caption_batch(segments)
        else:
            described = [_attempt(lambda i=images: self._describer.caption(i)) for images in segments]  # type: ignore[misc]
        return [_together(said, texts) for said, texts in zip(described, read, strict=True)]

    def _fused(self, images: Sequence[Bgr], describe: Callable[[], Caption]) -> Caption:
        texts = self._read(images)
        fused = _together(_attempt(describe), texts)
        if isinstance(fused, CaptionerFailed):
            raise fused
        return fused

    def _read(self, images: Sequence[Bgr]) -> tuple[str, ...]:
        try:
            return self._reader.caption(images).scene_text
        except CaptionerFailed as error:
            _log.warning('no text is read in a segment: %s', error)
            return ()


def _attempt(describe: Callable[[], Caption]) -> Caption | CaptionerFailed:
    try:
        return describe()
    except CaptionerFailed as error:
        return error


def _together(said: Caption | CaptionerFailed, texts: tuple[str, ...]) -> Caption | CaptionerFailed:
    if isinstance(said, CaptionerFailed):
        said.scene_text = tuple(dict.fromkeys((*said.scene_text, *texts)))
        return said
    return Caption(said.text, tuple(dict.fromkeys((*said.scene_text, *texts))))
