"""Routes for objects: what things there are and were, and a person's corrections of that."""

import logging
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from remembr_ros.memory.objects.corrections import Correction
from remembr_ros.memory.objects.query import FoundObject, ObjectOrder, ObjectQuery
from remembr_ros.memory.objects.relations import RelationName
from remembr_ros.memory.search import MAX_QUERY
from remembr_ros.timestamps import parse_time
from remembr_ros.web.api import forms
from remembr_ros.web.api.scope import SITE, PlaceQuery, near_of, scope_of
from remembr_ros.web.backend import Ability
from remembr_ros.web.door.access import Right, needs
from remembr_ros.web.following import News
from remembr_ros.web.live import Event
from remembr_ros.web.site import Site

logger = logging.getLogger(__name__)

routes = APIRouter(dependencies=[Depends(needs(Right.LOOK))], tags=['objects'])

ObjectId = Annotated[str, Path(max_length=64, description='of an object, or of one that turned out to be it')]


class ObjectsQuery(PlaceQuery):
    """Which objects are asked for, seen in that time; of a relation: that held then."""

    called: str = Field('', max_length=200, description="what they are called: 'cup', 'red cups'; an id does")
    text: str = Field('', max_length=MAX_QUERY, description='what fits it best first, whatever its name')
    relation: RelationName | None = Field(None, description='how they lie to the anchor')
    anchor: str = Field('', max_length=200, description='what that is called, or its id')
    missing: bool | None = Field(None, description='not there at the last look; false: still there')
    moved: bool | None = Field(None, description='found elsewhere than before')
    changed_since: str | None = Field(None, max_length=64, description='came, moved or missed since then')
    order: ObjectOrder | None = Field(None, description='else by text, else by position, else last seen')
    limit: int = Field(100, ge=1, le=1000, description='at most so many')


class CorrectionRequest(BaseModel):
    """What a person says of an object."""

    model_config = ConfigDict(extra='forbid')

    action: Literal['rename', 'gone', 'there', 'merge', 'split', 'delete']
    name: str = Field('', max_length=200, description='rename: what it is called; empty: as recognised')
    other: str = Field('', max_length=64, description='merge: the id of what is the same thing')
    time: str | None = Field(None, max_length=64, description='split: since when it is another thing')
    map_id: str | None = Field(None, max_length=1000, description='of the object; refused if it is not')


@routes.get('/api/objects')
def objects(site: SITE, q: Annotated[ObjectsQuery, Query()]) -> forms.ObjectsJson:
    """Find objects; the same as `remembr objects`."""
    since = None if q.changed_since is None else parse_time(q.changed_since)
    near = near_of(q, site)
    scope, text = scope_of(q, near), q.text.strip()
    asked = ObjectQuery(
        q.called, text, q.relation or '', q.anchor, q.missing, q.moved, since, near, q.order, scope, q.limit
    )
    found = site.backend.recall.find_objects(asked)
    return {'objects': list(map(forms.object_form, found.objects)), 'total': found.total}


@routes.get('/api/objects/{object_id}')
def one_object(site: SITE, object_id: ObjectId) -> forms.ThingJson:
    """Return an object with how it lies to others."""
    return {'object': forms.object_form(_object_of(site, object_id))}


@routes.post('/api/objects/{object_id}', dependencies=[Depends(needs(Right.ACT))])
def correct(site: SITE, request: Request, object_id: ObjectId, body: CorrectionRequest) -> forms.ThingJson:
    """Take what a person says of an object: it outranks what is seen."""
    if Ability.CORRECT not in site.backend.abilities:
        raise HTTPException(409, 'objects cannot be corrected here; open the memory by remembr web for that')
    time_ns = None if body.time is None else parse_time(body.time)
    logger.warning('%s corrects object %s: %s', request.state.who, object_id, body.action)
    correction = Correction(body.action, object_id, body.name, body.other, time_ns, body.map_id)
    told = site.backend.correct(correction)
    contents = site.following.contents  # its name alone is no news to who follows: tell them
    site.live.tell(Event('memories', News(contents.version, len(contents.outline), (), anew=True)))
    return {'object': told and forms.object_form(_object_of(site, told.id))}


def _object_of(site: Site, object_id: str) -> FoundObject:
    for one in site.backend.recall.find_objects(ObjectQuery(object_id)).objects:
        if object_id in (one.known.id, *one.known.facts.aliases):
            return one
    raise HTTPException(404, 'there is no such object, or it was deleted meanwhile')
