"""Reading a question about objects: what of them it asks, and how they lie to others."""

import re
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.question_terms import target_of
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.agent.times.time_window import Window
from remembr_ros.memory.matching.terms import words

Asked = Enum('Asked', 'WHERE BEFORE WHEN HOW_MANY COLOUR RELATED IS IN_VIEW STILL MOVED CHANGES HISTORY')
"""What a question asks of objects."""


@dataclass(frozen=True, slots=True)
class ObjectRequest:
    """A question about objects, understood.

    :param thing: what they are called, in the asker's words; empty: whatever they are
    :param relation: one of RELATION_NAMES: how they lie to the anchor; empty: none is asked for
    :param changes: which kinds of changes; empty: all
    :param since_visit: what changed since the visit before the latest
    """

    asked: Asked
    thing: str = ''
    relation: str = ''
    anchor: str = ''
    changes: tuple[str, ...] = ()
    since_visit: bool = False


_RELATIONS = {
    'on': r'on top of|upon|atop|on',
    'in': r'inside(?: of)?|within|into|in',
    'under': r'under(?:neath)?|below|beneath',
    'next to': r'(?:right )?next to|beside|alongside|adjacent to|close to|near(?: to)?|by|around',
}
_RELATION = '|'.join(f'(?P<{name.replace(" ", "_")}>{said})' for name, said in _RELATIONS.items())
_ANCHOR = rf'\b(?:{_RELATION}) (?P<anchor>\w.*)$'
_BE = r'(?:is|are|was|were)'
_THINGS = r'(?:things?|objects?|items?|stuff|ones?)'
_PUT = r'(?:there|lying|standing|sitting|located|placed|put|kept|else|now|currently|still)'
_SEE = r'(?:can|could|do|did|have|had) (?:you|we|i|one) (?:see|seen|find|found|have|had|noticed?|know of)'
_SOMEBODY = r'(?:did|has|have) (?:any|some)(?:one|body)'
_PLACE = r'(?:place|position|location|spot)'

_WHAT_IS = any_case(rf"""
    ^(?:what(?:ever)?|which(?: other)? {_THINGS}|(?:all|every)(?:thing)?(?: (?:that|which))?
    |(?:list|name|tell me|show me|enumerate) (?:all|every(?:thing)?|what(?:ever)?|the)
    (?: (?:the )?{_THINGS})?(?: (?:that|which))?)
    (?: (?:{_THINGS}|else))?(?: (?:{_BE}|lies?|stands?|stood|sits?|sat|{_SEE}))?(?: {_PUT})* {_ANCHOR}
""")
_WHICH_IS = any_case(rf'^which (?:there )?(?P<thing>(?!there\b).+?)(?: {_BE})?(?: {_PUT})* {_ANCHOR}')
_IS_THERE = any_case(
    rf'^(?:(?:{_BE}|{_SEE}) |(?=any))(?:there )?(?P<thing>(?!there\b).+?)(?: {_PUT})* {_ANCHOR}'
)
_THING_AT = any_case(rf'^(?P<thing>.*?\w)(?: (?:that|which))?(?: {_BE})?(?: {_PUT})* {_ANCHOR}')
_IN_VIEW = any_case(rf"""
    ^what(?: {_THINGS})? (?:(?:(?:do|can) )?(?:you|we) (?:(?:can|currently|now) )?see
    |are you (?:seeing|looking at)|is in (?:view|sight|front of (?:you|us|the robot)))$
""")
_EVERYTHING = any_case(rf"""
    ^(?:(?:list|show|what|which|name|tell|me|all|the|how|many|of|your|known) )+{_THINGS}
    (?: (?:{_BE}|there|you|do|know|known|have|seen|of|here|can|see|that|i))*$
""")
_CHANGED = {
    'moved': r'moved?|displaced|relocated|(?:at|in) (?:another|a (?:different|new)) place|elsewhere',
    'missing': r'missing|gone|away|lost|disappear(?:ed)?|vanish(?:ed)?|(?:taken|removed)(?: away)?',
    'appeared': r'new|appear(?:ed)?|added|brought(?: here)?|arrived|come|came',
    '': r'chang(?:ed?|es)|different|differ',
}
_CHANGES = any_case(rf"""
    ^(?:(?:what|which|has|have|did|does|{_BE}|any|something|anything|list|show|me|the|all|there|been|it|here|else
    |how|many|{_THINGS}) )+(?P<what>{'|'.join(_CHANGED.values())})\b(?P<rest>.*)$
""")
_VISIT = any_case(r'\b(?:last|previous|latest)\b|\bsince (?:you|we|i)\b')
_LATER = any_case(r' (?:now|currently|right now|at the moment|please|again)$')
_SHORT = any_case(r"^(what|where|which)'s\b")
_DID = rf'(?:{_BE}|has|have|had|did|does)'
_GONE = f'(?:been )?(?:{_CHANGED["missing"]})'
_MOVED = f'(?:been )?(?:{_CHANGED["moved"]}|changed?(?: (?:its )?places?)?)'
_BEFORE = (
    r'before(?: (?:that|it|they|then|now|the)\b.*)?|earlier|previously|originally|formerly|at first'
    r'|until then|in the past|used? to \w+|come from|until it (?:was )?moved|moved from'
)
_THERE = (
    r'(?:still|yet)(?: (?:there|here|around|present|where\b.*'
    rf'|(?:in|at) (?:its|their|the(?: same)?) {_PLACE}))?|where (?:it|they) (?:was|were)\b.*|there'
)
_OF_ONE = tuple(
    (asked, kind, any_case(f'^{pattern}$'.replace('THING', '(?P<thing>.+?)')))
    for asked, kind, pattern in (
        (Asked.BEFORE, '', rf'where {_DID} THING (?:been )?(?:{_BEFORE})'),
        (Asked.BEFORE, '', rf'what (?:is|was) the (?:previous|former|old|last|original) {_PLACE} of THING'),
        (Asked.HISTORY, '', r'(?:so )?what (?:(?:has )?happened to|became of|is the history of) THING'),
        (Asked.COLOUR, '', rf'wh(?:at|ich) (?:is the )?colou?r (?:of|has|have|does|{_BE}) THING(?: have)?'),
        (Asked.STILL, '', rf'{_BE} THING (?:{_THERE})'),
        (Asked.STILL, '', r'(?:do|does) THING still (?:exist|stand|lie|be)\b.*'),
        (Asked.STILL, 'missing', rf'{_DID} THING {_GONE}'),
        (Asked.STILL, 'missing', rf'{_SOMEBODY} (?:taken?|removed?) THING(?: away)?'),
        (Asked.MOVED, 'moved', rf'{_DID} THING {_MOVED}'),
        (Asked.MOVED, 'moved', rf'{_SOMEBODY} moved? THING(?: away)?'),
        (Asked.WHEN, 'missing', rf'when {_DID} THING {_GONE}'),
        (Asked.WHEN, 'moved', rf'when {_DID} THING (?:been )?moved?'),
        (Asked.WHERE, '', rf'where {_DID} THING (?:been )?(?:moved?|put|taken|go) to'),
    )
)
"""What of one thing is asked, and after which change."""


def parse_object_request(request: Request) -> ObjectRequest | None:
    """Return what a question asks of objects; None: it is about something else."""
    text = _LATER.sub('', _SHORT.sub(r'\1 is', request.plain.strip(' ?!.,')))
    if _IN_VIEW.match(text) and request.window == Window(None, None, None, request.window.rest):
        return ObjectRequest(Asked.IN_VIEW)
    changes = _changes(text)
    if changes is not None or request.here:
        return changes
    return _of_one(text) or _related(text, request) or _plain(request)


def _changes(text: str) -> ObjectRequest | None:
    """Return a question about what changed."""
    found = _CHANGES.match(text)
    if found is None or not word_class('beside_changes').issuperset(words(found['rest'])):
        return None
    verb = found['what']
    kinds = tuple(kind for kind, form in _CHANGED.items() if kind and re.fullmatch(form, verb, re.IGNORECASE))
    return ObjectRequest(Asked.CHANGES, changes=kinds, since_visit=bool(_VISIT.search(text)))


def _of_one(text: str) -> ObjectRequest | None:
    """Return a question about what became of a thing, or of what there is at all."""
    if _EVERYTHING.match(text):
        return ObjectRequest(Asked.HOW_MANY)
    for asked, kind, pattern in _OF_ONE:
        if (found := pattern.match(text)) and (thing := target_of(found['thing'])):
            return ObjectRequest(asked, thing, changes=(kind,) if kind else ())
    return None


def _related(text: str, request: Request) -> ObjectRequest | None:
    """Return a question about what lies on, in, under or next to something."""
    patterns = (
        (Asked.RELATED, _WHAT_IS),
        (Asked.RELATED, _WHICH_IS),
        (Asked.IS, _IS_THERE),
        (_plainly_asked(request), _THING_AT),
    )
    for asked, pattern in patterns:
        if asked and not request.reading and (found := pattern.match(text)):
            said = found.groupdict(default='')
            thing, anchor = target_of(said.get('thing', '')), target_of(said['anchor'])
            relation = next(name for name in _RELATIONS if said[name.replace(' ', '_')])
            known = anchor and (thing or asked not in (Asked.WHERE, Asked.WHEN))
            return ObjectRequest(asked, thing, relation, anchor) if known else None
    return None


def _plainly_asked(request: Request) -> Asked | None:
    if request.counting:
        return Asked.HOW_MANY
    return {Kind.POSITION: Asked.WHERE, Kind.TIME: Asked.WHEN}.get(request.kind)


def _plain(request: Request) -> ObjectRequest | None:
    """Return a question about the place, the time or the number of things alone."""
    unclear = request.relation is not None or not request.phrase or request.deed or request.comparing
    asked = None if unclear or request.visits else _plainly_asked(request)
    return ObjectRequest(asked, request.target) if asked else None
