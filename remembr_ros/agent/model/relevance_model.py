"""The fitted model of relevance: how likely each memory shows what is looked for.

One number decides: what is shown, which of several it is, what counts as as good, how sure the answer is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.confidence import in_a_word, shown_confidence
from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.model.matching import (
    another_thing,
    has_what_it_must,
    is_cut_off,
    is_denied_or_guessed,
    lacks_a_part,
    words_found,
)
from remembr_ros.agent.model.other_words import things_for
from remembr_ros.agent.model.sought import Sought
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import OBJECT, Memory
from remembr_ros.memory.objects.known import seen_in
from remembr_ros.memory.objects.wording import of_itself
from remembr_ros.memory.recall_protocol import Recall

POOL = 30  # Memories looked at for one thing
SHOWN = 0.01  # What is less likely than this was not seen; what is likelier is shown, with how sure it is
AS_GOOD = 0.1  # Memories this much less likely than the best one show the thing as well as that one does
SURE = 0.75  # Who asks for the last one means any of those that are likelier than this
PERHAPS = 0.4  # What names another thing by the asked word, or meets a part of a question, is no likelier
MOST_NEWER = 50  # recalls that look for what is newer still, or older
CUT_OFF_RADIUS_M = 8.0  # A sign that was cut off by the edge of an image is read in full from this near


def find_sightings(sought: Sought, recall: Recall, scope: Scope, limit: int = POOL) -> list[Hit]:
    """Return the memories that may show what was asked for, best first.

    The recall tells which memories are nearest to a text; whether the words are there as the asker or the
    camera spelled them is looked at here. What must be there literally, such as a number, is there.

    :param limit: how many are looked at
    :return: with how likely each shows it for a score, 0 to 1
    """
    hits = recall.find(Query(sought.target, scope=scope, limit=limit))
    if things := things_for(sought.target):
        hits = best_of_each(
            [*hits, *recall.find(Query(f'{sought.target} {things}', scope=scope, limit=limit))]
        )
    sightings = []
    for hit in hits:
        seen = seen_in(hit.memory, scope)
        likely = how_likely(sought, hit, recall.embedder_name) if seen else 0.0
        if likely >= SHOWN:
            if not (sought.visits or sought.kind in (Kind.TIME, Kind.DURATION)):
                seen = [replace(seen[-1], start_ns=seen[0].start_ns)]
            sightings += [replace(hit, memory=sighting, score=likely) for sighting in seen]
    if sought.numbered:
        sightings = [hit for hit in sightings if not is_cut_off(sought, _memories_around(hit, recall))]
    return best_first(sightings)


def best_first(found: Sequence[Hit]) -> list[Hit]:
    """Return sightings by how likely they are; of those as likely as the best one, what was recalled first.

    :param found: in the order of the recall
    """
    least = max((hit.score for hit in found), default=0.0) - AS_GOOD
    return sorted(found, key=lambda hit: (hit.score < least, -hit.score if hit.score < least else 0.0))


def how_likely(sought: Sought, hit: Hit, embedder: str) -> float:
    """Return how likely a memory shows what was asked for, 0 to 1; 0: it lacks a number, a name or a colour.

    :param hit: of a recall by the target
    :param embedder: see :attr:`remembr_ros.memory.recall_protocol.Recall.embedder_name`
    """
    memory = of_itself(hit.memory)
    found = words_found(sought, memory)
    if (memory.source == OBJECT and not all(found)) or not has_what_it_must(sought, memory):
        return 0.0  # what a detector names by one word is not another thing
    likely = shown_confidence(hit, sum(found) / max(len(found), 1), embedder)
    unsure = another_thing(sought, memory) or is_denied_or_guessed(sought, memory)
    return as_unsure(likely) if unsure else likely


def as_unsure(likely: float) -> float:
    """Return a probability of PERHAPS at most; what was likelier stays so."""
    half = PERHAPS / 2
    return likely if likely < half else half + (likely - half) * half / (1.0 - half)


def fit_in_a_word(sought: Sought, hit: Hit, embedder: str) -> str:
    """Return how likely a hit shows what is looked for: surely, likely, perhaps or hardly."""
    likely = how_likely(sought, hit, embedder)
    return in_a_word(as_unsure(likely) if lacks_a_part(sought, hit.memory) else likely)


def find_outermost(
    sought: Sought, recall: Recall, scope: Scope, hits: Sequence[Hit], choice: Choice
) -> list[Hit]:
    """Return with some sightings those that are as sure and newer, or older, which fit the words less well.

    :param hits: best first
    :param choice: LATEST or EARLIEST
    """
    found = list(hits)
    for _ in range(MOST_NEWER if hits else 0):
        sure = sure_ones(found)
        if choice is Choice.LATEST:
            left = scope.within(max(hit.memory.end_ns for hit in sure) + 1, None)
        else:
            left = scope.within(None, min(hit.memory.start_ns for hit in sure) - 1)
        more = find_sightings(sought, recall, left) if left is not None else []
        known = {hit.memory.id for hit in found}
        more = [hit for hit in more if hit.score >= _least(found) and hit.memory.id not in known]
        if not more:
            break
        found = sorted([*found, *more], key=lambda hit: -hit.score)
    return found


def best_of_each(hits: Iterable[Hit]) -> list[Hit]:
    """Return every memory once, as the best of its hits, in the order of finding."""
    best: dict[str, Hit] = {}
    for hit in hits:
        known = best.get(hit.memory.id)
        if known is None or hit.score > known.score:
            best[hit.memory.id] = hit
    return list(best.values())


def as_good_as_best(hits: Sequence[Hit]) -> list[Hit]:
    """Return those that show the thing as well as the first one does.

    :param hits: best first
    """
    least = max((hit.score for hit in hits), default=0.0) - AS_GOOD
    return [hit for hit in hits if hit.score >= least]


def sure_ones(hits: Sequence[Hit]) -> list[Hit]:
    """Return those that surely show the thing, or as well as the first one does.

    :param hits: best first
    """
    return [hit for hit in hits if hit.score >= _least(hits)]


def _least(hits: Sequence[Hit]) -> float:
    return min(hits[0].score - AS_GOOD, SURE)


def _memories_around(hit: Hit, recall: Recall) -> list[Memory]:
    pose = hit.memory.pose
    if pose is None:
        return [hit.memory]
    scope = Scope(near=pose.position, radius_m=CUT_OFF_RADIUS_M, map_id=hit.memory.map_id)
    return [near.memory for near in recall.find(Query(place=pose.position, scope=scope, limit=POOL))]
