"""From a parsed question about deeds to a query, by the names in the deeds themselves."""

import re
from dataclasses import replace

from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.deeds.deed_request import NEVER, STEPS, DeedAsked, DeedRequest
from remembr_ros.agent.offline.deeds.sides import order_of, outcomes_of, which_ones
from remembr_ros.agent.offline.request import Request
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.names import DeedNames, DeedPhrase
from remembr_ros.memory.deeds.query import STAY, DeedOrder, DeedQuery
from remembr_ros.memory.model.recall import Scope
from remembr_ros.timestamps import NS

AROUND_NS = 900 * NS  # of a moment at which nothing was done, what was done so soon before or after is told

_SELF = any_case(r"\b(?:you|your|yours|yourself|we|us|our|the robot|robot's)\b")
SEEN = any_case(
    r'\b(?:see|saw|seen|seeing|camera|in(?:to)? (?:view|sight)|come across|notice[ds]?'
    r'|spot(?:ted)?|observed?|look(?:s|ed)? like)\b'
)
_DOING = any_case(
    r'\b(?:do|did|done|doing|happen\w*|get up to|got up to|busy|spen[dt]|work\w*|achieve\w*'
    r'|accomplish\w*|up to'
    r'|in (?:your )?hands?|in the middle of|account of|log|report|diary|deeds|jobs|tasks|activities)\b'
)
DETAIL = any_case(
    r'\b(?:detail\w*|exactly|everything|in detail|step by step|precisely|each|every|all|full)\b'
)
_TRIED = any_case(r'\b(?:tr(?:y|ied|ies)|attempt\w*)\b')
_LASTS = any_case(r'(?<!\bthe)(?<!\byour)(?<!\bvery) last(?=\W*$| (?:for|on average)\b)')
_MOVED = any_case(r'\b(?:mov(?:e|ed|ing)|carr(?:y|ied|ying)|relocat\w+|transport\w*)\b')
_BEEN = any_case(r'\b(?:been|enter\w*|visit\w*|set foot|inside|go|went|gone)\b')
_GENERIC = {DeedAsked.PROBLEMS, DeedAsked.WHY, DeedAsked.OUTCOME, DeedAsked.HIGHLIGHTS, DeedAsked.MOST}
_GENERIC |= {DeedAsked.DISTANCE, DeedAsked.DAY_OF_MOST}
"""What is asked of deeds alone, whoever is said to have done them."""


def build_deed_query(
    asked: DeedRequest, names: DeedNames, request: Request, question: Question, scope: Scope
) -> DeedQuery | None:
    """Return the query of a question; None: it is about something else than deeds.

    :param scope: the time, the robots and the map that the question is about
    """
    last = asked.main.rpartition('. ')[2]
    main = names.read(last if _DOING.search(last) and request.window.at_ns is not None else asked.main)
    sides: dict[str, DeedQuery] = {}
    for name, clause in sorted(asked.sides.items(), key=lambda side: _SIDES.index(side[0])):
        meant = sides.get('after') or sides.get('at') or main.query(bare=True)
        side = _clause(clause, names, scope, meant)
        if side is None:
            return None
        sides[name] = side
    at = sides.pop('at', None)
    if at is None and main.says_nothing and asked.asked in _OF_ITSELF and sides.keys() == {'during'}:
        at = sides.pop('during')
    if at is not None and not main.says_nothing:
        sides['during'] = at
    query = at if at and main.says_nothing else _main(asked, main, names, request, anchored=bool(sides))
    if query is None:
        return None
    moved = query.object or query.receptacle or asked.asked is DeedAsked.MOST
    if moved and not query.kind and _MOVED.search(asked.says):
        # Each time that it was put somewhere, or what was put there.
        query = replace(query, kind='place' if query.object or ' from ' not in asked.says else 'pick')
    if STEPS.search(asked.says) and not sides and not query.names_nothing:
        sides, query = {'during': replace(query, scope=scope)}, DeedQuery()
    if asked.asked is DeedAsked.DISTANCE and at is None and order_of(asked.main) is not DeedOrder.LONGEST:
        # Whatever was done between, the way is the robot's.
        whatever = sides.keys() >= {'after', 'before'}
        query = DeedQuery() if whatever else replace(query, kind='' if main.weak else query.kind)
    query = _selected(query, asked, question.here)
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


def _selected(query: DeedQuery, asked: DeedRequest, here: Pose | None) -> DeedQuery:
    """Return a query of those that are meant: the longest, the last two, those that failed."""
    order = order_of(asked.main)
    order = DeedOrder.FIRST if order.from_here and here is None else order
    lasting = asked.asked is DeedAsked.DURATION
    nth, limit, last = which_ones(_LASTS.sub(' ', asked.main) if lasting else asked.main)
    if nth is None and limit is None and order not in (DeedOrder.FIRST, DeedOrder.WAY):
        nth = 1
    if nth is None and not {'at', 'after'}.isdisjoint(asked.sides):
        nth, *_ = which_ones(asked.says)
    if last or (limit and 'before' in asked.sides and 'after' not in asked.sides):
        order = DeedOrder.LAST
    outcomes = outcomes_of(asked.says)
    if asked.asked is DeedAsked.COUNT and _TRIED.search(asked.says):
        outcomes = ()
    if asked.asked in (DeedAsked.WHY, DeedAsked.PROBLEMS) and 'cancelled' not in outcomes:
        outcomes = ('failed', 'cancelled')
    nth = None if asked.asked in _OF_ALL else nth
    at = here.position if here else None
    return replace(query, order=order, here=at, nth=nth, limit=limit, outcomes=outcomes)


_SIDES = ('at', 'after', 'before', 'during')
_OF_ANY = (DeedAsked.DEEDS, DeedAsked.BRIEFLY, DeedAsked.COUNT, DeedAsked.PER_DAY, DeedAsked.DAYS_WITHOUT)
_OF_ITSELF = (DeedAsked.DURATION, DeedAsked.DISTANCE, DeedAsked.TIME, DeedAsked.WHERE)
_OF_ALL = (DeedAsked.COUNT, DeedAsked.DAYS, DeedAsked.PER_DAY, DeedAsked.HIGHLIGHTS, DeedAsked.BRIEFLY)


def _main(  # noqa: PLR0911
    asked: DeedRequest, main: DeedPhrase, names: DeedNames, request: Request, *, anchored: bool
) -> DeedQuery | None:
    """Return what is asked for, apart from its relations."""
    about_self = bool(_SELF.search(asked.says)) or request.own
    generic = asked.asked in _GENERIC or anchored
    if asked.asked is DeedAsked.ROOMS:
        return DeedQuery(kind=STAY, object='') if about_self else None
    things = main.of('object')
    places = [*main.of('place'), *main.unknown]
    if asked.yes and about_self and not things and places and _BEEN.search(asked.main):
        return DeedQuery(kind=STAY, place=' '.join(places))
    of_time = (request.window.after_ns, request.window.before_ns) != (None, None)
    whole_time = of_time and main.says_nothing and DETAIL.search(asked.says)
    if whole_time and not any(role for _, role in main.names):
        return DeedQuery()
    others = [f'{word} {name}' for word in (*main.unknown, *main.of('')) for name in things]
    if asked.yes and main.kind and (other := [thing for thing in others if thing in asked.main.lower()]):
        return DeedQuery(main.kind, other[0])  # the green laptop is not the blue one
    if not main.says_nothing and (main.names or not main.unknown):
        query = names.meant(main, exactly=asked.yes, outcomes=outcomes_of(asked.says))
        moved = asked.asked is DeedAsked.COUNT and _MOVED.search(asked.says)  # 'was it moved', by whoever
        known = (
            (bool(main.kind) and not main.weak) or about_self or generic or STEPS.search(asked.says) or moved
        )
        if query is not None:
            return query if known else None
    if main.kind and not main.names and order_of(asked.main) is not DeedOrder.FIRST:
        return DeedQuery(main.kind)  # 'your longest drive'
    if generic or (
        about_self
        and asked.asked in _OF_ANY
        and not asked.yes
        and _DOING.search(asked.says)
        and (of_time or not main.unknown)
    ):
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
