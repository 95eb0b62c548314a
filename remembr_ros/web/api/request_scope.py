"""What a request is about: its site, and which memories count as its parameters say."""

import math
from dataclasses import replace
from typing import Annotated

import numpy as np
from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, check_point
from remembr_ros.memory.model.recall import Scope
from remembr_ros.timestamps import parse_time
from remembr_ros.web import overview
from remembr_ros.web.site import Site, unknown_argument

_TIME = 'ISO 8601 (UTC where it names no zone) or Unix seconds'


async def known_only(request: Request) -> None:
    """Refuse parameters that a route does not have.

    :raises InvalidRequest: there are any
    """
    path = request.scope['route'].path
    described = request.app.openapi()['paths'].get(path, {}).get(request.method.lower(), {})
    names = [parameter['name'] for parameter in described.get('parameters', ()) if parameter['in'] == 'query']
    if described and (why := unknown_argument(path, request.query_params, names)):
        raise InvalidRequest(why)


async def site_of(request: Request) -> Site:
    """Return the site of the application."""
    site: Site = request.app.state.site
    return site


SITE = Annotated[Site, Depends(site_of)]


class ScopeFields(BaseModel):
    """What narrows down which memories a question is about; it combines with "and"."""

    model_config = ConfigDict(extra='forbid')

    after: str | None = Field(None, max_length=64, description=f'that end at or after this: {_TIME}')
    before: str | None = Field(None, max_length=64, description=f'that start at or before this: {_TIME}')
    robot: list[str] = Field([], max_length=50, description='of this robot; several times: of any of these')
    map_id: str | None = Field(None, max_length=1000, description='of this map')

    def scope(self) -> Scope:
        """Return the scope that this says.

        :raises InvalidRequest: it makes no sense
        """
        return Scope(
            after_ns=None if self.after is None else parse_time(self.after),
            before_ns=None if self.before is None else parse_time(self.before),
            robots=tuple(self.robot),
            map_id=self.map_id,
        )


class PlaceQuery(ScopeFields):
    """The parameters that narrow down by a place, too."""

    position: str | None = Field(
        None,
        max_length=100,
        description='a place X,Y or X,Y,Z [m] in the map frame, with radius; without Z at the height of the '
        'memory that is nearest in the plane',
    )
    radius: float | None = Field(
        None, ge=0, le=1e7, allow_inf_nan=False, description='at most this far from position [m]'
    )


class ScopeQuery(PlaceQuery):
    """The parameters that narrow down which memories count; they combine with "and"."""

    source: str | None = Field(None, max_length=50, description='captioner, person, object or agent')
    camera: str | None = Field(
        None, max_length=1000, description='of this camera; only a recall narrows down by it'
    )

    def scope(self) -> Scope:
        return replace(super().scope(), source=self.source)


def scope_of(query: PlaceQuery, near: Point | None = None) -> Scope:
    """Return the scope that the parameters say.

    :param near: see :func:`near_of`
    :raises InvalidRequest: they make no sense
    """
    if query.radius is not None and query.position is None:
        raise InvalidRequest('a radius needs a position, around which it is')
    return replace(query.scope(), near=near if query.radius is not None else None, radius_m=query.radius)


def near_of(query: PlaceQuery, site: Site) -> Point | None:
    """Return the place that is asked for.

    :raises InvalidRequest: it is none
    """
    if query.position is None:
        return None
    numbers = _numbers(query.position)
    if len(numbers) not in (2, 3):
        raise InvalidRequest(f'position={query.position!r} is not a place; give X,Y or X,Y,Z in metres')
    x, y, z = numbers if len(numbers) == 3 else (*numbers, 0.0)
    place = check_point((x, y, z))
    return place if len(numbers) == 3 else (x, y, _height(x, y, site, query.map_id))


def box_of(text: str | None) -> overview.Box | None:
    """Return the part of a map that x0,y0,x1,y1 [m] names; None: all of it.

    :raises InvalidRequest: it names none
    """
    return overview.checked_box(tuple(_numbers(text))) if text is not None else None


def _numbers(text: str) -> list[float]:
    """Return numbers with commas between; []: not all of them are any."""
    try:
        return [float(part) for part in text.split(',')]
    except ValueError:
        return []


def _height(x: float, y: float, site: Site, map_id: str | None) -> float:
    """Return the height of the memory that is nearest in the plane [m]; 0: there is none."""
    outline = site.following.contents.outline
    away = np.hypot(outline.x - x, outline.y - y)
    if map_id is not None:
        away[~overview.name_mask(outline, outline.map_id, (map_id,))] = math.nan
    return 0.0 if np.isnan(away).all() else float(outline.z[np.nanargmin(away)])
