"""18 questions about each of two homes that compare, group or leave out; the simulator tells what is true."""

from collections import Counter
from dataclasses import dataclass
from math import dist

from remembr_bench.evaluation.findingdory.episode import ROBOT, HomeEpisode, relive
from remembr_bench.simulation.homes.day import WorkDay, generate_day
from remembr_bench.simulation.homes.home import Interaction, name_of
from remembr_bench.simulation.homes.trajectory import STEP_S, generate_trajectory
from remembr_bench.simulation.simulator import SimulatedThing
from remembr_ros.memory.model.record import OBJECT, memory_id
from test.unit.agent.compared_month import Compared, each, least, most, of

TIDY, BUSY, STEPS = 731, 873, 600  # seeds: of a day and of a trajectory


@dataclass(frozen=True)
class LivedHome:
    """A home after what a robot did there, and what is true of it and of that."""

    day: WorkDay
    episode: HomeEpisode

    def things(self, name: str) -> list[SimulatedThing]:
        """Return the things of a name or label that the robot knows."""
        things = self.episode.simulator.things.values()
        return [one for one in things if one.id in self.episode.truth.known and name in (one.label, one.name)]

    def rooms(self, label: str) -> Counter[str]:
        """Return how many things of a label are in each room where any is."""
        return Counter(one.room for one in self.things(label))

    def without(self, label: str) -> set[str]:
        return {*self.episode.simulator.rooms} - {*self.rooms(label)}

    def deeds(self, kind: str, thing: str = '') -> list[Interaction]:
        return [one for one in self.day.interactions if one.kind == kind and self.called(one).endswith(thing)]

    def called(self, deed: Interaction) -> str:
        return name_of(self.day.home.items[deed.item - 1])

    def begins(self, kind: str, *things: str) -> dict[str, int]:
        """Return when that was first done to each of some things."""
        return {thing: self.deeds(kind, thing)[0].start_ns for thing in things}

    def done(self, kind: str, thing: str = '') -> Counter[str]:
        return Counter(map(self.called, self.deeds(kind, thing)))

    def lasts(self, *deeds: tuple[str, str]) -> list[int]:
        """Return how long each took, of a kind and with a thing, all in all [ns]."""
        return [sum(one.end_ns - one.start_ns for one in self.deeds(*deed)) for deed in deeds]

    def away(self, *names: str, other: str = '') -> dict[str, float]:
        """Return how far things are from another one, or from the robot [m]."""
        x, y, _ = self.things(other)[0].position if other else self.episode.truth.here.position
        return {name: dist(self.things(name)[0].position[:2], (x, y)) for name in names}

    def seen_ns(self, name: str) -> int:
        ids = {memory_id(ROBOT, OBJECT, 0, one.id) for one in self.things(name)}
        return min(one.start_ns for one in self.episode.memories if one.id in ids)


def tidy() -> tuple[LivedHome, list[Compared]]:
    """Return a home in which things were put elsewhere on one day, one room of which was not entered."""
    home = LivedHome(day := generate_day(TIDY), relive(day))
    stays, candles, moved = home.episode.truth.stays_s, home.rooms('candle'), home.done('place')
    carried = {one: sum(home.lasts(('pick', one), ('place', one))) for one in ('green cup', 'white cup')}
    return home, [
        of('more', 'Are there more candles than bottles', yes=candles.total() > home.rooms('bottle').total()),
        of('more', 'Is the sofa older than the fridge?', untold='old|age'),
        of('first', 'What did you carry first, the white cup or the red clock?',
           **least(home.begins('pick', 'white cup', 'red clock'))),
        of('first', 'Did you see the sofa before the fridge?',
           yes=home.seen_ns('sofa') < home.seen_ns('fridge')),
        of('nearer', 'Which is closer to you, the fridge or the sofa?', **least(home.away('fridge', 'sofa'))),
        of('nearer', 'is the blue book nearer to the fridge than the red clock?',
           yes=least(home.away('blue book', 'red clock', other='fridge'))['wins'] == 'blue book'),
        of('nearer', 'Is the piano nearer to you than the fridge?', untold='piano'),
        of('longer', 'Were you longer in the kitchen or the living room?',
           **most({room: stays[room] for room in ('kitchen', 'living room')})),
        of('longer', 'Did carrying the green cup take you longer than carrying the white cup?',
           yes=carried['green cup'] > carried['white cup']),
        of('most', 'Which room has the most candles?', **most(candles, 'candles')),
        of('most', 'Which thing did you move most often?', **most(moved, 'times')),
        of('each', 'How many tables are there per room?', groups=each(home.rooms('table'))),
        of('each', 'In each room, how many things did you put down?',
           groups=each(Counter(one.room for one in home.deeds('place')))),
        of('not', 'Which rooms have no sofa?', *home.without('sofa'), lacks=[*home.rooms('sofa')]),
        of('not', 'Which room were you never in?', *({*home.episode.simulator.rooms} - {*stays}),
           lacks=[*stays]),
        of('not', 'Did you never touch the red clock?', 'pick|put|moved|carried|touched',
           lacks=['never touched', 'not touch'] if moved['red clock'] else ['picked']),
        of('except', 'Which rooms except the living room have a candle?', *({*candles} - {'living room'}),
           lacks=home.without('candle')),
        of('except', 'What did you carry apart from the cups?', *({*moved} - {*carried}), lacks=['cup']),
    ]  # fmt: skip


def busy() -> tuple[LivedHome, list[Compared]]:
    """Return a home in which much was done within an hour."""
    day = generate_trajectory(BUSY, STEPS).day
    home = LivedHome(day, relive(day, frames=1, rate_hz=1.0 / STEP_S))
    stays, stools, books = home.episode.truth.stays_s, home.rooms('stool'), home.done('place', 'book')
    bottle, vase = home.lasts(('fill', 'red bottle'), ('fill', 'white vase'))
    clocks, opened = home.done('place', 'clock'), home.done('open')
    return home, [
        of('more', 'moved more books or clocks?', **most({'book': books.total(), 'clock': clocks.total()})),
        of('more', 'Are there fewer stools than apples?', yes=stools.total() < home.rooms('apple').total()),
        of('more', 'Was the red bottle fuller than the white vase?', untold='full'),
        of('first', 'What did you open first, the fridge or the drawer?',
           **least(home.begins('open', 'fridge', 'drawer'))),
        of('first', 'Did you fill the red bottle before you filled the white vase?',
           yes=least(home.begins('fill', 'red bottle', 'white vase'))['wins'] == 'red bottle'),
        of('nearer', "What's farther from you, the sofa or the fridge?", **most(home.away('sofa', 'fridge'))),
        of('nearer', 'Which is closer, the trampoline or the sofa?', untold='trampoline'),
        of('longer', 'Did filling the red bottle take longer than the white vase?', yes=bottle > vase),
        of('longer', 'Where were you longer, in the kitchen or in the bedroom?',
           **most({room: stays[room] for room in ('kitchen', 'bedroom')})),
        of('most', 'Which room has the most stools?', **most(stools, 'stools')),
        of('most', 'What did you move around the most?', **most(home.done('place'), 'times')),
        of('each', 'How many stools per room?', groups=each(stools)),
        of('each', 'How many times did you move each book?', groups=each(books)),
        of('not', 'Which rooms have no stool?', *home.without('stool'), lacks=[*stools]),
        of('not', 'Which of the clocks did you never move?',
           *({one.name for one in home.things('clock')} - {*clocks}), lacks=[*clocks]),
        of('not', 'Did you never slice an apple?', "never|no |not|n't",
           lacks=['never', 'not '] if home.deeds('slice') else ['sliced the']),
        of('except', 'other than the fridge what did you open', *({*opened} - {'fridge'}), lacks=['fridge']),
        of('except', 'Which rooms but the living room have a stool?', *({*stools} - {'living room'}),
           lacks=home.without('stool')),
    ]  # fmt: skip


HOMES = {'tidy': tidy, 'busy': busy}
