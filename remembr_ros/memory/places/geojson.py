"""Places as features of GeoJSON.

GeoJSON is meant for degrees (RFC 7946); here its coordinates are metres in the map frame, as programs that
draw floor plans write them. What looks like degrees is refused.
"""

import logging
import re
from collections.abc import Sequence
from typing import Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import listed

_IN_DEGREES = re.compile(
    r'CRS_?84|WGS[ _]?84\b(?! */)|EPSG:+(?:[\d.]*:)?(4326|4979|4258|4269)\b', re.IGNORECASE
)
_SMALLEST_M = 0.05  # so much a place is across; in degrees these are kilometres
_ONE_OF = {'MultiPolygon': 'Polygon', 'MultiPoint': 'Point'}
_METRES = (
    'coordinates have to be metres in the map frame: draw them over the picture of the map in a layer '
    'without a coordinate system, or convert them'
)

_log = logging.getLogger(__name__)


def feature(form: dict[str, Any]) -> dict[str, Any]:
    """Return the feature of the form of a place."""
    center, outline = form.pop('center'), form.pop('outline', None)
    geometry = (
        {'type': 'Polygon', 'coordinates': [[*outline, outline[0]]]}
        if outline
        else {'type': 'Point', 'coordinates': center}
    )
    return {'type': 'Feature', 'geometry': geometry, 'properties': form}


def told_features(features: Sequence[dict[str, Any]], crs: object) -> list[dict[str, Any]]:
    """Return the forms of features; those without a geometry are left out, which is logged.

    :param crs: the file's member of this name
    :raises InvalidRequest: one of them is no place, or the coordinates are degrees
    :raises ValueError: none has a geometry
    """
    if crs and (degrees := _IN_DEGREES.search(str(crs))):
        raise InvalidRequest(
            f'its coordinates are degrees (its member crs says {degrees[0]}); {_METRES}. If they are metres '
            'already, take the member crs out'
        )
    if crs:
        _log.warning('the coordinates are taken for metres in the map frame, whatever %s is', crs)
    forms: list[dict[str, Any]] = []
    empty: list[str] = []
    for number, item in enumerate(features, 1):
        properties = item.get('properties') or {}
        # Shapefiles and databases have names in capitals.
        form = {**{key.lower(): value for key, value in properties.items()}, **properties}
        geometry, which = item.get('geometry'), f'{number} ({form.get("name") or "without a name"})'
        if geometry and (geometry.get('coordinates') or 'coordinates' not in geometry):
            forms.append(form | _shape(geometry, f'feature {which}'))
        else:
            empty.append(which)
    if empty:
        _log.warning('%d features have no geometry, and are left out: %s', len(empty), ', '.join(empty))
    if not forms:
        raise ValueError('none of its features has a geometry')
    return forms


def check_metres(forms: Sequence[dict[str, Any]]) -> None:
    """Raise InvalidRequest if what places have for coordinates are degrees, by how near together they are."""
    outlines = [form['outline'] for form in forms if form.get('outline')]
    centers = [form['center'] for form in forms if form.get('center') and not form.get('outline')]
    for points in [*outlines, centers]:
        try:
            xs, ys = ([float(listed(point)[axis]) for point in points] for axis in (0, 1))
        except (TypeError, ValueError, LookupError, OverflowError):
            continue  # who makes places of them says what is wrong
        if not xs or not (max(map(abs, xs)) <= 180.0 and max(map(abs, ys)) <= 90.0):
            continue
        across = max(max(xs) - min(xs), max(ys) - min(ys))
        if 0.0 < across < _SMALLEST_M and any(round(value, 5) != value for value in (*xs, *ys)):
            raise InvalidRequest(
                f'its coordinates look like degrees, such as {xs[0]}, {ys[0]}: as metres a place would be '
                f'{across:.1g} across, or two so near; {_METRES}'
            )


def _shape(geometry: dict[str, Any], which: str) -> dict[str, Any]:
    kind, parts = geometry.get('type'), geometry.get('coordinates', ())
    if kind in _ONE_OF:
        if len(parts) > 1:
            raise InvalidRequest(
                f'{which} is a {kind} of {len(parts)} parts; split it (in QGIS: Multipart to Singleparts), '
                'and give each a name of its own'
            )
        kind, parts = _ONE_OF[kind], parts[0]
    if kind == 'Point':
        return {'center': parts}
    if kind != 'Polygon' or len(parts) != 1:
        holes = f' with {len(parts) - 1} holes' if kind == 'Polygon' else ''
        what = f'{kind or "shape of another format"}{holes}'
        raise InvalidRequest(f'{which} is a {what}; give polygons without holes, or points with a radius')
    corners = [corner[:2] for corner in parts[0]]
    heights = {'z': min(corner[2] for corner in parts[0])} if all(len(c) > 2 for c in parts[0]) else {}
    return {**heights, 'outline': corners[:-1] if corners[0] == corners[-1] else corners}
