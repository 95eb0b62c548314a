"""Whoever finds memories, and the objects among them."""

from typing import Protocol

from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery


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
