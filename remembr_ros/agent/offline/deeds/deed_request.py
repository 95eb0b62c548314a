"""Reading a question about what the robot did: what of it is asked, which one, and before or after what."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.english import is_there, parse
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.deeds.sides import SIDES, find_sides
from remembr_ros.memory.matching.terms import words

_AUX = r"(?:did|do|does|have|has|had|was|were|is|are|am|could|can|will)(?:n['\u2019]?t)?"


class DeedAsked(Enum):
    """What a question asks of deeds, with the words that ask for it; the first that is found counts."""

    DAY_OF_MOST = r'\bday\b.*\b(?:most|least|fewest|busiest)\b|\b(?:most|least|fewest|busiest)\b.*\bday\b'
    MOST = r'\b(?:what|which|who)\b.*\b(?:most|least) (?:often|frequently)\b'
    DAYS_WITHOUT = r"\bdays?\b.*\b(?:without|no|not|never|didn['\u2019]?t|weren['\u2019]?t|wasn['\u2019]?t)\b"
    PER_DAY = r'\b(?:count|number|many|often|times|total)\b.*\b(?:(?:each|every|per|by) day|daily|a day)\b'
    HOW_OFTEN = r'\b(?:how (?:often|frequently|many times)|number of times)\b'  # a count, also of days
    DAYS = r'\b(?:what|which|all|each|the|how many) (?:\w+ )?(?:days|dates)\b'
    FROM_HERE = r'\bhow (?:far|many met\w+)\b.*\bfrom (?:here|where (?:you|we|i) (?:are|am))\b'
    DISTANCE = r'\bhow (?:far|many (?:met|kilomet)\w+|much (?:ground|distance))\b|\bdistance\b|\bmileage\b'
    DURATION = (
        r'\bhow (?:long|much (?:of (?:your|the) )?time|many (?:seconds|minutes|hours))\b(?! ago)|\bduration\b'
        r"|\bwhat(?:['\u2019]s| was| is) (?:the|your) (?:longest|shortest|quickest|fastest)\b"
    )
    COUNT = r'\bhow (?:often|frequently|many)\b|\bnumber of\b|\bhow regularly\b'
    WHY = (
        r'\b(?:why|reasons?|how come|what happened (?:to|with))\b'
        r'|\bwhat (?:caused|made|stopped|kept)\b(?=.*\b(?:fail|stop|late|from)\w*)'
    )
    PROBLEMS = (
        r'\b(?:problem|trouble|issue|error|failure|difficult|mishap|incident|hiccup|hitch|snag)\w*\b'
        r'|\b(?:went|go|goes|gone|going) (?:wrong|badly|awry)\b|\bgo smoothly\b'
    )
    HIGHLIGHTS = (
        r'\b(?:highlights?|memorable|remarkable|noteworthy|notable|unusual|special|exciting|interesting'
        r'|st[ao]\w*d out|out of the ordinary|moments|worth (?:mention|tell|not)\w*|surpris\w+)\b'
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


AVERAGE = any_case(r'\b(?:averag\w+|usually|typical(?:ly)?|normally|generally|mean|as a rule)\b')
TOTAL = any_case(
    r'\b(?:in (?:total|all|sum)|total|al(?:l )?together|overall|added up|sum|combined'
    r'|how much (?:of \w+ )?time)\b'
)
DISTINCT = any_case(
    r'\b(?:different|distinct|various|separate)\b|\bhow many (?:things|items|objects|rooms|places|kinds)\b'
)
NEVER = any_case(
    r'\bnever\b|\bnot (?:\w+ )?(?:touch|handl|pick|us|mov|visit|been|be|go|enter|put|ha|open|clean|ta)\w*'
    r"|\b(?:did|have|has|had|was|were)(?:n['\u2019]?t| (?:you|we|i|it) not)\b|\bst(?:ay|ayed) (?:out of"
    r'|away from)\b|\bavoid\w*|\bleave out\b|\buntouched\b|\bunvisited\b|\bleft alone\b'
)
STEPS = any_case(r'\b(?:steps?|stages?|phases?)\b(?! (?:back|aside|by step|forward))')
"""What more a question may say."""
_SAID_BY_ITSELF = (DeedAsked.HIGHLIGHTS, DeedAsked.PROBLEMS, DeedAsked.BRIEFLY, DeedAsked.WHY)
_CAME_OUT = any_case(r'\b(things?|items?|objects?|what|that|which|\w+s) came out of\b')
"""Of things: somebody put them there."""
_YES = any_case(rf'(?:^|[.!?;:,] ?(?:(?:but|and|so) )?)\W*{_AUX}\b')
_UNREAD = frozenset('before after during while whilst until since between following'.split())
"""Words of time that are not read where there is no model of English."""
MOST_WORDS = 5  # of the name of one of the things
_WHICH_OF = (
    r'^(?P<list>[^:?]+?) ?[:\u2013\u2014-] ?(?:which|what)\b.*\b(?:these|them|those|the \w+)\b',
    r'\b(?:which|what) of (?:these|the following|them)\b.*?[:\u2013\u2014] ?(?P<list>[^:?]+)',
    r'\bwhich\b.*?, ?(?P<list>(?:[^,?]+, ?)*[^,?]+\bor\b[^,?]+)\W*$',
)


def parse_deeds(text: str) -> DeedRequest | None:
    """Return what a question asks of deeds; None: what that is related to is not understood.

    :param text: without its words of time
    """
    text = _CAME_OUT.sub(r'\1 picked from', ' '.join(text.split()))
    if not is_there() and not _UNREAD.isdisjoint(words(text)):
        return None
    related, main, right = _relations(text)
    asked = next(asked for asked in DeedAsked if asked.pattern.search(text))
    asked = DeedAsked.COUNT if asked is DeedAsked.HOW_OFTEN else asked
    yes = _YES.search(text) is not None
    if asked in _SAID_BY_ITSELF:
        main = asked.pattern.sub(' ', main)
    if 'at' in related and 'before' in related and 'after' not in related:
        related['after'] = related.pop('at')  # 'When he asked, how far did you drive until you were there?'
    if asked is DeedAsked.DEEDS and (AVERAGE.search(text) or TOTAL.search(text)):
        asked = DeedAsked.DURATION  # 'What does an introduction take you on average?'
    if asked is DeedAsked.DEEDS or (asked is DeedAsked.ROOMS and yes):
        asked = DeedAsked.WHETHER if yes else DeedAsked.DEEDS
    return DeedRequest(asked, main, related, right, yes, text)


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
    related, rest = dict[str, str](), text
    if SIDES.keys().isdisjoint(words(text)):  # most questions need not be parsed once more
        return related, rest, False
    tree = parse(text)
    sides = find_sides(tree)
    for side in sides[::-1]:
        start, first, last = tree.words[side.start].start, side.said[0].start, side.said[-1]
        end = tree.words[side.stop - 1].start + len(tree.words[side.stop - 1].text)
        related[side.name] = text[first : last.start + len(last.text)]
        rest = f'{rest[:start]} {rest[end:]}'
    return related, rest, any(side.right for side in sides)
