"""Reading a question about what the robot did: what of it is asked, which one, and before or after what."""

import re
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.quoting import ORDINALS, TO_TWENTY, any_case
from remembr_ros.memory.deeds.query import DeedOrder

_AUX = r"(?:did|do|does|have|has|had|was|were|is|are|am|could|can|will)(?:n['\u2019]?t)?"


class DeedAsked(Enum):
    """What a question asks of deeds, with the words that ask for it; the first that is found counts."""

    DAY_OF_MOST = (
        r'\b(?:day|date)\b.*\b(?:most|least|fewest|busiest)\b|\b(?:most|least|fewest|busiest)\b.*\bday\b'
    )
    DAYS_WITHOUT = r"\bdays?\b.*\b(?:without|no|not|never|didn['\u2019]?t|weren['\u2019]?t|wasn['\u2019]?t)\b"
    PER_DAY = (
        r'\b(?:count|number|many|often|times|figures?|totals?|breakdown|tally)\b'
        r'.*\b(?:(?:each|every|per|by) day|day by day|daily|a day)\b'
    )
    HOW_OFTEN = r'\bhow (?:often|frequently|many times)\b|\bnumber of times\b'  # a count, also of days
    DAYS = r'\b(?:what|which|all|each|the|how many) (?:\w+ )?(?:days|dates)\b'
    FROM_HERE = r'\bhow (?:far|many met\w+)\b.*\bfrom (?:here|where (?:you|we|i) (?:are|am))\b'
    DISTANCE = r'\bhow (?:far|many (?:met|kilomet)\w+|much (?:ground|distance))\b|\bdistance\b|\bmileage\b'
    DURATION = (
        r'\bhow (?:long|much (?:of (?:your|the) )?time|many (?:seconds|minutes|hours))\b(?! ago)'
        r"|\bduration\b|\blength of\b|\b(?:what(?:['\u2019]s| was| is) )(?:the|your)"
        r' (?:longest|shortest|quickest|fastest)\b'
    )
    COUNT = r'\bhow (?:often|frequently|many)\b|\bnumber of\b|\bhow regularly\b'
    WHY = (
        r'\bwhy\b|\breasons?\b|\bhow come\b|\bwhat happened (?:to|with)\b'
        r'|\bwhat (?:caused|made|stopped|kept)\b(?=.*\b(?:fail|stop|late|from)\w*)'
    )
    PROBLEMS = (
        r'\b(?:problem|trouble|issue|error|failure|difficult|mishap|incident|hiccup|complication'
        r'|hitch|snag)\w*\b|\b(?:went|go|goes|gone|going) (?:wrong|badly|awry)\b|\bgo smoothly\b'
    )
    HIGHLIGHTS = (
        r'\bhighlights?\b|\b(?:memorable|remarkable|noteworthy|notable|unusual|special|extraordinary'
        r'|exciting|interesting|outstanding)\b|\bstand(?:s|ing)? out\b|\bout of the ordinary\b|\bmoments\b'
        r'|\bworth (?:mention|tell|not)\w*|\bunforgettable\b|\bsurpris\w+|\bbest (?:bits|moments)\b'
    )
    BRIEFLY = r'\b(?:brief(?:ly)?|short|summar\w+|nutshell|overview|rough(?:ly)?|few words|quick(?:ly)?)\b'
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

    @property
    def pattern(self) -> re.Pattern[str]:
        """The words that ask for it."""
        return any_case(self.value)


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
    says: str = ''


_SAID_BY_ITSELF = (DeedAsked.HIGHLIGHTS, DeedAsked.PROBLEMS, DeedAsked.BRIEFLY, DeedAsked.WHY)
_PLEASE = any_case(
    r'^\W*(?:please )?(?:(?:can|could|would|will) you (?:please )?|do you (?:know|remember'
    r'|recall) )(?:(?:tell|show|give|remind) (?:me|us) |(?:say|list|name|count|recall) |(?=when|what'
    r'|how|why|where|which|who))'
)
_WENT_IN = any_case(
    r'\b(things?|items?|objects?|what|that|which|\w+s) (?:went|gone|go) (in|into|onto|on)\b(?! to\b)'
)
_CAME_OUT = any_case(r'\b(things?|items?|objects?|what|that|which|\w+s) (?:came|come) out of\b')
"""Of things: somebody put them there."""
_SUM_UP = any_case(r'\bsum up\b')
_BY_STEPS = any_case(r'\b(?:step by step|every step)\b')
_HERE = any_case(r'\b(?:as )?seen from (?:here|there)\b|\bfrom where (?:i|we) (?:stand|am|are|sit)\b')
_YES = any_case(rf'(?:^|[.!?;:,] ?(?:(?:but|and|so) )?)\W*{_AUX}\b')
_FAILED = any_case(
    r'\bfail\w*|\bunsuccess\w+|\bin vain\b|\brefus\w+|\bunable\b|\bnot (?:able|manage)\w*|\bstuck\b'
    r'|\bgave up\b|\b(?:go|went|gone|goes) (?:wrong|badly)\b'
)
_CANCELLED = any_case(
    r'\bcancel\w*|\babort\w*|\binterrupt\w*|\bbroken? off\b|\bcalled off\b|\bcut short\b'
    r'|\bstopped (?:early|half)'
)
_SUCCEEDED = any_case(
    r'\bsucce(?:ed|ss)\w*|\bmanaged?\b|\bworked out\b|\b(?:that|it|this) work(?:s|ed)?\b|\bwent well\b'
)
_TRIED = any_case(r'\b(?:tr(?:y|ied|ies)|attempt\w*)\b')
_NEVER = any_case(
    r'\bnever\b|\bnot (?:\w+ )?(?:touch|handl|pick|us|mov|visit|been|be|go|enter|put|ha|open|clean|ta)\w*'
    r"|\b(?:did|have|has|had|was|were)(?:n['\u2019]?t| (?:you|we|i|it) not)\b|\bst(?:ay|ayed) (?:out of"
    r'|away from)\b|\bavoid\w*|\bleave out\b|\buntouched\b|\bunvisited\b|\bleft alone\b'
)
_ORDINALS = {word: number for number, word in enumerate(ORDINALS[:12], start=1)}
_ORDINAL = any_case(
    r'\b(?P<second_last>(?:second to|next to) last|last but one|penultimate)\b'
    rf'|\b(?P<nth>{"|".join(_ORDINALS)})\b(?! (?:time )?(?:aid|floor)\b)|\b(?P<last>last|latest|final'
    rf'|most recent(?:ly)?)\b'
)
_LASTS = any_case(r'(?<!\bthe)(?<!\byour)(?<!\bvery) last(?=\W*$| (?:for|on average)\b)')
_NUMBER = rf'(?:\d+|{"|".join(TO_TWENTY[2:])}|couple of|few)'
_SOME = any_case(
    rf'\b(?:the )?(?P<which>first|last|next|previous|latest)? ?(?P<number>{_NUMBER}) (?P<what>things?'
    rf'|deeds|actions|tasks|jobs|steps'
    r'|items|objects|activities)\b'
)
_ORDERS = (
    (DeedOrder.LONGEST, any_case(r'\b(?:longest|slowest)\b|\btook (?:you )?the most time\b')),
    (DeedOrder.SHORTEST, any_case(r'\b(?:shortest|quickest|fastest|briefest)\b(?! (?:way|route|path))')),
    (DeedOrder.NEAREST, any_case(r'\b(?:nearest|closest)\b')),
    (DeedOrder.FARTHEST, any_case(r'\b(?:farthest|furthest)\b')),
    (DeedOrder.WAY, any_case(r'\b(?:shortest|quickest|best|fastest) (?:way|route|path|round)\b')),
)
_AVERAGE = any_case(r'\b(?:averag\w+|usually|typical(?:ly)?|normally|generally|mean|as a rule)\b')
_TOTAL = any_case(
    r'\b(?:in (?:total|all|sum)|total|al(?:l )?together|overall|added up|sum|combined'
    r'|how much (?:of \w+ )?time)\b'
)
_DISTINCT = any_case(
    r'\b(?:different|distinct|various|separate)\b|\bhow many (?:things|items|objects|rooms|places|kinds)\b'
)
_RIGHT = (
    r'(?P<right>(?:\b(?:right|immediately|just|directly|straight|shortly|very next|next) '
    r'(?:thing (?:\w+ ){0,3})?)?)'
)
_END = r'(?= ?(?:[,?!;]|\.(?:\s|$)|$))'
_BETWEEN = any_case(rf'\b(?:in )?between (?P<after>.+?) and (?P<before>.+?){_END}')
_FROM_TO = any_case(rf'\bfrom (?P<after>\w+ing\b.+?) (?:to|until|till) (?P<before>.+?){_END}')
_CLAUSE = rf'(?!that\b\W*$)(?P<clause>.+?){_END}'
_RELATIONS = (
    ('after', any_case(rf'{_RIGHT}\b(?:after|following|once|as soon as|since)\b {_CLAUSE}')),
    ('before', any_case(rf'{_RIGHT}\b(?:before|prior to|ahead of|until)\b {_CLAUSE}')),
    (
        'during',
        any_case(
            r'(?P<right>)\b(?:during|while|whilst|in the (?:middle|course) of|throughout|as(?= you\b))\b '
            rf'(?P<clause>.+?){_END}'
        ),
    ),
    (
        'at',
        any_case(
            rf'(?P<right>)\bwhen (?!{_AUX}\b)(?P<clause>(?:you|we|i|some\w+|any\w+|people|it|he|she'
            rf'|they|the|a|an|[a-z]+ing|(?-i:[A-Z])[a-z]+)\b.+?){_END}|\bthe (?:last|first'
            rf'|second) time (?:that |when )?(?P<clause_>(?:you|we|i|some\w+|the|a)\b.+?){_END}'
        ),
    ),
)
_BEFOREHAND = any_case(rf'{_RIGHT}\b(?:beforehand|before (?:that|this|it))\b')
_AFTERWARDS = any_case(
    rf'{_RIGHT}\b(?:afterwards?|after (?:that|this|it)|next|then|thereafter)\b(?= ?[?.!,]| ?$)'
)
_STEPS = any_case(r'\b(?:steps?|stages?|phases?)\b(?! (?:back|aside|by step|forward))')
MOST_WORDS = 5  # of the name of one of the things
_WHICH_OF = (
    r'^(?P<list>[^:?]+?) ?[:\u2013\u2014-] ?(?:which|what)\b.*\b(?:these|them|those|the \w+)\b',
    r'\b(?:which|what) of (?:these|the following|them)\b.*?[:\u2013\u2014] ?(?P<list>[^:?]+)',
    r'\bwhich\b.*?, ?(?P<list>(?:[^,?]+, ?)*[^,?]+\bor\b[^,?]+)\W*$',
)
_SENTENCE = any_case(r'(?<=[.!;]) ')


def parse_deeds(text: str) -> DeedRequest:
    """Return what a question asks of deeds.

    :param text: without its words of time
    """
    plain = _HERE.sub(' ', _PLEASE.sub('', ' '.join(text.split())))
    plain = _BY_STEPS.sub('in detail', plain)
    plain = _CAME_OUT.sub(r'\1 picked from', _WENT_IN.sub(r'\1 placed \2', plain))
    related, rest, right = _relations(plain)
    asked = next(asked for asked in DeedAsked if asked.pattern.search(plain))
    asked = DeedAsked.COUNT if asked is DeedAsked.HOW_OFTEN else asked
    yes = _YES.search(plain) is not None
    order = next((order for order, pattern in _ORDERS[::-1] if pattern.search(rest)), DeedOrder.FIRST)
    if asked is DeedAsked.DURATION:
        rest = _LASTS.sub(' ', rest)
    nth, limit, rest, order = parse_selection(rest, order)
    if asked in _SAID_BY_ITSELF:
        rest = asked.pattern.sub(' ', rest)
    if 'at' in related and 'before' in related and 'after' not in related:
        related['after'] = related.pop('at')  # 'When he asked, how far did you drive until you were there?'
    if ('at' in related or 'after' in related) and nth is None and (found := _ORDINAL.search(plain)):
        nth = -1 if found['last'] else _ORDINALS.get((found['nth'] or '').lower())
    failed, cancelled, succeeded = (p.search(plain) is not None for p in (_FAILED, _CANCELLED, _SUCCEEDED))
    outcomes = ('failed',) * failed + ('cancelled',) * cancelled + ('succeeded',) * succeeded
    if _TRIED.search(plain) and asked is DeedAsked.COUNT:
        outcomes = ()
    if asked in (DeedAsked.WHY, DeedAsked.PROBLEMS) and 'cancelled' not in outcomes:
        outcomes = ('failed', 'cancelled')
    average = _AVERAGE.search(plain) is not None
    if (average or _TOTAL.search(plain)) and asked is DeedAsked.DEEDS and not _SUM_UP.search(plain):
        asked = DeedAsked.DURATION  # 'What does an introduction take you on average?'
    if asked is DeedAsked.DEEDS or (asked is DeedAsked.ROOMS and yes):
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
        total=_TOTAL.search(plain) is not None,
        distinct=_DISTINCT.search(plain) is not None,
        outcomes=outcomes,
        never=_NEVER.search(plain) is not None,
        yes=yes,
        steps=_STEPS.search(plain) is not None,
        says=plain,
    )


def several_named(text: str) -> tuple[tuple[str, ...], str]:
    """Return the things of which one is asked for, and the question without them; none: all of it."""
    for pattern in _WHICH_OF:
        if found := re.search(pattern, text, re.IGNORECASE):
            parts = re.split(r', ?(?:and|or|nor) |,|\b(?:and|or|nor)\b', found['list'])
            names = tuple(part.strip() for part in parts if part.strip())
            if len(names) > 1 and all(len(name.split()) <= MOST_WORDS for name in names):
                return names, f'{text[: found.start("list")]} {text[found.end("list") :]}'
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


def parse_selection(text: str, order: DeedOrder) -> tuple[int | None, int | None, str, DeedOrder]:
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
