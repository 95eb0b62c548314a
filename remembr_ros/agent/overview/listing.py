"""All memories that show a thing, grouped by place and stay."""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from remembr_ros.agent.model.same_place import SamePlace, by_place, span, stays
from remembr_ros.memory.matching.ranking import searchable
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import CAPTIONER, Memory
from remembr_ros.memory.recall_protocol import Recall


@dataclass(frozen=True, slots=True)
class Listing:
    """What shows a thing.

    :param places: the memories of one place each, in the order in which these were found
    :param stays: those of one stay at one place each, in the order of time
    :param whole: there are no others, as far as anybody knows
    """

    places: Sequence[Sequence[Hit]]
    stays: Sequence[Sequence[Hit]]
    whole: bool

    @property
    def memories(self) -> int:
        return sum(map(len, self.places))

    def most_often(self) -> Sequence[Hit]:
        """Return the place of most stays, of equals that of most memories.

        :raises ValueError: there is none
        """
        visits = [(sum(stay[0] in place for stay in self.stays), len(place)) for place in self.places]
        return self.places[max(range(len(visits)), key=visits.__getitem__)]


def listing(
    hits: Sequence[Hit], same_place: SamePlace, recall: Recall | None = None, *, whole: bool = True
) -> Listing:
    """Return memories told apart by place and by stay: who went away and came back was there twice.

    :param hits: each memory once
    :param recall: knows whether a robot was elsewhere meanwhile; None: it was whenever it may have been
    """

    def went_away(before: Memory, after: Memory) -> bool:
        if recall is None:
            return True
        between = Scope(before.end_ns + 1, after.start_ns - 1, robots=(before.robot,), source=CAPTIONER)
        if before.pose is None:
            return recall.count(between) > 0
        here = replace(between, near=before.pose.position, radius_m=same_place.radius_m)
        return recall.count(between) > recall.count(here)

    places = by_place(hits, same_place)
    found = []
    for place in places:
        of_robot: defaultdict[str, list[Hit]] = defaultdict(list)
        for hit in place:
            of_robot[hit.memory.robot].append(hit)
        found += [stay for seen in of_robot.values() for stay in stays(seen, went_away)]
    return Listing(places, sorted(found, key=lambda stay: (span(stay), stay[0].memory.id)), whole)


def alternatives(query: str) -> list[str]:
    """Return what a query asks for any of: of 'cafe or bar', and of 'cafe, bar', both."""
    parts = re.split(r'[,;/|]|\bor\b', query, maxsplit=9, flags=re.IGNORECASE)
    return [part.strip() for part in parts if content_stems(part)] or [query]


def naming(memories: Collection[Memory], query: str) -> list[Hit]:
    """Return the memories that have all words of a query that say something, in their order."""
    asked = content_stems(query)
    return [Hit(memory, 1.0) for memory in memories if asked <= content_stems(searchable(memory))]
