"""Where is it, and where was it: questions to a life whose truth is known, and verdicts on the answers."""

import re
from collections.abc import Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import Any

from remembr_bench.evaluation.objects.questions import NEAR_M
from remembr_bench.evaluation.stale.life import DAY_NS, NOW_NS, Stays, ThingStay
from remembr_bench.simulation.homes.home import Item, name_of
from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.times.day import WEEKDAYS
from remembr_ros.agent.times.time_window import AROUND_S
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import AGENT, CAPTIONER, OBJECT, PERSON, PLACE, Memory, Observation
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS, format_iso

WITHOUT = {'captions': (OBJECT,), 'objects': (CAPTIONER,), 'everything': ()}  # sources
VERDICTS, WAYS = ('right', 'stale', 'astray', 'silent'), ('planner', 'newest', 'most similar')
SURE, MOST = 0.5, 1000  # what is likelier is said for sure; memories of a window
StaleQuestion = tuple[str, Item, str, ThingStay, tuple[int, int]]
"""Text, thing, what told of it first, and last of where it is; the right stay, and when that was [ns]."""
_GONE = re.compile(r'\b(gone|missing|away|took|any more)\b')


def ask_life(stays: Stays, memories: Sequence[Memory]) -> Iterator[dict[str, Any]]:
    """Yield the questions to each kind of memory, the planner's answer, and the verdict on each way."""
    for kind, without in WITHOUT.items():
        some = [memory for memory in memories if memory.source not in without]
        with TemporaryDirectory() as folder, open_store(f'{folder}/memory.db', HashingEmbedder()) as store:
            store.add([Observation(memory) for memory in some])
            agent = Agent(store, [OfflinePlanner()])
            for text, item, case, right, window in questions(stays, some):
                answer, scope = agent.ask(Question(text, NOW_NS)), Scope(*window, without=(PLACE,))
                newest = [h for h in store.find(Query(scope=scope, limit=MOST)) if _is_about(h.memory, item)]
                similar = store.find(Query(text, scope=scope, limit=1))
                answers = zip(WAYS, (answer, _top(newest), _top(similar)), strict=True)
                verdicts = {way: verdict(one, item, right, stays[item]) for way, one in answers}
                about = {'memory': kind, 'case': case, 'question': text, 'answer': answer.text}
                yield {**about, 'right': right.place, **verdicts}


def questions(stays: Stays, memories: Sequence[Memory]) -> Iterator[StaleQuestion]:
    """Yield what can be known by these memories of things of which two stays can be."""
    for item, of_item in stays.items():
        places = [stay.place or of_item[-2].place for stay in of_item]  # of what is gone where it was
        told = [(s, sorted(_told(item, s, at, memories))) for s, at in zip(of_item, places, strict=True)]
        known = [(stay, tellings) for stay, tellings in told if tellings]
        cases = [f'{tellings[0][1]} then {known[-1][1][-1][1]}' for _, tellings in known[:-1]]
        if cases and known[-1][0] == of_item[-1]:
            yield f'Where is the {name_of(item)}?', item, f'now: {cases[-1]}', of_item[-1], (0, NOW_NS)
        for (stay, tellings), case in zip(known, cases, strict=False):
            for when, (low, high) in _times(tellings[0][0]):
                if [one for one in of_item if one.from_ns < high and one.to_ns > low] == [stay]:
                    yield f'Where was the {name_of(item)} {when}?', item, f'then: {case}', stay, (low, high)


def verdict(answer: Answer, item: Item, right: ThingStay, stays: Sequence[ThingStay]) -> str:
    """Return whether an answer is right, stale, astray (about another thing) or silent."""
    if right.place is None and _GONE.search(answer.text):
        return 'right'
    if answer.kind is not Kind.POSITION or answer.pose is None:
        return 'silent'
    unsure = answer.confidence <= SURE or (right.place is None and 'last seen' in answer.text)
    cited, at = answer.evidence[0].memory, answer.pose.position
    if cited.source == OBJECT:
        near = [stay for stay in stays if stay.place is not None and distance(stay.place, at) <= NEAR_M]
    else:
        near = [
            stay for stay in stays if _is_about(cited, item) and stay.from_ns <= cited.end_ns <= stay.to_ns
        ]
    if right in near:
        return 'right'
    return 'silent' if unsure else 'stale' if near else 'astray'


def _top(hits: Sequence[Hit]) -> Answer:
    for hit in hits[:1]:
        at, text = hit.memory.pose, hit.memory.caption
        return Answer(Kind.POSITION, text, '', pose=at, evidence=(hit,), confidence=1.0)
    return Answer(Kind.NOT_SEEN, '', '')


def _is_about(memory: Memory, item: Item) -> bool:
    return re.search(rf'\b{name_of(item)}\b', memory.caption, re.IGNORECASE) is not None


def _told(item: Item, stay: ThingStay, at: Point | None, by: Sequence[Memory]) -> Iterator[tuple[int, str]]:
    """Yield when a stay of a thing was known [ns], and what told of it."""
    for memory in by:
        spans: Sequence[tuple[int, int]] = [(memory.end_ns, memory.end_ns)]
        is_it = _is_about(memory, item)
        for known in known_objects([memory]):
            places = [known.position, *(place for move in known.moves for place in move[2:])]
            is_it = (known.name, known.facts.colour) == (item.label, item.colour)
            is_it &= at is not None and any(distance(place, at) <= NEAR_M for place in places)
            spans = known.facts.absences if stay.place is None else known.facts.intervals
        for first_ns, last_ns in spans if is_it else ():
            if max(first_ns, stay.from_ns) <= min(last_ns, stay.to_ns):
                yield max(first_ns, stay.from_ns), {AGENT: 'deed', PERSON: 'note'}.get(memory.source, 'seen')


def _times(ns: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield in which words to ask for a time, and the window that each of them means [ns]."""
    day_ns, minute_ns, around_ns = ns - ns % DAY_NS, ns - ns % (60 * NS), round(AROUND_S * NS)
    yield f'on {WEEKDAYS[(day_ns // DAY_NS + 3) % 7].title()}', (day_ns, day_ns + DAY_NS - 1)
    yield f'on {format_iso(ns)[:16].replace("T", " at ")}', (minute_ns - around_ns, minute_ns + around_ns)
    if NOW_NS // DAY_NS - ns // DAY_NS == 1:
        yield 'yesterday morning', (day_ns, day_ns + DAY_NS // 2)
