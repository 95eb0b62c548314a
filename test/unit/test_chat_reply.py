"""What replies say: parts joined, thoughts and a template's tokens left out."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.chat_reply import plain, said_in, without_thoughts
from remembr_ros.errors import ReplyInvalid


def response(content: Any, finish_reason: Any = 'stop', **message: Any) -> Any:
    said = SimpleNamespace(content=content, **message)
    return SimpleNamespace(choices=[SimpleNamespace(message=said, finish_reason=finish_reason)])


@pytest.mark.parametrize(
    ('content', 'text'),
    [
        ('A lift.', 'A lift.'),
        (None, ''),
        (7, ''),
        (
            [
                {'type': 'thinking', 'thinking': [{'type': 'text', 'text': 'Let me see.'}]},
                {'type': 'text', 'text': 'A '},
                {'type': 'text', 'text': 'lift.'},
            ],
            'A lift.',
        ),
        (
            [{'type': 'reasoning', 'text': 'Let me see.'}, {'type': 'output_text', 'text': 'A lift.'}],
            'A lift.',
        ),
        ({'type': 'text', 'text': 'A lift.'}, 'A lift.'),
        (['A lift.', 5, {'type': 'text'}, {'type': 'text', 'text': None}], ''),
        ('half \ud83d', 'half ?'),
    ],
)
def test_content_comes_whole_or_in_parts(content: Any, text: str) -> None:
    assert said_in(response(content)).text == text


@pytest.mark.parametrize(
    ('reason', 'cut_off'),
    [
        ('stop', False),
        ('length', True),
        ('max_tokens', True),
        ('MAX_TOKENS', True),
        (None, False),
        (3, False),
    ],
)
def test_a_reply_that_reached_a_limit_was_cut_off(reason: Any, cut_off: bool) -> None:
    assert said_in(response('A lift.', reason)).cut_off is cut_off


def test_a_refusal_is_told() -> None:
    assert said_in(response(None, refusal='I cannot.')).refusal == 'I cannot.'
    assert said_in(response('', 'content_filter')).refusal == 'content filter'
    assert said_in(response('A lift.')).refusal == ''


@pytest.mark.parametrize('nothing', [None, SimpleNamespace(choices=[]), SimpleNamespace(choices=7)])
def test_what_has_no_message_is_no_reply(nothing: Any) -> None:
    with pytest.raises(ReplyInvalid, match='no message'):
        said_in(nothing)


@pytest.mark.parametrize(
    'text',
    [
        '<think>Perhaps a door?</think>A lift.',
        '<think>Perhaps <think>a door</think>?</think> A lift.',
        'Perhaps a door?</think>A lift.',
        '<THINKING>Perhaps a door?</THINKING>\n\nA lift.',
        '<seed:think>Perhaps a door?</seed:think>A lift.',
        '[THINK]Perhaps a door?[/THINK]A lift.',
        '\u25c1think\u25b7Perhaps a door?\u25c1/think\u25b7A lift.',
        '<|START_THINKING|>Perhaps a door?<|END_THINKING|>A lift.',
        '<|channel|>analysis<|message|>Perhaps a door?<|end|><|start|>assistant<|channel|>final<|message|>'
        'A lift.<|return|>',
        'analysisPerhaps a door?assistantfinalA lift.',
        '<|channel>thought\nPerhaps a door?<channel|>A lift.',
        '<|begin_of_box|>A lift.<|end_of_box|>',
        '<think>Perhaps a door?</think><answer>A lift.</answer>',
        'A lift.<|im_end|>',
        'A lift.<|end|>',
        '<s>A lift.</s>',
        'A lift.<end_of_turn>',
        'A lift.<think>Or rather',
        '<unused94>thought\nPerhaps a door?<unused95>A lift.',
        '<p>A lift</p> <box>[[12, 34, 56, 78]]</box>.',
        'A <ref>lift</ref><box>(12,34),(56,78)</box>.',
        'A <|object_ref_start|>lift<|object_ref_end|><|box_start|>(1,2),(3,4)<|box_end|>.',
        'A <phrase>lift</phrase><object><patch_index_0044><patch_index_0863></object>.',
        'A <point x="1.5" y="2" alt="lift">lift</point>.',
        'A lift<loc_12><loc_34>.',
        'A lift.<end_of_utterance>',
    ],
)
def test_neither_thoughts_nor_places_in_the_image_nor_tokens_of_a_template_are_said(text: str) -> None:
    assert plain(text) == 'A lift.'


def test_tags_that_a_caption_tells_of_are_kept() -> None:
    assert plain('The screen shows "<div>" and "<EXIT>".') == 'The screen shows "<div>" and "<EXIT>".'


@pytest.mark.parametrize(
    'thought',
    ['<think>\nThe user sends six pictures', '[THINK]A door', '<|channel|>analysis<|message|>A door', ''],
)
def test_a_thought_that_does_not_end_says_nothing(thought: str) -> None:
    assert plain(thought) == ''


@given(st.text(alphabet='<>|/[]thinkTHINK end_of_box', max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert len(without_thoughts(text)) <= len(text)
    assert plain(text) == plain(text).strip()
