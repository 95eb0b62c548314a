"""What an answer about objects is about, and how it names them, where they lie and how surely."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import dist

from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.grounding import shown
from remembr_ros.agent.model.memory_prompt import ago
from remembr_ros.agent.offline.objects.object_request import ObjectRequest
from remembr_ros.agent.offline.request import Request
from remembr_ros.memory.deeds.object_ids import REACH_M
from remembr_ros.memory.deeds.occurrences import OccurrenceSource, last_of_each
from remembr_ros.memory.deeds.query import Occurrence
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.objects.known import KnownObject, seen_in
from remembr_ros.memory.objects.query import FoundObject, FoundObjects, ObjectQuery
from remembr_ros.memory.objects.relations import stays_of
from remembr_ros.memory.objects.wording import described, presence_note
from remembr_ros.memory.recall_protocol import Recall

ONE = 0.9  # how surely a thing that was seen often, and called the same each time, is what it is called
_AWAY_M = 2.0 * REACH_M  # from where the robot put a thing: somebody moved it since


@dataclass(frozen=True)
class ObjectAnswer:
    """What an answer is about.

    :param request: the question, understood
    :param objects: what of it is about objects
    :param scope: the times, robots and maps that count
    """

    request: Request
    objects: ObjectRequest
    question: Question
    recall: Recall
    scope: Scope

    @cached_property
    def put(self) -> dict[str, Occurrence]:
        """The deeds by which the robot put things onto or into others, and left them there, by their ids."""
        done = OccurrenceSource(self.recall).deeds(replace(self.scope, after_ns=None, before_ns=None))
        last = [
            deed for deed in last_of_each(done, 'pick', 'place') if is_same_kind(deed.facts.kind, 'place')
        ]
        return {deed.facts.object_id: deed for deed in last if deed.facts.object_id and deed.facts.receptacle}

    @property
    def in_time(self) -> bool:
        """Whether a time is asked about."""
        return self.scope.after_ns is not None or self.scope.before_ns is not None

    def own_deed(self, known: KnownObject) -> Occurrence | None:
        """Return the deed by which the robot put a thing where it is; None: it was seen elsewhere since."""
        own = None if self.in_time else self.put.get(known.id)
        if own is None or known.memory.end_ns <= own.end_ns:
            return own
        carriers = self.find(own.facts.receptacle_id).objects if own.facts.receptacle_id else ()
        stood = [own.memory.pose, *(item.known for item in carriers[:1])]  # it may have been carried since
        at = [item.position for item in stood if item is not None]
        return own if not at or any(dist(known.position[:2], xy[:2]) <= _AWAY_M for xy in at) else None

    def find(self, called: str = '', **conditions: object) -> FoundObjects:
        """Return the objects of the asked robots and map."""
        scope = conditions.pop('scope', replace(self.scope, after_ns=None, before_ns=None))
        return self.recall.find_objects(ObjectQuery(called, scope=scope, **conditions))  # type: ignore[arg-type]


def object_hits(found: Iterable[FoundObject]) -> list[Hit]:
    return shown(item.known.memory for item in found)


def sights_in(known: KnownObject, scope: Scope) -> list[Hit]:
    """Return where an object was seen in a time, and when."""
    stays = stays_of(known)
    return [
        Hit(replace(known.placed_at(stay.at).memory, start_ns=seen.start_ns, end_ns=seen.end_ns), 1.0)
        for seen in seen_in(known.memory, scope)
        for stay in [stay for stay in stays if stay.since_ns <= seen.end_ns][-1:]
    ]


def with_the(item: FoundObject) -> str:
    return f'the {described(item.known)}'


def form_of_be(found: Sequence[FoundObject], about: ObjectAnswer) -> str:
    forms = ('was', 'were') if about.in_time else ('is', 'are')
    return forms[len(found) > 1]


def capital(text: str) -> str:
    return f'{text[:1].upper()}{text[1:]}'


def relation_words(item: FoundObject, otherwise: str) -> str:
    """Return what an object lies on, in or under, else next to; otherwise: nobody knows."""
    return next((relation.words for relation in item.relations), otherwise)


def seen_note(item: FoundObject, about: ObjectAnswer) -> str:
    """Return what became of an object since it was seen, in words."""
    note = presence_note(item.known.memory, about.question.now_ns, about.question.zone)
    seen = f'seen {ago(item.known.memory.end_ns, about.question.now_ns)}'
    return f', {seen}, {note}' if note else f', {seen}'


def confidence_of(item: FoundObject) -> float:
    """Return how surely an object is what it is called."""
    known = item.known
    labels, seen = known.facts.labels, known.facts.observations
    agreed = 1.0 if known.facts.named else labels[known.recognised_as] / sum(labels.values())
    return ONE * agreed * seen / (seen + 1)
