"""Places that are said by their coordinates, and the asker's own: 'Go to x=2, y=3', 'Where am I?'"""

import math
import re
from collections.abc import Callable
from dataclasses import replace

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.not_seen import UNTOLD
from remembr_ros.geometry import Pose, is_place
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import PERSON, Memory
from remembr_ros.memory.motion.journey import heading

NAME = 'offline'

_NUMBER = r'[-+\u2212]?(?:\d+(?:\.\d+)?|\.\d+)'
_METRES = r'(?: ?m(?:et(?:er|re)s?)?\b)?'
_GO = (
    r'(?:(?:go|drive|navigate|move|head|travel|proceed|walk|come|return)(?: back| over)?(?: with me)?'
    r'|(?:take|bring|guide|lead|send|get)(?: me| us)?) to '
    r'(?:(?:the )?(?:map )?(?:points?|positions?|coordinates?|locations?|places?|pose|goal)\b)? ?(?:at )?'
)
_TURN = r'(?:yaw|heading|theta|orientation|angle|facing)'
_GOAL = any_case(
    rf'^{_GO}[(\[]? ?(?:x ?[=:]? ?)?(?P<x>{_NUMBER}){_METRES} ?(?:[,;/]| and\b)? ?'
    rf'(?:y ?[=:]? ?)?(?P<y>{_NUMBER}){_METRES}(?: ?,? ?(?:z ?[=:]? ?)(?P<z>{_NUMBER}){_METRES})? ?[)\]]?'
    rf'(?: ?[,;]? ?(?:and |with )?(?:an? |the )?{_TURN} ?(?:of |is )?[=:]? ?(?P<turn>{_NUMBER})'
    r' ?(?P<unit>\u00b0|deg(?:ree)?s?\b|rad(?:ian)?s?\b)? ?[)\]]?)?'
    r'(?: ?,? ?(?:in|on|of) (?:the )?(?:(?:frame|map) )?(?P<where>[\w/-]+)(?: (?:frame|map))?)?'
    r'(?: ?,? ?(?:please|now))*\W*$'
)
_LIKE_GOAL = any_case(
    rf'^(?!.*\b(?:and|then) [a-z]){_GO}(?:[(\[] ?)?'
    rf'(?:[xy] ?[=:] ?)?{_NUMBER}{_METRES} ?[,;/] ?(?:[xy] ?[=:] ?)?{_NUMBER}'
)
_ASKER = any_case(
    r'^(?:(?:and |so )*(?:where|at which place) (?:exactly )?|what(?:\'s| is) (?=(?:my|our|your) ))'
    r'(?P<who>am i|are we|are you|is the robot'
    r'|(?:my|our|your) (?:current )?(?:position|location|pose|coordinates))'
    r'(?: (?:right now|now|currently|exactly|at the moment|standing|located))*\W*$'
)


def coordinates_goal(text: str, question: Question) -> Answer | None:
    """Return the place whose coordinates a command says; None: it says none.

    It faces as whoever comes there, unless a heading is said: in radians, or in degrees if it says so.
    """
    found = _GOAL.match(text.replace('\u2212', '-'))
    if found is None:
        if _LIKE_GOAL.match(text):
            why = 'I do not understand these coordinates; say them as in "Go to x=2, y=3, yaw=1.57".'
            return Answer(Kind.NOT_SEEN, why, NAME, confidence=UNTOLD)
        return None
    where = found['where'] or ''
    if where.lower() not in ('', 'map', question.frame_id.lower(), question.map_id.lower()):
        why = f'I know coordinates in the frame {question.frame_id} alone, on the map that I am on.'
        return Answer(Kind.NOT_SEEN, why, NAME, confidence=UNTOLD)
    x, y = float(found['x']), float(found['y'])
    here = question.here
    z = float(found['z'] or 0.0) if found['z'] or here is None else here.z
    yaw = 0.0 if here is None else math.atan2(y - here.y, x - here.x)
    if found['turn']:
        in_degrees = (found['unit'] or '').lower().startswith(('\u00b0', 'deg'))
        turn = math.radians(float(found['turn'])) if in_degrees else float(found['turn'])
        yaw = math.atan2(math.sin(turn), math.cos(turn))
    pose = Pose(x, y, z, yaw)
    if not is_place(pose):
        return Answer(Kind.NOT_SEEN, f'({x:g}, {y:g}) is no place on a map.', NAME, confidence=UNTOLD)
    facing = f', facing {heading(pose, question.frame_id)}' if found['turn'] else ''
    return _at(
        pose,
        f'The place said is at ({x:g}, {y:g}) {_map(question)}{_within(pose, question)}{facing}.',
        question,
    )


def asker_place(text: str, question: Question, answer: Callable[[Question], Answer]) -> Answer | None:
    """Return where the asker is, who is where the robot is; None: that is not asked.

    :param answer: of a simple question: what memories tell of it
    """
    found = _ASKER.match(text)
    if found is None:
        return None
    here, known = question.here, answer(question)
    if here is None:
        if known.kind is Kind.NOT_SEEN:
            return replace(known, text=f'I do not know where I am. {known.text}')
        return replace(known, text=f'I do not know where I am now. By what I remember last: {known.text}')
    robot = re.search(r'\b(?:you|your|robot)\b', found['who'], re.IGNORECASE)
    who = (
        'I am'
        if robot
        else 'You are'
        if re.search(r'\b(?:i|my)\b', found['who'], re.IGNORECASE)
        else 'We are'
    )
    text = f'{who} at ({here.x:.1f}, {here.y:.1f}) {_map(question)}{_within(here, question)}'
    text = f'{text}, facing {heading(here, question.frame_id)}.'
    if robot:  # of what is remembered there, more may be asked
        return replace(known, text=f'{text} {known.text}' if known.kind is Kind.NOT_SEEN else text)
    return _at(here, text, question)


def _at(pose: Pose, text: str, question: Question) -> Answer:
    # As a person's note is, without an id: where it cannot be reached, the robot stands beside it.
    memory = Memory(
        '',
        '',
        question.now_ns,
        question.now_ns,
        'a place that was said',
        pose,
        question.frame_id,
        question.map_id,
        source=PERSON,
    )
    return Answer(
        Kind.POSITION,
        text,
        NAME,
        pose=pose,
        frame_id=question.frame_id,
        map_id=question.map_id,
        evidence=(Hit(memory, 1.0),),
        confidence=1.0,
    )


def _map(question: Question) -> str:
    return f'on map {question.map_id}' if question.map_id else f'in {question.frame_id}'


def _within(pose: Pose, question: Question) -> str:
    place = question.places.of_pose(question.map_id, pose)
    return '' if place is None else f', in {place.said}'
