"""A made-up trajectory: a home, what a robot did there, and what it remembers, without a simulation."""

import random
from dataclasses import dataclass

from remembr_ros.evaluation.needles.questions import NeedleTruth
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import CAPTIONER, OBJECT, Memory, memory_id
from remembr_ros.memory.objects.known import ObjectFacts
from remembr_ros.memory.places.place import place
from remembr_ros.simulation.homes.day import Interaction, WorkDay
from remembr_ros.simulation.homes.home import Item, centre_of, name_of
from remembr_ros.simulation.homes.layout import START_NS, generate_home
from remembr_ros.timestamps import NS

STEP_NS = 3 * NS
FURNITURE_OPENS = ('fridge', 'drawer')
ACTIONS = {'apple': 'slice', 'candle': 'light', 'plant': 'water', 'laptop': 'switch on', 'cup': 'fill'}


@dataclass(frozen=True)
class Lived:
    day: WorkDay
    truth: NeedleTruth
    memories: tuple[Memory, ...]


def live(seed: int = 5, steps: int = 330, *, every: int = 12, handled: int = 1000) -> Lived:
    """Return a trajectory of so many captions, with a deed or two at each so many of them.

    :param handled: so many different things at most are carried
    """
    rng, home = random.Random(seed), generate_home(seed, 1)
    placed = dict(home.visits[0].placements)

    def room(number: int) -> str:
        while placed[number].receptacle:
            number = placed[number].receptacle
        return next(
            r.name for r in home.rooms if r.holds(*centre_of(home.items[number - 1], placed[number])[:2])
        )

    done: list[Interaction] = []

    def act(step: int, kind: str, item: Item, receptacle: int, at: int) -> None:
        start_ns = START_NS + step * STEP_NS
        pose = Pose(*centre_of(home.items[at - 1], placed[at])[:2])
        done.append(Interaction(kind, item.number, receptacle, room(at), start_ns, start_ns + NS, pose, 0.0))

    names = [name_of(item) for item in home.items]
    small = [
        item
        for item in home.items
        if item.kind == 'small' and placed[item.number].receptacle and names.count(name_of(item)) == 1
    ]
    small = rng.sample(small, min(handled, len(small)))
    boxes = [item for item in small if item.label in ('box', 'bowl')]
    targets = [item for item in home.items if item.kind == 'furniture' and item.label != 'lamp']
    for step in range(0, steps - 4, every):
        what = rng.random()
        if what < 0.55:
            item = rng.choice([item for item in small if item not in boxes])
            where = rng.choice(targets if what < 0.4 or not boxes else boxes)
            before = placed[item.number].receptacle
            act(step, 'pick', item, before, before)
            placed[item.number] = type(placed[item.number])(
                centre_of(where, placed[where.number]), where.number
            )
            act(step + 3, 'place', item, where.number, where.number)
        elif what < 0.75:
            item = rng.choice([item for item in targets if item.label in FURNITURE_OPENS])
            was = [one.kind for one in done if one.item == item.number]
            act(step, 'close' if was and was[-1] == 'open' else 'open', item, 0, item.number)
        else:
            item = rng.choice([item for item in home.items if item.label in ACTIONS])
            at = placed[item.number].receptacle or item.number
            act(step, ACTIONS[item.label], item, placed[item.number].receptacle, at)
    memories = [
        place(
            r.name,
            outline=[(r.low[0], r.low[1]), (r.high[0], r.low[1]), r.high, (r.low[0], r.high[1])],
            robot='robot',
            now_ns=START_NS,
        ).memory
        for r in home.rooms
    ]
    last_ns = START_NS + steps * STEP_NS
    seen_ns = {}
    for item in home.items:
        at, pose = centre_of(item, placed[item.number]), None
        seen_ns[name_of(item)] = START_NS + rng.randrange(steps) * STEP_NS
        pose = Pose(*at)
        facts = ObjectFacts(
            labels={item.label: 1.0},
            size=item.size,
            std=0.01,
            observations=50,
            intervals=((START_NS, last_ns),),
            sightings=((last_ns, (0.0, 0.0, 0.0), (1.0, 0.0, 0.5)),),
            colour=item.colour,
            looked=last_ns,
        )
        memories.append(
            Memory(
                id=memory_id('robot', OBJECT, 0, str(item.number)),
                robot='robot',
                start_ns=START_NS,
                end_ns=last_ns,
                caption=name_of(item),
                pose=pose,
                source=OBJECT,
                facts=facts.model_dump(mode='json'),
            )
        )
    for one in done:
        thing = home.items[one.item - 1]
        to = home.items[one.receptacle - 1] if one.receptacle else None
        memories.append(
            deed(
                one.start_ns,
                one.end_ns,
                kind=one.kind,
                object=name_of(thing),
                object_id=memory_id('robot', OBJECT, 0, str(one.item)),
                receptacle=name_of(to) if to else '',
                receptacle_id=memory_id('robot', OBJECT, 0, str(one.receptacle)) if to else '',
                place=one.room,
                outcome='succeeded',
                pose=one.pose,
            ).memory('robot')
        )
    for step in range(steps):
        start_ns = START_NS + step * STEP_NS
        some = rng.sample(home.items, 6)
        x, y = rng.uniform(0, home.size[0]), rng.uniform(0, home.size[1])
        memories.append(
            Memory(
                id=memory_id('robot', CAPTIONER, start_ns, ''),
                robot='robot',
                start_ns=start_ns,
                end_ns=start_ns + STEP_NS - 1,
                caption=f'I see a {", a ".join(map(name_of, some))}.',
                pose=Pose(x, y),
                captioner='simulation',
            )
        )
    day = WorkDay(home, tuple(done))
    guests = tuple(
        item.number for item in home.items if item.kind == 'small' and names.count(name_of(item)) == 1
    )[:4]
    return Lived(
        day, NeedleTruth(day, seen_ns, guests), tuple(sorted(memories, key=lambda m: (m.start_ns, m.id)))
    )
