"""Parses a question by rules: the kind of answer, of what, and which one."""

import re
from dataclasses import dataclass
from datetime import timezone, tzinfo
from functools import lru_cache

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.model.other_words import ROOMS
from remembr_ros.agent.model.quoting import any_case, quotations, unquoted
from remembr_ros.agent.model.sought import Sought
from remembr_ros.agent.offline.question_terms import (
    ASKING,
    PLACES,
    deed_of,
    has_digit,
    names,
    noun_phrase,
    numbered,
    phrase_of,
    said_in,
    target_of,
    without_deed,
    written_out,
)
from remembr_ros.agent.offline.relation import Relation, RelationKind, parse_relation, unfronted
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.agent.times.time_expression import Reach
from remembr_ros.agent.times.time_window import Window, parse_window
from remembr_ros.memory.matching.terms import STOP_WORDS, stem, words


@dataclass(frozen=True, slots=True)
class Request(Sought):
    """A question, understood.

    :param plain: the question without politeness and times
    :param thing: as an answer names it: the target of 'Is there a room 117?' is 117, this 'a room 117'
    :param choice: which one, if there are several
    :param window: the time asked about
    :param here: the question is about the place where the robot is
    :param whatever: the question is about whatever was there: it names no thing
    :param other: the question is about the time of day or the date, or none: it is not about the memory
    :param every_time: the question is when, every time
    :param last: the question is where something is, or was put: where it was, is of no interest
    :param far: the question is how far it is
    :param arriving: the question is when the robot reached it
    :param indoors: the question is when, where or how long the robot was inside of a building
    :param now: the question is where a thing is, or how, and not what there was
    :param own: the question is about what the robot did
    :param comparing: the question is which of two things comes first or lies to the left, or leaves some out
    :param relation: what narrows down where or when the target is looked for
    """

    plain: str
    thing: str
    choice: Choice
    window: Window
    here: bool
    whatever: bool
    every_time: bool
    last: bool
    far: bool
    arriving: bool
    indoors: bool
    now: bool
    own: bool
    other: bool
    comparing: bool
    relation: Relation | None


MOST_SEARCHED = 500  # characters of a search text that are read as words; all of them are embedded
_ASKS = r'(?=(?:(?:at|in|for|on|about)\s+)?(?:where|when|what|which|who|how|if|whether)\b)'
_LIKE_TO = r"i(?:\s+want|\s+need|\s+would\s+like|'d\s+like)\s+(?:you\s+)?to"
_POLITE = any_case(
    r"^\W*(?:(?:hey|hi|hello|ok|okay|please|robot|so|and|now|kindly|let(?:'s| us))\b[\s,]*"
    rf'|(?:can|could|would|will) you (?!see\b)|{_LIKE_TO} (?:know )?|do you (?:know|remember) {_ASKS}'
    rf'|(?:remember|recall|tell (?:me|us)|show (?:me|us)) {_ASKS})*'
)
_WISH = any_case(rf'^\W*(?:please\W+)?{_LIKE_TO} (?!know\b|see\b|hear\b|read\b|tell\b)')
_KINDS = {
    Kind.TIME: any_case(r"""
        ^(?:(?:since |until )?when\b|(?:at |around |about )?(?:what|which) time\b
        |what (?:is|was) the time\b|how (?:long|many \w+) ago\b|how recently\b
        |(?:what (?:is|was) )?the (?:last|first) time\b|last time\b
        |how (?:long|much time|many \w+) (?:(?:has|have|is) (?:it )?(?:\w+ )?)?since\b
        |(?:on )?(?:what|which) (?:day|date)\b)
    """),
    Kind.DURATION: any_case(r"""
        ^(?:(?:for )?how long\b|what(?: was| is|'s) the (?:duration|total time)\b
        |(?:for )?how (?:much time|many (?:seconds|minutes|hours|days))\b(?!.*\bago\b))
    """),
    Kind.POSITION: any_case(rf"""
        ^(?:where\b|how far\b|what(?:'s| is| was) the distance\b|(?:i(?:'m| am) )?looking for\b
        |(?:{'|'.join(word_class('order_go'))})\b
        |(?:point|find|locate|wait for (?:me|us)|show (?:me|us)|tell (?:me|us) the way)\b
        |how (?:do|can|could|would|should) (?:i|we|you) (?:get|go|come|reach)\b
        |(?:in |on |at )?(?:which|what) {PLACES}\b
        |(?:in )?(?:which|what) direction (?:is|was|are|were)\b
        |what(?:'s| is| was) the (?:location|position|place|way)\b
        |i(?: want| need| would like|'d like)\b)
    """),
    Kind.BINARY: any_case(r'^(?:is|are|was|were|did|do|does|have|has|had|can|could|will|would|should|any)\b'),
}
_CHOICES = {
    Choice.NEAREST: frozenset(('nearest', 'closest', 'nearby')),
    Choice.FARTHEST: frozenset(('farthest', 'furthest')),
    Choice.LATEST: frozenset(('last', 'latest', 'most recent', 'recently')),
    Choice.EARLIEST: frozenset(('first', 'earliest', 'since when')),
    Choice.MOST_OFTEN: frozenset(('most often', 'most frequently')),
}
_NO_CHOICE = any_case(r'\b(?:first|last)(?: (?:aid|floor|name|class)|-\w+)\b|\w-(?:first|last)\b')
_HERE = any_case(r'\b(?:here|(?:around|near|where) (?:you|us|me|i)|at this place)\b(?! \w)')
_NOW = frozenset(('now', 'currently', 'am i', 'are you', 'are we', 'do you see'))
_CLOCK = any_case(r"^what(?: time is it|(?:'s| is) the (?:current )?(?:time|date)| (?:day|date) is)\b")
_EVERY = any_case(
    r'\b(?:all|every|each)\b(?! (?:the )?(?:way|over|right|day|night|morning|week|time)\b)'
    r'(?: one)?(?: of)?(?: (?:the|those|these))?(?: (?:places?|spots?|locations?)\b)?(?= \w)'
)
_SOMEHOW = frozenset(('did', 'have', 'has', 'had', 'can', 'could'))
_FAR = frozenset(('how far', 'the distance'))
_APART = _FAR | {'where', 'between'}
_TO_COME = frozenset(f'{verb} {who}' for verb in ('will', 'shall', 'should') for who in ('you', 'i', 'we'))
_WITHIN = frozenset(('in', 'on', 'inside', 'under', 'above', 'below'))
_ARRIVING = frozenset(('reach', 'reached', 'arrive', 'arrived', 'get to', 'got to', 'come to', 'came to'))
_OWN = frozenset(('you', 'we', 'i', 'robot', 'take', 'took'))
_PLAIN = (ASKING | word_class('unconditional')) - word_class('conditions')
"""Words that put no condition which a sight would have to meet, or one that is looked after."""
_COMPARING = any_case(
    r'^(?=.*\bor\b).*\b(?:first|earlier|last|later|sooner|nearer|closer|which)\b|\b(?:left|right) or\b'
    r'|\b(?:left|right) of\b|\b\w{3,}er than\b|\b(?:without|except|neither|nor|unless|but (?:no|not))\b'
)
_VISITS = frozenset(('how often', 'how frequently', 'how many times', 'how many visits'))
_HAVE = frozenset(('have', 'has'))
_EVERY_TIME = frozenset(f'{every} time' for every in ('every', 'each'))
_EVERY_TIME |= {f'{every} times' for every in ('all', 'all the', 'what', 'which')}
_WAY_OUT = any_case(
    r'\b(?:get|go|come|(?:take|bring|lead|guide) (?:me|us)|find (?:an?|the|my|our) way) out'
    r'(?: of (?:here|there|this (?:building|place|house)))?(?=\W*$)'
)
_WALK = r'(?:get|got|go|went|gone|come|came|drive|drove|walk|walked)'
_INDOORS = any_case(
    rf'\b(?:(?P<out>exit(?:ed|ing)?|le(?:ft|ave|aving)|{_WALK} out of)'
    rf'|enter(?:ed|ing)?|{_WALK} (?:in(?:to|side)?|indoors)|in|inside(?: of)?)'
    r' (?:(?:the|a|any|that|your|this)(?: first| last)? buildings?|indoors)\b(?: for\b)?'
)
_CLAUSE = re.compile(r'(?<=[,.;!?])\s+')


def parse_request(text: str, now_ns: int, zone: tzinfo = timezone.utc, reach: Reach | None = None) -> Request:
    """Return what a question asks for.

    :param now_ns: the asker's now, nanoseconds since the Unix epoch
    :param zone: the asker's time zone
    :param reach: see :func:`remembr_ros.agent.times.time_window.parse_window`
    """
    window = parse_window(written_out(text), now_ns, zone, reach)
    rest, indoors, out = _inside(_WAY_OUT.sub('get to the exit', window.rest))
    plain, kind = _asking(rest)
    relation = parse_relation(plain)
    asked, spoken = words(plain), said_in(plain)
    # What is near, before or after something else has its own words.
    about = plain if relation is None else relation.first
    if kind is Kind.POSITION and relation and relation.third and not about and _APART.isdisjoint(spoken):
        about, relation = relation.third, None  # 'How do I get from the lift to the exit?'
    deed = deed_of(about)
    if kind is Kind.POSITION:
        about = without_deed(about, deed)
    every = kind is Kind.POSITION and _EVERY.search(unquoted(about)) is not None
    if every:
        about = _EVERY.sub(' ', about, count=1)
    texts = quotations(about)
    bare = unquoted(about)
    choosing = said_in(_NO_CHOICE.sub(' ', bare))
    choice = next((choice for choice, any_of in _CHOICES.items() if any_of & choosing), Choice.CITED_FIRST)
    if out and choice is Choice.CITED_FIRST:
        choice = Choice.LATEST
    every_time = kind in (Kind.TEXT, Kind.TIME) and bool(_EVERY_TIME & spoken)
    named_nothing = relation is not None and relation.kind is RelationKind.NEAR and not relation.first
    # 'Which room did you see before the stairs?' asks for signs, of a robot that knows no rooms.
    wants = asked[:1] in (['which'], ['what']) and not word_class('whatever').isdisjoint(spoken)
    in_view = wants and relation is not None and not about
    kind = Kind.TEXT if every_time or ((named_nothing or in_view) and kind is Kind.POSITION) else kind
    if every and choice is Choice.CITED_FIRST:
        choice = Choice.EVERY
    if kind is Kind.DURATION and choice is Choice.CITED_FIRST and 'been' in spoken and _HAVE & spoken:
        choice = Choice.LATEST
    target = ' '.join([target_of(bare), *texts]).strip()
    literal = {stem(w) for text in texts for w in words(text) if w not in STOP_WORDS and not has_digit(w)}
    numbers = numbered(about)
    owners = {name for _, name in numbers if name not in ROOMS and name}
    return Request(
        plain=plain,
        kind=kind,
        target=target,
        thing=noun_phrase(about, ' '.join([target_of(bare, rooms=True), *texts]).strip(), deed),
        phrase=' '.join(phrase_of(without_deed(about, deed))),
        deed=stem(words(deed)[0]) if target_of(deed) else '',
        identifiers=frozenset(literal),
        numbered=frozenset(numbers),
        names=frozenset(names(about) | owners),
        choice=choice,
        window=window,
        here=bool(_HERE.search(plain) or (not target and _NOW & spoken)),
        reading=kind is Kind.TEXT and bool(word_class('reading') & said_in(bare)),
        whatever=not target and kind in (Kind.TEXT, Kind.BINARY) and bool(word_class('whatever') & spoken),
        counting=kind is Kind.TEXT and 'how many' in spoken,
        visits=every_time or (kind is Kind.TEXT and bool(_VISITS & spoken)),
        every_time=every_time,
        last=kind is Kind.POSITION
        and deed not in word_class('gone_along')
        and (
            bool(deed and target_of(deed))
            or asked[:1] != ['where']
            or not _SOMEHOW & spoken
            or 'been' in spoken
        ),
        far=not _FAR.isdisjoint(spoken),
        arriving=kind is Kind.TIME and (bool(_ARRIVING & spoken) or (indoors and not out)),
        indoors=indoors,
        own=bool(_OWN & spoken),
        now=asked[:1] in (['is'], ['are']) and not ' '.join(asked[1:]).startswith(('there', 'any')),
        said=_said(asked, relation),
        other=not asked
        or word_class('talk').issuperset(words(text))
        or text.lower().startswith('thank')
        or (kind is not Kind.POSITION and bool(_TO_COME & spoken))
        or bool(not target and relation is None and _CLOCK.search(plain)),
        comparing=bool(_COMPARING.search(unquoted(plain))),
        relation=relation,
    )


def _inside(text: str) -> tuple[str, bool, bool]:
    """Return a question about being in a building as one about what is seen there, and whether of leaving it.

    Whoever goes inside sees an interior from then on, while a building is seen from outside.
    """
    found = _INDOORS.search(text)
    if found is None or target_of(f'{text[: found.start()]} {text[found.end() :]}'):
        return text, False, False
    return f'{text[: found.start()]} see an interior {text[found.end() :]}', True, bool(found['out'])


def _said(asked: list[str], relation: Relation | None) -> tuple[str, ...]:
    anchors = words(f'{relation.second} {relation.third}') if relation is not None else []
    kept = [word for word in asked if word not in _PLAIN and word not in anchors]
    # 'What is in the drawer?', and 'What's in it?'
    within = [word for word in asked[1:3] if word in _WITHIN] if asked[:1] == ['what'] else []
    return (*kept, *within[:1])


@lru_cache(32)
def searched(text: str) -> Request:
    """Return what a search text asks for; of a pasted page what its beginning does."""
    return parse_request(text[:MOST_SEARCHED], 0)


def kind_of(text: str) -> Kind | None:
    """Return the kind of answer that the first words of a question want; None: they leave a doubt."""
    plain = _POLITE.sub('', text[:MOST_SEARCHED], count=1)
    return next((kind for kind, pattern in _KINDS.items() if pattern.search(plain)), None)


def thing_of(text: str) -> str:
    """Return what a question is about, as its asker says it; empty: it names no thing."""
    return parse_request(text, 0).thing


def _asking(text: str) -> tuple[str, Kind]:
    """Return the part of a text that asks, without politeness, and the kind of answer it wants.

    'I am hungry, can you take me somewhere to get food?' asks in its second clause.
    """
    whole, fronted = unfronted(text)
    plain = _POLITE.sub('', whole, count=1).strip() or whole
    for part in (plain, *(_POLITE.sub('', clause, count=1).strip() for clause in _CLAUSE.split(whole)[1:])):
        kind = next((kind for kind, pattern in _KINDS.items() if pattern.search(part)), None)
        if kind is not None and (part is plain or target_of(part)):
            return f'{part} {fronted}'.strip(), kind
    if _WISH.search(text):  # 'I want to sit down'
        return plain, Kind.POSITION
    return f'{plain} {fronted}'.strip(), Kind.TEXT
