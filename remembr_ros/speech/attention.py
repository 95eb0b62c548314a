"""When the robot listens, and to whom: muted, while it speaks, follow-ups, wake phrase."""

import re
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from remembr_ros.errors import InvalidRequest
from remembr_ros.speech.transcriber import Transcript
from remembr_ros.timestamps import NS

WAKE_PHRASES = ('robot', 'hey robot')

FILLERS = frozenset(
    ('ah', 'eh', 'ey', 'hay', 'hello', 'hey', 'hi', 'oh', 'ok', 'okay', 'so', 'uh', 'um', 'well')
)
"""Words that may come before the wake phrase."""

MAX_FILLERS = 2
LETTERS_PER_ERROR = 5  # one letter in so many may be heard wrong: 'hey robat', 'robots'
VOWELS = frozenset('aeiouwyh')  # told apart badly or not spoken: half an error, so 'rowboat' is 'robot'
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_JOINT = re.compile(r'[\s-]*')  # what may lie between the parts of a word that was heard as two
_SEPARATORS = ' \t\r\n.,;:!?-\u2013\u2014\u2026'


def after_wake_phrase(text: str, phrases: Sequence[str] = WAKE_PHRASES) -> str | None:
    """Return what was said after the wake phrase; empty: nothing.

    Case, accents and punctuation do not matter, and a small recognition error is tolerated.

    :param text: a transcript
    :param phrases: any of them wakes; none: everything said is meant for the robot
    :return: None: the robot was not spoken to
    :raises InvalidRequest: a phrase has no letters
    """
    if not phrases:
        return text.strip() if _WORD.search(text) else None
    words = list(_WORD.finditer(text))
    heard = [_plain(word[0]) for word in words]
    joined = [bool(_JOINT.fullmatch(text, a.end(), b.start())) for a, b in pairwise(words)]
    readings = []
    for phrase in phrases:
        spoken = [_plain(word) for word in _WORD.findall(phrase)]
        if not spoken:
            raise InvalidRequest(f'the wake phrase {phrase!r} has no letters; give one such as "hey robot"')
        for first in range(min(MAX_FILLERS, len(heard)) + 1):
            if first and heard[first - 1] not in FILLERS:
                break
            found = _match(spoken, heard[first:], joined[first:])
            if found is not None:
                errors, count = found
                readings.append((errors, first + count))
    if not readings:
        return None
    _, spent = min(readings)
    rest = text[words[spent - 1].end() :].lstrip(_SEPARATORS).rstrip()
    return rest if _WORD.search(rest) else ''


def _plain(word: str) -> str:
    """Return a word's letters without case, accents and apostrophes."""
    letters = unicodedata.normalize('NFKD', word.casefold())
    return ''.join(letter for letter in letters if letter.isalnum())


def _match(spoken: list[str], heard: list[str], joined: list[bool]) -> tuple[int, int] | None:
    """Return errors and number of words if what was heard begins with the phrase, the best way to read it.

    :param joined: whether each word of heard and the next may be one
    """
    phrase = ''.join(spoken)
    allowed = 2 * (len(phrase) // LETTERS_PER_ERROR)
    # A word may be heard as two, two as one.
    ways = []
    for count in range(max(len(spoken) - 1, 1), min(len(spoken) + 1, len(heard)) + 1):
        # A word more or less is 'row bot' for 'robot', not 'a robot'.
        if count != len(spoken) and heard[0][:1] != phrase[0]:
            continue
        # 'Rob, at the door' names somebody else.
        if count > len(spoken) and not all(joined[: count - 1]):
            continue
        errors = half_errors(phrase, ''.join(heard[:count]), allowed)
        if errors <= allowed:
            ways.append((errors, count))
    return min(ways, default=None)


def half_errors(a: str, b: str, limit: int) -> int:
    """Return what has to be changed, added or left out to turn one text into the other.

    A letter counts two, one of the VOWELS, also in place of another, counts one.

    :param limit: more than this is not counted: limit + 1 is returned
    """
    row = [0]
    for letter in b:
        row.append(row[-1] + _weight(letter))
    for letter in a:
        previous, row[0] = row[0], row[0] + _weight(letter)
        for j, other in enumerate(b, 1):
            change = 0 if letter == other else max(_weight(letter), _weight(other))
            least = min(row[j] + _weight(letter), row[j - 1] + _weight(other), previous + change)
            previous, row[j] = row[j], least
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)


def _weight(letter: str) -> int:
    return 1 if letter in VOWELS else 2


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
