from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.answer import Kind, Question
from remembr_ros.agent.tools import TOOLS, AnswerCall, Toolbox, parse_arguments
from remembr_ros.errors import InvalidRequest, ReplyInvalid, Ungrounded
from remembr_ros.memory.store import MemoryStore

AskAbout = Callable[..., Question]


@pytest.fixture
def toolbox(hashing_tour: MemoryStore, ask_about: AskAbout) -> Toolbox:
    return Toolbox(ask_about('?'), hashing_tour, 5)


def call(toolbox: Toolbox, name: str, arguments: str) -> str:
    return toolbox.run(parse_arguments(name, arguments))


@pytest.mark.parametrize(
    ('name', 'arguments'),
    [
        ('shell', '{}'),
        ('', '{}'),
        ('recall_text', ''),
        ('recall_text', '{'),
        ('recall_text', '[]'),
        ('recall_text', 'null'),
        ('recall_text', '{"query": ""}'),
        ('recall_text', '{"query": null}'),
        ('recall_text', '{"query": "lift", "limit": null}'),
        ('recall_text', '{"query": 5}'),
        ('recall_text', '{"query": "lift", "limit": 100}'),
        ('recall_text', '{"query": "lift", "radius": -1}'),
        ('recall_text', '{"query": "lift", "radius": 1e400}'),
        ('recall_position', '{"position": {"x": 1}}'),
        ('recall_position', '{"position": ["a", "b", "c"]}'),
        ('recall_time', '{"time": 5}'),
        ('measure', '{"what": "weight", "ids": ["m1"]}'),
        ('measure', '{"what": "distance", "ids": []}'),
        ('answer', '{}'),
        ('answer', '{"kind": "guess"}'),
        ('answer', '{"kind": "text", "position": [1, 2, 3]}'),
        ('answer', '{"kind": "text", "ids": "m1"}'),
        ('answer', '[' * 100_000),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_a_short_reason(name: str, arguments: str) -> None:
    with pytest.raises(ReplyInvalid) as refusal:
        parse_arguments(name, arguments)
    assert 0 < len(str(refusal.value)) < 1_000


@pytest.mark.parametrize(
    ('name', 'given', 'filled_in'),
    [
        (
            'recall_text',
            '{"query": "lift"}',
            '{"query": "lift", "after": "", "before": null, "near": null, "radius": null}',
        ),
        (
            'answer',
            '{"kind": "not_seen"}',
            '{"kind": "not_seen", "text": null, "binary": null, "ids": null, "choice": null, "start_id": ""}',
        ),
    ],
)
def test_an_argument_left_blank_is_not_given(name: str, given: str, filled_in: str) -> None:
    assert parse_arguments(name, filled_in) == parse_arguments(name, given)


@given(st.sampled_from([tool.name for tool in TOOLS]), st.text())
def test_any_text_as_arguments_is_read_or_refused(name: str, text: str) -> None:
    with pytest.raises(ReplyInvalid):
        parse_arguments(name, f'!{text}')


def test_every_tool_is_described_by_a_schema() -> None:
    assert [tool.name for tool in TOOLS] == [
        'recall_text',
        'recall_position',
        'recall_time',
        'measure',
        'answer',
    ]
    for tool in TOOLS:
        assert tool.description
        assert tool.parameters['type'] == 'object'
        assert tool.parameters['additionalProperties'] is False


def test_recall_shows_each_memory_once_and_says_how_much_there_is(toolbox: Toolbox) -> None:
    text = call(toolbox, 'recall_text', '{"query": "lift"}')
    assert text.startswith('5 of 20 memories')
    assert '[m1]' in text
    assert 'LIFT' in text
    again = call(toolbox, 'recall_text', '{"query": "lift"}')
    assert 'shown before: m1, m2, m3, m4, m5' in again
    assert '[m1]' not in again


def test_recall_by_time_and_place_take_labels_and_here(toolbox: Toolbox) -> None:
    assert '(40.0, 1.0, 0.0)' in call(toolbox, 'recall_position', '{"position": "here"}').splitlines()[1]
    nearby = call(toolbox, 'recall_text', '{"query": "sign", "near": "m1", "radius": 0.5}')
    assert nearby.startswith('1 of 1 memories')
    assert 'shown before: m1' in call(toolbox, 'recall_time', '{"time": "m1"}')
    assert '2023-11-14 22:13:30' in call(toolbox, 'recall_time', '{"time": "22:13:31"}').splitlines()[1]
    assert '(95.0, 1.0, 0.0)' in call(toolbox, 'recall_position', '{"position": [95, 1]}').splitlines()[1]


def test_a_window_narrows_the_recall(toolbox: Toolbox) -> None:
    arguments = '{"query": "sign", "after": "2 minutes ago", "before": "100 seconds ago"}'
    assert call(toolbox, 'recall_text', arguments).startswith('2 of 2 memories')
    assert call(toolbox, 'recall_time', '{"time": "now", "after": "5 seconds ago"}').startswith(
        'nothing found; 0 memories'
    )


def test_measuring_is_done_by_code(toolbox: Toolbox) -> None:
    call(toolbox, 'recall_position', '{"position": [0, 1, 0]}')  # m1 is at 0 m, m2 at 5 m, ...
    assert call(toolbox, 'measure', '{"what": "distance", "ids": ["m1", "m3"]}') == '10.00 m'
    assert call(toolbox, 'measure', '{"what": "distance", "ids": ["m1"]}') == '42.00 m'
    assert call(toolbox, 'measure', '{"what": "elapsed", "ids": ["m1", "m2"]}') == '7 seconds'
    assert call(toolbox, 'measure', '{"what": "elapsed", "ids": ["m1"]}') == '4 minutes 57 seconds'
    assert call(toolbox, 'measure', '{"what": "nearest", "ids": ["m1", "m5"]}') == 'm5, 22.00 m from here'
    assert call(toolbox, 'measure', '{"what": "nearest", "ids": ["m1", "m1", "m5"]}').startswith('m5,')


@pytest.mark.parametrize(
    ('name', 'arguments', 'error'),
    [
        ('recall_text', '{"query": "lift", "near": "m9"}', Ungrounded),
        ('recall_text', '{"query": "lift", "after": "soon"}', InvalidRequest),
        ('recall_text', '{"query": "lift", "after": "m9"}', Ungrounded),
        ('recall_position', '{"position": [1]}', InvalidRequest),
        ('recall_position', '{"position": [1, 2, NaN]}', InvalidRequest),
        ('measure', '{"what": "distance", "ids": ["m9"]}', Ungrounded),
    ],
)
def test_arguments_without_sense_are_refused(
    toolbox: Toolbox, name: str, arguments: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        call(toolbox, name, arguments)


def test_here_must_be_known(hashing_tour: MemoryStore, ask_about: AskAbout) -> None:
    toolbox = Toolbox(ask_about('?', here=None), hashing_tour, 5)
    with pytest.raises(InvalidRequest, match='does not know where it is'):
        call(toolbox, 'recall_position', '{"position": "here"}')


def test_an_answer_cites_what_was_recalled(toolbox: Toolbox) -> None:
    call(toolbox, 'recall_text', '{"query": "lift"}')
    arguments = parse_arguments('answer', '{"kind": "position", "text": "There", "ids": ["m1", "[m1]"]}')
    assert isinstance(arguments, AnswerCall)
    claim = toolbox.claim(arguments)
    assert claim.kind is Kind.POSITION
    assert [hit.memory.id for hit in claim.evidence] == ['t02']
    for field in ('"ids": ["m6"]', '"start_id": "m6"', '"end_id": "m6"'):
        wrong = parse_arguments('answer', f'{{"kind": "duration", {field}}}')
        assert isinstance(wrong, AnswerCall)
        with pytest.raises(Ungrounded):
            toolbox.claim(wrong)
