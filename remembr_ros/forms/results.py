"""What a question finds, as JSON: the same for command line, Python, page and, shortened, for MCP."""

from typing import Any

from typing_extensions import TypedDict

from remembr_ros.memory.deeds.query import FoundDeeds, Occurrence
from remembr_ros.memory.model.codec import HitJson, MemoryJson, hit_json, memory_json
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.objects.query import FoundObjects, object_json
from remembr_ros.memory.places.form import PlaceJson, place_json
from remembr_ros.memory.places.place import NamedPlace


class HitsJson(TypedDict):
    """Memories in the order that was asked for, and how many the scope holds in all."""

    memories: list[HitJson]
    total: int


class ObjectsJson(TypedDict):
    """Things in the order that was asked for, with history and relations; and how many there are in all."""

    objects: list[dict[str, Any]]
    total: int


class TookPlaceJson(MemoryJson):
    """Something that took place: the memory that tells most of it, what it was, how long it took [s], and how
    far the robot drove meanwhile [m]."""

    kind: str
    object: str
    receptacle: str
    place: str
    outcome: str
    reason: str
    seconds: float
    metres: float


class DeedsJson(TypedDict):
    """What took place in the order that was asked for; how many there are whatever nth and limit, how long
    these took [s] in all and on average, and how far the robot drove [m]. anchors: what they are before or
    after; whole: all memories were looked at, else the latest of very many."""

    deeds: list[TookPlaceJson]
    total: int
    anchors: list[TookPlaceJson]
    whole: bool
    seconds: float
    mean_seconds: float | None
    metres: float


class PlacesJson(TypedDict):
    """Places with names, smaller ones first."""

    places: list[PlaceJson]


def hits_json(hits: list[Hit], total: int) -> HitsJson:
    """Return what a recall found, of so many in its scope."""
    return {'memories': [hit_json(hit) for hit in hits], 'total': total}


def objects_json(found: FoundObjects) -> ObjectsJson:
    """Return which objects were found."""
    things = [object_json(thing.known, thing.relations, thing.place) for thing in found.objects]
    return {'objects': things, 'total': found.total}


def deeds_json(found: FoundDeeds) -> DeedsJson:
    """Return what took place."""
    return {
        'deeds': [_deed_json(deed) for deed in found.found],
        'total': len(found.every),
        'anchors': [_deed_json(anchor) for anchor in found.anchors],
        'whole': found.whole,
        'seconds': found.seconds,
        'mean_seconds': found.mean_seconds,
        'metres': found.metres,
    }


def places_json(places: list[NamedPlace]) -> PlacesJson:
    """Return places with names."""
    return {'places': [place_json(spot) for spot in places]}


def _deed_json(deed: Occurrence) -> TookPlaceJson:
    facts = deed.facts
    return {
        **memory_json(deed.as_memory),
        'kind': facts.kind,
        'object': facts.object,
        'receptacle': facts.receptacle,
        'place': deed.where,
        'outcome': deed.outcome,
        'reason': facts.reason,
        'seconds': deed.seconds,
        'metres': deed.metres,
    }
