"""When somebody speaks."""

from dataclasses import dataclass

import numpy as np

from remembr_ros.errors import InvalidRequest
from remembr_ros.speech.audio import SAMPLE_RATE, Audio
from remembr_ros.speech.whisper import silero_chunks


@dataclass(frozen=True, slots=True)
class SpeechSegment:
    """A stretch of speech.

    :param start: index of its first sample
    :param end: index after its last sample
    """

    start: int
    end: int

    @property
    def start_s(self) -> float:
        return self.start / SAMPLE_RATE

    @property
    def end_s(self) -> float:
        return self.end / SAMPLE_RATE


def speech_segments(
    audio: Audio,
    *,
    threshold: float = 0.5,
    min_speech_s: float = 0.25,
    min_silence_s: float = 0.6,
    pad_s: float = 0.2,
) -> list[SpeechSegment]:
    """Find speech with the Silero VAD.

    :param audio: shape (samples,), 16 kHz, full scale at -1 and 1
    :param threshold: probability of speech, in (0, 1), above which a window of 32 ms counts
    :param min_speech_s: shorter speech is noise [s]
    :param min_silence_s: a shorter pause does not end a segment [s]
    :param pad_s: kept before and after, so that no sound is cut off [s]
    :return: in the order of time, without overlap
    :raises InvalidRequest: the audio is not one channel
    :raises TranscriberUnavailable: the VAD is not installed
    """
    if audio.ndim != 1:
        raise InvalidRequest(f'audio of shape {audio.shape} is not one channel; see load_wav')
    if not audio.size:
        return []
    chunks = silero_chunks(
        np.nan_to_num(audio).astype(np.float32),
        threshold=threshold,
        min_speech_duration_ms=round(1000 * min_speech_s),
        min_silence_duration_ms=round(1000 * min_silence_s),
        speech_pad_ms=round(1000 * pad_s),
    )
    return [SpeechSegment(start, min(end, audio.size)) for start, end in chunks]
