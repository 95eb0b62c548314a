"""What a question is about as the asker said it, to say it back: 'a person with a dog was seen'."""

import re

from remembr_ros.agent.offline.other_words import is_purpose, things_for
from remembr_ros.memory.matching.terms import stem, words

_VERBS = (
    r'see|saw|seen|spot|spotted|find|found|pass|passed|notice|noticed|observe|observed|encounter|encountered'
    r'|visit|visited|meet|met|look|looked|go|went|come|came|reach|reached|remember|have|use|be|been|need|want|get|drive|walk'
)
_LEAD = re.compile(
    r'^\W*(?:(?:(?:at|in|on)\s+)?(?:what|which)\s+(?:time|day|date|place|room)|where(?:abouts)?|when|what|which|who|how'
    r'|(?:many|much|long|often|far|times?|ago)\b'
    r"|is|are|was|were|am|did|do|does|have|has|had|can|could|will|would|should|may|might|'s|'re"
    r'|you|i|we|us|me|it|they|there|ever|already|last|first|recently|any(?=\s+of)|please|robot|not|the\s+(?:last|first)\s+time'
    r'|take|bring|lead|guide|drive|navigate|show|locate|point|direct|tell|describe|visit|move|return|head|escort|back'
    r'|the\s+(?:way|place|location|position)(?=\s+(?:to|of|where))|(?:some|any)where'
    rf'|to(?!\s*\Z)|of|at|in|on|inside|looking|any|for(?=\s+(?:a|an|the)\b)|(?:{_VERBS}))\b\s*',
    re.IGNORECASE,
)
_TAIL = re.compile(
    r'\s*(?:\b(?:here|there|today|yesterday|now|please|before|lately|recently|last|first|for\s+the\s+(?:first|last)\s+time'
    r'|in\s+this\s+(?:building|house|place|area|floor)|(?:did|do|have|had|can|are|were|is|was)\s+(?:you|i|we|there|it)\b.*'
    rf'|(?:{_VERBS}|located|visible|around|in\s+total|is|are|was|were))\s*|[?\uff1f!.,;:\s])+$',
    re.IGNORECASE,
)
_OF_IT = re.compile(
    r'\b(?:with|in|on|at|of|near|by|from|for|that|who|which|wearing|holding|carrying|\w+ing)\b'
)
_SPEAKER = re.compile(
    r'\b(?:(?:that|which|who|whom|where|when|for|as|from)\s+)?'
    r'(?:you|i|we|me|us|your|my|our|did|do|does|was|were|is|are|have|has)\b',
    re.IGNORECASE,
)
_MANY = frozenset('people men women children stairs both many several some'.split())


def noun_phrase(asked: str, thing: str, deed: str = '') -> str:
    """Return the noun phrase of a question, with its article and what is said of it.

    A place 'to throw something away' is one; of other deeds, as in 'When did you cross the street?', it is
    their words in quotation marks.

    :param asked: the part of the question that names the thing
    :param thing: its words without those that only ask; returned where they are not one phrase
    :param deed: the verb in it that says what somebody did with the thing; empty: there is none
    """
    phrase = asked
    while (shorter := _LEAD.sub('', phrase, count=1)) != phrase:
        phrase = shorter
    phrase = _TAIL.sub('', phrase)
    if (speaker := _SPEAKER.search(phrase)) is not None:
        phrase = _TAIL.sub('', phrase[: speaker.start()])
    if set(words(thing)).isdisjoint(words(phrase)):
        return thing
    first = words(phrase)[0]
    if is_purpose(stem(first)) and first not in words(things_for(first)):
        return f'a place to {phrase}'
    return f'what fits "{phrase}"' if deed and words(deed)[0] == first else phrase


def is_plural(phrase: str) -> bool:
    """Tell whether several are meant: 'two red chairs', 'people with dogs', not 'a bus with seats'."""
    head = words(_OF_IT.split(phrase, maxsplit=1)[0])
    if not head or head[0] in ('a', 'an', 'one', 'this', 'that'):
        return False
    return not _MANY.isdisjoint(head) or (
        head[-1].endswith('s') and not head[-1].endswith(('ss', 'us', 'is'))
    )
