"""Routes for whoever may look: what there is, memories, days, what goes on."""

import math
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request

from remembr_ros import __version__
from remembr_ros.agent.overview.recalled_day import DayJson, day_json, day_of, scope_of_day
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.forms import results
from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.forms.fields import word
from remembr_ros.forms.objects import ObjectsForm
from remembr_ros.forms.places import PlacesForm
from remembr_ros.forms.questions import DayForm
from remembr_ros.forms.recall import RecallForm
from remembr_ros.geometry import Pose
from remembr_ros.memory.matching.ranking import newest_first
from remembr_ros.memory.model.codec import memory_json
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.recall import Query as Recalled
from remembr_ros.memory.model.record import CAPTIONER, Memory
from remembr_ros.memory.objects.query import ObjectQuery, object_json
from remembr_ros.memory.places.places import known_places
from remembr_ros.memory.recall_protocol import every
from remembr_ros.memory.search import MAX_LIMIT
from remembr_ros.navigation.grid import walls_between
from remembr_ros.places.naming import proposed_rooms
from remembr_ros.timestamps import format_iso
from remembr_ros.web import forms, overview
from remembr_ros.web.activity import gaps
from remembr_ros.web.api.request_scope import SITE, Box, SceneForm, box_of, raised, scene_of
from remembr_ros.web.backend import Backend, PartState
from remembr_ros.web.door.access import Right, needs
from remembr_ros.web.site import Site

routes = APIRouter(dependencies=[Depends(needs(Right.LOOK))], tags=['looking'])

_AROUND = 6  # memories next to one that are told with it
_SEES_M = 8.0  # what is farther ahead of a robot is hardly made out
_HALF_ANGLE = math.radians(40.0)  # to each side that a camera sees; it may look aside, and the robot turns

MemoryId = Annotated[str, Path(max_length=64, description='of a memory')]
ObjectId = Annotated[str, Path(max_length=64, description='of an object, or of one that turned out to be it')]


class RecallQuery(RecallForm, SceneForm):
    """What a recall finds: by text, else by position, else by time, else the newest."""

    box: Box = None
    seen: Annotated[bool, word('with position: what shows it, also from elsewhere', True)] = False
    limit: Annotated[int, word('at most so many', 10, ge=1, le=200)] = 20


@routes.get('/api/info')
def info(site: SITE, request: Request) -> forms.InfoJson:
    """Tell what is looked at, and what you may."""
    backend, contents = site.backend, site.following.contents
    abilities = [ability.value for ability in backend.abilities]
    return {
        'name': backend.name,
        'version': __version__,
        'right': Right(request.state.right).name.lower(),
        'abilities': sorted([*abilities, 'listen'] if site.transcribe else abilities),
        'planner': backend.planner,
        'embedder': _embedder(backend),
        'memories': len(contents.outline),
        'memories_version': contents.version,
        'first': None if contents.first_ns is None else format_iso(contents.first_ns),
        'last': None if contents.last_ns is None else format_iso(contents.last_ns),
        'gaps': [(format_iso(a), format_iso(b)) for a, b in gaps(contents.outline)],
        'robots': list(contents.robots),
        'maps': list(map(forms.area_json, contents.maps)),
        'sources': list(contents.sources),
        'cameras': list(contents.cameras),
        'now': format_iso(backend.now_ns()),
        'zone': site.zone_name,
        'reading': contents.reading,
        'problem': contents.problem,
        'tokens': request.app.state.access.wants_tokens,
    }


@routes.get('/api/recall')
def recall(site: SITE, query: Annotated[RecallQuery, Query()]) -> forms.RecallJson:
    """Find memories by text, place or time, or the newest; the same as `remembr recall`."""
    query = raised(query, site)
    asked_for, scope, text = query.query(), query.scope(), query.text
    box = box_of(query.box)
    if box is not None:
        hits, total = _in_box(site, scene_of(query, site), box, query)
    elif query.seen:
        hits, total = _seen(site, asked_for, query)
    elif query.camera is None:
        hits = query.find(site.backend.recall)
        total = site.backend.recall.count(scope)
    else:
        hits, total = _of_camera(site, asked_for, query.camera)
    embedder = site.backend.recall.embedder_name
    return {'memories': [forms.found_json(hit, text, embedder) for hit in hits], 'total': total}


@routes.get('/api/memories/{memory_id}')
def memory(site: SITE, memory_id: MemoryId) -> forms.OneMemoryJson:
    """Return a memory with what was before, after and around it."""
    found = memory_of(site, memory_id)
    before, after = overview.before_and_after(site.following.contents.outline, memory_id)
    around = site.backend.recall.find(
        Recalled(time_ns=found.start_ns, around=True, scope=Scope(robots=(found.robot,)), limit=_AROUND + 1)
    )
    return {
        'memory': memory_json(found),
        'place': known_places(site.backend.recall).name_at(found.map_id, found.pose),
        'before': before,
        'after': after,
        'neighbours': [memory_json(hit.memory) for hit in around if hit.memory.id != found.id][:_AROUND],
    }


@routes.get('/api/places')
def places(site: SITE, query: Annotated[PlacesForm, Query()]) -> results.PlacesJson:
    """List the places that have names, smaller ones first; the same as `remembr place list`."""
    return results.places_json(query.find(site.backend.recall))


@routes.get('/api/places/found')
def found_places(
    site: SITE,
    map: Annotated[str, Query(max_length=1000, description='whose grid it is')] = '',  # noqa: A002
) -> results.PlacesJson:
    """Return the rooms that the map shows and that have no name yet, with a guess of it, and why."""
    grid, recall = site.backend.map(), site.backend.recall
    if grid is None:
        return {'places': []}
    memories, _ = every(recall, Scope(map_id=map))
    return results.places_json(proposed_rooms(grid, known_places(recall), memories, map))


@routes.get('/api/objects')
def objects(site: SITE, query: Annotated[ObjectsForm, Query()]) -> results.ObjectsJson:
    """Find objects; the same as `remembr objects`."""
    return results.objects_json(site.backend.recall.find_objects(raised(query, site).query()))


@routes.get('/api/deeds')
def deeds(site: SITE, query: Annotated[DeedsForm, Query()]) -> results.DeedsJson:
    """Find what took place; the same as `remembr deeds`."""
    return results.deeds_json(raised(query, site).find(site.backend.recall))


@routes.get('/api/objects/{object_id}')
def one_object(site: SITE, object_id: ObjectId) -> dict[str, dict[str, Any] | None]:
    """Return an object with how it lies to others."""
    for thing in site.backend.recall.find_objects(ObjectQuery(object_id)).objects:
        if object_id in (thing.known.id, *thing.known.facts.aliases):
            return {'object': object_json(thing.known, thing.relations, thing.place)}
    raise HTTPException(404, 'there is no such object, or it was deleted meanwhile')


@routes.get('/api/day')
def day(site: SITE, query: Annotated[DayForm, Query()]) -> DayJson:
    """Tell what robots did and saw on a day; the same as `remembr day`."""
    scope = scope_of_day(query, site.backend.now_ns(), site.zone)
    return day_json(day_of(site.backend.recall, scope, site.zone), site.zone)


@routes.get('/api/state')
def state(site: SITE) -> dict[str, list[PartState]]:
    """Return how the parts of the system are."""
    return {'parts': list(site.backend.state())}


@routes.get('/api/situation')
def situation(site: SITE) -> forms.SituationJson:
    """Return what is going on now."""
    return forms.situation_json(site.backend.situation(), site.drives.current)


@routes.get('/api/exchanges')
def exchanges(site: SITE) -> dict[str, list[forms.ExchangeJson]]:
    """Return questions and answers of late, whoever asked."""
    return {'exchanges': [forms.exchange_json(exchange) for exchange in site.exchanges.all()]}


def memory_of(site: Site, memory_id: str) -> Memory:
    """Return a memory.

    :raises HTTPException: there is none
    """
    found = site.backend.get([memory_id])
    if not found:  # of an object that turned out to be another one, the links still lead to it
        objects = site.backend.recall.find_objects(ObjectQuery(memory_id, limit=1)).objects
        found = [thing.known.memory for thing in objects if memory_id in thing.known.facts.aliases]
    if not found:
        raise HTTPException(404, 'there is no such memory, or it was forgotten meanwhile')
    return found[0]


def _in_box(site: Site, scope: Scope, box: overview.Box, query: RecallQuery) -> tuple[list[Hit], int | None]:
    """Return the newest memories of a part of a map, and how many there are, where that is known."""
    if query.text or query.nearest_to or query.position or query.time is not None:
        raise InvalidRequest('box goes with no text, position or time: it is for the newest there')
    ids, camera = overview.newest_in(site.following.contents.outline, scope, box), query.camera
    found = newest_first(site.backend.get(ids[: query.limit if camera is None else MAX_LIMIT]))
    hits = [Hit(seen, 1.0) for seen in found if camera in (None, seen.camera)]
    return hits[: query.limit], len(ids) if camera is None else None


def _seen(site: Site, asked: Recalled, query: RecallQuery) -> tuple[list[Hit], int | None]:
    """Return the memories that show a place, and how many there are, where all near it were looked at."""
    if (place := asked.place) is None or query.time is not None:
        raise InvalidRequest('seen goes with a position, and with no text or time')
    near_m = query.radius or 0.0
    scope = replace(asked.scope, near=place, radius_m=max(near_m, _SEES_M))
    found = site.backend.recall.find(replace(asked, scope=scope, limit=MAX_LIMIT))
    maps = {robot.map_id for robot in site.backend.situation().robots}
    grid = site.backend.map() if not maps or query.map in {None, *maps} else None

    def faces(hit: Hit) -> bool:
        pose = hit.memory.pose or Pose(*place)
        turn = math.remainder(math.atan2(place[1] - pose.y, place[0] - pose.x) - pose.yaw, math.tau)
        return hit.memory.source == CAPTIONER and abs(turn) <= _HALF_ANGLE

    near = [hit for hit in found if (hit.distance_m or 0.0) <= near_m]
    ahead = [hit for hit in found[len(near) :] if faces(hit)]
    poses = [hit.memory.pose for hit in ahead if hit.memory.pose]
    walls = walls_between(grid, place, [pose.position for pose in poses]) if grid else [False] * len(poses)
    hits = near + [hit for hit, wall in zip(ahead, walls, strict=True) if not wall]
    hits = [hit for hit in hits if query.camera in (None, hit.memory.camera)]
    return hits[: query.limit], len(hits) if len(found) < MAX_LIMIT else None


def _of_camera(site: Site, asked: Recalled, camera: str) -> tuple[list[Hit], int | None]:
    """Return the hits of one camera, which no scope knows, and how many there are, where all were seen."""
    limit = asked.limit
    while True:
        limit = min(2 * limit, MAX_LIMIT)
        hits = site.backend.recall.find(replace(asked, limit=limit))
        found = [hit for hit in hits if hit.memory.camera == camera]
        whole = len(hits) < limit
        if len(found) >= asked.limit or whole or limit == MAX_LIMIT:
            return asked.cut(found), len(found) if whole else None


def _embedder(backend: Backend) -> str:
    try:
        return backend.recall.embedder_name
    except StoreUnavailable:  # what is known is told all the same: the page begins with this
        return ''
