"""Reading a question about objects: what of them it asks, and how they lie to others."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.question_terms import target_of
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import classes_of, word_class
from remembr_ros.agent.times.time_window import Window
from remembr_ros.memory.matching.terms import words

Asked = Enum('Asked', 'SEEN BEFORE HOW_MANY COLOUR SIZE STATE RELATED IS IN_VIEW BECAME CHANGES HISTORY')
"""What a question asks of objects; SEEN: where they are, or when they were seen, as its kind is."""


@dataclass(frozen=True, slots=True)
class ObjectRequest:
    """A question about objects, understood.

    :param thing: what they are called, in the asker's words; empty: whatever they are
    :param relation: one of RELATION_NAMES: how they lie to the anchor; empty: none is asked for
    :param change: the kind of change that is asked about; empty: any, or whether they are still there
    :param said: in which words it is asked for their size, or for a state
    """

    asked: Asked
    thing: str = ''
    relation: str = ''
    anchor: str = ''
    change: str = ''
    said: str = ''


def _spoken(kind: str) -> dict[str, str]:
    """Return what each phrase of the classes of a kind stands for, the longest phrase first."""
    classes = classes_of(kind, lambda name: name.replace('_', ' '))
    said = {phrase.replace('_', ' '): name for name, phrases in classes.items() for phrase in phrases}
    return dict(sorted(said.items(), key=lambda pair: -len(pair[0])))


_RELATIONS, _CHANGES = _spoken('lies'), _spoken('became')
_GONE, _MOVED = (
    f'(?:been )?(?:{"|".join(said for said, change in _CHANGES.items() if change == kind)})'
    for kind in ('missing', 'moved')
)
_BE = r'(?:is|are|was|were)'
_DID = rf'(?:{_BE}|has|have|had|did|does)'
_THINGS = r'(?:things?|objects?|items?|stuff|ones?)'
_PUT = r'(?:there|lying|standing|sitting|located|placed|put|kept|else|now|currently|still)'
_SEE = r'(?:can|could|do|did|have|had) (?:you|we|i|one) (?:see|seen|find|found|have|had|noticed?|know of)'
_SOMEBODY = r'(?:did|has|have) (?:any|some)(?:one|body)'
_PLACE = r'(?:place|position|location|spot)'
_THING = r'(?P<thing>.+?)'
_AT = rf'(?: {_PUT})* (?P<relation>{"|".join(_RELATIONS)}) (?P<anchor>\w.*)'
_LIST = r'(?:what(?:ever)?|which|all|every(?:thing)?|list|name|tell me|show me|enumerate)'
_SAID_OF = rf'(?:{_LIST}|that|the|other|else|{_THINGS}|{_BE}|{_SEE}|lies?|stands?|stood|sits?|sat)'
_ANY = rf'(?:what|which|{_DID}|any|something|anything|list|show|me|the|all|there|been|it|here|else|how|many)'
_KNOWN = rf'(?:{_BE}|there|you|do|know|known|have|seen|of|here|can|see|that|i)'
_BEFORE = (
    r'(?:before(?: (?:that|it|they|then|now|the)\b.*)?|earlier|previously|originally|formerly|at first'
    r'|until then|in the past|used? to \w+|come from|until it (?:was )?moved|moved from)'
)
_STILL = (
    r'(?:(?:still|yet)(?: (?:there|here|around|present|where\b.*'
    rf'|(?:in|at) (?:its|their|the(?: same)?) {_PLACE}))?|where (?:it|they) (?:was|were)\b.*|there)'
)
_BIG = r'(?P<said>big|large|small|wide|broad|long|deep|tall|high)'
_SIZE = r'(?P<said>size|dimensions?|width|length|depth|height|measurements)'
_STATES = '|'.join(sorted(word_class('states'))).replace('_', ' ')
_PHRASINGS = tuple(
    (asked, change, any_case(f'^{pattern}$'))
    for asked, change, pattern in (
        (Asked.IN_VIEW, '', rf'what(?: {_THINGS})?(?: (?:do|can|you|we|currently|now))* see'),
        (Asked.IN_VIEW, '', r'what (?:are you (?:seeing|looking at)|is in (?:view|sight))'),
        (Asked.IN_VIEW, '', r'what is in front of (?:you|us|the robot)'),
        (Asked.CHANGES, '', rf'(?:(?:{_ANY}|{_THINGS}) )+(?P<change>{"|".join(_CHANGES)})\b(?P<rest>.*)'),
        (Asked.HOW_MANY, '', rf'(?:(?:{_LIST}|me|the|how|many|of|your|known) )+{_THINGS}(?: {_KNOWN})*'),
        (Asked.BEFORE, '', rf'where {_DID} {_THING} (?:been )?{_BEFORE}'),
        (Asked.BEFORE, '', rf'what {_BE} the (?:previous|former|old|last|original) {_PLACE} of {_THING}'),
        (Asked.HISTORY, '', rf'(?:so )?what (?:(?:has )?happened to|became of|is the history of) {_THING}'),
        (Asked.COLOUR, '', rf'(?:what|which) (?:is the )?colou?r (?:of|{_DID}) {_THING}(?: have)?'),
        (Asked.SIZE, '', rf'how {_BIG} {_BE} {_THING}'),
        (Asked.SIZE, '', rf'what {_BE} the {_SIZE} of {_THING}'),
        (Asked.SIZE, '', rf'what {_SIZE} (?:does|do|is|are) {_THING}(?: have)?'),
        (Asked.STATE, '', rf'{_BE} {_THING} (?:still |now )?(?P<said>{_STATES})'),
        (Asked.STATE, '', rf'(?:what|which) (?P<said>state|condition) {_BE} {_THING} in'),
        (Asked.STATE, '', rf'what {_BE} the (?P<said>state|condition) of {_THING}'),
        (Asked.BECAME, '', rf'{_BE} {_THING} {_STILL}'),
        (Asked.BECAME, '', rf'(?:do|does) {_THING} still (?:exist|stand|lie|be)\b.*'),
        (Asked.BECAME, 'missing', rf'(?:when )?{_DID} {_THING} {_GONE}'),
        (Asked.BECAME, 'missing', rf'{_SOMEBODY} (?:taken?|removed?) {_THING}(?: away)?'),
        (Asked.BECAME, 'moved', rf'(?:when )?{_DID} {_THING} (?:{_MOVED}|changed?(?: (?:its )?places?)?)'),
        (Asked.BECAME, 'moved', rf'{_SOMEBODY} moved? {_THING}(?: away)?'),
        (Asked.SEEN, '', rf'where {_DID} {_THING} (?:been )?(?:moved?|put|taken|go) to'),
        (Asked.RELATED, '', rf'{_LIST}(?: {_SAID_OF})*{_AT}'),
        (Asked.RELATED, '', rf'which {_THING}(?: {_BE})?{_AT}'),
        (Asked.IS, '', rf'(?:(?:{_BE}|{_SEE}) |(?=any)){_THING}{_AT}'),
        (None, '', rf'(?P<thing>.*?\w)(?: (?:that|which))?(?: {_BE})?{_AT}'),
    )
)
"""What is asked, of which change, by which words; None: what the first words of the question ask for."""
_LATER = any_case(r' (?:now|currently|right now|at the moment|please|again)$')
_SHORT = any_case(r"^(what|where|which)'s\b")


def parse_object_request(request: Request) -> ObjectRequest | None:
    """Return what a question asks of objects; None: it is about something else."""
    text = _LATER.sub('', _SHORT.sub(r'\1 is', request.plain.strip(' ?!.,')))
    plainly = Asked.SEEN if request.kind in (Kind.POSITION, Kind.TIME) else None
    plainly = Asked.HOW_MANY if request.counting else plainly
    for of_phrasing, change, pattern in _PHRASINGS:
        asked, found = of_phrasing or plainly, pattern.match(text)
        if asked and found and (read := _read(asked, change, found.groupdict(), request)):
            return read
    unclear = request.relation is not None or not request.phrase or request.deed or request.comparing
    unclear = unclear or request.visits or request.here
    return ObjectRequest(plainly, request.target) if plainly and not unclear else None


def _read(asked: Asked, change: str, said: Mapping[str, str], request: Request) -> ObjectRequest | None:
    """Return what a phrasing asks; None: it is about something else, after all."""
    thing, anchor = target_of(said.get('thing', '')), target_of(said.get('anchor', ''))
    fits = not request.here and (bool(thing) or 'thing' not in said)
    if asked is Asked.IN_VIEW:
        fits = request.window == Window(None, None, None, request.window.rest)
    elif asked is Asked.CHANGES:
        fits = word_class('beside_changes').issuperset(words(said['rest']))
        change = _CHANGES[' '.join(words(said['change']))]
    elif 'anchor' in said:
        named = anchor and (thing or asked is not Asked.SEEN)
        fits = bool(named) and not (request.here or request.reading)
    relation = _RELATIONS[' '.join(words(said['relation']))] if anchor else ''
    asked_so = ' '.join(words(said.get('said') or ''))
    return ObjectRequest(asked, thing, relation, anchor, change, asked_so) if fits else None
