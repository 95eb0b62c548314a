"""Arguments that nobody knows: refused, for what is dropped silently looks as if it had counted."""

from collections.abc import Iterable
from difflib import get_close_matches

_MEAN_THE_SAME = (
    {'text', 'query', 'q', 'search', 'question', 'words'},
    {'place', 'position', 'near', 'near_place', 'location', 'point'},
    {'time', 'when', 'day', 'date', 'near_time', 'at'},
    {'after', 'since', 'start', 'begin'},
    {'before', 'until', 'end'},
    {'limit', 'count', 'max', 'n', 'k'},
)


def refusal(what: str, given: Iterable[str], known: Iterable[str]) -> str | None:
    """Return why what was given is refused, for a person or an agent; None: all of it is known.

    :param what: takes these arguments, such as a tool
    :param given: names of arguments
    :param known: names of those that it takes
    """
    names = list(known)
    wrong = next((name for name in given if name not in names), None)
    if wrong is None:
        return None
    takes = f'it takes {", ".join(names)}' if names else 'it takes none'
    same = [name for name in names for words in _MEAN_THE_SAME if {name, wrong.lower()} <= words]
    meant = next(iter(same or get_close_matches(wrong, names, 1)), None)
    hint = f' (is {meant!r} meant?)' if meant else ''
    return f'{what} has no argument {wrong[:50]!r}{hint}; {takes}'
