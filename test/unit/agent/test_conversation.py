import threading
from collections.abc import Callable
from typing import Any

import pytest

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.chat.client import Reply, ToolCall
from remembr_ros.agent.conversation import HAPPENED, NAME, Conversations
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.same_place import SamePlace
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.offline.reader.follow_up import in_full
from remembr_ros.agent.offline.request import thing_of
from remembr_ros.errors import ChatUnavailable, StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit, Query
from remembr_ros.memory.model.record import Memory
from test.scripted.chat import ScriptedChat
from test.unit.agent.listed_recall import ListedRecall

TOUR = [('PRINTER',), ('LIFT',), (), (), ('LIFT',), (), ('EXIT',), ('LIFT',)]
"""What was read every 10 s at x = 0, 5, 10 ... m; it is asked from x = 42 m."""

Ask = Callable[..., Answer]


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def recall(make_memory: Callable[..., Memory]) -> ListedRecall:
    return ListedRecall([make_memory(i, seen) for i, seen in enumerate(TOUR)])


def recalling_lifts(found: int) -> list[Reply]:
    """What a model says that recalls, then cites all that it was shown, the latest of which counts."""
    ids = ', '.join(f'"m{number + 1}"' for number in range(found))
    answer = f'{{"kind": "position", "text": "The lift", "ids": [{ids}], "choice": "latest"}}'
    return [
        Reply('', (ToolCall('a', 'recall_text', '{"query": "lift"}'),)),
        Reply('', (ToolCall('b', 'answer', answer),)),
    ]


@pytest.fixture(params=['offline', 'loop'])
def ask(
    request: pytest.FixtureRequest, recall: ListedRecall, ask_about: Callable[..., Question], clock: Clock
) -> Ask:
    """Ask, as anna unless another asker is named, an agent of either planner."""
    script: list[Any] = []
    planners: dict[str, Any] = {'offline': OfflinePlanner(), 'loop': LoopPlanner(ScriptedChat(script))}
    agent = Agent(
        recall,
        [planners[request.param]],
        conversations=Conversations(thing_of, in_full, 300.0, max_askers=2, clock=clock),
    )

    def answered(text: str, asker: str = 'anna', found: int = 3, **changes: Any) -> Answer:
        script[:] = recalling_lifts(found)
        return agent.ask(ask_about(text, asker=asker, **changes))

    return answered


LAST = 'Where did you see the lift last?'


def test_there_is_the_place_of_the_last_answer(ask: Ask) -> None:
    answer = ask(LAST)
    assert answer.evidence[0].memory.id == 't07'
    for text in ('Take me there', 'ok, take me there please!', 'Go there.', 'Where was that?', 'Go to it'):
        followed = ask(text)
        assert (followed.kind, followed.pose, followed.planner) == (Kind.POSITION, answer.pose, NAME)
        assert followed.evidence[0] == answer.evidence[0]
        assert followed.confidence == answer.confidence
        assert followed.cost.calls == 0


def test_before_that_is_the_same_question_about_the_time_before(ask: Ask) -> None:
    ask(LAST)
    before = ask('And before that?', found=2)
    assert (before.kind, before.evidence[0].memory.id) == (Kind.POSITION, 't04')
    assert ask('And before that?', found=1).evidence[0].memory.id == 't01'
    assert ask('Take me there').pose == Pose(5.0, 1.0, 0.0, 0.5)
    assert ask('and after that?', found=2).evidence[0].memory.id == 't07'


def test_how_long_and_when_that_was(ask: Ask) -> None:
    ask(LAST)
    assert ask('How long did that take?').duration_s == 3.0
    when = ask('When was that?')
    assert (when.kind, when.time_ns) == (Kind.TIME, when.evidence[0].memory.end_ns)


def test_the_other_one_is_somewhere_else(ask: Ask) -> None:
    first = ask(LAST)
    second = ask('What about the other one?', found=2)
    third = ask('Is there another one?', found=1)
    places = {answer.evidence[0].memory.id for answer in (first, second, third)}
    assert places == {'t07', 't04', 't01'}


@pytest.mark.parametrize('text', ['Take me there', 'And before that?', 'How long did that take?'])
def test_a_follow_up_of_nothing_is_not_seen(ask: Ask, text: str) -> None:
    assert ask(text).kind is Kind.NOT_SEEN
    ask(LAST)
    assert ask(text, asker='').kind is Kind.NOT_SEEN
    assert ask(text, asker='bert').kind is Kind.NOT_SEEN
    assert ask(text, found=2).kind is not Kind.NOT_SEEN


def test_without_an_asker_there_are_no_follow_ups(ask: Ask) -> None:
    ask(LAST, asker='')
    assert ask('Take me there', asker='').kind is Kind.NOT_SEEN


def test_an_answer_expires(ask: Ask, clock: Clock) -> None:
    ask(LAST)
    clock.now_s = 299.0
    assert ask('Take me there').kind is Kind.POSITION
    clock.now_s = 599.0  # the follow-up counts, too
    assert ask('Take me there').kind is Kind.POSITION
    clock.now_s = 900.0
    assert ask('Take me there').kind is Kind.NOT_SEEN


def test_who_was_answered_longest_ago_is_forgotten(ask: Ask) -> None:
    for asker in ('anna', 'bert', 'carl'):
        ask(LAST, asker=asker)
    kinds = [ask('Take me there', asker=asker).kind for asker in ('anna', 'bert', 'carl')]
    assert kinds == [Kind.NOT_SEEN, Kind.POSITION, Kind.POSITION]


def test_a_new_question_is_not_narrowed_by_the_one_before(ask: Ask) -> None:
    ask(LAST)
    ask('And before that?', found=2)
    assert ask(LAST).evidence[0].memory.id == 't07'


def test_nobody_is_driven_to_where_a_no_was_given(
    recall: ListedRecall, ask_about: Callable[..., Question]
) -> None:
    agent = Agent(recall, [OfflinePlanner()])
    assert agent.ask(ask_about(LAST, asker='anna')).kind is Kind.POSITION
    assert agent.ask(ask_about('Is there a unicorn?', asker='anna')).binary is False
    assert agent.ask(ask_about('Take me there', asker='anna')).kind is Kind.NOT_SEEN


def test_after_a_failure_there_is_nowhere(recall: ListedRecall, ask_about: Callable[..., Question]) -> None:
    agent = Agent(recall, [OfflinePlanner()])
    agent.ask(ask_about(LAST, asker='anna'))

    def fail() -> None:
        raise StoreUnavailable('gone')

    recall.before = fail
    with pytest.raises(StoreUnavailable):
        agent.ask(ask_about('Where is the printer?', asker='anna'))
    assert agent.ask(ask_about('Take me there', asker='anna')).kind is Kind.NOT_SEEN


@pytest.mark.parametrize('text', ['Take me there', 'And before that?'])
def test_nothing_follows_from_a_memory_that_was_forgotten_meanwhile(
    ask: Ask, recall: ListedRecall, text: str
) -> None:
    first = ask(LAST)
    recall.memories = _without(first, recall)
    answer = ask(text, found=0)
    assert answer.evidence == ()
    assert answer.kind is Kind.NOT_SEEN
    assert answer.pose is None


def test_a_model_is_not_shown_what_was_said_of_a_forgotten_memory(
    recall: ListedRecall, ask_about: Callable[..., Question]
) -> None:
    chat = ScriptedChat([*recalling_lifts(3), *recalling_lifts(1)])
    agent = Agent(recall, [LoopPlanner(chat)])
    recall.memories = _without(agent.ask(ask_about(LAST, asker='anna')), recall)
    agent.ask(ask_about('What colour was it?', asker='anna'))
    assert LAST not in chat.asked[2][0][1].content


def _without(answer: Answer, recall: ListedRecall) -> list[Memory]:
    """Return what is remembered when an answer's evidence was forgotten."""
    shown = {hit.memory.id for hit in answer.evidence}
    return [memory for memory in recall.memories if memory.id not in shown]


def test_a_store_out_of_reach_tells_of_nothing_that_it_was_forgotten(
    recall: ListedRecall, ask_about: Callable[..., Question]
) -> None:
    agent = Agent(recall, [OfflinePlanner()])
    answer = agent.ask(ask_about(LAST, asker='anna'))

    def fail() -> None:
        raise StoreUnavailable('gone')

    recall.before = fail
    assert agent.ask(ask_about('Take me there', asker='anna')).pose == answer.pose


def test_a_question_that_refers_back_is_shown_what_was_said(
    recall: ListedRecall, ask_about: Callable[..., Question]
) -> None:
    colour = '{"kind": "text", "text": "Nothing shows that.", "ids": ["m1"]}'
    chat = ScriptedChat([*recalling_lifts(3), Reply('', (ToolCall('c', 'answer', colour),))])
    agent = Agent(recall, [LoopPlanner(chat)])
    agent.ask(ask_about(LAST, asker='anna'))
    answer = agent.ask(ask_about('What colour was it?', asker='anna'))
    shown = chat.asked[2][0][1].content
    assert LAST in shown
    assert '[m1] 22:14:30' in shown
    assert answer.evidence[0].memory.id == 't07'
    assert answer.cost.calls == 1


def test_a_question_that_stands_for_itself_carries_nothing(
    recall: ListedRecall, ask_about: Callable[..., Question]
) -> None:
    chat = ScriptedChat([*recalling_lifts(3), *recalling_lifts(3)])
    agent = Agent(recall, [LoopPlanner(chat)])
    agent.ask(ask_about(LAST, asker='anna'))
    agent.ask(ask_about('Is there a printer?', asker='anna'))
    assert 'Before that' not in chat.asked[2][0][1].content


def test_several_askers_at_once_do_not_mix(
    make_memory: Callable[..., Memory], ask_about: Callable[..., Question]
) -> None:
    names = ['printer', 'lift', 'exit', 'kitchen', 'sofa', 'plant', 'bench', 'fountain']
    recall = ListedRecall([make_memory(i, (name.upper(),)) for i, name in enumerate(names)])
    agent = Agent(recall, [OfflinePlanner()])
    start = threading.Barrier(len(names))
    wrong: list[str] = []

    def converse(number: int, name: str) -> None:
        start.wait(10.0)
        for _ in range(5):
            agent.ask(ask_about(f'Where is the {name}?', asker=name))
            answer = agent.ask(ask_about('Take me there', asker=name))
            if answer.pose is None or answer.pose.x != 5.0 * number:
                wrong.append(name)

    threads = [threading.Thread(target=converse, args=pair) for pair in enumerate(names)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert not wrong


def test_an_offline_answer_to_a_model_out_of_reach_can_be_followed(
    recall: ListedRecall, ask_about: Callable[..., Question]
) -> None:
    agent = Agent(recall, [LoopPlanner(ScriptedChat([ChatUnavailable('down')])), OfflinePlanner()])
    answer = agent.ask(ask_about(LAST, asker='anna'))
    assert answer.planner == 'offline'
    assert agent.ask(ask_about('Take me there', asker='anna')).pose == answer.pose


@pytest.mark.parametrize('lead', ['Yes, ', 'great! ', 'Sure. ', 'ok ', 'Thanks, now '])
def test_politeness_before_a_follow_up_says_nothing(ask: Ask, lead: str) -> None:
    answer = ask(LAST)
    followed = ask(f'{lead}take me there')
    assert (followed.kind, followed.pose, followed.planner) == (Kind.POSITION, answer.pose, NAME)


@pytest.mark.parametrize(
    ('text', 'kind'),
    [
        ('When?', Kind.TIME),
        ('What time was that?', Kind.TIME),
        ('Where?', Kind.POSITION),
        ('How far?', Kind.POSITION),
        ('How far is it?', Kind.POSITION),
        ('How far away is that?', Kind.POSITION),
    ],
)
def test_a_bare_question_word_is_about_the_answer_before(ask: Ask, text: str, kind: Kind) -> None:
    answer = ask(LAST)
    followed = ask(text)
    assert (followed.kind, followed.planner) == (kind, NAME)
    assert followed.evidence[0] == answer.evidence[0]
    assert ask(text, asker='bert').kind is Kind.NOT_SEEN


@pytest.mark.parametrize('text', ['Take me to the other one', 'Go to another one.', 'Where else?'])
def test_elsewhere_is_another_place_of_the_same_thing(ask: Ask, text: str) -> None:
    ask(LAST)
    assert ask(text, found=2).evidence[0].memory.id == 't04'


def test_elsewhere_is_as_far_as_another_place_is(
    make_memory: Callable[..., Memory], ask_about: Callable[..., Question]
) -> None:
    places = (Pose(2.0, 3.0), Pose(6.0, 5.0))  # 4.5 m
    agent = Agent(
        ListedRecall([make_memory(i, ('PRINTER',), pose=pose) for i, pose in enumerate(places)]),
        [OfflinePlanner()],
    )
    for same_place, kind in (
        (SamePlace(), Kind.NOT_SEEN),
        (SamePlace(4.0), Kind.POSITION),
        (SamePlace(walls=lambda _, others: [True] * len(others)), Kind.POSITION),
    ):
        agent.ask(ask_about('Where is the printer?', asker='anna', same_place=same_place))
        elsewhere = agent.ask(ask_about('Where else?', asker='anna', same_place=same_place))
        assert elsewhere.kind is kind
        assert elsewhere.text.startswith('Apart from that: ') is (kind is Kind.NOT_SEEN)


@pytest.mark.parametrize(
    ('text', 'before', 'after'),
    [('What happened before that?', None, 't07'), ('And what did you see after that?', 't04', None)],
)
def test_what_happened_is_a_question_of_its_own_in_that_time(
    recall: ListedRecall, ask_about: Callable[..., Question], text: str, before: str, after: str
) -> None:
    conversations = Conversations(thing_of, in_full)
    first = ask_about('When did you see the lift last?' if after else LAST, asker='anna')
    shown = after or before
    hit = next(hit for hit in recall.find(Query('lift', limit=9)) if hit.memory.id == shown)
    conversations.keep(
        conversations.follow(first), Answer(Kind.POSITION, '', 'x', pose=hit.memory.pose, evidence=(hit,))
    )
    followed = conversations.follow(ask_about(text, asker='anna'))
    assert followed.question.text == HAPPENED['before' if after else 'after'].format('see')
    assert followed.narrowing.before_ns == (hit.memory.start_ns if after else None)
    assert followed.narrowing.after_ns == (hit.memory.end_ns if before else None)


def test_how_long_is_from_the_first_to_the_last_memory_in_a_row(
    make_memory: Callable[..., Memory], ask_about: Callable[..., Question]
) -> None:
    conversations = Conversations(thing_of, in_full)
    in_a_row = [Hit(make_memory(i, ('LIFT',)), 1.0) for i in (8, 7, 9)]
    far_off = Hit(make_memory(20, ('LIFT',)), 1.0)
    for evidence, took_s, words in (
        ((*in_a_row, far_off), 23.0, 'That took: 23 s'),
        ((in_a_row[0],), 3.0, 'That took at least: 3 s'),
    ):
        followed = conversations.follow(ask_about(LAST, asker='anna'))
        conversations.keep(followed, Answer(Kind.POSITION, '', 'x', evidence=evidence))
        lasted = conversations.follow(ask_about('How long did that take?', asker='anna')).answer
        assert lasted is not None
        assert lasted.duration_s == took_s
        assert lasted.text.startswith(words)


def test_what_happened_before_and_after_is_what_is_next_to_it(
    recall: ListedRecall, ask_about: Callable[..., Question]
) -> None:
    agent = Agent(recall, [OfflinePlanner()])
    for text, expected in (('What happened before that?', 't05'), ('What happened after that?', 't07')):
        agent.ask(ask_about('Where is the exit?', asker='anna'))
        assert agent.ask(ask_about(text, asker='anna')).evidence[0].memory.id == expected
