"""From which cosine on two sentences say the same: every embedder has a scale of its own."""

import numpy as np

from remembr_ros.embedding.embedder import Embedder

# Measured over a simulated day and real drives; the table is in docs/consolidation.md.
ALIKE = {'all-MiniLM-L6-v2': 0.55}

# What a captioner says of one scene in two segments, and what would be a change.
SAME = (
    ('Three desks with monitors stand on the left side.', 'On the left are three desks with monitors.'),
    ('A large window lets daylight into the room.', 'Daylight enters the room through a large window.'),
    ('The floor is covered with gray carpet.', 'A gray carpet covers the floor.'),
    ('A low table is surrounded by two gray sofas.', 'Two gray couches stand around a low table.'),
    ('Glass doors lead outside in the background.', 'In the back are glass doors to the outside.'),
    ('A pegboard holds wrenches and screwdrivers.', 'Screwdrivers and wrenches hang on a pegboard.'),
    ('Cars are parked along the street.', 'Several vehicles are parked on the side of the road.'),
    ('A potted plant stands next to the window.', 'Near the window is a plant in a pot.'),
)
OTHER = (
    ('A person in a red jacket walks past.', 'A low table is surrounded by two gray sofas.'),
    ('A large cardboard box stands on the floor.', 'The floor is covered with gray carpet.'),
    ('The room is dark because the lights are off.', 'A large window lets daylight into the room.'),
    ('A man is pushing a cart loaded with boxes.', 'Metal shelves with boxes line the back wall.'),
    ('A ladder leans against the wall.', 'A whiteboard with diagrams hangs on the wall.'),
    ('Water is spilled on the floor.', 'Polished stone tiles cover the floor.'),
    ('A delivery van stops at the entrance.', 'Cars are parked along the street.'),
    ('A woman stands at the window.', 'A potted plant stands next to the window.'),
)


def alike_for(embedder: Embedder) -> float:
    """Return the least cosine of two sentences that say the same, for this embedder.

    For one that was not measured it lies halfway between the pairs above: the mean of those that say the same
    and the mean of the others. Embeds 32 sentences then: ask once.
    """
    if embedder.name in ALIKE:
        return ALIKE[embedder.name]
    pairs = [*SAME, *OTHER]
    vectors = embedder.embed([sentence for pair in pairs for sentence in pair])
    cosines = np.sum(vectors[::2] * vectors[1::2], axis=1)
    return float(np.mean(cosines[: len(SAME)]) + np.mean(cosines[len(SAME) :])) / 2.0
