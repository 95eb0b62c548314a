"""Questions about what a robot saw and did in a long trajectory, each with its clues, from the truth alone.

Only what has one answer is asked: of small things that alone are called so, and of furniture that alone has
its label in the home, or with its room, in that room.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from remembr_bench.simulation.homes.day import WorkDay
from remembr_bench.simulation.homes.home import ACTIONS, Interaction, Item, centre_of, name_of
from remembr_bench.simulation.homes.home_simulator import room_of
from remembr_bench.simulation.homes.trajectory import other_looks
from remembr_ros.memory.objects.wording import with_article

MOST = 4  # things that an answer has to name: nobody wants to hear of more
HOLDS = ('fridge', 'drawer', 'box', 'bowl')  # into which things are put; onto all others
FIFTHS = 5


@dataclass(frozen=True, slots=True)
class Needle:
    """A question, what is right, and where its clues lie.

    :param right: numbers of what an answer has to name, and of nothing else of their kind
    :param yes: what is right instead, of a question for yes or no
    :param number: the same of one for a number
    :param clues_ns: when each clue began, the oldest first; of what never was there are none
    :param papers: the same as the paper asks it; empty: as wordings.py says it
    """

    category: str
    text: str
    right: frozenset[int] = frozenset()
    yes: bool | None = None
    number: int | None = None
    clues_ns: tuple[int, ...] = ()
    papers: str = ''


Asked = tuple[Needle, float | None]  # with the depth of its oldest clue; None: it has none


class NeedleTruth:
    """What is true of a trajectory.

    :param seen_ns: when each thing that was there for a while only was first seen, by its name [ns]
    :ivar rooms: in which room each piece of furniture stands, by number
    :ivar titles: what each thing is called that can be told from all others, by number
    """

    def __init__(self, day: WorkDay, seen_ns: Mapping[str, int]) -> None:
        self.items, self.interactions, self._seen_ns = day.home.items, day.interactions, seen_ns
        self.rooms = {
            number: room_of(day.home, *centre_of(self.item(number), place)[:2])
            for number, place in day.home.visits[0].placements.items()
            if self.item(number).kind == 'furniture'
        }
        called = {item.number: name_of(item) for item in self.items}
        labels = Counter(called[number] for number in self.rooms)
        called |= {n: f'{called[n]} in the {room}' for n, room in self.rooms.items() if labels[called[n]] > 1}
        names = Counter(called.values())
        self.titles = {number: name for number, name in called.items() if names[name] == 1}
        self._moved: defaultdict[int, list[tuple[Interaction, Interaction]]] = defaultdict(list)
        self._along: set[int] = set()  # what was carried in another thing
        self._lies: dict[int, Interaction] = {}  # what was put somewhere and is there still
        picked: dict[int, Interaction] = {}
        for interaction in self.interactions:
            if interaction.kind == 'pick':
                picked[interaction.item] = interaction
                self._lies.pop(interaction.item, None)
                self._along |= {
                    item for item, put in self._lies.items() if put.receptacle == interaction.item
                }
            elif interaction.kind == 'place':
                self._lies[interaction.item] = interaction
                self._moved[interaction.item].append((picked[interaction.item], interaction))

    def item(self, number: int) -> Item:
        return self.items[number - 1]

    def needles(self, rng: random.Random, each: int, depth: Callable[[int], float]) -> list[Asked]:
        """Return questions: so many of a category with one clue, and with several, in each fifth; of those
        without a clue as many as in half of the fifths.

        :param depth: returns where in the trajectory a time lies, 0 to 1
        """
        parts = self._presence(), self._states(), self._actions(), self._carried(), self._put()
        found = [one for part in parts for one in part]
        rng.shuffle(found)
        kept: list[Asked] = []
        taken = Counter[tuple[str, bool, int]]()
        for one in found:
            named = 0 < len(one.right) <= MOST and one.right <= self.titles.keys()
            if not named and one.yes is None and one.number is None:
                continue
            at = depth(one.clues_ns[0]) if one.clues_ns else None
            fifth = -1 if at is None else min(int(at * FIFTHS), FIFTHS - 1)
            taken[key := (one.category, len(one.clues_ns) > 1, fifth)] += 1
            if taken[key] <= (each * FIFTHS // 2 if at is None else each):
                kept.append((one, at))
        return kept

    def _presence(self) -> Iterator[Needle]:
        seen_ns = self._seen_ns
        absent = [f'{colour} {label}' for label, colour in other_looks(self.items)]
        for i, name in enumerate([*seen_ns, *absent]):
            text = _either(i, 'Did you see {}?', 'Did you ever see {}?', 'Have you seen {} anywhere?')
            yield _whether('presence', text.format(with_article(name)), seen_ns.get(name))
        for one, other in pairwise(seen_ns):
            text = f'Did you see both {with_article(one)} and {with_article(other)}?'
            clues_ns = tuple(sorted((seen_ns[one], seen_ns[other])))
            yield Needle('presence', text, yes=True, clues_ns=clues_ns)

    def _states(self) -> Iterator[Needle]:
        last = {
            interaction.item: interaction
            for interaction in self.interactions
            if interaction.kind in ('open', 'close')
        }
        left = {number: one.start_ns for number, one in last.items() if one.kind == 'open'}
        yield _which('open state', 'What did you leave open?', left)
        for number in last.keys() & self.titles.keys():
            for text in ('Is the {} open?', 'Did you leave the {} open?', 'Is the {} closed?'):
                yes, clues_ns = (number in left) != ('closed' in text), (last[number].start_ns,)
                yield Needle('open state', text.format(self.titles[number]), yes=yes, clues_ns=clues_ns)

    def _actions(self) -> Iterator[Needle]:
        for kind in ACTIONS:
            done = {
                interaction.item: interaction.start_ns
                for interaction in reversed(self.interactions)
                if interaction.kind == kind
            }
            yield _which('action', f'What did you {kind}?', done)
            labels = {self.item(number).label for number in done}
            for number, title in self.titles.items():
                if self.item(number).label in labels:
                    yield _whether('action', f'Did you {kind} the {title}?', done.get(number))

    def _carried(self) -> Iterator[Needle]:
        """Yield from where a thing was picked, where it is, and how often it was moved."""
        for number in self._moved.keys() & self.titles.keys():
            name, moves = self.titles[number], self._moved[number]
            targets = Counter(put.receptacle for _, put in moves)
            for pick, put in moves:
                right = frozenset((pick.receptacle,))
                text = _either(number, 'From where did you pick the {}?', 'Where did you take the {} from?')
                if len(moves) == 1:
                    yield Needle('location', text.format(name), right, clues_ns=(pick.start_ns,))
                if targets[put.receptacle] == 1 and put.receptacle in self.titles:
                    text = f'Where was the {name} before you put it {self._on(put.receptacle)}?'
                    yield Needle('location', text, right, clues_ns=(pick.start_ns, put.start_ns))
            last = moves[-1][1]
            under = self._lies.get(last.receptacle, last)  # it may have been carried since
            clues_ns = tuple(sorted({last.start_ns, max(last.start_ns, under.start_ns)}))
            text = _either(number, 'Where is the {}?', 'Where is the {} now?', 'Where can I find the {}?')
            source = moves[0][0].receptacle
            moved = f'Where did you move {name} from {self.titles[source]}?' if source in self.titles else ''
            yield Needle(
                'final state',
                text.format(name),
                frozenset((last.receptacle,)),
                clues_ns=clues_ns,
                papers=moved if len(moves) == 1 else '',
            )
            for place in sorted({last.receptacle, source} & self.titles.keys()):
                if ' in the ' in self.titles[place]:
                    continue  # two places in one question
                text, yes = f'Is the {name} {self._on(place)}?', place == last.receptacle
                yield Needle('final state', text, yes=yes, clues_ns=clues_ns)
            text = _either(number, 'How many times did you move the {}?', 'How often did you move the {}?')
            clues_ns = tuple(pick.start_ns for pick, _ in moves)
            if number not in self._along:
                yield Needle('moves', text.format(name), number=len(moves), clues_ns=clues_ns)

    def _put(self) -> Iterator[Needle]:
        """Yield what was put into things, and onto others; and what is in small ones now."""
        into: defaultdict[int, dict[int, int]] = defaultdict(dict)
        for interaction in self.interactions:
            if interaction.kind == 'place':
                into[interaction.receptacle].setdefault(interaction.item, interaction.start_ns)
        for number in into.keys() & self.titles.keys():
            category = 'content' if self.item(number).label in HOLDS else 'put'
            yield _which(category, f'What did you put {self._on(number)}?', into[number])
            inside = {item: put.start_ns for item, put in self._lies.items() if put.receptacle == number}
            if self.item(number).kind == 'small':
                yield _which(category, f'What is {self._on(number)}?', inside)

    def _on(self, number: int) -> str:
        """Return where a thing is that is on or in another one, in words."""
        return f'{"in" if self.item(number).label in HOLDS else "on"} the {self.titles[number]}'


def _either(number: int, *wordings: str) -> str:
    """Return one of some wordings: the same for the same thing."""
    return wordings[number % len(wordings)]


def _which(category: str, text: str, clues_ns: Mapping[int, int]) -> Needle:
    return Needle(category, text, frozenset(clues_ns), clues_ns=tuple(sorted(clues_ns.values())))


def _whether(category: str, text: str, clue_ns: int | None) -> Needle:
    return Needle(category, text, yes=clue_ns is not None, clues_ns=() if clue_ns is None else (clue_ns,))
