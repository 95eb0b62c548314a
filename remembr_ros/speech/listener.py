"""From a stream of sound to utterances addressed to the robot."""

import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

from remembr_ros.errors import TranscriberUnavailable
from remembr_ros.speech.attention import Attention, Heard, UtteranceKind
from remembr_ros.speech.sound.audio import SAMPLE_RATE, Audio, Block, StreamResampler, mixed
from remembr_ros.speech.transcriber import Transcriber, Transcript
from remembr_ros.speech.utterances import Utterance, UtteranceCutter
from remembr_ros.timestamps import NS

GAP_NS = 1 * NS  # sound that comes so much later than it should: something was lost in between
MAX_PARTS = 3  # utterances that were too long are put together from so many parts; nobody asks for longer


@dataclass(frozen=True, slots=True)
class Understood:
    """An utterance that was transcribed, and what it is."""

    transcript: Transcript
    heard: Heard


class Listener:
    """Takes blocks of sound and says what is asked in them. For one thread.

    :param cutter: new, or flushed
    :param channel: which one is heard, from 1; 0: the mean of all
    :param live: sound comes as it happens, so a pause in it means that something was lost
    """

    def __init__(
        self,
        cutter: UtteranceCutter,
        transcriber: Transcriber,
        attention: Attention,
        *,
        channel: int = 0,
        live: bool = True,
    ) -> None:
        self._cutter = cutter
        self._transcriber = transcriber
        self._attention = attention
        self._channel = channel
        self._live = live
        self._resampler = StreamResampler(SAMPLE_RATE)
        self._marks: deque[tuple[int, int]] = deque()
        """Ends of blocks in the cutter's stream [samples], and when they were heard [ns]."""
        self._heard_ns: int | None = None
        self._parts: list[tuple[int, Transcript]] = []
        """Lengths [samples] and transcripts of what there is of an utterance that was cut."""
        self._start_ns = 0
        self._ignoring = False  # the utterance that goes on is not for the robot
        self.verdicts: Counter[UtteranceKind] = Counter()
        self.transcribing_s = 0.0  # how long the last utterance took
        self.problem = ''  # why the last utterance could not be transcribed; empty: it could

    def hear(self, block: Block) -> list[Understood]:
        """Take in what came next, and return what is understood now.

        :raises InvalidRequest: there is no such channel
        """
        samples = mixed(block.frames, self._channel)
        understood = []
        begin_ns = block.heard_ns - round(block.seconds * NS)
        if self._live and self._heard_ns is not None and begin_ns - self._heard_ns > GAP_NS:
            understood = self.end()
        if self._resampler.rate != block.rate:
            understood += self._take(self._resampler.flush())
            self._resampler = StreamResampler(block.rate)
        self._heard_ns = block.heard_ns
        return understood + self._take(self._resampler.add(samples))

    def end(self) -> list[Understood]:
        """Return what was said last, as nothing follows."""
        if self._heard_ns is None:
            return []
        understood = self._take(self._resampler.flush())
        understood += self._understand(self._cutter.flush())
        self._heard_ns = None
        self._parts.clear()
        self._ignoring = False
        return understood

    def _take(self, audio: Audio) -> list[Understood]:
        self._marks.append((self._cutter.place + audio.size, self._heard_ns or 0))
        understood = self._understand(self._cutter.add(audio))
        while len(self._marks) > 1 and self._marks[1][0] < self._cutter.place - self._cutter.kept:
            self._marks.popleft()
        return understood

    def _understand(self, utterances: list[Utterance]) -> list[Understood]:
        understood = []
        for utterance in utterances:
            if self._ignoring:
                self._ignoring = not utterance.whole
                continue
            heard = self._understand_one(utterance)
            if heard is not None:
                self.verdicts[heard.heard.verdict] += 1
                understood.append(heard)
                self._parts.clear()
                self._ignoring = not utterance.whole
        return understood

    def _understand_one(self, utterance: Utterance) -> Understood | None:
        """Return what was said; None: it goes on, and is meant for the robot."""
        if not self._parts:
            self._start_ns = self._time(utterance.start)
        started = time.monotonic()
        try:
            part = self._transcriber.transcribe(utterance.audio)
            self.problem = ''
        except TranscriberUnavailable as error:
            self.problem = str(error)
            return Understood(Transcript('', '', 0.0), Heard(UtteranceKind.FAILED))
        finally:
            self.transcribing_s = time.monotonic() - started
        self._parts.append((utterance.audio.size, part))
        all_of_it = joined(self._parts)
        unfinished = not utterance.whole and len(self._parts) < MAX_PARTS
        if unfinished and self._attention.addressed(all_of_it, self._start_ns):
            return None
        heard = self._attention.judge(all_of_it, self._start_ns, self._time(utterance.end))
        return Understood(all_of_it, heard)

    def _time(self, place: int) -> int:
        """Return when a place of the stream was heard [ns]: after the block before, also in a burst."""
        before_ns = None
        for end, heard_ns in self._marks:
            if end >= place:
                earliest = heard_ns if before_ns is None else before_ns
                return max(heard_ns - (end - place) * NS // SAMPLE_RATE, earliest)
            before_ns = heard_ns
        return self._marks[-1][1]


def joined(parts: Sequence[tuple[int, Transcript]]) -> Transcript:
    """Return the transcript of an utterance from those of its parts.

    :param parts: their lengths, in any unit, and transcripts; at least one
    """
    text = ' '.join(part.text for _, part in parts if part.text)
    sure = sum(length * part.confidence for length, part in parts) / sum(length for length, _ in parts)
    return Transcript(text, parts[0][1].language, sure)
