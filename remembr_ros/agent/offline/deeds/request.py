"""Reading a question about what the robot did: what of it is asked, which one, and before or after what."""

import re
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.number_words import TO_TWENTY
from remembr_ros.memory.deeds.query import DeedOrder


class DeedAsked(Enum):
    """What a question asks of deeds."""

    DAY_OF_MOST = 'day of most'
    DAYS_WITHOUT = 'days without'
    PER_DAY = 'per day'
    DAYS = 'days'
    FROM_HERE = 'from here'
    DISTANCE = 'distance'
    DURATION = 'duration'
    COUNT = 'count'
    TIME = 'time'
    WHERE = 'where'
    ROOMS = 'rooms'
    WHY = 'why'
    PROBLEMS = 'problems'
    HIGHLIGHTS = 'highlights'
    OUTCOME = 'outcome'
    BRIEFLY = 'briefly'
    WHETHER = 'whether'
    DEEDS = 'deeds'


@dataclass(frozen=True, slots=True)
class DeedRequest:
    """A question about deeds, understood but for its names.

    :param main: what is asked for, in the asker's words; those of time and of relations are left out
    :param after: what it is after, in the asker's words; empty: nothing
    :param before: what it is before; with after: between both
    :param during: what was going on meanwhile
    :param at: what it was the same as, or came right after: 'the last time that you were asked to'
    :param right: nothing else was done in between
    :param order: what comes first
    :param nth: only this one of the order; -1: the last
    :param limit: so many of them
    :param average: the mean of all; total: their sum
    :param distinct: each thing once
    :param outcomes: how it ended
    :param never: what none of them had
    :param yes: yes or no is asked for
    :param steps: what the named deed consists of is asked for
    :param alternatives: which of these, in the asker's words
    :param says: all of it
    """

    asked: DeedAsked
    main: str
    after: str = ''
    before: str = ''
    during: str = ''
    at: str = ''
    right: bool = False
    order: DeedOrder = DeedOrder.FIRST
    nth: int | None = None
    limit: int | None = None
    average: bool = False
    total: bool = False
    distinct: bool = False
    outcomes: tuple[str, ...] = ()
    never: bool = False
    yes: bool = False
    steps: bool = False
    alternatives: tuple[str, ...] = ()
    says: str = ''


_SELF = r'(?:you|we|i|it|he|she|the\s+robot)'
_AUX = r"(?:did|do|does|have|has|had|was|were|is|are|am|could|can|will)(?:n['\u2019]?t)?"
_ASKED = tuple(
    (asked, re.compile(pattern, re.IGNORECASE))
    for asked, pattern in (
        (
            DeedAsked.DAY_OF_MOST,
            r'\b(?:day|date)\b.*\b(?:most|least|fewest|busiest)\b|\b(?:most|least|fewest|busiest)\b.*\bday\b',
        ),
        (
            DeedAsked.DAYS_WITHOUT,
            r"\bdays?\b.*\b(?:without|no|not|never|didn['\u2019]?t|weren['\u2019]?t|wasn['\u2019]?t)\b",
        ),
        (DeedAsked.PER_DAY, r'\b(?:count|number|many|often|times|figures?|totals?|breakdown'
        r'|tally)\b.*\b(?:(?:each|every|per|by)\s+day'
        r'|day\s+by\s+day|daily|a\s+day)\b'),
        (DeedAsked.COUNT, r'\bhow\s+(?:often|frequently|many\s+times)\b|\bnumber\s+of\s+times\b'),
        (DeedAsked.DAYS, r'\b(?:what|which|all|each|the|how\s+many)\s+(?:\w+\s+)?(?:days|dates)\b'),
        (DeedAsked.FROM_HERE, r'\bhow\s+(?:far|many\s+met\w+)\b.*\bfrom\s+(?:here|where\s+(?:you|we'
        r'|i)\s+(?:are|am))\b'),
        (
            DeedAsked.DISTANCE,
            r'\bhow\s+(?:far|many\s+(?:met|kilomet)\w+|much\s+(?:ground|distance))\b|\bdistance\b|\bmileage\b',
        ),
        (
            DeedAsked.DURATION,
            r'\bhow\s+(?:long|much\s+(?:of\s+(?:your|the)\s+)?time|many\s+(?:seconds|minutes|hours))\b(?!\s+ago)'
            r"|\bduration\b|\blength\s+of\b|\b(?:what(?:['\u2019]s|\s+was|\s+is)\s+)(?:the|your)\s+(?:longest|shortest|quickest|fastest)\b",
        ),
        (
            DeedAsked.COUNT,
            r'\bhow\s+(?:often|frequently|many)\b|\bnumber\s+of\b|\bhow\s+regularly\b',
        ),
        (DeedAsked.WHY, r'\bwhy\b|\breasons?\b|\bhow\s+come\b|\bwhat\s+(?:caused|made|stopped'
        r'|kept)\b(?=.*\b(?:fail|stop|late|from)\w*)'),
        (
            DeedAsked.PROBLEMS,
            r'\b(?:problem|trouble|issue|error|failure|difficult|mishap|incident|hiccup|complication|hitch|snag)\w*\b'
            r'|\b(?:went|go|goes|gone|going)\s+(?:wrong|badly|awry)\b|\bgo\s+smoothly\b',
        ),
        (
            DeedAsked.HIGHLIGHTS,
            r'\bhighlights?\b|\b(?:memorable|remarkable|noteworthy|notable|unusual|special|extraordinary|exciting'
            r'|interesting|outstanding)\b|\bstand(?:s|ing)?\s+out\b|\bout\s+of\s+the\s+ordinary\b|\bmoments\b|\bworth\s+(?:mention|tell|not)\w*|\bunforgettable\b|\bsurpris\w+|\bbest\s+(?:bits|moments)\b',
        ),
        (DeedAsked.BRIEFLY, r'\b(?:brief(?:ly)?|short|summar\w+|nutshell|overview|rough(?:ly)?'
        r'|few\s+words|quick(?:ly)?)\b'),
        (
            DeedAsked.TIME,
            rf'(?:^|[?!,;:.\u2013-]\s*|\band\s+|\bat\s+)(?:since\s+)?when\b(?=\s+{_AUX}\b|\W*$)|\b(?:what|which)\s+time\b'
            r'|\b(?:on\s+)?(?:what|which)\s+(?:day|date)\b|\bhow\s+long\s+ago\b',
        ),
        (DeedAsked.ROOMS, r'\b(?:what|which|what\s+other)\s+(?:one\s+)?(?:rooms?|places?|areas?)\b'
        r'|\brooms?\b.*\bnever\b'),
        (DeedAsked.WHERE, rf'\bwhere\b.*\b(?:{_SELF}|end(?:ed)?\s+up)\b'),
        (
            DeedAsked.OUTCOME,
            r'\bhow\s+did\b.*\b(?:go|end|turn\s+out|work\s+out)\b|\b(?:result|outcome)\b|^\W*(?:did|were|was)\b.*\b(?:succe\w+|work\b)',
        ),
    )
)  # fmt: skip
_SAID_BY_ITSELF = (DeedAsked.HIGHLIGHTS, DeedAsked.PROBLEMS, DeedAsked.BRIEFLY, DeedAsked.WHY)
_PLEASE = re.compile(
    r'^\W*(?:please\s+)?(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?|do\s+you\s+(?:know|remember|recall)\s+)'
    r'(?:(?:tell|show|give|remind)\s+(?:me|us)\s+|(?:say|list|name|count|recall)\s+|(?=when|what|how|why|where|which|who))',
    re.IGNORECASE,
)
_WENT_IN = re.compile(
    r'\b(things?|items?|objects?|what|that|which|\w+s)\s+(?:went|gone|go)\s+(in|into|onto|on)\b(?!\s+to\b)',
    re.IGNORECASE,
)
_CAME_OUT = re.compile(
    r'\b(things?|items?|objects?|what|that|which|\w+s)\s+(?:came|come)\s+out\s+of\b', re.IGNORECASE
)
"""Of things: somebody put them there."""
_SUM_UP = re.compile(r'\bsum\s+up\b', re.IGNORECASE)
_BY_STEPS = re.compile(r'\b(?:step\s+by\s+step|every\s+step)\b', re.IGNORECASE)
_HERE = re.compile(
    r'\b(?:as\s+)?seen\s+from\s+(?:here|there)\b|\bfrom\s+where\s+(?:i|we)\s+(?:stand|am|are|sit)\b',
    re.IGNORECASE,
)
_YES = re.compile(rf'(?:^|[.!?;:,]\s*(?:(?:but|and|so)\s+)?)\W*{_AUX}\b', re.IGNORECASE)
_FAILED = re.compile(
    r'\bfail\w*|\bunsuccess\w+|\bin\s+vain\b|\brefus\w+|\bunable\b|\bnot\s+(?:able|manage)\w*|\bstuck\b|\bgave\s+up\b'
    r'|\b(?:go|went|gone|goes)\s+(?:wrong|badly)\b',
    re.IGNORECASE,
)
_CANCELLED = re.compile(
    r'\bcancel\w*|\babort\w*|\binterrupt\w*|\bbroken?\s+off\b|\bcalled\s+off\b|\bcut\s+short\b|\bstopped\s+(?:early|half)',
    re.IGNORECASE,
)
_SUCCEEDED = re.compile(
    r'\bsucce(?:ed|ss)\w*|\bmanaged?\b|\bworked\s+out\b|\b(?:that|it'
    r'|this)\s+work(?:s|ed)?\b|\bwent\s+well\b',
    re.IGNORECASE,
)
_TRIED = re.compile(r'\b(?:tr(?:y|ied|ies)|attempt\w*)\b', re.IGNORECASE)
_NEVER = re.compile(
    r'\bnever\b|\bnot\s+(?:\w+\s+)?(?:touch|handl|pick|us|mov|visit|been|be|go|enter|put|ha|open|clean|ta)\w*'
    r"|\b(?:did|have|has|had|was|were)(?:n['\u2019]?t|\s+(?:you|we|i|it)\s+not)\b|\bst(?:ay|ayed)\s+(?:out\s+of|away\s+from)\b|\bavoid\w*|\bleave\s+out\b|\buntouched\b|\bunvisited\b|\bleft\s+alone\b",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\b(?:no|none|not|never|without|neither)\b|n['\u2019]t\b|\buntouched\b|\bout\s+of\b", re.IGNORECASE
)
_ORDINALS = dict(
    zip('first second third fourth fifth sixth seventh eighth ninth tenth'.split(), range(1, 11), strict=True)
)
_ORDINAL = re.compile(
    r'\b(?P<second_last>(?:second\s+to|next\s+to)\s+last|last\s+but\s+one|penultimate)\b'
    rf'|\b(?P<nth>{"|".join(_ORDINALS)})\b(?!\s+(?:time\s+)?(?:aid|floor)\b)|\b(?P<last>last|latest|final|most\s+recent(?:ly)?)\b',
    re.IGNORECASE,
)
_LASTS = re.compile(
    r'(?<!\bthe)(?<!\byour)(?<!\bvery)\s+last(?=\W*$|\s+(?:for|on\s+average)\b)', re.IGNORECASE
)
_NUMBER = rf'(?:\d+|{"|".join(TO_TWENTY[2:])}|couple\s+of|few)'
_SOME = re.compile(
    rf'\b(?:the\s+)?(?P<which>first|last|next|previous|latest)?\s*(?P<number>{_NUMBER})\s+(?P<what>things?|deeds|actions|tasks|jobs|steps'
    r'|items|objects|activities)\b',
    re.IGNORECASE,
)
_ORDERS = (
    (DeedOrder.LONGEST, re.compile(r'\b(?:longest|slowest)\b'
    r'|\btook\s+(?:you\s+)?the\s+most\s+time\b', re.IGNORECASE)),
    (DeedOrder.SHORTEST, re.compile(r'\b(?:shortest|quickest|fastest|briefest)\b(?!\s+(?:way|route'
    r'|path))', re.IGNORECASE)),
    (DeedOrder.NEAREST, re.compile(r'\b(?:nearest|closest)\b', re.IGNORECASE)),
    (DeedOrder.FARTHEST, re.compile(r'\b(?:farthest|furthest)\b', re.IGNORECASE)),
    (DeedOrder.WAY, re.compile(r'\b(?:shortest|quickest|best|fastest)\s+(?:way|route|path'
    r'|round)\b', re.IGNORECASE)),
)  # fmt: skip
_AVERAGE = re.compile(
    r'\b(?:averag\w+|usually|typical(?:ly)?|normally|generally|mean'
    r'|as\s+a\s+rule)\b',
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r'\b(?:in\s+(?:total|all|sum)|total|al(?:l\s+)?together|overall|added\s+up|sum|combined|how\s+much\s+(?:of\s+\w+\s+)?time)\b',
    re.IGNORECASE,
)
_DISTINCT = re.compile(
    r'\b(?:different|distinct|various|separate)\b|\bhow\s+many\s+(?:things|items|objects|rooms|places'
    r'|kinds)\b',
    re.IGNORECASE,
)
_RIGHT = (
    r'(?P<right>(?:\b(?:right|immediately|just|directly|straight|shortly|very\s+next|next)\s+'
    r'(?:thing\s+(?:\w+\s+){0,3})?)?)'
)
_END = r'(?=\s*(?:[,?!;]|\.(?:\s|$)|$))'
_BETWEEN = re.compile(rf'\b(?:in\s+)?between\s+(?P<after>.+?)\s+and\s+(?P<before>.+?){_END}', re.IGNORECASE)
_FROM_TO = re.compile(
    rf'\bfrom\s+(?P<after>\w+ing\b.+?)\s+(?:to|until'
    rf'|till)\s+(?P<before>.+?){_END}',
    re.IGNORECASE,
)
_RELATIONS = (
    ('after', re.compile(rf'{_RIGHT}\b(?:after|following|once|as\s+soon\s+as'
    rf'|since)\b\s+(?!that\b\W*$)(?P<clause>.+?){_END}', re.IGNORECASE)),
    ('before', re.compile(rf'{_RIGHT}\b(?:before|prior\s+to|ahead\s+of'
    rf'|until)\b\s+(?!that\b\W*$)(?P<clause>.+?){_END}', re.IGNORECASE)),
    ('during', re.compile(rf'(?P<right>)\b(?:during|while|whilst|in\s+the\s+(?:middle|course)\s+of'
    rf'|throughout)\b\s+(?P<clause>.+?){_END}', re.IGNORECASE)),
    ('during', re.compile(rf'(?P<right>)\bas\s+(?P<clause>you\b.+?){_END}', re.IGNORECASE)),
    ('at', re.compile(
        rf'(?P<right>)\bwhen\s+(?!{_AUX}\b)(?P<clause>(?:you|we|i|some\w+|any\w+|people|it|he|she|they|the|a|an|[a-z]+ing|(?-i:[A-Z])[a-z]+)\b.+?){_END}'
        rf'|\bthe\s+(?:last|first|second)\s+time\s+(?:that\s+|when\s+)?(?P<clause_>(?:you|we|i|some\w+'
        rf'|the|a)\b.+?){_END}', re.IGNORECASE)),
)  # fmt: skip
_BEFOREHAND = re.compile(rf'{_RIGHT}\b(?:beforehand|before\s+(?:that|this|it))\b', re.IGNORECASE)
_AFTERWARDS = re.compile(
    rf'{_RIGHT}\b(?:afterwards?|after\s+(?:that|this|it)|next|then'
    rf'|thereafter)\b(?=\s*[?.!,]|\s*$)',
    re.IGNORECASE,
)
_STEPS = re.compile(r'\b(?:steps?|stages?|phases?)\b(?!\s+(?:back|aside|by\s+step|forward))', re.IGNORECASE)
MOST_WORDS = 5  # of the name of one of several things
_WHICH_OF = (
    re.compile(
        r'^(?P<list>[^:?]+?)\s*[:\u2013\u2014-]\s*(?:which|what)\b.*\b(?:these|them|those'
        r'|the\s+\w+)\b',
        re.IGNORECASE,
    ),
    re.compile(
        r'\b(?:which|what)\s+of\s+(?:these|the\s+following'
        r'|them)\b.*?[:\u2013\u2014]\s*(?P<list>[^:?]+)',
        re.IGNORECASE,
    ),
    re.compile(r'\bwhich\b.*?,\s*(?P<list>(?:[^,?]+,\s*)*[^,?]+\bor\b[^,?]+)\W*$', re.IGNORECASE),
)
_SENTENCE = re.compile(r'(?<=[.!;])\s+')


def parse_deeds(text: str) -> DeedRequest:
    """Return what a question asks of deeds.

    :param text: without its words of time
    """
    said = _HERE.sub(' ', _PLEASE.sub('', ' '.join(text.split())))
    said = _BY_STEPS.sub('in detail', said)
    said = _CAME_OUT.sub(r'\1 picked from', _WENT_IN.sub(r'\1 placed \2', said))
    alternatives, plain = _alternatives(said)
    related, rest, right = _relations(plain)
    asked = next((asked for asked, pattern in _ASKED if pattern.search(said)), None)
    yes = _YES.search(said) is not None
    order = next((order for order, pattern in _ORDERS[::-1] if pattern.search(rest)), DeedOrder.FIRST)
    if asked is DeedAsked.DURATION:
        rest = _LASTS.sub(' ', rest)
    nth, limit, rest, order = picked(rest, order)
    if asked in _SAID_BY_ITSELF:
        rest = next(p for a, p in _ASKED if a is asked).sub(' ', rest)
    if 'at' in related and 'before' in related and 'after' not in related:
        related['after'] = related.pop('at')  # 'When he asked, how far did you drive until you were there?'
    if ('at' in related or 'after' in related) and nth is None and (found := _ORDINAL.search(said)):
        nth = -1 if found['last'] else _ORDINALS.get((found['nth'] or '').lower())
    failed, cancelled, succeeded = (p.search(said) is not None for p in (_FAILED, _CANCELLED, _SUCCEEDED))
    outcomes = ('failed',) * failed + ('cancelled',) * cancelled + ('succeeded',) * succeeded
    if _TRIED.search(said) and asked is DeedAsked.COUNT:
        outcomes = ()
    if asked in (DeedAsked.WHY, DeedAsked.PROBLEMS) and 'cancelled' not in outcomes:
        outcomes = ('failed', 'cancelled')
    average = _AVERAGE.search(said) is not None
    if (average or _TOTAL.search(said)) and asked is None and not _SUM_UP.search(said):
        asked = DeedAsked.DURATION  # 'What does an introduction take you on average?'
    if asked is None or (asked is DeedAsked.ROOMS and yes):
        asked = DeedAsked.WHETHER if yes else DeedAsked.DEEDS
    return DeedRequest(
        asked,
        rest,
        **related,
        right=right,
        order=order,
        nth=nth,
        limit=limit,
        average=average,
        total=_TOTAL.search(said) is not None,
        distinct=_DISTINCT.search(said) is not None,
        outcomes=outcomes,
        never=(_NONE if alternatives else _NEVER).search(said) is not None,
        yes=yes,
        steps=_STEPS.search(said) is not None,
        alternatives=alternatives,
        says=said,
    )


def _alternatives(text: str) -> tuple[tuple[str, ...], str]:
    """Return of which things one is asked for, and the question without them."""
    for pattern in _WHICH_OF:
        if found := pattern.search(text):
            parts = [
                part.strip()
                for part in re.split(
                    r',\s*(?:and|or|nor)\s+|,|\b(?:and|or'
                    r'|nor)\b',
                    found['list'],
                )
            ]
            parts = [part for part in parts if part]
            if len(parts) > 1 and all(len(part.split()) <= MOST_WORDS for part in parts):
                return tuple(parts), f'{text[: found.start("list")]} {text[found.end("list") :]}'
    return (), text


def _relations(text: str) -> tuple[dict[str, str], str, bool]:
    """Return what a question puts in relation to what is asked, the rest of it, and whether right beside."""
    for pattern in (_BETWEEN, _FROM_TO):
        if found := pattern.search(text):
            rest = f'{text[: found.start()]} {text[found.end() :]}'
            return {'after': found['after'], 'before': found['before']}, rest, False
    parts = _SENTENCE.split(text)
    for name, pattern in (('before', _BEFOREHAND), ('after', _AFTERWARDS)):
        if len(parts) > 1 and (found := pattern.search(parts[-1])):
            clause, rest = ' '.join(parts[:-1]), pattern.sub(' ', parts[-1])
            right = bool(found['right']) or name == 'before' or 'next' in found[0].lower()
            return {name: clause}, rest, right
    related: dict[str, str] = {}
    right = False
    for name, pattern in _RELATIONS:
        found = pattern.search(text)
        if found is None or name in related:
            continue
        clause = found['clause'] or found.groupdict().get('clause_') or ''
        related[name] = clause
        right = right or bool(found['right'])
        text = f'{text[: found.start()]} {text[found.end() :]}'
    return related, text, right


def picked(text: str, order: DeedOrder) -> tuple[int | None, int | None, str, DeedOrder]:
    """Return which one is asked for, or how many, the text without these words, and the order."""
    if found := _SOME.search(text):
        number = found['number'].lower()
        count = 2 if number.startswith('couple') else 3 if number == 'few' else 0
        count = count or (int(number) if number.isdigit() else TO_TWENTY.index(number))
        last = (found['which'] or '').lower() in ('last', 'previous', 'latest')
        rest = f'{text[: found.start()]} {text[found.end() :]}'
        return None, count, rest, DeedOrder.LAST if last else order
    if found := _ORDINAL.search(text):
        nth = -2 if found['second_last'] else -1 if found['last'] else _ORDINALS[found['nth'].lower()]
        rest = f'{text[: found.start()]} {text[found.end() :]}'
        return nth, None, rest, order
    return (1 if order not in (DeedOrder.FIRST, DeedOrder.WAY) else None), None, text, order
