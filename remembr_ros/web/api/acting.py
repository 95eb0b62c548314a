"""Routes for whoever may act: notes, forgetting, driving."""

import logging
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from pydantic import Field

from remembr_ros.forms.events import EventForm, GoForm, NoteForm
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.forms.form import Form
from remembr_ros.geometry import MAX_COORDINATE
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import PLACE, Memory
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


class NamingRequest(Form):
    """A name for a part of a map: with an outline, or with a center and a radius."""

    name: str = Field(min_length=1, max_length=1000)
    other_names: list[str] = Field([], max_length=100, description='what it is called besides')
    outline: list[tuple[Coordinate, Coordinate]] = Field([], max_length=1000, description='corners, in order')
    center: tuple[Coordinate, Coordinate] | None = None
    radius: float | None = Field(None, gt=0, le=1e6, allow_inf_nan=False, description='[m]')
    z: Coordinate = 0.0
    map: str = Field('', max_length=1000)


class CorrectionRequest(Form):
    """What a person says of an object."""

    action: Literal['rename', 'gone', 'there', 'merge', 'split', 'delete']
    name: str = Field('', max_length=200, description='rename: what it is called; empty: as recognised')
    other: str = Field('', max_length=64, description='merge: the id of what is the same thing')
    time: str | None = Field(None, max_length=64, description='split: since when it is another thing')
    map: str | None = Field(None, max_length=1000, description='of the object; refused if it is not')


class ConfirmRequest(Form):
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
        'memories': len(site.backend.doomed(ForgetForm(id=(memory.id,)))),
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
    count = forget_for_good(site, ForgetForm(id=(memory.id,)), asker=request.state.who)
    if memory.source == PLACE:
        _tell_anew(site)
    response.headers['Clear-Site-Data'] = '"cache"'
    return {'forgotten': count}


@routes.post('/api/forget')
def forget_all(site: SITE, request: Request, response: Response, body: ForgetForm) -> dict[str, int]:
    """Delete all memories that meet the conditions, for good. `forgotten`: how many; `found`: would be."""
    body.conditions()
    if body.dry_run:
        return {'forgotten': 0, 'found': len(site.backend.doomed(body))}
    _can(site, Ability.FORGET)
    count = forget_for_good(site, body, asker=request.state.who)
    _tell_anew(site)
    response.headers['Clear-Site-Data'] = '"cache"'
    return {'forgotten': count, 'found': count}


@routes.post('/api/notes', status_code=201)
def note(site: SITE, request: Request, body: NoteForm) -> dict[str, str]:
    """Store a note of now; `id`: that of its memory."""
    _can(site, Ability.NOTE)
    memory_id = site.backend.note(body)
    logger.warning('%s noted memory %s', request.state.who, memory_id)
    return {'id': memory_id}


@routes.post('/api/events', status_code=201)
def tell(site: SITE, request: Request, body: EventForm) -> dict[str, str]:
    """Store what the robot did; `id`: that of its memory."""
    _can(site, Ability.NOTE)
    memory_id = site.backend.tell(body.deed())
    logger.warning('%s told deed %s', request.state.who, memory_id)
    return {'id': memory_id}


@routes.post('/api/places', status_code=201)
def name_place(site: SITE, request: Request, body: NamingRequest) -> dict[str, str]:
    """Give a part of a map its name; to take it away, forget the memory of the `id`."""
    _can(site, Ability.NOTE)
    named = place(**body.model_dump(exclude={'map'}), map_id=body.map, now_ns=site.backend.now_ns())
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
    correction = ObjectCorrection(said.action, object_id, said.name, said.other, time_ns, said.map)
    known = site.backend.correct(correction)
    _tell_anew(site)
    return {'object': None} if known is None else one_object(site, known.id)


@routes.post('/api/go', status_code=202)
def go(site: SITE, request: Request, body: GoForm) -> forms.DriveJson:
    """Have the robot drive, once a person has said yes; the event `situation` tells how it goes."""
    _can(site, Ability.DRIVE)
    target = body.target(lambda memory_id: memory_of(site, memory_id), site.backend.now_ns())
    with refused_as(409):
        drive = site.drives.begin(target, map_id=body.map, asker=request.state.who)
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
