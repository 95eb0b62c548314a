"""In which room a thing is: the question without the room, and the answer with it."""

from collections import Counter
from dataclasses import replace

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.places.place_request import ROOM_TEXT, SELF_TEXT
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import CAPTIONER, PLACE
from remembr_ros.memory.places.places import Places

_TO_ROOM = any_case(rf'\bto the {ROOM_TEXT} (?:with|that has|where {SELF_TEXT} (?:saw|found)) ')
_IN_ROOM = any_case(
    r'^\W*(?:(?:and|so|please|can|could|do|you|know|tell|me|us|remember)\W+)*(?:(?:in|on|at) )?'
    rf'(?:which|what) (?:of the )?{ROOM_TEXT} (?P<holds>(?:has|had|have|contains?) (?!{SELF_TEXT}\b))?'
    rf'(?!\w+ {SELF_TEXT} (?:in|at|been|go|entere?d?|visit(?:ed)?)\b)(?P<rest>.+?)(?: (?:in|at))?\W*$'
)
SIGHTS = 5  # of a thing that tell its room: it may have been moved since the others
AHEAD_M = (0.0, 1.0, 2.0, 3.0)  # of a camera, where things may be


def without_room(text: str, places: Places) -> str:
    """Return 'Where is the cup?' for 'In which room is the cup?', and any other text as it is.

    'Go to the room with the cup' is to the cup.
    """
    if not places:
        return text
    text = _TO_ROOM.sub('to ', text)
    asked = _IN_ROOM.match(text)
    if asked is None:
        return text
    return f'Where {"is " if asked["holds"] else ""}{asked["rest"]}?'


def in_room(answer: Answer, question: Question) -> Answer:
    """Return the answer to where a thing is with the room that it is in, as most of its last sights have it.

    A camera looks ahead: what it saw from a doorway is in the next room more often than in its own.
    """
    of_room = without_room(question.text, question.places) != question.text
    is_room = any(hit.memory.source == PLACE for hit in answer.evidence)
    if not of_room or is_room or answer.kind is not Kind.POSITION:
        return answer
    latest = sorted((hit.memory for hit in answer.evidence), key=lambda memory: -memory.end_ns)[:SIGHTS]
    votes = Counter(
        found.said
        for memory in latest
        for metres in (AHEAD_M if memory.source == CAPTIONER else AHEAD_M[:1])
        if memory.pose is not None
        and (found := question.places.of_pose(memory.map_id, Pose(*memory.pose.in_map((metres, 0.0, 0.0)))))
    )
    place = f'In {votes.most_common(1)[0][0]}: ' if votes else 'In no place that has a name: '
    return replace(answer, text=f'{place}{answer.text}')
