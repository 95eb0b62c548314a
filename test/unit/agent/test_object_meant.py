import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.chat.client import Reply
from remembr_ros.agent.object_meant import look_which
from remembr_ros.agent.planner import Run
from remembr_ros.errors import ReplyInvalid

PICTURE = b'a jpeg'


class Says:
    """A model that says one thing."""

    model = 'scripted'

    def __init__(self, content: str) -> None:
        self.content, self.calls = content, []

    def complete(self, call):
        self.calls.append(call)
        return Reply(content=self.content)


def look(content: str, names=('red mug', 'bowl'), pictures=(PICTURE,)):
    model = Says(content)
    return look_which(model, 'Picked the mug.', names, pictures, Run(time.monotonic() + 9.0)), model


@pytest.mark.parametrize(
    ('said', 'meant'),
    [
        ('{"object": 2, "state": "open"}', (1, 'open')),
        ('{"object": "1", "state": "In Hand."}', (0, 'in hand')),
        ('Sure! ```json\n{"object": 1, "state": ""}\n```', (0, '')),
        ('{"object": 0, "state": "unknown"}', (None, '')),
        ('{"object": 1}', (0, '')),
        ('{"object": 1, "state": "' + 90 * 'x' + '"}', (0, '')),
    ],
)
def test_what_a_model_says_of_the_boxes(said, meant):
    assert look(said)[0] == meant


@pytest.mark.parametrize(
    'said',
    [
        '',
        'the mug',
        '{"object": 3}',
        '{"object": -1}',
        '{"object": true}',
        '{"object": 1, "state": 4}',
        '[1]',
    ],
)
def test_what_makes_no_sense_is_refused(said):
    with pytest.raises(ReplyInvalid):
        look(said)


@given(st.text(max_size=60))
def test_any_text_is_a_choice_or_refused(said):
    try:
        (number, state), _ = look(said)
    except ReplyInvalid:
        return
    assert number in (None, 0, 1)
    assert len(state) <= 60


def test_it_sees_names_and_pictures():
    _, model = look('{"object": 1}', pictures=(PICTURE, b'later'))
    message = model.calls[0].messages[-1]
    assert message.content == 'The robot: Picked the mug.\n1: red mug\n2: bowl'
    assert [picture.jpeg for picture in message.images] == [PICTURE, b'later']
