"""Deeds: what took place, in the order of time, by kind, thing, place and outcome."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.fields import (
    NUMBER,
    Limit,
    PlaceName,
    Position,
    Time,
    TimeOrDeed,
    Words,
    choice,
    several,
    word,
)
from remembr_ros.forms.scope import ScopeForm
from remembr_ros.memory.deeds.deed import Outcome
from remembr_ros.memory.deeds.occurrences import find_deeds
from remembr_ros.memory.deeds.query import DeedOrder, DeedQuery, FoundDeeds
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.recall_protocol import Recall

Order = Annotated[
    DeedOrder, choice('latest newest: last', 'earliest: first', 'closest: nearest', 'furthest: farthest')
]
Outcomes = Annotated[tuple[Outcome, ...], Field(max_length=10), BeforeValidator(several)]
_KIND = (
    'by a usual word; sight: the object was in view; stay: it was in a place; handling: a thing was picked '
    'and put; moving, standing, turning, driving: how it moved'
)
_AFTER = 'only what was over at or after this time, or began after the last deed with these words'
_BEFORE = 'only what began at or before this time, or was over before the last deed with these words'
_NEVER = 'not these deeds, but the names that none of them has, with what was heard of each last'


class DeedsForm(ScopeForm):
    """Find what took place: what robots did, when things were in view, stays in places, how robots moved; how
    many, how long, how far."""

    kind: Annotated[Words, word(_KIND, 'pick', 'verb action type')] = ''
    object: Annotated[Words, word('words of the name of what it was done to', 'cup', 'thing called')] = ''
    receptacle: Annotated[
        Words, word('the same of what that was taken from or put on', 'table', 'target')
    ] = ''
    attribute: Annotated[Words, word('more words that its names or its sentence have', 'red')] = ''
    outcome: Annotated[Outcomes, word('how it ended; several: any', 'failed', 'outcomes status')] = ()
    place: Annotated[
        PlaceName | None,
        word('words of the name of the place that is told, or that it was in', 'kitchen', 'room where'),
    ] = None
    after: Annotated[TimeOrDeed | None, word(_AFTER, 'docked', 'since start after_deed')] = None  # type: ignore[assignment]
    before: Annotated[TimeOrDeed | None, word(_BEFORE, 'picked', 'until end before_deed')] = None  # type: ignore[assignment]
    during: Annotated[Words, word('only what began while a deed with these words lasted', 'charging')] = ''
    right: Annotated[bool, word('with words in after or before: the very next deed', True)] = False
    time: Annotated[
        Time | None, word('what went on then, or else was nearest in time', '2026-11-23T09:30Z', 'at when')
    ] = None
    position: Annotated[
        Position | None, word('where nearest, farthest and way start', [2, 1.5, 0], 'here point', 'm')
    ] = None
    order: Annotated[Order, word('what comes first; way: on a short way by all', 'longest')] = DeedOrder.FIRST
    nth: Annotated[
        Annotated[int, Field(ge=-(2**31), le=2**31 - 1), NUMBER] | None,
        word('only this one: 1 the first of the order, -1 its last', -1),
    ] = None
    limit: Annotated[Limit | None, word('so many at most (default: all)', 10, 'k n')] = None
    never: Annotated[Literal['object', 'receptacle', 'place'] | None, word(_NEVER, 'place')] = None

    def query(self) -> DeedQuery:
        """Return what a store is asked.

        :raises InvalidRequest: the fields do not go together
        """
        scope = self.scope()
        sides = {name: getattr(self, name) for name in ('after', 'before', 'during')}
        deeds = {
            name: _deed_said(side, scope) for name, side in sides.items() if side and isinstance(side, str)
        }
        return DeedQuery(
            self.kind,
            self.object,
            self.receptacle,
            self.place or '',
            self.attribute,
            self.outcome,
            scope,
            **deeds,
            right=self.right,
            at_ns=self.time,
            order=self.order,
            here=self.nearest_to,
            nth=self.nth,
            limit=self.limit,
            never=self.never or '',
        )

    def scope(self) -> Scope:
        """Return when, by which robots and near where; a place is told by words here."""
        said = [name for name in ('after', 'before') if isinstance(getattr(self, name), str)]
        return super(DeedsForm, self.model_copy(update=dict.fromkeys((*said, 'place')))).scope()

    def find(self, recall: Recall) -> FoundDeeds:
        """Return what it finds.

        :raises InvalidRequest: the fields do not go together, or no deed has the words of after or before
        :raises StoreUnavailable: the memory does not work
        """
        query = self.query()
        found = find_deeds(recall, query)
        for side in (query.after, query.before, query.during) if not found.anchors else ():
            if side is not None and not find_deeds(recall, side).found:
                raise _unknown(side.attribute)
        return found


def _deed_said(text: str, scope: Scope) -> DeedQuery:
    """Return the query for the deeds in a scope that have all words of a text."""
    if not words(text):
        raise _unknown(text)
    return DeedQuery(attribute=text, scope=scope)


def _unknown(text: str) -> InvalidRequest:
    return InvalidRequest(
        f'there is no such deed as {text!r:.99}: give a time (ISO 8601 or Unix seconds), or words of a deed '
        "that is remembered, such as 'docked'"
    )
