"""Whole recordings for the tests of what listens to streams."""

import math
from pathlib import Path

import numpy as np
from scipy.signal import resample_poly  # type: ignore[import-untyped]

from remembr_ros.speech.sound.audio import SAMPLE_RATE, Audio, WavFile, mixed
from remembr_ros.speech.utterances import PAD_S, WINDOW, SpeechSegment, SpeechTracker
from remembr_ros.speech.whisper import SileroStream


def load_wav(path: str | Path) -> Audio:
    """Read a wav file of any rate and number of channels, which are averaged.

    :raises BagUnreadable: it is missing, damaged or not PCM
    """
    with WavFile(path) as file:
        return resample(mixed(file.read(1 << 30)), file.rate)


def resample(samples: Audio, rate: int) -> Audio:
    """Convert one channel to SAMPLE_RATE, by another filter than the product's.

    :param rate: of the samples [Hz]
    """
    if rate == SAMPLE_RATE or not samples.size:
        return samples
    common = math.gcd(SAMPLE_RATE, rate)
    resampled: Audio = resample_poly(samples, SAMPLE_RATE // common, rate // common).astype(np.float32)
    return resampled


def speech_segments(
    audio: Audio, *, threshold: float = 0.5, min_silence_s: float = 0.6, pad_s: float = PAD_S
) -> list[SpeechSegment]:
    """Find the speech in a recording of SAMPLE_RATE with the Silero VAD, in the order of time."""
    tracker = SpeechTracker(threshold=threshold, min_silence_s=min_silence_s, pad_s=pad_s)
    windows = np.pad(np.nan_to_num(audio).astype(np.float32), (0, -audio.size % WINDOW))
    found = [*map(tracker.add, SileroStream()(windows).tolist()), tracker.end()]
    return [SpeechSegment(s.start, min(s.end, audio.size)) for s in found if s is not None]
