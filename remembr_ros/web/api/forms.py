"""What the API answers: JSON objects, and how they are made of what the package knows."""

from typing import Any

from typing_extensions import TypedDict

from remembr_ros.agent.offline.relevance_model import fit_in_a_word
from remembr_ros.memory.model.codec import HitJson, MemoryJson, hit_json
from remembr_ros.memory.model.recall import Hit, MapArea
from remembr_ros.memory.places.form import PlaceJson
from remembr_ros.web.backend import PartState


class FoundJson(HitJson):
    """A recalled memory, and why: by text, how well it fits in a word (surely, likely, perhaps or hardly) and
    which of its sentences or signs has most of the asked words; else, or where none has any, null."""

    sureness: str | None
    sentence: str | None


class RecallJson(TypedDict):
    """Memories in the order that was asked for, and how many the scope holds in all; null: not known."""

    memories: list[FoundJson]
    total: int | None


class OneMemoryJson(TypedDict):
    """A memory, the name of the place that it was made in (empty: it has none), the ids of those right before
    and after it (of the same robot), and some near to it."""

    memory: MemoryJson
    place: str
    before: str | None
    after: str | None
    neighbours: list[MemoryJson]


class PlacesJson(TypedDict):
    """Named places, or rooms that may get a name."""

    places: list[PlaceJson]


class ObjectsJson(TypedDict):
    """Things in the order that was asked for, each as `remembr objects --json` prints it, with history and
    relations; and how many there are in all."""

    objects: list[dict[str, Any]]
    total: int


class ThingJson(TypedDict):
    """An object as those of the list are; null: it was deleted."""

    object: dict[str, Any] | None


class ForgettingJson(TypedDict):
    """What goes with a memory: segments that it stands for, pictures of its own; and those that stay, because
    a memory next to it shows them, too."""

    memories: int
    segments: int
    pictures: int
    shared: int
    start: str
    end: str


class ForgottenJson(TypedDict):
    """How many memories were deleted."""

    forgotten: int


class NotedJson(TypedDict):
    """The id of a note or a deed."""

    id: str


class AreaJson(TypedDict):
    """Where on a map memories are: least and greatest x and y [m]."""

    map_id: str
    memories: int
    low: list[float]
    high: list[float]


class InfoJson(TypedDict):
    """What is looked at, and what the one who asks may do: look, ask or act.

    abilities: ask, correct, drive, forget, note and listen, as far as this memory and its robot can.
    memories_version: the id of events, another one after each change. reading: the memories are still being
    read, so that the map and the figures here are not complete; problem: why they cannot be. gaps: from when
    to when a timeline leaves time out. zone: the IANA name of the time zone in which days begin; empty: not
    known. tokens: whether who comes needs a token.
    """

    name: str
    version: str
    right: str
    abilities: list[str]
    planner: str
    embedder: str
    memories: int
    memories_version: int
    first: str | None
    last: str | None
    gaps: list[tuple[str, str]]
    robots: list[str]
    maps: list[AreaJson]
    sources: list[str]
    cameras: list[str]
    now: str
    zone: str
    reading: bool
    problem: str
    tokens: bool


class CellsJson(TypedDict):
    """Memories in square cells of a map: mean x and y [m], how many, Unix seconds of the end of the newest,
    its id where it is the only one, and the robot where all are of one. cell: the side of a cell [m], wider
    than asked for where there would be too many cells. total: how many memories all cells hold."""

    cell: float
    cells: list[tuple[float, float, int, float, str | None, str | None]]
    total: int


class TrackJson(TypedDict):
    """Where a robot drove: x, y [m] and Unix seconds."""

    robot: str
    map_id: str
    points: list[tuple[float, float, float]]


class TracksJson(TypedDict):
    """Where robots drove; a track ends where the map changes or nothing is known for long."""

    tracks: list[TrackJson]


class ActivityJson(TypedDict):
    """What happened when, bin by bin: memories stored, seconds driven and stood, questions asked."""

    start: str
    bin_s: float
    stored: list[int]
    driving: list[float]
    standing: list[float]
    questions: list[int]


class MapJson(TypedDict):
    """The occupancy grid: its cells, their side [m], where its lower left corner is (x, y [m], yaw [rad])."""

    width: int
    height: int
    resolution: float
    origin: list[float]
    version: str
    image: str


class PartJson(TypedDict):
    """How a part of the system is: ok, warn, error or stale."""

    name: str
    level: str
    message: str
    values: dict[str, str]


class StateJson(TypedDict):
    """How the parts of the system are."""

    parts: list[PartJson]


class DoneJson(TypedDict):
    """What came of it, for a person."""

    detail: str


class SaidJson(TypedDict):
    """What was understood of speech; empty: nothing."""

    text: str


def found_json(hit: Hit, text: str | None, embedder: str) -> FoundJson:
    """Return a hit of a recall by this text; None: of one by something else.

    :param embedder: that the score is of; empty: not known, and how well it fits neither
    """
    return {
        **hit_json(hit),
        'sureness': fit_in_a_word(text, hit, embedder) if text and embedder else None,
        'sentence': next(iter(hit.passages), None) if text else None,
    }


def area_json(area: MapArea) -> AreaJson:
    """Return the part of a map in which memories were made."""
    return {
        'map_id': area.map_id,
        'memories': area.memories,
        'low': list(area.low[:2]),
        'high': list(area.high[:2]),
    }


def part_json(part: PartState) -> PartJson:
    """Return how a part of the system is."""
    return {'name': part.name, 'level': part.level, 'message': part.message, 'values': part.values}
