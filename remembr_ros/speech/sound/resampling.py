"""Another sample rate for a stream of sound that comes in pieces."""

import math

import numpy as np
from numpy.typing import NDArray

from remembr_ros.speech.sound.audio import SAMPLE_RATE, Audio

TAPS = 10
"""Half the filter's length, in samples of the lower rate; scipy's resample_poly has the same."""


class StreamResampler:
    """Converts a stream to SAMPLE_RATE; the pieces fit together as if it had come in one.

    What it gives lags behind by half the filter, some 0.6 ms at speech rates.

    :param rate: of the stream [Hz]
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        common = math.gcd(SAMPLE_RATE, rate)
        self._up, self._down = SAMPLE_RATE // common, rate // common
        # A multiple of down, so that the delay is a whole number of output samples.
        self._delay = -(-TAPS * max(self._up, self._down) // self._down)
        self._half = self._delay * self._down
        self._filter: NDArray[np.float32] | None = None
        self._pending = np.zeros(0, np.float32)
        self._origin = 0
        """Index in the stream of the first pending sample: a multiple of _down, which keeps the phase."""
        self._made = 0
        """Samples given so far."""

    def add(self, samples: Audio) -> Audio:
        """Return what can be told of the output after these samples.

        :param samples: what follows those added before; shape (samples,)
        """
        if self._up == self._down:
            return samples
        self._pending = np.concatenate([self._pending, samples])
        # An output sample k needs input up to (k * down + half) / up.
        known = (self._origin + self._pending.size) * self._up - 1 - self._half
        return self._until(known // self._down + 1)

    def flush(self) -> Audio:
        """Return the rest, as if silence followed, and start anew."""
        if self._up == self._down:
            return np.zeros(0, np.float32)
        length = -(-(self._origin + self._pending.size) * self._up // self._down)
        padding = -(-self._half // self._up) + 1
        self._pending = np.concatenate([self._pending, np.zeros(padding, np.float32)])
        rest = self._until(length)
        self._pending = self._pending[:0]
        self._origin = self._made = 0
        return rest

    def _until(self, end: int) -> Audio:
        if end <= self._made:
            return np.zeros(0, np.float32)
        from scipy.signal import firwin, upfirdn  # type: ignore[import-untyped]  # half a second to import

        if self._filter is None:
            cutoff = 1.0 / max(self._up, self._down)
            taps = firwin(2 * self._half + 1, cutoff, window=('kaiser', 5.0)) * self._up
            self._filter = taps.astype(np.float32)
        filtered = upfirdn(self._filter, self._pending, self._up, self._down)
        # What is filtered here begins at the origin, and with the filter's first half.
        first = self._origin // self._down * self._up
        at = self._made - first + self._delay
        made: Audio = filtered[at : at + end - self._made].astype(np.float32)
        self._made = end
        self._forget()
        return made

    def _forget(self) -> None:
        """Drop the input that no further output needs."""
        oldest = (self._made * self._down - self._half) // self._up
        keep_from = max(oldest // self._down * self._down, self._origin)
        self._pending = self._pending[keep_from - self._origin :]
        self._origin = keep_from
