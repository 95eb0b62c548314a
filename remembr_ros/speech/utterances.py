"""Cutting a stream of sound into utterances."""

from collections.abc import Callable
from functools import partial

import numpy as np

from remembr_ros.speech.audio import SAMPLE_RATE, Audio
from remembr_ros.speech.voice_activity import SpeechSegment, speech_segments

Detector = Callable[[Audio], list[SpeechSegment]]

CHECK_EVERY_S = 0.25
"""The detector looks at the whole buffer, so not at every message."""

KEPT_S = 0.5
"""Silence kept in front of what comes: speech is only known for speech after it has begun."""


class UtteranceCutter:
    """Collects sound and gives it back by utterances.

    :param end_silence_s: a longer pause ends an utterance
    :param max_s: a longer utterance is cut
    :param threshold: probability of speech, in (0, 1)
    :param detector: finds speech; None: Silero
    """

    def __init__(
        self,
        *,
        end_silence_s: float = 0.8,
        max_s: float = 20.0,
        threshold: float = 0.5,
        detector: Detector | None = None,
    ) -> None:
        self._detector = detector or partial(
            speech_segments, threshold=threshold, min_silence_s=end_silence_s / 2.0
        )
        self._end_silence = round(end_silence_s * SAMPLE_RATE)
        self._max = round(max_s * SAMPLE_RATE)
        self._buffer: Audio = np.zeros(0, np.float32)
        self._unchecked = 0

    def add(self, audio: Audio) -> list[Audio]:
        """Take sound in and return the utterances that are complete now, oldest first.

        :param audio: what follows the sound added before; shape (samples,), 16 kHz
        :raises TranscriberUnavailable: the voice activity detector is not installed
        """
        self._buffer = np.concatenate([self._buffer, audio])
        self._unchecked += audio.size
        if self._unchecked < CHECK_EVERY_S * SAMPLE_RATE:
            return []
        self._unchecked = 0
        return self._cut(self._end_silence)

    def flush(self) -> list[Audio]:
        """Return what was said last, whether complete or not."""
        utterances = self._cut(0)
        self._buffer = self._buffer[:0]
        self._unchecked = 0
        return utterances

    def _cut(self, silence: int) -> list[Audio]:
        """Return the utterances that are followed by at least so many samples of silence."""
        utterances: list[Audio] = []
        spoken = self._joined(self._detector(self._buffer))
        keep_from = max(self._buffer.size - round(KEPT_S * SAMPLE_RATE), 0)
        for segment in spoken:
            complete = segment.end + silence <= self._buffer.size
            if not complete and self._buffer.size - segment.start < self._max:
                keep_from = min(keep_from, segment.start)
                break
            for start in range(segment.start, segment.end, self._max):
                utterances.append(self._buffer[start : min(start + self._max, segment.end)])
            keep_from = max(keep_from, segment.end) if complete else segment.end
        self._buffer = self._buffer[keep_from:].copy()
        return utterances

    def _joined(self, segments: list[SpeechSegment]) -> list[SpeechSegment]:
        """Return the segments with shorter pauses than end an utterance bridged."""
        joined: list[SpeechSegment] = []
        for segment in segments:
            if joined and segment.start - joined[-1].end < self._end_silence:
                joined[-1] = SpeechSegment(joined[-1].start, segment.end)
            else:
                joined.append(segment)
        return joined
