"""Questions about a cup that was moved and taken away: what is asked, and what is right, stale or silent."""

from dataclasses import replace

import pytest

from remembr_bench.evaluation.stale.life import DAY_NS, NOW_NS, ThingStay
from remembr_bench.evaluation.stale.questions import WAYS, ask_life, questions, verdict
from remembr_bench.simulation.homes.home import Item
from remembr_bench.simulation.homes.layout import START_NS
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import OBJECT, PERSON, Memory

MIN_NS = 60 * 10**9
CUP = Item(7, 'cup', 'red', 'small', ())
MOVED_NS, LAST_NS = START_NS + 30 * MIN_NS, NOW_NS - 8 * 60 * MIN_NS
TABLE = ThingStay((1.0, 1.0, 0.8), START_NS, MOVED_NS)
SHELF = ThingStay((6.0, 2.0, 0.8), MOVED_NS, LAST_NS)
NOWHERE = ThingStay(None, LAST_NS, NOW_NS)
STAYS = [TABLE, SHELF, NOWHERE]
SEEN = Memory('a', 'robot', START_NS, START_NS + 3, 'I see a red cup.', Pose(1.5, 1.5))
OTHER = replace(SEEN, id='b', start_ns=MOVED_NS + 5, end_ns=MOVED_NS + 6, caption='I see a blue cup.')
PUT = deed(
    *(MOVED_NS, MOVED_NS + MIN_NS),
    kind='place',
    object='red cup',
    receptacle='shelf',
    outcome='succeeded',
    pose=Pose(5.5, 2.0),
).memory('robot')
TOOK = Memory('c', 'robot', NOW_NS - 5, NOW_NS - 5, 'I took the red cup away.', source=PERSON)


def said(memory: Memory, confidence: float = 0.9, text: str = 'There.') -> Answer:
    evidence = (Hit(memory, 1.0),)
    return Answer(
        Kind.POSITION, text, 'rules', pose=memory.pose or Pose(0, 0), evidence=evidence, confidence=confidence
    )


def test_only_what_can_be_known_is_asked() -> None:
    stays = {CUP: STAYS}
    assert list(questions(stays, [SEEN, OTHER])) == []
    known = list(questions(stays, [SEEN, OTHER, PUT]))  # that it is gone nobody knows
    assert [(text, case, right) for text, _, case, right, _ in known] == [
        ('Where was the red cup on 2026-03-02 at 08:00?', 'then: seen then deed', TABLE)
    ]
    cases = {case for _, _, case, _, _ in questions(stays, [SEEN, PUT, TOOK])}
    assert cases == {'then: seen then note', 'then: deed then note', 'now: deed then note'}


def test_a_day_is_asked_about_if_it_was_at_one_place_only() -> None:
    moved = SHELF.from_ns + DAY_NS
    stays = [replace(TABLE, to_ns=moved), ThingStay(SHELF.place, moved, NOW_NS)]
    later = replace(SEEN, id='d', start_ns=moved + MIN_NS, end_ns=moved + MIN_NS)
    texts = [text for text, *_ in questions({CUP: stays}, [SEEN, later])]
    assert texts == [
        'Where is the red cup?',
        'Where was the red cup on Monday?',
        'Where was the red cup on 2026-03-02 at 08:00?',
    ]


@pytest.mark.parametrize(
    ('right', 'answer', 'expected'),
    [
        (SHELF, said(PUT), 'right'),
        (SHELF, said(SEEN), 'stale'),
        (SHELF, said(SEEN, 0.5), 'silent'),
        (SHELF, said(OTHER), 'astray'),
        (SHELF, Answer(Kind.NOT_SEEN, 'I have not seen it.', 'rules'), 'silent'),
        (SHELF, said(replace(SEEN, source=OBJECT, pose=Pose(6.1, 2.1, 0.8))), 'right'),
        (SHELF, said(replace(SEEN, source=OBJECT, pose=Pose(1.1, 1.1, 0.8))), 'stale'),
        (NOWHERE, said(PUT), 'stale'),
        (NOWHERE, said(PUT, text='It was last seen on the shelf.'), 'silent'),
        (NOWHERE, said(PUT, text='It was last seen on the shelf, and is gone.'), 'right'),
    ],
)
def test_what_is_right_is_told_by_what_is_cited(right: ThingStay, answer: Answer, expected: str) -> None:
    assert verdict(answer, CUP, right, STAYS) == expected


def test_each_kind_of_memory_is_asked_in_every_way() -> None:
    rows = list(ask_life({CUP: [TABLE, replace(SHELF, to_ns=NOW_NS)]}, [SEEN, OTHER, PUT]))
    assert {row['memory'] for row in rows} == {'captions', 'everything'}  # without captions there is one stay
    now = next(row for row in rows if row['case'].startswith('now'))
    assert now['question'] == 'Where is the red cup?'
    assert [now[way] for way in WAYS[:2]] == ['right', 'right']
