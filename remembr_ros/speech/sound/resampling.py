"""Another sample rate for a stream of sound that comes in pieces."""

from typing import Any

import numpy as np

from remembr_ros.errors import TranscriberUnavailable
from remembr_ros.speech.sound.audio import SAMPLE_RATE, Audio


class StreamResampler:
    """Converts a stream to SAMPLE_RATE; the pieces fit together as if it had come in one.

    What it gives lags behind by the filter, 20 to 40 ms at the rates of sound cards.

    :param rate: of the stream [Hz]
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._stream: Any = None
        self._given = self._made = 0  # samples of the stream that were added, and of the output

    def add(self, samples: Audio) -> Audio:
        """Return what can be told of the output after these samples.

        :param samples: what follows those added before; shape (samples,)
        :raises TranscriberUnavailable: soxr is not installed
        """
        return samples if self.rate == SAMPLE_RATE else self._converted(samples, last=False)

    def flush(self) -> Audio:
        """Return the rest, as if silence followed, and start anew."""
        if not self._given:
            return np.zeros(0, np.float32)
        length = -(-self._given * SAMPLE_RATE // self.rate)
        missing = length - self._made
        rest = self._converted(np.zeros(0, np.float32), last=True)[:missing]
        self._stream, self._given, self._made = None, 0, 0
        return np.pad(rest, (0, missing - rest.size))  # soxr rounds the length of the whole to the nearest

    def _converted(self, samples: Audio, last: bool) -> Audio:
        if self._stream is None:
            try:
                import soxr  # type: ignore[import-untyped]
            except ImportError as error:
                raise TranscriberUnavailable(
                    f'sound of {self.rate} Hz takes soxr; install it with: pip install "remembr_ros[speech]"'
                ) from error
            self._stream = soxr.ResampleStream(self.rate, SAMPLE_RATE, 1, dtype='float32')
        made: Audio = self._stream.resample_chunk(samples, last=last)
        self._given += samples.size
        self._made += made.size
        return made
