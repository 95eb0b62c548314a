"""The query for what took place (deeds, sights, visits), and its results.

What each field means stands in one table in docs/deeds.md. Time, place, robot, map and source become the
engine's filter; what facts say is compared here.
"""

from dataclasses import dataclass, replace
from enum import Enum
from math import fsum

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, check_point
from remembr_ros.memory.deeds.deed import OUTCOMES, DeedFacts
from remembr_ros.memory.deeds.verbs import base
from remembr_ros.memory.matching.terms import STOP_WORDS, content_stems, stem, synonyms, words, words_without
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

SIGHT, STAY, HANDLING = 'sight', 'stay', 'handling'
MOVES = ('moving', 'standing', 'turning', 'driving')
"""Kinds of what is no deed: a thing was in view; the robot was in a place that has a name; a thing was
picked and put elsewhere; it stood, turned (left, right), drove from one stop to the next, or did any of
these."""
FIELDS = ('object', 'receptacle', 'place')  # of which names can be asked for


class DeedOrder(str, Enum):
    """What comes first: the first or the last in time, the longest, the shortest, the nearest to a place, the
    farthest from it, or what a robot that starts there comes to on the shortest way by all of them."""

    FIRST = 'first'
    LAST = 'last'
    LONGEST = 'longest'
    SHORTEST = 'shortest'
    NEAREST = 'nearest'
    FARTHEST = 'farthest'
    WAY = 'way'

    @property
    def from_here(self) -> bool:
        """Whether it needs a place to start from."""
        return self in (DeedOrder.NEAREST, DeedOrder.FARTHEST, DeedOrder.WAY)


@dataclass(frozen=True, slots=True)
class DeedQuery:
    """What is asked of that which took place; each field as the form in remembr_ros.forms.deeds says it.

    :param after: begun when that was over, the last of several if it says nothing else
    :param before: over when that began, of which the same holds; with after: between the last such two
    :param during: begun while that lasted; of any
    :param at_ns: that was going on then, or else was nearest in time [ns since the Unix epoch]
    :param here: of the order [m] in the map
    :param never: one of FIELDS: not these, but the last of each name in that field that none of these has
    :raises InvalidRequest: that makes no sense
    """

    kind: str = ''
    object: str = ''
    receptacle: str = ''
    place: str = ''
    attribute: str = ''
    outcomes: tuple[str, ...] = ()
    scope: Scope = ANYTHING
    after: 'DeedQuery | None' = None
    before: 'DeedQuery | None' = None
    during: 'DeedQuery | None' = None
    right: bool = False
    at_ns: int | None = None
    order: DeedOrder = DeedOrder.FIRST
    here: Point | None = None
    nth: int | None = None
    limit: int | None = None
    never: str = ''

    def __post_init__(self) -> None:
        if unknown := set(self.outcomes).difference(OUTCOMES):
            raise InvalidRequest(f'{min(unknown)!r} is no outcome; there are {", ".join(OUTCOMES)}')
        if self.never and self.never not in FIELDS:
            raise InvalidRequest(f'never is {self.never!r}; it may be {", ".join(FIELDS)}')
        if self.order.from_here and self.here is None:
            raise InvalidRequest(f'{self.order.value} needs a place to start from (here)')
        if self.here is not None:
            check_point(self.here)
        if self.nth == 0 or (self.limit is not None and self.limit < 1):
            raise InvalidRequest('nth counts from 1, or back from -1; the limit is 1 or more')
        if self.right and (self.after is None) == (self.before is None):
            raise InvalidRequest('the very next one is right after or right before something: give one')

    @property
    def says(self) -> str:
        """What it names."""
        return ' '.join(filter(None, (self.kind, self.object, self.receptacle, self.place, self.attribute)))

    @property
    def names_nothing(self) -> bool:
        """Whether it is about whatever was done."""
        return not (self.kind or self.object or self.receptacle or self.place or self.attribute)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Something that took place, in the terms of a deed.

    :param start_ns: nanoseconds since the Unix epoch
    :param facts: of a sight the kind SIGHT and the thing as object, of a stay STAY and the place
    :param memories: what it rests on, the one that tells most first
    :param metres: driven meanwhile [m]
    :param spent_ns: of its time
    """

    start_ns: int
    end_ns: int
    facts: DeedFacts
    memories: tuple[Memory, ...]
    metres: float = 0.0
    spent_ns: int = -1

    @property
    def memory(self) -> Memory:
        return self.memories[0]

    @property
    def as_memory(self) -> Memory:
        """The memory that tells most, as if it were of nothing but this: with its times and its facts."""
        facts = self.facts.model_dump(mode='json', exclude_defaults=True) | {'outcome': self.outcome}
        return replace(self.memory, start_ns=self.start_ns, end_ns=self.end_ns, facts=facts)

    @property
    def seconds(self) -> float:
        """How long it took [s]."""
        return (self.end_ns - self.start_ns if self.spent_ns < 0 else self.spent_ns) / NS

    @property
    def failed(self) -> bool:
        """Whether it did not come to its end."""
        return self.facts.outcome in ('failed', 'cancelled') or self.facts.kind == 'fail'

    def fits(self, query: DeedQuery) -> bool:
        """Tell whether it is what a query asks for, whatever its kind, its time and its relations."""
        facts = self.facts
        return (
            (not query.object or is_named(query.object, facts.object))
            and (not query.receptacle or is_named(query.receptacle, facts.receptacle))
            and (not query.place or is_named(query.place, facts.place))
            and (not query.outcomes or self.outcome in query.outcomes)
            and (not query.attribute or is_said(query.attribute, self.told))
        )

    @property
    def outcome(self) -> str:
        """How it ended; what is said to be a failure failed."""
        return 'failed' if self.facts.kind == 'fail' else self.facts.outcome

    @property
    def where(self) -> str:
        """The name of its place, of several the first; empty: it has none."""
        return self.facts.place.split(' / ')[0]

    @property
    def told(self) -> str:
        """All that is said of it."""
        facts = self.facts
        return ' '.join((facts.kind, facts.object, facts.receptacle, facts.place, self.memory.caption))


def is_named(asked: str, name: str) -> bool:
    """Tell whether a name has all words of the one that is asked for, or others for the same things."""
    stems = content_stems(name) if name else frozenset()
    return all(stem in stems or not stems.isdisjoint(synonyms(stem)) for stem in content_stems(asked))


def is_said(asked: str, text: str) -> bool:
    """Tell whether a text has all words asked for, in any of their forms, or others for the same things."""
    bases = {base(word) for word in words(text)}
    return all(
        base(word) in bases or any(base(same) in bases for same in synonyms(stem(word)))
        for word in words_without(STOP_WORDS, asked)
    )


@dataclass(frozen=True, slots=True)
class FoundDeeds:
    """What a query found.

    :param found: in its order, no more than it wants
    :param every: all that meet its conditions, in the order of time
    :param anchors: what these are before, after or during
    :param whole: all memories were looked at; else the latest
    """

    found: tuple[Occurrence, ...] = ()
    every: tuple[Occurrence, ...] = ()
    anchors: tuple[Occurrence, ...] = ()
    whole: bool = True

    @property
    def seconds(self) -> float:
        """How long all that meet the conditions took [s]."""
        return fsum(occurrence.seconds for occurrence in self.every)

    @property
    def mean_seconds(self) -> float | None:
        """The same on average [s]; None: there are none."""
        return self.seconds / len(self.every) if self.every else None

    @property
    def metres(self) -> float:
        """How far the robot drove in all of these [m]."""
        return fsum(occurrence.metres for occurrence in self.every)
