"""A made-up trajectory: a home, what a robot did there, and what it remembers, without a simulation."""

import random
from dataclasses import dataclass

from remembr_bench.evaluation.needles.questions import NeedleTruth
from remembr_bench.simulation.homes.day import WorkDay
from remembr_bench.simulation.homes.home import Interaction, Item, Placement, centre_of, name_of
from remembr_bench.simulation.homes.layout import START_NS, generate_home
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import CAPTIONER, OBJECT, Memory, memory_id
from remembr_ros.memory.objects.known import ObjectFacts
from remembr_ros.memory.places.place import place
from remembr_ros.timestamps import NS

STEP_NS = 3 * NS
ACTIONS = {'apple': 'slice', 'candle': 'light', 'plant': 'water', 'laptop': 'switch on', 'cup': 'fill'}


@dataclass(frozen=True)
class Lived:
    """A trajectory, what is true of it, and what is remembered."""

    day: WorkDay
    truth: NeedleTruth
    guests: tuple[int, ...]
    memories: tuple[Memory, ...]


def live(seed: int = 5, steps: int = 330, *, every: int = 12) -> Lived:
    """Return a trajectory of so many captions, with a deed or two at each so many of them."""
    rng, home = random.Random(seed), generate_home(seed, 1)
    placed, done = dict(home.visits[0].placements), list[Interaction]()
    names = [name_of(item) for item in home.items]
    alone = [item for item in home.items if item.kind == 'small' and names.count(name_of(item)) == 1]
    small = [item for item in alone if placed[item.number].receptacle]
    boxes = [item for item in small if item.label in ('box', 'bowl')]
    targets = [item for item in home.items if item.kind == 'furniture' and item.label != 'lamp']

    def where(number: int) -> tuple[float, float, float]:
        while placed[number].receptacle:
            number = placed[number].receptacle
        return centre_of(home.items[number - 1], placed[number])

    def act(step: int, kind: str, item: Item, receptacle: int) -> None:
        x, y, _ = where(receptacle or item.number)
        room = next(room.name for room in home.rooms if room.holds(x, y))
        start_ns = START_NS + step * STEP_NS
        done.append(
            Interaction(kind, item.number, receptacle, room, start_ns, start_ns + NS, Pose(x, y), 0.0)
        )

    for step in range(0, steps - 4, every):
        what = rng.random()
        if what < 0.55:
            item = rng.choice([item for item in small if item not in boxes])
            to = rng.choice(targets if what < 0.4 or not boxes else boxes)
            act(step, 'pick', item, placed[item.number].receptacle)
            placed[item.number] = Placement(where(to.number), to.number)
            act(step + 3, 'place', item, to.number)
        elif what < 0.75:
            item = rng.choice([item for item in targets if item.label in ('fridge', 'drawer')])
            was = [one.kind for one in done if one.item == item.number]
            act(step, 'close' if was[-1:] == ['open'] else 'open', item, 0)
        else:
            item = rng.choice([item for item in home.items if item.label in ACTIONS])
            act(step, ACTIONS[item.label], item, placed[item.number].receptacle)
    captions = [_caption(START_NS + i * STEP_NS, rng.sample(home.items, 6)) for i in range(steps)]
    rooms = [
        place(
            room.name,
            outline=[(x, y) for x, y in zip(*_corners(room.low, room.high), strict=True)],
            robot='robot',
            now_ns=START_NS,
        ).memory
        for room in home.rooms
    ]
    objects = [_object(item, where(item.number), START_NS + steps * STEP_NS) for item in home.items]
    memories = [*captions, *rooms, *objects, *(_deed(one, home.items) for one in done)]
    day = WorkDay(home, tuple(done))
    seen_ns = {name_of(item): START_NS + rng.randrange(steps) * STEP_NS for item in alone[:4]}
    truth = NeedleTruth(day, seen_ns)
    return Lived(
        day,
        truth,
        tuple(item.number for item in alone[:4]),
        tuple(sorted(memories, key=lambda one: (one.start_ns, one.id))),
    )


def _corners(low, high):
    return (low[0], high[0], high[0], low[0]), (low[1], low[1], high[1], high[1])


def _caption(start_ns: int, some: list[Item]) -> Memory:
    text = f'I see a {", a ".join(map(name_of, some))}.'
    end_ns, pose = start_ns + STEP_NS - 1, Pose(1.0, 1.0)
    one = memory_id('robot', CAPTIONER, start_ns, '')
    return Memory(one, 'robot', start_ns, end_ns, text, pose, captioner='simulation')


def _id(number: int) -> str:
    return memory_id('robot', OBJECT, 0, str(number)) if number else ''


def _object(item: Item, at: tuple[float, float, float], last_ns: int) -> Memory:
    facts = ObjectFacts(
        labels={item.label: 1.0},
        size=item.size,
        std=0.01,
        observations=50,
        intervals=((START_NS, last_ns),),
        sightings=((last_ns, (0.0, 0.0, 0.0), (1.0, 0.0, 0.5)),),
        colour=item.colour,
        looked=last_ns,
    ).model_dump(mode='json')
    name, pose = name_of(item), Pose(*at)
    return Memory(_id(item.number), 'robot', START_NS, last_ns, name, pose, source=OBJECT, facts=facts)


def _deed(one: Interaction, items: tuple[Item, ...]) -> Memory:
    return deed(
        one.start_ns,
        one.end_ns,
        kind=one.kind,
        object=name_of(items[one.item - 1]),
        object_id=_id(one.item),
        receptacle=name_of(items[one.receptacle - 1]) if one.receptacle else '',
        receptacle_id=_id(one.receptacle),
        place=one.room,
        outcome='succeeded',
        pose=one.pose,
    ).memory('robot')
