"""What is not as it should be for a while: each such time is a deed, told when it begins and when it ends."""

from dataclasses import dataclass

from remembr_ros.memory.deeds.deed import Deed, deed
from remembr_ros.timestamps import NS

UP_NS = 2 * NS  # a level counts once it has lasted so long: one bad reading is none
DOWN_NS = 5 * NS  # and all is well again after so long without it
MOST_NAMES = 1000  # whose levels are followed


@dataclass(frozen=True, slots=True)
class Condition:
    """How something is.

    :param kind: of the deed while it is so; empty: as it should be
    :param text: what is said of it
    """

    kind: str = ''
    text: str = ''


WELL = Condition()


@dataclass(slots=True)
class _Thing:
    level: Condition
    since_ns: int
    next: Condition
    next_ns: int
    details: dict[str, float]


class Conditions:
    """Follows levels by the names of what has them."""

    def __init__(self) -> None:
        self._things: dict[str, _Thing] = {}
        self._told: list[Deed] = []

    def tell(self, name: str, level: Condition, now_ns: int, details: dict[str, float] | None = None) -> None:
        """Take how something is now.

        :param level: of the same kind, the first text counts
        :param details: of the deed; what is told last counts
        """
        known = self._things.get(name)
        if known is None:
            if len(self._things) >= MOST_NAMES or not level.kind:
                return
            known = self._things[name] = _Thing(WELL, now_ns, WELL, now_ns, {})
        if known.level.kind:
            known.details |= details or {}
        if level.kind != known.next.kind:
            known.next, known.next_ns = level, now_ns
            if not known.level.kind:
                known.details = dict(details or {})

    def take(self, now_ns: int) -> list[Deed]:
        """Return what has begun and what has ended, as far as it has lasted."""
        for name, thing in list(self._things.items()):
            thing.next_ns = min(thing.next_ns, now_ns)  # the clock may be set back
            lasted_ns = now_ns - thing.next_ns
            if thing.next.kind != thing.level.kind and lasted_ns >= (UP_NS if thing.next.kind else DOWN_NS):
                if thing.level.kind:
                    self._told.append(_deed(name, thing, max(thing.next_ns, thing.since_ns), over=True))
                thing.level, thing.since_ns = thing.next, thing.next_ns
                if thing.level.kind:
                    self._told.append(_deed(name, thing, thing.since_ns))
            if not thing.level.kind and not thing.next.kind:
                del self._things[name]
        told, self._told = self._told, []
        return told


def _deed(name: str, thing: _Thing, end_ns: int, *, over: bool = False) -> Deed:
    outcome = 'failed' if thing.level.kind == 'fail' else 'unknown'
    if over and thing.level.kind == 'charge':
        outcome = 'succeeded'
    return deed(
        thing.since_ns,
        end_ns,
        kind=thing.level.kind,
        text=thing.level.text[:20_000],
        outcome=outcome,
        details=dict(thing.details),
        key=f'level {name}',
    )
