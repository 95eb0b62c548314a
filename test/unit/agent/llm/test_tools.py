import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.llm.answer_call import AnswerCall
from remembr_ros.agent.llm.budgeted_dialogue import prompt
from remembr_ros.agent.llm.tools import ALL_TOOLS, TOOLS, answer_tool, parse_arguments, tool_name
from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.offline.request import kind_of
from remembr_ros.errors import ReplyInvalid


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
        ('recall_text', '{"query": "lift", "radius": -1}'),
        ('recall_text', '{"query": "lift", "radius": 1e400}'),
        ('recall_position', '{"position": {"x": 1}}'),
        ('recall_position', '{"position": 5}'),
        ('recall_position', '{"position": {"x": [1], "y": 2}}'),
        ('recall_text', '{"query": true}'),
        ('answer', '{"kind": ["text"]}'),
        ('recall_position', '{"position": ["a", "b", "c"]}'),
        ('measure', '{"what": "weight", "ids": ["m1"]}'),
        ('measure', '{"what": "distance", "ids": []}'),
        ('answer', '{}'),
        ('answer', '{"kind": "guess"}'),
        ('answer', '{"kind": "text", "ids": true}'),
        ('answer', '{"kind": "text", "ids": {"m1": 1}}'),
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


@pytest.mark.parametrize(
    ('name', 'written', 'meant'),
    [
        ('answer', '{"kind": "Position"}', '{"kind": "position"}'),
        ('answer', '{"kind": "not seen"}', '{"kind": "not_seen"}'),
        ('answer', '{"kind": "yes/no", "binary": "true"}', '{"kind": "binary", "binary": true}'),
        ('answer', '{"kind": "where", "choice": "closest"}', '{"kind": "position", "choice": "nearest"}'),
        ('answer', '{"kind": "When", "choice": "last_seen"}', '{"kind": "time", "choice": "latest"}'),
        ('answer', '{"kind": "text", "position": [1, 2, 3], "confidence": 0.9}', '{"kind": "text"}'),
        ('recall_position', '{"position": {"x": 1, "y": 2}}', '{"position": [1, 2, 0]}'),
        (
            'recall_text',
            '{"query": 5, "near": {"x": 1, "y": 2, "z": 3}}',
            '{"query": "5", "near": [1, 2, 3]}',
        ),
        ('recall_text', '{"query": "lift", "offset": 100}', '{"query": "lift"}'),
        ('recall_time', '{"time": "now", "limit": "9"}', '{"time": "now", "limit": 9}'),
        ('recall_time', '{"time": 1700000000}', '{"time": "1700000000"}'),
        ('measure', '{"what": "Closest", "ids": ["m1"]}', '{"what": "nearest", "ids": ["m1"]}'),
        ('functions.recall_text', '{"query": "lift"}', '{"query": "lift"}'),
        ('Answer', '{"kind": "text"}', '{"kind": "text"}'),
        ('recall_text', '{"query": "lift",}', '{"query": "lift"}'),
        ('recall_text', "{'query': 'lift'}", '{"query": "lift"}'),
        ('recall_text', '"{\\"query\\": \\"lift\\"}"', '{"query": "lift"}'),
    ],
)
def test_what_can_mean_one_thing_only_is_understood(name: str, written: str, meant: str) -> None:
    assert parse_arguments(name, written) == parse_arguments(name.lower().replace('functions.', ''), meant)


@pytest.mark.parametrize(
    ('given', 'ids'),
    [('"m1"', ['m1']), ('1', ['1']), ('[1, "m2"]', ['1', 'm2']), ('"[\\"m1\\"]"', ['["m1"]'])],
)
def test_labels_need_no_list_and_no_letter(given: str, ids: list[str]) -> None:
    parsed = parse_arguments('answer', f'{{"kind": "text", "ids": {given}}}')
    assert isinstance(parsed, AnswerCall)
    assert parsed.ids == ids


@given(st.sampled_from([tool.name for tool in TOOLS]), st.text())
def test_any_text_as_arguments_is_read_or_refused(name: str, text: str) -> None:
    with pytest.raises(ReplyInvalid):
        parse_arguments(name, f'!{text}')


def test_every_tool_is_described_by_a_schema() -> None:
    assert [tool.name for tool in TOOLS] == [
        'recall_text',
        'recall_position',
        'recall_time',
        'read',
        'measure',
        'day',
        'list_all',
        'happened',
        'answer',
    ]
    for tool in TOOLS:
        assert tool.description
        assert tool.parameters['type'] == 'object'
        assert set(tool.parameters.get('required', ())) <= set(tool.parameters['properties'])


def test_schemas_say_no_more_than_a_model_needs() -> None:
    # What happened may be after another deed: there these words are no second way to say `when`.
    text = json.dumps([dict(tool.parameters) for tool in ALL_TOOLS if tool.name != 'happened'])
    for noise in (
        'title',
        '$ref',
        '$defs',
        'null',
        'default',
        'maxLength',
        'additionalProperties',
        'anyOf',
        'after',
    ):
        assert f'"{noise}"' not in text
    answer = next(tool for tool in TOOLS if tool.name == 'answer').parameters['properties']
    assert 'not_seen' in answer['kind']['enum']
    assert answer['binary']['type'] == 'boolean'
    recall = next(tool for tool in TOOLS if tool.name == 'recall_text').parameters
    assert recall['properties']['near'] == {'type': 'string'}
    assert recall['required'] == ['query']


def test_the_prompt_names_nothing_that_no_schema_has() -> None:
    known = {tool.name for tool in ALL_TOOLS}
    for tool in ALL_TOOLS:
        for name, schema in tool.parameters['properties'].items():
            known |= {name, *schema.get('enum', ())}
    text = prompt('system')
    assert {'radius', 'limit', 'likely', 'nearest'} <= set(re.findall(r'`(\w+)`', text)) <= known
    assert 'conflicts' in text


@pytest.mark.parametrize(
    ('kind', 'names', 'kinds'),
    [
        (None, ['ids', 'kind', 'text', 'choice'], ['text', 'position', 'time', 'duration', 'not_seen']),
        (Kind.BINARY, ['ids', 'kind', 'binary', 'text'], ['binary', 'not_seen']),
        (Kind.TIME, ['ids', 'kind', 'choice'], ['time', 'not_seen']),
    ],
)
def test_an_answer_is_narrowed_down_to_what_can_be_said(
    kind: Kind | None, names: list[str], kinds: list[str]
) -> None:
    parameters = answer_tool(['m1', 'm2'], kind).parameters
    properties = parameters['properties']
    assert list(properties) == names
    assert properties['ids']['items']['enum'] == ['m1', 'm2']
    assert properties['kind']['enum'] == kinds
    assert 'enum' not in answer_tool([], kind).parameters['properties']['ids']['items']
    assert set(names) - set(parameters['required']) <= {'choice'}


@pytest.mark.parametrize(
    ('text', 'kind'),
    [
        ('Where is the lift?', Kind.POSITION),
        ('Can you take me to the lift?', Kind.POSITION),
        ('Please, when did you see it?', Kind.TIME),
        ('How long did you stand there?', Kind.DURATION),
        ('Is there a lift?', Kind.BINARY),
        ('What color jacket was the person wearing?', None),
        ('Which direction did you turn?', None),
    ],
)
def test_the_first_words_of_a_question_tell_what_it_wants(text: str, kind: Kind | None) -> None:
    assert kind_of(text) is kind


def test_citations_are_asked_for_and_understood_without() -> None:
    (answer,) = (tool for tool in ALL_TOOLS if tool.name == 'answer')
    assert answer.parameters['required'] == ['kind', 'ids']
    assert parse_arguments('answer', '{"kind": "not_seen"}') == AnswerCall(kind=Kind.NOT_SEEN)


@pytest.mark.parametrize(
    'name',
    [
        *(
            'recall_text',
            'functions.recall_text',
            'functions.recall_text:0',
            'recall_text<|channel|>commentary',
        ),
        *('recall-text', 'RecallText', ' recall_text\n', 'recall_text<|constrain|>json'),
    ],
)
def test_a_name_is_known_whatever_of_a_template_is_left_at_it(name: str) -> None:
    assert tool_name(name) == 'recall_text'
