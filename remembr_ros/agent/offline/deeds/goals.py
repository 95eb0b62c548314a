"""Goals that refer to deeds: where the robot did it, or where the thing is now."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, choose
from remembr_ros.agent.model.relevance_model import PERHAPS
from remembr_ros.agent.offline.not_seen import SURE
from remembr_ros.agent.offline.reader.wish import GoalRequest, is_furniture, read_goal
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.memory.deeds.choice import choose_deeds
from remembr_ros.memory.deeds.handlings import is_same
from remembr_ros.memory.deeds.object_ids import REACH_M
from remembr_ros.memory.deeds.occurrences import OccurrenceSource
from remembr_ros.memory.deeds.query import HANDLING, STAY, DeedQuery, Occurrence, is_named
from remembr_ros.memory.deeds.verbs import base, kinds_meant
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import AGENT, Memory
from remembr_ros.memory.objects.known import TRANSIENT, KnownObject
from remembr_ros.memory.objects.query import ObjectQuery, is_meant
from remembr_ros.memory.objects.wording import described
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import NS

NEAR_M = 2.0  # of a thing without an id, what was done so near to one of its name was done to it
LATER_NS = 5 * NS  # after a deed a thing is seen where that left it
_PARTS = ('receptacle', 'object')
_STAYED = frozenset(map(base, word_class('stayed')))


def answer_goal(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return where a wish goes to that says what the robot did there, or to what; None: it says nothing such.

    :param scope: the time, the robots and the map that the wish is about
    :raises StoreUnavailable: there is no store
    """
    anytime = replace(scope, after_ns=None, before_ns=None)
    # Counted first: to parse a sentence loads a model, which takes longer than all the rest.
    if not recall.count(replace(anytime, source=AGENT)) or (asked := read_goal(request.plain)) is None:
        return None
    log, at_ns = _Log(recall, anytime), request.window.at_ns
    asked = read_goal(request.plain, log.names) or asked
    if asked.field == 'object' and asked.target and log.is_receptacle(asked.target):
        asked = replace(asked, field='receptacle')
    asked = _in_terms_of(log, asked, scope if at_ns is None else anytime)
    if asked is None:
        return None
    if asked.never and asked.query.kind == STAY:
        found = [deed.memory for deed in choose_deeds(replace(asked.query, never='place'), log).every]
    elif asked.never:
        found = _untouched(asked, _done(asked, log), log)
    else:
        distinct: list[Occurrence] = []
        for deed in _picked(asked, _done(asked, log), at_ns):
            distinct += [] if any(is_same(deed, other, asked.field) for other in distinct) else [deed]
        found = [log.where(deed, asked.field) for deed in distinct]
        if asked.sequence:
            found = [found[nth - 1] for nth in asked.sequence if 0 < nth <= len(found)]
    hits = [Hit(memory, 1.0) for memory in found if memory.pose is not None]
    tied = asked.often and asked.choice is Choice.CITED_FIRST and len(hits) > 1
    sure = PERHAPS if asked.unused or tied else SURE
    if not hits:  # of other deeds other rules may tell
        nothing = Claim(Kind.NOT_SEEN, 'I remember no such thing that I did.', confidence=sure)
        return None if asked.question else replace(nothing, unused=asked.unused)
    every = asked.choice in (Choice.EVERY, Choice.IN_ORDER)
    hits = hits if every else hits[::-1]
    chosen = hits if every else [choose(hits, asked.choice, question)]
    text = '; '.join(hit.memory.caption.rstrip('.') for hit in chosen)
    return Claim(Kind.POSITION, text, hits, choice=asked.choice, confidence=sure, unused=asked.unused)


class _Log:
    """What a robot did to things, which are called as they are known, too.

    :param scope: whose deeds count, on which map
    """

    def __init__(self, recall: Recall, scope: Scope) -> None:
        self._occurrences = OccurrenceSource(recall)
        self.known = [found.known for found in recall.find_objects(ObjectQuery(scope=scope)).objects]
        self._by_id = {name: known for known in self.known for name in (known.id, *known.facts.aliases)}
        self.done, self.places = self(DeedQuery(scope=scope)), self._occurrences.places
        self.names = {getattr(deed.facts, part) for deed in self.done for part in _PARTS}

    def __call__(self, query: DeedQuery) -> list[Occurrence]:
        """Return what did not fail; see query.Source."""
        return [self._named(deed) for deed in self._occurrences(query) if not deed.failed]

    def _named(self, deed: Occurrence) -> Occurrence:
        facts, names = deed.facts, dict[str, str]()
        for part in _PARTS:
            known, name = self._by_id.get(getattr(facts, f'{part}_id')), getattr(facts, part)
            if known is not None and not is_named(known.facts.colour, name):
                names[part] = f'{known.facts.colour} {name}'
        if not facts.receptacle and is_furniture(facts.object):  # which was opened
            names |= {'receptacle': facts.object, 'receptacle_id': facts.object_id}
        return replace(deed, facts=facts.model_copy(update=names))

    def is_receptacle(self, name: str) -> bool:
        """Tell whether things are put on or into what is called so, and it is not what is carried."""
        put, carried = ({getattr(deed.facts, part) for deed in self.done} - {''} for part in _PARTS)
        return any(is_named(name, deed) for deed in put) and not any(is_named(name, deed) for deed in carried)

    def where(self, deed: Occurrence, field: str) -> Memory:
        """Return where something was done; of the thing that it was done to, where that is now."""
        if field != 'object':
            at = [place for place in self.places.all if field == 'place' and deed.where in place.names]
            return at[0].memory if at and deed.facts.kind == STAY else deed.memory
        placed = [other for other in self.done if is_same(deed, other) and other.memory.pose is not None]
        last = placed[-1] if placed else deed
        memory, facts = last.memory, last.facts
        known = [one for one in self.known if is_meant(one, facts.object_id or facts.object)]
        if len(known) == 1 and memory.pose is not None:
            later = any(start_ns > memory.end_ns + LATER_NS for start_ns, _ in known[0].facts.intervals)
            if later and math.dist(known[0].position[:2], memory.pose.position[:2]) > REACH_M:
                return known[0].memory
        return memory


def _in_terms_of(log: _Log, asked: GoalRequest, scope: Scope) -> GoalRequest | None:
    """Return a wish for deeds in a scope, of kinds and in rooms that there are; None: there is none."""
    query, kinds = asked.query, {HANDLING, 'pick', 'place', *(deed.facts.kind for deed in log.done)}
    rooms, unknown = [name for place in log.places.all for name in place.names], list[str]()
    if asked.field == 'place' and base(query.kind) in _STAYED and not query.object:
        query = replace(query, kind=STAY)
    elif not kinds_meant(query.kind, kinds):
        return None
    elif query.kind == HANDLING and asked.field == 'receptacle':
        query = replace(query, kind='')

    def known(said: DeedQuery) -> DeedQuery:
        if said is not query and not kinds_meant(said.kind, kinds):
            unknown.append(said.kind)
        receptacle, _, room = said.receptacle.rpartition(' in the ')
        if room and any(is_named(room, name) for name in rooms):
            said = replace(said, place=room, receptacle=receptacle)  # 'put on the table in the kitchen'
        return replace(said, scope=scope, kind=HANDLING if said.kind in unknown else said.kind)

    after, before = (side and known(side) for side in (query.after, query.before))
    query = replace(known(query), after=after, before=before)
    return replace(asked, query=query, unused=(*asked.unused, *unknown))


def _done(asked: GoalRequest, log: _Log) -> list[Occurrence]:
    """Return what was done to what may be meant, in the order of time."""
    query, field = asked.query, asked.field
    every = choose_deeds(query, log).every
    if not every and query.after and query.before:  # whichever came first
        every = choose_deeds(replace(query, after=query.before, before=query.after), log).every
    named = [(deed, field == 'place' or getattr(deed.facts, field)) for deed in every]
    return [deed for deed, name in named if name and (name is True or asked.never or _is_so(asked, name))]


def _is_so(asked: GoalRequest, name: str) -> bool:
    of_name = not asked.target or is_named(asked.target, name)
    return of_name and (not asked.any_of or any(is_named(other, name) for other in asked.any_of))


def _picked(asked: GoalRequest, done: Sequence[Occurrence], at_ns: int | None) -> Sequence[Occurrence]:
    """Return those that are meant among all that were done: to a thing, so many times."""
    query, (least, most) = asked.query, asked.times
    if asked.often or asked.times != (1, None):
        times = [sum(is_same(deed, other, asked.field) for other in done) for deed in done]
        if asked.often:
            least = most = (max if asked.often > 0 else min)(times, default=1)
        done = [deed for deed, count in zip(done, times, strict=True) if least <= count <= (most or count)]
    if query.kind == STAY and at_ns is None:  # all stays in a room are one
        seconds: Counter[str] = Counter()
        for deed in done:
            seconds[deed.facts.place] += round(deed.seconds)
        last = {deed.facts.place: deed for deed in done}
        done = [replace(deed, spent_ns=seconds[place] * NS) for place, deed in last.items()]
    return choose_deeds(DeedQuery(order=query.order, nth=query.nth, at_ns=at_ns), lambda _: done).found


def _untouched(asked: GoalRequest, done: Sequence[Occurrence], log: _Log) -> list[Memory]:
    """Return the things to which none of these was done."""
    to_receptacle = asked.field == 'receptacle'
    return [
        known.memory
        for known in log.known
        if known.missing_ns is None
        and known.name not in TRANSIENT
        and _is_so(asked, f'{described(known)} {known.recognised_as}')
        and (log.is_receptacle(known.name) or is_furniture(known.name)) == to_receptacle
        and (to_receptacle or not is_named('lamp', known.name))
        and not any(_done_to(deed, known, asked.field) for deed in done)
    ]


def _done_to(deed: Occurrence, known: KnownObject, field: str) -> bool:
    name, id_ = getattr(deed.facts, field), getattr(deed.facts, f'{field}_id')
    poses = [memory.pose for memory in deed.memories if memory.pose is not None]
    near = any(math.dist(pose.position[:2], known.position[:2]) <= NEAR_M for pose in poses)
    return bool(id_ or (name and near)) and is_meant(known, id_ or name)
