"""Stays in which nothing changes become one memory: a parked night must not dilute what the robot saw.

While the robot stands and sees the same, the last memory is extended. The rule needs nothing but the stored
memories nearest in time and the vectors of their sentences, so that it holds across restarts, and the store
and the evaluation share it. How the numbers were measured: docs/consolidation.md.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.geometry import distance, wrap_angle
from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.matching.terms import new_readings
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

# Sources that repeat themselves; what a person said once was meant once. Deeds: see routine.
CONSOLIDATED = ('captioner',)
# Stored memories, nearest to the new one's start, that decide what becomes of it: those around it and the
# last ones before. One robot's memories overlap only where its clock was set back.
NEAREST = 8
SHORT = 2  # sentences up to which a caption packs so much into each that a change moves it little
# Share of a stay's segments from which on what they show belongs to the place: a captioner leaves details
# out, while what passes by is there for a moment.
USUAL = 0.25
# Sentences that captioners add and drop as they please. 'There are no people' is also nearly the same to an
# embedder as 'There are people'.
_SAYS_NOTHING = re.compile(
    r'^(there (is|are) (no|nothing|nobody)|no|none|nothing|nobody|overall)\b'
    r'|\b(atmosphere|ambiance|ambience|vibe|mood)\b',
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Consolidation:
    """When a stay goes on.

    :param alike: least cosine of a sentence and the sentence most like it for both to say the same; see
        remembr_ros.memory.consolidation.rule
    :param alike_short: the same for captions of at most SHORT sentences
    :param stands_within_m: the robot stands while it is so near to where the stay began [m]
    :param stands_within_rad: and turned by no more [rad]
    :param max_gap_ns: after a longer time without memories a stay is another stay [ns]
    :param max_span_ns: no memory grows longer [ns]: who deletes an hour for privacy shall not lose a day, and
        daylight that fades too slowly to be a change is seen at least so often
    """

    alike: float
    alike_short: float = 0.9
    stands_within_m: float = 0.5
    stands_within_rad: float = math.radians(20.0)
    max_gap_ns: int = 60 * NS
    max_span_ns: int = 3600 * NS


def consolidation_for(embedder: Embedder) -> Consolidation:
    """Return the rule with the likeness for this embedder, which may embed some sentences: ask once."""
    return Consolidation(alike_for(embedder))


@dataclass(frozen=True, slots=True)
class Scene:
    """A memory and what it says.

    :param vectors: of the sentences that say something, unit length: shape (sentences, dimension)
    """

    memory: Memory
    vectors: NDArray[np.float32]


def scene_of(entry: Entry) -> Scene:
    """Return the scene of a memory with the vectors of its passages as the store keeps them."""
    rows = list(telling_sentences(entry.memory))
    if rows and rows[-1] >= len(entry.vectors):  # of a version that split captions in another way
        return Scene(entry.memory, entry.vectors)
    return Scene(entry.memory, entry.vectors[rows])


def telling_sentences(memory: Memory) -> dict[int, str]:
    """Return the sentences of a caption that say something, all if none does, by number of passage."""
    texts = {
        number: passage.text
        for number, passage in enumerate(passages(memory))
        if passage.is_sentence and passage.text not in memory.scene_text
    }
    return {number: text for number, text in texts.items() if not _SAYS_NOTHING.search(text)} or texts


def absorb(stored: Sequence[Scene], new: Scene, config: Consolidation) -> Memory | None:
    """Return the stored memory that a new one is part of, as it is from now on; None: it is one of its own.

    A stored memory that covers the new one already comes back unchanged, so that a recording can be ingested
    again. What comes back differs from what is stored in end, travelled and merged only: pose, caption, scene
    text and so the vectors stay those of the first segment, so that drifting by small steps is a change, too.

    :param stored: at least the NEAREST memories of the same robot, map and source around new's start, in any
        order
    """
    memory = new.memory
    of_one = (scene for scene in stored if _origin(scene.memory) == _origin(memory))
    ordered = sorted(of_one, key=lambda s: (s.memory.start_ns, s.memory.id))
    for scene in ordered:
        if scene.memory.id == memory.id:  # another caption of the same segment replaces it
            known = scene.memory.caption == memory.caption and memory.end_ns <= scene.memory.end_ns
            return scene.memory if known else None
    if memory.source not in CONSOLIDATED:
        return None
    covering = (scene.memory for scene in ordered if _covers(scene, new, config))
    before = [scene for scene in ordered if scene.memory.start_ns <= memory.start_ns]
    return next(covering, _extended(before, new, config) if before else None)


def _extended(before: Sequence[Scene], new: Scene, config: Consolidation) -> Memory | None:
    """Return the last of the memories before the new one with it merged in; None: something has changed."""
    last, memory = before[-1], new.memory
    if not memory.is_captioned and memory.keyframes:
        return None  # nobody knows yet what it shows
    if memory.end_ns - last.memory.start_ns > config.max_span_ns or not _stays(last.memory, memory, config):
        return None
    if not _nothing_new(last, new, config) or not _nothing_gone(before, new, config):
        return None
    return replace(
        last.memory,
        end_ns=max(last.memory.end_ns, memory.end_ns),
        merged=last.memory.merged + memory.merged,
        travelled=last.memory.travelled + memory.travelled,
    )


def consolidate(memories: Sequence[Memory], embedder: Embedder, config: Consolidation) -> list[Memory]:
    """Return the memories with those that repeat the one before merged into it, in the order of time.

    :param memories: in any order, of any robots
    """
    sentences = {memory: list(telling_sentences(memory).values()) for memory in memories}
    unique = list(dict.fromkeys(s for sentence in sentences.values() for s in sentence))
    row = {sentence: index for index, sentence in enumerate(unique)}
    vectors = embedder.embed(unique) if unique else np.empty((0, embedder.dimension), np.float32)
    scenes: dict[tuple[str, ...], list[Scene]] = {}
    for memory in sorted(memories, key=lambda m: (m.start_ns, -m.end_ns, m.id)):
        new = Scene(memory, vectors[[row[s] for s in sentences[memory]]])
        stays = scenes.setdefault(_origin(memory), [])
        whole = absorb(stays[-NEAREST:], new, config)
        if whole is None:
            stays.append(new)
            continue
        index = next(i for i in reversed(range(len(stays))) if stays[i].memory.id == whole.id)
        stays[index] = replace(stays[index], memory=whole)
    merged = (scene.memory for stays in scenes.values() for scene in stays)
    return sorted(merged, key=lambda m: (m.start_ns, m.id))


def _origin(memory: Memory) -> tuple[str, ...]:
    return (memory.robot, memory.map_id, memory.frame_id, memory.source, memory.camera)


def _stands(a: Memory, b: Memory, config: Consolidation) -> bool:
    """Tell whether the robot stood from a to b; what is unplaced tells nothing."""
    if a.pose is None or b.pose is None:
        return False
    turned = abs(wrap_angle(a.pose.yaw - b.pose.yaw))
    moved = distance(a.pose.position, b.pose.position)
    return moved <= config.stands_within_m and turned <= config.stands_within_rad


def _stays(last: Memory, memory: Memory, config: Consolidation) -> bool:
    """Tell whether a memory follows the last one at the same place."""
    return memory.start_ns - last.end_ns <= config.max_gap_ns and _stands(last, memory, config)


def _covers(scene: Scene, new: Scene, config: Consolidation) -> bool:
    """Tell whether a stored memory stands for the new one already.

    What arrives late and saw something else in between is a memory of its own.
    """
    if not new.memory.is_captioned and new.memory.keyframes:
        return False
    inside = scene.memory.start_ns <= new.memory.start_ns and new.memory.end_ns <= scene.memory.end_ns
    return inside and _stands(scene.memory, new.memory, config) and _nothing_new(scene, new, config)


def _nothing_new(last: Scene, new: Scene, config: Consolidation) -> bool:
    """Tell whether all that the new memory says and reads is known from the last one."""
    if new_readings(new.memory.scene_text, last.memory.scene_text):
        return False
    return bool(np.all(_known(new, last, config)))


def _nothing_gone(before: Sequence[Scene], new: Scene, config: Consolidation) -> bool:
    """Tell whether what set the last memory off from those before it is still there.

    Captioners leave out what they said before, so that a missing sentence is no change; but what began a
    memory ends it when it is gone: a person who walked past shall not have stood there for an hour.

    :param before: the memories before the new one, in the order of time
    """
    last = before[-1]
    known_for, stay = np.zeros(len(last.vectors)), 0
    for later, earlier in pairwise(reversed(before)):
        follows = _stays(earlier.memory, later.memory, config)
        if not follows or not _stands(earlier.memory, last.memory, config):
            break
        known_for += earlier.memory.merged * _known(last, earlier, config)
        stay += earlier.memory.merged
    is_usual = known_for > USUAL * stay  # nothing is in the first memory of a stay
    return bool(np.all(_known(last, new, config) | is_usual))


def _known(scene: Scene, before: Scene, config: Consolidation) -> NDArray[np.bool_]:
    """Return which sentences of one scene the other says, too: shape (sentences of scene,).

    Each counts, not their mean: one sentence about a person is the change among ten about a room.
    """
    least = config.alike_short if min(len(scene.vectors), len(before.vectors)) <= SHORT else config.alike
    return np.asarray(np.max(scene.vectors @ before.vectors.T, axis=1, initial=-1.0) >= least)


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
