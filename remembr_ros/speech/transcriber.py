"""The interface of a transcriber."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from remembr_ros.speech.sound.audio import Audio


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said.

    :param text: empty: nothing was understood
    :param language: ISO 639-1 code, such as 'en'
    :param confidence: how sure the model is of the text, 0 to 1
    """

    text: str
    language: str = ''
    confidence: float = 1.0


@runtime_checkable
class Transcriber(Protocol):
    """Turns speech into text."""

    def transcribe(self, audio: Audio) -> Transcript:
        """Return what was said.

        :param audio: shape (samples,), 16 kHz, full scale at -1 and 1
        :raises TranscriberUnavailable: the model is not installed or cannot be loaded
        """
