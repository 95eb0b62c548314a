"""Routes for whoever may look: memories, map, timeline, pictures."""

from dataclasses import replace
from enum import IntEnum
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from pydantic import Field

from remembr_ros import __version__
from remembr_ros.agent.overview.json_form import DayJson, day_json
from remembr_ros.agent.overview.recalled_day import (
    TODAY,
    nothing_of_day,
    recall_day,
    scope_of_day,
)
from remembr_ros.errors import InvalidRequest, NothingRemembered, StoreUnavailable
from remembr_ros.memory.model.json_form import memory_json
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.recall import Query as Recalled
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.search import MAX_LIMIT, MAX_QUERY
from remembr_ros.timestamps import NS, format_iso, parse_time
from remembr_ros.web import overview
from remembr_ros.web.activity import activity as activity_of
from remembr_ros.web.api import forms
from remembr_ros.web.api.scope import ScopeQuery, box_of, near_of, scope_of
from remembr_ros.web.api.site_of import SITE
from remembr_ros.web.door.access import Right, needs
from remembr_ros.web.site import Site
from remembr_ros.web.ways import Trail, tracks

routes = APIRouter(dependencies=[Depends(needs(Right.LOOK))], tags=['looking'])

IMMUTABLE = 'private, max-age=31536000, immutable'
_AROUND = 6  # memories next to one that are told with it

MemoryId = Annotated[str, Path(max_length=64, description='of a memory')]


class Width(IntEnum):
    """Of a thumbnail [px]."""

    SMALL = 256
    LARGE = 1024


class RecallQuery(ScopeQuery):
    """What a recall finds: by text, else by place (near without radius), else by time, else the newest."""

    text: str | None = Field(None, max_length=MAX_QUERY, description='ranked by how well they fit this')
    time: str | None = Field(None, max_length=64, description='ranked by distance to this time')
    around: bool = Field(False, description='with time: what was right before, at and after it, in order')
    limit: int = Field(20, ge=1, le=200, description='at most so many')


class CellsQuery(ScopeQuery):
    """Which part of the map, and how fine."""

    box: str | None = Field(None, max_length=200, description='x0,y0,x1,y1 [m]; else everything')
    cell: float = Field(1.0, gt=0, le=1e6, allow_inf_nan=False, description='side of a cell [m]')


class TrackQuery(ScopeQuery):
    """Which part of the map, and how many points."""

    box: str | None = Field(None, max_length=200, description='x0,y0,x1,y1 [m]; else everything')
    points: int = Field(2000, ge=2, le=10_000, description='at most so many in all')


class ActivityQuery(ScopeQuery):
    """How fine the timeline is."""

    bins: int = Field(200, ge=1, le=2000, description='so many bins')


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
        'embedder': backend.recall.embedder_name,
        'memories': len(contents.outline),
        'first': None if contents.first_ns is None else format_iso(contents.first_ns),
        'last': None if contents.last_ns is None else format_iso(contents.last_ns),
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
    near = near_of(query, site)
    scope = scope_of(query, near)
    text = query.text if query.text and query.text.strip() else None
    time_ns = None if query.time is None else parse_time(query.time)
    if query.around and (time_ns is None or text is not None or (near and query.radius is None)):
        raise InvalidRequest('around goes with time, and neither with text nor with a bare near')
    by_place = near is not None and text is None and not query.around
    asked = Recalled(
        text,
        place=near if by_place else None,
        time_ns=None if text is not None or by_place else time_ns,
        around=query.around,
        scope=scope,
        limit=query.limit,
    )
    if query.camera is None:
        hits = site.backend.recall.find(asked)
        total: int | None = site.backend.recall.count(scope)
    else:
        hits, total = _of_camera(site, asked, query.camera)
    embedder = site.backend.recall.embedder_name
    return {'memories': [forms.found_json(hit, text, embedder) for hit in hits], 'total': total}


@routes.get('/api/memories/{memory_id}')
def memory(site: SITE, memory_id: MemoryId) -> forms.OneMemoryJson:
    """Return a memory with what was before, after and around it."""
    one = memory_of(site, memory_id)
    before, after = overview.before_and_after(site.following.contents.outline, memory_id)
    around = site.backend.recall.find(
        Recalled(time_ns=one.start_ns, around=True, scope=Scope(robots=(one.robot,)), limit=_AROUND + 1)
    )
    return {
        'memory': memory_json(one),
        'before': before,
        'after': after,
        'neighbours': [memory_json(hit.memory) for hit in around if hit.memory.id != one.id][:_AROUND],
    }


@routes.get('/api/cells')
def cells(site: SITE, query: Annotated[CellsQuery, Query()]) -> forms.CellsJson:
    """Return how many memories are where, cell by cell: what a map is drawn from."""
    scope = scope_of(query, near_of(query, site))
    found = overview.clusters(_outline(site), scope, box_of(query.box), query.cell)
    times = (found.newest_ns / NS).round(3)
    columns = (found.x.round(3), found.y.round(3), found.count, times)
    rows = zip(*(column.tolist() for column in columns), (name or None for name in found.ids), strict=True)
    return {'cell': found.cell_m, 'cells': list(rows), 'total': found.total}


@routes.get('/api/track')
def track(site: SITE, query: Annotated[TrackQuery, Query()]) -> forms.TracksJson:
    """Return where robots drove."""
    scope = scope_of(query, near_of(query, site))
    found = tracks(_outline(site), scope, query.points, box_of(query.box))
    return {'tracks': list(map(_track, found))}


@routes.get('/api/activity')
def activity(site: SITE, query: Annotated[ActivityQuery, Query()]) -> forms.ActivityJson:
    """Return what happened when: what a timeline is drawn from."""
    scope = scope_of(query, near_of(query, site))
    found = activity_of(_outline(site), scope, query.bins)
    return {
        'start': format_iso(found.start_ns),
        'bin_s': found.bin_s,
        'stored': found.stored.tolist(),
        'driving': found.driving_s.round(3).tolist(),
        'standing': found.standing_s.round(3).tolist(),
        'questions': found.bins_of([exchange.at_ns for exchange in site.exchanges.all()]).tolist(),
    }


@routes.get('/api/day')
def day(
    site: SITE,
    day: Annotated[
        str, Query(max_length=200, description='such as 2026-11-23, yesterday, last 2 hours')
    ] = TODAY,
    robot: Annotated[list[str], Query(max_length=50, description='only of these')] = [],  # noqa: B006
) -> DayJson:
    """Tell what robots did and saw on a day."""
    recall_ = site.backend.recall
    scope = scope_of_day(day, site.backend.now_ns(), site.zone, tuple(robot))
    found = recall_day(recall_, scope, site.zone)
    if not found.diary.days:
        raise NothingRemembered(nothing_of_day(recall_, scope, site.zone))
    return day_json(found, site.zone)


@routes.get('/api/pictures/{name}', response_class=Response, responses={200: {'content': {'image/jpeg': {}}}})
def picture(
    site: SITE,
    request: Request,
    name: Annotated[str, Path(max_length=200, description='as a memory names it in keyframes')],
    width: Annotated[Width | None, Query(description='of a thumbnail [px]; else the whole picture')] = None,
) -> Response:
    """Return a picture as JPEG; what it is named by is what is in it, so that it never changes."""
    tag = f'"{name}-{width or 0}"'
    if request.headers.get('if-none-match') == tag:
        return Response(status_code=304, headers={'ETag': tag, 'Cache-Control': IMMUTABLE})
    try:
        data = site.pictures.keyframe(name, width)
    except InvalidRequest as error:
        raise HTTPException(404, str(error)) from None
    return Response(data, media_type='image/jpeg', headers={'ETag': tag, 'Cache-Control': IMMUTABLE})


@routes.get('/api/map', responses={204: {'description': 'there is no map'}})
def map_(site: SITE) -> forms.MapJson:
    """Return the occupancy grid, but for its cells, which are a picture."""
    image = site.pictures.map()
    if image is None:  # no error: every page asks
        return Response(status_code=204)  # type: ignore[return-value]
    grid = image.grid
    height, width = grid.cells.shape
    return {
        'width': width,
        'height': height,
        'resolution': grid.resolution,
        'origin': [grid.origin.x, grid.origin.y, grid.origin.yaw],
        'version': image.version,
        'image': f'/api/map.png?v={image.version}',
    }


@routes.get('/api/map.png', response_class=Response, responses={200: {'content': {'image/png': {}}}})
def map_png(
    site: SITE, v: Annotated[str, Query(max_length=64, description='the version, for caches')] = ''
) -> Response:
    """Return the occupancy grid as PNG."""
    image = site.pictures.map()
    if image is None:
        raise HTTPException(404, 'there is no map; give one with --map, or run a map server')
    kept = IMMUTABLE if v == image.version else 'no-cache'
    return Response(image.png, media_type='image/png', headers={'Cache-Control': kept})


@routes.get('/api/state')
def state(site: SITE) -> forms.StateJson:
    """Return how the parts of the system are."""
    return {'parts': [forms.part_json(part) for part in site.backend.state()]}


@routes.get('/api/situation')
def situation(site: SITE) -> forms.SituationJson:
    """Return what is going on now."""
    return forms.situation_json(site.backend.situation(), site.drives.current)


@routes.get('/api/exchanges')
def exchanges(site: SITE) -> forms.ExchangesJson:
    """Return questions and answers of late, whoever asked."""
    return {'exchanges': [forms.exchange_json(exchange) for exchange in site.exchanges.all()]}


def memory_of(site: Site, memory_id: str) -> Memory:
    """Return a memory.

    :raises HTTPException: there is none
    """
    found = site.backend.get([memory_id])
    if not found:
        raise HTTPException(404, 'there is no such memory, or it was forgotten meanwhile')
    return found[0]


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


def _outline(site: Site) -> Outline:
    contents = site.following.contents
    if contents.reading and contents.problem:
        raise StoreUnavailable(contents.problem)
    if contents.reading:
        raise StoreUnavailable('the memories are still being read; try again in a moment')
    return contents.outline


def _track(trail: Trail) -> forms.TrackJson:
    columns = (trail.x.round(3), trail.y.round(3), (trail.time_ns / NS).round(3))
    points = list(zip(*(column.tolist() for column in columns), strict=True))
    return {'robot': trail.robot, 'map_id': trail.map_id, 'points': points}
