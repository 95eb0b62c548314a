"""Routes for whoever may act: notes, forgetting, driving."""

import logging
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from remembr_ros.geometry import MAX_COORDINATE, Pose, StampedPose, wrap_angle
from remembr_ros.memory.deeds.deed import Outcome, told_deed
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import PLACE, Memory
from remembr_ros.memory.notes import MAX_BYTES
from remembr_ros.memory.objects.corrections import ObjectCorrection
from remembr_ros.memory.places.place import place
from remembr_ros.timestamps import format_iso, parse_time
from remembr_ros.web import forms
from remembr_ros.web.api.errors import refused_as
from remembr_ros.web.api.looking import MemoryId, ObjectId, memory_of, one_object
from remembr_ros.web.api.request_scope import SITE
from remembr_ros.web.backend import Ability
from remembr_ros.web.door.access import Right, needs
from remembr_ros.web.following import News
from remembr_ros.web.live import Event
from remembr_ros.web.site import Site
from remembr_ros.web.site import forget as forget_for_good

logger = logging.getLogger(__name__)

routes = APIRouter(dependencies=[Depends(needs(Right.ACT))], tags=['acting'])

_NEXT = 50  # memories in time among which one may show the same picture

Coordinate = Annotated[
    float, Field(ge=-MAX_COORDINATE, le=MAX_COORDINATE, allow_inf_nan=False, description='[m]')
]
Yaw = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False, description='heading [rad]')]


class _Body(BaseModel):
    model_config = ConfigDict(extra='forbid')


class _Placed(_Body):
    position: tuple[Coordinate, Coordinate, Coordinate] | None = Field(None, description='where it is')
    yaw: Yaw = 0.0
    map_id: str = Field('', max_length=1000, description='the map that the position is in')

    @property
    def pose(self) -> Pose | None:
        """The position with the heading."""
        return Pose(*self.position, wrap_angle(self.yaw)) if self.position else None


class NoteRequest(_Placed):
    """A person's note of now."""

    text: str = Field(min_length=1, max_length=MAX_BYTES)


class EventRequest(_Placed):
    """What the robot did: at least a text or a kind; of now where both times are empty."""

    text: str = Field('', max_length=20_000)
    kind: str = Field('', max_length=500, description='such as go, pick, place, open or close')
    object: str = Field('', max_length=500, description='what it was done to: a name, or the id of an object')
    receptacle: str = Field('', max_length=500, description='what that was taken from or put on: the same')
    place: str = Field('', max_length=500, description='name of the place, such as of a room')
    begin: str = Field('', max_length=64, description='ISO 8601 or Unix seconds; empty: the end')
    end: str = Field('', max_length=64, description='the same; empty: the begin')
    outcome: Outcome = 'unknown'
    reason: str = Field('', max_length=5000, description='why it ended so')


class NamingRequest(_Body):
    """A name for a part of a map: with an outline, or with a center and a radius."""

    name: str = Field(min_length=1, max_length=1000)
    other_names: list[str] = Field([], max_length=100, description='what it is called besides')
    outline: list[tuple[Coordinate, Coordinate]] = Field([], max_length=1000, description='corners, in order')
    center: tuple[Coordinate, Coordinate] | None = None
    radius: float | None = Field(None, gt=0, le=1e6, allow_inf_nan=False, description='[m]')
    z: Coordinate = 0.0
    map_id: str = Field('', max_length=1000)


class CorrectionRequest(_Body):
    """What a person says of an object."""

    action: Literal['rename', 'gone', 'there', 'merge', 'split', 'delete']
    name: str = Field('', max_length=200, description='rename: what it is called; empty: as recognised')
    other: str = Field('', max_length=64, description='merge: the id of what is the same thing')
    time: str | None = Field(None, max_length=64, description='split: since when it is another thing')
    map_id: str | None = Field(None, max_length=1000, description='of the object; refused if it is not')


class GoRequest(_Body):
    """Where the robot shall drive: to where a memory was made, or to a place."""

    memory_id: str | None = Field(None, max_length=64)
    position: tuple[Coordinate, Coordinate] | None = None
    yaw: Yaw = 0.0
    map_id: str = Field('', max_length=1000, description='the map that the position is in')

    @model_validator(mode='after')
    def _one_of_both(self) -> 'GoRequest':
        if (self.memory_id is None) == (self.position is None):
            raise ValueError('give either memory_id or position')
        return self


class ConfirmRequest(_Body):
    """Whether the robot may drive to the goals that wait."""

    yes: bool
    proposal: str = Field(
        '', max_length=64, description='proposal_id of the situation that was seen; a no may do without'
    )


@routes.get('/api/memories/{memory_id}/forgetting')
def forgetting(site: SITE, memory_id: MemoryId) -> forms.ForgettingJson:
    """Tell what would go: a memory, the answers that rest on it, and the pictures of it alone."""
    memory = memory_of(site, memory_id)
    shared = _shared(site, memory)
    return {
        'memories': site.backend.forget([memory.id], dry_run=True),
        'segments': memory.merged,
        'pictures': len(set(memory.keyframes) - shared),
        'shared': len(shared),
        'start': format_iso(memory.start_ns),
        'end': format_iso(memory.end_ns),
    }


@routes.delete('/api/memories/{memory_id}')
def forget(site: SITE, memory_id: MemoryId, request: Request, response: Response) -> dict[str, int]:
    """Delete a memory with its pictures, for good; with what the browser keeps. `forgotten`: how many."""
    _can(site, Ability.FORGET)
    memory = memory_of(site, memory_id)
    count = forget_for_good(site, [memory.id], asker=request.state.who)
    if memory.source == PLACE:
        _tell_anew(site)
    response.headers['Clear-Site-Data'] = '"cache"'
    return {'forgotten': count}


@routes.post('/api/notes', status_code=201)
def note(site: SITE, request: Request, body: NoteRequest) -> dict[str, str]:
    """Store a note of now; `id`: that of its memory."""
    _can(site, Ability.NOTE)
    memory_id = site.backend.note(body.text, body.pose, map_id=body.map_id)
    logger.warning('%s noted memory %s', request.state.who, memory_id)
    return {'id': memory_id}


@routes.post('/api/events', status_code=201)
def tell(site: SITE, request: Request, body: EventRequest) -> dict[str, str]:
    """Store what the robot did; `id`: that of its memory."""
    _can(site, Ability.NOTE)
    memory_id = site.backend.tell(told_deed(**body.model_dump()))
    logger.warning('%s told deed %s', request.state.who, memory_id)
    return {'id': memory_id}


@routes.post('/api/places', status_code=201)
def name_place(site: SITE, request: Request, body: NamingRequest) -> dict[str, str]:
    """Give a part of a map its name; to take it away, forget the memory of the `id`."""
    _can(site, Ability.NOTE)
    named = place(**body.model_dump(), now_ns=site.backend.now_ns())
    logger.warning('%s names place %r', request.state.who, named.name)
    memory_id = site.backend.name_place(named)
    _tell_anew(site)
    return {'id': memory_id}


@routes.post('/api/objects/{object_id}')
def correct(
    site: SITE, object_id: ObjectId, request: Request, said: CorrectionRequest
) -> dict[str, dict[str, Any] | None]:
    """Take what a person says of an object: it outranks what is seen. null: it is deleted."""
    _can(site, Ability.CORRECT)
    time_ns = None if said.time is None else parse_time(said.time)
    logger.warning('%s corrects object %s: %s', request.state.who, object_id, said.action)
    correction = ObjectCorrection(said.action, object_id, said.name, said.other, time_ns, said.map_id)
    known = site.backend.correct(correction)
    _tell_anew(site)
    return {'object': None} if known is None else one_object(site, known.id)


@routes.post('/api/go', status_code=202)
def go(site: SITE, request: Request, body: GoRequest) -> forms.DriveJson:
    """Have the robot drive, once a person has said yes; the event `situation` tells how it goes."""
    _can(site, Ability.DRIVE)
    target: Memory | StampedPose
    if body.position is not None:
        target = StampedPose(site.backend.now_ns(), Pose(*body.position, 0.0, wrap_angle(body.yaw)))
    else:
        target = memory_of(site, body.memory_id or '')
    with refused_as(409):
        drive = site.drives.begin(target, map_id=body.map_id, asker=request.state.who)
    return forms.drive_json(drive)


@routes.post('/api/confirm')
def confirm(site: SITE, request: Request, body: ConfirmRequest) -> dict[str, str]:
    """Say yes or no to the goals that wait; the event `situation` tells how the drive goes on."""
    _can(site, Ability.DRIVE)
    with refused_as(409):
        return {'detail': site.drives.confirm(body.yes, body.proposal, asker=request.state.who)}


@routes.post('/api/stop')
def stop(site: SITE, request: Request) -> dict[str, str]:
    """End every drive; `detail`: what came of it, for a person."""
    _can(site, Ability.DRIVE)
    return {'detail': site.drives.stop(asker=request.state.who)}


def _tell_anew(site: Site) -> None:
    """Tell who follows what is no news of memories: a name."""
    contents = site.following.contents
    site.live.tell(Event('memories', News(contents.version, len(contents.outline), (), anew=True)))


def _can(site: Site, ability: Ability) -> None:
    if ability not in site.backend.abilities:
        refusals = {
            Ability.CORRECT: 'objects cannot be corrected here; open their memory by remembr web',
            Ability.DRIVE: 'there is no robot here to drive; start the page with the robot',
            Ability.FORGET: 'this memory can only be read here; nothing can be forgotten',
            Ability.NOTE: 'this memory can only be read here; no note can be stored',
        }
        raise HTTPException(409, refusals[ability])


def _shared(site: Site, memory: Memory) -> set[str]:
    """Return the pictures of a memory that one of those next to it in time shows, too."""
    if not memory.keyframes:
        return set()
    found = site.backend.recall.find(Query(time_ns=memory.start_ns, limit=_NEXT))
    named = {name for hit in found if hit.memory.id != memory.id for name in hit.memory.keyframes}
    return named & set(memory.keyframes)
