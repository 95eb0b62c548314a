"""What a captioner says of what a parked robot sees: the same facts in ever other words."""

import random
from dataclasses import dataclass

Wordings = tuple[str, ...]
"""Sentences that say the same."""


@dataclass(frozen=True, slots=True)
class Captioning:
    """How a captioner varies what it says of the same thing. The defaults are those of a calm one.

    :param reworded: chance that a fact is put in other words than in the segment before
    :param steady: chance that a fact that strikes the eye is mentioned
    :param minor: chance that any other fact is
    :param shuffled: chance that the sentences come in another order
    :param filler: chance of a sentence that says nothing
    """

    reworded: float = 0.5
    steady: float = 0.98
    minor: float = 0.9
    shuffled: float = 0.3
    filler: float = 0.4


CAPTIONINGS = {
    'calm': Captioning(),
    'restless': Captioning(reworded=0.8, steady=0.95, minor=0.7, shuffled=0.5, filler=0.6),
}
"""A model at temperature 0 that sees nearly the same images, and one that is worse at repeating itself."""


@dataclass(frozen=True, slots=True)
class View:
    """What is to be seen from where a robot is parked.

    :param place: what it is called
    :param whole: what kind of place it is
    :param facts: what strikes the eye
    :param details: what a captioner may leave out
    :param scene_text: what can be read
    """

    place: str
    whole: Wordings
    facts: tuple[Wordings, ...]
    details: tuple[Wordings, ...]
    scene_text: tuple[str, ...] = ()


VIEWS = (
    View(
        'office',
        (
            'The scene depicts a modern office with several workstations.',
            'The image shows a modern office space with multiple workstations.',
            'The scene is an open office with several desks and computers.',
        ),
        (
            (
                'On the left, there are three desks with computer monitors.',
                'Three desks with monitors stand on the left side.',
                'To the left, three desks hold computer monitors.',
            ),
            (
                'A large window lets daylight into the room.',
                'Daylight enters the room through a large window.',
                'A big window in the back lets in natural light.',
            ),
            (
                'A whiteboard with diagrams hangs on the right wall.',
                'On the right wall there is a whiteboard with diagrams drawn on it.',
                'The wall on the right has a whiteboard covered with diagrams.',
            ),
            (
                'The floor is covered with gray carpet.',
                'Gray carpet covers the floor.',
                'The floor has a gray carpet.',
            ),
        ),
        (
            (
                'A potted plant stands next to the window.',
                'There is a potted plant beside the window.',
                'Near the window is a potted plant.',
            ),
            (
                'A blue trash bin is next to the door.',
                'Next to the door is a blue trash can.',
                'A blue bin stands by the door.',
            ),
            (
                'A round clock hangs above the door.',
                'Above the door there is a round wall clock.',
                'A wall clock is mounted over the door.',
            ),
        ),
        ('ROOM 214', 'EXIT'),
    ),
    View(
        'lobby',
        (
            'The scene depicts a spacious lobby with a reception desk.',
            'The image shows a large lobby with a reception counter.',
            'The scene is a wide entrance hall with a reception desk.',
        ),
        (
            (
                'Glass doors lead outside in the background.',
                'In the background, there are glass doors to the outside.',
                'The glass entrance doors are visible in the back.',
            ),
            (
                'Two gray sofas stand around a low table.',
                'A low table is surrounded by two gray sofas.',
                'There are two gray couches with a low table between them.',
            ),
            (
                'The floor is made of polished stone tiles.',
                'Polished stone tiles cover the floor.',
                'The floor consists of polished stone tiles.',
            ),
            (
                'A directory board is mounted on the left wall.',
                'On the left wall, there is a directory board.',
                'The left wall has a directory board.',
            ),
        ),
        (
            (
                'Round lamps hang from the ceiling.',
                'Several round lamps are hanging from the ceiling.',
                'The ceiling has round hanging lamps.',
            ),
            (
                'Magazines lie on the low table.',
                'There are magazines on the low table.',
                'Some magazines are placed on the low table.',
            ),
            (
                'A tall plant stands in the corner.',
                'There is a tall plant in the corner.',
                'In the corner is a tall plant.',
            ),
        ),
        ('RECEPTION', 'ELEVATORS'),
    ),
    View(
        'workshop',
        (
            'The scene depicts a workshop with tools and machines.',
            'The image shows a workshop equipped with machines and tools.',
            'The scene is a workshop with various tools and machines.',
        ),
        (
            (
                'A wooden workbench stands in the center.',
                'In the center there is a wooden workbench.',
                'A workbench made of wood is in the middle of the room.',
            ),
            (
                'Wrenches and screwdrivers hang on a pegboard.',
                'A pegboard holds wrenches and screwdrivers.',
                'On a pegboard hang screwdrivers and wrenches.',
            ),
            (
                'A drill press is placed on the right.',
                'On the right there is a drill press.',
                'A drill press stands on the right side.',
            ),
            (
                'Metal shelves with boxes line the back wall.',
                'The back wall is lined with metal shelves full of boxes.',
                'Along the back wall are metal shelves holding boxes.',
            ),
        ),
        (
            (
                'A fire extinguisher is mounted near the door.',
                'Near the door, a fire extinguisher is mounted.',
                'There is a fire extinguisher by the door.',
            ),
            (
                'A roll of cable lies on the workbench.',
                'On the workbench lies a roll of cable.',
                'There is a cable roll on the workbench.',
            ),
            (
                'The floor is made of concrete.',
                'The concrete floor is bare.',
                'The room has a concrete floor.',
            ),
        ),
        ('WORKSHOP', 'SAFETY GLASSES'),
    ),
)

FILLERS = (
    'The overall atmosphere is calm and quiet.',
    'There are no people visible in the scene.',
    'Overall, the space appears clean and well organized.',
    'No people are present.',
    'The room has a quiet and tidy atmosphere.',
)

DARK = (
    (
        'Only faint outlines of the furniture can be made out.',
        'The outlines of the furniture are barely visible.',
    ),
    (
        'A faint green glow comes from an emergency light.',
        'An emergency light gives off a faint green glow.',
    ),
)
"""What is said beside that it is dark."""


class Narrator:
    """Captions one view, segment after segment.

    :param rng: decides on the words
    """

    def __init__(self, view: View, captioning: Captioning, rng: random.Random) -> None:
        self._view = view
        self._captioning = captioning
        self._rng = rng
        self._words = {fact: rng.choice(fact) for fact in (view.whole, *view.facts, *view.details)}

    def caption(self, happening: Wordings = (), dark: bool = False) -> str:
        """Return a caption.

        :param happening: said beside the view
        :param dark: nothing else can be seen
        """
        rng, how, view = self._rng, self._captioning, self._view
        for fact in self._words:
            if rng.random() < how.reworded:
                self._words[fact] = rng.choice(fact)
        if dark:
            return ' '.join(rng.choice(words) for words in (happening, *DARK))
        body = [self._words[fact] for fact in view.facts if rng.random() < how.steady]
        body += [self._words[fact] for fact in view.details if rng.random() < how.minor]
        if happening:
            body.insert(rng.randrange(len(body) + 1), rng.choice(happening))
        if rng.random() < how.shuffled:
            rng.shuffle(body)
        if rng.random() < how.filler:
            body.append(rng.choice(FILLERS))
        return ' '.join([self._words[view.whole], *body])
