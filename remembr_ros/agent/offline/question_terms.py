"""What a question is about: its target, names and numbers, and how to say it back."""

import re

from remembr_ros.agent.model.other_words import is_purpose, things_for
from remembr_ros.agent.model.quoting import any_case, quotations, unquoted
from remembr_ros.agent.offline.word_classes import classes_of, word_class
from remembr_ros.memory.matching.terms import STOP_WORDS, stem, words

PLACES = r'(?:room|place|location|position|corridor|floor|way)'

_KEPT = (
    r'\b(?:(?:trash|garbage|rubbish|litter|recycling|waste|soda|watering)\s+cans?'
    r'|(?:stop|street|traffic|road|yield|parking|warning)\s+signs?|text\s*books?|key\s*words?'
    r'|(?:first|last)\s+(?:aid|floor|name|class)|[^\W\d_]+(?:-[^\W\d_]+)+)\b'
)
"""Things whose names have a word that elsewhere only asks."""

ASKING = STOP_WORDS | word_class('asking')
"""Words that only ask: those of which all questions are made, and those of what is remembered."""

_PHRASES = any_case(
    rf'(?P<kept>{_KEPT})|'
    r'^(?:take|bring|lead|guide|drive|navigate|walk|move|head|return|escort|show|tell|describe|locate|point|list|name|enumerate'
    rf'|proceed|meet|wait for)\b(?: (?:me|us)\b)?(?: back\b)?|\b(?:which|what) (?:{PLACES}|direction)\b'
    # Where all memories are from, not a thing in one
    r'|\bthis (?:building|house|place|area|floor)\b|\bin front of\b|\bclose to\b|\blooks like\b|\bin total\b'
    r'|\b(?:you|we|i) (?:stop|stopped|park|parked|standing|walking|driving)\b'
    r'|\b(?:how|most) (?:often|frequently)\b'
    rf'|\b(?:{"|".join(ASKING)})(?:\'s|\'re|\'m)?\b|\broom(?= \w*\d)'
    r'|[?\uff1f!.,;:"“”«»]'
)
_COUNT = re.compile(r'(?<![\w-])(?P<count>\d+)(?:-(?=[a-z]{3})|\s+(?:\w+\s+)?(?P<what>[a-z]{3,}s)\b)')
"""'5 tables', 'an 18-wheeler'."""
ADDED = any_case(
    r'\b(?:with|without|in|inside|into|on|at|of|for|from|that|which|who|whose|where|when|while|near|beside'
    r'|behind|wearing|holding|carrying|having|sitting|standing|walking|riding|driving|waiting|trying|saying'
    r'|chatting|talking|working|playing|opposite|around|by|next|close|to)\b'
)
_SPEAKER = r'(?:you|we|i|they|he|she|who|(?:any|some|every)(?:one|body)|the\s+(?:robot|nurse|man|woman))'
_NAMED = r'(?-i:(?:M[rs]{1,2}\.?\s+)?[A-Z][a-z]+)'
_ADVERB = r'(?:ever|never|also|just|already|still|first|last|recently|really|actually)'
_DEED = any_case(
    rf"(?:^\W*{_SPEAKER}|\b(?P<aux>did|do|does|have|has|had) (?P<who>{_SPEAKER}|{_NAMED}))(?:'ve|'d)? "
    rf'(?:{_ADVERB} )*(?:(?:have|has|had|was|were|been|are) )*(?P<verb>[a-z]+)'
    r'(?P<particle> (?:up|down|off|away|out|behind|back)\b)?'
)
_LEFT_BEHIND = any_case(r'^where\b.*?\b(?P<verb>[a-z]+ed|left|put|kept|taken|brought)\s*[?.!]*$')
_WHERE = any_case(r"\bwhere'?s\b|^\W*(?:were|wher|whre) is\b")
_HOW_FAR = any_case(
    r'\bhow much(?= (?:did|have|had|do) (?:you|we) (?:drive|driven|drove|travel(?:led)?|move[d]?)\b)'
)
_SAID = {
    said.replace('_', ' '): plain.replace('_', ' ')
    for plain, listed in classes_of('say').items()
    for said in listed
}
_OTHERWISE = any_case(rf'\b(?:{"|".join(sorted(_SAID, key=len, reverse=True))})\b(?= \w|\W*$)')
_CUT = {'ca': 'can', 'wo': 'will', 'sha': 'shall'}
_NOT = any_case(r"\b(?P<verb>[a-z]+)n't\b(?P<who> (?:you|we|i|it|they|there|the robot)\b)?")
_WHO, _AUX = '(?P<who>you|we|it|there)', '(?P<aux>did|have|had|were|was|is|are)'
_PLAINLY = tuple(
    (any_case(said), plain)
    for said, plain in (
        (r"\b(\w+)'ve\b", r'\1 have'),
        (r"^(\W*(?:what|who|how))'s\b(?! been\b)", r'\1 is'),
        (r'^(\W*which \w+) (?:are|were|is) not (?:in|on|at) (.+?)(?=\W*$)', r'\1 are there except \2'),
        (r'^(\W*)ever (?=\w+(?:n|ed|d|t)\b)', r'\1have you ever '),
        (r"\bcouldn't (you|we)\b", r'were \1 not able to'),
        (r'\bcould (you|we) not\b', r'were \1 not able to'),
        (  # 'Isn't there a lift?' asks whether there is one.
            r'^(\W*(?:(?:and|but|so) )?(?:is|are|was|were|did|does|has|have|had|could|would|should'
            r"|do(?=n't (?:you|we)\b)))n't\b",
            r'\1',
        ),
        (
            rf"^{_WHO} {_AUX}(?:n't| not)? (?P<rest>.+), (?P=aux) (?P=who)\W*$",
            r'\g<aux> \g<who> \g<rest>?',
        ),
        (
            rf"^{_WHO} (?P<rest>.+), {_AUX}n't (?P=who)\W*$",
            r'\g<aux> \g<who> \g<rest>?',
        ),
        (r'\b(?:that|which)(?: (?:is|are|was|were))? neither (.+?) nor (.+?)(?=\W*$)', r'except \1 and \2'),
        (
            r"\b(?:that|which)(?:'s| is| are| was| were)(?:n't| not) (?:in|on|at|under) (.+?)(?=\W*$)",
            r'except \1',
        ),
        (
            r"\b(did|was|were|has|had)(?:n't| not) ((?:the|an?|your) \w+(?: \w+)?) (?=fail|succeed|work)",
            r'\1 \2 not ',
        ),
    )
)
"""Other ways to say the same, and what is read in their place."""
_WORD_OF_NAME = re.compile(r"[^\W_][\w'-]*")
_FOUR_LETTERS = re.compile(r'[^\W\d_]{4}')
TITLES = frozenset(('dr', 'mr', 'mrs', 'ms', 'prof', 'professor'))
_NEIGHBOUR = 100  # Characters; no word is longer


def written_out(text: str) -> str:
    """Return a question as it is written with care, in the words that are usual, but for its quotations."""
    plain = _HOW_FAR.sub('how far', _WHERE.sub('where is', text.replace('\u2019', "'")))
    if quotations(text):
        return plain
    plain = _OTHERWISE.sub(lambda said: _SAID[' '.join(said[0].lower().split())], plain)
    for pattern, usual in _PLAINLY:
        plain = pattern.sub(usual, plain)
    return _NOT.sub(
        lambda found: _CUT.get(found['verb'].lower(), found['verb']) + (found['who'] or '') + ' not', plain
    )


def target_of(text: str, *, rooms: bool = False) -> str:
    """Return a question without the words that only ask.

    :param rooms: keep the word of 'room 117', which a sign need not have, but a person says
    """
    shouted = text.upper() == text

    def keep(found: re.Match[str]) -> str:
        # 'the WAY OUT': a name
        word = found[0]
        name = word.isupper() if len(word) > 1 else False
        named = found['kept'] or (name and not shouted) or (rooms and word.lower() == 'room')
        return word if named else ' '

    return ' '.join(_PHRASES.sub(keep, without_counts(text)).split())


def said_in(text: str) -> frozenset[str]:
    """Return the words of a text, and each two and three in a row, as in 'how many times'."""
    spoken = words(text)
    return frozenset(' '.join(spoken[i : i + n]) for n in (1, 2, 3) for i in range(len(spoken)))


def phrase_of(text: str) -> list[str]:
    """Return the words that say what a question is about: tall person, of 'a tall person with a red bag'.

    :return: the noun last; empty: it names nothing
    """
    parts = ADDED.split(unquoted(without_counts(text)))
    named = ([word for word in words(target_of(part)) if word not in STOP_WORDS] for part in parts)
    return next(filter(None, named), [])


def deed_of(text: str) -> str:
    """Return the verb that says what somebody did with the thing, as in 'Where did you leave the parcel?'.

    Of 'Where can I sit?' and 'How do I leave?' the verb says what for, which is all that is asked for.

    :return: with its particle, as it is written; empty: there is none, or nothing else
    """
    found = _DEED.search(text) or _LEFT_BEHIND.search(text)
    if found is None:
        return ''
    groups = found.groupdict()
    if f'{groups.get("aux")} {groups.get("who")}'.lower() in ('do i', 'do we'):
        return ''
    verb = found['verb'] + (groups.get('particle') or '')
    return verb if any(word not in STOP_WORDS for word in words(target_of(without_deed(text, verb)))) else ''


def without_deed(text: str, deed: str) -> str:
    """Return a question without the verb that :func:`deed_of` found in it."""
    return re.sub(rf'\b{re.escape(deed)}\b', ' ', text, count=1) if deed else text


def without_counts(text: str) -> str:
    """Return a text without numbers that only count: '5 tables', not 'room 5'."""
    return _COUNT.sub(
        lambda found: f' {found[0][len(found["count"]) :]}' if _counts(text, found) else found[0], text
    )


def numbered(text: str) -> set[tuple[str, str]]:
    """Return the words with digits, each with the stem of what it numbers, as in 'lab 3', or nothing."""
    found = set()
    previous = ''
    for word in words(without_counts(text)):
        if has_digit(word):
            found.add((word, stem(previous)))
        previous = '' if word in STOP_WORDS or has_digit(word) else word
    return found


def names(text: str) -> set[str]:
    """Return the stems of capitalised words, but not of one that begins the sentence."""
    found = set()
    end = 0
    for match in _WORD_OF_NAME.finditer(text):
        word = match[0]
        begins = _ends_sentence(text, end, match.start())
        end = match.end()
        if word[0].isupper() and not (begins and not word.isupper()) and word.lower() not in STOP_WORDS:
            found |= {stem(w) for w in words(word) if w not in STOP_WORDS | TITLES and not has_digit(w)}
    return found


def _ends_sentence(text: str, end: int, start: int) -> bool:
    """Tell whether what is between the end of a word and the start of the next one ends a sentence."""
    marks = text[end:start].rpartition('_')[2]
    begin = start - len(marks)
    # 'Dr. Ellis': a short word with a full stop ends no sentence.
    stopped = marks.startswith('.') and _FOUR_LETTERS.fullmatch(text[max(begin - 4, 0) : begin]) is not None
    return begin == 0 or stopped or any(mark in marks for mark in '?!:')


def has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


def _counts(text: str, found: re.Match[str]) -> bool:
    # Its neighbour is all that is looked at: in a long text there may be many numbers.
    start = max(found.start() - _NEIGHBOUR, 0)
    before = words(text[start : found.start()])
    return not before or before[-1] in STOP_WORDS or before[-1] in ('least', 'most', 'than', 'exactly')


_BEFORE = any_case(
    r"(?:\b(?:an?|the|some|this|that|these|those|my|your|our|over|nearest|closest|\d+) )*[\"“«']?$"
)
_AFTER = any_case(r"[\"”»']| (?:(?:something|it|them|things) )?(?:away|down|off|out)\b")
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_OF_SPEAKER = any_case(
    r'\b(?:(?:that|which|who|whom|where|when|for|as|from) )?(?:you|i|we|me|us|your|my|our|did|was'
    r'|were|is|are)\b'
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
    if (speaker := _OF_SPEAKER.search(asked, start, end)) is not None:
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
