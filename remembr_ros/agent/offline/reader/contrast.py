"""Reads what a question compares, tells apart by group, leaves out or asks for in vain."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum

from remembr_ros.agent.model.english import Tree, Word, parse
from remembr_ros.agent.model.quoting import any_case, cardinal, ordinal
from remembr_ros.agent.offline.word_classes import classes_of
from remembr_ros.agent.times.time_expression import AMOUNTS, seconds_in
from remembr_ros.memory.matching.terms import words


class ComparedBy(Enum):
    """By what occurrences are compared: how many there are, when the first or the last was, how long they
    took, how far away they are, how large things are, which number a sign has."""

    COUNT = 'count'
    FIRST = 'first'
    LAST = 'last'
    SECONDS = 'seconds'
    METRES = 'metres'
    AWAY = 'away'
    SIZE = 'size'
    NUMBER = 'number'


class Among(Enum):
    """What is told of several groups: of each, of the one that has most or least, of those without any, or of
    those that reach a limit."""

    EACH = 'each'
    BEST = 'best'
    NONE = 'none'
    LIMIT = 'limit'


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a question compares.

    :param sides: what is compared, each as a question of its own, such as 'did you water the fern'; of groups
        and of a limit one
    :param names: what each side is called
    :param measure: by what
    :param most: whoever has most of that is asked for, or is said to be the first side; else least
    :param group: by what occurrences are told apart: a field of deeds, 'day' or 'each', which is by
        themselves; empty: not at all
    :param grouped: the noun for that, in the asker's words
    :param among: which groups are told
    :param least: that many, or so long [s], at least
    :param fewest: the same at most; of two sides how many times as much the first one has
    :param nth: 2: the second most
    :param without: what is left out
    :param anchor: how far from what; empty: from here
    :param yes: yes or no is asked for
    :param said: words of the question that say all this
    """

    sides: tuple[str, ...]
    names: tuple[str, ...] = ()
    measure: ComparedBy = ComparedBy.COUNT
    most: bool = True
    group: str = ''
    grouped: str = ''
    among: Among = Among.BEST
    least: float = 0.0
    fewest: float = float('inf')
    nth: int = 1
    without: tuple[str, ...] = ()
    anchor: str = ''
    yes: bool = False
    said: tuple[str, ...] = ()


_MEASURES = {
    word: (measure, most)
    for measure, most, said in (
        (ComparedBy.COUNT, True, 'more most busiest'),
        (ComparedBy.COUNT, False, 'less fewer fewest least rarest quietest'),
        (ComparedBy.SECONDS, True, 'longer longest slower slowest'),
        (ComparedBy.SECONDS, False, 'shorter shortest quicker quickest faster fastest'),
        (ComparedBy.FIRST, False, 'first earlier earliest sooner'),
        (ComparedBy.LAST, True, 'last later latest'),
        (ComparedBy.AWAY, False, 'nearer closer nearest closest'),
        (ComparedBy.AWAY, True, 'farther further farthest furthest'),
        (ComparedBy.SIZE, True, 'larger bigger largest biggest'),
        (ComparedBy.SIZE, False, 'smaller smallest'),
        (ComparedBy.NUMBER, True, 'highest'),
        (ComparedBy.NUMBER, False, 'lowest'),
    )
    for word in said.split()
}
"""What a word compares by, and whether that one is meant which has more of it."""
_GROUPS = {word: group for group, listed in classes_of('group').items() for word in listed}
"""The field by which a noun tells deeds apart."""
_OF_TIME_OR_PLACE = (ComparedBy.FIRST, ComparedBy.LAST, ComparedBy.AWAY)
_SUPERLATIVES = [word for word in _MEASURES if word.endswith(('est', 'most')) or word == 'least']
_SUPERLATIVE = '|'.join(word for word in _SUPERLATIVES if _MEASURES[word][0] not in _OF_TIME_OR_PLACE)
_COMPARATIVE = '|'.join(word for word in _MEASURES if word.endswith('er') or word in ('more', 'less'))
_COUNTED = r'(?P<counted>(?: (?:(?:of (?:the|your) )?time|often|frequently|times)\b)?)'
_BEST = any_case(rf'\b(?:the )?(?:(?P<nth>second|third) )?(?P<by>{_SUPERLATIVE}){_COUNTED}(?=\W|$)')
_BY = any_case(rf'\b(?:the )?(?P<by>{"|".join(_SUPERLATIVES)}|{_COMPARATIVE}|first|last){_COUNTED}(?=\W|$)')
_MORE = any_case(rf'\b(?P<by>{_COMPARATIVE}){_COUNTED}(?P<of>(?: .*?)?) than (?P<than>.+?)\W*$')
_WITHOUT = any_case(
    r'(?:,? ?\bexcept(?: for| from)?|(?:(?<=thing)|(?<=body)|(?<=where)|(?<=all)|(?<=s))\sbut)'
    r' (?P<what>[^,?]+?)'
    r'(?=[,?!.]|$| (?:have|has|had|did|do|does|was|were|is|are|which|that|in|on|at|to|from|into)\b),?'
)
_EACH = any_case(
    r'\b(?:(?:in|on|at|for|to|from|of|during) )?(?:each|every|per|by)(?: single)? (?P<noun>\w+)'
    r'|\bdaily\b'
)
_WHICH = any_case(
    r'^\W*(?:(?:(?:in|on|at|to|from|into|onto|for|during|of) )?(?P<wh>what|which|how many)'
    r'(?: of (?:your|all|the))?|(?:was|were|is|are) there(?: (?:ever|any|an?|one|some))*)'
    r' (?!(?:did|do|does|is|are|was|were|has|have|had|can|could|one|of)\b)(?P<noun>\w+)'
    r'(?:(?: (?:(?:in|on|at) which|when|where|that|which))?(?= \w))'
)
_NEVER = any_case(r'\b(?:never|not|no|without(?: (?:a|an|any))?(?! \w+ing)|neither)\b')
_LIMIT = any_case(
    rf'\b(?:for )?(?P<how>(?:more|longer|less|fewer|shorter) than|at least|at most|over|under|exactly)'
    rf' (?:(?P<time>{AMOUNTS})|(?P<number>\w+)(?P<times> times?)?)\b'
)
_NEAR_TO = any_case(
    r'\b(?:the )?(?P<by>nearest|closest|farthest|furthest)(?: away)? (?:to|from) (?P<anchor>.+)'
)
_NEITHER = any_case(r'\bneither (?P<one>.+?) n?or (?P<other>.+?)(?= (?:in|on|at)\b|\W*$)')
_AT_END = any_case(r'^(?!.*\b(?:you|we|i)\b)(?P<side>.*)\b(?:the )?(?P<by>first|last|earliest|latest)$')
_TO = any_case(r'\b(?:away )?(?:to|from) (?P<anchor>[^\0]+?)\W*$')
_HERE = ('you', 'me', 'us', 'here')
_LISTED = any_case(r'^(?P<frame>[^,:;]+?) ?[,:;\u2013-] ?(?P<list>(?!or\b|and\b)[^:;]+? or .+)$')
_OF_LIST = any_case(
    r'^\W*(?:of|between|among) (?P<list>.+? (?:and|or) .+?), (?P<frame>(?:which|what|who)\b.*)$'
)
_OF_THESE = r'(?P<frame>(?:which|what) of (?:these|those|them|the following)\b'
_AMONG = (
    any_case(rf'^{_OF_THESE}[^:]*?) ?[:\u2013\u2014-] ?(?P<list>.+ (?:and|or) .+)$'),
    any_case(rf'^(?P<list>.+ (?:and|or) .+?) ?[,:\u2013\u2014-] ?{_OF_THESE}.*)$'),
)
_IN_WHICH = (
    (any_case(r'^\W*where(?= (?:did|have) you (?:put|place|leave) .*\bmost\b)'), 'on which furniture'),
    (any_case(r'^\W*where(?= (?:did|were|have|had) .*\b(?:most|least|longest|shortest)\b)'), 'in which room'),
    (any_case(r'^\W*when(?= did .*\bthe (?:most|fewest|least)\b)'), 'on which day'),
    (any_case(r'^\W*(?:was|is) (.+?) busier than (.+)$'), r'did you do more on \1 than on \2'),
    (any_case(r'^\W*(?:was|is) (.+?) quieter than (.+)$'), r'did you do fewer on \1 than on \2'),
    (
        any_case(r'^\W*what is the ((?:second |third )?(?:most|least)) (?:often )?(\w+ed) (\w+)$'),
        r'which \3 did you \2 \1',
    ),
)
_ENDED = r'(?:fail\w*|succeed\w*|work(?:ed)?(?! in)|(?:go|went|gone) (?:wrong|well))'
_NOT_ENDED = any_case(rf'\bnot {_ENDED}')
_DEEDS_ENDED = any_case(
    r'^\W*(?:how many|which|what) (?:of (?:your|the) )?(?:deeds|tasks|jobs|actions|things)\b.*\b'
    rf'{_ENDED}\b|^\W*how (?:often|many times) (?:did|has|have) (?!you\b|we\b|i\b|the robot\b)'
)
_AS = any_case(
    r'\b(?P<least>at least )?(?:(?:(?P<once>twice|thrice)|(?P<many>\w+) times) )?as '
    r'(?P<by>many|much|often|frequently|long|far)\b(?: times)?(?P<of>(?: .*?)?) as (?P<than>.+?)\W*$'
)
_ASKED_AS = dict.fromkeys(('many', 'much', 'often', 'frequently'), ComparedBy.COUNT)
_ASKED_AS |= {'long': ComparedBy.SECONDS, 'far': ComparedBy.AWAY}
_PRONOUN = any_case(r'\b(?:it|them)\b')
_TIMES = {'once': 1, 'twice': 2, 'thrice': 3}
_ASKED = {
    ComparedBy.SECONDS: any_case(r'\bhow (?:long|much time)\b'),
    ComparedBy.METRES: any_case(r'\bhow (?:far|many (?:met|kilomet)\w+)\b'),
}
_DRIVEN = any_case(r'\b(?:you|we|to) (?:drive|drove|travel(?:led)?)\b|\b(?:driven|distance)\b')
_NUMBER, _HAVE = any_case(r'\bnumbers?\b'), any_case(r'^ (?:have|has|had|contain)\b')
_CAME = any_case(r'^ (?:came|come) out of\b')
_GOT = any_case(r'^ (?:got|gets?|received?)\b(?! \w+ed\b)')
_SAW = any_case(
    r'^ (?:saw|seen|see|had|has|have|with)(?= (?:the )?\w+ (?:\w+ )?'
    r'(?:fail|problem|trouble|error|deed|task|drive|stop|turn)\w*)'
)
_WHAT_DID = any_case(r'^\W*(?:what|who) (?=(?:did|have|had|do) (?:you|we)\b.* (?:most|least|fewest)\b)')
_LARGEST = any_case(r"^\W*what(?:['\u2019]s| is| was) the (?P<by>largest|biggest|smallest) (?P<noun>\w+)$")
_PASSED = any_case(r'^ did (?:you|we) (?:see|(?:go|drive|come|walk|get)? ?(?:past|by)|pass(?: by)?)$')
_PLACE_OR_TIME = any_case(r'^\W*(?:where|when)\b')
_TELLING = any_case(r'^\W*(?:how|what|which|list|count|show|tell|give|number)\b')
_QUESTION = any_case(r'^\W*(?:what|which|who)(?: of (?:the|these|those|your)(?: two)?| one)?\b(?: of them)?')
_YES = any_case(r'^\W*(?:more|fewer|less|is|are|was|were|did|do|does|has|have|had)\b')
_PREPOSITION = any_case(r'^(?:in|on|at|to|from|into|onto|for|with|by|near|of) ')
_ORDER = any_case(
    r'^(?P<first>.+?) (?P<by>before|after)(?P<either> or (?:before|after))?'
    r' (?P<second>(?!(?:or|that|this|it|noon|midnight)\b).+?)\W*$'
)


def read_contrast(text: str) -> Contrast | None:
    """Return what a question compares, groups or leaves out; None: nothing.

    :param text: without its words of time
    """
    plain, without, said = ' '.join(text.split()).strip(' ?!.'), tuple[str, ...](), list[str]()
    plain = re.sub(r'(?i)(?<!to)(?<!from)(?<!is)(?<!was) (?:in |around )?here$', '', plain)
    if found := _WITHOUT.search(plain):
        without = tuple(part for part in re.split(r',| and | or ', found['what']) if part.strip())
        plain = re.sub(r'\belse\b', '', f'{plain[: found.start()]} {plain[found.end() :]}')
        said, plain = ['else', *words(found[0])], ' '.join(plain.split())
    for pattern, which in _IN_WHICH:
        plain = pattern.sub(which, plain)
    yes = _YES.match(plain) is not None
    read = (
        _either(plain) or _limited(plain) or _than(plain) or _ordered(plain) or _each(plain) or _which(plain)
    )
    if read is None and (without or _NOT_ENDED.search(plain) or _DEEDS_ENDED.match(plain)):
        group = '' if re.match(r'(?i)\W*how (?:many|often)\b', plain) else 'each'
        read = Contrast((plain,), group=group, among=Among.EACH if group else Among.LIMIT)
    if read is None:
        return None
    left = Counter(words(' '.join(read.sides)))
    said += [word for word in words(plain) if word not in left]
    yes = yes and not (read.names and ' or ' in plain)
    return replace(read, without=without, yes=yes, said=tuple(said))


def _limited(text: str) -> Contrast | None:
    """Read 'more than twice', 'at least three', 'longer than two minutes'."""
    found = _LIMIT.search(text)
    if found is None or _PLACE_OR_TIME.match(text) or _AS.search(text):
        return None
    spoken = (found['number'] or '').lower()
    number = 1 if spoken == 'a' and found['times'] else _TIMES.get(spoken) or cardinal(spoken)
    if not (number or found['time']):
        return None
    how, amount = found['how'].lower().removesuffix(' than'), float(number or seconds_in(found['time']))
    step = 1.0 if number else 0.0
    above, below = how in ('more', 'longer', 'over'), how in ('less', 'fewer', 'shorter', 'under')
    least = amount + step if above else amount if how in ('at least', 'exactly') else 0.0
    fewest = amount - step if below else amount if how in ('at most', 'exactly') else float('inf')
    measure = ComparedBy.COUNT if number else ComparedBy.SECONDS
    which = _WHICH.match(text)
    noun = which['noun'].lower() if which else ''
    group = _GROUPS.get(noun, 'object') if noun else ''
    rest = f'{text[: found.start()]} {text[found.end() :]}'
    if measure is ComparedBy.SECONDS and group not in ('place', 'day'):
        group = 'each'
    elif which:
        rest = _received(rest[which.end() :])
    return Contrast((_plain(rest),), (), measure, True, group, noun, Among.LIMIT, least, fewest)


def _measured(found: re.Match[str], text: str) -> tuple[ComparedBy, bool]:
    """Return by what a word compares, and whether more of that is meant."""
    measure, most = _MEASURES[found['by'].lower()]
    if measure is ComparedBy.COUNT and found['counted'].lower().endswith('time'):
        return ComparedBy.SECONDS, most
    driven = measure in (ComparedBy.COUNT, ComparedBy.AWAY) and not found['counted'] and _DRIVEN.search(text)
    return ComparedBy.METRES if driven else measure, most


def _anchor(measure: ComparedBy, text: str) -> tuple[str, str]:
    """Return a text without 'to the door', from which distances are, and that; empty: they are from here."""
    to = _TO.search(text) if measure is ComparedBy.AWAY else None
    return (text[: to.start()], '' if to['anchor'] in _HERE else to['anchor']) if to else (text, '')


def _than(text: str) -> Contrast | None:
    """Read 'more X than Y', 'longer than Y', 'nearer to Z than Y'."""
    found, exactly = _MORE.search(text) or _AS.search(text), float('inf')
    if found is None:
        return None
    least = 0.0
    if found.re is _AS:
        measure, most = _ASKED_AS[found['by'].lower()], True
        least = float(
            cardinal((found['many'] or '').lower()) or _TIMES.get((found['once'] or 'once').lower(), 1)
        )
        exactly = least if least == 1.0 and not found['least'] else exactly
    else:
        measure, most = _measured(found, text)
    before, than = (
        text[: found.start()].strip(),
        re.sub(r'(?i) (?:is|are|was|were|did|does)$', '', found['than']),
    )
    of, anchor = _anchor(measure, found['of'].strip())
    tree = parse(text)
    if pronoun := _PRONOUN.search(than):
        than = f'{than[: pronoun.start()]}{thing_before(tree, found.start())}{than[pronoun.end() :]}'
    start, whole = _PREPOSITION.match(than), f'{before} {of}'.strip()
    if re.match(r'(?i)(?:you|did you) ', than):
        parts, frames = (of or before, than), (whole, f'did {than.removeprefix("did ")}')
    elif start and (at := whole.lower().rfind(f' {start[0].lower()}')) >= 0:
        parts, frames = (whole[at + 1 :], than), (whole, f'{whole[:at]} {than}')
    elif of:
        (one, tail), (other, rest) = _phrase_of(of), _phrase_of(than)
        parts = (one, other)
        frames = (f'{before} {one}{tail or rest}', f'{before} {other}{rest or tail}')
    else:
        turn = re.search(r'\b(?:left|right)\b', before) if than in ('left', 'right') else None
        doing = [w for w in tree if w.tag == 'VBG' and w.start < found.start() and w.dep != 'advcl']
        first = turn[0] if turn else thing_before(tree, found.start())
        if doing and parse(than).words[0].tag == 'VBG':  # 'Did picking it take longer than putting it?'
            said = [w for w in tree.below(doing[0]) if doing[0].index <= w.index and w.start < found.start()]
            said = [w for w in said if w.lemma not in ('take', 'last')]
            first = text[said[0].start : said[-1].start + len(said[-1].text)]
        if not first:
            return None
        parts, frames = (first, than), (before, before.replace(first, than, 1))
    names = tuple(map(_name, parts))
    return Contrast(frames, names, measure, most, least=least, fewest=exactly, anchor=anchor)


def _phrase_of(text: str) -> tuple[str, str]:
    """Return the noun phrase that a text begins with, and the rest: 'plates', ' on the table'."""
    tree = parse(text)
    first = next(iter(tree), None)
    if first is None or first.tag.startswith('VB') or first.pos == 'ADP':
        return text, ''
    end = _end_of_phrase(tree, first)
    return (text, '') if re.match(r' (?:and|or)\b', text[end:]) else (text[:end], text[end:])


def thing_before(tree: Tree, end: int) -> str:
    """Return the noun phrase that a question is about, of those before a position in it; empty: none."""
    before = [word for word in tree if word.start < end]
    deps = ('dobj', 'pobj', 'attr', 'nsubj', 'nsubjpass')
    nouns = [
        word for dep in deps for word in before if word.dep == dep and word.low not in ('you', 'we', 'i')
    ]
    if not nouns:  # the model takes 'the sink nearer' for one noun phrase
        nouns = [word for word in before if word.pos in ('NOUN', 'PROPN')][-1:]
    return _phrase(tree, nouns[0], end) if nouns else ''


def _phrase(tree: Tree, noun: Word, end: int) -> str:
    """Return a noun with what stands before it, and its number."""
    numbers = [w for w in tree.words[noun.index + 1 :][:1] if w.pos == 'NUM' and w.start < end]
    last = (numbers or [noun])[0]
    left = [w for w in tree.below(noun) if w.index <= noun.index and w.start < end]
    text = ''
    for word in tree.words[left[0].index : last.index + 1]:
        text = text.ljust(word.start - left[0].start) + word.text
    return text


def _either(text: str) -> Contrast | None:
    """Read 'what did you see first, X or Y', 'were you longer in X or in Y', 'of X and Y which is nearer'."""
    by = _BY.search(text)
    if by is None:
        return _among(text)
    measure, most = _measured(by, text)
    plain = ' '.join(f'{text[: by.start()]} {text[by.end() :]}'.split()).strip(' ,')
    listed = _OF_LIST.match(plain) or _LISTED.match(plain)
    frame, parts = (listed['frame'], _parts(listed['list'])) if listed else _joined(plain)
    if len(parts) < 2:
        return None
    frame, anchor = _anchor(measure, frame)
    sides = tuple(_side(frame, part) for part in parts)
    return Contrast(sides, tuple(map(_name, parts)), measure, most, anchor=anchor)


def _among(text: str) -> Contrast | None:
    """Read 'X, Y and Z: which of them did you see'."""
    listed = next((found for pattern in _AMONG if (found := pattern.match(text))), None)
    if listed is None:
        return None
    frame, none = _NEVER.subn('', listed['frame'])
    parts, most = _parts(listed['list']), 0.0 if none else float('inf')
    sides = tuple(_side(frame, part) for part in parts)
    names = tuple(map(_name, parts))
    return Contrast(sides, names, among=Among.LIMIT, least=0.0 if none else 1.0, fewest=most)


def _parts(listed: str) -> list[str]:
    """Return the members of a list: 'the sink, the table and the bed'."""
    parts = re.split(r',? (?:or|and) |, ', listed)
    return [part.strip(' ,') for part in parts if part.strip(' ,')]


def _joined(text: str) -> tuple[str, list[str]]:
    """Return a question of which two parts are joined by 'or', with a mark in their place, and both; none: it
    has no such."""
    tree = parse(text)
    link = next((word for word in tree if word.low == 'or' and 0 < word.index < len(tree.words) - 1), None)
    if link is None:
        return text, []
    begins, before = tree.words[link.index + 1], text[: link.start].rstrip()
    if begins.pos == 'ADP':
        end = _end_of_phrase(tree, begins)
        start = max(before.lower().rfind(f' {word} ') for word in (begins.low, 'in', 'on', 'at')) + 1
    elif begins.tag.startswith('VB'):
        end, start = len(text), tree.head(link).start
    else:
        end = _end_of_phrase(tree, begins)
        noun = tree.words[link.index - 1]
        start = link.start - 1 - len(_phrase(tree, noun, link.start))
    if not 0 < start < link.start:
        return text, []
    return f'{text[:start]}\0{text[end:]}', [before[start:].strip(), text[link.start + 2 : end].strip()]


def _end_of_phrase(tree: Tree, begins: Word) -> int:
    """Return where the noun phrase ends that begins with a word."""
    nouns = [w for w in tree.words[begins.index :] if w.pos in ('NOUN', 'PROPN', 'NUM')]
    if not nouns:
        return begins.start + len(begins.text)
    last = nouns[0]
    for word in nouns[1:]:
        if word.index != last.index + 1:
            break
        last = word
    return last.start + len(last.text)


def _side(frame: str, part: str) -> str:
    """Return one of the compared things as a question of its own."""
    if '\0' in frame:
        return ' '.join(frame.replace('\0', f' {part} ').split())
    rest = _QUESTION.sub('', frame).strip()
    rest = re.sub(r'\b(did you) do$', r'\1', rest)
    return f'{rest} {part}' if re.search(r'\byou\b', rest) or not rest else f'{part} {rest}'


def _ordered(text: str) -> Contrast | None:
    """Read 'did you see X before Y', 'did you do X before or after you did Y'."""
    found = _ORDER.match(text) if _YES.match(text) else None
    own = found is not None and re.match(r'(?i)(?:you|we) ', found['second']) is not None
    first = thing_before(parse(text), found.start('by')) if found else ''
    if found is None or not first or (own and not found['either']):
        return None
    second, other = found['second'], found['first'].replace(first, found['second'], 1)
    if own:
        first, other = found['first'], second
    later = found['by'].lower() == 'after'
    asked = Contrast((found['first'], other), (_name(first), _name(second)), ComparedBy.FIRST, later)
    return replace(asked, most=False) if found['either'] else asked


def _each(text: str) -> Contrast | None:
    """Read 'how many chairs per room', 'what failed each day'."""
    found = _EACH.search(text)
    if found is None:
        return None
    noun = (found['noun'] or 'day').lower()
    known = _GROUPS.get(noun, '')
    by = found[0].split()[0].lower()
    rest = _plain(_PRONOUN.sub(noun, f'{text[: found.start()]} {text[found.end() :]}'))
    if noun in ('time', 'way') or (not known and by in ('by', 'of')) or not _TELLING.match(rest):
        return None
    measure = next((measure for measure, said in _ASKED.items() if said.search(text)), ComparedBy.COUNT)
    return Contrast((rest,), (), measure, True, known or 'object', noun, Among.EACH)


def _which(text: str) -> Contrast | None:
    """Read 'which room has most chairs', 'on which days did you not dance', 'what did you do most often'."""
    found = _WHICH.match(text)
    if of_size := _LARGEST.match(text):  # 'What is the largest thing?'
        measure, most = _MEASURES[of_size['by'].lower()]
        return Contrast((of_size['noun'],), (), measure, most, 'object', of_size['noun'])
    noun, rest = (found['noun'].lower(), _received(text[found.end() :])) if found else ('thing', text)
    asked = Contrast((), group=_GROUPS.get(noun, 'object'), grouped=noun)
    never = None if _NOT_ENDED.search(rest) else _NEVER.search(rest)
    counts = found is not None and (found['wh'] or '').lower() == 'how many'
    best = None if counts else _BEST.search(rest)
    # 'Which demo took longest?' is for one of these, and not for a sort.
    of_one = best and noun not in _GROUPS and best['by'].lower() in ('longest', 'shortest')
    if best and not of_one and (found or _WHAT_DID.match(text)):
        measure, most = _measured(best, rest)
        rest = f'{rest[: best.start()]} {rest[best.end() :]}'
        if measure is ComparedBy.SIZE and _NUMBER.search(rest):
            measure = ComparedBy.NUMBER
        side = rest if noun in _GROUPS else f'{rest} {noun}'  # a noun that says which deeds, too
        side = 'what did you do' if best['by'].lower() in ('busiest', 'quietest') else side
        nth = ordinal((best['nth'] or 'first').lower()) or 1
        return replace(asked, sides=(_plain(side),), measure=measure, most=most, nth=nth)
    if found is None or (counts and not (never and asked.group in ('place', 'day'))):
        return None
    of_place, at_end, neither = (
        asked.group == 'place',
        found and _AT_END.search(text[found.end() :]),
        _NEITHER.search(rest),
    )
    several = of_place and noun.endswith('s')
    if of_place and (near := _NEAR_TO.search(rest)):
        measure, most = _MEASURES[near['by'].lower()]
        anchor = '' if near['anchor'] in _HERE else near['anchor']
        return replace(asked, measure=measure, most=most, anchor=anchor)
    if said := neither or never:
        parts = neither.groups() if neither else ('',)
        sides = tuple(_plain(f'{rest[: said.start()]} {part} {rest[said.end() :]}') for part in parts)
        sides = tuple(re.sub(r'\ba single\b', 'a', side) for side in sides)
        asked = replace(asked, sides=sides, among=Among.NONE)
    elif at_end and asked.group in ('place', 'day', 'robot'):
        measure, most = _MEASURES[at_end['by'].lower()]
        asked = replace(asked, sides=(_plain(_received(at_end['side'])),), measure=measure, most=most)
    elif several and _PASSED.match(rest):
        asked = replace(asked, sides=('',), measure=ComparedBy.NUMBER, among=Among.EACH)
    elif several and _HAVE.match(rest):
        asked = replace(asked, sides=(_plain(rest),), among=Among.LIMIT, least=1.0)
    return asked if asked.sides else None


def _received(text: str) -> str:
    """Return what a place or a day 'got' or 'saw' as what the robot put there, or what took place."""
    return _SAW.sub('', _GOT.sub(' did you put', _CAME.sub(' did you pick from', text)))


def _plain(text: str) -> str:
    return ' '.join(text.split()).strip(' ,;:')


def _name(text: str) -> str:
    """Return what a side is called."""
    return re.sub(r'(?i)^(?:any|did you|you|are there|is|in|on|at) ', '', _plain(text))
