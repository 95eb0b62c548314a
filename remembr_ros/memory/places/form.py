"""Named places as JSON, YAML and GeoJSON: for the command line, the page and other programs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from typing_extensions import TypedDict

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import listed
from remembr_ros.memory.places.geojson import check_metres, feature, told_features
from remembr_ros.memory.places.place import NamedPlace, place
from remembr_ros.told_files import load_yaml, text_of

FORMATS = ('.yaml', '.yml', '.geojson', '.json')
MAX_BYTES = 16_000_000  # of a file
_FIELDS = ('name', 'other_names', 'outline', 'center', 'radius', 'z', 'map_id', 'frame_id', 'guessed')
_NAMES = ('name', 'other_names', 'map_id', 'frame_id', 'guessed')


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
        text = json.dumps(
            {'type': 'FeatureCollection', 'features': [*map(feature, forms)]}, ensure_ascii=False, indent=1
        )
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
        text = text_of(data)
        content = load_yaml(text, _NAMES) if _is_yaml(path) else json.loads(text, parse_float=_Written)
        forms = _forms(content)
        check_metres(forms)
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
            found.append(told_place(_named(form), **about))
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
            given['outline'] = [listed(corner) for corner in given['outline']]
        elif 'center' in given:
            given['center'] = listed(given['center'])
        texts = (given.get('map_id', ''), given.get('frame_id', ''))
        if isinstance(given.get('other_names'), str) or not all(isinstance(text, str) for text in texts):
            raise TypeError('other_names is no list, or a map or frame no name')
        return place(**{'name': '', **about, **given})
    except (TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InvalidRequest(
            f'that is no place: {error}; give a name with an outline, or center and radius'
        ) from None


class _Written(float):
    """A number that knows how it was written: a room may be called 1.10."""

    def __new__(cls, text: str) -> '_Written':
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str


def _is_yaml(path: Path) -> bool:
    if path.suffix.lower() not in FORMATS:
        raise InvalidRequest(f'{path} has to end in {", ".join(FORMATS)}')
    return path.suffix.lower() in FORMATS[:2]


def _forms(content: Any) -> list[Any]:
    """Return the forms of places that a file holds, in one of the ways that others list them."""
    of_features = isinstance(content, dict) and ('features' in content or 'geometry' in content)
    crs = content.get('crs') if of_features else None
    if isinstance(content, dict):
        content = [content] if 'geometry' in content else content.get('features', content.get('places'))
    if not isinstance(content, list) or not content:
        raise TypeError('it has neither places nor features')
    return told_features(content, crs) if of_features or 'geometry' in content[0] else content


def _named(form: Any) -> Any:
    """Return a form whose names that were written as numbers are texts.

    :raises InvalidRequest: it has no name
    """
    if not isinstance(form, dict):
        return form
    if form.get('name') in (None, ''):
        raise InvalidRequest(f'it has no name, only {", ".join(map(str, form))}; give it the field name')
    texts = {key: _text(form[key]) for key in ('name', 'map_id', 'frame_id') if key in form}
    others = form.get('other_names')
    return {**form, **texts, 'other_names': [*map(_text, others)] if isinstance(others, list) else others}


def _text(name: Any) -> Any:
    is_number = isinstance(name, int | float) and not isinstance(name, bool)
    return getattr(name, 'text', str(name)) if is_number else name
