"""Reading a question about objects: what of them it asks, and how they lie to others."""

import re
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.question_terms import target_of
from remembr_ros.agent.offline.request import Request
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
    'on': r'on\s+top\s+of|upon|atop|on',
    'in': r'inside(?:\s+of)?|within|into|in',
    'under': r'under(?:neath)?|below|beneath',
    'next to': r'(?:right\s+)?next\s+to|beside|alongside|adjacent\s+to|close\s+to|near(?:\s+to)?|by|around',
}
_RELATION = '|'.join(f'(?P<{name.replace(" ", "_")}>{said})' for name, said in _RELATIONS.items())
_ANCHOR = rf'\b(?:{_RELATION})\s+(?P<anchor>\w.*)$'
_BE = r'(?:is|are|was|were)'
_THINGS = r'(?:things?|objects?|items?|stuff|ones?)'
_PUT = r'(?:there|lying|standing|sitting|located|placed|put|kept|else|now|currently|still)'
_SEE = (
    r'(?:can|could|do|did|have|had)\s+(?:you|we|i|one)\s+(?:see|seen|find|found|have|had|noticed?|know\s+of)'
)
_SOMEBODY = r'(?:any|some)(?:one|body)'
_PLACE = r'(?:place|position|location|spot)'


def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern whose lines and spaces are for its reader."""
    return any_case(''.join(pattern.split()))


_WHAT_IS = _compiled(rf"""
    ^(?:what(?:ever)? | which(?:\s+other)?\s+{_THINGS} | (?:all|every)(?:thing)?(?:\s+(?:that|which))?
    | (?:list|name|tell\s+me|show\s+me|enumerate)\s+(?:all|every(?:thing)?|what(?:ever)?|the)
      (?:\s+(?:the\s+)?{_THINGS})?(?:\s+(?:that|which))?)
    (?:\s+(?:{_THINGS}|else))?(?:\s+(?:{_BE}|lies?|stands?|stood|sits?|sat|{_SEE}))?(?:\s+{_PUT})*\s+{_ANCHOR}
    """)
_IS_THERE = _compiled(rf"""
    ^(?:(?P<which>which)\s+|(?:{_BE}|{_SEE})\s+|(?=any))(?:there\s+)?
    (?P<thing>(?!there\b).+?)(?:\s+{_BE})?(?:\s+{_PUT})*\s+{_ANCHOR}
    """)
_THING_AT = _compiled(rf'^(?P<thing>.*?\w)(?:\s+(?:that|which))?(?:\s+{_BE})?(?:\s+{_PUT})*\s+{_ANCHOR}')
_STILL = _compiled(rf"""
    ^{_BE}\s+(?P<thing>.+?)\s+(?:still|yet)(?:\s+(?:there|here|around|present|where\b.*
    | (?:in|at)\s+(?:its|their|the(?:\s+same)?)\s+{_PLACE}))?$
    | ^(?:do|does)\s+(?P<thing_2>.+?)\s+still\s+(?:exist|stand|lie|be)\b.*$
    | ^(?:is|are)\s+(?P<thing_3>.+?)\s+(?:where\s+(?:it|they)\s+(?:was|were)\b.*|there)$
    """)
_GONE = _compiled(rf"""
    ^(?:{_BE}|has|have|did|does)\s+(?!(?:any|some)(?:thing|one|body)?\b)(?P<thing>.+?)\s+(?:been\s+)?
    (?P<what>gone|missing|away|lost|disappear(?:ed)?|vanish(?:ed)?|(?:taken|removed)(?:\s+away)?
    | moved?|displaced|relocated|changed?(?:\s+(?:its\s+)?places?)?)$
    | ^(?:did|has|have)\s+{_SOMEBODY}\s+(?P<what_2>moved?|taken?|removed?)\s+(?P<thing_2>.+?)(?:\s+away)?$
    """)
_BEFORE = _compiled(rf"""
    ^where\s+(?:was|were|had|has|have|did)\s+(?P<thing>.+?)\s+(?:been\s+)?
    (?:before(?:\s+(?:that|it|they|then|now|the)\b.*)?|earlier|previously|originally|formerly|at\s+first
    | until\s+then|in\s+the\s+past|used?\s+to\s+\w+|come\s+from|until\s+it\s+(?:was\s+)?moved)$
    | ^what\s+(?:is|was)\s+the\s+(?:previous|former|old|last|original)\s+{_PLACE}\s+of\s+(?P<thing_2>.+)$
    | ^where\s+(?:was|were)\s+(?P<thing_3>.+?)\s+moved\s+from$
    """)
_IN_VIEW = _compiled(rf"""
    ^what(?:\s+{_THINGS})?\s+(?:(?:(?:do|can)\s+)?(?:you|we)\s+(?:(?:can|currently|now)\s+)?see
    | are\s+you\s+(?:seeing|looking\s+at) | is\s+in\s+(?:view|sight|front\s+of\s+(?:you|us|the\s+robot)))$
    """)
_HISTORY = _compiled(r"""
    ^(?:so\s+)?what\s+(?:(?:has\s+)?happened\s+to|became\s+of|is\s+the\s+history\s+of)\s+(?P<thing>.+)$
    """)
_WHEN_MOVED = _compiled(rf"""
    ^when\s+(?:{_BE}|did|has|have)\s+(?P<thing>.+?)\s+(?:been\s+)?
    (?P<what>moved?|(?:taken|removed)(?:\s+away)?|disappear(?:ed)?|vanish(?:ed)?|gone)$
    """)
_MOVED_TO = _compiled(
    rf'^where\s+(?:{_BE}|has|have|did)\s+(?P<thing>.+?)\s+(?:been\s+)?(?:moved?|put|taken|go)\s+to$'
)
_EVERYTHING = _compiled(rf"""
    ^(?:(?:list|show|what|which|name|tell|me|all|the|how|many|of|your|known)\s+)+{_THINGS}
    (?:\s+(?:{_BE}|there|you|do|know|known|have|seen|of|here|can|see|that|i))*$
    """)
_COLOUR = _compiled(rf"""
    ^(?:what|which)\s+colou?r\s+(?:{_BE}|has|have|does)\s+(?P<thing>.+?)(?:\s+have)?$
    | ^what\s+is\s+the\s+colou?r\s+of\s+(?P<thing_2>.+)$
    """)
_CHANGED = {
    'moved': r'moved?|displaced|relocated|(?:at|in)\s+(?:another|a\s+(?:different|new))\s+place|elsewhere',
    'missing': r'missing|gone|disappear(?:ed)?|vanished|taken(?:\s+away)?|removed|lost',
    'appeared': r'new|appear(?:ed)?|added|brought(?:\s+here)?|arrived|come|came',
    '': r'chang(?:ed?|es)|different|differ',
}
_CHANGES = _compiled(rf"""
    ^(?:(?:what|which|has|have|did|does|{_BE}|any|something|anything|list|show|me|the|all|there|been|it|here|else
    | how|many|{_THINGS})\s+)+ (?P<what>{'|'.join(_CHANGED.values())})\b(?P<rest>.*)$
    """)
_OF_CHANGES = frozenset(
    'apartment around been before compared flat from here home house i in last latest look looked my our '
    'place previous room round since the this time to tour trip visit was we went were with you your thing '
    'things object objects item items'.split()
)
_VISIT = _compiled(r"""
    \b(?:since|from|to|with|between)\s+(?:(?:the|your|my|our)\s+)*(?:last|previous|latest)\s+
    (?:visit|time|round|tour|trip|patrol|drive|look|inspection)\b
    | \bsince\s+(?:you|we|i)\s+(?:were|was|came|looked)\b
    """)
_LATER = _compiled(r'\s+(?:now|currently|right\s+now|at\s+the\s+moment|please|again)$')
_SHORT = _compiled(r"^(what|where|which)'s\b")


_MOVES = any_case('mov|displ|reloc|chang')
_OF_ONE = (
    (Asked.BEFORE, _BEFORE),
    (Asked.HISTORY, _HISTORY),
    (Asked.COLOUR, _COLOUR),
    (Asked.STILL, _STILL),
    (Asked.STILL, _GONE),
    (Asked.WHEN, _WHEN_MOVED),
    (Asked.WHERE, _MOVED_TO),
)


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
    if found is None or not _OF_CHANGES.issuperset(words(found['rest'])):
        return None
    what = found['what']
    kinds = tuple(kind for kind, said in _CHANGED.items() if kind and re.fullmatch(said, what, re.IGNORECASE))
    return ObjectRequest(Asked.CHANGES, changes=kinds, since_visit=bool(_VISIT.search(text)))


def _of_one(text: str) -> ObjectRequest | None:
    """Return a question about what became of a thing, or of what there is at all."""
    if _EVERYTHING.match(text):
        return ObjectRequest(Asked.HOW_MANY)
    for asked, pattern in _OF_ONE:
        if (found := pattern.match(text)) and (thing := target_of(_said(found, 'thing'))):
            kind = 'moved' if _MOVES.match(_said(found, 'what')) else 'missing'
            what = Asked.MOVED if asked is Asked.STILL and kind == 'moved' else asked
            return ObjectRequest(what, thing, changes=(kind,) if pattern in (_GONE, _WHEN_MOVED) else ())
    return None


def _related(text: str, request: Request) -> ObjectRequest | None:
    """Return a question about what lies on, in, under or next to something."""
    if request.reading:
        return None
    if found := _WHAT_IS.match(text):
        return _with_anchor(Asked.RELATED, '', found)
    if found := _IS_THERE.match(text):
        return _with_anchor(Asked.RELATED if found['which'] else Asked.IS, target_of(found['thing']), found)
    asked = _plainly_asked(request)
    if asked and (found := _THING_AT.match(text)):
        thing = target_of(found['thing'])
        return _with_anchor(asked, thing, found) if thing or request.counting else None
    return None


def _plainly_asked(request: Request) -> Asked | None:
    if request.counting:
        return Asked.HOW_MANY
    return {Kind.POSITION: Asked.WHERE, Kind.TIME: Asked.WHEN}.get(request.kind)


def _with_anchor(asked: Asked, thing: str, found: re.Match[str]) -> ObjectRequest | None:
    relation = next(name for name in _RELATIONS if found[name.replace(' ', '_')])
    anchor = target_of(found['anchor'])
    return ObjectRequest(asked, thing, relation, anchor) if anchor else None


def _plain(request: Request) -> ObjectRequest | None:
    """Return a question about the place, the time or the number of things alone."""
    if request.relation is not None or not request.phrase or request.deed or request.comparing:
        return None
    asked = None if request.visits else _plainly_asked(request)
    return ObjectRequest(asked, request.target) if asked else None


def _said(found: re.Match[str], name: str) -> str:
    """Return what a group of this name, with a number or without, has."""
    return next((said for group, said in found.groupdict().items() if group.startswith(name) and said), '')
