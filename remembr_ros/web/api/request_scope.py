"""What a request is about: its site, and which memories count as its parameters say."""

import math
from typing import Annotated, Any, TypeVar

import numpy as np
from fastapi import Depends, Request

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.fields import FlatPoint, word
from remembr_ros.forms.form import Form, unknown_argument
from remembr_ros.forms.scope import ScopeForm, SourceForm
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.places.places import known_places
from remembr_ros.web import overview
from remembr_ros.web.site import Site

_Placed = TypeVar('_Placed', bound=ScopeForm)

Box = Annotated[
    str | None, word('x0,y0,x1,y1 [m]: only the newest there; else everything', '0,0,9,9', max_length=200)
]


async def known_only(request: Request) -> None:
    """Refuse parameters that a route does not have.

    :raises InvalidRequest: there are any
    """
    path = request.scope['route'].path
    described = request.app.openapi()['paths'].get(path, {}).get(request.method.lower(), {})
    names = [parameter['name'] for parameter in described.get('parameters', ()) if parameter['in'] == 'query']
    if described and (why := unknown_argument(path, request.query_params, names, form_of(request))):
        raise InvalidRequest(why)


def form_of(request: Request) -> type[Form]:
    """Return the form that a route takes; an empty one: it takes none."""
    dependant = getattr(request.scope.get('route'), 'dependant', None)
    taken = [*dependant.query_params, *dependant.body_params] if dependant else ()
    kinds: Any = (parameter.field_info.annotation for parameter in taken)
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Form)), Form)


async def site_of(request: Request) -> Site:
    """Return the site of the application."""
    site: Site = request.app.state.site
    return site


SITE = Annotated[Site, Depends(site_of)]


class SceneForm(SourceForm):
    """Which memories count, also by their camera, and in which part of the map."""

    camera: Annotated[str | None, word('of this camera; of a recall alone', 'front', max_length=1000)] = None
    box: Box = None


def raised(form: _Placed, site: Site) -> _Placed:
    """Return a form whose positions without a height are as high as the memory nearest to them."""
    given = {name: getattr(form, name, None) for name in ('position', 'near')}
    flat = {name: at[:2] for name, at in given.items() if isinstance(at, FlatPoint)}
    return form.model_copy(update={name: (*at, _height(*at, site, form.map)) for name, at in flat.items()})


def scene_of(form: SceneForm, site: Site) -> Scope:
    """Return the scope that the parameters say, with its place as the part of a map that it is.

    :raises InvalidRequest: they make no sense
    :raises StoreUnavailable: there is a place, and the memory is out of reach
    """
    scope = raised(form, site).scope()
    return scope if scope.place is None else known_places(site.backend.recall).within(scope)


def box_of(text: str | None) -> overview.Box | None:
    """Return the part of a map that x0,y0,x1,y1 [m] names; None: all of it.

    :raises InvalidRequest: it names none
    """
    if text is None:
        return None
    try:
        return overview.checked_box([float(part) for part in text.split(',')])
    except ValueError:
        return overview.checked_box([])


def _height(x: float, y: float, site: Site, map_id: str | None) -> float:
    """Return the height of the memory that is nearest in the plane [m]; 0: there is none."""
    outline = site.following.contents.outline
    away = np.hypot(outline.x - x, outline.y - y)
    if map_id is not None:
        away[~overview.name_mask(outline, outline.map_id, (map_id,))] = math.nan
    return 0.0 if np.isnan(away).all() else float(outline.z[np.nanargmin(away)])
