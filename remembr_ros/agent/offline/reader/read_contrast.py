"""Reads what a question compares, tells apart by group, leaves out or asks for in vain."""

import re
from collections import Counter
from dataclasses import replace

from remembr_ros.agent.model.quoting import any_case, cardinal, ordinal
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
    plain_text,
)
from remembr_ros.agent.offline.reader.two_sides import SUPERLATIVES, read_as, read_either, read_than
from remembr_ros.agent.offline.word_classes import classes_of
from remembr_ros.agent.times.time_expression import AMOUNTS, seconds_in
from remembr_ros.memory.matching.terms import words

_GROUPS = {word: group for group, listed in classes_of('group').items() for word in listed}
"""The field by which a noun tells deeds apart."""
_OF_TIME_OR_PLACE = (ComparedBy.FIRST, ComparedBy.LAST, ComparedBy.AWAY)
_SUPERLATIVE = '|'.join(word for word in SUPERLATIVES if MEASURES[word][0] not in _OF_TIME_OR_PLACE)
_BEST = any_case(rf'\b(?:the )?(?:(?P<nth>second|third) )?(?P<by>{_SUPERLATIVE}){COUNTED}(?=\W|$)')
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
    r'(?P<of> of (?:your|all|the))?|(?:was|were|is|are) there(?: (?:ever|any|an?|one|some))*)'
    r' (?!(?:did|do|does|is|are|was|were|has|have|had|can|could|one|of)\b)(?P<noun>\w+)'
    r'(?:(?: (?:(?:in|on|at) which|when|where|that|which))?(?= \w))'
)
_LIMIT = any_case(
    rf'\b(?:for )?(?P<how>(?:more|longer|less|fewer|shorter) than|at least|at most|over|under|exactly)'
    rf' (?:(?P<time>{AMOUNTS})|(?P<number>\w+)(?P<times> times?)?)\b'
)
_NEAR_TO = any_case(
    r'\b(?:the )?(?P<by>nearest|closest|farthest|furthest)(?: away)? (?:to|from) (?P<anchor>.+)'
)
_NEITHER = any_case(r'\bneither (?P<one>.+?) n?or (?P<other>.+?)(?= (?:in|on|at)\b|\W*$)')
_AT_END = any_case(r'^(?!.*\b(?:you|we|i)\b)(?P<side>.*)\b(?:the )?(?P<by>first|last|earliest|latest)$')
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
_NOT_ENDED = any_case(rf'\bnot (?:able\b|manage\w*|{_ENDED})')
_DEEDS_ENDED = any_case(
    rf'^\W*(?:which|what) (?:of (?:your|the) )?\w+ (?:have |has |had )?{_ENDED}\b'
    r'|^\W*(?:how many|which|what) (?:of (?:your|the) )?(?:deeds|tasks|jobs|actions|things)\b.*\b'
    rf'{_ENDED}\b|^\W*how (?:often|many times) (?:did|has|have) (?!you\b|we\b|i\b|the robot\b)'
)
_ASKED = {
    ComparedBy.SECONDS: any_case(r'\bhow (?:long|much time)\b'),
    ComparedBy.METRES: any_case(r'\bhow (?:far|many (?:met|kilomet)\w+)\b'),
}
_NUMBER, _HAVE = any_case(r'\bnumbers?\b'), any_case(r'^ (?:have|has|had|contain)\b')
_EVERYWHERE = any_case(
    r'(?<!to)(?<!from)(?<!is)(?<!was) (?:(?:in |around )?here|in the (?:house|flat|apartment|building))$'
)
_WHERE_BEEN = any_case(r'^\W*where (?:were you|have you been|did you go)\b')
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


def read_contrast(text: str) -> Contrast | None:
    """Return what a question compares, groups or leaves out; None: nothing.

    :param text: without its words of time
    """
    plain, without, said = ' '.join(text.split()).strip(' ?!.'), tuple[str, ...](), list[str]()
    if found := _EVERYWHERE.search(plain):
        said, plain = words(found[0]), plain[: found.start()]
    if found := _WITHOUT.search(plain):
        without = tuple(part for part in re.split(r',| and | or ', found['what']) if part.strip())
        plain = re.sub(r'\belse\b', '', f'{plain[: found.start()]} {plain[found.end() :]}')
        said, plain = [*said, 'else', *words(found[0])], ' '.join(plain.split())
    for pattern, which in _IN_WHICH:
        plain = pattern.sub(which, plain)
    yes = YES.match(plain) is not None
    readers = (read_either, read_as, _limited, read_than, _each, _which)
    read = next((read for reader in readers if (read := reader(plain)) is not None), None)
    if read is None and without and _WHERE_BEEN.match(plain):
        read = Contrast(('were you in',), group='place', grouped='rooms', among=Among.EACH)
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
    if found is None or _PLACE_OR_TIME.match(text):
        return None
    spoken = (found['number'] or '').lower()
    number = 1 if spoken == 'a' and found['times'] else TIMES.get(spoken) or cardinal(spoken)
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
    return Contrast((plain_text(rest),), (), measure, True, group, noun, Among.LIMIT, least, fewest)


def _each(text: str) -> Contrast | None:
    """Read 'how many chairs per room', 'what failed each day'."""
    found = _EACH.search(text)
    if found is None:
        return None
    noun = (found['noun'] or 'day').lower()
    known = _GROUPS.get(noun, '')
    by = found[0].split()[0].lower()
    rest = plain_text(PRONOUN.sub(noun, f'{text[: found.start()]} {text[found.end() :]}'))
    if noun in ('time', 'way') or (not known and by in ('by', 'of')) or not _TELLING.match(rest):
        return None
    measure = next((measure for measure, said in _ASKED.items() if said.search(text)), ComparedBy.COUNT)
    return Contrast((rest,), (), measure, True, known or 'object', noun, Among.EACH)


def _which(text: str) -> Contrast | None:
    """Read 'which room has most chairs', 'on which days did you not dance', 'what did you do most often'."""
    found = _WHICH.match(text)
    if of_size := _LARGEST.match(text):  # 'What is the largest thing?'
        measure, most = MEASURES[of_size['by'].lower()]
        return Contrast((of_size['noun'],), (), measure, most, 'object', of_size['noun'])
    noun, rest = (found['noun'].lower(), _received(text[found.end() :])) if found else ('thing', text)
    asked = Contrast((), group=_GROUPS.get(noun, 'object'), grouped=noun)
    never = None if _NOT_ENDED.search(rest) else NEVER.search(rest)
    counts = found is not None and (found['wh'] or '').lower() == 'how many'
    best = None if counts else _BEST.search(rest)
    # 'Which demo took longest?' is for one of these, and not for a sort.
    of_one = best and noun not in _GROUPS and best['by'].lower() in ('longest', 'shortest')
    if best and not of_one and (found or _WHAT_DID.match(text)):
        measure, most = measured(best, rest)
        rest = f'{rest[: best.start()]} {rest[best.end() :]}'
        if measure is ComparedBy.SIZE and _NUMBER.search(rest):
            measure = ComparedBy.NUMBER
        side = rest if noun in _GROUPS else f'{rest} {noun}'  # a noun that says which deeds, too
        if asked.group == 'kind' and measure is ComparedBy.SECONDS:  # of all tasks one
            asked, side = replace(asked, group='each'), 'what did you do'
        side = 'what did you do' if best['by'].lower() in ('busiest', 'quietest') else side
        nth = ordinal((best['nth'] or 'first').lower()) or 1
        return replace(asked, sides=(plain_text(side),), measure=measure, most=most, nth=nth)
    if found is None or (counts and not (never and asked.group in ('place', 'day'))):
        return None
    of_place, neither = asked.group == 'place', _NEITHER.search(rest)
    at_end = _AT_END.search(text[found.end() :])
    several = of_place and noun.endswith('s')
    if (of_place or found['of']) and (near := _NEAR_TO.search(rest)):
        measure, most = MEASURES[near['by'].lower()]
        anchor = '' if near['anchor'] in HERE else near['anchor']
        return replace(asked, measure=measure, most=most, anchor=anchor)
    if said := neither or never:
        parts = neither.groups() if neither else ('',)
        sides = tuple(plain_text(f'{rest[: said.start()]} {part} {rest[said.end() :]}') for part in parts)
        sides = tuple(re.sub(r'\ba single\b', 'a', side) for side in sides)
        asked = replace(asked, sides=sides, among=Among.NONE)
    elif at_end and asked.group in ('place', 'day', 'robot'):
        measure, most = MEASURES[at_end['by'].lower()]
        asked = replace(asked, sides=(plain_text(_received(at_end['side'])),), measure=measure, most=most)
    elif several and _PASSED.match(rest):
        asked = replace(asked, sides=('',), measure=ComparedBy.NUMBER, among=Among.EACH)
    elif several and _HAVE.match(rest):
        asked = replace(asked, sides=(plain_text(rest),), among=Among.LIMIT, least=1.0)
    return asked if asked.sides else None


def _received(text: str) -> str:
    """Return what a place or a day 'got' or 'saw' as what the robot put there, or what took place."""
    return _SAW.sub('', _GOT.sub(' did you put', _CAME.sub(' did you pick from', text)))
