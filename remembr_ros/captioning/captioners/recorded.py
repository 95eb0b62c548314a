"""A captioner that returns captions made before, from a file in NaVQA's format."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

from remembr_ros.captioning.captioners.captioner import Caption, Clip, one_by_one
from remembr_ros.errors import BagUnreadable, CaptionerFailed, InvalidRequest
from remembr_ros.memory.exchange.captions_file import read_captions
from remembr_ros.timestamps import format_iso


class RecordedCaptioner:
    """Gives each segment the caption of the record that overlaps it most in time.

    :param path: of the file; its times must be those of the segments
    :raises InvalidRequest: no file is named
    :raises CaptionerFailed: the file is missing, damaged or in another format
    """

    name = 'recorded'

    def __init__(self, path: str) -> None:
        if not path:
            raise InvalidRequest('the recorded captioner needs a file of captions: name it with --captions')
        self._path = Path(path).expanduser()
        if not self._path.is_file():
            raise CaptionerFailed(f'there is no file of captions {path}')
        try:
            self._memories = [segment.memory for segment in read_captions(self._path, self._path.stem)]
        except BagUnreadable as error:
            raise CaptionerFailed(str(error)) from error

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        return one_by_one(self._found, clips)

    def close(self) -> None:
        """Nothing is held."""

    def _found(self, clip: Clip) -> Caption:
        if clip.span_ns is None:
            if not clip.images:
                return Caption('')
            raise CaptionerFailed(
                'the recorded captioner finds captions by their time, and these images have none; use it '
                'with a recording or a camera'
            )
        start_ns, end_ns = clip.span_ns
        # They are sorted by start and by end alike.
        first = bisect_left(self._memories, start_ns, key=lambda memory: memory.end_ns)
        after = bisect_right(self._memories, end_ns, key=lambda memory: memory.start_ns)
        best = max(
            self._memories[first:after],
            key=lambda memory: min(end_ns, memory.end_ns) - max(start_ns, memory.start_ns),
            default=None,
        )
        text = best.caption.strip() if best is not None else ''
        if not text:
            first_ns, last_ns = self._memories[0].start_ns, self._memories[-1].end_ns
            raise CaptionerFailed(
                f'{self._path} has no caption between {format_iso(start_ns)} and {format_iso(end_ns)}; '
                f'it reaches from {format_iso(first_ns)} to {format_iso(last_ns)}'
            )
        return Caption(text)
