"""Routes for whoever may look: what map and timeline are drawn from, and pictures."""

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from pydantic import Field

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.record import OBJECT
from remembr_ros.timestamps import NS, format_iso
from remembr_ros.web import forms, overview
from remembr_ros.web.activity import Trail, tracks
from remembr_ros.web.activity import activity as activity_of
from remembr_ros.web.api.errors import refused_as
from remembr_ros.web.api.request_scope import SITE, SceneForm, box_of, scene_of
from remembr_ros.web.door.access import Right, needs
from remembr_ros.web.pictures import Width
from remembr_ros.web.site import Site

routes = APIRouter(dependencies=[Depends(needs(Right.LOOK))], tags=['looking'])

IMMUTABLE = 'private, max-age=31536000, immutable'


class CellsQuery(SceneForm):
    """Which part of the map, and how fine."""

    cell: float = Field(1.0, gt=0, le=1e6, allow_inf_nan=False, description='side of a cell [m]')
    objects: bool = Field(True, description='those, too')


class TrackQuery(SceneForm):
    """Which part of the map, and how many points."""

    points: int = Field(2000, ge=3, le=10_000, description='at most so many in all')


class ActivityQuery(SceneForm):
    """How fine the timeline is; bins begin with the days of the server's zone."""

    bins: int = Field(200, ge=1, le=2000, description='at most so many bins')


@routes.get('/api/cells')
def cells(site: SITE, query: Annotated[CellsQuery, Query()]) -> forms.CellsJson:
    """Return how many memories are where, cell by cell: what a map is drawn from."""
    scope = scene_of(query, site)
    but = '' if query.objects else OBJECT
    found = overview.clusters(_outline(site), scope, box_of(query.box), query.cell, but=but)
    times = (found.newest_ns / NS).round(3)
    columns = (found.x.round(3), found.y.round(3), found.count, times)
    ids = (name or None for name in found.ids)
    rows = zip(*(column.tolist() for column in columns), ids, found.robots, strict=True)
    return {'cell': found.cell_m, 'cells': list(rows), 'total': found.total}


@routes.get('/api/track')
def track(site: SITE, query: Annotated[TrackQuery, Query()]) -> dict[str, list[forms.TrackJson]]:
    """Return where robots drove."""
    found = tracks(_outline(site), scene_of(query, site), query.points, box_of(query.box))
    return {'tracks': list(map(_track, found))}


@routes.get('/api/activity')
def activity(site: SITE, query: Annotated[ActivityQuery, Query()]) -> forms.ActivityJson:
    """Return what happened when: what a timeline is drawn from."""
    found = activity_of(_outline(site), scene_of(query, site), query.bins, site.zone)
    return {
        'start': format_iso(found.start_ns),
        'bin_s': found.bin_s,
        'stored': found.stored.tolist(),
        'driving': found.driving_s.round(3).tolist(),
        'standing': found.standing_s.round(3).tolist(),
        'questions': found.bins_of([exchange.at_ns for exchange in site.exchanges.all()]).tolist(),
    }


@routes.get('/api/pictures/{name}', response_class=Response, responses={200: {'content': {'image/jpeg': {}}}})
def picture(
    site: SITE,
    request: Request,
    name: Annotated[str, Path(max_length=200, description='as a memory names it in keyframes')],
    width: Annotated[Width | None, Query(description='of a thumbnail [px]; else the whole picture')] = None,
) -> Response:
    """Return a picture as JPEG; what it is named by is what is in it, so that it never changes."""
    with refused_as(404):
        data = site.pictures.keyframe(name, width)
    headers = {'ETag': f'"{name}-{width or 0}"', 'Cache-Control': IMMUTABLE}
    if request.headers.get('if-none-match') == headers['ETag']:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type='image/jpeg', headers=headers)


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


def _outline(site: Site) -> Outline:
    contents = site.following.contents
    if contents.reading and contents.problem:
        raise StoreUnavailable(contents.problem)
    if contents.reading:
        raise StoreUnavailable('the memories are still being read; try again in a moment')
    return contents.outline


def _track(trail: Trail) -> forms.TrackJson:
    columns = (trail.x, trail.y, (trail.time_ns / NS).round(3))
    points = list(zip(*(column.tolist() for column in columns), strict=True))
    return {'robot': trail.robot, 'map': trail.map_id, 'points': points}
