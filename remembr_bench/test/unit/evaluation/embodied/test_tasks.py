"""Tasks of a real home: what they demand, what they are called, and that they are the same each time."""

import re
from collections import Counter
from functools import lru_cache
from itertools import islice

from remembr_bench.evaluation.embodied.tasks import CATEGORIES, CHOICES, EmbodiedTask, candidates
from remembr_bench.evaluation.findingdory.episode import HomeEpisode
from test.lived_homes import lived


@lru_cache(1)
def home() -> tuple[HomeEpisode, tuple[EmbodiedTask, ...]]:
    episode = lived(4)
    return episode, tuple(candidates(4, episode))


def test_categories_take_turns() -> None:
    _, tasks = home()
    there = [name for name in CATEGORIES if any(task.category == name for task in tasks)]
    assert len(there) >= 4
    assert Counter(task.category for task in tasks[: len(there)]) == dict.fromkeys(there, 1)
    assert len({task.pattern for task in tasks}) >= 10
    assert list(islice(candidates(4, home()[0]), 20)) == list(tasks[:20])


def test_an_instruction_has_no_gaps_and_its_names_leave_no_doubt() -> None:
    episode, tasks = home()
    things = episode.truth.simulator.things.values()
    twice = {name for name, times in Counter(one.name for one in things).items() if times > 1}
    for task in tasks:
        assert '{' not in task.instruction
        said = re.match(r'(?:Fetch|Go to|Bring me) the (.+?)( in the .+)?\.$', task.instruction)
        assert not said or said[1] not in twice or said[2], task


def test_the_right_answer_is_among_a_few() -> None:
    _, tasks = home()
    for task in tasks:
        rights = [demand.of for demand in task.demands if demand.check == 'choose']
        assert bool(rights) == bool(task.choices)
        assert not rights or (rights[0] in task.choices and 1 < len(set(task.choices)) <= CHOICES), task


def test_what_is_true_of_the_day_is_demanded() -> None:
    episode, tasks = home()
    last = episode.truth.handled[-1]
    backs = {d.of: d.by for t in tasks if t.pattern.startswith('Put {} back') for d in t.demands}
    for thing, piece in backs.items():
        assert [one.source for one in episode.truth.handled if one.thing == thing] == [piece]
    for task in tasks:
        if task.instruction == 'Which thing did you move last yesterday?':
            assert task.demands[0].of == f'the {episode.truth.name(last.thing)}'
