"""What small models write around the JSON that they were asked for."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.chat.loose_json import objects_in
from remembr_ros.agent.llm.answer_call import AnswerCall
from remembr_ros.agent.llm.reply_text import MAX_CALLS, calls_in_text
from remembr_ros.agent.llm.tools import parse_arguments, tool_name
from remembr_ros.agent.model.answer import Kind
from remembr_ros.chat_reply import without_thoughts
from test.patience import patiently

LIFT = ('recall_text', {'query': 'lift'})
STAIRS = ('recall_text', {'query': 'stairs'})
CALL = '{"tool": "recall_text", "arguments": {"query": "lift"}}'
OTHER = CALL.replace('lift', 'stairs')


def read(content: str) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments)) for call in calls_in_text(content)]


@pytest.mark.parametrize(
    ('content', 'expected'),
    [
        (CALL, [LIFT]),
        (f'{{"calls": [{CALL}, {OTHER}]}}', [LIFT, STAIRS]),
        (f'{{"tool_calls": [{CALL}]}}', [LIFT]),
        (f'{{"calls": {CALL}}}', [LIFT]),
        (f'[{CALL}, {OTHER}]', [LIFT, STAIRS]),
        (f'{CALL}\n{OTHER}', [LIFT, STAIRS]),
        (f'Sure! I will look.\n\n```json\n{CALL}\n```\nThat should help {{you}}.', [LIFT]),
        (f'<tool_call>\n{CALL}\n</tool_call>\n<tool_call>\n{OTHER}\n</tool_call>', [LIFT, STAIRS]),
        (f'<think>Perhaps {OTHER}?</think>{CALL}', [LIFT]),
        (f'Perhaps {OTHER}?</think>{CALL}', [LIFT]),
        (f'<think>{OTHER}</think><THINK>{OTHER}</THINK> {CALL}', [LIFT]),
        (f'{CALL} <think>or rather {OTHER}', [LIFT]),
        (f'<think>I could say {CALL}', []),
        (f'{CALL} which is, again, {CALL}', [LIFT]),
        ('{"name": "recall_text", "arguments": {"query": "lift"}}', [LIFT]),
        ('{"name": "recall_text", "parameters": {"query": "lift"}}', [LIFT]),
        ('{"tool": "recall_text", "args": {"query": "lift"}}', [LIFT]),
        ('{"tool": "recall_text", "query": "lift"}', [LIFT]),
        ('{"type": "function", "function": {"name": "recall_text", "arguments": {"query": "lift"}}}', [LIFT]),
        ('{"function": "recall_text", "arguments": "{\\"query\\": \\"lift\\"}"}', [LIFT]),
        ('{"calls": [{"tool": "recall_text", "arguments": {"query": "lift",},},]}', [LIFT]),
        ('{"calls": [{"tool": "recall_text", "arguments": {"query": "lift"}}', [LIFT]),
        ('<|python_tag|>{"name": "recall_text", "parameters": {"query": "lift"}}<|eom_id|>', [LIFT]),
        ("{'tool': 'recall_text', 'arguments': {'query': 'lift'}}", [LIFT]),
        ('{"tool": "recall_text", "arguments": {"query": "lift"}', [LIFT]),
        (f'{CALL[:-1]}\n{OTHER[:-1]}\nI hope that helps.', [LIFT, STAIRS]),
        (f'<tool_call>{CALL[:-2]}</tool_call>', [LIFT]),
        ('{"action": "recall_text", "action_input": {"query": "lift"}}', [LIFT]),
        ('{"recall_text": {"query": "lift"}}', [LIFT]),
        ('<function=recall_text>{"query": "lift"}</function>', [LIFT]),
        ('<function=recall_text>\n{"query": "lift"}', [LIFT]),
        ('{"tool": "recall_text", "arguments": {"query": "a, ] b"}}', [('recall_text', {'query': 'a, ] b'})]),
        ('{"tool": "recall_text", "arguments": {"query": "a\nb",}}', [('recall_text', {'query': 'a\nb'})]),
        (
            '{"tool": "recall_text", "robot": None, "query": "x"}',
            [('recall_text', {'robot': None, 'query': 'x'})],
        ),
        ('{"kind": "position", "ids": ["m1"]}', [('answer', {'kind': 'position', 'ids': ['m1']})]),
        ('{"kind": "Yes/No", "binary": True}', [('answer', {'kind': 'Yes/No', 'binary': True})]),
        ('{"answer": {"kind": "not_seen"}}', [('answer', {'kind': 'not_seen'})]),
        ('{"kind": "guess", "ids": ["m1"]}', []),
        ('{"kind": ["position"]}', []),
        ('{"shell": {"query": "lift"}}', []),
        ('The lift is at {3, 4}.', []),
        ('{"calls": []}', []),
        ('{"calls": 5}', []),
        ('{"calls": [5, null, "x", {"tool": 7}]}', []),
        ('{"query": "lift"}', []),
        ('', []),
        ('{' * 5_000, []),
        ('[' * 5_000 + '{"a":' * 5_000, []),
    ],
)
def test_calls_are_found_wherever_they_stand(content: str, expected: list[tuple[str, object]]) -> None:
    assert read(content) == expected


QUERY = '{"query": "lift"}'


def deepseek(name: str) -> str:
    return f'<\uff5ctool\u2581{name}\uff5c>'


AS_MODELS_WRITE_IT = {
    'Hermes, Qwen': f'<tool_call>\n{{"name": "recall_text", "arguments": {QUERY}}}\n</tool_call>',
    'Qwen2.5-Coder': f'```json\n{{{{"name": "recall_text", "arguments": {QUERY}}}}}\n```',
    'Qwen3-Coder': '<tool_call>\n<function=recall_text>\n<parameter=query>\nlift\n</parameter>\n</function>\n'
    '</tool_call>',
    'Qwen3-Coder, its ends left out': '<function=recall_text>\n<parameter=query>\nlift',
    'Seed-OSS': '<seed:tool_call><function=recall_text><parameter=query>lift</parameter></function>'
    '</seed:tool_call>',
    'MiniMax': '<minimax:tool_call><invoke name="recall_text"><parameter name="query">lift</parameter>'
    '</invoke></minimax:tool_call>',
    'DeepSeek V3': f'{deepseek("calls_begin")}{deepseek("call_begin")}function{deepseek("sep")}recall_text\n'
    f'```json\n{QUERY}\n```{deepseek("call_end")}{deepseek("calls_end")}',
    'DeepSeek V3.1': f'{deepseek("calls_begin")}{deepseek("call_begin")}recall_text'
    f'{deepseek("sep")}{QUERY}{deepseek("call_end")}{deepseek("calls_end")}',
    'DeepSeek V3.2': '<|DSML|function_calls>\n<|DSML|invoke name="recall_text">\n<|DSML|parameter '
    'name="query" string="true">lift</|DSML|parameter>\n</|DSML|invoke>\n</|DSML|function_calls>'.replace(
        '|', '\uff5c'
    ),
    'Kimi K2': '<|tool_calls_section_begin|><|tool_call_begin|>functions.recall_text:0'
    f'<|tool_call_argument_begin|>{QUERY}<|tool_call_end|><|tool_calls_section_end|>',
    'GLM-4.5': '<tool_call>recall_text\n<arg_key>query</arg_key>\n<arg_value>lift</arg_value>\n</tool_call>',
    'GLM-4': f'recall_text\n{QUERY}',
    'Harmony': f'<|channel|>analysis<|message|>We need {OTHER}.<|end|><|start|>assistant<|channel|>'
    f'commentary to=functions.recall_text <|constrain|>json<|message|>{QUERY}<|call|>',
    'Harmony, the recipient first': '<|start|>assistant to=functions.recall_text<|channel|>commentary json'
    f'<|message|>{QUERY}<|call|>',
    'Harmony, as code among the thoughts': '<|channel|>analysis to=functions.recall_text code<|message|>'
    f'{QUERY}<|call|>',
    'Harmony, without its tokens': f'analysisWe need {OTHER}.assistantcommentary to=functions.recall_text '
    f'json{QUERY}',
    'Mistral': f'[TOOL_CALLS][{{"name": "recall_text", "arguments": {QUERY}}}]',
    'Mistral, since Small 3.2': f'[TOOL_CALLS]recall_text[ARGS]{QUERY}',
    'Mistral, with an id': f'[TOOL_CALLS]recall_text[CALL_ID]a1B2c3D4e[ARGS]{QUERY}',
    'Magistral': f'[THINK]Perhaps {OTHER}?[/THINK][TOOL_CALLS]recall_text[ARGS]{QUERY}',
    'Llama 3': '<|python_tag|>recall_text.call(query="lift")',
    'Llama 4': '<|python_start|>[recall_text(query="lift")]<|python_end|>',
    'LFM2': "<|tool_call_start|>[recall_text(query='lift')]<|tool_call_end|>",
    'Gemma': '```tool_code\nprint(default_api.recall_text(query="lift"))\n```',
    'Gemma, of functions': '<start_function_call>call:recall_text{query:<escape>lift<escape>}'
    '<end_function_call>',
    'Granite': f'<|tool_call|>[{{"name": "recall_text", "arguments": {QUERY}}}]',
    'Cohere': f'Action: ```json\n[{{"tool_name": "recall_text", "parameters": {QUERY}}}]\n```',
    'Functionary': f'>>>recall_text\n{QUERY}',
    'Nemotron': f'<TOOLCALL>[{{"name": "recall_text", "arguments": {QUERY}}}]</TOOLCALL>',
    'in parallel': f'{{"tool_uses": [{{"recipient_name": "functions.recall_text", "parameters": {QUERY}}}]}}',
    'ReAct': f'Thought: I look for it.\nAction: recall_text\nAction Input: {QUERY}\nObservation: ',
    'ReAct, in words': 'Thought: I look for it.\nAction: recall_text\nAction Input: lift\nObservation: ',
    'ReAct, numbered': 'Thought 1: I look for it.\nAction 1: recall_text[lift]\nObservation 1: ',
    'ReAct, in Python': 'Thought: I look for it.\nAction: recall_text("lift")\n',
    'ReAct, in JSON': '```json\n{"action": "recall_text", "action_input": "lift"}\n```',
    'Cline': '<recall_text>\n<query>lift</query>\n</recall_text>',
    'Python, kept': '```python\nfound = recall_text(query="lift")\nprint(found)\n```',
    'Python, without a name': "recall_text('lift')",
    'Python, with an object': f'recall_text({QUERY})',
}


@pytest.mark.parametrize('form', AS_MODELS_WRITE_IT)
def test_each_form_of_a_template_is_read(form: str) -> None:
    assert [(tool_name(name), given) for name, given in read(AS_MODELS_WRITE_IT[form])] == [LIFT]


TWICE = {
    'Qwen3-Coder': '<function=recall_text><parameter=query>lift</parameter></function>'
    '<function=recall_text><parameter=query>stairs</parameter><parameter=limit>3</parameter></function>',
    'Kimi': 'functions.recall_text:0<|tool_call_argument_begin|>{"query": "lift"}<|tool_call_end|>'
    'functions.recall_text:1<|tool_call_argument_begin|>{"query": "stairs", "limit": 3}',
    'Llama 4': '[recall_text(query="lift"), recall_text(query="stairs", limit=3)]',
    'GLM': '<tool_call>recall_text<arg_key>query</arg_key><arg_value>lift</arg_value></tool_call><tool_call>'
    'recall_text\n<arg_key>query</arg_key><arg_value>stairs</arg_value><arg_key>limit</arg_key>'
    '<arg_value>3</arg_value></tool_call>',
}


@pytest.mark.parametrize('form', TWICE)
def test_several_calls_are_read_in_their_order(form: str) -> None:
    first, second = calls_in_text(TWICE[form])
    assert [json.loads(first.arguments), json.loads(second.arguments)['query']] == [LIFT[1], 'stairs']
    parsed = parse_arguments('recall_text', second.arguments)
    assert parsed.model_dump()['query'] == 'stairs'


def test_lists_and_truth_are_read_between_tags() -> None:
    (call,) = calls_in_text(
        '<function=answer><parameter=kind>binary</parameter><parameter=binary>true</parameter>'
        '<parameter=ids>["m1", "m2"]</parameter><parameter=text>Yes, "EXIT".</parameter></function>'
    )
    parsed = parse_arguments(call.name, call.arguments)
    assert isinstance(parsed, AnswerCall)
    assert (parsed.kind, parsed.binary, parsed.ids) == (Kind.BINARY, True, ['m1', 'm2'])


@pytest.mark.parametrize(
    'content',
    [
        'I would recall_text if I could.',
        'The answer (see m1) is 3.',
        'recall_text(lift)',
        'Action: leave',
        'Action: recall_text[]',
        '<recall_text> is a tool.',
        'It reads recall_text(query="lift").',
    ],
)
def test_prose_is_no_call(content: str) -> None:
    assert read(content) == []


def test_each_call_has_an_id_of_its_own() -> None:
    calls = calls_in_text(f'{CALL} {OTHER}')
    assert [call.id for call in calls] == ['text_0', 'text_1']


def test_calls_are_bounded() -> None:
    many = [{'tool': 'recall_text', 'arguments': {'query': str(i)}} for i in range(500)]
    assert len(calls_in_text(json.dumps({'calls': many[:90]}))) == MAX_CALLS
    assert len(calls_in_text('\n'.join(map(json.dumps, many)))) == MAX_CALLS


@given(st.text(alphabet='{}[]",:<>/abtoolcallsthink \n\\', max_size=2_000))
def test_whatever_it_writes_is_read_without_an_error(content: str) -> None:
    for call in calls_in_text(content):
        assert call.name is not None
    without_thoughts(content)
    list(objects_in(content))


@pytest.mark.parametrize(
    'piece',
    [
        *(
            '<think>',
            '</think>',
            '{"a":',
            '{"tool": "x", ',
            ',',
            ', }',
            '<think>{',
            'recall_text(',
            'recall_text {',
        ),
        *('<function=answer>', '<parameter=a>', '<tool_call>a', '<arg_key>', 'answer("', 'action: answer\n'),
    ],
)
def test_no_text_takes_long_to_read(piece: str) -> None:
    began = time.monotonic()
    calls_in_text(piece * 200_000)
    assert time.monotonic() - began < patiently(2.0)
