"""Sound as the speech models take it: one channel, 16 kHz, 32-bit floats."""

import math
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import BagUnreadable, InvalidRequest

SAMPLE_RATE = 16_000
"""[Hz]"""

MAX_RATE = 768_000
"""[Hz] No sound card is faster."""

Audio = NDArray[np.float32]
"""Shape (samples,), SAMPLE_RATE, full scale at -1 and 1."""


def load_wav(path: str | Path) -> Audio:
    """Read a wav file of any rate and number of channels: 8, 16, 24 or 32-bit PCM.

    Channels are averaged.

    :raises BagUnreadable: it is missing, damaged or not PCM
    """
    try:
        with wave.open(str(path), 'rb') as file:
            channels, width, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
            data = file.readframes(file.getnframes())
    except (OSError, EOFError, wave.Error) as error:
        reason = str(error) or 'it ends too early'
        raise BagUnreadable(
            f'{path} cannot be read as a wav file: {reason}; convert it to 16-bit PCM'
        ) from error
    try:
        return from_pcm(data, width=width, channels=channels, rate=rate)
    except InvalidRequest as error:
        raise BagUnreadable(f'{path}: {error}') from error


def from_pcm(data: bytes, *, width: int = 2, channels: int = 1, rate: int = SAMPLE_RATE) -> Audio:
    """Convert interleaved little-endian PCM; a last sample that is cut off is dropped.

    :param width: bytes per sample: 1 (unsigned), 2, 3 or 4 (signed)
    :param rate: of the data [Hz]
    :raises InvalidRequest: there is no such PCM
    """
    if width not in (1, 2, 3, 4) or channels < 1 or not 1 <= rate <= MAX_RATE:
        raise InvalidRequest(
            f'{8 * width}-bit sound of {channels} channels at {rate} Hz is unknown; convert to 16-bit PCM'
        )
    whole = len(data) - len(data) % (width * channels)
    samples = _samples(data[:whole], width).reshape(-1, channels).mean(axis=1)
    return resample(samples.astype(np.float32), rate)


def resample(samples: Audio, rate: int) -> Audio:
    """Convert one channel to SAMPLE_RATE.

    :param samples: shape (samples,)
    :param rate: of the samples [Hz]
    """
    if rate == SAMPLE_RATE or not samples.size:
        return samples
    from scipy.signal import resample_poly  # type: ignore[import-untyped]  # half a second to import

    common = math.gcd(SAMPLE_RATE, rate)
    resampled: Audio = resample_poly(samples, SAMPLE_RATE // common, rate // common).astype(np.float32)
    return resampled


def _samples(data: bytes, width: int) -> NDArray[np.float64]:
    if width == 1:
        return (np.frombuffer(data, np.uint8).astype(np.float64) - 128.0) / 128.0
    if width == 3:
        # The upper three bytes of a 32-bit number keep the sign.
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        return wide.view('<i4').reshape(-1).astype(np.float64) / 2.0**31
    kind = '<i2' if width == 2 else '<i4'
    return np.frombuffer(data, kind).astype(np.float64) / 2.0 ** (8 * width - 1)
