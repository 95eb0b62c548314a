"""Cuts a stream of sound into utterances."""

from dataclasses import dataclass

import numpy as np

from remembr_ros.speech.sound.audio import SAMPLE_RATE, Audio
from remembr_ros.speech.voice_activity import WINDOW, Detector, SpeechSegment, SpeechTracker
from remembr_ros.speech.whisper import SileroStream

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
