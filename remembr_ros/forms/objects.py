"""Objects: the things that the robot knows, where they are, and whether they still are."""

from typing import Annotated, Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.fields import MAX_LIMIT, Limit, Nanoseconds, Nearest, Text, Time, Words, choice, word
from remembr_ros.forms.form import read
from remembr_ros.forms.scope import ScopeForm, scope_asked
from remembr_ros.memory.objects.query import ObjectOrder, ObjectQuery
from remembr_ros.memory.objects.relations import RelationName

BY_TEXT = 5  # things that fit a text; of the others there are always some

Relation = Annotated[
    RelationName,
    choice('inside within: in', 'below beneath underneath: under', 'near beside: next to', 'on_top_of: on'),
]


class ObjectsForm(ScopeForm):
    """Find things, where they are and whether they still are; after and before: seen in that time, or, of a
    relation, when it held."""

    called: Annotated[
        Words,
        word(
            'what it is called, with a colour if that counts; or an id', 'red cup', 'class name object label'
        ),
    ] = ''
    text: Annotated[Text | None, word('what fits this best first', 'something to drink from', 'query q')] = (
        None
    )
    relation: Annotated[Relation | None, word('how it lies to the anchor', 'on')] = None
    anchor: Annotated[Words, word('with relation: what that is called, or its id', 'table', 'of')] = ''
    missing: Annotated[bool | None, word('not there at the last look; false: still there', True)] = None
    moved: Annotated[bool | None, word('found elsewhere than before', True)] = None
    changed_since: Annotated[
        Time | None, word('came, moved, came back or was missed since then', '2026-11-23T09:00:00Z')
    ] = None
    position: Nearest = None
    order: Annotated[
        Annotated[ObjectOrder, choice()] | None,
        word('what comes first (default: by the text, by the position, seen last)', 'most seen'),
    ] = None
    limit: Annotated[Limit | None, word('so many at most (default: all; by text 5)', 10, 'k n')] = None

    def query(self) -> ObjectQuery:
        """Return what a store is asked.

        :raises InvalidRequest: the fields do not go together
        """
        if self.text is not None and not self.text.strip():
            raise InvalidRequest('text is empty; leave it out for all objects')
        return ObjectQuery(
            self.called,
            self.text or '',
            self.relation or '',
            self.anchor,
            self.missing,
            self.moved,
            self.changed_since,
            self.nearest_to,
            self.order,
            self.scope(),
            self.limit or (BY_TEXT if self.text else None),
        )


def objects_asked(query: ObjectQuery) -> ObjectsForm:
    """Return the form that asks the same as a query."""
    names = ('called', 'text', 'relation', 'anchor', 'missing', 'moved', 'order')
    given: dict[str, Any] = {name: getattr(query, name) or None for name in names} | {
        'missing': query.missing,
        'moved': query.moved,
    }
    if query.changed_since_ns is not None:  # a time of zero is none
        given['changed_since'] = Nanoseconds(max(query.changed_since_ns, 1))
    limit = min(query.limit or MAX_LIMIT, MAX_LIMIT)
    return read(ObjectsForm, scope_asked(query.scope) | given | {'position': query.place, 'limit': limit})
