"""Named places as JSON, YAML and GeoJSON: for the command line, the page and other programs.

GeoJSON is meant for degrees (RFC 7946); here its coordinates are metres in the map frame, as programs that
draw floor plans write them.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from typing_extensions import TypedDict

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.places.place import NamedPlace, place

FORMATS = ('.yaml', '.yml', '.geojson', '.json')
MAX_BYTES = 16_000_000  # of a file
_FIELDS = ('name', 'other_names', 'outline', 'center', 'radius', 'z', 'map_id', 'frame_id', 'guessed')


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
    map_id: str
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
        'map_id': known_place.memory.map_id,
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
        content = yaml.safe_load(data.decode()) if _is_yaml(path) else json.loads(data)
        listed = content['places'] if _is_yaml(path) else [_of_feature(item) for item in content['features']]
        if not isinstance(listed, list):
            raise TypeError('places is no list')
    except OSError as error:
        raise InvalidRequest(f'{path} cannot be read: {error.strerror}') from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, yaml.YAMLError) as error:
        raise InvalidRequest(
            f'{path} is no file of places: {" ".join(str(error).split())[:200]}; write one with '
            '`remembr place export`'
        ) from None
    found = []
    for number, form in enumerate(listed, 1):
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
        if given.get('outline'):
            given.pop('center', None)
        texts = (given.get('map_id', ''), given.get('frame_id', ''))
        if isinstance(given.get('other_names'), str) or not all(isinstance(text, str) for text in texts):
            raise TypeError('other_names is no list, or a map or frame no name')
        return place(**{'name': '', **about, **given})
    except (TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InvalidRequest(
            f'that is no place: {error}; give a name with an outline, or center and radius'
        ) from None


def _is_yaml(path: Path) -> bool:
    if path.suffix not in FORMATS:
        raise InvalidRequest(f'{path} has to end in {", ".join(FORMATS)}')
    return path.suffix in FORMATS[:2]


def _feature(form: dict[str, Any]) -> dict[str, Any]:
    center, outline = form.pop('center'), form.pop('outline', None)
    geometry = (
        {'type': 'Polygon', 'coordinates': [[*outline, outline[0]]]}
        if outline
        else {'type': 'Point', 'coordinates': center}
    )
    return {'type': 'Feature', 'geometry': geometry, 'properties': form}


def _of_feature(feature: dict[str, Any]) -> dict[str, Any]:
    geometry, properties = feature['geometry'], dict(feature.get('properties') or {})
    if geometry['type'] == 'Point':
        return {**properties, 'center': geometry['coordinates']}
    rings = geometry['coordinates']
    if geometry['type'] != 'Polygon' or len(rings) != 1:
        raise ValueError(
            f'a {geometry["type"]} of {len(rings)} rings; give polygons without holes, or points'
        )
    corners = [corner[:2] for corner in rings[0]]
    return {**properties, 'outline': corners[:-1] if corners[0] == corners[-1] else corners}
