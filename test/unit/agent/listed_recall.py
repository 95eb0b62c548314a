"""A recall over a list of memories: fast, and the same every time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from remembr_ros.geometry import distance
from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey, survey_of
from remembr_ros.memory.model.record import PLACE, Memory
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery, choose_objects
from remembr_ros.memory.places.places import Places
from remembr_ros.timestamps import NS

_ASKED = {'place': 'position', 'around': 'time'}


@dataclass
class ListedRecall:
    """Implements remembr_ros.memory.recall_protocol.Recall, and keeps what it was asked.

    :param before: called before each search, such as to hang
    """

    memories: Sequence[Memory]
    before: Callable[[], object] = lambda: None
    asked: list[str] = field(default_factory=list)
    embedder_name: str = 'listed'

    def find(self, query: Query) -> list[Hit]:
        self.before()
        order = query.order.value
        scope = self._inside(query.scope)
        if scope.source != PLACE:  # which are asked for before each question
            self.asked.append(f'text {query.text}' if query.text else _ASKED.get(order, order))
        hits = [_hit(memory, query) for memory in self.memories if scope.admits(memory)]
        if query.place is not None:
            hits = [hit for hit in hits if hit.memory.pose is not None]
        if query.around:
            hits.sort(key=lambda hit: (hit.memory.start_ns, hit.memory.id))
        elif query.order == 'newest':
            hits.sort(key=lambda hit: -hit.memory.end_ns)
        else:
            hits.sort(key=lambda hit: -hit.score)
        return query.cut(hits)

    def count(self, scope: Scope = ANYTHING) -> int:
        scope = self._inside(scope)
        return sum(scope.admits(memory) for memory in self.memories)

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        scope = self._inside(scope)
        return survey_of(memory for memory in self.memories if scope.admits(memory))

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        self.before()
        query = replace(query, scope=self._inside(query.scope))
        return choose_objects(query, known_objects(self.memories))

    def _inside(self, scope: Scope) -> Scope:
        if scope.source == PLACE:
            return scope
        return replace(Places(self.memories).within(scope), without=(*scope.without, PLACE))


def _hit(memory: Memory, query: Query) -> Hit:
    if query.text is not None:
        asked = content_stems(query.text)
        seen = content_stems(f'{memory.caption} {" ".join(memory.scene_text)}')
        parts = [one.text for one in passages(memory) if one.is_sentence]
        parts.sort(key=lambda part: -len(asked & content_stems(part)))
        return Hit(memory, len(asked & seen) / max(len(asked), 1), passages=tuple(parts))
    if query.place is not None and memory.pose is not None:
        metres = distance(memory.pose.position, query.place)
        return Hit(memory, 1.0 / (1.0 + metres), metres)
    if query.time_ns is not None:
        nearest = min(max(query.time_ns, memory.start_ns), memory.end_ns)
        offset_s = (nearest - query.time_ns) / NS
        return Hit(memory, 1.0 / (1.0 + abs(offset_s)), offset_s=offset_s)
    return Hit(memory, 1.0)
