"""What small models write around the JSON that they were asked for."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.chat.reply_text import MAX_CALLS, calls_in_text, json_objects, without_thoughts
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
        ('recall_text(query="lift")', []),
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
    list(json_objects(content))


@pytest.mark.parametrize('piece', ['<think>', '</think>', '{"a":', '{"tool": "x", ', ',', ', }', '<think>{'])
def test_no_text_takes_long_to_read(piece: str) -> None:
    began = time.monotonic()
    calls_in_text(piece * 200_000)
    assert time.monotonic() - began < patiently(2.0)
