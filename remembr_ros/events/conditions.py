"""Abnormal conditions: each time span is a deed, reported when it begins and when it ends."""

from dataclasses import dataclass

from remembr_ros.memory.deeds.deed import Deed, deed
from remembr_ros.timestamps import NS

UP_NS = 2 * NS  # a condition counts once it has lasted so long: one bad reading is none
DOWN_NS = 5 * NS  # and all is well again after so long without it
MOST_NAMES = 1000  # whose conditions are followed


@dataclass(frozen=True, slots=True)
class Condition:
    """How something is.

    :param kind: of the deed while it is so; empty: as it should be
    :param text: what is said of it; of the same kind the first text counts
    """

    kind: str = ''
    text: str = ''


WELL = Condition()


@dataclass(slots=True)
class _Thing:
    """How it is since when, as far as that has lasted, and how it seems to be now."""

    now: Condition
    since_ns: int
    seems: Condition
    seems_ns: int


class Conditions:
    """Follows conditions by the names of what has them."""

    def __init__(self) -> None:
        self._things: dict[str, _Thing] = {}

    def tell(self, name: str, condition: Condition, now_ns: int) -> None:
        """Take how something is now."""
        known = self._things.get(name)
        if known is None and condition.kind and len(self._things) < MOST_NAMES:
            self._things[name] = _Thing(WELL, now_ns, condition, now_ns)
        elif known is not None and condition.kind != known.seems.kind:
            known.seems, known.seems_ns = condition, now_ns

    def take(self, now_ns: int) -> list[Deed]:
        """Return what has begun and what has ended, as far as it has lasted."""
        told: list[Deed] = []
        for name, thing in list(self._things.items()):
            thing.seems_ns = min(thing.seems_ns, now_ns)  # the clock may be set back
            lasted_ns = now_ns - thing.seems_ns
            if thing.seems.kind != thing.now.kind and lasted_ns >= (UP_NS if thing.seems.kind else DOWN_NS):
                told += _deeds(name, thing, over=True)
                thing.now, thing.since_ns = thing.seems, thing.seems_ns
                told += _deeds(name, thing, over=False)
            if not thing.now.kind and not thing.seems.kind:
                del self._things[name]
        return told


def _deeds(name: str, thing: _Thing, *, over: bool) -> list[Deed]:
    kind, text = thing.now.kind, thing.now.text[:20_000]
    if not kind:
        return []
    outcome = 'failed' if kind == 'fail' else 'succeeded' if over and kind == 'charge' else 'unknown'
    end_ns = max(thing.seems_ns, thing.since_ns) if over else thing.since_ns
    return [deed(thing.since_ns, end_ns, kind=kind, text=text, outcome=outcome, key=f'condition {name}')]
