"""Named places as JSON, YAML and GeoJSON: for the command line, the page and other programs.

GeoJSON is meant for degrees (RFC 7946); here its coordinates are metres in the map frame, as programs that
draw floor plans write them. What looks like degrees is refused.
"""

import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from typing_extensions import TypedDict

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import listed
from remembr_ros.memory.places.place import NamedPlace, place

FORMATS = ('.yaml', '.yml', '.geojson', '.json')
MAX_BYTES = 16_000_000  # of a file
_FIELDS = ('name', 'other_names', 'outline', 'center', 'radius', 'z', 'frame_id', 'guessed')
_NAMES = ('name', 'other_names', 'map', 'map_id', 'frame_id')

_IN_DEGREES = re.compile(r'CRS_?84|WGS[ _]?84\b(?! */)|EPSG:+(?:[\d.]*:)?4326\b', re.IGNORECASE)
_IN_METRES = '; they have to be metres in the map frame: draw in a layer without a coordinate system'

_log = logging.getLogger(__name__)


class PlaceJson(TypedDict):
    """A named place: its corners x, y [m] on the map; of a circle none, but a radius [m] around its center.

    z is the height of its floor. guessed says why the name is a guess; empty: a person gave it.
    """

    id: str
    name: str
    other_names: list[str]
    outline: list[list[float]]
    center: list[float]
    radius: float | None
    z: float
    map: str
    frame_id: str
    guessed: str


def place_json(known_place: NamedPlace) -> PlaceJson:
    """Return a place as every verb prints it with --json."""
    return {
        'id': known_place.memory.id,
        'name': known_place.name,
        'other_names': list(known_place.facts.other_names),
        'outline': [[x, y] for x, y in known_place.outline],
        'center': [known_place.pose.x, known_place.pose.y],
        'radius': known_place.facts.radius,
        'z': known_place.pose.z,
        'map': known_place.memory.map_id,
        'frame_id': known_place.memory.frame_id,
        'guessed': known_place.facts.guessed,
    }


def write_places(path: Path, places: Sequence[NamedPlace]) -> None:
    """Write places to a file, in the format that its name says.

    :raises InvalidRequest: it says none, or the file cannot be written
    """
    forms: list[dict[str, Any]] = [
        {
            name: value
            for name, value in place_json(known_place).items()
            if name != 'id' and value not in ('', [], None)
        }
        for known_place in places
    ]
    if _is_yaml(path):
        text = yaml.safe_dump({'places': forms}, sort_keys=False, allow_unicode=True, default_flow_style=None)
    else:
        features = [_feature(form) for form in forms]
        text = json.dumps({'type': 'FeatureCollection', 'features': features}, ensure_ascii=False, indent=1)
    try:
        path.write_text(text, 'utf-8')
    except OSError as error:
        raise InvalidRequest(f'{path} cannot be written: {error.strerror}') from None


def read_places(path: Path, **about: Any) -> list[NamedPlace]:
    """Return the places of a file.

    :param about: arguments of place, where the file does not say them
    :raises InvalidRequest: the file cannot be read, or one of them is no place; the message says which
    """
    try:
        with path.open('rb') as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f'it has more than {MAX_BYTES} bytes')
        forms = _forms(data, _is_yaml(path))
        _check_metres(forms)
    except OSError as error:
        raise InvalidRequest(f'{path} cannot be read: {error.strerror}') from None
    except InvalidRequest as error:
        raise InvalidRequest(f'{path}: {error}') from None
    except (*(ValueError, TypeError, LookupError, AttributeError, RecursionError), yaml.YAMLError) as error:
        raise InvalidRequest(
            f'{path} is no file of places: {" ".join(str(error).split())[:200]}; write one with '
            '`remembr place export`'
        ) from None
    found = []
    for number, form in enumerate(forms, 1):
        try:
            found.append(told_place(form, **about))
        except InvalidRequest as error:
            raise InvalidRequest(f'{path}, place {number}: {error}') from None
    return found


def told_place(form: Any, **about: Any) -> NamedPlace:
    """Return the place of a form, such as a line of a file or the body of a request.

    :param about: arguments of place, where the form does not say them
    :raises InvalidRequest: it is none
    """
    try:
        given = {name: form[name] for name in _FIELDS if form.get(name) not in (None, '', [])}
        if on_map := form.get('map') or form.get('map_id'):  # as other programs call it
            given['map_id'] = on_map
        if given.get('outline'):
            given.pop('center', None)
            given['outline'] = [listed(corner) for corner in given['outline']]
        elif 'center' in given:
            given['center'] = listed(given['center'])
        if 'name' not in {**about, **given}:
            raise TypeError('it has no name')
        texts = (given.get('map_id', ''), given.get('frame_id', ''))
        if isinstance(given.get('other_names'), str) or not all(isinstance(text, str) for text in texts):
            raise TypeError('other_names is no list, or a map or frame no name')
        return place(**{**about, **given})
    except (TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InvalidRequest(
            f'that is no place: {error}; give a name with an outline, or center and radius'
        ) from None


def _is_yaml(path: Path) -> bool:
    if path.suffix.lower() not in FORMATS:
        raise InvalidRequest(f'{path} has to end in {", ".join(FORMATS)}')
    return path.suffix.lower() in FORMATS[:2]


def _feature(form: dict[str, Any]) -> dict[str, Any]:
    center, outline = form.pop('center'), form.pop('outline', None)
    geometry = (
        {'type': 'Polygon', 'coordinates': [[*outline, outline[0]]]}
        if outline
        else {'type': 'Point', 'coordinates': center}
    )
    return {'type': 'Feature', 'geometry': geometry, 'properties': form}


def _forms(data: bytes, is_yaml: bool) -> list[Any]:
    """Return the forms of the places in a file; what has no geometry is left out, which is logged."""
    content = yaml.safe_load(data) if is_yaml else json.loads(data)
    items = _items(content)
    # Names stay as they are written: to YAML 007 is 7, 12:30 is 750, and no is false.
    as_written = (
        yaml.load(data, yaml.BaseLoader) if is_yaml else json.loads(data, parse_int=str, parse_float=str)
    )
    for pair in zip(items, _items(as_written), strict=True):
        for form, texts in (pair, [item.get('properties') or {} for item in pair]):
            names = {name for name in form if str(name).lower() in _NAMES and form[name] is not None}
            form.update({name: texts[name] for name in names & texts.keys()})
    if not (content is items or 'places' in content) or 'geometry' in items[0]:
        return _of_features(items, str(content.get('crs') or '') if content is not items else '')
    return items


def _items(content: Any) -> list[Any]:
    if isinstance(content, dict):
        content = [content] if 'geometry' in content else content.get('features', content.get('places'))
    if not isinstance(content, list) or not content:
        raise TypeError('it has neither places nor features')
    return content


def _of_features(features: list[dict[str, Any]], crs: str) -> list[dict[str, Any]]:
    if degrees := _IN_DEGREES.search(crs):
        raise InvalidRequest(f'its coordinates are degrees (crs {degrees[0]}; or take that out){_IN_METRES}')
    if crs:
        _log.warning('the coordinates are taken for metres in the map frame, whatever %s is', crs)
    forms, empty = [], []
    for number, item in enumerate(features, 1):
        # Shapefiles and databases have names in capitals.
        form = {key.lower(): value for key, value in (item.get('properties') or {}).items()}
        geometry, which = item.get('geometry'), f'{number} ({form.get("name") or "without a name"})'
        if geometry and (geometry.get('coordinates') or 'coordinates' not in geometry):
            forms.append(form | {'center': None, 'outline': None} | _shape(geometry, f'feature {which}'))
        else:
            empty.append(which)
    if empty:
        _log.warning('%d features have no geometry, and are left out: %s', len(empty), ', '.join(empty))
    if not forms:
        raise ValueError('none of its features has a geometry')
    return forms


def _shape(geometry: dict[str, Any], which: str) -> dict[str, Any]:
    kind, parts = geometry.get('type') or 'shape of another format', geometry.get('coordinates', ())
    if kind in ('MultiPolygon', 'MultiPoint') and len(parts) == 1:
        kind, parts = kind.removeprefix('Multi'), parts[0]
    if kind == 'Point':
        return {'center': parts}
    if kind != 'Polygon' or len(parts) != 1:
        raise InvalidRequest(
            f'{which} is a {kind} of {len(parts)} {"rings" if kind == "Polygon" else "parts"}; give polygons '
            'without holes, or points, of one part each (in QGIS: Multipart to Singleparts)'
        )
    corners = [corner[:2] for corner in parts[0]]
    return {'outline': corners[:-1] if corners[0] == corners[-1] else corners}


def _check_metres(forms: Sequence[Any]) -> None:
    """Raise InvalidRequest if coordinates are degrees, by how near together they are."""
    centers = [form['center'] for form in forms if form.get('center')]
    for points in (*(form.get('outline') or () for form in forms), centers):
        try:
            xs, ys = ([float(listed(point)[axis]) for point in points] for axis in (0, 1))
            across = max(max(xs) - min(xs), max(ys) - min(ys)) if xs else 0.0
        except (TypeError, ValueError, LookupError, OverflowError):
            continue  # who makes places of them says what is wrong
        # So little no place is across in metres; in degrees these are kilometres.
        if 0.0 < across < 0.05 and any(round(value, 3) != value for value in (*xs, *ys)):
            raise InvalidRequest(f'its coordinates, such as {xs[0]}, {ys[0]}, look like degrees{_IN_METRES}')
