"""Parses questions about how the robot moved."""

import re
from dataclasses import dataclass

from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.model.quoting import masked
from remembr_ros.agent.offline.question_terms import said_in, target_of
from remembr_ros.agent.offline.relation import PASSED, RelationKind, parse_relation, unfronted
from remembr_ros.agent.overview.motion_answer import Moved
from remembr_ros.agent.times.time_expression import AMOUNTS, seconds_in
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.motion.motion import Motion


@dataclass(frozen=True, slots=True)
class MotionRequest:
    """A question about how the robot moved.

    :param side: the one that is asked about; None: none, or which
    :param around: a turn back to where it came from
    :param which: asked which way, or left or right
    :param longest: of several stops the longest; the fastest
    :param least_s: it lasted so long at least [s]
    :param now: as it is now
    :param end: the first or the last one, at the beginning or the end of the way
    :param total: all of them together
    :param relation: where or when, by way of anchors; None: there are none. WHILE is at an anchor
    :param anchors: in the asker's words, one, or two of BETWEEN
    """

    what: Moved
    side: Motion | None
    around: bool
    which: bool
    longest: bool
    least_s: float
    now: bool
    end: Choice
    total: bool
    relation: RelationKind | None
    anchors: tuple[str, ...]


_I = (
    r'(?:you|we|i|the\s+robot)'
    r'(?:\s+(?:first|last|ever|also|then|just|have|had|to|still|now|currently|been|next))*'
)
_GO = r'(?:go|went|gone|going|drive|drove|driven|driving|head|headed|bear|veer|veered)'
_TURN = r'(?:turn|turned|turning)(?!\s+(?:on|off|into|up|out)\b)'
_HALT = (
    r'(?:stop|stopped|wait|waited|waiting|pause|paused|halt|halted|stand|stood|standing|park|parked'
    r'|stay\s+still|stayed\s+still|stand\s+still|rest|rested|idle|idled)'
)
_MOVE = r'(?:moving|driving|in\s+motion|rolling|on\s+the\s+move)'
_SIDES = {'left': Motion.LEFT, 'right': Motion.RIGHT}

_WHAT = tuple(
    (what, re.compile(pattern, re.IGNORECASE))
    for what, pattern in (
        (
            Moved.SIDE,
            r'^(?:what|which|who)\b(?!.*\b(?:way|direction)\b).*\b(?:on|to|at)\s+(?:your|the|its|my)\s+(?:left|right)\b'
            r'(?!\s+(?:side\s+)?of\s+(?!you\b|the\s+robot\b))',
        ),
        (
            Moved.SPEED,
            rf'\bhow\s+(?:fast|quick|quickly|slow|slowly)\b.*\b{_I}\b|\b(?:your|average|top)\s+speed\b',
        ),
        (
            Moved.DISTANCE,
            rf'\b(?:how\s+(?:far|much)|how\s+many\s+(?:met|kilomet)\w+|(?:what|which)\s+distance)\b.*\b{_I}\s+'
            r'(?:drive|drove|driven|driving|travel|travell?ed|go|gone|went|move|moved|come|came|cover|covered)\b'
            rf'|\bdistance\s+(?:that\s+)?{_I}\s+(?:drove|driven|travell?ed|covered)\b',
        ),
        (
            Moved.HEADING,
            rf'\b(?:which|what|where)\b.*\b{_I}\s+(?:were\s+)?(?:face|facing|faced|heading|pointing|looking\s+towards?)\b'
            r"|\b(?:your|robot's)\s+(?:heading|orientation|yaw)\b"
            rf'|\b(?:which|what)\s+(?:way|direction)\b.*\b{_I}\s+(?:look|looking)\b',
        ),
        (
            Moved.TURN,
            rf'\b{_I}\s+{_TURN}\b|\b(?:left|right|u-?)?[\s-]*turns?\s+(?:\w+\s+)?{_I}\b|\b(?:make|made|take|took|do)\s+'
            rf'(?:(?:a|an|any|the|your)\s+)?(?:(?:first|last|next)\s+)?(?:(?:left|right|u)\b|(?:left\s+|right\s+|u-?)?turns?\b)'
            rf'|\byour\s+(?:first|last|next)\s+(?:left\s+|right\s+)?turn\b|\b{_I}\s+{_GO}\s+(?:to\s+the\s+)?(?:left|right)\b'
            rf'|\b(?:which|what)\s+(?:way|direction)\b.*\b{_I}\s+{_GO}\b',
        ),
        (
            Moved.STOP,
            rf'\b{_I}\s+{_HALT}\b|\bstops?\s+did\s+{_I}\b|\byour\s+(?:(?:first|last|longest)\s+)?stop\b'
            rf'|\b(?:make|made)\s+(?:(?:a|any|the|your)\s+)?(?:(?:first|last|longest)\s+)?stops?\b',
        ),
        (
            Moved.GOING,
            rf'\b{_I}\s+(?:\w+\s+)?{_MOVE}\b(?!.*\bside\s+of\b)|\b{_I}\s+(?:start|started|begin|began|continue|continued|resume|resumed)\b'
            rf'.*\b(?:mov|driv|going|to\s+go)|\b{_I}\s+set\s+off\b',
        ),
    )
)
_SIDE = re.compile(
    rf'\b(?:{_TURN}|{_GO})\s+(?:to\s+the\s+)?(left|right)\b|\b(left|right)[\s-]+turns?\b'
    r'|\b(?:a|the|first|last|next)\s+(left|right)\b|\b(?:your|the|its|my)\s+(left|right)\b',
    re.IGNORECASE,
)
_AROUND = re.compile(r'\bturn(?:ed|ing)?\s+(?:\w+\s+)?(?:around|back)\b|\bu-?\s*turns?\b', re.IGNORECASE)
_WHICH = frozenset(f'{asks} {what}' for asks in ('which', 'what') for what in ('way', 'direction', 'side'))
_LONGEST = frozenset(('longest', 'top', 'fastest', 'highest', 'maximum'))
_LEAST = re.compile(rf'\b(?:for\s+)?(?:(?:more|longer)\s+than|at\s+least|over)\s+({AMOUNTS})', re.IGNORECASE)
_NOW = frozenset(('now', 'currently', 'at the moment'))
_ENDS = {
    Choice.EARLIEST: frozenset(('at the beginning', 'at the start')),
    Choice.LATEST: frozenset(('at the end', 'the very end')),
}
_TOTAL = frozenset(('total', 'altogether', 'in all', 'overall'))
_NO_ANCHOR = re.compile(
    r'\b(?:on\s+average|in\s+total|altogether|in\s+all|at\s+all|overall|in\s+motion|on\s+the\s+move|at\s+most'
    r'|(?:right\s+)?now|currently|at\s+the\s+(?:moment|beginning|start|very\s+end|end)'
    r'|at\s+first|at\s+last|in\s+a\s+row|(?:for|at)\s+the\s+(?:first|last|longest)\s*(?:time)?'
    r'|(?:on|to|at)\s+(?:your|the|its|my)\s+(?:left|right)(?:\s+side)?|(?:in|into|to)\s+(?:which|what)\s+\w+)\b',
    re.IGNORECASE,
)
_PLACE = re.compile(
    r'(?<=\s)(?:while|when|as|at|near|in\s+front\s+of|next\s+to|close\s+to|beside|by|past|passing|in|outside|inside|on'
    r'|opposite|for)\b(?P<anchor>.+)',
    re.IGNORECASE,
)


def parse_motion(text: str) -> MotionRequest | None:
    """Return what a question asks of the robot's motion; None: it is about something else.

    :param text: without its words of time
    """
    rest, fronted = unfronted(text)
    text = f'{rest} {fronted}'.strip()
    plain = masked(text)
    what = next((what for what, pattern in _WHAT if pattern.search(plain)), None)
    if what is None:
        return None
    said = said_in(plain)
    which = bool(_WHICH & said) or {'left', 'or', 'right'} <= said
    side = None if which and what is not Moved.SIDE else _SIDE.search(plain)
    relation, anchors = _anchored(text, plain)
    return MotionRequest(
        what,
        side=_SIDES[next(filter(None, side.groups())).lower()] if side else None,
        around=_AROUND.search(plain) is not None,
        which=which,
        longest=bool(_LONGEST & said),
        least_s=seconds_in(least[1]) if (least := _LEAST.search(plain)) else 0.0,
        now=bool(_NOW & said) or words(plain)[0] == 'are',
        end=next((choice for choice, any_of in _ENDS.items() if any_of & said), Choice.CITED_FIRST),
        total=bool(_TOTAL & said),
        relation=relation,
        anchors=anchors,
    )


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
