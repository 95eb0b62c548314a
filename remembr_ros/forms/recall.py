"""Recall: memories by text, position or time."""

from typing import Annotated, Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.fields import MAX_LIMIT, Limit, Nanoseconds, Nearest, Text, Time, word
from remembr_ros.forms.form import read
from remembr_ros.forms.scope import SourceForm, scope_asked
from remembr_ros.memory.model.recall import Hit, Query, query_by
from remembr_ros.memory.recall_protocol import Recall


class RecallForm(SourceForm):
    """Find memories: by text, else nearest to a position, else nearest to a time, else the newest."""

    text: Annotated[Text | None, word('what fits this best first', 'red extinguisher', 'query q')] = None
    position: Nearest = None
    time: Annotated[
        Time | None, word('what is nearest to it first', '2026-11-23T09:30:00Z', 'when stamp')
    ] = None
    around: Annotated[bool, word('with time: what was before, at and after it, in order', True)] = False
    limit: Limit = 5

    def query(self) -> Query:
        """Return what a store is asked.

        :raises InvalidRequest: the fields do not go together
        """
        if self.text is not None and not self.text.strip():
            raise InvalidRequest('text is empty; leave it out for the newest memories')
        by, scope = (self.text, self.nearest_to, self.time), self.scope()
        return query_by(*by, around=self.around, scope=scope, limit=self.limit)

    def find(self, recall: Recall) -> list[Hit]:
        """Return what it finds, each with how far it is from the position and the time, whatever ranks.

        :raises InvalidRequest: the fields do not go together
        :raises StoreUnavailable: the memory does not work
        """
        return [hit.measured(self.nearest_to, self.time) for hit in recall.find(self.query())]


def recall_asked(query: Query) -> RecallForm:
    """Return the form that asks the same as a query; raises InvalidRequest for one that makes no sense."""
    given: dict[str, Any] = {
        **scope_asked(query.scope),
        'text': query.text,
        'position': query.place,
        'around': query.around,
        'source': query.scope.source,
        'limit': min(query.limit, MAX_LIMIT),
    }
    if query.time_ns is not None:
        given['time'] = Nanoseconds(query.time_ns)
    return read(RecallForm, given)
