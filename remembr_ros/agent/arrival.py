"""Whether a thing is where a robot was sent to, by what is remembered since it arrived, and where else it may
be."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from math import dist

from remembr_ros.agent.model.answer_text import EVEN
from remembr_ros.agent.model.relevance_model import PERHAPS, find_sightings
from remembr_ros.agent.model.same_place import SamePlace, by_place
from remembr_ros.agent.offline.not_seen import READING
from remembr_ros.agent.offline.request import searched
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.model.record import CAPTIONER, OBJECT, Memory
from remembr_ros.memory.objects.known import TRANSIENT, KnownObject, known_objects
from remembr_ros.memory.objects.query import FoundObject, ObjectQuery
from remembr_ros.memory.objects.wording import described, is_called
from remembr_ros.memory.places.places import known_places
from remembr_ros.memory.recall_protocol import Recall

LOOKS = 2  # captions of the place that do not name a thing, after which it is gone: one may leave it out
TRIED_M = 1.0  # what is so near to a place that was looked at was looked at, too
LARGE_M = 0.5  # on what is as wide as this, others may lie
NEAR_M = 2.0  # what is nearer than this is as good as here
MOST_PLACES, WAY_M = 16, 60.0  # that are searched, and the way to all of these
BEFORE, ALIKE, ON, ANY = 3.0, 2.0, 1.5, 1.0
"""How likely a place is: where the thing was before, where one like it is, what carries others, and any."""


class Look(str, Enum):
    """What a look comes to; OPEN: it may still tell more."""

    SEEN = 'seen'
    GONE = 'gone'
    UNSURE = 'unsure'
    OPEN = 'open'


@dataclass(frozen=True, slots=True)
class Errand:
    """What a robot was sent to.

    :param thing: in words, such as 'the red cup'
    :param memory: on which that rests; its map is the robot's
    :param robot: that looks
    """

    thing: str
    memory: Memory
    robot: str

    @property
    def object_id(self) -> str:
        """Of the object that is meant; empty: none is."""
        told = self.memory.facts.get('object_id', '')
        return self.memory.id if self.memory.source == OBJECT else str(told)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a look came to, and why.

    :param memory: which shows the thing, and where; None: none does
    """

    look: Look
    why: str = ''
    memory: Memory | None = None


def errand_of(thing: str, memory: Memory, robot: str) -> Errand:
    """Return the errand of a question about a thing, or of a drive to a memory where no thing is named."""
    known = next(iter(known_objects([memory])), None)
    named = thing or str(memory.facts.get('object', '')) or (known and described(known)) or memory.caption
    return Errand(str(named), memory, robot)


def looked(errand: Errand, recall: Recall, since_ns: int, *, late: bool = False) -> Finding:
    """Return what is known of a thing since the robot stands before its place.

    :param since_ns: when it arrived
    :param late: nothing more is waited for
    :raises StoreUnavailable: there is no memory to ask
    """
    scope = Scope(since_ns, robots=(errand.robot,), map_id=errand.memory.map_id)
    if (shown := _shown(errand, recall, scope)) is not None:
        return Finding(Look.SEEN, 'it is there', shown)
    known = _object(errand, recall)
    absence = known.facts.absences[-1:] if known and known.missing_ns is not None else ()
    if absence and absence[0][1] >= since_ns:
        return Finding(Look.GONE, 'its place is empty')
    hits = recall.find(Query(scope=replace(scope, source=CAPTIONER), limit=10 * LOOKS))
    seeing = (hit.memory for hit in hits if hit.memory.captioner not in READING)
    looks = sum(_looks(memory, since_ns) for memory in seeing)
    if looks >= LOOKS and (known is None or late):
        return Finding(Look.GONE, f'{looks} looks show other things alone')
    if not late:
        return Finding(Look.OPEN)
    silent = f'no camera told me anything{", or something is before it" if known is not None else ""}'
    why = 'its place is not in view' if recall.count(scope) else silent
    if known is not None and known.facts.looked >= since_ns:
        why = 'something is in its place that I do not recognise'
    return Finding(Look.UNSURE, why)


def _looks(memory: Memory, since_ns: int) -> int:
    """Return how many segments of a memory are of since then: of one that was extended, its later part."""
    if memory.start_ns >= since_ns:
        return memory.merged
    part = (memory.end_ns - since_ns) / (memory.end_ns - memory.start_ns) if memory.end_ns > since_ns else 0.0
    return int(memory.merged * part)


def _object(errand: Errand, recall: Recall) -> KnownObject | None:
    """Return the object that is meant, as it is known now; None: none is meant, or it was forgotten."""
    if not errand.object_id:
        return None
    found = recall.find_objects(ObjectQuery(errand.object_id)).objects  # or what is called so
    known = (item.known for item in found)
    return next((one for one in known if errand.object_id in (one.id, *one.facts.aliases)), None)


def _shown(errand: Errand, recall: Recall, scope: Scope) -> Memory | None:
    """Return the memory that shows the thing since the robot arrived, and where; None: there is none."""
    known, since_ns = _object(errand, recall), scope.after_ns or 0
    if known is not None:
        if known.memory.end_ns >= since_ns and known.missing_ns is None:
            return known.memory
        # What was moved has another id until it is recognised.
        alike = recall.find_objects(ObjectQuery(described(known), scope=scope)).objects
        new = [item.known for item in alike if item.known.memory.start_ns >= since_ns]
        return next((one.memory for one in new if described(one) == described(known)), None)
    if seen := recall.find_objects(ObjectQuery(errand.thing, scope=scope, limit=1)).objects:
        return seen[0].known.memory
    sighted = find_sightings(searched(errand.thing), recall, replace(scope, source=CAPTIONER))
    sure = (hit.memory for hit in sighted if hit.score >= EVEN)
    return next((memory for memory in sure if _looks(memory, since_ns)), None)


def likely_places(errand: Errand, recall: Recall, here: Pose, *, way_m: float) -> Iterator[Memory]:
    """Yield memories of the places where a thing may be next, likely and near ones first.

    That is where it was before, where things like it are, what carries others or could, and named places.

    :param here: where the robot is, before the place that it was sent to
    :param way_m: how far it may drive for all of them, in straight lines
    """
    at, left_m = (here.x, here.y), way_m
    places = [
        (worth, memory)
        for worth, memory in chain(_by_objects(errand, recall), _by_others(errand, recall))
        if memory.pose is not None
        and errand.memory.pose is not None
        and dist(_xy(memory), _xy(errand.memory)) > TRIED_M
    ]
    while places:
        away = [dist(at, _xy(memory)) for _, memory in places]
        best = max(range(len(places)), key=lambda i: places[i][0] / (NEAR_M + away[i]))
        left_m -= away[best]
        if left_m < 0.0:
            return
        _, memory = places[best]
        at = _xy(memory)
        yield memory
        places = [one for one in places if dist(_xy(one[1]), at) > TRIED_M]


def _xy(memory: Memory) -> tuple[float, float]:
    return (memory.pose.x, memory.pose.y) if memory.pose is not None else (0.0, 0.0)


def _by_objects(errand: Errand, recall: Recall) -> Iterator[tuple[float, Memory]]:
    """Yield the places that objects tell of, with how likely they are."""
    scope = Scope(robots=(errand.robot,), map_id=errand.memory.map_id)
    items = recall.find_objects(ObjectQuery(scope=scope)).objects
    by_id = {item.known.id: item.known for item in items}
    carriers = {rel.other for item in items for rel in item.relations if rel.name in ('on', 'in')}
    own = _object(errand, recall)
    if own is not None:
        yield from ((BEFORE, own.placed_at(before).memory) for _, _, before, _ in own.moves)
    for item in items:
        known = item.known
        if known.name in TRANSIENT or known.missing_ns or (own is not None and known.id == own.id):
            continue
        if known.name == own.name if own is not None else is_called(known, errand.thing):
            yield ALIKE, _carrier(item, by_id).memory
        elif known.id in carriers or max(known.size[:2]) >= LARGE_M:
            yield ON if known.id in carriers else ANY, known.memory


def _carrier(item: FoundObject, by_id: Mapping[str, KnownObject]) -> KnownObject:
    """Return what a thing is on or in, else itself."""
    on = (by_id.get(relation.other) for relation in item.relations if relation.name in ('on', 'in'))
    return next(filter(None, on), item.known)


def _by_others(errand: Errand, recall: Recall) -> Iterator[tuple[float, Memory]]:
    """Yield the places where captions name the thing, and the named ones."""
    scope = Scope(robots=(errand.robot,), map_id=errand.memory.map_id, source=CAPTIONER)
    sighted = [hit for hit in find_sightings(searched(errand.thing), recall, scope) if hit.score >= PERHAPS]
    for group in by_place([hit for hit in sighted if hit.memory.pose is not None], SamePlace(TRIED_M)):
        yield BEFORE, group[0].memory
    for place in known_places(recall).all:
        if place.memory.map_id == errand.memory.map_id:
            yield ANY, place.memory
