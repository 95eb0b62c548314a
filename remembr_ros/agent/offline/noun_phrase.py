"""What a question is about as the asker said it, to say it back: 'a person with a dog was seen'."""

import re

from remembr_ros.agent.offline.other_words import is_purpose, things_for
from remembr_ros.agent.offline.question_terms import ADDED
from remembr_ros.memory.matching.terms import stem, words

_BEFORE = re.compile(
    r"(?:\b(?:an?|the|some|this|that|these|those|my|your|our|over|nearest|closest|\d+)\s+)*[\"“«']?$",
    re.IGNORECASE,
)
_AFTER = re.compile(r"[\"”»']|\s+(?:(?:something|it|them|things)\s+)?(?:away|down|off|out)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_SPEAKER = re.compile(
    r'\b(?:(?:that|which|who|whom|where|when|for|as|from)\s+)?(?:you|i|we|me|us|your|my|our|did|was|were|is|are)\b',
    re.IGNORECASE,
)
_MANY = frozenset('people men women children stairs both many several some'.split())


def noun_phrase(asked: str, thing: str, deed: str = '') -> str:
    """Return the noun phrase of a question, with its article and what is said of it.

    A place 'to throw something away' is one; of other deeds, as in 'When did you cross the street?', it is
    their words in quotation marks.

    :param asked: the part of the question that names the thing
    :param thing: its words without those that only ask; returned where they are not in one piece
    :param deed: the verb in it that says what somebody did with the thing; empty: there is none
    """
    named = set(words(thing))
    found = [word for word in _WORD.finditer(asked) if named.intersection(words(word[0]))]
    if not found:
        return thing
    start, end = found[0].start(), found[-1].end()
    if (speaker := _SPEAKER.search(asked, start, end)) is not None:
        end = speaker.start()
    before, after = _BEFORE.search(asked[:start]), _AFTER.match(asked, end)
    phrase = f'{before[0] if before else ""}{asked[start:end].strip()}{after[0] if after else ""}'
    first = words(phrase)[:1]
    if first and is_purpose(stem(first[0])) and first[0] not in words(things_for(first[0])):
        return f'a place to {phrase}'
    return f'what fits "{phrase}"' if deed and first == words(deed)[:1] else phrase or thing


def is_plural(phrase: str) -> bool:
    """Tell whether several are meant: 'two red chairs', 'people with dogs', not 'a bus with seats'."""
    head = words(ADDED.split(phrase, maxsplit=1)[0])
    if not head or head[0] in ('a', 'an', 'one', 'this', 'that'):
        return False
    return not _MANY.isdisjoint(head) or (
        head[-1].endswith('s') and not head[-1].endswith(('ss', 'us', 'is'))
    )
