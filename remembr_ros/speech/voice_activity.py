"""Voice activity detection."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from remembr_ros.speech.sound.audio import SAMPLE_RATE, Audio
from remembr_ros.speech.whisper import VAD_WINDOW

WINDOW = VAD_WINDOW  # [samples] what a detector looks at, 32 ms
HYSTERESIS = 0.15  # speech goes on at so much less than the threshold; as in Silero's own code
MAX_RISE = 16  # windows before the first one that is speech that may belong to it, where they are likely to
PAD_S = 0.25  # kept before and after speech [s]: it is only known for speech after it has begun
Detector = Callable[[Audio], NDArray[np.float32]]
"""Takes the windows of a stream, any whole number of them at a time; gives the probability of speech in each:
shape (windows * WINDOW,) -> (windows,). It may remember what came before."""


@dataclass(frozen=True, slots=True)
class SpeechSegment:
    """A stretch of speech.

    :param start: index of its first sample
    :param end: index after its last sample
    """

    start: int
    end: int


class SpeechTracker:
    """Follows the probability of speech, window by window, and says where speech begins and ends.

    :param threshold: probability, in (0, 1), from which on a window is speech
    :param min_speech_s: with less speech in it it is noise [s]
    :param min_silence_s: a shorter pause does not end it [s]
    :param pad_s: kept before and after [s]
    """

    def __init__(
        self,
        *,
        threshold: float = 0.5,
        min_speech_s: float = 0.25,
        min_silence_s: float = 0.6,
        pad_s: float = PAD_S,
    ) -> None:
        self._threshold = threshold
        self._low = max(threshold - HYSTERESIS, 0.01)
        self._min_speech = max(round(min_speech_s * SAMPLE_RATE / WINDOW), 1)
        self._min_silence = max(math.ceil(min_silence_s * SAMPLE_RATE / WINDOW), 1)
        self._pad = round(pad_s * SAMPLE_RATE)
        self._count = 0
        self._rise = 0  # first of the windows up to now that may be speech
        self._begin: int | None = None
        self._after = 0  # window after the last one that may be speech
        self._spoken = 0  # windows of the present segment that are certainly speech
        self._earliest = 0  # sample before which no segment may begin: the end of the last one

    @property
    def start(self) -> int | None:
        """Sample at which the present speech, or what may become such, begins; None: silence."""
        return None if self._begin is None else max(self._begin * WINDOW - self._pad, self._earliest)

    @property
    def keep_from(self) -> int:
        """Sample from which on the sound may be needed."""
        first = self._rise if self._begin is None else self._begin
        return max(first * WINDOW - self._pad, self._earliest)

    @property
    def silent_since(self) -> int:
        """Sample after the last one that may be speech."""
        return self._after * WINDOW

    def add(self, probability: float) -> SpeechSegment | None:
        """Take in the next window; return a segment that it completes."""
        i = self._count
        self._count += 1
        if self._begin is None:
            if probability < self._low:
                self._rise = self._count
                return None
            self._rise = max(self._rise, self._count - MAX_RISE)
            if probability < self._threshold:
                return None
            self._begin = self._rise
        self._spoken += probability >= self._threshold
        # It may fade away, but after a pause it takes more to go on.
        if probability >= (self._low if self._after == i else self._threshold):
            self._after = i + 1
        return self.end() if self._count - self._after >= self._min_silence else None

    def end(self) -> SpeechSegment | None:
        """End the present speech here, whatever follows; return it if there is any."""
        start, spoken = self.start, self._spoken
        self._begin, self._spoken, self._rise = None, 0, self._count
        if start is None or spoken < self._min_speech:
            return None
        segment = SpeechSegment(start, min(self._after * WINDOW + self._pad, self._count * WINDOW))
        self._earliest = segment.end
        return segment

    def cut(self, at: int) -> SpeechSegment:
        """Return the present speech up to a sample; the rest goes on being one segment."""
        segment = SpeechSegment(self.start or 0, at)
        self._begin, self._earliest, self._spoken = at // WINDOW, at, self._min_speech
        return segment
