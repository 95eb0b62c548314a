from collections.abc import Callable

import pytest

from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.answer_text import with_facts
from remembr_ros.agent.model.grounding import Choice, Claim, choose, ground, without_invented_numbers
from remembr_ros.agent.model.same_place import SamePlace
from remembr_ros.errors import Ungrounded
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

START_NS = 1_700_000_000 * NS

Make = Callable[..., Memory]
AskAbout = Callable[..., Question]


@pytest.fixture
def hits(make_memory: Make) -> list[Hit]:
    """The memories at x = 0, 5, 10 m and an unplaced one; the first one was the best."""
    memories = [make_memory(i, ('LIFT',)) for i in range(3)] + [make_memory(3, ('LIFT',), pose=None)]
    return [Hit(memory, 1.0 - 0.1 * i) for i, memory in enumerate(memories)]


@pytest.fixture
def question(ask_about: AskAbout) -> Question:
    return ask_about('Where?', here=Pose(9.0, 1.0))


def test_a_position_is_that_of_the_first_cited_memory_with_a_place(
    hits: list[Hit], question: Question
) -> None:
    answer = ground(Claim(Kind.POSITION, 'There', hits[::-1]), question, 'p')
    assert (answer.pose, answer.frame_id, answer.planner) == (hits[2].memory.pose, 'map', 'p')
    assert answer.evidence == (hits[2], hits[3], hits[1], hits[0])
    assert (answer.binary, answer.time_ns, answer.duration_s) == (None, None, None)


@pytest.mark.parametrize(
    ('choice', 'expected'),
    [
        (Choice.CITED_FIRST, 0),
        (Choice.NEAREST, 2),
        (Choice.FARTHEST, 0),
        (Choice.LATEST, 2),  # the unplaced one is later, but no place
        (Choice.EARLIEST, 0),
        (Choice.MOST_OFTEN, 1),  # 5 m from both of the others
    ],
)
def test_the_choice_decides(hits: list[Hit], question: Question, choice: Choice, expected: int) -> None:
    answer = ground(Claim(Kind.POSITION, '', hits, choice=choice), question, 'p')
    assert answer.evidence[0] is hits[expected]


def test_most_often_is_about_places_as_the_asker_sees_them(hits: list[Hit], ask_about: AskAbout) -> None:
    nowhere_else = ask_about('?', same_place=SamePlace(4.9))
    assert choose(hits, Choice.MOST_OFTEN, nowhere_else) is hits[0]
    walled = ask_about('?', same_place=SamePlace(walls=lambda _, others: [True] * len(others)))
    assert choose(hits, Choice.MOST_OFTEN, walled) is hits[0]


def test_nearest_needs_to_know_where_the_robot_is_and_on_which_map(
    hits: list[Hit], ask_about: AskAbout
) -> None:
    assert choose(hits, Choice.NEAREST, ask_about('?', here=None)) is hits[0]
    assert choose(hits, Choice.NEAREST, ask_about('?', here=Pose(9.0, 1.0), map_id='other')) is hits[0]


def test_a_time_is_the_end_of_the_sight_and_the_first_time_its_start(
    hits: list[Hit], question: Question
) -> None:
    assert ground(Claim(Kind.TIME, '', hits[1:2]), question, 'p').time_ns == START_NS + 13 * NS
    last = ground(Claim(Kind.TIME, '', hits, choice=Choice.LATEST), question, 'p')
    assert last.time_ns == START_NS + 33 * NS
    first = ground(Claim(Kind.TIME, '', hits, choice=Choice.EARLIEST), question, 'p')
    assert first.time_ns == START_NS


def test_a_duration_is_measured_between_its_memories(hits: list[Hit], question: Question) -> None:
    answer = ground(Claim(Kind.DURATION, 'I was there', start=hits[0], end=hits[2]), question, 'p')
    assert answer.duration_s == 23.0
    assert answer.evidence == (hits[0], hits[2])
    assert with_facts(answer, question).text == 'I was there: 23 seconds.'


def test_yes_needs_evidence_and_no_does_not(hits: list[Hit], question: Question) -> None:
    assert ground(Claim(Kind.BINARY, '', hits, binary=True), question, 'p').binary is True
    assert ground(Claim(Kind.BINARY, '', binary=False), question, 'p').evidence == ()
    with pytest.raises(Ungrounded, match='at least one memory'):
        ground(Claim(Kind.BINARY, '', binary=True), question, 'p')


def test_not_seen_has_no_evidence_and_no_place(hits: list[Hit], question: Question) -> None:
    answer = ground(Claim(Kind.NOT_SEEN, 'No lift', hits), question, 'p')
    assert (answer.evidence, answer.pose, answer.text) == ((), None, 'No lift')


def test_a_yes_does_not_leak_into_other_kinds(hits: list[Hit], question: Question) -> None:
    assert ground(Claim(Kind.TEXT, 'a', hits, binary=True), question, 'p').binary is None


def test_what_evidence_does_not_support_is_refused(hits: list[Hit], question: Question) -> None:
    claims = {
        'has a place': Claim(Kind.POSITION, '', hits[3:]),
        'binary: true or false': Claim(Kind.BINARY, '', hits),
        'in which it starts': Claim(Kind.DURATION, '', hits),
        'ends before it starts': Claim(Kind.DURATION, '', start=hits[2], end=hits[0]),
        'at least one memory': Claim(Kind.TEXT, 'I just know'),
    }
    for message, claim in claims.items():
        with pytest.raises(Ungrounded, match=message):
            ground(claim, question, 'p')


def test_a_label_stays_with_its_memory(hits: list[Hit]) -> None:
    evidence = Evidence()
    assert [(label, new) for label, _, new in evidence.add(hits[:2])] == [('m1', True), ('m2', True)]
    again = evidence.add([hits[1], hits[2]])
    assert [(label, new) for label, _, new in again] == [('m2', False), ('m3', True)]
    assert len(evidence) == 3
    assert evidence.cite(' [m2] ') is hits[1]
    assert evidence.cite('t02') is hits[2]
    assert evidence.cite_all(['m1', 't00', 'm3', 'm1']) == [hits[0], hits[2]]


@pytest.mark.parametrize(
    'labels',
    [
        ['M1'],
        ['1'],
        ['m1.'],
        ['memory m1'],
        ['"m1"'],
        ["['m1']"],
        ['["m1"]'],
        ['(m1)'],
        ['m01'],
        ['Memory M1:'],
    ],
    ids=str,
)
def test_a_label_is_known_however_it_is_written(hits: list[Hit], labels: list[str]) -> None:
    evidence = Evidence()
    evidence.add(hits[:3])
    assert evidence.cite_all(labels) == [hits[0]]


@pytest.mark.parametrize(
    'label',
    ['m1, m3', 'm1 and M3', '[m1], [m3]', '["m1", "m3"]', 'm1; t02', '1,3', 'm1, m3,', 'memories m1 & m3'],
)
def test_one_text_may_name_several_memories(hits: list[Hit], label: str) -> None:
    evidence = Evidence()
    evidence.add(hits[:3])
    assert evidence.cite_all([label]) == [hits[0], hits[2]]
    with pytest.raises(Ungrounded, match='m9'):
        evidence.cite_all([f'{label}, m9'])


@pytest.mark.parametrize(
    'label', ['m9', '', 'm', 'M1 or m2', '\0', 'x' * 10_000, 'm0', '-1', '1.5', 'mm1', 'm1m1']
)
def test_what_was_never_recalled_cannot_be_cited(hits: list[Hit], label: str) -> None:
    evidence = Evidence()
    evidence.add(hits[:1])
    with pytest.raises(Ungrounded, match='m1') as refusal:
        evidence.cite(label)
    assert len(str(refusal.value)) < 300


def test_numbers_that_a_model_invents_are_not_spoken():
    hit = Hit(Memory('a', 'r', 0, NS, 'A sign reads LAB 3.', Pose(1.0, 2.0)), 0.9)
    asked = Question('Where is lab 3?', now_ns=NS)

    def spoken(text: str, kind: Kind = Kind.POSITION) -> str:
        return without_invented_numbers(Claim(kind, text, [hit]), asked).text

    assert spoken('LAB 3 is ahead. It is at (99.0, 98.5), 500 m away.') == 'LAB 3 is ahead.'
    assert spoken('It is at (99.0, 98.5).') == ''
    assert spoken('It is at (99, 98).', Kind.NOT_SEEN) == 'I have not seen that.'
    with pytest.raises(Ungrounded):
        spoken('It was seen 17 times.', Kind.TEXT)


def test_every_place_is_said_of_positions_alone(make_memory: Make, question: Question) -> None:
    hits = [Hit(make_memory(i, ('LIFT',)), 1.0) for i in (3, 1, 2)]
    answer = ground(Claim(Kind.POSITION, '', hits, choice=Choice.EVERY), question, 'p')
    assert (answer.every_place, answer.evidence, answer.pose) == (True, tuple(hits), hits[0].memory.pose)
    assert not answer.in_order
    ordered = ground(Claim(Kind.POSITION, '', hits, choice=Choice.IN_ORDER), question, 'p')
    assert (ordered.every_place, ordered.in_order, ordered.evidence) == (True, True, tuple(hits))
    assert not ground(Claim(Kind.TEXT, 'x', hits, choice=Choice.EVERY), question, 'p').every_place
    assert not ground(Claim(Kind.POSITION, '', hits), question, 'p').every_place


def test_most_often_is_where_most_of_them_are(make_memory: Make, question: Question) -> None:
    at = (0.0, 50.0, 52.0, 51.0, 0.5)
    hits = [Hit(make_memory(i, ('LIFT',), pose=Pose(x, 0.0)), 0.9) for i, x in enumerate(at)]
    answer = ground(Claim(Kind.POSITION, '', hits, choice=Choice.MOST_OFTEN), question, 'p')
    assert answer.pose == Pose(50.0, 0.0)


@pytest.mark.parametrize(
    ('text', 'spoken'),
    [
        ('The shelf is 3.5 m long.', 'The shelf is 3.5 m long.'),
        ('The shelf is 5.3 m long.', ''),
        ('Twelve people stood there.', 'Twelve people stood there.'),
        ('12 people stood there.', '12 people stood there.'),
        ('Seventeen people stood there.', ''),
        ('Dozens of people stood there.', ''),
        ('It was at 10:42.', 'It was at 10:42.'),
        ('It was at 10:43.', ''),
        ('It costs 1000 euros.', 'It costs 1000 euros.'),
        ('I saw two of them.', 'I saw two of them.'),  # two are cited
        ('I saw six of them.', ''),
        ('It is half-way down the hall.', ''),
        ('One can see it. It is at minus four.', 'One can see it.'),
    ],
)
def test_only_numbers_that_were_seen_are_spoken(text: str, spoken: str) -> None:
    caption = 'A shelf of 3.5 m, twelve people, a clock that shows 10:42, a price of 1,000 euros.'
    hits = [Hit(Memory(name, 'r', 0, NS, caption, Pose(1.0, 2.0)), 0.9) for name in 'ab']
    claim = Claim(Kind.POSITION, text, hits)
    assert without_invented_numbers(claim, Question('Where?', now_ns=NS)).text == spoken


@pytest.mark.parametrize(
    ('text', 'spoken'),
    [
        ('It is on the third floor.', ''),
        ('It is on the 3rd floor.', ''),
        ('It is on the first floor.', ''),
        ('It is on floor one.', ''),
        ('It is on floor minus one.', ''),
        ('It is three quarters of the way.', ''),
        ('It is \u2154 of the way.', ''),
        ('It is by sign \u2163.', ''),
        ('It is on the second floor, by door 7.', 'It is on the second floor, by door 7.'),
        ('It is the seventh door.', 'It is the seventh door.'),
        ('The jug is half full.', 'The jug is half full.'),
        ('The jug is 1/2 full.', 'The jug is 1/2 full.'),
        ('I first saw it there. It took a second.', 'I first saw it there. It took a second.'),
        ('I saw it yesterday. It is by the jug.', 'It is by the jug.'),
        ('It was in the afternoon.', ''),
        ('It was on Sundays.', ''),
        ('It is by the Monday menu.', 'It is by the Monday menu.'),
    ],
)
def test_numbers_and_days_in_other_words_are_no_better(text: str, spoken: str) -> None:
    caption = 'Second floor, door 7. A jug that is \u00bd full. A menu for Monday.'
    claim = Claim(Kind.POSITION, text, [Hit(Memory('a', 'r', 0, NS, caption, Pose(1.0, 2.0)), 0.9)])
    assert without_invented_numbers(claim, Question('Where?', now_ns=NS)).text == spoken


def test_a_day_may_be_told_where_code_adds_none() -> None:
    hits = [Hit(Memory('a', 'r', 0, NS, 'A dog.', Pose(1.0, 2.0)), 0.9)]
    claim = Claim(Kind.TEXT, 'A dog slept there in the afternoon.', hits)
    assert without_invented_numbers(claim, Question('What did you see?', now_ns=NS)) == claim
