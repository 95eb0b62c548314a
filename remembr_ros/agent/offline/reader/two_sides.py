"""Reads what a question compares with each other: more of one than of another, which comes first."""

import re
from dataclasses import replace

from remembr_ros.agent.model.english import Tree, Word, parse
from remembr_ros.agent.model.quoting import any_case, cardinal
from remembr_ros.agent.offline.reader.contrast import (
    COUNTED,
    HERE,
    MEASURES,
    NEVER,
    PRONOUN,
    TIMES,
    YES,
    Among,
    ComparedBy,
    Contrast,
    measured,
    side_name,
)

SUPERLATIVES = [word for word in MEASURES if word.endswith(('est', 'most')) or word == 'least']
_COMPARATIVE = '|'.join(word for word in MEASURES if word.endswith('er') or word in ('more', 'less'))
_BY = any_case(rf'\b(?:the )?(?P<by>{"|".join(SUPERLATIVES)}|{_COMPARATIVE}|first|last){COUNTED}(?=\W|$)')
_MORE = any_case(rf'\b(?P<by>{_COMPARATIVE}){COUNTED}(?P<of>(?: .*?)?) than (?P<than>.+?)\W*$')
_TO = any_case(r'\b(?:away )?(?:to|from) (?P<anchor>[^\0]+?)\W*$')
_LISTED = any_case(r'^(?P<frame>[^,:;]+?) ?[,:;\u2013-] ?(?P<list>(?!or\b|and\b)[^:;]+? or .+)$')
_OF_LIST = any_case(
    r'^\W*(?:of|between|among) (?P<list>.+? (?:and|or) .+?), (?P<frame>(?:which|what|who)\b.*)$'
)
_OF_THESE = r'(?P<frame>(?:which|what) of (?:these|those|them|the following)\b'
_AMONG = (
    any_case(rf'^{_OF_THESE}[^:]*?) ?[:\u2013\u2014-] ?(?P<list>.+ (?:and|or) .+)$'),
    any_case(rf'^(?P<list>.+ (?:and|or) .+?) ?[,:\u2013\u2014-] ?{_OF_THESE}.*)$'),
)
_AS = any_case(
    r'\b(?P<least>at least )?(?:(?:(?P<once>twice|thrice)|(?P<many>\w+) times) )?as '
    r'(?P<by>many|much|often|frequently|long|far)\b(?: times)?(?P<of>(?: .*?)?) as (?P<than>.+?)\W*$'
)
_ASKED_AS = dict.fromkeys(('many', 'much', 'often', 'frequently'), ComparedBy.COUNT)
_ASKED_AS |= {'long': ComparedBy.SECONDS, 'far': ComparedBy.AWAY}
_QUESTION = any_case(r'^\W*(?:what|which|who)(?: of (?:the|these|those|your)(?: two)?| one)?\b(?: of them)?')
_PREPOSITION = any_case(r'^(?:in|on|at|to|from|into|onto|for|with|by|near|of) ')
_ORDER = any_case(
    r'^(?P<first>.+?) (?P<by>before|after)(?P<either> or (?:before|after))?'
    r' (?P<second>(?!(?:or|that|this|it|noon|midnight)\b).+?)\W*$'
)


def _anchor(measure: ComparedBy, text: str) -> tuple[str, str]:
    """Return a text without 'to the door', from which distances are, and that; empty: they are from here."""
    to = _TO.search(text) if measure is ComparedBy.AWAY else None
    return (text[: to.start()], '' if to['anchor'] in HERE else to['anchor']) if to else (text, '')


def read_as(text: str) -> Contrast | None:
    """Read 'as many X as Y', 'at least twice as often as Y'."""
    found = _AS.search(text)
    if found is None:
        return None
    many = (found['once'] or found['many'] or 'once').lower()
    least = float(TIMES.get(many) or cardinal(many) or 1)
    exactly = least if least == 1.0 and not found['least'] else float('inf')
    asked = _two(found, text, _ASKED_AS[found['by'].lower()], most=True)
    return asked and replace(asked, least=least, fewest=exactly)


def read_than(text: str) -> Contrast | None:
    """Read 'more X than Y', 'longer than Y', 'nearer to Z than Y', 'X before Y'."""
    found = _MORE.search(text)
    if found is None:
        return _ordered(text)
    measure, most = measured(found, text)
    return _two(found, text, measure, most=most)


def _two(found: re.Match[str], text: str, measure: ComparedBy, *, most: bool) -> Contrast | None:
    """Return both sides of 'than', each as a question."""
    before = text[: found.start()].strip()
    than = re.sub(r'(?i) (?:is|are|was|were|did|does)$', '', found['than'])
    of, anchor = _anchor(measure, found['of'].strip())
    tree = parse(text)
    if pronoun := PRONOUN.search(than):
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
    names = tuple(map(side_name, parts))
    return Contrast(frames, names, measure, most, anchor=anchor)


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


def read_either(text: str) -> Contrast | None:
    """Read 'what did you see first, X or Y', 'were you longer in X or in Y', 'of X and Y which is nearer'."""
    by = _BY.search(text)
    if by is None:
        return _among(text)
    measure, most = measured(by, text)
    plain = ' '.join(f'{text[: by.start()]} {text[by.end() :]}'.split()).strip(' ,')
    listed = _OF_LIST.match(plain) or _LISTED.match(plain)
    frame, parts = (listed['frame'], _parts(listed['list'])) if listed else _joined(plain)
    if len(parts) < 2:
        return None
    frame, anchor = _anchor(measure, frame)
    sides = tuple(_side(frame, part) for part in parts)
    return Contrast(sides, tuple(map(side_name, parts)), measure, most, anchor=anchor)


def _among(text: str) -> Contrast | None:
    """Read 'X, Y and Z: which of them did you see'."""
    listed = next((found for pattern in _AMONG if (found := pattern.match(text))), None)
    if listed is None:
        return None
    frame, none = NEVER.subn('', listed['frame'])
    parts, most = _parts(listed['list']), 0.0 if none else float('inf')
    sides = tuple(_side(frame, part) for part in parts)
    names = tuple(map(side_name, parts))
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
    found = _ORDER.match(text) if YES.match(text) else None
    own = found is not None and re.match(r'(?i)(?:you|we) ', found['second']) is not None
    first = thing_before(parse(text), found.start('by')) if found else ''
    if found is None or not first or (own and not found['either']):
        return None
    second, other = found['second'], found['first'].replace(first, found['second'], 1)
    if own:
        first, other = found['first'], second
    later = found['by'].lower() == 'after'
    asked = Contrast((found['first'], other), (side_name(first), side_name(second)), ComparedBy.FIRST, later)
    return replace(asked, most=False) if found['either'] else asked
