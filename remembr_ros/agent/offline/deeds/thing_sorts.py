"""Which things people mean by a sort, a shape or a use: receptacles, what is like a ball or for reading."""

from remembr_ros.agent.offline.word_classes import classes_of, word_class
from remembr_ros.memory.deeds.verbs import base
from remembr_ros.memory.matching.terms import stem, words

LIKE_THAT = classes_of('like', base)
"""What is called so of which people say that it is shaped like that, or used for that."""
SORTS = {word: sort for sort in ('object', 'receptacle', 'place') for word in word_class(f'sort {sort}')}


def is_furniture(name: str) -> bool:
    """Tell whether things are put on or into what is called so, whatever a log says."""
    return not word_class('furniture').isdisjoint(map(stem, words(name)[-1:]))
