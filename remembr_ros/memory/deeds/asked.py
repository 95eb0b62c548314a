"""Queries for deeds from outside, with 'before' and 'after' given in words."""

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.deeds.occurrences import find_deeds
from remembr_ros.memory.deeds.query import DeedQuery, FoundDeeds
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.recall_protocol import Recall


def deed_said(text: str, scope: Scope) -> DeedQuery:
    """Return the query for the deeds in a scope that have all words of a text.

    :raises InvalidRequest: it has no words
    """
    if not words(text):
        raise _unknown(text)
    return DeedQuery(attribute=text, scope=scope)


def find_asked(recall: Recall, query: DeedQuery) -> FoundDeeds:
    """Return what a query finds, as find_deeds does.

    :raises InvalidRequest: the query makes no sense, or there is nothing that it wants others before or after
    :raises StoreUnavailable: there is no store
    """
    found = find_deeds(recall, query)
    for side in (query.after, query.before) if not found.anchors else ():
        if side is not None and not find_deeds(recall, side).found:
            raise _unknown(side.attribute)
    return found


def _unknown(text: str) -> InvalidRequest:
    return InvalidRequest(
        f'there is no such deed as {text!r:.99}: give a time (ISO 8601 or Unix seconds), or words of a deed '
        "that is remembered, such as 'docked'"
    )
