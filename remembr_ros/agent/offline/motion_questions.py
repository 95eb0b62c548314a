"""Questions about how the robot moved: reads them, finds their anchors, then measures."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim
from remembr_ros.agent.model.quoting import any_case, masked
from remembr_ros.agent.model.relevance_model import PERHAPS, as_good_as_best
from remembr_ros.agent.model.same_place import span, stays
from remembr_ros.agent.offline.anchored_search import find_anchor, stay_at
from remembr_ros.agent.offline.not_seen import SURE, UNTOLD
from remembr_ros.agent.offline.question_terms import said_in, target_of
from remembr_ros.agent.offline.relation import PASSED, RelationKind, parse_relation, unfronted
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.overview.motion_answer import AROUND_NS, MotionQuestion, Moved, motion_answer
from remembr_ros.agent.times.time_expression import AMOUNTS, seconds_in
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.motion.journey import Journey, around, journey
from remembr_ros.memory.motion.motion import Motion
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import NS

EDGE_NS = 60 * NS  # How the robot moved is read this far around a time, since neighbours tell of each other


@dataclass(frozen=True, slots=True)
class MotionRequest:
    """A question about how the robot moved.

    :param asked: without its kind, its moment and its anchors
    :param which: asked which way, or left or right
    :param now: as it is now
    :param relation: where or when, by way of anchors; None: there are none. WHILE is at an anchor
    :param anchors: in the asker's words, one, or two of BETWEEN
    """

    asked: MotionQuestion
    which: bool
    now: bool
    relation: RelationKind | None
    anchors: tuple[str, ...]


_ADVERBS = 'first|last|ever|also|then|just|have|had|to|still|now|currently|been|next'
_I = rf'(?:you|we|i|the robot)(?: (?:{_ADVERBS}))*'
_GO = r'(?:go|went|gone|going|drive|drove|driven|driving|head|headed|bear|veer|veered)'
_TURN = r'(?:turn|turned|turning)(?! (?:on|off|into|up|out)\b)'
_SIDES = {'left': Motion.LEFT, 'right': Motion.RIGHT}
_ANY = r'(?:a|an|any|the|your)'
_NTH = r'(?:first|last|next|longest)'

_WHAT = {
    Moved.SIDE: r'^(?:what|which|who)\b(?!.*\b(?:way|direction)\b).*\b(?:on|to|at) (?:your|the|its|my) '
    r'(?:left|right)\b(?! (?:side )?of (?!you\b|the robot\b))',
    Moved.SPEED: rf'\bhow (?:fast|quick|quickly|slow|slowly)\b.*\b{_I}\b|\b(?:your|average|top) speed\b',
    Moved.DISTANCE: rf'\b(?:how (?:far|much|many (?:met|kilomet)\w+)|(?:what|which) distance)\b.*\b{_I} '
    r'(?:dr[io]ve|driven|driving|travel|travell?ed|go|gone|went|moved?|c[ao]me|cover|covered)\b'
    rf'|\bdistance (?:that )?{_I} (?:drove|driven|travell?ed|covered)\b',
    Moved.HEADING: rf'\b(?:which|what|where)\b.*\b{_I} (?:were )?(?:fac(?:e|ing|ed)|heading|pointing'
    rf"|looking towards?)\b|\b(?:your|robot's) (?:heading|orientation|yaw)\b"
    rf'|\b(?:which|what) (?:way|direction)\b.*\b{_I} look(?:ing)?\b',
    Moved.TURN: rf'\b{_I} {_TURN}\b|\b(?:left|right|u-?)?[\s-]*turns? (?:\w+ )?{_I}\b'
    rf'|\b(?:ma[kd]e|take|took|do) (?:{_ANY} )?(?:{_NTH} )?(?:left|right|u|(?:left |right |u-?)?turns?)\b'
    rf'|\byour {_NTH} (?:left |right )?turn\b|\b{_I} {_GO} (?:to the )?(?:left|right)\b'
    rf'|\b(?:which|what) (?:way|direction)\b.*\b{_I} {_GO}\b',
    Moved.STOP: rf'\b{_I} (?:(?:stop|pause|halt|wait|park|rest|idle|stay still|stand still)(?:p?ed|d|ing)?'
    r'|stood|stand|standing|stayed still)\b'
    rf'|\bhow many (?:stops|halts) (?:were|are) there\b'
    rf'|\bstops? did {_I}\b|\byour (?:{_NTH} )?stop\b|\bma[kd]e (?:{_ANY} )?(?:{_NTH} )?stops?\b',
    Moved.GOING: rf'\b{_I} (?:\w+ )?(?:moving|driving|in motion|rolling|on the move)\b(?!.*\bside of\b)'
    rf'|\b{_I} (?:start|started|beg[ai]n|continued?|resumed?)\b.*\b(?:mov|driv|going|to go)|\b{_I} set off\b',
}
_READ = {what: any_case(pattern) for what, pattern in _WHAT.items()}
_SIDE = any_case(
    rf'\b(?:{_TURN}|{_GO}) (?:to the )?(left|right)\b|\b(left|right)[\s-]+turns?\b'
    r'|\b(?:a|the|first|last|next) (left|right)\b|\b(?:your|the|its|my) (left|right)\b'
)
_AROUND = any_case(r'\bturn(?:ed|ing)? (?:\w+ )?(?:around|back)\b|\bu-?\s*turns?\b')
_WHICH = frozenset(f'{asks} {what}' for asks in ('which', 'what') for what in ('way', 'direction', 'side'))
_LONGEST = frozenset(('longest', 'top', 'fastest', 'highest', 'maximum'))
_LEAST = any_case(rf'\b(?:for )?(?:(?:more|longer) than|at least|over) ({AMOUNTS})')
_NOW = frozenset(('now', 'currently', 'at the moment'))
_ENDS = {
    Choice.EARLIEST: frozenset(('at the beginning', 'at the start')),
    Choice.LATEST: frozenset(('at the end', 'the very end')),
}
_TOTAL = frozenset(('total', 'altogether', 'in all', 'overall'))
_NO_ANCHOR = any_case(
    r'\b(?:on average|in total|altogether|in all|at all|overall|in motion|on the move|at most'
    r'|(?:right )?now|currently|at the (?:moment|beginning|start|very end|end)'
    r'|at first|at last|in a row|(?:for|at) the (?:first|last|longest)\s*(?:time)?'
    r'|(?:on|to|at) (?:your|the|its|my) (?:left|right)(?: side)?|(?:in|into|to) (?:which|what) \w+)\b'
)
_PLACE = any_case(
    r'(?<=\s)(?:while|when|as|at|near|in front of|next to|close to|beside|by|past|passing|in|outside|inside'
    r'|on|opposite|for)\b(?P<anchor>.+)'
)


def parse_motion(text: str) -> MotionRequest | None:
    """Return what a question asks of the robot's motion; None: it is about something else.

    :param text: without its words of time
    """
    rest, fronted = unfronted(text)
    text = f'{rest} {fronted}'.strip()
    plain = masked(text)
    moved = next((moved for moved, pattern in _READ.items() if pattern.search(plain)), None)
    if moved is None:
        return None
    spoken = said_in(plain)
    which = bool(_WHICH & spoken) or {'left', 'or', 'right'} <= spoken
    side = None if which and moved is not Moved.SIDE else _SIDE.search(plain)
    relation, anchors = _anchored(text, plain)
    asked = MotionQuestion(
        moved,
        Kind.TEXT,
        side=_SIDES[next(filter(None, side.groups())).lower()] if side else None,
        around=_AROUND.search(plain) is not None,
        choice=next((choice for choice, any_of in _ENDS.items() if any_of & spoken), Choice.CITED_FIRST),
        longest=bool(_LONGEST & spoken),
        least_s=seconds_in(least[1]) if (least := _LEAST.search(plain)) else 0.0,
        total=bool(_TOTAL & spoken),
    )
    now = bool(_NOW & spoken) or words(plain)[0] == 'are'
    return MotionRequest(asked, which, now, relation, anchors)


def _anchored(text: str, plain: str) -> tuple[RelationKind | None, tuple[str, ...]]:
    """Return what a question names to say where or when the robot moved so."""
    for found in (*_LEAST.finditer(plain), *_NO_ANCHOR.finditer(plain)):
        text = text[: found.start()] + ' ' * len(found[0]) + text[found.end() :]
    relation = parse_relation(re.sub(r'\bsince\b', 'after', text))
    if relation and relation.kind in (RelationKind.BETWEEN, RelationKind.AFTER, RelationKind.BEFORE):
        return relation.kind, tuple(filter(None, (relation.second, relation.third)))
    for found in _PLACE.finditer(masked(text)):
        anchor = PASSED.sub('', text[slice(*found.span('anchor'))].strip(' ?!.,'))
        if target_of(anchor):
            return RelationKind.WHILE, (anchor,)
    return None, ()


def answer_motion(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return the answer to a question about how the robot moved; None: it is about something else.

    :param scope: the time and the map that the question is about
    """
    motion = parse_motion(request.window.rest)
    if motion is None or (motion.asked.what is Moved.GOING and request.kind in (Kind.TEXT, Kind.POSITION)):
        return None
    found: list[list[list[Hit]]] = []
    for text in motion.anchors:
        anchor = find_anchor(text, question, recall, scope)
        if not anchor.hits:
            unseen = f'I have not seen {anchor.request.thing}: no memory shows it.'
            return Claim(Kind.NOT_SEEN, unseen, confidence=PERHAPS, about=' '.join(motion.anchors))
        anywhere = request.kind is Kind.BINARY and motion.relation is RelationKind.WHILE
        found.append(stays(as_good_as_best(anchor.hits)) if anywhere else [stay_at(anchor, question)])
    claims = [_told(motion, request, list(anchors), recall, scope) for anchors in product(*found)]
    return next((claim for claim in claims if claim.binary), claims[-1])


def _told(
    motion: MotionRequest, request: Request, anchors: Sequence[list[Hit]], recall: Recall, scope: Scope
) -> Claim:
    way, note = _journey(motion, anchors, recall, scope)
    if not way.tracks:
        return Claim(Kind.NOT_SEEN, 'I do not know how I moved then: no memory tells where I was.')
    hits = [hit for stay in anchors for hit in stay]
    asked = _asked(motion, request, hits)
    if motion.now and not hits and asked.at_ns is None:
        asked = replace(asked, at_ns=max(track.memories[-1].end_ns for track in way.tracks))
    claim = motion_answer(asked, way)
    sure = SURE * max((hit.score for hit in hits), default=1.0)
    if asked.what is Moved.SIDE and claim.kind is Kind.NOT_SEEN:  # which nobody need have told
        sure = UNTOLD
    return replace(claim, text=note + claim.text, about=' '.join(motion.anchors), confidence=sure)


def _asked(motion: MotionRequest, request: Request, anchors: Sequence[Hit]) -> MotionQuestion:
    asked = motion.asked
    choice = asked.choice if request.choice is Choice.CITED_FIRST else request.choice
    chosen = choice is not Choice.CITED_FIRST or asked.longest
    next_one = motion.relation is RelationKind.AFTER and not chosen
    return replace(
        asked,
        kind=Kind.TEXT if motion.which else request.kind,
        counting=request.counting or request.visits,
        choice=Choice.EARLIEST if next_one else choice,
        total=asked.total or not (chosen or anchors or request.window.after_ns is None),
        at_ns=None if anchors else request.window.at_ns,
        anchors=anchors,
        at_anchor=motion.relation is RelationKind.WHILE,
    )


def _journey(
    motion: MotionRequest, anchors: Sequence[Sequence[Hit]], recall: Recall, scope: Scope
) -> tuple[Journey, str]:
    """Return the way in the time that a question is about, which its anchors narrow down, and what an answer
    has to say of it first.

    Of several robots it is that of the one which saw the anchors, or saw anything last.
    """
    after_ns, before_ns = scope.after_ns, scope.before_ns
    if anchors:
        # An anchor is passed while it is seen for the last time; who turns then, turns after it.
        passed = sorted(max(hit.memory.start_ns for hit in stay) for stay in anchors)
        if motion.relation in (RelationKind.AFTER, RelationKind.BETWEEN):
            after_ns = passed[0]
        if motion.relation in (RelationKind.BEFORE, RelationKind.BETWEEN):
            before_ns = passed[-1]
        if motion.relation is RelationKind.WHILE:
            after_ns, before_ns = span(anchors[0])
    wide_ns = AROUND_NS if anchors else EDGE_NS
    memories, whole = around(recall, replace(scope, after_ns=after_ns, before_ns=before_ns), wide_ns)
    note = '' if whole else 'Of the latest that I remember: '
    way = journey(memories, after_ns, before_ns)
    last = {track.memories[-1].robot: track.memories[-1] for track in way.tracks}
    if len(last) > 1:
        shown = [hit.memory for stay in anchors for hit in stay]
        robot = (shown[0] if shown else max(last.values(), key=lambda memory: memory.end_ns)).robot
        way = journey([memory for memory in memories if memory.robot == robot], after_ns, before_ns)
        note += f'{robot}: '
    return way, note
