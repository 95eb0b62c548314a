"""Reading a wish to be taken to what the robot did something to: 'Go to the table that you put it on'."""

import re
from dataclasses import dataclass, replace

from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.model.quoting import ORDINALS, TO_TWENTY, any_case
from remembr_ros.agent.offline.deeds.deed_request import parse_selection
from remembr_ros.memory.deeds.query import HANDLING, DeedOrder, DeedQuery
from remembr_ros.memory.deeds.verbs import base
from remembr_ros.memory.matching.terms import stem, words

_FURNITURE = frozenset(
    'table desk counter shelf fridge refrigerator drawer sofa couch bed chair cabinet cupboard dresser '
    'sideboard bookcase rack nightstand bench'.split()
)
_LIKE_THAT = {
    base(word): line.partition(': ')[2].split()
    for line in (
        'ball: apple ball orange/box: book box/cylinder: cup bottle can candle bin/'
        'drink: cup bottle glass mug/eat food: bowl plate apple fruit/play: ball teddy toy/'
        'read: book newspaper/time: clock watch/light: candle lamp/toast bread: toaster/'
        'compute work: laptop computer/flower: vase'
    ).split('/')
    for word in line.partition(': ')[0].split()
}
"""What is called so of which people say that it is shaped like that, or used for that."""
_SORTS = {
    **dict.fromkeys('object thing item article'.split(), 'object'),
    **dict.fromkeys('receptacle furniture surface container'.split(), 'receptacle'),
    **dict.fromkeys('room place spot area location'.split(), 'place'),
}


@dataclass(frozen=True, slots=True)
class GoalRequest:
    """A wish to be taken to what the robot did something to, understood.

    :param target: words of the name of what is to be gone to; empty: any
    :param field: what that is to a deed, one of FIELDS
    :param any_of: names of which it has one; empty: any
    :param query: of the deeds that have such a target; without a kind, whatever uses it
    :param never: none of these were done to it
    :param choice: which one, or all
    """

    target: str
    field: str
    any_of: list[str]
    query: DeedQuery
    never: bool
    choice: Choice


_BARE = (
    (any_case(r'\b(?:some|any)thing\b(?= (?:that|which|you)\b)'), 'an object'),
    (any_case(r'\bto where (?=you\b)'), 'to the place where '),
    (any_case(r'\bone of (?:all )?(?:the|your)\b'), 'any'),
    (any_case(r'\bpieces? of furniture\b'), 'receptacle'),
    (any_case(r'(?: (?:before|earlier|so far|yet|already))?\W*$'), ''),
    *((any_case(rf'\b{nth}(?:nd|rd|th)\b'), word) for nth, word in enumerate(ORDINALS[1:10], start=2)),
)
_WISH = any_case(
    r'^\W*(?:(?:go|drive|navigate|move|walk|head|travel|come|return|get|proceed)(?: back)? to'
    r'|(?:take|bring|lead|guide|escort|drive)(?: me| us)(?: back)? to|(?:re)?visit|where (?:is|are)|find) '
    r'(?P<which>any|some|an?|the|all(?: of)?(?: the| those)?|every|each) (?P<what>.+)$'
)
_ORDERED = any_case(
    r'(?:,? one after the other)?,?\s*\bin (?:(?:that|this|the same) order|the order (?:of the day'
    r'|(?:in which |that )?you\b.*)|(?:the )?(?:chronological )?order$)|,? one after the other'
)
_FAR = any_case(
    r'(?:\b(?:that|which) (?:is|are) )?\b(?:(?P<far>farthest|furthest|most distant)|nearest|closest)\b'
    r'(?:(?: away)? (?:from|to) (?:here|me|us|your current (?:position|place|location)|you'
    r'|where (?:you|we|i) (?:are|am)))?(?: and\b)?'
)
_LIKE = any_case(
    r'(?:\band )?(?:\b(?:(?:that|which) (?:is|are) )?(?:(?:shaped|formed) like an?|used (?:for|to)'
    r'|for(?= \w+ing\b)) (?P<like>.+?)|\b(?:that|which) (?:is|are) (?P<words>\w+))'
    r'(?= (?:and|that|which|you)\b|$)(?: and\b)?|\b(?P<shape>\w+)[- ]shaped\b'
)
_HANDLED = (
    r'(?:us(?:ed?|ing)|(?:touch|handl|mov|rearrang|relocat|manipulat)(?:ed?|ing)?|carr(?:y|ied|ying)'
    r'|(?:interact(?:ed|ing)?|deal(?:t|ing)?)(?: with)?)\b'
)
_INTO = r'(?:from|off|out of|onto|on|into|in|inside|at|upon|to)'
_THING = (
    r'(?:(?:an?|the|any|some|your) (?!most|least)\S.*?|something|anything|(?:one|things?|objects?|items?))'
)
_AWAY = r'(?: (?:up|down|away|back))?'
_TIME = r'(?:the )?(?P<long>longest|shortest|most(?= time)|least(?= time))(?: time)?'
_CLAUSE = any_case(
    rf'^(?:(?P<into>{_INTO}) which|that|which|(?P<where>where))?\s*(?:you|we|the robot) (?:(?:have|had|did) '
    rf"|(?:were|was) (?=\w+ing\b))?(?P<never>never |not |(?:did|have|had)n['\u2019]?t )?(?:ever )?"
    rf'(?:{_HANDLED}|(?P<verb>[a-z]+)){_AWAY}(?: (?P<object>{_THING}))?{_AWAY}'
    rf'(?: (?P<prep>{_INTO})(?: (?P<receptacle>{_THING}))?)?$'
)
_TOOK = any_case(
    rf'^(?:(?:that|which) )?(?:took(?: you)?|you (?:needed|spent)(?=.*{_HANDLED}$)) {_TIME}'
    rf'(?:(?: to)? {_HANDLED})?$'
)
_LONGEST = any_case(rf' (?:for )?{_TIME}(?: in)?$')
_START = any_case(
    rf'(?=\b(?:(?:{_INTO} )?which\b|that\b|where\b|(?:you|we|the robot)\b|took\b|never {_HANDLED}))'
)
_COUNT = rf'(?P<count>\d+|{"|".join(TO_TWENTY[1:])}) (?:interaction|object|thing|item|step|action|deed)s?'
_SIDE = any_case(
    rf'\s*\b(?:(?:right|just|immediately|directly|shortly) |{_COUNT} )?(?:(?P<later>after|following)|before'
    r'|prior to) (?P<what>.+)$'
)
_BETWEEN = any_case(
    r'\s*\b(?:(?:in )?between (?P<after>.+?) and|after (?P<after_>.+?) (?:and|but) before) (?P<before>.+)$'
)
_ANCHOR = any_case(
    rf'^(?:(?:(?:you|we) )?(?:(?:have|had) )?(?:{_HANDLED}|(?P<verb>(?!the\b|an?\b|your\b)[a-z]+)){_AWAY} )?'
    rf'(?P<object>{_THING}){_AWAY}(?: {_INTO} (?P<receptacle>{_THING}))?$'
)
_OTHER = frozenset('and at by for from in is near next of on or to with'.split())  # than the name of a thing


def is_furniture(name: str) -> bool:
    """Tell whether things are put on or into what is called so, whatever a log says."""
    return not _FURNITURE.isdisjoint(map(stem, words(name)[-1:]))


def parse_goal(text: str) -> GoalRequest | None:
    """Return what a wish asks for; None: it is none, or one for something else.

    :param text: without politeness and words of time
    """
    for pattern, plain in _BARE:
        text = pattern.sub(plain, text)
    if (wish := _WISH.match(text)) is None:
        return None
    which, wished = wish['which'].lower(), wish['what']
    ordered, far = _ORDERED.search(wished), _FAR.search(wished)
    more, any_of, wished = _like(_FAR.sub(' ', _ORDERED.sub('', wished)))
    sides, steps, wished = _sides(wished)
    nth, _, wished, _ = parse_selection(wished, DeedOrder.FIRST)
    head, clause = (*_START.split(' '.join(wished.split()), maxsplit=1), '')[:2]
    order, clause = _longest(re.sub('^never ', 'you never ', clause))
    done = _CLAUSE.match(clause)
    if not words(head) or not _OTHER.isdisjoint(words(head)) or done is None or None in sides.values():
        return None
    (name, sort), last = _named(head), words(head)[-1]
    if done['into'] or done['where'] or (done['prep'] and not done['receptacle']):
        sort = sort if sort == 'place' else 'receptacle'
    sort = sort or ('receptacle' if is_furniture(last) else 'object')
    if sides.keys() == {'before'}:
        order = DeedOrder.LAST
    nth = nth or (steps if len(sides) == 1 or order is not DeedOrder.FIRST else None)
    query = replace(_query(done), nth=nth, order=order, after=sides.get('after'), before=sides.get('before'))
    if far or which in ('a', 'an', 'any', 'some'):
        choice = Choice.FARTHEST if far and far['far'] else Choice.NEAREST
    else:
        single = which == 'the' and stem(last) == last and not ordered
        choice = Choice.CITED_FIRST if single else Choice.IN_ORDER if ordered else Choice.EVERY
    return GoalRequest(f'{name} {more}'.strip(), sort, any_of, query, done['never'] is not None, choice)


def _named(phrase: str) -> tuple[str, str]:
    """Return the words of the name of a thing, or of which sort it is, if that is all."""
    spoken = words(re.sub(r'^(?:the|an?|any|some|your) ', '', phrase))
    sort = _SORTS.get(stem(spoken[-1]), '') if spoken else ''
    spoken = spoken[:-1] if sort or spoken[-1:] in (['one'], ['something'], ['anything']) else spoken
    return ' '.join(spoken), sort


def _like(text: str) -> tuple[str, list[str], str]:
    """Return which other words a thing has, of which names it has one, and the text without all that."""
    more, any_of = '', list[str]()
    for found in _LIKE.finditer(text):
        more = found['words'] or more
        if like := found['like'] or found['shape']:
            any_of = next((_LIKE_THAT[use] for use in map(base, words(like)) if use in _LIKE_THAT), [like])
    return more, any_of, _LIKE.sub(' ', text)


def _longest(clause: str) -> tuple[DeedOrder, str]:
    """Return whether the longest or the shortest is meant, and the clause without that."""
    for pattern in (_TOOK, _LONGEST):
        if found := pattern.search(clause):
            long = found['long'].lower() in ('longest', 'most')
            return DeedOrder.LONGEST if long else DeedOrder.SHORTEST, clause[: found.start()] or 'you used'
    return DeedOrder.FIRST, clause


def _sides(text: str) -> tuple[dict[str, DeedQuery | None], int, str]:
    """Return what something was done after and before, how many deeds from that, and the rest of a text."""
    if found := _BETWEEN.search(text):
        after = _anchor(found['after'] or found['after_'])
        return {'after': after, 'before': _anchor(found['before'])}, 1, text[: found.start()]
    if (found := _SIDE.search(text)) is None:
        return {}, 1, text
    count = (found['count'] or 'one').lower()
    steps = int(count) if count.isdigit() else TO_TWENTY.index(count)
    return {'after' if found['later'] else 'before': _anchor(found['what'])}, steps, text[: found.start()]


def _anchor(text: str) -> DeedQuery | None:
    nth, _, rest, _ = parse_selection(text, DeedOrder.FIRST)
    match = _ANCHOR.match(' '.join(rest.split()))
    return match and replace(_query(match), nth=nth)


def _query(match: re.Match[str]) -> DeedQuery:
    (thing, _), (receptacle, _) = (_named(match[name] or '') for name in ('object', 'receptacle'))
    return DeedQuery(match['verb'] or HANDLING, thing, receptacle)
