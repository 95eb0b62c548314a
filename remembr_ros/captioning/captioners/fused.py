"""A captioner that joins a vision language model's caption with the text that OCR reads."""

import logging
from collections.abc import Iterator, Sequence

from remembr_ros.captioning.captioners.captioner import Caption, Captioner, Clip
from remembr_ros.errors import CaptionerFailed

_log = logging.getLogger(__name__)


class FusedCaptioner:
    """Has one captioner describe a segment and another one read its signs, which language models do badly.

    If the description fails, the failure carries what was read.

    :param describer: says what is seen
    :param reader: its scene text counts, not its caption
    """

    name = 'fused'

    def __init__(self, describer: Captioner, reader: Captioner) -> None:
        self._describer = describer
        self._reader = reader

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        for read, said in zip(self._reader.caption(clips), self._describer.caption(clips), strict=True):
            if isinstance(read, CaptionerFailed):
                _log.warning('no text is read in a segment: %s', read)
            texts = tuple(dict.fromkeys((*said.scene_text, *read.scene_text)))
            if isinstance(said, CaptionerFailed):
                yield CaptionerFailed(str(said), texts)
            else:
                yield Caption(said.text, texts)

    def close(self) -> None:
        self._describer.close()
        self._reader.close()
