"""Cuts a stream of sound into utterances, by voice activity."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from remembr_ros.speech.sound.audio import SAMPLE_RATE, Audio
from remembr_ros.speech.whisper import VAD_WINDOW, SileroStream

WINDOW = VAD_WINDOW  # [samples] what a detector looks at, 32 ms
HYSTERESIS = 0.15  # speech goes on at so much less than the threshold; as in Silero's own code
MAX_RISE = 16  # windows before the first one that is speech that may belong to it, where they are likely to
PAD_S = 0.25  # kept before and after speech [s]: it is only known for speech after it has begun
Detector = Callable[[Audio], NDArray[np.float32]]
"""Takes the windows of a stream, any whole number of them at a time; gives the probability of speech in each:
shape (windows * WINDOW,) -> (windows,). It may remember what came before."""


@dataclass(frozen=True, slots=True)
class SpeechSegment:
    """A stretch of speech.

    :param start: index of its first sample
    :param end: index after its last sample
    """

    start: int
    end: int


class SpeechTracker:
    """Follows the probability of speech, window by window, and says where speech begins and ends.

    :param threshold: probability, in (0, 1), from which on a window is speech
    :param min_speech_s: with less speech in it it is noise [s]
    :param min_silence_s: a shorter pause does not end it [s]
    :param pad_s: kept before and after [s]
    """

    def __init__(
        self,
        *,
        threshold: float = 0.5,
        min_speech_s: float = 0.25,
        min_silence_s: float = 0.6,
        pad_s: float = PAD_S,
    ) -> None:
        self._threshold = threshold
        self._low = max(threshold - HYSTERESIS, 0.01)
        self._min_speech = max(round(min_speech_s * SAMPLE_RATE / WINDOW), 1)
        self._min_silence = max(math.ceil(min_silence_s * SAMPLE_RATE / WINDOW), 1)
        self._pad = round(pad_s * SAMPLE_RATE)
        self._count = 0
        self._rise = 0  # first of the windows up to now that may be speech
        self._begin: int | None = None
        self._after = 0  # window after the last one that may be speech
        self._spoken = 0  # windows of the present segment that are certainly speech
        self._earliest = 0  # sample before which no segment may begin: the end of the last one

    @property
    def start(self) -> int | None:
        """Sample at which the present speech, or what may become such, begins; None: silence."""
        return None if self._begin is None else max(self._begin * WINDOW - self._pad, self._earliest)

    @property
    def keep_from(self) -> int:
        """Sample from which on the sound may be needed."""
        first = self._rise if self._begin is None else self._begin
        return max(first * WINDOW - self._pad, self._earliest)

    @property
    def silent_since(self) -> int:
        """Sample after the last one that may be speech."""
        return self._after * WINDOW

    def add(self, probability: float) -> SpeechSegment | None:
        """Take in the next window; return a segment that it completes."""
        i = self._count
        self._count += 1
        if self._begin is None:
            if probability < self._low:
                self._rise = self._count
                return None
            self._rise = max(self._rise, self._count - MAX_RISE)
            if probability < self._threshold:
                return None
            self._begin = self._rise
        self._spoken += probability >= self._threshold
        # It may fade away, but after a pause it takes more to go on.
        if probability >= (self._low if self._after == i else self._threshold):
            self._after = i + 1
        return self.end() if self._count - self._after >= self._min_silence else None

    def end(self) -> SpeechSegment | None:
        """End the present speech here, whatever follows; return it if there is any."""
        start, spoken = self.start, self._spoken
        self._begin, self._spoken, self._rise = None, 0, self._count
        if start is None or spoken < self._min_speech:
            return None
        segment = SpeechSegment(start, min(self._after * WINDOW + self._pad, self._count * WINDOW))
        self._earliest = segment.end
        return segment

    def cut(self, at: int) -> SpeechSegment:
        """Return the present speech up to a sample; the rest goes on being one segment."""
        segment = SpeechSegment(self.start or 0, at)
        self._begin, self._earliest, self._spoken = at // WINDOW, at, self._min_speech
        return segment


STEP = 128  # [samples] how finely the quietest place is sought, 8 ms
GAP = 12  # steps that have to be quiet there: between words it is silent for about 0.1 s


@dataclass(frozen=True, slots=True)
class Utterance:
    """What somebody said.

    :param audio: shape (samples,), 16 kHz
    :param start: index of its first sample in the stream
    :param whole: false: it was too long, and the next utterance continues it
    """

    audio: Audio
    start: int
    whole: bool = True

    @property
    def end(self) -> int:
        """Index after its last sample in the stream."""
        return self.start + self.audio.size


class UtteranceCutter:
    """Collects sound and gives it back by utterances, the same ones whatever the pieces that it comes in.

    Each sound is looked at once; what is kept is the present utterance, or a little silence.

    :param end_silence_s: a longer pause ends an utterance
    :param max_s: a longer utterance is cut, at the quietest place of its second half
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
        self._detector = detector or SileroStream()
        self._max = max(round(max_s * SAMPLE_RATE / WINDOW), 16) * WINDOW
        self._tracker = SpeechTracker(threshold=threshold, min_silence_s=end_silence_s)
        self._tape = Tape()
        self._looked = 0  # samples of the stream that the detector has seen: whole windows

    @property
    def place(self) -> int:
        """Samples of the stream so far."""
        return self._tape.end

    @property
    def kept(self) -> int:
        """Samples in memory."""
        return self._tape.end - self._tape.start

    def add(self, audio: Audio) -> list[Utterance]:
        """Take sound in and return the utterances that are complete now, oldest first.

        :param audio: what follows the sound added before; shape (samples,), 16 kHz
        :raises TranscriberUnavailable: the voice activity detector is not installed
        """
        self._tape.append(np.nan_to_num(audio))
        whole = (self._tape.end - self._looked) // WINDOW * WINDOW
        if not whole:
            return []
        utterances = []
        for probability in self._detector(self._tape.piece(self._looked, self._looked + whole)).tolist():
            self._looked += WINDOW
            segment = self._tracker.add(probability)
            if segment is not None:
                utterances.append(self._taken(segment))
            elif (start := self._tracker.start) is not None and self._looked - start >= self._max:
                utterances += self._shortened()
        self._tape.forget(self._tracker.keep_from)
        return utterances

    def flush(self) -> list[Utterance]:
        """Return what was said last, whether complete or not."""
        length = self._tape.end
        utterances = self.add(np.zeros(-length % WINDOW, np.float32))
        last = self._tracker.end()
        if last is not None:
            utterances.append(self._taken(SpeechSegment(last.start, min(last.end, length))))
        self._tape.forget(self._tape.end)
        return utterances

    def _shortened(self) -> list[Utterance]:
        """Return the first part of an utterance that is too long."""
        at = self._quietest()
        if at < self._tracker.silent_since:
            return [self._taken(self._tracker.cut(at), whole=False)]
        ended = self._tracker.end()  # the pause is only not long enough yet
        return [self._taken(ended)] if ended is not None else []

    def _quietest(self) -> int:
        """Return the middle of the quietest GAP steps of the second half of what may be kept."""
        first = self._looked - self._max // 2 // WINDOW * WINDOW
        power = np.square(self._tape.piece(first, self._looked).reshape(-1, STEP)).mean(axis=1)
        loudness = np.convolve(power, np.ones(GAP), mode='valid')
        return first + int(np.argmin(loudness)) * STEP + GAP * STEP // 2

    def _taken(self, segment: SpeechSegment, *, whole: bool = True) -> Utterance:
        return Utterance(self._tape.piece(segment.start, segment.end).copy(), segment.start, whole)


class Tape:
    """Keeps sound by its place in the stream; adding and forgetting cost no copies of what is kept.

    Places are indices of samples, counted from the beginning of the stream.
    """

    def __init__(self) -> None:
        self.start = 0  # place of the first sample that is kept
        self.end = 0  # place after the last one
        self._room: Audio = np.zeros(1 << 14, np.float32)
        self._first = 0  # index in the room of the first sample that is kept

    def append(self, audio: Audio) -> None:
        """Add what follows; shape (samples,)."""
        kept = self.end - self.start
        if self._first + kept + audio.size > self._room.size:
            room = np.zeros(max(2 * (kept + audio.size), 1 << 14), np.float32)
            room[:kept] = self.piece(self.start, self.end)
            self._room, self._first = room, 0
        at = self._first + kept
        self._room[at : at + audio.size] = audio
        self.end += audio.size

    def piece(self, start: int, end: int) -> Audio:
        """Return what lies between two places, as far as it is kept; a view, good until the next append."""
        first = self._first - self.start
        return self._room[first + max(start, self.start) : first + max(min(end, self.end), self.start)]

    def forget(self, before: int) -> None:
        """Keep nothing before a place."""
        before = min(max(before, self.start), self.end)
        self._first += before - self.start
        self.start = before
