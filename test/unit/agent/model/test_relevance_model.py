from collections.abc import Callable

import pytest

from remembr_ros.agent.model.relevance_model import (
    AS_GOOD,
    PERHAPS,
    SHOWN,
    as_good_as_best,
    find_sightings,
    fit_in_a_word,
)
from remembr_ros.agent.offline.request import searched
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.store import MemoryStore
from test.unit.agent.listed_recall import ListedRecall

Make = Callable[..., Memory]


def sightings(recall: ListedRecall | MemoryStore, text: str) -> list[Hit]:
    return find_sightings(searched(text), recall, ANYTHING)


def test_what_has_the_words_is_likelier_and_comes_first(make_memory: Make) -> None:
    recall = ListedRecall([make_memory(0, 'A bench.'), make_memory(1, 'A red bench by a tree.')])
    found = sightings(recall, 'Where is the red bench?')
    assert [hit.memory.id for hit in found] == ['t01', 't00']
    assert found[0].score > found[1].score >= SHOWN


@pytest.mark.parametrize(
    ('question', 'caption'),
    [
        ('Where can I throw something away?', 'A green recycling bin by the wall.'),
        ('Where can I get food?', 'Two food trucks are parked on the plaza.'),
        ('Where can I sit down?', 'A wooden bench under a tree.'),
        ('Where can I call somebody?', 'A blue emergency phone on a pole.'),
    ],
)
def test_what_a_thing_is_for_finds_it(make_memory: Make, question: str, caption: str) -> None:
    recall = ListedRecall([make_memory(0, 'A brick wall.'), make_memory(1, caption)])
    assert [hit.memory.id for hit in sightings(recall, question)][:1] == ['t01']


def test_as_good_as_the_best_are_those_that_are_nearly_as_likely(make_memory: Make) -> None:
    hits = [Hit(make_memory(i, 'A bench.'), score) for i, score in enumerate((0.9, 0.9 - AS_GOOD / 2, 0.5))]
    assert as_good_as_best(hits) == hits[:2]


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('ROOM 101', {'t00': 'surely', 't02': 'hardly'}),
        ('ROOM 999', {'t00': 'hardly', 't02': 'hardly'}),
        ('xyzzy', {'t00': 'hardly', 't12': 'hardly'}),
        ('red cupboards', {'t12': 'surely', 't00': 'hardly'}),
    ],
)
def test_a_search_is_as_sure_as_an_answer(minilm_tour: MemoryStore, text: str, words: dict[str, str]) -> None:
    hits = {hit.memory.id: hit for hit in minilm_tour.find(Query(text, limit=30))}
    told = {name: fit_in_a_word(searched(text), hits[name], minilm_tour.embedder_name) for name in words}
    assert told == words


@pytest.mark.parametrize(
    ('caption', 'sure'),
    [
        ('Two pedestrians walk by.', True),
        ('There are no pedestrians visible.', False),
        ('A tall building, likely a hostel for pedestrians.', False),
        ('There are no pedestrians on the left. On the right a pedestrian waits.', True),
    ],
)
def test_what_is_not_there_or_only_guessed_is_not_seen(make_memory: Make, caption: str, sure: bool) -> None:
    found = sightings(ListedRecall([make_memory(0, caption)]), 'Where are the pedestrians?')
    assert (found[0].score > PERHAPS) is sure


def test_what_was_put_somewhere_is_the_thing(make_memory: Make) -> None:
    put = make_memory(0, 'Put X-ray films on the light table.')
    assert sightings(ListedRecall([put]), 'Where are the X-ray films?')[0].score > PERHAPS
