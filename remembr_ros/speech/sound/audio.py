"""Sound as the speech models take it: one channel, 16 kHz, 32-bit floats; resampled from any rate."""

import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import BagUnreadable, InvalidRequest, TranscriberUnavailable

SAMPLE_RATE = 16_000  # [Hz]
MAX_RATE = 768_000  # [Hz] no sound card is faster
Audio = NDArray[np.float32]  # shape (samples,), SAMPLE_RATE, full scale at -1 and 1
Frames = NDArray[np.float32]  # shape (samples, channels), any rate, full scale at -1 and 1


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a stream of sound.

    :param frames: of all channels
    :param rate: [Hz]
    :param heard_ns: when its last sample came, on a clock that never jumps
    """

    frames: Frames
    rate: int
    heard_ns: int

    @property
    def seconds(self) -> float:
        return len(self.frames) / self.rate


class WavFile:
    """A wav file that is read from its beginning to its end; a context manager.

    :raises BagUnreadable: it is missing, damaged or not PCM
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        try:
            self._file = wave.open(str(path), 'rb')  # noqa: SIM115  closed by __exit__
        except (OSError, EOFError, wave.Error) as error:
            raise self._unreadable(error) from error
        self.rate = self._file.getframerate()
        self.channels = self._file.getnchannels()
        self._width = self._file.getsampwidth()
        try:
            check_pcm(self._width, self.channels, self.rate)
        except InvalidRequest as error:
            self._file.close()
            raise BagUnreadable(f'{path}: {error}') from error

    def __enter__(self) -> 'WavFile':
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, count: int) -> Frames:
        """Return at most so many frames; none: the end.

        :raises BagUnreadable: the file cannot be read any more
        """
        try:
            data = self._file.readframes(count)
        except (OSError, EOFError, wave.Error) as error:
            raise self._unreadable(error) from error
        return decode_pcm(data, width=self._width, channels=self.channels)

    def _unreadable(self, error: Exception) -> BagUnreadable:
        reason = str(error) or 'it ends too early'
        return BagUnreadable(f'{self._path} cannot be read as a wav file: {reason}; convert it to 16-bit PCM')


def check_pcm(width: int, channels: int, rate: int) -> None:
    """Raise InvalidRequest if there is no such PCM."""
    if width not in (1, 2, 3, 4) or channels < 1 or not 1 <= rate <= MAX_RATE:
        raise InvalidRequest(
            f'{8 * width}-bit sound of {channels} channels at {rate} Hz is unknown; convert to 16-bit PCM'
        )


def decode_pcm(data: bytes, *, width: int = 2, channels: int = 1) -> Frames:
    """Return the channels of interleaved little-endian PCM; a last sample that is cut off is dropped.

    :param width: bytes per sample: 1 (unsigned), 2, 3 or 4 (signed)
    """
    whole = len(data) - len(data) % (width * channels)
    return _samples(data[:whole], width).reshape(-1, channels).astype(np.float32)


def mixed(frames: Frames, channel: int = 0) -> Audio:
    """Return one channel.

    :param channel: which one, from 1; 0: the mean of all
    :raises InvalidRequest: there are fewer channels
    """
    count = frames.shape[1]
    if channel > count:
        raise InvalidRequest(f'there is no channel {channel}: the sound has {count}; 0 takes the mean of all')
    return frames[:, channel - 1] if channel else frames.mean(axis=1, dtype=np.float32)


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
