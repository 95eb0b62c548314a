"""Whisper, and the Silero voice activity detector that comes with it, by faster-whisper."""

import threading
from typing import Any

from remembr_ros.errors import TranscriberUnavailable
from remembr_ros.speech.audio import SAMPLE_RATE, Audio
from remembr_ros.speech.transcriber import Transcript

DEFAULT = 'small'

INSTALL = 'faster-whisper is not installed; run: pip install "remembr_ros[speech]"'


class WhisperTranscriber:
    """Transcribes with a Whisper model, loaded when it is first used.

    :param model: 'tiny', 'base', 'small', 'medium', 'large-v3', ..., a hub name, or a folder of a CTranslate2
        model
    :param device: 'cpu', 'cuda' or 'auto'
    :param compute_type: of CTranslate2, such as 'int8' or 'float16'; 'auto': the fastest the device supports
    :param language: ISO 639-1 code; None: detected from the speech
    """

    def __init__(
        self,
        model: str = DEFAULT,
        *,
        device: str = 'auto',
        compute_type: str = 'auto',
        language: str | None = None,
    ) -> None:
        self._name = model
        self._device = device
        self._compute_type = compute_type
        self._language = language or None
        self._loading = threading.Lock()
        self._model: Any = None

    @property
    def name(self) -> str:
        return self._name

    def load(self) -> None:
        """Load the model now rather than with the first transcription.

        :raises TranscriberUnavailable: it is not installed or cannot be loaded
        """
        with self._loading:
            if self._model is None:
                self._model = self._loaded()

    def transcribe(self, audio: Audio) -> Transcript:
        if not audio.size:
            return Transcript('', self._language or '')
        self.load()
        try:
            # One utterance at a time: what was said before must not colour what is said now.
            segments, info = self._model.transcribe(
                audio, language=self._language, condition_on_previous_text=False
            )
            text = ' '.join(segment.text.strip() for segment in segments)
        except (RuntimeError, ValueError) as error:
            raise TranscriberUnavailable(f'Whisper model {self._name!r} failed: {error}') from error
        return Transcript(text.strip(), info.language)

    def _loaded(self) -> Any:
        try:
            from faster_whisper import WhisperModel  # type: ignore[import-untyped]
        except ImportError as error:
            raise TranscriberUnavailable(INSTALL) from error
        try:
            return WhisperModel(self._name, device=self._device, compute_type=self._compute_type)
        # Hub, CTranslate2 and tokenizers raise OSError, RuntimeError, ValueError and plain Exceptions.
        except Exception as error:
            raise TranscriberUnavailable(
                f'Whisper model {self._name!r} cannot be loaded on {self._device!r} ({error}); give the name '
                'of one, with a network to fetch it, or a folder that holds one'
            ) from error


def silero_chunks(audio: Audio, **options: Any) -> list[tuple[int, int]]:
    """Return the first sample and the one after the last of each stretch of speech.

    :param audio: shape (samples,), 16 kHz
    :param options: of faster_whisper.vad.VadOptions
    :raises TranscriberUnavailable: faster-whisper is not installed
    """
    try:
        from faster_whisper.vad import (  # type: ignore[import-untyped]
            VadOptions,
            get_speech_timestamps,
        )
    except ImportError as error:
        raise TranscriberUnavailable(INSTALL) from error
    found = get_speech_timestamps(audio, VadOptions(**options), SAMPLE_RATE)
    return [(int(chunk['start']), int(chunk['end'])) for chunk in found]
