"""A month of a humanoid's deeds: some 5,000, and what it saw; the same every time."""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from math import dist

from remembr_ros.forms.events import EventForm
from remembr_ros.forms.form import read
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, memory_id
from remembr_ros.timestamps import NS

FIRST = datetime(2026, 9, 1, tzinfo=timezone.utc)  # a Tuesday
SPOTS = {
    'fridge': ('kitchen', (4.0, 3.0)),
    'sink': ('kitchen', (5.5, 3.0)),
    'dishwasher': ('kitchen', (6.5, 2.5)),
    'kitchen table': ('kitchen', (5.0, 1.0)),
    'sofa': ('lounge', (10.0, 1.0)),
    'bookshelf': ('lounge', (13.0, 4.0)),
    'coffee table': ('lounge', (11.0, 2.0)),
    'workbench': ('workshop', (3.0, -7.0)),
    'parts bin': ('workshop', (5.0, -8.0)),
    'tool cabinet': ('workshop', (1.0, -6.0)),
    'demo table': ('showroom', (16.0, -4.0)),
    'display case': ('showroom', (19.0, -6.0)),
    'potting bench': ('greenhouse', (24.0, 3.0)),
    'dock': ('hallway', (0.0, 0.0)),
}
SURFACES = 'sink,kitchen table,sofa,bookshelf,coffee table,workbench'.split(',')
THINGS = 'mug plate bowl magazine cushion blanket screwdriver hammer novel remote'.split()
FOOD = 'butter cheese yoghurt juice lettuce mustard tofu'.split()
PLANTS = 'fern palm basil violet cactus orchid'.split()
PEOPLE = 'Ines Omar Paula Viktor'.split()
FLAWS = ('the grasp slipped', 'no grasp was found', 'the arm met its limit')
MORNINGS = {12: ('sharpen', 'bread knife'), 20: ('unpack', 'microscope'), 29: ('polish', 'silver tray')}
STEPS = {
    'tea demo': 'open,tea box;pick,tea bag,tea box;place,tea bag,teacup;stir,teacup',
    'cube demo': 'pick,red cube,tray;place,red cube,crate;pick,blue cube,tray;bow',
    'dance demo': 'turn around;raise both arms;bow',
}


@dataclass(frozen=True, eq=False)
class Done:
    """A line of the log; of a sight the kind is empty and the text its caption."""

    begin: datetime
    end: datetime
    kind: str
    object: str
    receptacle: str
    place: str
    outcome: str
    reason: str
    text: str
    at: tuple[float, float]
    metres: float

    @property
    def seconds(self) -> float:
        return (self.end - self.begin).total_seconds()

    @property
    def date(self) -> str:
        return f'{self.begin:%Y-%m-%d}'

    @property
    def memory(self) -> Memory:
        begin, end = (round(time.timestamp()) for time in (self.begin, self.end))
        if not self.kind:
            ident = memory_id('r', 'captioner', begin * NS)
            return Memory(ident, 'r', begin * NS, end * NS, self.text, Pose(*self.at), captioner='c')
        names = ('kind', 'object', 'receptacle', 'place', 'outcome', 'reason', 'text')
        about = {name: getattr(self, name) for name in names}
        position = (*self.at, 0.0)
        told = {'begin': begin, 'end': end, 'position': position, 'travelled': self.metres, **about}
        return read(EventForm, told).deed().memory('r')


@dataclass
class Month:
    """Writes the log, day by day."""

    dice: random.Random = field(default_factory=lambda: random.Random(0))
    now: datetime = FIRST
    spot: str = 'dock'
    log: list[Done] = field(default_factory=list)

    def __post_init__(self) -> None:
        for day in range(1, 31):
            self.day(day)
        self.log.sort(key=lambda one: (one.begin, -one.seconds))

    def do(self, kind: str, thing: str = '', spot: str = '', seconds: int = 0, **about: object) -> Done:
        begin, self.now = self.now, self.now + timedelta(seconds=seconds or self.dice.randint(6, 20))
        place, (x, y) = SPOTS[self.spot]
        at = (round(x + self.dice.uniform(-0.1, 0.1), 2), round(y + self.dice.uniform(-0.1, 0.1), 2))
        rest = {'outcome': 'succeeded', 'reason': '', 'text': '', 'metres': 0.0, 'begin': begin} | about
        rest |= {'end': self.now, 'kind': kind, 'object': thing, 'receptacle': spot, 'place': place, 'at': at}
        self.log.append(Done(**rest))
        self.now += timedelta(seconds=self.dice.randint(1, 8))
        return self.log[-1]

    def fail(self, kind: str, thing: str, spot: str, reason: str, **about: object) -> None:
        self.do(kind, thing, spot, outcome='failed', reason=reason, **about)

    def go(self, spot: str) -> None:
        if spot != self.spot:
            metres = round(1.1 * dist(SPOTS[self.spot][1], SPOTS[spot][1]), 2)
            self.spot = spot
            self.do('go', '', spot, round(metres / 0.5), metres=metres)

    def carry(self, thing: str, start: str, end: str) -> None:
        self.go(start)
        if thing in THINGS and self.now.day not in (29, 30) and self.dice.random() < 0.04:
            self.fail('pick', thing, start, self.dice.choice(FLAWS))
        self.do('pick', thing, start)
        self.go(end)
        self.do('place', thing, end)

    def tidy(self, rounds: int) -> None:
        for _ in range(rounds):
            start, end = self.dice.sample(SURFACES, 2)
            self.carry(self.dice.choice(THINGS), start, end)

    def fridge(self) -> None:
        self.go('fridge')
        self.do('open', 'fridge')
        taken = self.dice.sample(FOOD, 3)
        for food in taken:
            self.do('pick', food, 'fridge')
        self.do('close', 'fridge')
        self.go('kitchen table')
        for food in taken:
            self.do('place', food, 'kitchen table')

    def load(self, reason: str = '') -> None:
        self.go('dishwasher')
        ended = {'outcome': 'failed', 'reason': reason} if reason else {}
        self.do('load', 'dishwasher', seconds=self.dice.randint(150, 400), **ended)

    def show(self, name: str, reason: str = '') -> None:
        """Give a demo in steps, the last of which may fail."""
        self.go('demo table')
        people = self.dice.choice(('two visitors', 'a school class', 'three engineers'))
        self.do('introduce', text=f'Introduced itself to {people}.')
        self.do('wave', text=f'Waved to {people}.')
        begin, self.now = self.now, self.now + timedelta(seconds=2)
        steps = [step.split(',') for step in STEPS[name].split(';')]
        for step in steps[: -1 if reason else None]:
            self.do(*step, seconds=self.dice.randint(10, 60))
        ended = {}
        if reason:
            ended = {'outcome': 'failed', 'reason': reason}
            self.do(*steps[-1], **ended)
        self.do('demo', name, begin=begin, **ended)

    def talk(self) -> None:
        who = self.dice.choice(PEOPLE)
        self.do('answer', text=f'Answered {who}, who asked for the {self.dice.choice(("time", "weather"))}.')

    def charge(self) -> None:
        self.go('dock')
        self.do('dock', '', 'dock', 20)
        self.do('charge', seconds=self.dice.randint(900, 3000))

    def at(self, hour: int, minute: int = 0) -> None:
        time = self.now.replace(hour=hour, minute=minute, second=0)
        self.now = max(time, self.now)

    def see(self, caption: str) -> None:
        self.do('', text=caption, seconds=3)

    def day(self, day: int) -> None:
        self.now = FIRST + timedelta(days=day - 1, hours=7)
        self.fridge()
        self.tidy(11)
        if day in (4, 11, 18):
            self.carry('violin case', 'sofa', 'display case')
        self.see('A corridor with a blue door. A lamp is on.')
        if day == 9:
            self.load('the lower rack had jumped off its rail')
        self.load()
        self.charge()
        self.at(10)
        if day in MORNINGS:
            self.go('workbench')
            self.at(10, 30)
            self.do(*MORNINGS[day], seconds=1200)
        if day in (7, 16, 23):
            self.see('An orange cat sits on a wall. The sky is grey.')
        self.tidy(4 if day == 20 else 7)
        for _ in range(self.dice.randint(1, 3) + 3 * (day == 13)) if day != 20 else ():
            flaw = {17: 'a child ran into the demo area', 24: 'the teacup was full'}.get(day, '')
            name = 'tea demo' if day in (15, 24) else 'cube demo' if day == 17 else self.dice.choice([*STEPS])
            self.show(name, flaw)
            if flaw or day == 15:
                break
        if day in (3, 10, 19, 27):
            back = round(self.dice.uniform(0.4, 1.3), 2)
            self.do('step back', metres=back, text='Stepped back as a visitor asked.')
        self.talk()
        self.charge()
        self.at(14)
        self.see('Shelves with boxes. A ladder leans on a wall.')
        self.rare(day)
        if day not in (20, 25):
            self.go('potting bench')
            for plant in self.dice.sample(PLANTS, 3):
                self.do('water', plant, 'potting bench')
        self.tidy(13)
        self.load()
        self.see('A sofa with two cushions. Nobody is there.')
        self.talk()
        self.charge()

    def rare(self, day: int) -> None:
        """Do what is done on no other day."""
        if day == 5:
            self.carry('car keys', 'coffee table', 'bookshelf')
        elif day == 6:
            self.do('evacuate', seconds=540, text='Led nine people out during the fire drill.')
        elif day == 8:
            self.carry('brass hinge', 'workbench', 'parts bin')
            self.carry('spring', 'workbench', 'parts bin')
        elif day == 14:
            self.go('coffee table')
            self.fail('place', 'glass jug', 'coffee table', 'the glass jug slid off and broke')
        elif day == 18:
            self.go('tool cabinet')
            self.do('open', 'tool cabinet')
            self.do('pick', 'drill', 'tool cabinet')
            self.do('pick', 'chisel', 'tool cabinet')
            self.do('close', 'tool cabinet')
        elif day == 21:
            self.go('sofa')
            self.do('hand over', 'parcel', seconds=30, text='Handed a parcel to Paula.')
        elif day == 22:
            self.do('vacuum', 'rug', outcome='cancelled', reason='the rug was wet')
        elif day == 26:
            self.do('sing', seconds=75, text='Sang a birthday song for Ines.')
        elif day == 29:
            self.go('sofa')
            self.fail('fold', 'tent', 'sofa', 'a pole was bent')
            self.carry('umbrella', 'sofa', 'bookshelf')


LOG = Month().log
