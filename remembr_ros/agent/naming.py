"""Recognises statements that name the robot's place: 'This is room 315.'"""

import re
from collections.abc import Callable
from dataclasses import replace

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.places.place import NamedPlace, said_name

NAME = 'naming'  # in place of a planner

Naming = Callable[[str, Question], NamedPlace]
"""Stores a place of this name where the question is asked; raises InvalidRequest and StoreUnavailable."""

_PLACE = r'(?:room|place|spot|area|corner|position)'
_CALL = r'^\W*(?:(?:please|ok|okay|hey|robot|now)\W+)*'
_NAME = r'\s+(?P<name>[^?]+?)(?:\s+now)?[\s.!]*$'
_CALLED = re.compile(
    rf'{_CALL}(?:this\s+{_PLACE}\s+is(?:\s+(?:called|named))?|this\s+is\s+called'
    rf'|(?:call|name)\s+this(?:\s+{_PLACE})?|remember\s+this(?:\s+{_PLACE})?\s+as){_NAME}',
    re.IGNORECASE,
)
_THIS = re.compile(rf'{_CALL}(?:this\s+is|(?:we|you)\s+are\s+(?:now\s+)?(?:in|at)){_NAME}', re.IGNORECASE)
_NO_NAME = re.compile(
    r'(?:an?|my|your|not|so|very|too|where|what|how|why|here|it|wrong|the\s+(?:way|wrong))\b', re.IGNORECASE
)
MOST_WORDS = 5


def name_said(text: str) -> str:
    """Return the name that a text gives to the place where it is said; empty: it gives none.

    'This is great.' gives none: after 'this is' or 'you are in' it has an article, a number or a capital.
    """
    called, this = _CALLED.match(text), _THIS.match(text)
    said = called or this
    if said is None or _NO_NAME.match(said['name']) or len(said['name'].split()) > MOST_WORDS:
        return ''
    name = str(said['name'])
    is_name = re.match(r'the\s', name, re.IGNORECASE) or re.search(r'\d', name) or name[:1].isupper()
    return re.sub(r'^the\s+', '', name, flags=re.IGNORECASE) if called or is_name else ''


def answer_naming(question: Question, naming: Naming) -> Answer | None:
    """Give the place where the robot is the name that a text says; None: it says none.

    :raises StoreUnavailable: the place cannot be stored
    """
    name = name_said(question.text)
    if not name:
        return None
    if question.here is None:
        return _told(question, f'I do not know where I am, so I cannot call that {said_name(name)}.')
    try:
        named = naming(name, question)
    except InvalidRequest as error:
        return _told(question, f'I cannot call this {said_name(name)}: {error}.')
    how = 'the room around me' if named.outline else f'what is within {named.facts.radius:g} m'
    told = _told(question, f'This is {named.said} now: {how}.')
    return replace(told, kind=Kind.TEXT, pose=named.pose, evidence=(Hit(named.memory, 1.0),), confidence=1.0)


def _told(question: Question, text: str) -> Answer:
    return Answer(Kind.NOT_SEEN, text, NAME, frame_id=question.frame_id, map_id=question.map_id)
