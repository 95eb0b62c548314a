"""A named place: a polygon or a circle on a map, kept as a memory of the source `place`.

The memory's pose is in its middle, and its corners are relative to that: when a map is moved, nothing but the
pose is. Which memories were made in it is told by where they are, also of those that were there before it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import shapely
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from shapely.geometry.base import BaseGeometry
from shapely.validation import explain_validity

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import MAX_COORDINATE, Pose, check_point
from remembr_ros.memory.model.record import PLACE, Memory, memory_id

MAX_NAME = 200  # characters
MOST_NAMES = 20  # other names of one place
MOST_CORNERS = 1_000
DIGITS = 4  # of a corner's metres
SIDES = 16  # of the quarter of a circle

Corner = tuple[float, float]
"""x and y [m]."""

_Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
_Metres = Annotated[float, Field(ge=-MAX_COORDINATE, le=MAX_COORDINATE)]


class PlaceFacts(BaseModel):
    """What a place is called and how far it reaches.

    :param other_names: that people call it, too
    :param outline: its corners, from its pose along the pose's axes [m]; empty: it is a circle
    :param radius: of a circle around its pose [m]
    :param guessed: why the name is a guess; empty: a person said it
    """

    model_config = ConfigDict(extra='ignore', allow_inf_nan=False, frozen=True)
    name: _Name
    other_names: Annotated[tuple[_Name, ...], Field(max_length=MOST_NAMES)] = ()
    outline: Annotated[tuple[tuple[_Metres, _Metres], ...], Field(max_length=MOST_CORNERS)] = ()
    radius: Annotated[float, Field(gt=0.0, le=1e6)] | None = None
    guessed: Annotated[str, Field(max_length=1_000)] = ''

    @field_validator('name', 'other_names', mode='before')
    @classmethod
    def _in_one_line(cls, value: Any) -> Any:
        if isinstance(value, str):
            plain = ' '.join(value.encode('utf-8', 'replace').decode().split())
            return re.sub('^the( |$)', '', plain, flags=re.IGNORECASE)
        return tuple(map(cls._in_one_line, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A place of the memory.

    :ivar memory: its pose is in its middle, its times are when it got its name
    """

    memory: Memory
    facts: PlaceFacts

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def said(self) -> str:
        """Its name in a sentence: 'the kitchen', 'room 315'."""
        return said_name(self.name)

    @property
    def names(self) -> tuple[str, ...]:
        """All that it is called."""
        return (self.name, *self.facts.other_names)

    @property
    def pose(self) -> Pose:
        return self.memory.pose or Pose(0.0, 0.0)

    @property
    def outline(self) -> tuple[Corner, ...]:
        """Its corners in the map [m]; of a circle there are none."""
        corners = (self.pose.in_map((x, y, 0.0)) for x, y in self.facts.outline)
        return tuple((round(x, DIGITS), round(y, DIGITS)) for x, y, _ in corners)

    @property
    def shape(self) -> BaseGeometry:
        """What it covers of the map [m]."""
        if self.facts.radius is not None:
            return shapely.Point(self.pose.x, self.pose.y).buffer(self.facts.radius, quad_segs=SIDES)
        return shapely.Polygon(self.outline)


def place(
    name: str,
    *,
    outline: Sequence[Sequence[float]] = (),
    center: Sequence[float] | None = None,
    radius: float | None = None,
    other_names: Sequence[str] = (),
    guessed: str = '',
    map_id: str = '',
    frame_id: str = 'map',
    robot: str = 'robot',
    z: float = 0.0,
    now_ns: int = 0,
) -> NamedPlace:
    """Return a place with a name: a polygon, or a circle of a radius around a center.

    :param outline: corners in the map, x and y each [m], in either direction, the first not repeated
    :param center: x and y, or x, y and z [m]
    :param z: height of its floor [m]
    :param robot: that learns the name; it is known to all
    :param now_ns: when it got its name
    :raises InvalidRequest: the name, or what it is called besides, is no name, or the shape is none
    """
    corners = [tuple(map(float, corner)) for corner in outline]
    if bool(corners) == (center is not None and radius is not None):
        raise InvalidRequest(f'{_short(name)} needs an outline of corners, or a center and a radius')
    if corners:
        x, y = _middle(name, corners)
        corners = [(round(a - x, DIGITS), round(b - y, DIGITS)) for a, b in corners]
    else:
        x, y, z = (*check_point((*center, z)[:3]),)  # type: ignore[misc]
    try:
        facts = PlaceFacts(
            name=name,
            other_names=tuple(other_names),
            outline=tuple(corners),  # type: ignore[arg-type]
            radius=radius,
            guessed=guessed,
        )
    except ValidationError as error:
        wrong = error.errors()[0]
        field = ' '.join(str(part) for part in wrong['loc'][:1]).replace('_', ' ')
        raise InvalidRequest(f'{field} {_short(wrong["input"])} of a place: {wrong["msg"]}') from None
    also = f', also called {", ".join(facts.other_names)}' if facts.other_names else ''
    return NamedPlace(
        Memory(
            id=memory_id(robot, PLACE, now_ns, f'{map_id}\0{facts.name}'),
            robot=robot,
            start_ns=now_ns,
            end_ns=now_ns,
            caption=f'A place called {facts.name}{also}.',
            pose=Pose(*check_point((x, y, z))),
            frame_id=frame_id,
            map_id=map_id,
            source=PLACE,
            facts=facts.model_dump(mode='json', exclude_defaults=True),
        ),
        facts,
    )


def place_of(memory: Memory) -> NamedPlace | None:
    """Return the place that a memory is of; None: it is of none."""
    if memory.source != PLACE or memory.pose is None:
        return None
    try:
        return NamedPlace(memory, PlaceFacts.model_validate(dict(memory.facts)))
    except ValidationError:
        return None


def said_name(name: str) -> str:
    """Return the name of a place as it stands in a sentence."""
    return name if name[:1].isupper() or any(map(str.isdigit, name)) else f'the {name}'


def same_name(name: str) -> str:
    """Return what is the same of a name however it is written: 'The Kitchen' and 'kitchen'."""
    return ' '.join(name.casefold().replace('_', ' ').split()).removeprefix('the ')


def _middle(name: str, corners: Sequence[tuple[float, ...]]) -> Corner:
    """Return a point inside of a polygon [m].

    :raises InvalidRequest: it is none
    """
    for corner in corners:
        # A NaN compares false.
        if len(corner) != 2 or not all(abs(value) <= MAX_COORDINATE for value in corner):
            raise InvalidRequest(f'{corner} is no corner of {_short(name)}; give x and y in metres')
    if not 3 <= len(corners) <= MOST_CORNERS:
        raise InvalidRequest(
            f'the outline of {_short(name)} has {len(corners)} corners; give 3 to {MOST_CORNERS}'
        )
    shape = shapely.Polygon(corners)
    if not shape.is_valid:
        raise InvalidRequest(
            f'the outline of {_short(name)} crosses or touches itself ({explain_validity(shape)}); give its '
            'corners in their order along it'
        )
    if shape.area < 1e-4:
        raise InvalidRequest(f'the outline of {_short(name)} covers nothing; give its corners in metres')
    inside = shape.centroid if shape.contains(shape.centroid) else shape.representative_point()
    return inside.x, inside.y


def _short(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= 60 else f'{text[:60]}...')
