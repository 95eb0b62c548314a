"""The recalls by text, position and time over any engine."""

from abc import ABC, abstractmethod
from dataclasses import replace
from itertools import islice

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.embedded.scalar_index import offset_ns
from remembr_ros.memory.matching import ranking
from remembr_ros.memory.matching.sentences import kinds_of
from remembr_ros.memory.matching.terms import essence, identifiers
from remembr_ros.memory.milvus import filters
from remembr_ros.memory.model.engine import Engine
from remembr_ros.memory.model.recall import ANYTHING, Hit, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import MAX_NS, NS

MAX_LIMIT = 1_000
"""More hits than this are no recall any more."""

MAX_QUERY = 10_000
"""Characters of a search text that count; embedders read far less."""

WORDED = 30
"""Fewest that it looks for by their words, which decide where numbers and names are asked for."""


class StoreSearch(ABC):
    """Recall over an engine; see remembr_ros.memory.model.recall.Recall."""

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

    def by_text(
        self,
        text: str,
        scope: Scope = ANYTHING,
        limit: int = 5,
        *,
        diverse: bool = True,
        hybrid: bool = True,
    ) -> list[Hit]:
        """Return the memories that fit the text best by meaning and words, best first.

        :param diverse: show distinct stays rather than one parked hour; False for evaluation
        :param hybrid: False: by meaning alone
        :raises InvalidRequest: the text is empty, or the scope or the limit makes no sense
        :raises StoreUnavailable: the database does not work
        """
        limit = _check_limit(limit)
        text = text.strip().encode('utf-8', 'replace').decode()[:MAX_QUERY]
        if not text:
            raise InvalidRequest('a recall by text needs a text')
        filters.expression(scope)  # checked before the embedder works
        engine = self.engine
        vector = self.embedder.embed_query(essence(text))
        most = max(engine.compares, 2 * limit)
        found = ranking.likeliest(*engine.like(vector, scope, most), most)
        if hybrid:
            found += engine.with_words(text, scope, max(WORDED, 2 * limit))
        memories, cosines = engine.compared(vector, list(dict.fromkeys(found)))
        shares = engine.word_shares(text, memories) if hybrid else [None] * len(memories)
        exact = identifiers(text) if hybrid else []
        shared = {memory.id: share for memory, share in zip(memories, shares, strict=True)}

        def score_of(memory: Memory) -> float:
            meant = ranking.meaning(cosines[memory.id], kinds_of(memory))
            matched = ranking.exact_share(exact, memory)
            return ranking.score(meant, shared[memory.id], matched, memory.source)

        def bound_of(memory: Memory) -> float:
            nearest = float(cosines[memory.id].max(initial=0.0))
            return ranking.score(nearest, shared[memory.id], 1.0 if exact else None, memory.source)

        # One that is not there was deleted meanwhile.
        bounds = [(bound_of(memory), memory) for memory in memories if memory.id in cosines]
        best = ranking.best_first(bounds, score_of)
        hits = (_hit(memory, scope, score) for score, memory in best)
        return ranking.diversify(hits, limit) if diverse else list(islice(hits, limit))

    def by_position(self, position: Point, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        """Return the memories nearest to a point, nearest first; unplaced ones are left out.

        :param position: [m] in the map frame
        :raises InvalidRequest: the position, the scope or the limit makes no sense
        :raises StoreUnavailable: the database does not work
        """
        limit = _check_limit(limit)
        filters.check_point(position)
        hits = []
        for memory in self.engine.nearest_in_place(position, scope, limit):
            if memory.pose is not None:
                metres = distance(memory.pose.position, position)
                hits.append(Hit(memory, 1.0 / (1.0 + metres), metres))
        return hits

    def by_time(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        """Return the memories nearest to a time, nearest first.

        :param time_ns: nanoseconds since the Unix epoch; the future is allowed
        :raises InvalidRequest: the scope or the limit makes no sense
        :raises StoreUnavailable: the database does not work
        """
        limit = _check_limit(limit)
        time_ns = min(max(time_ns, 0), MAX_NS)
        return [_timed(m, time_ns) for m in self.engine.nearest_in_time(time_ns, scope, limit)]

    def around(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        """Return the memory at a time with those right before and after it, in the order of time.

        :param limit: half of the others before it, half after; more on one side where the other has fewer
        :raises InvalidRequest: the scope or the limit makes no sense
        :raises StoreUnavailable: the database does not work
        """
        limit = _check_limit(limit)
        time_ns = min(max(time_ns, 0), MAX_NS)
        nearest = self.engine.nearest_in_time(time_ns, scope, 1)
        if not nearest:
            return []
        middle = nearest[0]
        # Those that start before and after it; the nearest ones in time are the consecutive ones.
        earlier = self._starting(scope, None, middle.start_ns, middle.start_ns, limit)
        later = self._starting(scope, middle.start_ns, None, middle.start_ns, limit)
        before = [m for m in earlier if (m.start_ns, m.id) < (middle.start_ns, middle.id)]
        after = [m for m in later if (m.start_ns, m.id) > (middle.start_ns, middle.id)]
        wanted = (limit - 1) // 2
        n_after = min(len(after), limit - 1 - min(wanted, len(before)))
        n_before = min(len(before), limit - 1 - n_after)
        chosen = [*before[len(before) - n_before :], middle, *after[:n_after]]
        return [_timed(memory, time_ns) for memory in chosen]

    def newest(self, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        """Return the memories that ended last, newest first.

        :raises InvalidRequest: the scope or the limit makes no sense
        :raises StoreUnavailable: the database does not work
        """
        return [_hit(memory, scope, 1.0) for memory in self.engine.newest(scope, _check_limit(limit))]

    def count(self, scope: Scope = ANYTHING) -> int:
        """Return how many memories the scope admits.

        :raises InvalidRequest: the scope makes no sense
        :raises StoreUnavailable: the database does not work
        """
        return self.engine.count(scope)

    def _starting(
        self, scope: Scope, after_ns: int | None, before_ns: int | None, time_ns: int, limit: int
    ) -> list[Memory]:
        """Return memories of a narrower time window, nearest to a time, in the order of their starts."""
        later = [t for t in (scope.after_ns, after_ns) if t is not None]
        earlier = [t for t in (scope.before_ns, before_ns) if t is not None]
        narrower = replace(
            scope,
            after_ns=max(later) if later else None,
            before_ns=min(earlier) if earlier else None,
        )
        # Nearest by start: a long stay around the time is as near as the one after it.
        found = self.engine.nearest_in_time(time_ns, narrower, 2 * limit + 2)
        return sorted(found, key=lambda memory: (memory.start_ns, memory.id))


def _timed(memory: Memory, time_ns: int) -> Hit:
    offset_s = offset_ns(memory, time_ns) / NS
    return Hit(memory, 1.0 / (1.0 + abs(offset_s)), offset_s=offset_s)


def _hit(memory: Memory, scope: Scope, score: float) -> Hit:
    if scope.near is None or memory.pose is None:
        return Hit(memory, score)
    return Hit(memory, score, distance(memory.pose.position, scope.near))


def _check_limit(limit: int) -> int:
    if limit < 1:
        raise InvalidRequest(f'the limit is {limit}; ask for at least one memory')
    return min(limit, MAX_LIMIT)
