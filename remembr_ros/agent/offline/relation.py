"""Parses relations in a question: before, after, near, on the way to."""

import re
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.quoting import any_case, masked
from remembr_ros.agent.offline.question_terms import target_of
from remembr_ros.memory.matching.terms import words


class RelationKind(str, Enum):
    """How other things narrow down where or when the first one is looked for."""

    BEFORE = 'before'
    AFTER = 'after'
    WHILE = 'while'
    NEAR = 'near'
    ON_THE_WAY = 'on_the_way'
    BETWEEN = 'between'


@dataclass(frozen=True, slots=True)
class Relation:
    """What a question puts in relation, in the asker's words.

    :param first: what is asked about; empty: whatever was there, as in 'What did you see after the lift?'
    :param second: what it is before, after, near or on the way to
    :param third: the other end, if it is between two things; else empty
    :param measured: it says what can be told from places; else a side, as in 'behind the lift'
    """

    kind: RelationKind
    first: str
    second: str
    third: str = ''
    measured: bool = True


_BETWEEN = (
    any_case(r'^(?P<first>.*?)\bbetween\b(?P<second>.+?)\band\b(?P<third>.+)'),
    any_case(r'^(?P<first>.*?)\bfrom\b(?P<second>.+?)\b(?:to|until|till)\b(?P<third>.+)'),
    any_case(r'^how far\b(?P<second>.+?)\bfrom\b(?P<third>.+)'),
)
_PATTERNS = {
    kind: any_case(rf'^(?P<first>.*?)\b(?:{pattern})\b(?P<second>.+)')
    for kind, pattern in {
        RelationKind.ON_THE_WAY: r'(?:(?:on|along) (?:the|your|our|my) way|en route) (?:back )?to',
        RelationKind.BEFORE: r'before|until|till',
        RelationKind.AFTER: r'(?:(?:right|just) )?after|beyond',
        RelationKind.WHILE: r'(?:while|when)(?= (?:you|we|i) (?:were|was|went|passed|saw)\b)',
        RelationKind.NEAR: r'near(?: to|est to)?|beside|behind|opposite|(?:close|closest|next) to'
        r'|by(?= the\b)|in front of|across from|around(?= the\b)',
    }.items()
}
PASSED = any_case(
    r'^(?:(?:you|we|i|the robot) )?(?:(?:had|were) )?(?:left|leaving|enter(?:ed|ing)|got to|pass(?:ed|ing)'
    r'|reach(?:ed|ing)|saw|seeing) '
)
"""What the robot did with an anchor."""
_SIDE = frozenset(('behind', 'opposite', 'front', 'across'))
_THING_NEEDED = frozenset((RelationKind.WHILE, RelationKind.NEAR))
"""'What is written near the lift?' is about the lift alone; 'What is near the lift?' about all that is."""
_WHAT_IS = any_case(
    r"^(?:so |and )?(?:what|which (?:room|place|thing)s?)(?:'s| (?:is|are|was|were))"
    r'(?: (?:there|else))*\s*$'
)

_FRONTED = any_case(
    r'^(?P<clause>(?:(?:right|just) )?(?:after|before|while|when|near|on (?:the|your|our|my) way)\b[^,]+),'
    r'\s*(?P<rest>.+?)[?.!\s]*$'
)


def unfronted(text: str) -> tuple[str, str]:
    """Return a question and the clause before its comma: 'After the lift, where did you go?' asks where."""
    found = _FRONTED.match(text)
    return (found['rest'], found['clause']) if found else (text, '')


def parse_relation(text: str) -> Relation | None:
    """Return what a question puts in relation; words within quotation marks do not relate."""
    plain = masked(text)

    def part(found: re.Match[str], name: str) -> str:
        phrase = text[slice(*found.span(name))].strip(' ?!.,') if name in found.re.groupindex else ''
        phrase = phrase if name == 'first' else PASSED.sub('', phrase)
        return phrase if words(target_of(phrase)) else ''

    for pattern in _BETWEEN:
        found = pattern.search(plain)
        if found and (second := part(found, 'second')) and (third := part(found, 'third')):
            return Relation(RelationKind.BETWEEN, part(found, 'first'), second, third)
    for kind, pattern in _PATTERNS.items():
        found = pattern.search(plain)
        if found and (second := part(found, 'second')):
            first = part(found, 'first')
            if first or kind not in _THING_NEEDED or _WHAT_IS.match(found['first']):
                between = words(plain[found.end('first') : found.start('second')])
                return Relation(kind, first, second, measured=_SIDE.isdisjoint(between))
    return None
