"""The interface of recall, and reading all memories of a scope page by page."""

from dataclasses import replace
from typing import Protocol

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery

PAGE = 1_000  # Memories that one recall gives at most
MOST = 20_000  # Of a day of driving there are 10,000


class Recall(Protocol):
    """Finds memories; implemented by the store itself and by the client of the memory node.

    All methods raise InvalidRequest for a source or a name without sense, StoreUnavailable without a store.
    """

    @property
    def embedder_name(self) -> str:
        """The name of the model that scores by text come from; empty: not known yet."""

    def find(self, query: Query) -> list[Hit]:
        """Return the memories that a query asks for, in its order."""

    def count(self, scope: Scope = ANYTHING) -> int:
        """Return how many memories the scope admits.

        Not an answer to a query: it has no limit and reads no memory, and tells "no" from "not seen".
        """

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        """Return what there is in the scope."""

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        """Return the objects that a query asks for, in its order."""


def every(recall: Recall, scope: Scope = ANYTHING, most: int = MOST) -> tuple[list[Memory], bool]:
    """Return all memories of a scope in the order of time, and whether these are all.

    Time is halved until what is in it fits a page: the last of a page does not tell where the next one begins
    where many share one time, or where a recall leaves some out.

    :param most: of more, the latest
    :raises StoreUnavailable: there is no store
    """
    survey = recall.survey(scope)
    if survey.first_ns is None or survey.last_ns is None:
        return [], True
    found: dict[str, Memory] = {}
    left = [(survey.first_ns, survey.last_ns)]
    whole = True
    while left and len(found) <= most:
        after_ns, before_ns = left.pop()
        inside = scope.within(after_ns, before_ns)
        held = recall.count(inside) if inside is not None else 0
        if inside is None or not held:
            continue
        if held > PAGE and after_ns < before_ns:
            middle_ns = (after_ns + before_ns) // 2
            left += [(after_ns, middle_ns), (middle_ns + 1, before_ns)]
            continue
        whole = whole and held <= PAGE
        found |= {hit.memory.id: hit.memory for hit in recall.find(Query(scope=inside, limit=PAGE))}
    ordered = sorted(found.values(), key=lambda memory: (memory.start_ns, memory.end_ns, memory.id))
    return ordered[-most:], whole and not left and len(ordered) <= most


def nearest_in_time(recall: Recall, empty: Scope) -> list[Hit]:
    """Return the last memory before a time of which nothing is remembered, and the first one after it.

    :param empty: admits no memory; its other conditions hold for what is returned
    :raises StoreUnavailable: there is no memory to ask
    """
    anytime = replace(empty, after_ns=None, before_ns=None)
    found: list[Hit] = []
    for edge_ns, side in (
        (empty.after_ns, anytime.within(None, empty.after_ns)),
        (empty.before_ns, anytime.within(empty.before_ns, None)),
    ):
        if edge_ns is not None and side is not None:
            found += recall.find(Query(time_ns=edge_ns, scope=side, limit=1))
    return found


def check_map(recall: Recall, name: str | None) -> None:
    """Refuse a map of which a memory has nothing, though it has others.

    :param name: None: any map will do
    :raises InvalidRequest: the message says which maps there are
    :raises StoreUnavailable: there is no memory to ask
    """
    if name is None or recall.count(Scope(map_id=name)) or not recall.count():
        return
    # Where memories have a place, or are new: of maps without either nobody tells without reading them all.
    known = {area.map_id for area in recall.survey().areas}
    known |= {hit.memory.map_id for hit in recall.find(Query(limit=PAGE))}
    listed = ', '.join(map(repr, sorted(known)))
    raise InvalidRequest(f'there is no memory of a map {name!r}; there are: {listed}')
