"""When the robot listens, and to whom: muted, while it speaks, follow-ups, wake word."""

import threading
from dataclasses import dataclass
from enum import Enum

from remembr_ros.speech.transcriber import Transcript
from remembr_ros.speech.wake_phrase import WAKE_PHRASES, after_wake_phrase
from remembr_ros.timestamps import NS


class Hearing(Enum):
    """What is done with what is heard."""

    MUTED = 'muted'
    SPEAKING = 'deaf while the robot speaks'
    FOLLOW_UP = 'open to a follow-up question'
    WAITING = 'waiting for the wake phrase'
    OPEN = 'everything is a question'


class UtteranceKind(Enum):
    """What an utterance is."""

    QUESTION = 'question'
    CALL = 'the wake phrase alone'
    OTHER = 'not meant for the robot'
    UNSURE = 'not understood well enough'
    NOTHING = 'nothing was understood'
    MUTED = 'muted'
    FAILED = 'could not be transcribed'


@dataclass(frozen=True, slots=True)
class Heard:
    """An utterance, judged.

    :param question: without the wake phrase; empty unless the verdict is QUESTION
    """

    verdict: UtteranceKind
    question: str = ''


@dataclass(frozen=True, slots=True)
class AttentionRules:
    """What is a question to the robot.

    :param phrases: wake phrases; none: everything is a question
    :param follow_up_ns: so long after an answer a question needs no wake phrase; 0: it always does
    :param tail_ns: so long after the robot spoke, what is heard is taken for its echo
    :param speaking_timeout_ns: nobody speaks longer without saying so again: whoever spoke has died
    :param min_confidence: less sure transcripts are no questions, 0 to 1
    :raises InvalidRequest: a phrase has no letters
    """

    phrases: tuple[str, ...] = WAKE_PHRASES
    follow_up_ns: int = 8 * NS
    tail_ns: int = NS // 2
    speaking_timeout_ns: int = 60 * NS
    min_confidence: float = 0.0

    def __post_init__(self) -> None:
        after_wake_phrase('', self.phrases)


class Attention:
    """Decides what is a question to the robot. May be used from several threads.

    All times are integer nanoseconds of one clock that never jumps; they need not come in order.

    :param rules: may be replaced at any time; what is known of the moment stays
    """

    def __init__(self, rules: AttentionRules | None = None) -> None:
        self._lock = threading.Lock()
        self.rules = rules or AttentionRules()
        self._muted = False
        self._speaking_since: int | None = None
        """When the robot last said that it speaks; None: it does not."""
        self._deaf_until: int | None = None
        self._open: tuple[int, int] | None = None
        """Begin and end of the follow-up window; None: there is none."""

    def mute(self, muted: bool) -> None:
        """Hear nothing at all, or hear again."""
        with self._lock:
            self._muted = muted
            if muted:
                self._open = None

    def speak(self, speaking: bool, now_ns: int) -> None:
        """Take note that the robot speaks, or speaks no more; said again, the timeout begins anew."""
        with self._lock:
            self._expire(now_ns)
            if speaking:
                self._speaking_since = now_ns
            elif self._speaking_since is not None:
                self._end_speech(now_ns)

    def answer(self, now_ns: int) -> None:
        """Take note of an answer: it may be followed up."""
        with self._lock:
            self._expire(now_ns)
            self._open_window(now_ns, now_ns)

    def deaf(self, now_ns: int) -> bool:
        """Tell whether what is heard now must be ignored."""
        return self.state(now_ns) in (Hearing.MUTED, Hearing.SPEAKING)

    def state(self, now_ns: int) -> Hearing:
        """Return what is done with what is heard now."""
        with self._lock:
            self._expire(now_ns)
            if self._muted:
                return Hearing.MUTED
            if self._speaking_since is not None or (
                self._deaf_until is not None and now_ns < self._deaf_until
            ):
                return Hearing.SPEAKING
            if not self.rules.phrases:
                return Hearing.OPEN
            return Hearing.FOLLOW_UP if self._in_window(now_ns) else Hearing.WAITING

    def addressed(self, heard: Transcript, start_ns: int) -> bool:
        """Tell whether an utterance that goes on is meant for the robot, so that the rest matters."""
        with self._lock:
            return self._judge(heard, start_ns).verdict in (UtteranceKind.QUESTION, UtteranceKind.CALL)

    def judge(self, heard: Transcript, start_ns: int, end_ns: int) -> Heard:
        """Return what an utterance is; a question ends the follow-up window, a call opens one.

        :param start_ns: when it began: it is a follow-up question if that was within the window
        :param end_ns: when it ended
        """
        with self._lock:
            judged = self._judge(heard, start_ns)
            if judged.verdict is UtteranceKind.QUESTION:
                self._open = None
            elif judged.verdict is UtteranceKind.CALL:
                self._open_window(start_ns, end_ns)
            return judged

    def _judge(self, heard: Transcript, start_ns: int) -> Heard:
        if self._muted:
            return Heard(UtteranceKind.MUTED)
        if not heard.text.strip():
            return Heard(UtteranceKind.NOTHING)
        if heard.confidence < self.rules.min_confidence:
            return Heard(UtteranceKind.UNSURE)
        question = after_wake_phrase(heard.text, self.rules.phrases)
        if question is None and self._in_window(start_ns):
            question = after_wake_phrase(heard.text, ())
        if question is None:
            return Heard(UtteranceKind.OTHER)
        return Heard(UtteranceKind.QUESTION, question) if question else Heard(UtteranceKind.CALL)

    def _expire(self, now_ns: int) -> None:
        """End a speech that nobody ended."""
        if self._speaking_since is not None:
            latest = self._speaking_since + self.rules.speaking_timeout_ns
            if now_ns >= latest:
                self._end_speech(latest)

    def _end_speech(self, end_ns: int) -> None:
        since, self._speaking_since = self._speaking_since, None
        self._deaf_until = end_ns + self.rules.tail_ns
        # An answer that was spoken can be followed up from its end on, however long it was.
        if since is not None and self._open is not None and since <= self._open[1]:
            self._open_window(self._open[0], self._deaf_until)

    def _in_window(self, at_ns: int) -> bool:
        return self._open is not None and self._open[0] <= at_ns <= self._open[1]

    def _open_window(self, begin_ns: int, from_ns: int) -> None:
        """Open the window, or let it last longer.

        :param from_ns: it lasts follow_up_ns from then on
        """
        if self.rules.follow_up_ns and not self._muted:
            begin, end = self._open if self._in_window(begin_ns) and self._open else (begin_ns, begin_ns)
            self._open = begin, max(end, from_ns + self.rules.follow_up_ns)
