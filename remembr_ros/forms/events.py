"""What somebody tells: a note, what the robot did, where it shall drive."""

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.fields import MAX_NAME, NUMBER, At, OnMap, PlaceWords, Time, Words, Yaw, word
from remembr_ros.forms.form import Form
from remembr_ros.geometry import MAX_COORDINATE, Pose, StampedPose, wrap_angle
from remembr_ros.memory.deeds.deed import Deed, Outcome, deed, kind_said
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.notes import MAX_BYTES

_KINDS = 'go, pick, place, open, close, ask, answer, dock, charge, fail, or other words'


class PlacedForm(Form):
    """Something at a position on a map."""

    position: At = None
    yaw: Yaw = 0.0
    map: OnMap = ''

    @property
    def pose(self) -> Pose | None:
        """The position with its heading; None: there is none.

        :raises InvalidRequest: there is a heading alone
        """
        if self.position is None and self.yaw:
            raise InvalidRequest('yaw is a heading at a place: give a position, too')
        return None if self.position is None else Pose(*self.position, wrap_angle(self.yaw))


class GoForm(PlacedForm):
    """Drive the robot to where a memory was made, or to a position; a person has to confirm first."""

    memory_id: Annotated[
        str | None, word('where that memory was made', '8c1f0d', 'id memory', max_length=200)
    ] = None

    def target(self, memory_of: Callable[[str], Memory], now_ns: int) -> Memory | StampedPose:
        """Return the memory, or the position with its heading as of now.

        :raises InvalidRequest: neither or both are given
        """
        if (self.memory_id is None) == (self.position is None):
            raise InvalidRequest('give either a memory_id or a position')
        return StampedPose(now_ns, self.pose) if self.pose else memory_of(self.memory_id or '')


class TellForm(PlacedForm):
    """Something that is remembered."""

    robot: Annotated[
        str | None,
        word('whose memory it is (default: robot)', 'anna', min_length=1, max_length=MAX_NAME),
    ] = None


class NoteForm(TellForm):
    """Store a person's note."""

    text: Annotated[
        str, word('what shall be remembered', 'The key is here.', 'note', min_length=1, max_length=MAX_BYTES)
    ]
    time: Annotated[Time | None, word('when it was (default: now)', '2026-11-23T08:10Z', 'when stamp')] = None


class EventForm(TellForm):
    """Store what the robot did itself; with neither begin nor end it is of now."""

    text: Annotated[str, word('what was done', 'Put the cup on the table.', max_length=20_000)] = ''
    kind: Annotated[Words, word(_KINDS, 'pick', 'verb')] = ''
    object: Annotated[Words, word('what it was done to: a name, or the id of a known object', 'cup')] = ''
    receptacle: Annotated[Words, word('what that was taken from or put on: the same', 'table')] = ''
    place: Annotated[PlaceWords, word('name of the place, such as of a room', 'kitchen', 'where room')] = ''
    begin: Annotated[Time | None, word('when it began (default: the end)', '2026-11-23T09:00Z', 'start')] = (
        None
    )
    end: Annotated[Time | None, word('when it ended (default: the begin)', '2026-11-23T09:01:10Z')] = None
    outcome: Annotated[Outcome, word('how it ended', 'succeeded', 'status')] = 'unknown'
    reason: Annotated[str, word('why it ended so', 'the door was locked', max_length=5_000)] = ''
    travelled: Annotated[
        float,
        Field(ge=0.0, le=MAX_COORDINATE),
        NUMBER,
        word('way driven meanwhile', 4.2, 'metres', 'm'),
    ] = 0.0

    def deed(self, now_ns: int = 0) -> Deed:
        """Return the deed.

        :param now_ns: when it was where nobody says that [ns since the Unix epoch]
        :raises InvalidRequest: it says nothing, or ends before it began
        """
        names = ('text', 'object', 'receptacle', 'place', 'outcome', 'reason', 'travelled')
        told = {name: getattr(self, name) for name in names}
        told |= {'kind': self.kind or kind_said(self.text), 'robot': self.robot or '', 'map_id': self.map}
        begin_ns = next((time for time in (self.begin, self.end) if time is not None), now_ns)
        return deed(begin_ns, self.end, pose=self.pose, **told)
