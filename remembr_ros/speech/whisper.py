"""Whisper, and the Silero voice activity detector that comes with it, by faster-whisper."""

import math
import threading
from collections.abc import Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import TranscriberUnavailable
from remembr_ros.speech.sound.audio import SAMPLE_RATE, Audio
from remembr_ros.speech.transcriber import Transcript

DEFAULT = 'small'

INSTALL = 'faster-whisper is not installed; run: pip install "remembr_ros[speech]"'
VAD_WINDOW = 512  # [samples] what the Silero VAD looks at, 32 ms
VAD_CONTEXT = 64  # [samples] what it sees again of the window before
VAD_SILENCE = 0.2  # windows with a lower probability of speech are silent
VAD_QUIET = 62  # so many silent windows, 2 s, and it starts anew, ...
VAD_LEAD = 31  # ... with the last 1 s


class WhisperTranscriber:
    """Transcribes with a Whisper model, loaded when it is first used.

    :param model: 'tiny', 'base', 'small', 'medium', 'large-v3', ..., a hub name, or a folder of a CTranslate2
        model
    :param device: 'cpu', 'cuda' or 'auto': cuda where it works, else cpu
    :param compute_type: of CTranslate2, such as 'int8' or 'float16'; 'auto': float16 on cuda, int8 on cpu
    :param language: ISO 639-1 code; None: detected from the speech
    :param beam_size: readings that are followed at a time; 1 is fastest
    """

    def __init__(
        self,
        model: str = DEFAULT,
        *,
        device: str = 'auto',
        compute_type: str = 'auto',
        language: str | None = None,
        beam_size: int = 5,
    ) -> None:
        self.name = model
        self._device = device
        self._compute_type = compute_type
        self._language = language or None
        self._beam_size = beam_size
        self._loading = threading.Lock()
        self._model: Any = None
        self.runs_on = ''
        """Device and numbers in use, such as 'cpu, int8', and why not the better ones; empty: not loaded."""

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
            return self._transcribed(self._model, audio)
        except (RuntimeError, ValueError) as error:
            raise TranscriberUnavailable(f'Whisper model {self.name!r} failed: {error}') from error

    def _transcribed(self, model: Any, audio: Audio) -> Transcript:
        # One utterance at a time: what was said before must not colour what is said now.
        segments, info = model.transcribe(
            audio, language=self._language, beam_size=self._beam_size, condition_on_previous_text=False
        )
        heard = [segment for segment in segments if segment.text.strip()]
        text = ' '.join(segment.text.strip() for segment in heard)
        sure = confidence([(s.end - s.start, s.avg_logprob, s.no_speech_prob) for s in heard])
        return Transcript(text, info.language, sure)

    def _loaded(self) -> Any:
        try:
            from ctranslate2 import get_cuda_device_count, get_supported_compute_types  # type: ignore[import-untyped]
            from faster_whisper import WhisperModel  # type: ignore[import-untyped]
        except ImportError as error:
            raise TranscriberUnavailable(INSTALL) from error
        on_cuda = get_supported_compute_types('cuda') if get_cuda_device_count() else set()
        choices = computations(self._device, self._compute_type, on_cuda)
        failed = ''
        for device, numbers in choices:
            try:
                model = WhisperModel(self.name, device=device, compute_type=numbers)
                # A missing library of CUDA shows only when something is computed.
                self._transcribed(model, np.zeros(SAMPLE_RATE, np.float32))
            # Hub, CTranslate2 and tokenizers raise OSError, RuntimeError, ValueError and plain Exceptions.
            except Exception as error:
                if (device, numbers) != choices[-1]:
                    failed = f' ({device} does not work: {error})'
                    continue
                raise TranscriberUnavailable(
                    f'Whisper model {self.name!r} cannot be loaded on {device!r} ({error}); give the name '
                    'of one, with a network to fetch it, or a folder that holds one'
                ) from error
            self.runs_on = f'{device}, {numbers}{failed}'
            return model
        raise AssertionError('there is always a way to compute')


def computations(device: str, compute_type: str, on_cuda: Set[str]) -> list[tuple[str, str]]:
    """Return devices and compute types to try, the best first.

    :param device: 'cpu', 'cuda' or 'auto'
    :param compute_type: 'auto' or what is wanted
    :param on_cuda: compute types that the GPU supports; empty: there is none
    """
    devices = [device] if device != 'auto' else ['cuda', 'cpu'] if on_cuda else ['cpu']
    best = {'cpu': 'int8', 'cuda': 'float32' if on_cuda and 'float16' not in on_cuda else 'float16'}
    return [(d, compute_type if compute_type != 'auto' else best.get(d, 'auto')) for d in devices]


def confidence(segments: Sequence[tuple[float, float, float]]) -> float:
    """Return how sure Whisper is of an utterance, 0 to 1.

    The mean over the segments, by their length, of the probability of a token (the geometric mean over the
    segment's tokens) times that of there being speech at all.

    :param segments: length [s], mean logarithm of the tokens' probabilities, probability of no speech
    """
    total = sure = 0.0
    for seconds, log_probability, no_speech in segments:
        weight = max(seconds, 0.01)
        total += weight
        sure += weight * math.exp(min(log_probability, 0.0)) * (1.0 - min(max(no_speech, 0.0), 1.0))
    return min(sure / total, 1.0) if total else 0.0


class SileroStream:
    """The Silero VAD over a stream: each window is computed once, with what it remembers of those before.

    What faster-whisper itself offers looks at a whole recording; here its session keeps its state. Long noise
    makes that deaf to weak speech, so in silence it starts anew, with the last second.
    """

    def __init__(self) -> None:
        self._session: Any = None
        self._quiet = 0
        self._recent = np.zeros((0, VAD_WINDOW), np.float32)
        self._start_anew()

    def _start_anew(self) -> None:
        self._state = [np.zeros((1, 1, 128), np.float32), np.zeros((1, 1, 128), np.float32)]
        self._context = np.zeros(VAD_CONTEXT, np.float32)

    def load(self) -> None:
        """Load the model now rather than with the first sound.

        :raises TranscriberUnavailable: faster-whisper is not installed, or too old or too new
        """
        if self._session is not None:
            return
        try:
            from faster_whisper.vad import get_vad_model  # type: ignore[import-untyped]
        except ImportError as error:
            raise TranscriberUnavailable(INSTALL) from error
        try:
            session = get_vad_model().session
            names = [value.name for value in session.get_inputs()]
        # onnxruntime has a tree of errors of its own.
        except Exception as error:
            raise TranscriberUnavailable(f'the Silero VAD cannot be loaded: {error}') from error
        if names != ['input', 'h', 'c']:
            raise TranscriberUnavailable(f'this Silero VAD takes {names}; install faster-whisper 1.2')
        self._session = session

    def __call__(self, audio: Audio) -> NDArray[np.float32]:
        """Return the probability of speech in each window.

        :param audio: what follows; shape (windows * VAD_WINDOW,), 16 kHz
        :raises TranscriberUnavailable: the VAD is not installed
        """
        self.load()
        windows = audio.reshape(-1, VAD_WINDOW)
        found = []
        while windows.size:
            # No further than to where it may have to start anew, so that the pieces do not matter.
            part, windows = np.split(windows, [VAD_QUIET - self._quiet])
            found.append(self._run(part))
            self._recent = np.concatenate([self._recent, part])[-VAD_LEAD:].copy()
            loud = np.flatnonzero(found[-1] >= VAD_SILENCE)
            self._quiet = len(part) - 1 - int(loud[-1]) if loud.size else self._quiet + len(part)
            if self._quiet == VAD_QUIET:
                self._quiet = 0
                self._start_anew()
                self._run(self._recent)
        return np.concatenate([*found, np.zeros(0, np.float32)])

    def _run(self, windows: NDArray[np.float32]) -> NDArray[np.float32]:
        before = np.concatenate([self._context[None], windows[:-1, -VAD_CONTEXT:]])
        fed = np.concatenate([before, windows], axis=1)
        output, *self._state = self._session.run(
            None, {'input': fed, 'h': self._state[0], 'c': self._state[1]}
        )
        self._context = windows[-1, -VAD_CONTEXT:].copy()
        return np.asarray(output, np.float32).reshape(-1)
