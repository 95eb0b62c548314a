from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.matching import ranking
from remembr_ros.memory.matching.ranking import (
    WORD_BY_WORD,
    Exact,
    best_first,
    diversify,
    exact_share,
    meaning,
    meaning_bound,
    newest_first,
    score,
    word_shares,
)
from remembr_ros.memory.matching.sentences import kinds_of, passages
from remembr_ros.memory.matching.terms import identifiers
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import SOURCES, Memory
from remembr_ros.timestamps import NS

HOUR = 3_600_000_000_000


def memory(name: str, start_ns: int = 0, x: float | None = 0.0, **changes: str) -> Memory:
    pose = None if x is None else Pose(x, 0.0)
    fields = {'robot': 'r', 'caption': '', **changes}
    return Memory(id=name, start_ns=start_ns, end_ns=start_ns + 1, pose=pose, **fields)


def names(hits: list[Hit]) -> list[str]:
    return [hit.memory.id for hit in hits]


def text_memory(name: str, caption: str, *scene_text: str, source: str = 'captioner') -> Memory:
    return Memory(name, 'r', 0, 0, caption, scene_text=scene_text, source=source)


def column(*cosines: float) -> np.ndarray:
    return np.array(cosines, np.float32)[:, None]


NO_WORDS = np.zeros(0, np.float32)


def test_meaning_is_the_mean_of_best_sentence_and_best_paragraph() -> None:
    of = text_memory('m', 'A door. A lift.', 'EXIT')
    assert [p.text for p in passages(of)] == ['A door. A lift.', 'EXIT', 'A door.', 'A lift.']
    parts = kinds_of(of)
    assert meaning(column(0.5, 0.1, 0.2, 0.9), parts, NO_WORDS) == pytest.approx(0.7)
    assert meaning(column(0.5, 0.8, 0.2, 0.7), parts, NO_WORDS) == pytest.approx(0.8)  # what is read is both
    assert meaning(column(-0.5, -0.1, -0.2, -0.9), parts, NO_WORDS) == 0.0
    assert meaning(column(), kinds_of(text_memory('m', '')), NO_WORDS) == 0.0
    assert meaning(column(0.25, 0.5), parts, NO_WORDS) == 0.5  # not those of its passages


def test_every_word_counts_with_the_passage_that_is_nearest_to_it() -> None:
    parts = kinds_of(text_memory('m', 'A red door. A lift.'))
    # of the paragraph and both sentences: to 'red lift', to 'red', to 'lift'
    cosines = np.array([[0.5, 0.2, 0.2], [0.3, 0.9, 0.1], [0.4, 0.0, 0.8]], np.float32)
    both = meaning(cosines, parts, np.array([1.0, 1.0], np.float32))
    assert both == pytest.approx((0.45 + WORD_BY_WORD * 0.85) / (1.0 + WORD_BY_WORD))
    rare = meaning(cosines, parts, np.array([0.0, 1.0], np.float32))
    assert rare == pytest.approx((0.45 + WORD_BY_WORD * 0.8) / (1.0 + WORD_BY_WORD))
    assert meaning(cosines, parts, np.zeros(2, np.float32)) == pytest.approx(0.45)  # every memory has them


COSINES = st.floats(-1.0, 1.0, width=32)


@given(
    arrays(np.float32, st.tuples(st.integers(0, 6), st.integers(1, 4)), elements=COSINES),
    st.data(),
)
def test_no_meaning_exceeds_its_bound(cosines: np.ndarray, data: st.DataObject) -> None:
    worth = data.draw(arrays(np.float32, cosines.shape[1] - 1, elements=st.floats(0.0, 1.0, width=32)))
    for caption in ('A door. A lift.', 'A door.\nThree large old windows.', ''):
        meant = meaning(cosines, kinds_of(text_memory('m', caption)), worth)
        assert 0.0 <= meant <= meaning_bound(cosines, worth) + 1e-6 <= 1.0 + 1e-6


def test_scores_are_asked_for_only_of_what_may_come_next() -> None:
    known = {'a': 0.5, 'b': 0.9, 'c': 0.9, 'd': 0.1, 'e': 0.2}
    bounds = {'a': 0.95, 'b': 0.9, 'c': 1.0, 'd': 0.4, 'e': 0.3}
    asked = []

    def score_of(of: Memory) -> float:
        asked.append(of.id)
        return known[of.id]

    best = best_first([(bounds[name], memory(name)) for name in 'edcba'], score_of)
    assert [(found.id, value) for value, found in islice(best, 3)] == [('b', 0.9), ('c', 0.9), ('a', 0.5)]
    assert sorted(asked) == ['a', 'b', 'c']
    assert [found.id for _, found in best] == ['e', 'd']


def test_word_shares_look_at_caption_and_scene_text() -> None:
    seen = [
        text_memory('a', 'A red sofa.', 'Room 417B'),
        text_memory('b', 'A sofa.'),
        text_memory('c', 'Ivy.'),
    ]
    both, one, none = word_shares('sofas in room 417b', seen)
    assert 1.0 > both > one > none == 0.0
    assert word_shares('sofa', []).shape == (0,)


EXACT = st.none() | st.builds(Exact, st.floats(0.0, 1.0), st.floats(0.0, 1.0))


@given(st.floats(-1.0, 1.5), st.none() | st.floats(0.0, 1.0), EXACT, st.sampled_from(SOURCES), st.text())
def test_a_score_lies_between_zero_and_one(
    meant: float, shared: float | None, exact: Exact | None, source: str, caption: str
) -> None:
    assert 0.0 <= score(text_memory('m', caption, source=source), meant, shared, exact) <= 1.0


def test_what_has_everything_scores_one_and_what_has_nothing_zero() -> None:
    of = text_memory('m', 'A door.')
    assert score(of, 1.0, 1.0, Exact(1.0, 1.0)) == pytest.approx(1.0)
    assert score(of, 0.0, 0.0, Exact(0.0, 1.0)) == 0.0
    assert score(of, 0.5, None, None) == 0.5


def test_words_count_for_more_in_a_short_text() -> None:
    short, long = text_memory('s', 'The keys hang there.'), text_memory('l', 'The keys hang there. ' * 80)
    assert score(short, 0.4, 1.0, None) > score(long, 0.4, 1.0, None) + 0.3
    assert score(long, 0.4, 1.0, None) > score(long, 0.4, 0.0, None) == score(short, 0.4, 0.0, None)
    a_few_words, the_others = score(short, 0.4, 0.3, None) - 0.4, score(short, 0.4, 1.0, None) - 0.7
    assert 0.0 < a_few_words < the_others / 3


@pytest.mark.parametrize(
    ('asked', 'right', 'wrong'),
    [
        ('where is room 117', 'A sign reads "ROOM 117".', 'A sign reads "ROOM 118".'),
        ('where is B-204', 'A door, B 204.', 'A door, B-205.'),
        ('take me to the Dedalus poster', 'A poster: DEDALUS.', 'A poster of a man with wings.'),
    ],
)
def test_what_is_met_literally_beats_what_is_much_nearer_in_meaning(
    asked: str, right: str, wrong: str
) -> None:
    memories = [text_memory('right', right), text_memory('wrong', wrong)]
    patterns = [(one.pattern, 1.0) for one in identifiers(asked)]
    shared = word_shares(asked, memories)
    at_right, at_wrong = (
        score(memory, meant, float(of_words), exact_share(patterns, memory))
        for meant, of_words, memory in zip((0.5, 0.7), shared, memories, strict=True)
    )
    assert at_right > at_wrong + 0.05


def test_a_rare_name_in_small_letters_beats_what_is_a_little_nearer_in_meaning() -> None:
    memories = [text_memory(f'{i}', 'A poster on a wall.') for i in range(200)]
    memories.append(text_memory('right', 'A dedalus poster on a wall.'))
    shared = word_shares('where is the dedalus poster', memories)
    rare, common = memories[-1], memories[0]
    assert score(rare, 0.5, float(shared[-1]), None) > score(common, 0.54, float(shared[0]), None)


def test_a_name_that_most_memories_have_is_worth_little() -> None:
    of = text_memory('m', 'Nora: the cat is ill.')
    (name,) = identifiers('what did Nora say')
    at_rare, at_common = exact_share([(name.pattern, 1.0)], of), exact_share([(name.pattern, 0.1)], of)
    assert (at_rare, at_common) == (Exact(1.0, 1.0), Exact(1.0, 0.1))
    assert exact_share([(name.pattern, 0.0)], of) is None
    assert score(of, 0.4, 0.0, at_rare) > score(of, 0.4, 0.0, at_common) + 0.1


def test_a_note_by_a_person_outranks_a_caption_that_fits_as_well() -> None:
    asked = "where is Anna's office"
    note = text_memory('note', "This is Anna's office", source='person')
    caption = text_memory('caption', 'An office with a desk and a chair.')
    patterns = [(one.pattern, 1.0) for one in identifiers(asked)]
    shared = word_shares(asked, [note, caption])
    scores = [
        score(memory, 0.6, float(of_words), exact_share(patterns, memory))
        for of_words, memory in zip(shared, (note, caption), strict=True)
    ]
    assert scores[0] > scores[1]
    said = text_memory('said', 'An office with a desk and a chair.', source='person')
    assert score(said, 0.6, 0.5, None) > score(caption, 0.6, 0.5, None)
    assert score(said, 0.3, 0.0, None) < score(caption, 0.6, 0.5, None)


def test_of_memories_that_score_alike_the_newest_is_first() -> None:
    scored = [(0.5, memory('b', 1)), (0.5, memory('a', 1)), (0.5, memory('c', 2)), (0.6, memory('d'))]
    known = {found.id: value for value, found in scored}
    for order in (scored, scored[::-1]):
        best = best_first([(1.0, found) for _, found in order], lambda found: known[found.id])
        assert [found.id for _, found in best] == ['d', 'c', 'a', 'b']


def test_one_parked_hour_shows_once_before_others() -> None:
    parked = [Hit(memory(f'p{i}', i * 3), 0.9) for i in range(5)]
    elsewhere = Hit(memory('e', 0, x=5.0), 0.5)
    assert names(diversify([*parked, elsewhere], 3)) == ['p0', 'e', 'p1']


@pytest.mark.parametrize(
    'other',
    [
        memory('b', x=1.5),
        memory('b', 2 * HOUR),
        memory('b', x=None),
        memory('b', robot='s'),
        memory('b', map_id='floor2'),
        memory('b', source='person'),
    ],
)
def test_another_place_time_robot_map_or_source_is_another_stay(other: Memory) -> None:
    hits = [Hit(memory('a'), 0.9), Hit(memory('a2', 10), 0.8), Hit(other, 0.7)]
    assert names(diversify(hits, 2)) == ['a', 'b']


def test_diversity_never_returns_fewer_than_there_are() -> None:
    hits = [Hit(memory(f'p{i}', i), 1.0 - i / 10) for i in range(4)]
    assert names(diversify(hits, 10)) == ['p0', 'p1', 'p2', 'p3']


def test_newest_first_breaks_ties_by_start_and_id() -> None:
    a, b = memory('a', 5), memory('b', 5)
    longer = Memory('c', 'r', 1, 6, '')
    assert [m.id for m in newest_first([longer, b, a])] == ['a', 'b', 'c']


def test_the_likeliest_are_near_in_part_and_as_a_whole() -> None:
    parts = {'a': 0.9, 'b': 0.8, 'c': 0.7}
    wholes = {'d': 0.6, 'b': 0.5, 'a': 0.2}
    # c's paragraphs are at most as near as a's, d's sentences at most as c's; a paragraph is a passage, too.
    assert ranking.likeliest(parts, wholes, 9) == ['b', 'd', 'a', 'c']
    assert ranking.likeliest(parts, wholes, 2) == ['b', 'd']
    assert ranking.likeliest(parts, {}, 9) == ['a', 'b', 'c']
    assert ranking.likeliest({}, {}, 9) == []
    assert ranking.likeliest({'z': 0.5, 'y': 0.5}, {}, 1) == ['y']


def test_deeds_of_one_moment_and_place_are_each_told() -> None:
    begin_ns = 1_700_000_000 * NS
    deeds = [
        deed(begin_ns + i, begin_ns + NS, kind='pick', object=f'cup {i}', pose=Pose(1.0, 2.0)).memory('r')
        for i in range(5)
    ]
    hits = [Hit(memory, 1.0 - i / 10) for i, memory in enumerate(deeds)]
    other = Hit(Memory('m', 'r', begin_ns, begin_ns + NS, 'A cup.', Pose(1.0, 2.0)), 0.1)
    assert diversify([*hits, other], 5) == hits
