"""Recall by text, position and time over any engine."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.matching import ranking
from remembr_ros.memory.matching.terms import told_apart
from remembr_ros.memory.model.engine import Engine
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey, consecutive, offset_ns
from remembr_ros.memory.model.record import OBJECT, PLACE, Memory
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery, choose_objects
from remembr_ros.memory.places.places import NOWHERE, Places, known_places
from remembr_ros.timestamps import MAX_NS, NS

MAX_LIMIT = 1_000  # more hits than this are no recall any more
MAX_QUERY = 10_000  # characters of a search text that count; embedders read far less
MAX_WORDS = 8  # of a text that are compared one by one; questions have two to six that carry meaning
PLACES_S = 1.0  # places that another process named are known after so long
QUOTED = 100  # hits, as many as the page shows, tell their nearest passages: of each in 60 microseconds


class StoreSearch(ABC):
    """Recall over an engine; see remembr_ros.memory.recall_protocol.Recall."""

    keyframes: KeyframeFolder
    """Where images are kept, whether the server is there or not; their folder may not be there yet."""

    _changed = 0
    _places: tuple[int, float, Places] = (-1, 0.0, NOWHERE)

    @property
    @abstractmethod
    def engine(self) -> Engine:
        """What holds the memories.

        :raises StoreUnavailable: it is closed
        """

    @property
    @abstractmethod
    def embedder(self) -> Embedder:
        """What the passages' vectors were made with."""

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories of these ids in their order; unknown ids are passed over."""
        return self.engine.get(ids)

    def outline(self) -> Outline:
        """Return where and when all memories are, but for the names of places."""
        return self.engine.outline().without(PLACE)

    def keyframe(self, memory_id: str, index: int = 0) -> bytes:
        """Return a keyframe of a memory as JPEG.

        :raises InvalidRequest: there is no such memory or keyframe
        """
        found = self.get([memory_id])
        if not found:
            raise InvalidRequest(f'there is no memory {memory_id!r}')
        names = found[0].keyframes
        if not 0 <= index < len(names):
            raise InvalidRequest(
                f'memory {memory_id} has {len(names)} keyframes, none with the index {index}'
            )
        return self.keyframes.get(names[index])

    def all(self) -> list[Memory]:
        """Return every memory, oldest first."""
        return sorted(self.engine.select(), key=lambda m: (m.start_ns, m.id))

    def find(self, query: Query, *, hybrid: bool = True) -> list[Hit]:
        """Return the memories that a query asks for, in its order; no more than MAX_LIMIT.

        :param hybrid: by text, by meaning and words; False: by meaning alone
        :raises InvalidRequest: there is no such source, or a name cannot be one
        :raises StoreUnavailable: the database does not work
        """
        hits = self._found(query, hybrid=hybrid)
        hits = [hit for hit in hits if not hit.memory.facts.get('deleted')]  # a person said: no such object
        if query.scope.source == PLACE or not (places := self.places()):
            return hits
        names = places.names_of([hit.memory for hit in hits])
        return [replace(hit, place=name) for hit, name in zip(hits, names, strict=True)]

    def places(self) -> Places:
        """Return the named places, as they are now; of another process, as they were PLACES_S ago.

        :raises StoreUnavailable: the database does not work
        """
        changed, now = self._changed, time.monotonic()
        if self._places[0] != changed or now - self._places[1] > PLACES_S:
            self._places = changed, now, known_places(self)
        return self._places[2]

    def resolved(self, scope: Scope) -> Scope:
        """Return a scope with the area of its place.

        :raises InvalidRequest: there is no such place
        :raises StoreUnavailable: the database does not work
        """
        return scope if scope.place is None else self.places().within(scope)

    def _inside(self, scope: Scope) -> Scope:
        """Return a scope as resolved, without what is remembered of places unless it asks for that."""
        if scope.source == PLACE or not self.places():
            return self.resolved(scope)
        return replace(self.resolved(scope), without=(*scope.without, PLACE))

    def _found(self, query: Query, *, hybrid: bool) -> list[Hit]:
        limit = min(query.limit, MAX_LIMIT)
        if query.text is not None:
            scope = self.resolved(query.scope)
            return self._fitting(query.text, scope, limit, hybrid=hybrid)
        scope = self._inside(query.scope)
        if query.place is not None:
            return self._near(query.place, scope, limit)
        scope = _happened(scope)
        if query.time_ns is not None:
            time_ns = min(max(query.time_ns, 0), MAX_NS)
            found = self._around if query.around else self.engine.nearest_in_time
            return [_timed(memory, time_ns) for memory in found(time_ns, scope, limit)]
        return [Hit(memory, 1.0).measured(scope.asked_near) for memory in self.engine.newest(scope, limit)]

    def count(self, scope: Scope = ANYTHING) -> int:
        """Return how many memories the scope admits.

        :raises InvalidRequest: there is no such source, or a name cannot be one
        :raises StoreUnavailable: the database does not work
        """
        return self.engine.count(self._inside(scope))

    @property
    def embedder_name(self) -> str:
        return self.engine.stamp.embedder

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        """Return what there is in the scope; objects are told of where the scope asks for them.

        :raises InvalidRequest: there is no such source, or a name cannot be one
        :raises StoreUnavailable: the database does not work
        """
        return self.engine.survey(_happened(self._inside(scope)))

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        """Return the objects that a query asks for, in its order.

        :raises InvalidRequest: there is no such source, or a name cannot be one
        :raises StoreUnavailable: the database does not work
        """
        query = replace(query, scope=self.resolved(query.scope))
        whole = Scope(robots=query.scope.robots, map_id=query.scope.map_id, source=OBJECT)
        known = known_objects(self.engine.select(whole))
        scores = None
        if query.text:
            hits = self.find(Query(query.text, scope=whole, limit=MAX_LIMIT))
            scores = {hit.memory.id: hit.score for hit in hits}
        found = choose_objects(query, known, scores)
        names = self.places().names_of([thing.known.memory for thing in found.objects])
        named = (replace(thing, place=name) for thing, name in zip(found.objects, names, strict=True))
        return replace(found, objects=tuple(named))

    def _fitting(self, text: str, scope: Scope, limit: int, *, hybrid: bool) -> list[Hit]:
        text = text.strip().encode('utf-8', 'replace').decode()[:MAX_QUERY]
        scope.check()  # checked before the embedder works
        engine = self.engine
        vector = self.embedder.embed_query(text)
        single = told_apart(text)[:MAX_WORDS] if hybrid else []
        # Left out afterwards: to search in all but a few takes the index far longer than to search in all.
        spare = 0 if scope.source else len(self.places().all)
        most = max(engine.compares, 2 * limit) + spare
        found = list(engine.like(vector, scope, most))[:most]
        if hybrid:
            found += engine.with_words(text, scope, most)
        vectors = np.stack([vector, *self.embedder.embed(single)]) if single else vector[None]
        compared = engine.compared(vectors, list(dict.fromkeys(found)))
        compared = [match for match in compared if match.memory.source != PLACE or scope.source == PLACE]
        memories = [match.memory for match in compared]
        shares = engine.word_shares(text, memories) if hybrid else [None] * len(memories)
        worth = engine.rarities(single, memories)
        scored = [
            (ranking.score(ranking.meaning(match.cosines, match.paragraphs, worth), share), match.memory)
            for match, share in zip(compared, shares, strict=True)
        ]
        cosines = {match.memory.id: match.cosines for match in compared}
        hits: list[Hit] = []
        for score, memory in ranking.best_first(scored)[:limit]:
            shown = len(hits) < QUOTED
            near = ranking.nearest_passages(memory, cosines[memory.id], worth) if shown else ()
            hits.append(Hit(memory, score, passages=near).measured(scope.asked_near))
        return hits

    def _near(self, place: Point, scope: Scope, limit: int) -> list[Hit]:
        hits: list[Hit] = []
        for memory in self.engine.nearest_in_place(place, scope, limit):
            if memory.pose is not None:
                metres = distance(memory.pose.position, place)
                hits.append(Hit(memory, 1.0 / (1.0 + metres), metres))
        return hits

    def _around(self, time_ns: int, scope: Scope, limit: int) -> list[Memory]:
        nearest = self.engine.nearest_in_time(time_ns, scope, 1)
        if not nearest:
            return []
        middle = nearest[0]
        # Those that start before and after it; the nearest ones in time are the consecutive ones.
        # Where the window begins after the middle one has, those before it cover its start, too.
        earlier = self._starting(scope.within(None, middle.start_ns) or scope, middle.start_ns, limit)
        later = self._starting(scope.within(middle.start_ns, None) or scope, middle.start_ns, limit)
        before = [m for m in earlier if (m.start_ns, m.id) < (middle.start_ns, middle.id)]
        after = [m for m in later if (m.start_ns, m.id) > (middle.start_ns, middle.id)]
        return consecutive([*before, middle, *after], len(before), limit)

    def _starting(self, scope: Scope, time_ns: int, limit: int) -> list[Memory]:
        """Return the memories of a scope that are nearest to a time, in the order of their starts."""
        # Nearest by start: a long stay around the time is as near as the one after it.
        found = self.engine.nearest_in_time(time_ns, scope, 2 * limit + 2)
        return sorted(found, key=lambda memory: (memory.start_ns, memory.id))


def _happened(scope: Scope) -> Scope:
    """Return the scope without objects, unless it asks for them: each is of many times."""
    return scope if scope.source == OBJECT else replace(scope, without=(*scope.without, OBJECT))


def _timed(memory: Memory, time_ns: int) -> Hit:
    offset_s = offset_ns(memory, time_ns) / NS
    return Hit(memory, 1.0 / (1.0 + abs(offset_s)), offset_s=offset_s)
