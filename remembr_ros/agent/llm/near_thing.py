"""A thing without a label that a call is near: within a radius of where it was seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from remembr_ros.agent.llm.call_context import CallContext
from remembr_ros.agent.model.confidence import in_a_word
from remembr_ros.agent.model.grounding import comparable
from remembr_ros.agent.model.quoting import quoted
from remembr_ros.agent.offline.anchored_search import find_anchor, places_seen
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import distance
from remembr_ros.memory.model.recall import Hit, Scope


@dataclass(frozen=True, slots=True)
class NearThing:
    """A thing, and the best memory of it at each place where it was seen.

    :param name: as a model is told it, with how sure that is; empty: there is none, and all is near it
    """

    name: str = ''
    radius_m: float = 0.0
    seen: Sequence[Hit] = ()

    def beside(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return those that were made near it, with how far from where it was seen."""
        if not self.name:
            return list(hits)
        near: list[Hit] = []
        for hit in hits:
            poses = [
                (hit.memory.pose, one.memory.pose) for one in self.seen if comparable(hit.memory, one.memory)
            ]
            metres = [distance(a.position, b.position) for a, b in poses if a and b]
            if metres and min(metres) <= self.radius_m:
                near.append(replace(hit, distance_m=min(metres)))
        return near


NO_THING = NearThing()


def find_thing(words: str, radius_m: float, scope: Scope, context: CallContext) -> NearThing:
    """Return the thing that words name.

    :raises InvalidRequest: no memory with a place shows it
    """
    if not words:
        return NO_THING
    seen = places_seen(find_anchor(words, context.question, context.recall, scope), context.question)
    if not seen:
        raise InvalidRequest(f'near {words[:60]!r}: no place, no label, and no memory shows it')
    return NearThing(f'{quoted(words[:60])} ({in_a_word(seen[0].score)})', radius_m, seen)
