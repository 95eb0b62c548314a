"""Questions about what a robot saw and did in a long trajectory, each with its clues, from the truth alone.

Only what has one answer is asked: of small things that alone are called so, and of furniture that alone has
its label in the home, or with its room, in that room.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from remembr_ros.simulation.homes.catalogue import ON_FLOOR, ON_FURNITURE, PAINTS
from remembr_ros.simulation.homes.day import WorkDay
from remembr_ros.simulation.homes.home import Item, centre_of, name_of
from remembr_ros.simulation.homes.world import Interaction

MOST = 4  # things that an answer has to name: nobody wants to hear of more
HOLDS = ('fridge', 'drawer', 'box', 'bowl')  # into which things are put; onto all others
FIFTHS = 5
HANDLED, OPENED = frozenset({'pick', 'place'}), frozenset({'open', 'close'})


@dataclass(frozen=True, slots=True)
class Needle:
    """A question, what is right, and where its clues lie.

    :param right: numbers of what an answer has to name, and of nothing else of their kind
    :param yes: what is right instead, of a question for yes or no
    :param number: the same of one for a number
    :param clues_ns: when each clue began, the oldest first; of what never was there are none
    """

    category: str
    text: str
    right: frozenset[int] = frozenset()
    yes: bool | None = None
    number: int | None = None
    clues_ns: tuple[int, ...] = ()


class NeedleTruth:
    """What is true of a trajectory.

    :ivar titles: what each thing is called that can be told from all others, by number
    :param seen_ns: when what is called so was first seen well enough to be named [ns]
    :param guests: numbers of the things that were there for a while only
    :ivar interactions: in the order of time
    :ivar rooms: in which room each piece of furniture stands
    """

    def __init__(self, day: WorkDay, seen_ns: Mapping[str, int], guests: Sequence[int] = ()) -> None:
        self.items, self.interactions = day.home.items, day.interactions
        self.guests, self.seen_ns = guests, seen_ns
        placed = day.home.visits[0].placements
        self.rooms = {
            item.number: next((r.name for r in day.home.rooms if r.holds(*centre_of(item, place)[:2])), '')
            for item in self.items
            if item.kind == 'furniture' and (place := placed.get(item.number))
        }
        names = Counter(self._calls(item) for item in self.items)
        labels = Counter(item.label for item in self.items if item.kind == 'furniture')
        self.alone = {number for number in self.rooms if labels[self.item(number).label] == 1}
        self.titles = {
            item.number: self._calls(item) if item.number not in self.alone else item.label
            for item in self.items
            if names[self._calls(item)] == 1
        }

    def item(self, number: int) -> Item:
        return self.items[number - 1]

    def needles(
        self, rng: random.Random, each: int, depth: Callable[[int], float]
    ) -> list[tuple[Needle, float | None]]:
        """Return questions, each with the depth of its oldest clue: so many of a category with one clue, and
        with several, in each fifth.

        :param depth: returns where in the trajectory a time lies, 0 to 1
        """
        groups: defaultdict[tuple[str, bool, int], list[tuple[Needle, float | None]]] = defaultdict(list)
        found = [one for make in _MAKE for one in make(self)]
        rng.shuffle(found)
        for one in found:
            at = depth(one.clues_ns[0]) if one.clues_ns else None
            fifth = FIFTHS if at is None else min(int(at * FIFTHS), FIFTHS - 1)
            groups[one.category, len(one.clues_ns) > 1, fifth].append((one, at))
        most = {FIFTHS: each * FIFTHS // 2}
        return [one for key, some in groups.items() for one in some[: most.get(key[2], each)]]

    @cached_property
    def moved(self) -> dict[int, list[tuple[Interaction, Interaction]]]:
        """Of each thing that has a title, each pick with the place that it was put to."""
        found: defaultdict[int, list[tuple[Interaction, Interaction]]] = defaultdict(list)
        held: dict[int, Interaction] = {}
        for one in self.interactions:
            if one.kind == 'pick':
                held[one.item] = one
            elif one.kind == 'place' and one.item in held and one.item in self.titles:
                found[one.item].append((held.pop(one.item), one))
        return found

    def under(self, needle: Needle) -> frozenset[int]:
        """Return what the things were on or in, of which a question is: who tells that is not wrong."""
        return frozenset(
            one.receptacle for one in self.interactions if one.start_ns in needle.clues_ns and one.receptacle
        )

    def on(self, number: int) -> str:
        """Return where a thing is that is on or in another one, in words."""
        return f'{"in" if self.item(number).label in HOLDS else "on"} the {self.titles[number]}'

    def _calls(self, item: Item) -> str:
        """Return what to call a thing: furniture with its room."""
        return (
            f'{item.label} in the {self.rooms[item.number]}' if item.number in self.rooms else name_of(item)
        )


def a(name: str) -> str:
    return f'{"an" if name[0] in "aeiou" else "a"} {name}'


def _either(number: int, *wordings: str) -> str:
    """Return one of some wordings: the same for the same thing."""
    return wordings[number % len(wordings)]


def _presence(truth: NeedleTruth) -> Iterator[Needle]:
    there = {
        name: truth.seen_ns[name]
        for number in truth.guests
        if (name := truth.titles.get(number, '')) in truth.seen_ns
    }
    names = {name_of(item) for item in truth.items}
    looks = [
        f'{colour} {label}' for label in (*ON_FURNITURE, *ON_FLOOR) if label != 'plant' for colour in PAINTS
    ]
    absent = [look for look in looks if look not in names]
    for i, name in enumerate([*there, *absent]):
        text = _either(i, 'Did you see {}?', 'Did you ever see {}?', 'Have you seen {} anywhere?')
        clues_ns = (there[name],) if name in there else ()
        yield Needle('presence', text.format(a(name)), yes=name in there, clues_ns=clues_ns)
    for (one, one_ns), (other, other_ns) in pairwise(there.items()):
        text = f'Did you see both {a(one)} and {a(other)}?'
        yield Needle('presence', text, yes=True, clues_ns=tuple(sorted((one_ns, other_ns))))


def _open(truth: NeedleTruth) -> Iterator[Needle]:
    last = {one.item: one for one in truth.interactions if one.kind in OPENED and one.item in truth.titles}
    for number, one in last.items():
        title, is_open = truth.titles[number], one.kind == 'open'
        for text, yes in (
            ('Is the {} open?', is_open),
            ('Did you leave the {} open?', is_open),
            ('Is the {} closed?', not is_open),
        ):
            yield Needle('open state', text.format(title), yes=yes, clues_ns=(one.start_ns,))
    left = frozenset(number for number, one in last.items() if one.kind == 'open')
    if left and all(one.item in last for one in truth.interactions if one.kind in OPENED):
        clues_ns = tuple(sorted(last[number].start_ns for number in left))
        yield Needle('open state', 'What did you leave open?', left, clues_ns=clues_ns)


def _location(truth: NeedleTruth) -> Iterator[Needle]:
    for number, moves in truth.moved.items():
        name, titled = truth.titles[number], [one for one in moves if one[0].receptacle in truth.titles]
        if len(moves) == len(titled) == 1:
            texts = 'From where did you pick the {}?', 'Where did you take the {} from?'
            pick = moves[0][0]
            text = _either(number, *texts).format(name)
            yield Needle('location', text, frozenset((pick.receptacle,)), clues_ns=(pick.start_ns,))
        targets = Counter(put.receptacle for _, put in moves)
        for pick, put in titled:
            if targets[put.receptacle] == 1 and put.receptacle in truth.titles:
                text = f'Where was the {name} before you put it {truth.on(put.receptacle)}?'
                clues_ns = (pick.start_ns, put.start_ns)
                yield Needle('location', text, frozenset((pick.receptacle,)), clues_ns=clues_ns)


def _action(truth: NeedleTruth) -> Iterator[Needle]:
    by_kind: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for one in truth.interactions:
        if one.kind not in HANDLED | OPENED:
            by_kind[one.kind].setdefault(one.item, one.start_ns)
    for kind, times_ns in by_kind.items():
        yield from _which('action', f'What did you {kind}?', times_ns, truth)
        labels = {truth.item(number).label for number in times_ns}
        for number in (n for n in truth.titles if truth.item(n).label in labels):
            clues_ns = (times_ns[number],) if number in times_ns else ()
            text = f'Did you {kind} the {truth.titles[number]}?'
            yield Needle('action', text, yes=bool(clues_ns), clues_ns=clues_ns)


def _put(truth: NeedleTruth) -> Iterator[Needle]:
    """Yield what was put into things, and onto others; and what is in small ones now."""
    put: defaultdict[int, dict[int, int]] = defaultdict(dict)
    now: dict[int, Interaction] = {}
    for one in truth.interactions:
        if one.kind in HANDLED:
            now[one.item] = one
        if one.kind == 'place' and one.receptacle in truth.titles:
            put[one.receptacle].setdefault(one.item, one.start_ns)
    for number, times_ns in put.items():
        category = 'content' if truth.item(number).label in HOLDS else 'put'
        yield from _which(category, f'What did you put {truth.on(number)}?', times_ns, truth)
        held = {item: one.start_ns for item, one in now.items() if one.receptacle == number}
        inside = {item: start_ns for item, start_ns in held.items() if now[item].kind == 'place'}
        if truth.item(number).kind == 'small':
            yield from _which(category, f'What is {truth.on(number)}?', inside, truth)


def _which(category: str, text: str, times_ns: Mapping[int, int], truth: NeedleTruth) -> Iterator[Needle]:
    """Yield a question for some things, if each can be told from others and they are not too many."""
    if 0 < len(times_ns) <= MOST and times_ns.keys() <= truth.titles.keys():
        yield Needle(category, text, frozenset(times_ns), clues_ns=tuple(sorted(times_ns.values())))


def _final(truth: NeedleTruth) -> Iterator[Needle]:
    for number, moves in truth.moved.items():
        at = moves[-1][1]
        text = _either(number, 'Where is the {}?', 'Where is the {} now?', 'Where can I find the {}?')
        if at.receptacle in truth.titles:
            right = frozenset((at.receptacle,))
            yield Needle('final state', text.format(truth.titles[number]), right, clues_ns=(at.start_ns,))


def _moves(truth: NeedleTruth) -> Iterator[Needle]:
    """Yield how often things were moved, of those that were carried in no other one."""
    inside, along = {}, set()
    for one in truth.interactions:
        if one.kind == 'place':
            inside[one.item] = one.receptacle
        elif one.kind == 'pick':
            along |= {item for item, carrier in inside.items() if carrier == one.item}
            inside.pop(one.item, None)
    for number, moves in truth.moved.items():
        text = _either(number, 'How many times did you move the {}?', 'How often did you move the {}?')
        clues_ns = tuple(pick.start_ns for pick, _ in moves)
        if number not in along:
            yield Needle('moves', text.format(truth.titles[number]), number=len(moves), clues_ns=clues_ns)


_MAKE = (_presence, _open, _location, _action, _put, _final, _moves)
