"""What took place, read from a memory: deeds, sights of a thing, visits to places; what is in view now."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from remembr_ros.geometry import Pose, distance
from remembr_ros.memory.deeds.choice import choose_deeds
from remembr_ros.memory.deeds.deed import TALK, DeedFacts, each_time, facts_of
from remembr_ros.memory.deeds.handlings import handlings
from remembr_ros.memory.deeds.query import (
    HANDLING,
    MOVES,
    SIGHT,
    STAY,
    DeedQuery,
    FoundDeeds,
    Occurrence,
    is_named,
)
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.matching.ranking import searchable
from remembr_ros.memory.matching.terms import STOP_WORDS, stem, words, words_without
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import AGENT, CAPTIONER, PERSON, Memory
from remembr_ros.memory.motion.journey import around, journey, said_of
from remembr_ros.memory.motion.motion import legs, stops, turns
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery
from remembr_ros.memory.places.place import same_name
from remembr_ros.memory.places.places import Places, known_places, visits
from remembr_ros.memory.recall_protocol import Recall, every
from remembr_ros.timestamps import NS, format_duration

EDGE_NS = 60_000_000_000  # how a robot moved is read this far around a time: neighbours tell of each other
_SAID = ('ask', 'answer')  # kinds of which the talk with the memory itself is, too
DRIFT_M = 0.5  # who is found so near to where a deed ended has not moved
IN_VIEW_NS = 15 * NS  # so long before now what is in view was seen: it is stored at most every 10 s
MOST_IN_VIEW, LAST_IN_VIEW = 12, 3  # objects that are told, and of those that were in view last
LATELY_NS = 600 * NS  # so long before now what was just done was over
MOST_DONE = 5  # deeds that are told of these
_APART_NS = 600_000_000_000  # of deeds in one place, between which nobody knows where the robot was


def find_deeds(recall: Recall, query: DeedQuery) -> FoundDeeds:
    """Return what a query finds in a memory.

    :raises InvalidRequest: the query makes no sense, or there is no such source or name
    :raises StoreUnavailable: there is no store
    """
    occurrences = OccurrenceSource(recall)
    return replace(choose_deeds(query, occurrences), whole=occurrences.whole)


class OccurrenceSource:
    """Tells what took place, as queries want it. What was read once is not read again.

    :param whole: all that was asked for was read; else the latest
    """

    def __init__(self, recall: Recall) -> None:
        self._recall = recall
        self._read: dict[Scope, list[Memory]] = {}
        self._done: dict[tuple[Scope, bool], list[Occurrence]] = {}
        self._places: Places | None = None
        self.whole = True

    def __call__(self, query: DeedQuery) -> list[Occurrence]:
        """Return what there is of the kind, in the scope, in the order of time; see query.Source."""
        if query.never:
            return [*self._known(query), *self.deeds(query.scope)]
        if query.kind.split(' ')[0] in MOVES:
            return self._moves(query)
        if query.kind == SIGHT:
            return self._sights(query)
        if query.kind == HANDLING:
            return self._handlings(query.scope)
        done = self.deeds(query.scope, talk=any(is_same_kind(query.kind, verb) for verb in _SAID))
        return self._visits(query, done) if query.kind == STAY else done

    @property
    def places(self) -> Places:
        """The named places."""
        if self._places is None:
            self._places = known_places(self._recall)
        return self._places

    def deeds(self, scope: Scope, *, talk: bool = False) -> list[Occurrence]:
        """Return each time of each deed, in the order of time.

        :param talk: with what was asked and answered
        """
        if (scope, talk) in self._done:
            return self._done[scope, talk]
        memories = [
            memory
            for memory in self._memories(replace(scope, source=AGENT))
            if memory.source == AGENT and (talk or memory.captioner != TALK)
        ]
        times = sorted(
            (time for memory in memories for time in each_time(memory)),
            key=lambda time: (time.start_ns, time.end_ns),
        )
        times = [memory for memory in times if scope.admits(memory)]
        last: dict[tuple[str, str], Memory] = {}
        tell = any(memory.travelled > 0.0 for memory in times)  # how far they drove
        found = []
        for memory, place in zip(times, self.places.names_of(times), strict=True):
            facts = facts_of(memory) or DeedFacts(text=memory.caption)
            if place and not facts.place:
                facts = facts.model_copy(update={'place': place})
            before = last.get((memory.robot, memory.map_id))
            metres = memory.travelled if tell else _driven(memory, facts, before)
            found.append(Occurrence(memory.start_ns, memory.end_ns, facts, (memory,), metres))
            if memory.pose is not None:
                last[memory.robot, memory.map_id] = memory
        self._done[scope, talk] = found
        return found

    def _handlings(self, scope: Scope) -> list[Occurrence]:
        """Return the handlings in a scope, whether or not the pick was."""
        done = self.deeds(Scope(robots=scope.robots, map_id=scope.map_id))
        inside = self.places.within(replace(scope, source=AGENT))
        return [handling for handling in handlings(done) if inside.admits(handling.as_memory)]

    def _memories(self, scope: Scope) -> list[Memory]:
        if scope not in self._read:
            self._read[scope], whole = every(self._recall, scope)
            self.whole = self.whole and whole
        return self._read[scope]

    def _sights(self, query: DeedQuery) -> list[Occurrence]:
        """Return the captions and notes that name a thing, and the times that objects were in view."""
        asked = query.object or query.attribute
        seen = [
            memory
            for memory in self._memories(replace(query.scope, source=query.scope.source, without=(AGENT,)))
            if memory.source in (CAPTIONER, PERSON) and asked and is_named(asked, searchable(memory))
        ]
        names = self.places.names_of(seen)
        found = [
            Occurrence(
                item.start_ns, item.end_ns, DeedFacts(kind=SIGHT, object=query.object, place=place), (item,)
            )
            for item, place in zip(seen, names, strict=True)
        ]
        if query.object and not query.scope.source:
            for thing in self._recall.find_objects(ObjectQuery(query.object, scope=query.scope)).objects:
                facts = DeedFacts(
                    kind=SIGHT, object=query.object, object_id=thing.known.id, place=thing.place
                )
                found += [
                    Occurrence(start_ns, end_ns, facts, (thing.known.memory,))
                    for start_ns, end_ns in thing.known.seen_within(
                        query.scope.after_ns, query.scope.before_ns
                    )
                ]
        return sorted(found, key=lambda sight: (sight.start_ns, sight.end_ns))

    def words_seen(self, text: str, scope: Scope) -> str:
        """Return the words of a text that something in a scope was said to be."""
        stems = {
            stem(word)
            for memory in self._memories(replace(scope, without=(AGENT,)))
            for word in words(memory.caption)
        }
        return ' '.join(word for word in words_without(STOP_WORDS, text) if stem(word) in stems)

    def _moves(self, query: DeedQuery) -> list[Occurrence]:
        """Return the stops, the turns or the legs whose middle lies in the time."""
        memories, whole = around(
            self._recall, replace(query.scope, near=None, radius_m=None, place=None), EDGE_NS
        )
        self.whole = self.whole and whole
        way = journey(memories, query.scope.after_ns, query.scope.before_ns)
        all_ways = way.stretches
        finders = {'standing': stops, 'turning': turns, 'driving': legs}
        wanted = finders.values() if query.kind == MOVES[0] else [finders[query.kind.split(' ')[0]]]
        found = way.inside([stretch for of_kind in wanted for stretch in of_kind(all_ways)])
        scope = query.scope if query.scope.place is None else self.places.within(query.scope)
        return [
            Occurrence(
                stretch.start_ns,
                stretch.end_ns,
                DeedFacts(
                    kind=stretch.motion.value,
                    place=self.places.name_at(stretch.memories[0].map_id, stretch.start),
                    text=said_of(stretch),
                ),
                stretch.memories,
                stretch.driven_m,
            )
            for stretch in sorted(found, key=lambda stretch: (stretch.start_ns, -stretch.end_ns))
            if any(scope.reaches(pose.position) for pose in (stretch.start, stretch.end) if pose)
        ]

    def _visits(self, query: DeedQuery, done: Sequence[Occurrence]) -> list[Occurrence]:
        """Return the visits to places by where the cameras were; without such, by where deeds were done."""
        scope = query.scope
        places = self.places
        if query.place:
            spelled = set(map(same_name, query.place.split(' / ')))
            called = [room for room in places.all if not spelled.isdisjoint(map(same_name, room.names))]
            called = called or [
                room for room in places.all if any(is_named(query.place, name) for name in room.names)
            ]
            places = places.without_parts_of(called)
        seen = self._memories(replace(scope, source=CAPTIONER)) if places else []
        made = (visit.within(scope.after_ns, scope.before_ns) for visit in visits(seen, places))
        found = [
            Occurrence(
                visit.start_ns,
                visit.end_ns,
                DeedFacts(kind=STAY, place=' / '.join(visit.place.names)),
                (visit.memories[len(visit.memories) // 2], *visit.memories),
                spent_ns=visit.spent_ns,
            )
            for visit in made
            if visit is not None
        ]
        if found or scope.place is None:
            return found or _by_deeds(done)
        anywhere = self.deeds(replace(scope, place=None))  # who left for elsewhere is told by that
        return [stay for stay in _by_deeds(anywhere) if is_named(scope.place, stay.facts.place)]

    def _known(self, query: DeedQuery) -> Iterable[Occurrence]:
        """Return the things, or the places, that the memory knows apart from deeds."""
        if query.never == 'place':
            for place in self.places.all:
                facts = DeedFacts(place=' / '.join(place.names))
                yield Occurrence(place.memory.start_ns, place.memory.end_ns, facts, (place.memory,))
            return
        for thing in self._recall.find_objects(ObjectQuery()).objects:
            memory = thing.known.memory
            yield Occurrence(
                memory.start_ns,
                memory.end_ns,
                DeedFacts().model_copy(update={query.never: thing.known.name}),
                (memory,),
            )


def _driven(memory: Memory, facts: DeedFacts, before: Memory | None) -> float:
    """Return how far a robot drove of which nobody tells that [m]: in a straight line, from where the deed
    began, or else from where the one before it ended."""
    if memory.pose is None:
        return 0.0
    if facts.began is not None:
        return distance((0.0, 0.0, 0.0), facts.began)
    metres = distance(before.pose.position, memory.pose.position) if before and before.pose else 0.0
    return metres if metres > DRIFT_M else 0.0


def _by_deeds(done: Sequence[Occurrence]) -> list[Occurrence]:
    """Return the times in which a robot's deeds, one after the other, were done in the same place."""
    of_robot: defaultdict[str, list[Occurrence]] = defaultdict(list)
    for act in done:
        came = not (act.failed and is_same_kind(act.facts.kind, 'go'))
        if act.facts.place and came:
            of_robot[act.memory.robot].append(act)
    found: list[Occurrence] = []
    for deeds in of_robot.values():
        last: Occurrence | None = None
        for act in deeds:
            same = last and last.facts.place == act.facts.place and act.start_ns - last.end_ns <= _APART_NS
            if last and same:
                last = replace(
                    last, end_ns=max(last.end_ns, act.end_ns), memories=(*last.memories, act.memory)
                )
                found[-1] = last
            else:
                facts = DeedFacts(kind=STAY, place=act.facts.place)
                if last and act.start_ns - last.end_ns <= _APART_NS:  # until it left
                    found[-1] = replace(last, end_ns=max(last.end_ns, act.start_ns))
                # Who drives there is not there yet.
                start_ns = act.end_ns if is_same_kind(act.facts.kind, 'go') else act.start_ns
                found.append(last := Occurrence(start_ns, act.end_ns, facts, (act.memory, act.memory)))
    return sorted(found, key=lambda act: (act.start_ns, act.end_ns))


def in_view(recall: Recall, now_ns: int, here: Pose | None, scope: Scope) -> tuple[str, FoundObjects]:
    """Return the objects in view, the nearest first, or else those seen last, with words for which; raises
    as find_deeds does. Of the scope the time does not count."""
    until = replace(scope, after_ns=None, before_ns=now_ns)
    lately, place = replace(until, after_ns=max(now_ns - IN_VIEW_NS, 0)), here.position if here else None
    found = recall.find_objects(ObjectQuery(missing=False, place=place, scope=lately, limit=MOST_IN_VIEW))
    if found.objects:
        return f'In view, {len(found.objects)} of {found.total}', found
    found = recall.find_objects(ObjectQuery(scope=until, limit=LAST_IN_VIEW))
    times = [thing.known.seen_within(None, now_ns)[-1][1] for thing in found.objects]
    since = f'for {format_duration((now_ns - max(times)) / NS)}; seen last' if times else 'so far'
    return f'No object in view {since}', found


def just_done(recall: Recall, now_ns: int, scope: Scope) -> tuple[str, list[Occurrence]]:
    """Return the deeds of the last minutes in the order of time, or else the last one, with words for which;
    raises as find_deeds does. Of the scope the time does not count."""
    occurrences, until = OccurrenceSource(recall), replace(scope, after_ns=None, before_ns=now_ns)
    lately = occurrences.deeds(replace(until, after_ns=max(now_ns - LATELY_NS, 0)))[-MOST_DONE:]
    done = lately or occurrences.deeds(until)[-1:]
    before = f'in the last {format_duration(LATELY_NS / NS)}; before that' if done else 'so far'
    return 'Just done' if lately else f'No deed {before}', done


def last_of_each(done: Iterable[Occurrence], *kinds: str) -> list[Occurrence]:
    """Return what was last done to each thing, of what did not fail and is of some kinds."""
    of_kind = (deed for deed in done if any(is_same_kind(deed.facts.kind, kind) for kind in kinds))
    carried = 'pick' in kinds  # from place to place; else things of one name in two places are two
    last = {
        deed.facts.object_id or (deed.facts.object.casefold(), carried or deed.facts.place.casefold()): deed
        for deed in of_kind
        if not deed.failed
    }
    return [*last.values()]


def hits_of(deeds: Iterable[Occurrence]) -> list[Hit]:
    """Return the memories that these rest on, each once."""
    return [Hit(memory, 1.0) for memory in {deed.memory.id: deed.memory for deed in deeds}.values()]
