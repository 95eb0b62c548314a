"""Which things people mean by a sort, a shape or a use: receptacles, what is like a ball or for reading."""

from remembr_ros.memory.deeds.verbs import base
from remembr_ros.memory.matching.terms import stem, words

_FURNITURE = frozenset(
    'table desk counter shelf fridge refrigerator drawer sofa couch bed chair cabinet cupboard dresser '
    'sideboard bookcase rack nightstand bench'.split()
)
LIKE_THAT = {
    base(word): line.partition(': ')[2].split()
    for line in (
        'ball sphere spherical round: apple ball orange/box cube cubic boxy rectangular: box book/'
        'cylinder cylindrical: cup bottle can candle bin/'
        'drink: cup bottle glass mug/eat food: bowl plate apple fruit/play: ball teddy toy/'
        'read: book newspaper/time: clock watch/light: candle lamp/toast bread: toaster/'
        'compute work: laptop computer/flower: vase'
    ).split('/')
    for word in line.partition(': ')[0].split()
}
"""What is called so of which people say that it is shaped like that, or used for that."""
SORTS = {
    **dict.fromkeys('object thing item article something anything everything one it'.split(), 'object'),
    **dict.fromkeys('receptacle furniture surface container'.split(), 'receptacle'),
    **dict.fromkeys('room place spot area location somewhere'.split(), 'place'),
}


def is_furniture(name: str) -> bool:
    """Tell whether things are put on or into what is called so, whatever a log says."""
    return not _FURNITURE.isdisjoint(map(stem, words(name)[-1:]))
