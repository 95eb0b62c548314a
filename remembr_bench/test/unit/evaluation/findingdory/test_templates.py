"""Templates: 60 in 11 categories, filled from the truth of a small made-up episode."""

import random
from collections import Counter

import pytest

from remembr_bench.evaluation.findingdory.templates import TEMPLATES, fill_templates
from remembr_bench.evaluation.findingdory.truth import EpisodeTruth, Handling
from remembr_bench.evaluation.tasks.goals import Quantifier, Task, Where
from remembr_bench.simulation.homes.home import Interaction
from remembr_ros.geometry import Pose
from remembr_ros.timestamps import NS, parse_time
from test.task_world import TaskWorld, thing

EIGHT_NS = parse_time('2026-03-02T08:00:00Z')
WORLD = TaskWorld(
    thing('red cup', 1.0, 3.0, colour='red', function='drinking', shape='cylinder'),
    thing('blue book', 7.0, 3.0, colour='blue', function='reading', shape='box'),
    thing('red box', 5.0, 3.0, colour='red', shape='box'),
    thing('green cup', 3.0, 3.0, colour='green'),
    thing('table', 1.0, 1.0, 'receptacle'),
    thing('shelf', 6.0, 2.0, 'receptacle'),
    thing('old shelf', 3.0, 1.0, 'receptacle'),
    thing('sofa', 7.0, 1.0, 'receptacle'),
)


def handling(name: str, source: str, target: str, minute: int, seconds: int) -> Handling:
    start_ns = EIGHT_NS + minute * 60 * NS + 10 * NS
    rooms = [WORLD.things[one].room for one in (source, target)]
    times = (start_ns, start_ns + 5 * NS, start_ns + (seconds - 5) * NS, start_ns + seconds * NS)
    made = [
        Interaction(kind, 1, 2, room, times[i], times[i + 1], Pose(0.0, 0.0), 1.0)  # type: ignore[arg-type]
        for kind, room, i in (('pick', rooms[0], 0), ('place', rooms[1], 2))
    ]
    return Handling(name, source, target, *made)


HANDLED = [
    handling('red cup', 'table', 'shelf', 10, 40),
    handling('blue book', 'shelf', 'sofa', 30, 90),
    handling('red box', 'table', 'shelf', 50, 60),
    handling('red cup', 'shelf', 'table', 70, 50),
]
QUANTIFIERS = {
    'unordered revisitation': Quantifier.ALL,
    'ordered revisitation': Quantifier.ALL_IN_ORDER,
}
STAYS = {'kitchen': 1000.0, 'study': 100.0}
KNOWN = frozenset(WORLD.things)


def filled(
    handled: list[Handling] = HANDLED, stays: dict[str, float] = STAYS, each: int = 9
) -> tuple[dict[str, Task], dict[str, str]]:
    truth = EpisodeTruth(WORLD, handled, KNOWN, stays, Pose(0.5, 0.5))
    tasks, unfilled = fill_templates(truth, random.Random(0), each)
    assert all(metres < 50.0 for _, metres in tasks)
    reasons = {template: why.partition(': ')[2] for template, why in unfilled.items()}
    return {task.instruction: task for task, _ in tasks}, reasons


TASKS, UNFILLED = filled()
HANDLED_IS = 'Go to an object that you handled yesterday and that is'
PLACED_ON = 'Go to the receptacle that you placed an object on'
PICKED_FROM = 'Go to the receptacle that you picked an object from'


def test_there_are_sixty_in_eleven_categories() -> None:
    assert Counter(template.category for template in TEMPLATES) == {
        'object recall': 4,
        'interaction': 4,
        'conditional interaction': 7,
        'object attributes': 5,
        'spatial relationship': 5,
        'room visitation': 5,
        'interaction order': 16,
        'time-based': 2,
        'duration tracking': 3,
        'unordered revisitation': 6,
        'ordered revisitation': 3,
    }
    assert len({template.text for template in TEMPLATES}) == 60


@pytest.mark.parametrize(
    ('instruction', 'parts'),
    [
        ('Go to a cup.', ['red cup', 'green cup']),
        ('Go to a receptacle that you used yesterday.', ['table', 'shelf', 'sofa']),
        ('Go to a receptacle that you did not use yesterday.', ['old shelf']),
        ('Go to an object that you did not handle yesterday.', ['green cup']),
        ('Go to the cup that you handled yesterday.', ['red cup']),
        ('Go to a cup that you did not handle yesterday.', ['green cup']),
        ('Go to a shelf that you did not use yesterday.', ['old shelf']),
        ('Go to a table that you picked an object from yesterday.', ['table']),
        ('Go to the receptacle from which you picked the blue book yesterday.', ['shelf']),
        ('Go to the object that you picked from the table yesterday.', ['red cup', 'red box']),
        (
            'Go to an object that you handled yesterday and that is shaped like a box.',
            ['blue book', 'red box'],
        ),
        (f'{HANDLED_IS} red.', ['red cup', 'red box']),
        (f'{HANDLED_IS} used for drinking.', ['red cup']),
        ('Go to the object farthest from here that you handled yesterday.', ['blue book']),
        ('Go to the room where you placed the second object yesterday.', ['study']),
        ('Go to the room where you picked the red box yesterday.', ['kitchen']),
        ('Go to the third object that you handled yesterday.', ['red box']),
        ('Go to the second receptacle that you picked an object from yesterday.', ['shelf']),
        ('Go to the object that you handled right after the blue book yesterday.', ['red box']),
        ('Go to the object that you handled right before the blue book yesterday.', ['red cup']),
        ('Go to the object that you handled two interactions after the blue book yesterday.', ['red cup']),
        (
            f'{PLACED_ON} right before you picked the red box yesterday.',
            ['sofa'],
        ),
        (
            f'{PICKED_FROM} right after you placed the red box yesterday.',
            ['shelf'],
        ),
        ('Go to the receptacle that you used at 08:10 yesterday.', None),  # the table and the shelf
        ('Go to the object that you handled at 08:31 yesterday.', ['blue book']),
        ('Go to the object that took you longest to rearrange yesterday.', ['blue book']),
        ('Go to the room where you stayed the longest yesterday.', ['kitchen']),
        ('Go to all tables that you picked an object from yesterday.', ['table']),
        (
            'Go to all receptacles that you placed an object on yesterday, in the order in which you did.',
            ['shelf', 'sofa', 'table'],
        ),
        (
            'Go to all objects that you handled yesterday, in the order in which you did.',
            ['red cup', 'blue book', 'red box'],
        ),
    ],
)
def test_instructions_and_their_goals(instruction: str, parts: list[str] | None) -> None:
    if parts is None:
        assert instruction not in TASKS
    else:
        assert [part.of for part in TASKS[instruction].goal.parts] == parts


def test_goals_are_of_the_kind_that_is_asked_for() -> None:
    for task in TASKS.values():
        wheres = {part.where for part in task.goal.parts}
        assert len(wheres) == 1
        if 'room where' in task.instruction or 'a room' in task.instruction:
            assert wheres == {Where.IN_ROOM}
        assert task.goal.quantifier is QUANTIFIERS.get(task.category, Quantifier.EXISTS)


def test_what_cannot_be_filled_is_listed_with_its_reason() -> None:
    assert UNFILLED['Go to a room that you did not visit yesterday.'] == 'the robot was in every room'
    assert UNFILLED['Go to an object that you handled yesterday and that is made of {value}.'].startswith(
        'nothing'
    )
    assert not any(template.text in UNFILLED for template in TEMPLATES if template.category == 'time-based')
    tasks, unfilled = filled(HANDLED[:2], {'kitchen': 100.0})
    assert 'Go to a room that you did not visit yesterday.' in tasks
    between = 'Go to the object that you handled between the {a} and the {b} yesterday.'
    assert unfilled[between] == 'too few things were handled'
    longest = 'Go to the room where you stayed the longest yesterday.'
    assert filled(stays={'kitchen': 100.0, 'study': 99.0})[1][longest] == 'none was clearly so'


def test_of_a_day_with_one_handling_nothing_is_compared() -> None:
    tasks, unfilled = filled(HANDLED[:1])
    assert 'Go to the object that took you longest to rearrange yesterday.' in unfilled
    assert 'Go to all objects that you handled yesterday.' in tasks


def test_there_are_so_many_of_a_template_at_most() -> None:
    tasks, _ = filled(each=1)
    assert max(Counter((task.template, task.wording) for task in tasks.values()).values()) == 1
    assert filled(each=1) == filled(each=1)
