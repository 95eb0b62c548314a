"""Places that are said by their coordinates, and the asker's own: 'Go to x=2, y=3', 'Where am I?'"""

import math
import re
from collections.abc import Callable
from dataclasses import replace

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.quoting import TENS, TO_TWENTY, any_case
from remembr_ros.agent.offline.not_seen import NAME, UNTOLD
from remembr_ros.agent.offline.reader.clauses import GO
from remembr_ros.geometry import Pose, is_place, wrap_angle
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import PERSON, Memory
from remembr_ros.memory.motion.journey import heading

_NUMBER = r'[-+]?(?:\d+(?:\.\d+)?|\.\d+)'
_METRES = r'(?: ?m(?:et(?:er|re)s?)?\b)?'
_GO = (
    rf'(?:(?:{"|".join(GO)})(?: back| over| with me| me| us)? to|head(?: over)? (?:for|to)|'
    r'(?:send|move|bring) (?:the robot|yourself|it) (?:over )?to) '
    r'(?:(?:the |map )*(?:point|position|coordinate|location|place|pose|goal)s?\b)? ?(?:at )?'
)
_X_Y = (
    rf'[(\[]? ?(?:x ?[=:]? ?)?(?P<x>{_NUMBER})(?![\d.]){_METRES} ?(?P<comma>[,;/]| and\b)? ?'
    rf'(?:y ?[=:]? ?)?(?P<y>{_NUMBER})(?![\w.]){_METRES}'
    rf'(?: ?[,;/] ?(?:z ?[=:]? ?)?(?P<z>{_NUMBER})(?![\w.]){_METRES}(?= ?[)\]]|\W*$))? ?[)\]]?'
)
_TURN = (
    r' ?[,;]? ?(?:(?:and|with|an?|the) )*(?:yaw|heading|theta|orientation|angle|facing) ?(?:of |is )?[=:]? ?'
    rf'(?P<turn>{_NUMBER}) ?(?P<unit>\u00b0|deg(?:ree)?s?\b|rad(?:ian)?s?\b)? ?[)\]]?'
)
_FRAME = r' ?,? ?(?:in|on|of) (?:the )?(?:(?:frame|map) (?!frame))?(?P<where>[\w/-]+)(?: (?:frame|map))?'
_GOAL = any_case(rf'^{_GO}{_X_Y}(?:{_TURN})?(?:{_FRAME})?\W*(?P<more>.*)$')
_VALUES = {word: value for value, word in enumerate(TO_TWENTY)} | {'oh': 0}
_VALUES |= {word: 10 * value for value, word in enumerate(TENS, 2)}
_SIGNS = {'minus ': '-', 'negative ': '-', ' equals ': '=', ' comma ': ', '}
_NAMED = any_case(r'\b(?:[xy]|coordinates?|position|point)\b')
_NEXT = any_case(r'\b(?:and|then) [a-z]')
_ASKER = any_case(
    r'^(?:(?:where|at which place) (?:exactly )?|what(?:\'s| is| are) (?=(?:my|our|your) ))'
    r'(?:(?P<You>am i|my)|(?P<We>are we|our)|are you|is the robot|your)(?: (?:current )?(?:position|location'
    r'|pose|coordinates))?(?: (?:right now|now|currently|exactly|at the moment|standing|located))*\W*$'
)


def coordinates_goal(text: str, question: Question) -> Answer | None:
    """Return the place whose coordinates a command says; None: it says none.

    It faces as whoever comes there, unless a heading is said: in radians, or in degrees if it says so.
    """
    written = text.replace('\u2212', '-')
    found = _GOAL.match(written) or _GOAL.match(_in_digits(written))
    # "Go to two three" may be a room.
    if found is None or not (found['comma'] or _NAMED.search(text) or _GOAL.match(written)):
        return None
    if found['more']:
        why = 'I do not understand these coordinates; say them as in "Go to x=2, y=3, yaw=1.57".'
        return not_known(why) if found['comma'] and not _NEXT.search(text) else None
    if (found['where'] or '').lower() not in ('', 'map', question.frame_id.lower(), question.map_id.lower()):
        return not_known(f'I know coordinates in {question.frame_id} alone, on the map that I am on.')
    x, y = float(found['x']), float(found['y'])
    here = question.here or Pose(x, y)
    yaw = math.atan2(y - here.y, x - here.x)
    if found['turn']:
        in_degrees = (found['unit'] or '').lower().startswith(('\u00b0', 'deg'))
        yaw = wrap_angle(math.radians(float(found['turn'])) if in_degrees else float(found['turn']))
    pose = Pose(x, y, float(found['z'] or here.z), yaw)
    if not is_place(pose):
        return not_known(f'({x:g}, {y:g}) is no place on a map.')
    return _at(pose, f'The place said is at ({x:g}, {y:g})', question, faces=found['turn'] is not None)


def _in_digits(text: str) -> str:
    """Return a text with the numbers in digits that it has in words: 'minus two point five' is -2.5."""
    text = re.sub(r'[a-z]+', lambda word: str(_VALUES.get(word[0], word[0])), text.lower())
    text = re.sub(r'\b(\d0?)0[ -]([1-9])\b', r'\1\2', text)  # 20 1
    text = re.sub(r'(?<=\d) point (\d+(?: \d)*)', lambda decimals: f'.{decimals[1].replace(" ", "")}', text)
    return re.sub('|'.join(_SIGNS), lambda sign: _SIGNS[sign[0]], text)


def asker_place(text: str, question: Question, answer: Callable[[Question], Answer]) -> Answer | None:
    """Return where the asker is, who is where the robot is; None: that is not asked.

    :param answer: of a simple question: what memories tell of it
    """
    found = _ASKER.match(text)
    if found is None:
        return None
    here, known = question.here, answer(question)
    unseen = known.kind is Kind.NOT_SEEN
    if here is None:
        last = '.' if unseen else ' now. By what I remember last:'
        return replace(known, text=f'I do not know where I am{last} {known.text}')
    who = f'{found.lastgroup} are' if found.lastgroup else 'I am'
    there = _at(here, f'{who} at ({here.x:.1f}, {here.y:.1f})', question)
    # Of what is remembered where the robot is, more may be asked.
    told = replace(known, text=f'{there.text} {known.text}' if unseen else there.text)
    return there if found.lastgroup else told


def not_known(why: str) -> Answer:
    """Return that there is no answer, and why."""
    return Answer(Kind.NOT_SEEN, why, NAME, confidence=UNTOLD)


def _at(pose: Pose, said: str, question: Question, *, faces: bool = True) -> Answer:
    now_ns, frame_id, map_id = question.now_ns, question.frame_id, question.map_id
    place = question.places.of_pose(map_id, pose)
    text = f'{said} on map {map_id}' if map_id else f'{said} in {frame_id}'
    text += f', in {place.said}' if place else ''
    text += f', facing {heading(pose, frame_id)}.' if faces else '.'
    # As a person's note is, without an id: where it cannot be reached, the robot stands beside it.
    note = Memory('', '', now_ns, now_ns, 'a place that was said', pose, frame_id, map_id, source=PERSON)
    at = Answer(Kind.POSITION, text, NAME, None, pose, frame_id, map_id, confidence=1.0)
    return replace(at, evidence=(Hit(note, 1.0),))
