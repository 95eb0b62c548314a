"""Which memories show what a request is about: found under any of its names, and likely enough to show it.

Seen or not is decided here. The coefficients are fitted, not set: docs/offline-planner.md tells on what, and
the command.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.offline.matching import (
    asked_words,
    has_head,
    has_what_it_must,
    is_cut_off,
    variants,
    words_found,
)
from remembr_ros.agent.offline.request import Request
from remembr_ros.memory.model.recall import Hit, Query, Recall, Scope
from remembr_ros.memory.model.record import Memory

POOL = 30  # Memories looked at for one thing

RECALL_WEIGHT = 0.7
"""Share of the recall's score in the rank of a memory; the rest is that of the asked words found in it."""

AS_GOOD = 0.08  # Memories whose score is this near to the best one's show the thing as well as that one does
STAY_MARGIN = 0.1  # The same for as long as the thing stays in sight, if not as well as at its best
CUT_OFF_RADIUS_M = 8.0  # A sign that was cut off by the edge of an image is read in full from this near

LEAST = {Kind.POSITION: 0.25, Kind.TIME: 0.2, Kind.DURATION: 0.2, Kind.BINARY: 0.2, Kind.TEXT: 0.2}
"""How likely it has to be, by the kind of the answer: more to drive there than to show a sentence.

To miss what is there counts for more than to show what is like it: an answer quotes what it rests on.
"""


@dataclass(frozen=True, slots=True)
class MatchFeatures:
    """What speaks for a memory to show a thing.

    :param score: of the recall by text, 0 to 1
    :param covered: share of the asked words that the memory has, 0 to 1, other words for the same and
        misread ones included
    :param named: whether it has the word for the thing: of 'a person with a red bag' the person
    """

    score: float
    covered: float
    named: bool


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Of a logistic model over :class:`MatchFeatures`."""

    offset: float
    score: float
    covered: float
    named: float


FITTED = Coefficients(offset=-4.68, score=4.98, covered=4.72, named=0.17)


def probability(features: MatchFeatures, by: Coefficients = FITTED) -> float:
    """Return how likely a memory with these features shows what was asked for, 0 to 1."""
    total = by.offset + by.score * features.score + by.covered * features.covered + by.named * features.named
    return 1.0 / (1.0 + math.exp(-total))


def features_of(request: Request, hit: Hit, found: Sequence[bool] | None = None) -> MatchFeatures:
    """Return what speaks for a memory to show what a request is about.

    :param found: which of the asked words it has, if that is known already
    """
    found = words_found(asked_words(request), hit.memory) if found is None else found
    covered = sum(found) / len(found) if found else 0.0
    return MatchFeatures(hit.score, covered, has_head(request, hit.memory))


def find_sightings(request: Request, recall: Recall, scope: Scope, limit: int = POOL) -> list[Hit]:
    """Return the memories that show what was asked for under any of its names, best first.

    The recall tells which memories are nearest to a text. How near is near enough, and whether the words are
    there as the asker or the camera spelled them, is told here: a misread word counts as that word. Of those
    that are near enough, words that few others have count for more: all of a campus shows buildings.

    :param limit: how many are looked at under each name
    :return: with the recall's score and the words found for a score, 0 to 1
    """
    queries = [Query(text, scope=scope, limit=limit) for text in variants(request.target)]
    hits = best_of_each(hit for query in queries for hit in recall.find(query))
    hits.sort(key=lambda hit: -hit.score)
    asked = asked_words(request)
    found = [words_found(asked, hit.memory) for hit in hits]
    rarity = [1.0 - sum(column) / len(hits) for column in zip(*found, strict=True)]
    sightings = []
    for hit, has in zip(hits, found, strict=True):
        likely = probability(features_of(request, hit, has)) >= LEAST[request.kind]
        if likely and has_what_it_must(request, hit.memory):
            rare = sum(weight for weight, one in zip(rarity, has, strict=True) if one) / max(len(has), 1)
            score = RECALL_WEIGHT * hit.score + (1.0 - RECALL_WEIGHT) * rare
            sightings.append(replace(hit, score=score))
    if request.numbered:
        sightings = [hit for hit in sightings if not is_cut_off(request, _memories_around(hit, recall))]
    return sorted(sightings, key=lambda hit: -hit.score)


def best_of_each(hits: Iterable[Hit]) -> list[Hit]:
    """Return every memory once, as the best of its hits, in the order of finding."""
    best: dict[str, Hit] = {}
    for hit in hits:
        known = best.get(hit.memory.id)
        if known is None or hit.score > known.score:
            best[hit.memory.id] = hit
    return list(best.values())


def as_good_as_best(hits: Sequence[Hit], margin: float = AS_GOOD) -> list[Hit]:
    """Return those that show the thing as well as the first one does.

    :param hits: best first
    """
    return [hit for hit in hits if hit.score >= hits[0].score - margin]


def _memories_around(hit: Hit, recall: Recall) -> list[Memory]:
    pose = hit.memory.pose
    if pose is None:
        return [hit.memory]
    scope = Scope(near=pose.position, radius_m=CUT_OFF_RADIUS_M, map_id=hit.memory.map_id)
    return [near.memory for near in recall.find(Query(place=pose.position, scope=scope, limit=POOL))]
