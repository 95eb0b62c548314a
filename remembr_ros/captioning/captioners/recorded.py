"""The captioner that reads: captions that were made before, in a file in NaVQA's format."""

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path

from remembr_ros.captioning.captioners.captioner import Caption
from remembr_ros.errors import BagUnreadable, CaptionerFailed, InvalidRequest
from remembr_ros.images import Bgr
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
            memories = [segment.memory for segment in read_captions(self._path, self._path.stem)]
        except BagUnreadable as error:
            raise CaptionerFailed(str(error)) from error
        # They are sorted by start and by end alike.
        self._spans = [(memory.start_ns, memory.end_ns) for memory in memories]
        self._ends = [end_ns for _, end_ns in self._spans]
        self._captions = [memory.caption for memory in memories]

    def caption(self, images: Sequence[Bgr]) -> Caption:
        """Return nothing for no images; else it takes the time of the segment, see TimedCaptioner.

        :raises CaptionerFailed: there are images
        """
        if not images:
            return Caption('')
        raise CaptionerFailed(
            'the recorded captioner finds captions by their time, and these images have none; use it with a '
            'recording or a camera'
        )

    def caption_between(self, images: Sequence[Bgr], start_ns: int, end_ns: int) -> Caption:
        first = bisect_left(self._ends, start_ns)
        best, most_ns = -1, -1
        for index in range(first, len(self._spans)):
            its_start_ns, its_end_ns = self._spans[index]
            overlap_ns = min(end_ns, its_end_ns) - max(start_ns, its_start_ns)
            if its_start_ns > end_ns:
                break
            if overlap_ns > most_ns:
                best, most_ns = index, overlap_ns
        text = self._captions[best].strip() if best >= 0 else ''
        if not text:
            first_ns, last_ns = self._spans[0][0], self._spans[-1][1]
            raise CaptionerFailed(
                f'{self._path} has no caption between {format_iso(start_ns)} and {format_iso(end_ns)}; '
                f'it reaches from {format_iso(first_ns)} to {format_iso(last_ns)}'
            )
        return Caption(text)
