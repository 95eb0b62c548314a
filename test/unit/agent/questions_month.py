"""60 questions about the month of deeds; what is true is counted in its log, by no code of the memory."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from math import dist

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.geometry import Pose
from remembr_ros.timestamps import NS, format_duration
from test.unit.agent.deeds_month import LOG, PLANTS, SPOTS, Done

NOW_NS = round(datetime(2026, 9, 30, 20, tzinfo=timezone.utc).timestamp()) * NS  # a Wednesday
HERE = (4.5, 0.5)


@dataclass(frozen=True)
class Asked:
    """A question and its truth.

    :param sort: 1 day, 2 highlight, 3 dates, 4 order, 5 number, 6 duration, 7 way, 8 failure, 9 not, 10 place
    :param says: what the answer says; of words between bars one
    :param rests: what it cites: all of four or fewer, else any
    """

    sort: int
    text: str
    says: Sequence[str] = ()
    rests: Sequence[Done] = ()
    lacks: Sequence[str] = ()
    yes: bool | None = None
    seconds: float | None = None
    metres: float | None = None
    moment: Done | None = None

    @property
    def question(self) -> Question:
        return Question(self.text, NOW_NS, Pose(*HERE))

    def faults(self, answer: Answer) -> list[str]:
        """Return what an answer lacks; nothing: it is right."""
        text = answer.text
        found = [f'no {part}' for part in self.says if not any(is_in(one, text) for one in part.split('|'))]
        found += [f'has {part}' for part in self.lacks if is_in(part, text)]
        if self.yes is not None and answer.binary is not self.yes:
            found.append(f'says {answer.binary}')
        if self.seconds is not None and not lasts(self.seconds, answer):
            found.append(f'not {format_duration(self.seconds)}')
        ways = [float(way.replace(',', '')) for way in re.findall(r'([\d.,]*\d) (?:m|metres)\b', text)]
        if self.metres is not None and not any(abs(way - self.metres) <= 0.051 for way in ways):
            found.append(f'not {self.metres:.1f} m')
        if self.moment is not None:
            begin, end = (time.timestamp() * NS for time in (self.moment.begin, self.moment.end))
            if answer.time_ns is None or not begin <= answer.time_ns <= end:
                found.append(f'not at {self.moment.begin}')
        wanted = {one.memory.id for one in self.rests}
        cited = wanted & {hit.memory.id for hit in answer.evidence}
        if wanted and (not cited or (len(wanted) < 5 and cited != wanted)):
            found.append(f'cites {len(cited)} of {len(wanted)}')
        return found


def lasts(seconds: float, answer: Answer) -> bool:
    measured = answer.duration_s is not None and abs(answer.duration_s - seconds) <= 1.0
    return measured or format_duration(seconds) in answer.text


def is_in(part: str, text: str) -> bool:
    """Tell whether a text says something, whatever the case; a number as a number of its own."""
    if part.isdigit():
        return re.search(rf'(?<![\d:.-]){part}(?!\d|[:.-]\d)', text) is not None
    return part.lower() in text.lower()


def find(*days: int, hours: tuple[int, int] = (0, 24), **about: str) -> list[Done]:
    """Return the deeds of one day, or of the whole month, that are so."""
    return [
        one
        for one in LOG
        if one.kind
        and (not days or one.begin.day in days)
        and hours[0] <= one.begin.hour < hours[1]
        and all(getattr(one, name) == value for name, value in about.items())
    ]


def seen(words: str) -> list[Done]:
    return [one for one in LOG if not one.kind and words in one.text]


def after(one: Done, count: int = 1) -> list[Done]:
    """Return what came next, or before."""
    done = [other for other in LOG if other.kind]
    at = done.index(one)
    return done[at + 1 : at + 1 + count] if count > 0 else done[at + count : at]


def dates(some: Iterable[Done]) -> list[str]:
    return sorted({one.date for one in some})


def names(some: Iterable[Done]) -> list[str]:
    return sorted({one.object for one in some})


def total(some: Iterable[Done]) -> float:
    return sum(one.seconds for one in some)


def away(one: Done) -> float:
    return dist(one.at, HERE)


COUNTS = {1: 'once|1', 2: 'twice|two|2', 3: 'three|3', 4: 'four|4'}


def number(some: Sequence[object]) -> str:
    return COUNTS.get(len(some), str(len(some)))


CASE = find(object='violin case')
CAT = seen('orange cat')
LOADS, FAILED = find(kind='load'), find(kind='load', outcome='failed')
INTRODUCED = find(kind='introduce')
DEMOS, CHARGES = find(kind='demo'), find(kind='charge')
LONGEST = max(DEMOS, key=lambda one: one.seconds)
BACK = find(kind='step back')
(POLISH,), (FIRE,), (SONG,), (VACUUM,) = (
    find(kind=kind) for kind in ('polish', 'evacuate', 'sing', 'vacuum')
)
(UNPACK,), (SHARPEN,), (PARCEL,) = (find(kind=kind) for kind in ('unpack', 'sharpen', 'hand over'))
(JUG,), (TENT,) = find(object='glass jug'), find(object='tent')
OPENED, CLOSED = find(object='tool cabinet')[0], find(object='tool cabinet')[-1]
(TEA_15,), (TEA_24,), (CUBES_17,) = (find(day, kind='demo') for day in (15, 24, 17))
STEP = after(TEA_15, 3)[2]
PUT = find(30, kind='place')
TODAY, YESTERDAY = find(30), find(29)
WAVES = Counter(one.date for one in find(kind='wave'))
KEYS, UMBRELLA = find(object='car keys'), find(object='umbrella')
SPILT = find(24, kind='stir', outcome='failed')
FRIDGE_21 = find(21, kind='pick', receptacle='fridge')
TABLE_30 = find(30, hours=(0, 12), kind='place', receptacle='kitchen table')
BIN = find(kind='place', receptacle='parts bin')
WATERED = find(30, kind='water')
DRY = sorted(set(PLANTS) - set(names(WATERED)))
NO_DEMO = sorted({one.date for one in LOG} - set(dates(DEMOS)))
NOT_GONE = {place for place, _ in SPOTS.values()} - {one.place for one in find(20)}
LOADS_23 = find(23, kind='load')
CARRIED = after(CASE[-2], 1)[0]
BUSIEST = WAVES.most_common(1)[0][0]
DOCKED_29, CHARGED_29 = find(29, kind='dock'), find(29, kind='charge')
DANCES = find(kind='demo', object='dance demo')
RARE = 'jug|violin|fire drill|sang|birthday|child|hinge'

QUESTIONS = [
    Asked(1, 'What did you do yesterday? In brief, please.', ['silver tray|tent|umbrella|demo|load']),
    Asked(1, 'Tell me in detail what happened on September 17.', ['child', 'introduc'], [CUBES_17]),
    Asked(1, 'At 10:40 yesterday, what were you busy with?', ['silver tray'], [POLISH]),
    Asked(1, 'What were you up to before noon on the 12th?', ['bread knife'], [SHARPEN], ['parcel']),
    Asked(1, 'How did you spend the afternoon of the 21st?', ['parcel'], [PARCEL], ['microscope']),
    Asked(1, 'And what was it that you did on the 20th at 10:35?', ['microscope'], [UNPACK]),
    Asked(2, 'What were the highlights of September?', [RARE]),
    Asked(2, 'What was special in the week from the 14th to the 20th?', ['jug|child|microscope']),
    Asked(2, 'What would you tell a friend about the first week of September?', ['fire drill'], [FIRE]),
    Asked(2, 'Which moments of last week would you write home about?', ['birthday|sang|teacup|rug']),
    Asked(2, 'What made last Saturday special?', ['birthday|sang'], [SONG]),
    Asked(3, 'On which dates did you carry the violin case?', dates(CASE), CASE),
    Asked(3, 'When did you see the orange cat for the first time?', moment=CAT[0], rests=CAT[:1]),
    Asked(3, 'The violin case: when did you touch it last?', moment=CASE[-1], rests=CASE[-1:]),
    Asked(3, 'What days did the orange cat come into view?', dates(CAT), CAT),
    Asked(3, 'On how many days were you asked to step back?', [number(dates(BACK))], BACK),
    Asked(3, 'When was the first time this month that you docked?', moment=find(kind='dock')[0]),
    Asked(4, 'What was the very first thing you did today?', ['fridge'], TODAY[:1]),
    Asked(4, 'What came just before your song on the 26th?', [after(SONG, -1)[0].kind], after(SONG, -1)),
    Asked(4, 'Tell me the three things that you did after opening the tool cabinet on the 18th.',
          ['drill', 'chisel', 'close'], after(OPENED, 3)),
    Asked(4, 'From opening the tool cabinet to closing it on the 18th, what did you do?', ['drill', 'chisel'],
          after(OPENED, 2), ['hammer']),
    Asked(4, 'In the tea demo of September 15, what was the third step?', ['teacup'], [STEP], ['stir']),
    Asked(4, 'Of yesterday, the final thing that you set down was what?', [find(29, kind='place')[-1].object],
          find(29, kind='place')[-1:]),
    Asked(4, 'What did you do right after stepping back on the 19th?', ['answer'], after(BACK[2])),
    Asked(5, 'Give me the number of introductions you made in September.', [number(INTRODUCED)], INTRODUCED),
    Asked(5, 'How often did you load the dishwasher in September, and how many of these attempts failed?',
          [number(LOADS), number(FAILED)], LOADS),
    Asked(5, 'Today you gave water to how many kinds of plants?', [number(names(WATERED))], WATERED),
    Asked(5, 'On which day did you wave the most?', [BUSIEST], find(int(BUSIEST[-2:]), kind='wave')),
    Asked(5, 'Count your dockings of yesterday for me.', [number(DOCKED_29)], DOCKED_29),
    Asked(5, 'How often has the dance demo been given?', [number(DANCES)], DANCES),
    Asked(6, 'What is the average time for loading the dishwasher?', rests=LOADS,
          seconds=total(LOADS) / len(LOADS)),
    Asked(6, 'How much time did you spend charging in September, all in all?', rests=CHARGES,
          seconds=total(CHARGES)),
    Asked(6, 'Which of your demos took longest, and how long was it?', seconds=LONGEST.seconds,
          rests=[LONGEST]),
    Asked(6, 'What was the shortest time that you charged yesterday?',
          seconds=min(one.seconds for one in CHARGED_29),
          rests=[min(CHARGED_29, key=lambda one: one.seconds)]),
    Asked(6, 'The last time you loaded the dishwasher, how long did it take?', rests=LOADS[-1:],
          seconds=LOADS[-1].seconds),
    Asked(6, 'How long did polishing the silver tray last?', seconds=POLISH.seconds, rests=[POLISH]),
    Asked(7, 'What distance did you cover yesterday?', metres=sum(one.metres for one in YESTERDAY)),
    Asked(7, 'When you were last asked to step back, how far did you go?', rests=BACK[-1:],
          metres=BACK[-1].metres),
    Asked(7, 'How many metres have you covered this month?', metres=sum(one.metres for one in find())),
    Asked(7, 'Where did you leave the violin case?', ['display case'], CASE[-1:]),
    Asked(7, 'On the 18th, what distance lay between your picking up the violin case and setting it down?',
          metres=CARRIED.metres, rests=[CARRIED]),
    Asked(7, 'I miss my car keys. Where did you put them?', ['bookshelf'], KEYS[-1:]),
    Asked(8, 'Own up: what did not work yesterday?', ['tent', 'pole'], [TENT], ['jug']),
    Asked(8, 'Why did it take two attempts to load the dishwasher on the 9th?', ['rail'], FAILED),
    Asked(8, 'Why was the demo on the 17th broken off?', ['child'], [CUBES_17]),
    Asked(8, 'Which of your jobs were cancelled this month, and why?', ['rug', 'wet'], [VACUUM]),
    Asked(8, 'Did anything go wrong while you gave the tea demo on the 24th?', ['full'], SPILT, yes=True),
    Asked(8, 'What happened to the glass jug?', ['broke'], [JUG]),
    Asked(9, 'Which plants have been left without water today?', DRY, lacks=names(WATERED)),
    Asked(9, 'Which rooms did you not set foot in on the 20th?', sorted(NOT_GONE), lacks=['kitchen']),
    Asked(9, 'Have you ever picked up a ladder?', yes=False),
    Asked(9, 'Did you ever go into the attic?', yes=False),
    Asked(9, 'Was there a day without a demo this month? Which one?', NO_DEMO, lacks=dates(DEMOS)[:3]),
    Asked(9, 'Did you ever sing for anybody?', ['birthday|2026-09-26'], [SONG], yes=True),
    Asked(10, 'On the 21st, what came out of the fridge?', names(FRIDGE_21), FRIDGE_21),
    Asked(10, 'Which things did you put on the kitchen table this morning?', names(TABLE_30), TABLE_30),
    Asked(10, 'What did you put down closest to here today?',
          [min(PUT, key=away).object], [min(PUT, key=away)]),
    Asked(10, 'Of all the things that you put down today, which is the farthest from here?',
          [max(PUT, key=away).object], [max(PUT, key=away)]),
    Asked(10, 'What did you drop into the parts bin?', names(BIN), BIN),
    Asked(10, 'Which room is the umbrella in, that you carried yesterday?', ['lounge|bookshelf'],
          UMBRELLA[-1:]),
]  # fmt: skip
