"""Questions to a home whose truth is known, and whether the answers to them are right."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from remembr_bench.evaluation.objects.measure import knowable
from remembr_bench.evaluation.objects.run import Course, RemembrRule
from remembr_bench.simulation.homes.home import Home, Item, centre_of, name_of
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.memory.objects.wording import plural
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS, format_iso

A_HOME, TIMEOUT_S = 60, 60.0  # questions, and for an answer
NEAR_M = 0.5  # how far off a place may be
LATER_NS = 120 * NS  # and a time
PART = 0.8  # of a list of changes has to be right, and of what is right in it
BESIDE_M, APART_M = 0.3, 0.8  # what is nearer is next to a thing; what is further away is not
LEVEL = 0.6  # of the lower one of two things has to be as high as the other one
_TRAY_M = 0.8  # what is lower than this is in a drawer


@dataclass(frozen=True, slots=True)
class HomeQuestion:
    """A question to a home, and what is right.

    :param kind: what it asks
    :param place: where that is [m]
    :param time_ns: when that was
    :param yes: whether it is so
    :param items: of a list: numbers of the items that have to be in it
    :param also: numbers of items that may be in it
    :param number: how many there are
    :param part: of the list that has to be right
    """

    kind: str
    text: str
    place: Point | None = None
    time_ns: int | None = None
    yes: bool | None = None
    items: frozenset[int] | None = None
    also: frozenset[int] = frozenset()
    number: int | None = None
    part: float = 1.0


class HomeTruth:
    """What is true of a home after its last visit, as far as a robot could know.

    :param course: of a robot through it
    """

    def __init__(self, home: Home, course: Course) -> None:
        self._home, self._course = home, course
        self._sure, self._others = (
            {item.number: item for item in some}
            for some in knowable(home, course.shown, len(home.visits) - 1)
        )
        looks = Counter((item.label, item.colour) for item in home.items)
        small = [item for item in home.items if item.kind == 'small' and item.label != 'plant']
        self._alone = [item for item in small if looks[item.label, item.colour] == 1]
        self._now = home.visits[-1].placements
        # By item, the visits before which it was moved or taken away.
        self._changes = {
            item.number: [
                at
                for at in range(1, len(home.visits))
                if item.number in home.visits[at - 1].placements
                and home.visits[at].placements.get(item.number) != home.visits[at - 1].placements[item.number]
            ]
            for item in home.items
        }

    def questions(self, rng: random.Random) -> list[HomeQuestion]:
        """Return so many as are asked in a home, of each kind about as many."""
        asked = [
            list(questions)
            for questions in (
                *(self._where(), self._how_many(), self._lists(), self._beside()),
                *(self._when(), self._before(), self._still(), self._changed()),
            )
        ]
        for some in asked:
            rng.shuffle(some)
        return [question for question in chain.from_iterable(zip_longest(*asked)) if question][:A_HOME]

    def right(self, asked: HomeQuestion, answer: Answer) -> bool:
        """Tell whether an answer is right."""
        if asked.place is not None:
            near = answer.pose is not None and distance(answer.pose.position, asked.place) <= NEAR_M
            return near and answer.kind.value == 'position'
        if asked.time_ns is not None:
            return answer.time_ns is not None and abs(answer.time_ns - asked.time_ns) <= LATER_NS
        if asked.yes is not None:
            return answer.binary is asked.yes
        cited = [self._items(hit.memory) for hit in answer.evidence]
        if asked.number is not None:
            return (0 if ' none ' in answer.text else len(cited)) == asked.number
        items = asked.items or frozenset()
        named = sum(any(number in numbers for numbers in cited) for number in items)
        wrong = sum(numbers.isdisjoint(items | asked.also) for numbers in cited)
        return named >= asked.part * len(items) and wrong <= (1.0 - asked.part) * len(cited)

    def _items(self, memory: Memory) -> frozenset[int]:
        """Return what an object may be: what is, or was, at its place."""
        [known] = known_objects([memory])
        return frozenset(
            number
            for visit in self._home.visits
            for number, place in visit.placements.items()
            if (item := self._home.items[number - 1]).label == known.name
            and distance(centre_of(item, place), known.position) <= NEAR_M
        )

    def _where(self) -> Iterator[HomeQuestion]:
        for item in self._alone:
            if item.number in self._sure:
                yield HomeQuestion('where', f'Where is the {name_of(item)}?', self._at(item))

    def _how_many(self) -> Iterator[HomeQuestion]:
        for label in sorted({item.label for item in self._sure.values()}):
            alike = [item.number for item in self._home.items if item.label == label]
            there = [number for number in alike if number in self._sure]
            if all(number in self._sure or self._is_known_gone(number) for number in alike):
                yield HomeQuestion('how many', f'How many {plural(label)} are there?', number=len(there))

    def _lists(self) -> Iterator[HomeQuestion]:
        """Yield what is on and in furniture."""
        labels = {
            item.label for item in self._home.items if item.kind == 'furniture' and item.label != 'lamp'
        }
        for label in sorted(labels):
            anchors = frozenset(item.number for item in self._home.items if item.label == label)
            if not anchors <= self._sure.keys():
                continue
            for name in {'fridge': ('in',), 'drawer': ('in', 'on')}.get(label, ('on',)):
                carried = [
                    number
                    for number, place in self._now.items()
                    if place.receptacle in anchors
                    and (label != 'drawer' or (place.origin[2] < _TRAY_M) == (name == 'in'))
                ]
                items = frozenset(number for number in carried if number in self._sure)
                doubtful = frozenset(carried) | anchors | self._unnoticed()
                yield HomeQuestion('what is on', f'What is {name} the {label}?', items=items, also=doubtful)
                for item in self._alone:
                    if item.number in self._sure:
                        asked = f'Is the {name_of(item)} {name} the {label}?'
                        yield HomeQuestion('what is on', asked, yes=item.number in items)

    def _beside(self) -> Iterator[HomeQuestion]:
        labels = Counter(item.label for item in self._home.items)
        for anchor in self._sure.values():
            if anchor not in self._alone and labels[anchor.label] > 1:
                continue
            items = {
                n for n, one in self._sure.items() if n != anchor.number and self._is_beside(one, anchor)
            }
            near = {n for n in self._now if self._gap(self._home.items[n - 1], anchor) <= APART_M}
            also = frozenset(near | {anchor.number}) | self._unnoticed()
            if items:
                asked = f'What is next to the {name_of(anchor)}?'
                yield HomeQuestion('next to', asked, items=frozenset(items), also=also)

    def _when(self) -> Iterator[HomeQuestion]:
        for item in self._alone:
            seen_ns = int(self._course.seen_ns[item.number])
            if item.number in self._sure:
                yield HomeQuestion('when', f'When did you last see the {name_of(item)}?', time_ns=seen_ns)

    def _before(self) -> Iterator[HomeQuestion]:
        for item in self._alone:
            changes = self._changes[item.number]
            if changes and item.number in self._sure and item.number in self._course.changed[changes[-1]]:
                place = self._home.visits[changes[-1] - 1].placements[item.number]
                yield HomeQuestion('before', f'Where was the {name_of(item)} before?', centre_of(item, place))

    def _still(self) -> Iterator[HomeQuestion]:
        for item in self._alone:
            text = f'Is the {name_of(item)} still there?'
            if item.number in self._sure and not self._changes[item.number]:
                yield HomeQuestion('still', text, yes=True)
            elif item.number not in self._now and self._is_known_gone(item.number):
                yield HomeQuestion('still', text, yes=False)

    def _changed(self) -> Iterator[HomeQuestion]:
        if len(self._home.visits) < 2:
            return
        before, last = self._home.visits[-2:]
        known = {
            item.number
            for item in knowable(self._home, self._course.shown[:-1], len(self._home.visits) - 2)[0]
        }
        still = {number for number in known if before.placements[number] == last.placements.get(number)}
        also = frozenset(item.number for item in self._home.items) - still
        changed = self._course.changed[-1]
        moved, gone = (frozenset(n for n in changed if (n in self._now) == there) for there in (True, False))
        since = format_iso(last.start_ns - 60 * NS)[:16].replace('T', ' ')
        for text, items in (
            ('What changed since the last visit?', moved | gone),
            (f'What has changed since {since}?', moved | gone),
            (f'What was moved since {since}?', moved),
            (f'What is missing since {since}?', gone),
        ):
            yield HomeQuestion('changes', text, items=items, also=also, part=PART)

    def _is_known_gone(self, number: int) -> bool:
        """Tell whether an item is gone, and that could be known; also if nobody could ever see it."""
        changes = self._changes[number]
        seen = sum(int(frames[number]) for frames in self._course.shown)
        return number not in self._now and (
            not seen or bool(changes and number in self._course.changed[changes[-1]])
        )

    def _unnoticed(self) -> frozenset[int]:
        """Return what may still be believed to be where it was, or where it is nobody could surely know."""
        gone = {item.number for item in self._home.items if item.number not in self._now}
        return frozenset(self._others) | {number for number in gone if not self._is_known_gone(number)}

    def _at(self, item: Item) -> Point:
        return centre_of(item, self._now[item.number])

    def _gap(self, one: Item, other: Item) -> float:
        """Return how far apart the boxes of two items are in the plane [m]."""
        half = (np.array(one.size) + np.array(other.size)) / 2.0
        off = np.abs(np.array(self._at(one)) - np.array(self._at(other))) - half
        return float(np.hypot(*np.maximum(off[:2], 0.0)))

    def _is_beside(self, one: Item, other: Item) -> bool:
        """Tell whether two items are surely next to each other: near, in one room, and on one level."""
        carried = {one.number, other.number} & {self._now[n].receptacle for n in (one.number, other.number)}
        (z, low), (z_2, low_2) = ((self._at(item)[2], item.size[2] / 2.0) for item in (one, other))
        shared = min(z + low, z_2 + low_2) - max(z - low, z_2 - low_2)
        level = shared >= LEVEL * 2.0 * min(low, low_2)
        rooms = [
            room
            for room in self._home.rooms
            if room.holds(*self._at(one)[:2]) and room.holds(*self._at(other)[:2])
        ]
        return not carried and level and bool(rooms) and self._gap(one, other) <= BESIDE_M


def ask_home(home: Home, course: Course) -> list[tuple[str, str, str, bool]]:
    """Ask the questions to a home, by rules alone, of a memory that holds what a robot came to know.

    :param course: of this project's rule, through all visits
    :return: of each question its kind, text, answer, and whether that is right
    """
    assert isinstance(course.rule, RemembrRule)  # nobody else's can be asked
    truth, planner = HomeTruth(home, course), OfflinePlanner()
    now_ns, rows = int(course.seen_ns.max()) + LATER_NS, []
    with TemporaryDirectory() as folder:
        store = open_store(str(Path(folder) / 'home.db'), HashingEmbedder())
        try:
            store.add([Observation(memory) for memory in course.rule.memories()])
            for question in truth.questions(random.Random(home.seed)):
                answer = planner.answer(
                    Question(question.text, now_ns), store, Run(time.monotonic() + TIMEOUT_S)
                )
                rows.append((question.kind, question.text, answer.text, truth.right(question, answer)))
        finally:
            store.close()
    return rows
