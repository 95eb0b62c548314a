"""Deeds: what a robot did itself, each kept as one memory of the source `agent`.

The memory's start and end are when it began and ended, its pose where the robot was at the end, its sentence
what was done; what more is known are its facts. All places in the facts are relative to the pose: when a map
is moved, nothing but the pose is.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Protocol, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.model.record import AGENT, Memory, memory_id

Outcome = Literal['succeeded', 'failed', 'cancelled', 'unknown']
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
MAX_DETAILS = 8_000  # bytes of the goal and the result of one deed
TALK = 'conversation'
"""Captioner of deeds that are questions to the robot itself and what it answered: no evidence of anything."""

LOOK = 'look'
"""Kind of a deed by which a robot looked whether a thing is where it was; it failed where that is gone."""

_Name = Annotated[str, Field(max_length=500)]
_Time = Annotated[int, Field(ge=0, lt=2**63)]
_Metres = Annotated[float, Field(ge=-1e9, le=1e9)]
_Place = tuple[_Metres, _Metres, _Metres]


class DeedFacts(BaseModel):
    """What is known of a deed beside its memory. Places are metres from its pose along the pose's axes.

    :param kind: go, pick, place, open, close, ask, answer, dock, charge, fail, or other words
    :param object: what it was done to, by name
    :param object_id: its id, where the memory knows that object
    :param receptacle: what that was taken from or put on or into
    :param receptacle_id: the same as of the object
    :param place: the name of the place, such as of a room
    :param reason: why it ended so
    :param text: what was said of it; empty: its sentence is made of the rest
    :param began: where the robot was when it began
    :param goal: where it was to end
    :param details: what more a message says, such as goal and result of an action
    :param evidence: ids of the memories that it rests on, such as an answer: who forgets one forgets it
    :param times: of each of several that are kept as one, begin and end [ns]; empty: it is a single one
    """

    model_config = ConfigDict(extra='ignore', allow_inf_nan=False, frozen=True)
    kind: _Name = ''
    object: _Name = ''
    object_id: _Name = ''
    receptacle: _Name = ''
    receptacle_id: _Name = ''
    place: _Name = ''
    outcome: Outcome = 'unknown'
    reason: Annotated[str, Field(max_length=5000)] = ''
    text: Annotated[str, Field(max_length=20_000)] = ''
    began: _Place | None = None
    goal: _Place | None = None
    details: dict[str, JsonValue] = Field(default_factory=dict)  # pydantic copies a default each time
    evidence: Annotated[tuple[_Name, ...], Field(max_length=100)] = ()
    times: tuple[tuple[_Time, _Time], ...] = ()

    @field_validator('kind', 'object', 'receptacle', 'place', 'reason', 'text', mode='before')
    @classmethod
    def _in_one_line(cls, text: Any) -> Any:
        return ' '.join(text.encode('utf-8', 'replace').decode().split()) if isinstance(text, str) else text


@dataclass(frozen=True, slots=True)
class Deed:
    """A deed on its way into the memory.

    :param begin_ns: nanoseconds since the Unix epoch
    :param end_ns: of one without an end its begin
    :param facts: of the places in these none
    :param pose: where it ended, in the map frame; None: not known
    :param began: where it began, in the same frame
    :param goal: where it was to end
    :param travelled: way driven meanwhile [m]
    :param robot: empty: whoever keeps it knows
    :param key: tells it from others of the same begin, such as the id of an action's goal; empty: what it is
    """

    facts: DeedFacts
    begin_ns: int
    end_ns: int
    pose: Pose | None = None
    frame_id: str = 'map'
    map_id: str = ''
    began: Point | None = None
    goal: Point | None = None
    travelled: float = 0.0
    robot: str = ''
    key: str = ''

    def memory(self, robot: str, captioner: str = '') -> Memory:
        """Return what is remembered of it; the same deed, told twice, is the same memory."""
        facts, robot = self.facts, self.robot or robot
        if self.pose is not None:
            places = {'began': self.began, 'goal': self.goal}
            relative = {name: self.pose.relative(at) for name, at in places.items() if at is not None}
            facts = facts.model_copy(update=relative)
        parts = (facts.kind, facts.object, facts.receptacle, facts.place, facts.text)
        return Memory(
            id=memory_id(robot, AGENT, self.begin_ns, self.key or '\0'.join(parts)),
            robot=robot,
            start_ns=self.begin_ns,
            end_ns=self.end_ns,
            caption=sentence(facts),
            pose=self.pose,
            frame_id=self.frame_id,
            map_id=self.map_id,
            travelled=self.travelled,
            captioner=captioner,
            source=AGENT,
            facts=facts.model_dump(mode='json', exclude_defaults=True) | {'outcome': facts.outcome},
        )


def deed(begin_ns: int, end_ns: int | None = None, **about: Any) -> Deed:
    """Return a deed of what is known of it.

    :param about: fields of DeedFacts and of Deed
    :raises InvalidRequest: it says nothing, ends before it began, or a field makes no sense
    """
    rest = {name: about.pop(name) for name in Deed.__slots__ if name in about}
    try:
        facts = DeedFacts.model_validate(about)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise InvalidRequest(f'{wrong["loc"][0]} is {wrong["input"]!r:.99}: {wrong["msg"]}') from None
    if not (facts.kind or facts.text):
        raise InvalidRequest("a deed needs a kind, such as 'pick', or a text; say what was done")
    if end_ns is not None and end_ns < begin_ns:
        raise InvalidRequest('the deed ends before it begins; exchange begin and end, or leave out the end')
    return Deed(facts, begin_ns, begin_ns if end_ns is None else end_ns, **rest)


def each_time(memory: Memory) -> list[Memory]:
    """Return a deed once for each time that it was done; any other memory as it is."""
    facts = facts_of(memory) if memory.facts.get('times') else None
    if facts is None or not facts.times:
        return [memory]
    return [replace(memory, start_ns=start_ns, end_ns=end_ns) for start_ns, end_ns in facts.times]


def facts_of(memory: Memory) -> DeedFacts | None:
    """Return the facts of a deed; None: the memory is of none."""
    if memory.source != AGENT:
        return None
    try:
        return DeedFacts.model_validate(dict(memory.facts))
    except ValidationError:
        return None


_VERBS = {
    'go': ('drove', 'drive'),
    'pick': ('picked', 'pick'),
    'place': ('put', 'put'),
    'open': ('opened', 'open'),
    'close': ('closed', 'close'),
    'ask': ('asked', 'ask'),
    'answer': ('answered', 'answer'),
    'dock': ('docked', 'dock'),
    'charge': ('charged', 'charge'),
    'fail': ('failed', 'do something'),
}
"""What it is called when it was done, and when it was not, by its kind."""

_BETWEEN = {'pick': 'from', 'place': 'on', 'go': 'at'}


class _Facts(Protocol):
    kind: str
    object: str
    receptacle: str
    place: str
    reason: str
    text: str

    @property
    def outcome(self) -> str: ...


def kind_said(text: str) -> str:
    """Return the kind of a deed that a sentence begins with; empty: none of the usual ones."""
    first = text.split(maxsplit=1)[0].casefold() if text.split() else ''
    return next((kind for kind, (past, plain) in _VERBS.items() if first in (past, plain)), '')


def sentence(facts: _Facts) -> str:
    """Return what was done, to what, where, how that ended and why."""
    text = facts.text or _made(facts)
    bare = text.rstrip('. ') or text  # what follows stands before the full stop
    known = bare.casefold()
    more = [facts.object, facts.receptacle, facts.place]
    names = (facts.kind, *_VERBS.get(facts.kind, ()))
    done = facts.outcome in ('succeeded', 'unknown')
    if facts.text and done and not any(name in known for name in names):
        more.insert(0, _VERBS.get(facts.kind, names)[0])
    more = [word for word in dict.fromkeys(more) if word and word.casefold() not in known]
    text = bare if more or facts.reason else text
    text += f' ({", ".join(more)})' if more else ''
    if facts.text and facts.outcome in ('failed', 'cancelled') and facts.outcome[:4] not in known:
        text += f'; {facts.outcome}'
    if facts.reason and facts.reason.casefold() not in text.casefold():
        text += f': {facts.reason}'
    return text[:1].upper() + text[1:]


def _made(facts: _Facts) -> str:
    past, plain = _VERBS.get(facts.kind, (facts.kind, facts.kind))
    object_ = f' {_the(facts.object)}' if facts.object else ''
    if facts.kind == 'go':
        to = facts.receptacle or facts.object or facts.place
        object_ = f' to {_the(to)}' if to else ' to another place'
    elif facts.receptacle:
        object_ += f' {_BETWEEN.get(facts.kind, "at")} {_the(facts.receptacle)}'
    if facts.outcome == 'failed' and facts.kind != 'fail':
        return f'failed to {plain}{object_}'
    if facts.outcome == 'cancelled':
        return f'was stopped before it could {plain}{object_}'
    if facts.outcome == 'unknown' and facts.reason:
        return f'began to {plain}{object_}'
    return f'{past}{object_}'


def _the(name: str) -> str:
    return name if name[:1].isupper() or name.startswith(('the ', 'a ', 'an ', 'my ')) else f'the {name}'
