"""Reading a question about what the robot did: what of it is asked, which one, and before or after what.

First the question alone is read, then what it names by the names in the deeds themselves.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.english import Tree, is_there, parse
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.reader.sides import SIDES, find_sides, order_of, outcomes_of, which_ones
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import classes_of, said_by
from remembr_ros.geometry import Point
from remembr_ros.memory.deeds.names import DeedNames, DeedPhrase
from remembr_ros.memory.deeds.query import HANDLING, STAY, DeedOrder, DeedQuery
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Scope
from remembr_ros.timestamps import NS

AROUND_NS = 900 * NS  # of a moment at which nothing was done, what was done so soon before or after is told

_AUX = '(?:did|do|does|have|has|had|was|were|is|are|am|could|can|will)'


class DeedAsked(Enum):
    """What a question asks of deeds, with the words that ask for it; the first that is found counts."""

    HOW_OFTEN = said_by('how_often')  # a count, also of days
    DAYS = r'\b(?:what|which|all|each|the|how many) (?:\w+ )?(?:days|dates)\b'
    FROM_HERE = r'\bhow (?:far|many met\w+)\b.*\bfrom (?:here|where (?:you|we|i) (?:are|am))\b'
    DISTANCE = said_by('how_far')
    DURATION = said_by('how_long') + (
        r"(?! ago)|\bwhat(?:['\u2019]s| was| is) (?:the|your) (?:longest|shortest|quickest|fastest)\b"
    )
    COUNT = said_by('how_many')
    WHY = said_by('why') + r'|\bwhat (?:caused|made|stopped|kept)\b(?=.*\b(?:fail|stop|late|from)\w*)'
    PROBLEMS = said_by('problems')
    HIGHLIGHTS = said_by('highlights')
    BRIEFLY = said_by('briefly')
    TIME = (
        rf'(?:^|[?!,;:.\u2013-] ?|\band |\bat )(?:since )?when\b(?= {_AUX}\b|\W*$)'
        r'|\b(?:what|which) time\b|\b(?:on )?(?:what|which) (?:day|date)\b|\bhow long ago\b'
    )
    ROOMS = r'\b(?:what|which|what other) (?:one )?(?:rooms?|places?|areas?)\b|\brooms?\b.*\bnever\b'
    WHERE = r'\bwhere\b.*\b(?:you|we|the robot|end(?:ed)? up)\b'
    OUTCOME = (
        r'\bhow did\b.*\b(?:go|end|turn out|work out)\b|\b(?:result|outcome)\b'
        r'|^\W*(?:did|were|was)\b.*\b(?:succe\w+|work\b)'
    )
    WHETHER = r'(?!)'  # by how a question begins
    DEEDS = r''


@dataclass(frozen=True, slots=True)
class DeedRequest:
    """A question about deeds, understood but for its names.

    :param main: what is asked for, in the asker's words; those of time and of relations are left out
    :param sides: what it is 'after', 'before' (with after: between both), 'during' or 'at', in these words
    :param right: nothing else was done in between
    :param yes: yes or no is asked for
    :param says: all of it
    """

    asked: DeedAsked
    main: str
    sides: Mapping[str, str]
    right: bool
    yes: bool
    says: str

    def has(self, name: str) -> bool:
        """Tell whether it has words of a class."""
        return any_case(said_by(name)).search(self.says) is not None


SEEN = any_case(said_by('seen'))
NEVER = any_case(
    r'\bnever\b|\bnot (?:\w+ )?(?:touch|handl|pick|us|mov|visit|been|be|go'
    r'|enter|put|ha|open|clean|ta)\w*'
    r'|\b(?:did|have|has|had|was|were) (?:you |we |i |it )?not\b(?! (?:able|manage|succe))'
    r'|\bst(?:ay|ayed) (?:out of|away from)\b|\bavoid\w*|\bun(?:touched|visited)\b|\bleft alone\b'
)
STEPS = any_case(r'\b(?:steps?|stages?|phases?)\b(?! (?:back|aside|by step|forward))')
"""What more a question may say."""
_SELF = any_case(r"\b(?:you|your|yours|yourself|we|us|our|the robot|robot's)\b")
_LASTS = any_case(r'(?<!\bthe)(?<!\byour)(?<!\bvery) last(?=\W*$| (?:for|on average)\b)')
_TAKE = r'\bt(?:ake|ook)\b(?=.* (?:to|out of)\b)'
_MOVE = (
    r'(?:\b(?:mov(?:e|ed|ing)|carr(?:y|ied|ying)|relocat\w+|transport\w*|br(?:ing|ought)|h[eo]ld|hands?)\b'
    rf'|{_TAKE})'
)
MOVED = any_case(_MOVE)
_CARRIED = any_case(
    rf'^\W*(?:what|which|how many)\b(?: \w+)?? (?:did|have|were|are|do) (?:you|we) (?:\w+ )?{_MOVE}'
    rf'|{_MOVE} (?:any|some)thing\b'
    rf'|\b(?:any|some)thing (?:been |was |were |being )?{_MOVE}'
)
"""Whatever it was."""
_FOUND = any_case(r'\b(?:find|found)\b')
_COUNTED = any_case(r'\bhow many (\w+)')
_GENERAL = frozenset(word for words_ in classes_of('group').values() for word in words_) | {
    'times',
    'different',
    'of',
}
_ENDED = any_case(r'\bend(?:ed)? up\b')
_FROM, _CAME = any_case(r'\bfrom\W*$'), any_case(r' (?:from|out of) (?!.* to )')
_AT = r'\b(?:was|were) (?:you|we|the robot)(?: (?:ever|last|first))? (?:in|at|inside)\b'
_WAS_AT = any_case(_AT)
_BEEN = any_case(rf'\b(?:been|enter\w*|visit\w*|set foot|inside|go|went|gone)\b|{_AT}')
_GENERIC = {DeedAsked.PROBLEMS, DeedAsked.WHY, DeedAsked.OUTCOME, DeedAsked.HIGHLIGHTS, DeedAsked.DISTANCE}
"""What is asked of deeds alone, whoever is said to have done them."""
_LASTING = any_case('|'.join(map(said_by, ('average', 'total'))))
_SAID_BY_ITSELF = (DeedAsked.HIGHLIGHTS, DeedAsked.PROBLEMS, DeedAsked.BRIEFLY, DeedAsked.WHY)
_CAME_OUT = any_case(r'\b(things?|items?|objects?|what|that|which|\w+s) came out of\b')
"""Of things: somebody put them there."""
_WENT = any_case(r'\bwhere did (the .+?) (?:go|end up)\b(?! to\b)')
"""Where it was put."""
_GOT = any_case(r'\byou get(?= (?:back )?to\b)')
_NEXT = any_case(r'\b(?:next|then|afterwards?)\W*$')
_YES = any_case(rf'(?:^|[.!?;:,] ?(?:(?:but|and|so) )?)\W*{_AUX}\b')
_UNREAD = frozenset('before after during while whilst until since between following'.split())
"""Words of time that are not read where there is no model of English."""


def parse_deeds(text: str) -> DeedRequest | None:
    """Return what a question asks of deeds; None: what that is related to is not understood.

    :param text: without its words of time
    """
    text = _WENT.sub(r'where did you put \1', _CAME_OUT.sub(r'\1 picked from', ' '.join(text.split())))
    text = _GOT.sub('you drive', text)
    if not is_there() and not _UNREAD.isdisjoint(words(text)):
        return None
    asked = next(asked for asked in DeedAsked if any_case(asked.value).search(text))
    yes = _YES.search(text) is not None
    if asked is DeedAsked.HOW_OFTEN:
        asked = DeedAsked.COUNT
    elif asked is DeedAsked.DEEDS and _LASTING.search(text):
        asked = DeedAsked.DURATION  # 'What does an introduction take you on average?'
    elif yes and asked in (DeedAsked.DEEDS, DeedAsked.ROOMS):
        asked = DeedAsked.WHETHER
    # Most questions need not be parsed once more.
    tree = Tree(()) if SIDES.keys().isdisjoint(words(text)) else parse(text)
    found = find_sides(tree)
    sides, main = dict[str, str](), text
    for side in found[::-1]:
        first, last, end = side.said[0], side.said[-1], tree.words[side.stop - 1]
        sides[side.name] = text[first.start : last.start + len(last.text)]
        main = f'{main[: tree.words[side.start].start]} {main[end.start + len(end.text) :]}'
    if asked in _SAID_BY_ITSELF:
        main = any_case(asked.value).sub(' ', main)
    right = any(side.right for side in found)
    if sides.keys() & {'at', 'after'} and _NEXT.search(main):  # 'When he asked, what did you do next?'
        right, main = True, _NEXT.sub('', main)
        sides['after'] = sides.pop('at', '') or sides['after']
    return DeedRequest(asked, main, sides, right, yes, text)


def build_deed_query(
    asked: DeedRequest, names: DeedNames, request: Request, question: Question, scope: Scope
) -> DeedQuery | None:
    """Return the query of a question; None: it is about something else than deeds.

    :param scope: the time, the robots and the map that the question is about
    """
    main, sides = names.read(asked.main), dict[str, DeedQuery]()
    for name in sorted(asked.sides):
        meant = sides.get('after') or sides.get('at') or main.query(bare=True)
        side = _clause(asked.sides[name], names, scope, meant)
        if side is None:
            return None
        sides[name] = side
    at = sides.pop('at', None)
    if at is None and asked.asked in _OF_ITSELF and sides.keys() == {'during'} and main.says_nothing:
        at = sides.pop('during')
    elif at is not None and not main.says_nothing:
        sides['during'] = at
    own = at if main.says_nothing else None
    query = own or _main(asked, main, names, request, anchored=bool(sides))
    if query is None:
        return None
    query = _as_said(query, asked, main)
    if STEPS.search(asked.says) and not sides and not query.names_nothing:
        sides, query = {'during': replace(query, scope=scope)}, DeedQuery()
    if asked.asked is DeedAsked.DISTANCE and sides.keys() >= {'after', 'before'}:
        query = DeedQuery()  # whatever was done between, the way is the robot's
    query = _selected(query, asked, question.here.position if question.here else None)
    moment_ns = request.window.at_ns if not sides else None
    if moment_ns is not None:
        scope = replace(scope, after_ns=max(moment_ns - AROUND_NS, 0), before_ns=moment_ns + AROUND_NS)
    elif sides and (query.limit or asked.right or query.nth):
        scope = replace(scope, after_ns=None, before_ns=None)  # what they are beside is of that time
    never = {DeedAsked.ROOMS: 'place', DeedAsked.DEEDS: 'object'}.get(asked.asked, '')
    return replace(
        query,
        scope=scope,
        after=sides.get('after'),
        before=sides.get('before'),
        during=sides.get('during'),
        right=asked.right and not query.limit and len({'after', 'before'} & sides.keys()) == 1,
        at_ns=moment_ns,
        never=never if NEVER.search(asked.says) and not sides else '',
    )


def _as_said(query: DeedQuery, asked: DeedRequest, main: DeedPhrase) -> DeedQuery:
    """Return a query of the deeds that verbs mean which no kind is called: carry, bring, find."""
    named = query.object or query.receptacle or (query.attribute and not main.of('place'))
    moved = named or _CARRIED.search(asked.main)
    kinds = ('', 'pick', 'move')
    if moved and any(is_same_kind(query.kind, kind) for kind in kinds) and MOVED.search(asked.says):
        # Each time that it was put somewhere, or what was put there.
        came = _FROM.search(asked.says) or (not query.object and _CAME.search(asked.says))
        kind = 'pick' if came else 'place'
        query = replace(query, kind=HANDLING if asked.asked is DeedAsked.DURATION else kind)
    found = asked.asked is DeedAsked.WHERE and not query.kind and _FOUND.search(asked.main)
    return replace(query, kind='pick') if found else query


def _selected(query: DeedQuery, asked: DeedRequest, here: Point | None) -> DeedQuery:
    """Return a query of those that are meant: the longest, the last two, those that failed."""
    order = order_of(asked.main)
    order = DeedOrder.FIRST if order.from_here and here is None else order
    main = _LASTS.sub(' ', asked.main) if asked.asked is DeedAsked.DURATION else asked.main
    nth, limit, last = which_ones(main)
    if nth is None and limit is None and order not in (DeedOrder.FIRST, DeedOrder.WAY):
        nth = 1
    if nth is None and not {'at', 'after'}.isdisjoint(asked.sides):
        nth, *_ = which_ones(asked.says)
    if last or (limit and 'before' in asked.sides and 'after' not in asked.sides):
        order = DeedOrder.LAST
    outcomes = outcomes_of(asked.says)
    if asked.asked is DeedAsked.COUNT and asked.has('tried'):
        outcomes = ()
    if asked.asked in (DeedAsked.WHY, DeedAsked.PROBLEMS) and 'cancelled' not in outcomes:
        outcomes = ('failed', 'cancelled')
    nth = None if asked.asked in _OF_ALL else nth
    return replace(query, order=order, here=here, nth=nth, limit=limit, outcomes=outcomes)


_OF_ANY = (DeedAsked.DEEDS, DeedAsked.BRIEFLY, DeedAsked.COUNT)
_OF_ITSELF = (DeedAsked.DURATION, DeedAsked.DISTANCE, DeedAsked.TIME, DeedAsked.WHERE)
_OF_ALL = (DeedAsked.COUNT, DeedAsked.DAYS, DeedAsked.HIGHLIGHTS, DeedAsked.BRIEFLY)


def _main(  # noqa: PLR0911
    asked: DeedRequest, main: DeedPhrase, names: DeedNames, request: Request, *, anchored: bool
) -> DeedQuery | None:
    """Return what is asked for, apart from its relations."""
    about_self = bool(_SELF.search(asked.says)) or request.own
    generic = asked.asked in _GENERIC or anchored or _ENDED.search(asked.says)
    if asked.asked is DeedAsked.ROOMS:
        return DeedQuery(kind=STAY) if about_self else None
    things = main.of('object')
    places = [*main.of('place'), *main.unknown]
    if about_self and not things and places and (_BEEN if asked.yes else _WAS_AT).search(asked.main):
        return DeedQuery(kind=STAY, place=' '.join(places))
    of_time = (request.window.after_ns, request.window.before_ns) != (None, None)
    if of_time and main.says_nothing and asked.has('detail'):
        return DeedQuery()
    others = (f'{word} {name}' for word in (*main.unknown, *main.of('')) for name in things)
    other = next((thing for thing in others if thing in asked.main.lower()), '')
    if other and main.kind and asked.asked is DeedAsked.WHETHER:
        return DeedQuery(main.kind, other)  # the green laptop is not the blue one
    if not main.says_nothing and (main.names or not main.unknown):
        query = names.meant(main, exactly=asked.yes, outcomes=outcomes_of(asked.says))
        moved = asked.asked is DeedAsked.COUNT and MOVED.search(asked.says)  # 'was it moved', by whoever
        own = about_self or generic or (main.kind and not main.weak)
        if query is not None:
            return query if own or moved or STEPS.search(asked.says) else None
    longest = order_of(asked.main) is not DeedOrder.FIRST
    known = main.kind and any(is_same_kind(main.kind, kind) for kind in names.kinds)
    lasted = known and about_self and asked.asked is DeedAsked.DURATION and not (anchored or main.unknown)
    if main.kind and not main.names and (longest or lasted):
        return DeedQuery(main.kind)  # 'your longest drive', 'how long did you drive'
    if asked.asked is DeedAsked.COUNT and about_self and main.names:
        return main.query()  # which finds none: never
    whatever = about_self and asked.asked in _OF_ANY and asked.has('doing')
    counted = _COUNTED.search(asked.main)
    if asked.asked is DeedAsked.COUNT and counted and counted[1].lower() not in _GENERAL:
        return None  # 'How many stops did you make?', of which no deed has the name
    if generic or (whatever and (of_time or not main.unknown)):
        return DeedQuery()
    if asked.asked is DeedAsked.WHETHER and about_self and main.kind and (main.names or main.unknown):
        return DeedQuery(kind=main.kind, object=' '.join((*main.unknown, *(name for name, _ in main.names))))
    return None


def _clause(text: str, names: DeedNames, scope: Scope, deed_query: DeedQuery) -> DeedQuery | None:
    """Return what something is before, after or during; None: no deed is so."""
    phrase = names.read(text)
    if phrase.says_nothing and not phrase.kind:
        return None
    query = names.meant(phrase)
    if query is not None and not query.object and re.search(r'\b(?:it|them)\b', text):
        attribute = query.attribute if phrase.names else f'{query.attribute} {deed_query.attribute}'.strip()
        query = replace(query, object=deed_query.object, attribute=attribute)
    return None if query is None else replace(query, scope=scope, nth=which_ones(text)[0])
