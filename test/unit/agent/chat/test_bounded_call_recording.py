import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pytest

from remembr_ros.agent.chat.bounded_call import complete
from remembr_ros.agent.chat.client import Message, Picture, Reply, ToolCall
from remembr_ros.agent.model.answer import Usage
from remembr_ros.agent.planner import Run
from remembr_ros.agent.trace import without_repetitions
from remembr_ros.errors import ChatUnavailable
from test.scripted.chat import ScriptedChat

SYSTEM, ASKED = Message('system', 'Be brief.'), Message('user', 'Where is the lift?')
RECALL = ToolCall('a', 'recall_text', '{"query": "lift"}')


class Recorded:
    """Calls of a script by one question, and what its trace says of them."""

    def __init__(self, *replies: Any) -> None:
        self.calls: list[dict[str, Any]] = []
        self.script = ScriptedChat(list(replies), 'tiny')
        self._run = Run(float('inf'), record=without_repetitions(self._record))

    def _record(self, event: str, about: Mapping[str, Any]) -> None:
        assert event == 'chat'
        assert about['seconds'] >= 0.0
        self.calls.append({**about, 'seconds': 0.5})

    def ask(self, *messages: Message, must_call: str | None = None) -> Reply:
        return complete(self.script, messages, (), must_call=must_call, run=self._run, call_timeout_s=1.0)


def test_a_conversation_is_recorded_without_repetitions():
    recorded = Recorded(Reply('', (RECALL,), Usage(1, 100, 7)), Reply('There.', (), Usage(1, 200, 9)))
    more = (Message('assistant', '', (RECALL,)), Message('tool', 'nothing', tool_call_id='a'))
    assert recorded.ask(SYSTEM, ASKED) == Reply('', (RECALL,), Usage(1, 100, 7))
    assert recorded.ask(SYSTEM, ASKED, *more, must_call='answer').content == 'There.'
    recall = {'id': 'a', 'name': 'recall_text', 'arguments': '{"query": "lift"}'}
    assert json.loads(json.dumps(recorded.calls)) == [
        {
            'model': 'tiny',
            'messages': [
                {'role': 'system', 'content': 'Be brief.'},
                {'role': 'user', 'content': 'Where is the lift?'},
            ],
            'must_call': None,
            'reply': {'content': '', 'tool_calls': [recall]},
            'prompt_tokens': 100,
            'completion_tokens': 7,
            'seconds': 0.5,
        },
        {
            'model': 'tiny',
            'messages': [
                {'role': 'assistant', 'content': '', 'tool_calls': [recall]},
                {'role': 'tool', 'content': 'nothing', 'tool_call_id': 'a'},
            ],
            'must_call': 'answer',
            'reply': {'content': 'There.', 'tool_calls': []},
            'prompt_tokens': 200,
            'completion_tokens': 9,
            'seconds': 0.5,
        },
    ]


def test_what_does_not_go_on_is_a_new_conversation():
    recorded = Recorded(Reply('a'), Reply('b'))
    recorded.ask(SYSTEM, ASKED)
    recorded.ask(SYSTEM, Message('user', 'When?'), Message('assistant', 'a'))
    assert [len(call['messages']) for call in recorded.calls] == [2, 3]


def test_a_failure_is_recorded_and_goes_on():
    recorded = Recorded(ChatUnavailable('nobody is there'))
    with pytest.raises(ChatUnavailable, match='nobody'):
        recorded.ask(ASKED)
    (call,) = recorded.calls
    assert call['error'] == 'ChatUnavailable: nobody is there'
    assert 'reply' not in call


def test_of_images_size_and_digest_are_recorded():
    recorded = Recorded(Reply('A lift.'))
    recorded.ask(Message('user', 'What?', images=(Picture('[m1]', b'jpeg'),)))
    digest = hashlib.sha256(b'jpeg').hexdigest()
    assert recorded.calls[0]['messages'][0]['images'] == [{'text': '[m1]', 'bytes': 4, 'sha256': digest}]
    assert recorded.script.asked[0][0][0].images[0].jpeg == b'jpeg'
