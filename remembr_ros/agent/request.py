"""Reading a question by rules: what kind of answer it wants, of what, and which one."""

import re
from dataclasses import dataclass
from datetime import timezone, tzinfo

from remembr_ros.agent.answer import Kind
from remembr_ros.agent.grounding import Choice
from remembr_ros.agent.when import Window, parse_window
from remembr_ros.memory.ranking import STOP_WORDS, stem, words


@dataclass(frozen=True, slots=True)
class Relation:
    """Two things that a question puts in relation, in the asker's words.

    :param first: empty: whatever was there, as in 'What did you see after the lift?'
    :param span: the question is about what lies between them
    :param beside: the question is whether they are near each other
    """

    first: str
    second: str
    span: bool = False
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A question, understood.

    :param kind: what the answer shall consist of
    :param target: what is asked about, in the asker's words; empty: whatever was there
    :param identifiers: stems that evidence must have: of quoted text
    :param numbered: pairs of a number and the stem of what has it, as in 'lab 3'; empty where it is not said
    :param names: stems of capitalised words, of which evidence must have half
    :param choice: which one, if there are several
    :param window: the time asked about
    :param here: the question is about the place where the robot is
    :param reading: the question is about what is written
    :param whatever: the question is about whatever was there: it names no thing
    :param counting: the question is about how many there are
    :param clock: the question is about the time of day or the date, not about the memory
    :param relation: what the question puts in relation to each other, if it does
    """

    kind: Kind
    target: str
    identifiers: frozenset[str]
    numbered: frozenset[tuple[str, str]]
    names: frozenset[str]
    choice: Choice
    window: Window
    here: bool
    reading: bool
    whatever: bool
    counting: bool
    clock: bool
    relation: Relation | None


_ASKS = r'(?=(?:(?:at|in|for|on|about)\s+)?(?:where|when|what|which|who|how|if|whether)\b)'
_LIKE_TO = r"i(?:\s+want|\s+need|\s+would\s+like|'d\s+like)\s+(?:you\s+)?to"
_POLITE = re.compile(
    r'^\W*(?:(?:hey|hi|hello|ok|okay|please|robot|so|and|now|kindly)\b[\s,]*'
    rf'|(?:can|could|would|will)\s+you\s+(?!see\b)|{_LIKE_TO}\s+(?:know\s+)?|do\s+you\s+(?:know|remember)\s+{_ASKS}'
    rf'|(?:remember|recall|tell\s+(?:me|us)|show\s+(?:me|us))\s+{_ASKS})*',
    re.IGNORECASE,
)
_WISH = re.compile(rf'^\W*(?:please\W+)?{_LIKE_TO}\s+(?!know\b|see\b|hear\b|read\b|tell\b)', re.IGNORECASE)
_PLACES = r'(?:room|place|location|position|direction|corridor|floor|way)'
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf'^(?:{"|".join(patterns)})', re.IGNORECASE))
    for kind, patterns in (
        (
            Kind.TIME,
            (
                r'(?:since\s+|until\s+)?when\b',
                r'(?:at\s+|around\s+|about\s+)?(?:what|which)\s+time\b',
                r'what\s+(?:is|was)\s+the\s+time\b',
                r'how\s+(?:long|many\s+\w+)\s+ago\b',
                r'how\s+recently\b',
                r'how\s+(?:long|much\s+time|many\s+\w+)\s+(?:(?:has|have|is)\s+(?:it\s+)?(?:\w+\s+)?)?since\b',
                r'(?:on\s+)?(?:what|which)\s+(?:day|date)\b',
            ),
        ),
        (
            Kind.DURATION,
            (
                r'(?:for\s+)?how\s+long\b',
                r'(?:for\s+)?how\s+(?:much\s+time|many\s+(?:seconds|minutes|hours|days))\b(?!.*\bago\b)',
                r'what\s+(?:was|is)\s+the\s+duration\b',
            ),
        ),
        (
            Kind.POSITION,
            (
                r'where\b',
                r'(?:take|bring|lead|guide|drive|navigate|go|walk|move|get|head|return|come|escort)\b',
                r'(?:show\s+(?:me|us)|tell\s+(?:me|us)\s+the\s+way|find|locate)\b',
                r'how\s+(?:do|can|could|would|should)\s+(?:i|we|you)\s+(?:get|go|come)\b',
                r'how\s+far\b',
                rf'(?:in\s+|on\s+|at\s+)?(?:which|what)\s+{_PLACES}\b',
                r"what(?:'s|\s+is|\s+was)\s+the\s+(?:location|position|place|way)\b",
                r"i(?:\s+want|\s+need|\s+would\s+like|'d\s+like)\b",
                r"(?:i(?:'m|\s+am)\s+)?looking\s+for\b",
            ),
        ),
        (
            Kind.BINARY,
            (r'(?:is|are|was|were|did|do|does|have|has|had|can|could|will|would|should|any)\b',),
        ),
    )
)
_PHRASES = re.compile(
    r'^(?:take|bring|lead|guide|drive|navigate|walk|move|head|return|escort|show|tell|describe|locate)\b'
    rf'(?:\s+(?:me|us)\b)?(?:\s+back\b)?|\b(?:which|what)\s+{_PLACES}\b'
    # Where all memories are from, not a thing in one
    r'|\b(?:in|inside|within|of|on)\s+this\s+(?:building|house|place|area|floor)\b'
    r'|\bin\s+front\s+of\b|\b(?:close|next)\s+to\b|\blook(?:ed|s)?\s+like\b'
    + ''.join(
        rf'|\b(?:{"|".join(group.split())})\b'
        for group in (
            r"(?:where(?:abouts)?|when|what|which|who|how)(?:'s|'re)?",
            'is are was were did do does have has had been be am can could would want need like',
            'there seen see saw seeing spot spotted notice noticed observe observed pass passed',
            'encounter encountered go get come find found located location position way far',
            'closest nearest nearby farthest furthest last latest most recent recently first earliest',
            "still yet anywhere somewhere i'm",
            'ever already time times long ago much many before during while since minutes? hours? seconds?',
            'stay stayed spend spent remain remained remember know think happen happened',
            'read reads readable written writing sign signs say says saying text word words label labels',
            'visible called named titled labelled labeled marked',
            'look looked looking take takes took taken taking wait waited stood reach reached went visited',
            'here now current currently today yesterday tour me us you your i we it that robot please',
            'about any some anything something everything thing things and',
            'to at in on of for from by with the a an near beside behind opposite around inside',
            r'room(?=\s+\w*\d)',
        )
    )
    + r'|[?!.,;:"“”«»]',
    re.IGNORECASE,
)
_QUOTED = re.compile(r'["“”«»]([^"“”«»]+)["“”«»]|(?<!\w)\'([^\']+)\'(?!\w)')
_CHOICES = (
    (Choice.NEAREST, re.compile(r'\b(?:nearest|closest|nearby)\b', re.IGNORECASE)),
    (Choice.FARTHEST, re.compile(r'\b(?:farthest|furthest)\b', re.IGNORECASE)),
    (Choice.LATEST, re.compile(r'\b(?:last|latest|most\s+recent(?:ly)?|recently)\b', re.IGNORECASE)),
    (Choice.EARLIEST, re.compile(r'\b(?:first|earliest)\b', re.IGNORECASE)),
)
_NO_CHOICE = re.compile(r'\b(?:first|last)\s+(?:aid|floor|name|class)\b', re.IGNORECASE)
_HERE = re.compile(
    r'\b(?:here|(?:around|near|where)\s+(?:you|us|me|i)|at\s+this\s+place)\b(?!\s+\w)', re.IGNORECASE
)
_NOW = re.compile(r'\b(?:now|currently|am\s+i|are\s+(?:you|we)|do\s+you\s+see)\b', re.IGNORECASE)
_READING = re.compile(
    r'\b(?:read|reads|readable|written|writing|text|says?|signs?|labels?|words?)\b', re.IGNORECASE
)
_WHATEVER = re.compile(r'\b(?:see|saw|seen|read|signs?|happened|remember|\w*things?)\b', re.IGNORECASE)
_COUNTING = re.compile(r'^how\s+many\b', re.IGNORECASE)
_CLOCK = re.compile(
    r"^what(?:\s+time\s+is\s+it|(?:'s|\s+is)\s+the\s+(?:current\s+)?(?:time|date)|\s+(?:day|date)\s+is)\b",
    re.IGNORECASE,
)
_SPANS = (
    re.compile(r'\bbetween\b(?P<first>.+?)\band\b(?P<second>.+)', re.IGNORECASE),
    re.compile(r'\bfrom\b(?P<first>.+?)\b(?:to|until|till)\b(?P<second>.+)', re.IGNORECASE),
)
_FAR_FROM = re.compile(r'^how\s+far\b(?P<first>.+?)\bfrom\b(?P<second>.+)', re.IGNORECASE)
_ORDER = re.compile(r'^(?P<first>.*?)\b(?:before|after|until|till)\b(?P<second>.+)', re.IGNORECASE)
_BESIDE = re.compile(
    r'^(?P<first>.+?)\b(?:near|beside|behind|opposite|(?:close|next)\s+to|in\s+front\s+of|(?:left|right)\s+of)\b'
    r'(?P<second>.+)',
    re.IGNORECASE,
)
_TITLES = frozenset(('dr', 'mr', 'mrs', 'ms', 'prof', 'professor'))


def parse_request(text: str, now_ns: int, zone: tzinfo = timezone.utc) -> Request:
    """Return what a question asks for.

    :param now_ns: the asker's now, nanoseconds since the Unix epoch
    :param zone: the asker's time zone
    """
    window = parse_window(text, now_ns, zone)
    plain = _POLITE.sub('', window.rest, count=1).strip() or window.rest
    kind = next((kind for kind, pattern in _KINDS if pattern.search(plain)), Kind.TEXT)
    if kind is Kind.TEXT and _WISH.search(window.rest):
        kind = Kind.POSITION  # 'I want to sit down'
    quoted = [(a or b).strip() for a, b in _QUOTED.findall(plain)]
    unquoted = _QUOTED.sub(' ', plain)
    choosing = _NO_CHOICE.sub(' ', unquoted)
    choice = next((c for c, pattern in _CHOICES if pattern.search(choosing)), Choice.CITED_FIRST)
    target = ' '.join([*_target(unquoted).split(), *quoted])
    identifiers = {
        stem(w) for text in quoted for w in words(text) if w not in STOP_WORDS and not _has_digit(w)
    }
    numbered = _numbered(plain)
    names = {name for _, name in numbered if name not in ROOMS and name}
    return Request(
        kind=kind,
        target=target,
        identifiers=frozenset(identifiers),
        numbered=frozenset(numbered),
        names=frozenset(_names(plain) | names),
        choice=choice,
        window=window,
        here=bool(_HERE.search(plain) or (not target and _NOW.search(plain))),
        reading=kind is Kind.TEXT and bool(_READING.search(plain)),
        whatever=not target and kind in (Kind.TEXT, Kind.BINARY) and bool(_WHATEVER.search(plain)),
        counting=kind is Kind.TEXT and bool(_COUNTING.search(plain)),
        clock=not target and bool(_CLOCK.search(plain)),
        relation=_relation(plain, kind),
    )


ROOMS = frozenset(('room', 'office', 'number', 'no', 'door'))
"""What a room is called by some, while its sign has the number alone."""


def _numbered(text: str) -> set[tuple[str, str]]:
    """Return the words with digits, each with the stem of what it numbers, as in 'lab 3', or nothing."""
    found = set()
    previous = ''
    for word in words(text):
        if _has_digit(word):
            found.add((word, stem(previous)))
        previous = '' if word in STOP_WORDS or _has_digit(word) else word
    return found


def _relation(text: str, kind: Kind) -> Relation | None:
    """Return what a question puts in relation; words within quotation marks do not relate."""
    masked = _QUOTED.sub(lambda found: '_' * len(found[0]), text)

    def parts(pattern: re.Pattern[str]) -> tuple[str, str]:
        found = pattern.search(masked)
        if found is None:
            return '', ''
        first, second = (text[slice(*found.span(part))].strip(' ?!.,') for part in ('first', 'second'))
        return (first if words(_target(first)) else '', second if words(_target(second)) else '')

    for pattern in (*_SPANS, _FAR_FROM):
        first, second = parts(pattern)
        if first and second:
            return Relation(first, second, span=True)
    first, second = parts(_ORDER)
    if second:
        return Relation(first, second)
    first, second = parts(_BESIDE)
    if first and second and kind is Kind.BINARY:
        return Relation(first, second, beside=True)
    return None


def _target(text: str) -> str:
    """Return a question without the words that only ask."""
    shouted = text.upper() == text

    def keep(found: re.Match[str]) -> str:
        # 'the WAY OUT', 'the First Aid kit': a name
        word = found[0]
        name = word.isupper() if len(word) > 1 else False
        return word if name and not shouted else ' '

    return _PHRASES.sub(keep, text)


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


def _names(text: str) -> set[str]:
    """Return the stems of capitalised words, but not of one that begins the sentence."""
    found = set()
    for match in re.finditer(r"[^\W_][\w'-]*", text):
        word = match[0]
        # 'Dr. Ellis': a short word with a full stop ends no sentence.
        begins = re.search(r'(?:^|[?!:]|[^\W\d_]{4,}\.)\W*$', text[: match.start()]) is not None
        if word[0].isupper() and not (begins and not word.isupper()) and word.lower() not in STOP_WORDS:
            found |= {stem(w) for w in words(word) if w not in STOP_WORDS | _TITLES and not _has_digit(w)}
    return found
