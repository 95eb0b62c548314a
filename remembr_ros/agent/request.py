"""Reading a question by rules: what kind of answer it wants, of what, and which one."""

import re
from dataclasses import dataclass
from datetime import timezone, tzinfo

from remembr_ros.agent.answer import Kind
from remembr_ros.agent.grounding import Choice
from remembr_ros.agent.when import Window, parse_window
from remembr_ros.memory.ranking import STOP_WORDS, stem, words


@dataclass(frozen=True, slots=True)
class Request:
    """A question, understood.

    :param kind: what the answer shall consist of
    :param target: what is asked about, in the asker's words; empty: whatever was there
    :param identifiers: stems that evidence must have: numbers, quoted text
    :param names: stems of capitalised words, of which evidence must have half
    :param choice: which one, if there are several
    :param window: the time asked about
    :param here: the question is about the place where the robot is
    :param reading: the question is about what is written
    """

    kind: Kind
    target: str
    identifiers: frozenset[str]
    names: frozenset[str]
    choice: Choice
    window: Window
    here: bool
    reading: bool


_POLITE = re.compile(
    r'^\W*(?:(?:hey|hi|hello|ok|okay|please|robot|so|and|now)\b[\s,]*)*'
    r"(?:(?:can|could|would|will)\s+you\s+(?:please\s+|kindly\s+)?|i\s+(?:want|need|would like|'d like)\s+"
    r'(?:you\s+)?to\s+|do\s+you\s+(?:know|remember)\s+|(?:please\s+)?(?:tell|show)\s+(?:me|us)\s+(?!the\s+way))?',
    re.IGNORECASE,
)
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            Kind.DURATION,
            r'^(?:for\s+)?how\s+long(?!\s+ago)|^how\s+much\s+time|^what\s+(?:was|is)\s+the\s+duration',
        ),
        (
            Kind.TIME,
            r'^when\b|^(?:at|around)?\s*what\s+time|^how\s+(?:long|many\s+\w+)\s+ago|^(?:on\s+)?what\s+(?:day|date)',
        ),
        (
            Kind.POSITION,
            r'^where\b|^(?:take|bring|lead|guide|drive|navigate|go|walk|move|get|head|return|come|escort)\b'
            r'|^(?:show|tell)\s+(?:me|us)\s+the\s+way|^how\s+(?:do|can|could|would|should)\s+(?:i|we|you)\s+(?:get|go|come)'
            r'|^(?:find|locate)\b|^(?:in\s+)?(?:which|what)\s+(?:room|place|location|position|direction|corridor|floor)\b'
            r'|^what\s+(?:is|was)\s+the\s+(?:location|position|place)\b|^i\s+(?:want|need|would\s+like)\b',
        ),
        (
            Kind.BINARY,
            r'^(?:is|are|was|were|did|do|does|have|has|had|can|could|will|would|should|any)\b',
        ),
    )
)
_PHRASES = re.compile(
    r"\b(?:where(?:abouts)?|when|what|which|who|how)(?:'s|'re)?\b|\b(?:is|are|was|were|did|do|does|have|has|had)\b"
    r'|\b(?:there|seen|see|saw|seeing|spot|spotted|notice|noticed|observe|observed|pass|passed|encounter|encountered)\b'
    r'|\b(?:take|bring|lead|guide|drive|navigate|go|walk|move|get|head|return|come|escort|find|found|locate|located'
    r'|location|position|way|closest|nearest|farthest|furthest|last|latest|most\s+recent(?:ly)?|recently|first'
    r'|earliest|time|long|ago|much|many|me|us|you|your|i|we|robot|show|tell|read|readable|written|sign|signs|says?'
    r'|text|word|words|label|labels|called|named|titled|labelled|labeled|marked|saying|reads?|visible|ever|already'
    r'|before|during|tour|drive|today|yesterday|here|now|currently|can|could|be|to|at|in|on|of|for|from|by|with|the|a|an'
    r'|near|next|beside|behind|opposite|around|front|close|inside|been|i|am|any|some|please|minutes?|hours?|seconds?|want|need|like|would|room\s+(?=\w*\d))\b|[?!.,;:"“”]',
    re.IGNORECASE,
)
_QUOTED = re.compile(r'["“”«»]([^"“”«»]+)["“”«»]|(?<!\w)\'([^\']+)\'(?!\w)')
_CHOICES = (
    (Choice.NEAREST, re.compile(r'\b(?:nearest|closest|nearby)\b', re.IGNORECASE)),
    (Choice.FARTHEST, re.compile(r'\b(?:farthest|furthest)\b', re.IGNORECASE)),
    (Choice.LATEST, re.compile(r'\b(?:last|latest|most\s+recent(?:ly)?|recently)\b', re.IGNORECASE)),
    (Choice.EARLIEST, re.compile(r'\b(?:first|earliest)\b', re.IGNORECASE)),
)
_HERE = re.compile(
    r'\b(?:here|around\s+(?:you|us|me)|near\s+(?:you|us|me)|at\s+this\s+place)\b', re.IGNORECASE
)
_READING = re.compile(
    r'\b(?:read|readable|written|writing|text|sign\s+says?|signs?\s+say|say|says|sign|signs|label|labels|words?)\b',
    re.IGNORECASE,
)
_FLOOR_WORDS = re.compile(r'\b(?:first|last)\s+(?:floor|name|room|door)\b', re.IGNORECASE)


def parse_request(text: str, now_ns: int, zone: tzinfo = timezone.utc) -> Request:
    """Return what a question asks for.

    :param now_ns: the asker's now, nanoseconds since the Unix epoch
    :param zone: the asker's time zone
    """
    window = parse_window(text, now_ns, zone)
    plain = _POLITE.sub('', window.rest, count=1).strip() or window.rest
    kind = next((kind for kind, pattern in _KINDS if pattern.search(plain)), Kind.TEXT)
    choice = next(
        (c for c, pattern in _CHOICES if pattern.search(plain) and not _FLOOR_WORDS.search(plain)),
        Choice.CITED_FIRST,
    )
    quoted = [a or b for a, b in _QUOTED.findall(plain)]
    target = ' '.join(_PHRASES.sub(' ', plain).split())
    identifiers = {stem(w) for text in quoted for w in words(text) if w not in STOP_WORDS}
    numbers, numbered = _numbers(plain)
    return Request(
        kind=kind,
        target=target or ' '.join(quoted),
        identifiers=frozenset(identifiers | numbers),
        names=frozenset(_names(plain) | numbered),
        choice=choice,
        window=window,
        here=bool(_HERE.search(plain)),
        reading=kind is Kind.TEXT and bool(_READING.search(plain)),
    )


def _numbers(text: str) -> tuple[set[str], set[str]]:
    """Return the words with digits, and the stems of the words that say what is numbered, as in 'lab 3'.

    Not 'room': many a sign has the number alone.
    """
    numbers, numbered = set(), set()
    previous = ''
    for word in words(text):
        if any(character.isdigit() for character in word):
            numbers.add(word)
            if previous and previous not in STOP_WORDS and previous not in ('room', 'number', 'no'):
                numbered.add(stem(previous))
        previous = word
    return numbers, numbered


def _names(text: str) -> set[str]:
    """Return the stems of capitalised words, but not of one that begins the sentence."""
    found = set()
    for match in re.finditer(r"[^\W_][\w'-]*", text):
        word = match[0]
        # 'Dr. Ellis': a short word with a full stop ends no sentence.
        begins = re.search(r'(?:^|[?!:]|[^\W\d_]{4,}\.)\W*$', text[: match.start()]) is not None
        if word[0].isupper() and not (begins and not word.isupper()) and word.lower() not in STOP_WORDS:
            found |= {stem(w) for w in words(word) if w not in STOP_WORDS}
    return found
