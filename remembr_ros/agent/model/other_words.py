"""Other words for what is looked for: for the same thing, for what serves a purpose, for a room."""

from collections.abc import Sequence
from functools import cache

from remembr_ros.memory.matching.terms import stem, synonyms, words

ROOMS = frozenset(('room', 'office', 'number', 'no', 'door'))
"""What a room is called by some, while its sign has the number alone."""

_PURPOSES = {
    ('throw', 'dispose', 'recycle'): 'trash can bin recycling',
    ('sit', 'rest'): 'seat seating bench chair sofa',
    ('eat', 'food', 'hungry', 'lunch'): 'food restaurant cafe cafeteria',
    ('drink', 'thirsty'): 'drink coffee cafe fountain vending',
    ('buy', 'shop'): 'shop store vending',
    ('call',): 'phone telephone',
    ('park',): 'parking',
    ('wash', 'rinse'): 'sink restroom',
    ('warm', 'heat'): 'microwave oven',
    ('print', 'photocopy'): 'printer copier',
    ('borrow',): 'library',
    ('interior',): 'interior indoors indoor inside hallway lobby atrium',
    ('enter', 'entered', 'entering'): 'entrance',
    ('leave', 'leaving', 'left'): 'exit',
}
"""Stems of what one does or lacks, and the things that a camera sees where that can be done."""

_THINGS = {doing: tuple(things.split()) for doings, things in _PURPOSES.items() for doing in doings}


def things_for(target: str) -> str:
    """Return what serves the purposes that a target names, such as bins for 'throw away'; else nothing."""
    things = [thing for word in words(target) for thing in _THINGS.get(stem(word), ())]
    return ' '.join(dict.fromkeys(things))


def is_purpose(stemmed: str) -> bool:
    """Tell whether a word says what is done rather than with what."""
    return stemmed in _THINGS


@cache
def other_stems(stemmed: str, *, deed: bool = False) -> Sequence[str]:
    """Return the other stems for the same thing, and those of what serves the same purpose.

    :param deed: the word says what somebody did with a thing: who left a parcel asks for no exit
    """
    found = [*synonyms(stemmed)]
    found += [] if deed else [stem(thing) for thing in _THINGS.get(stemmed, ())]
    return tuple(other for other in dict.fromkeys(found) if other != stemmed)
