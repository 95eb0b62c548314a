"""Where is it, and where was it: questions of which it is known what a robot could know, asked and judged."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from tempfile import TemporaryDirectory

from remembr_bench.evaluation.stale.life import DAY_NS, HOUR_NS, HomeLife, Stay
from remembr_bench.simulation.homes.home import Item, name_of
from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import distance
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import AGENT, OBJECT, PERSON, PLACE, Memory, Observation
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS, format_iso

KINDS = {'captions': (OBJECT,), 'objects': ('captioner',), 'everything': ()}
"""Which sources each memory is without."""
PLANNER, NEWEST, SIMILAR = WAYS = ('planner', 'newest', 'most similar')
SURE = 0.5  # what is more likely than this is said for sure
NEAR_M = 0.5  # so near to where a thing is an object is that thing
MOST = 1000  # memories in a window
_GONE = re.compile(r'\b(gone|missing|away|last seen|took|taken|any more|not there|empty)\b', re.IGNORECASE)
_WEEKDAYS = ('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday')


@dataclass(frozen=True, slots=True)
class StaleQuestion:
    """A question about a thing that was moved or taken away.

    :param case: what told first of where it was before, and of where it is
    :param then: it is about a time before
    :param right: the stay that it is about
    :param window: first and last moment that it is about [ns]
    """

    text: str
    item: Item
    case: str
    then: bool
    right: Stay
    window: tuple[int, int]


@dataclass(frozen=True, slots=True)
class StaleAnswer:
    """What was answered to a question, and whether that is right, stale, astray or silent."""

    memory: str
    way: str
    question: StaleQuestion
    text: str
    verdict: str


def ask_life(life: HomeLife) -> Iterator[StaleAnswer]:
    """Yield the answers to all questions, of each kind of memory, by the planner and by what is simpler."""
    for kind, without in KINDS.items():
        memories = [_known_by(memory, without) for memory in life.memories if memory.source not in without]
        with (
            TemporaryDirectory(prefix='remembr_stale_') as folder,
            open_store(f'{folder}/memory.db', HashingEmbedder()) as store,
        ):
            store.add([Observation(memory) for memory in memories])
            agent = Agent(store, [OfflinePlanner()])
            for question in questions(life, memories):
                for way in WAYS:
                    answer = _answer(way, question, life, agent, store)
                    found = verdict(answer, question, life.stays[question.item.number])
                    yield StaleAnswer(kind, way, question, answer.text, found)


def questions(life: HomeLife, memories: Sequence[Memory]) -> Iterator[StaleQuestion]:
    """Yield what a robot with these memories can know of things that it knew at several places."""
    for number, item in life.items.items():
        stays, name = life.stays[number], name_of(item)
        told = [(stay, _first(item, stay, memories)) for stay in stays]
        known = [(stay, *first) for stay, first in told if first is not None]
        for (before, _, source), (stay, _, newest) in [*pairwise(known)][-1:]:
            if stay == stays[-1] and before.place is not None:
                case = f'{source} then {newest}'
                yield StaleQuestion(f'Where is the {name}?', item, case, False, stay, (0, life.now_ns))
        for stay, ns, source in known[:-1]:
            for when, window in _times(ns, life.now_ns) if stay.place is not None else ():
                alone = sum(one.from_ns < window[1] and one.to_ns > window[0] for one in stays)
                if alone == 1:
                    text, case = f'Where was the {name} {when}?', f'{source} then {known[-1][2]}'
                    yield StaleQuestion(text, item, case, True, stay, window)


def verdict(answer: Answer, question: StaleQuestion, stays: Sequence[Stay]) -> str:
    """Return whether an answer is right, stale, astray (about another thing) or silent."""
    gone, right = bool(_GONE.search(answer.text)), question.right
    if right.place is None and gone:
        return 'right'
    if answer.kind is not Kind.POSITION or not answer.evidence or answer.pose is None:
        return 'silent'
    memory, at = answer.evidence[0].memory, answer.pose.position
    if memory.source == OBJECT:
        near = [stay for stay in stays if stay.place is not None and distance(stay.place, at) <= NEAR_M]
    else:
        is_named = _names(memory.caption, question.item)
        near = [stay for stay in stays if is_named and stay.holds(memory.end_ns)]
    if right in near:
        return 'right'
    if answer.confidence <= SURE:
        return 'silent'
    return 'stale' if near else 'astray'


def _answer(way: str, question: StaleQuestion, life: HomeLife, agent: Agent, store: MemoryStore) -> Answer:
    if way == PLANNER:
        return agent.ask(Question(question.text, life.now_ns))
    scope = Scope(*question.window, without=(PLACE,))
    if way == NEWEST:
        hits = store.find(Query(scope=scope, limit=MOST))
        hits = [hit for hit in hits if _names(hit.memory.caption, question.item)]
        hits.sort(key=lambda hit: hit.memory.end_ns, reverse=True)
    else:
        hits = store.find(Query(question.text, scope=scope, limit=1))
    return _top(hits)


def _top(hits: Sequence[Hit]) -> Answer:
    if not hits:
        return Answer(Kind.NOT_SEEN, '', '')
    memory = hits[0].memory
    return Answer(Kind.POSITION, memory.caption, '', pose=memory.pose, evidence=(*hits[:1],), confidence=1.0)


def _known_by(memory: Memory, without: Sequence[str]) -> Memory:
    """Return a memory as one without objects has it: nothing has an id there."""
    if OBJECT not in without or memory.source != AGENT:
        return memory
    return replace(memory, facts={k: v for k, v in memory.facts.items() if not k.endswith('_id')})


def _names(text: str, item: Item) -> bool:
    return re.search(rf'\b{name_of(item)}\b', text, re.IGNORECASE) is not None


def _first(item: Item, stay: Stay, memories: Sequence[Memory]) -> tuple[int, str] | None:
    """Return when a stay of a thing was known first [ns] and what told of it; None: nothing did."""
    found = []
    for memory in memories:
        if memory.source == OBJECT:
            found += [(ns, 'object') for ns in _sights(memory, item, stay)]
        elif _names(memory.caption, item) and stay.holds(memory.start_ns) and stay.holds(memory.end_ns):
            found.append((memory.end_ns, {AGENT: 'deed', PERSON: 'note'}.get(memory.source, 'caption')))
    return min(found, default=None)


def _sights(memory: Memory, item: Item, stay: Stay) -> Iterator[int]:
    """Yield when an object was known to be what a thing is in a stay, or missing where it is gone from."""
    [known] = known_objects([memory])
    if (known.name, known.facts.colour) != (item.label, item.colour):
        return
    if stay.place is None:
        missing_ns = known.missing_ns
        if missing_ns is not None and stay.holds(missing_ns):
            yield missing_ns
        return
    places = [known.position, *(place for move in known.moves for place in move[2:])]
    if any(distance(place, stay.place) <= NEAR_M for place in places):
        for first_ns, last_ns in known.facts.intervals:
            if max(first_ns, stay.from_ns) <= min(last_ns, stay.to_ns):
                yield max(first_ns, stay.from_ns)


def _times(ns: int, now_ns: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield in which words to ask for a time, and the window that each of them means."""
    day_ns, minute_ns = ns - ns % DAY_NS, ns - ns % (60 * NS)
    clock = format_iso(ns)
    yield f'on {_WEEKDAYS[(day_ns // DAY_NS + 3) % 7]}', (day_ns, day_ns + DAY_NS - 1)
    yield f'on {clock[:10]} at {clock[11:16]}', (minute_ns, minute_ns + 60 * NS - 1)
    if now_ns - now_ns % DAY_NS - day_ns == DAY_NS:
        yield 'yesterday morning', (day_ns + 6 * HOUR_NS, day_ns + 12 * HOUR_NS)
