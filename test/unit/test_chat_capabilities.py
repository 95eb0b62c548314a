"""What servers refuse, in their own words, and what is sent to them from then on."""

from dataclasses import fields, replace
from functools import partial
from typing import Any

import pytest

from remembr_ros.bounded_request import TimeOver
from remembr_ros.chat_capabilities import MORE_TOKENS, Capabilities, Negotiation, after_refusal, as_taken
from remembr_ros.chat_endpoint import Refused
from remembr_ros.errors import ChatUnavailable

ALL = Capabilities()

NATIVE = {
    'model': 'm',
    'messages': [{'role': 'system', 'content': 'x'}, {'role': 'user', 'content': 'x'}],
    'tools': [{}],
    'tool_choice': 'auto',
    'parallel_tool_calls': True,
    'temperature': 0.0,
    'seed': 1,
    'max_tokens': 10,
}
PLAIN = {'messages': [], 'response_format': {'type': 'json_schema'}, 'max_tokens': 10}

REFUSALS = [
    (400, 'registry.ollama.ai/library/gemma:2b does not support tools', NATIVE, 'tools'),
    (500, 'tools param requires --jinja flag', NATIVE, 'tools'),
    (404, 'No endpoints found that support tool use', NATIVE, 'tools'),
    (501, 'function calling is not implemented', NATIVE, 'tools'),
    (
        400,
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        NATIVE,
        'tool_choice',
    ),
    (
        422,
        "[{'loc': ['body', 'tool_choice'], 'msg': 'Extra inputs are not permitted'}]",
        NATIVE,
        'tool_choice',
    ),
    (
        400,
        "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
        NATIVE,
        'parallel_calls',
    ),
    (400, "Unsupported value: 'temperature' does not support 0.0 with this model.", NATIVE, 'temperature'),
    (400, 'Unrecognized request argument supplied: seed', NATIVE, 'seed'),
    (400, 'System role not supported', NATIVE, 'system_role'),
    (400, 'Conversation roles must alternate user/assistant/user/assistant/...', NATIVE, 'system_role'),
    (400, "'response_format' of type json_schema is not supported", PLAIN, 'json_schema'),
    (422, 'guided decoding is not available', PLAIN, 'json_schema'),
]


@pytest.mark.parametrize(('status', 'said', 'request_', 'lost'), REFUSALS, ids=range(len(REFUSALS)))
def test_a_refusal_takes_away_what_it_names(
    status: int, said: str, request_: dict[str, Any], lost: str
) -> None:
    less = after_refusal(ALL, request_, status, said)
    assert less is not None
    assert [field.name for field in fields(ALL) if getattr(less, field.name) != getattr(ALL, field.name)] == [
        lost
    ]


@pytest.mark.parametrize(
    ('status', 'said'),
    [
        (401, 'tools are not supported for this key'),
        (429, 'too many tools'),
        (400, 'This model has a maximum context length of 4096 tokens; max_tokens is too large'),
        (400, 'bad request'),
        (404, 'the model functionary does not exist'),
        (500, 'internal error in tool server'),
        (400, ''),
        (400, 'maximum context length is 8192 tokens, you requested 9000 (700 in the functions)'),
        (400, 'The prompt is too long with these tools'),
    ],
    ids=range(9),
)
def test_any_other_refusal_takes_nothing_away(status: int, said: str) -> None:
    assert after_refusal(ALL, NATIVE, status, said) is None


def test_the_limit_of_the_reply_has_two_names_and_may_have_none() -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    once = after_refusal(ALL, NATIVE, 400, said)
    assert once is not None
    assert once.limit == 'max_completion_tokens'
    twice = after_refusal(
        once, {'messages': [], 'max_completion_tokens': 1}, 400, 'unknown field max_completion_tokens'
    )
    assert twice is not None
    assert twice.limit == ''
    assert after_refusal(twice, {'messages': []}, 400, 'max_tokens') is None


def test_what_was_not_sent_cannot_be_refused() -> None:
    assert after_refusal(ALL, {'messages': []}, 400, 'tools, seed and temperature are not supported') is None


def asked(tokens: int = 1_000, images: int = 0, **more: Any) -> dict[str, Any]:
    parts = [{'type': 'image_url', 'image_url': {'url': str(i)}} for i in range(images)]
    content: Any = [*parts, {'type': 'text', 'text': 'What is there?'}] if images else 'What is there?'
    return {'model': 'm', 'messages': [{'role': 'user', 'content': content}], 'max_tokens': tokens, **more}


def images_of(request: dict[str, Any]) -> list[str]:
    parts = request['messages'][0]['content']
    return [part['image_url']['url'] for part in parts if part['type'] == 'image_url']


@pytest.mark.parametrize(
    ('said', 'most'),
    [
        ('At most 1 image(s) may be provided in one request.', 1),
        ('At most 4 image(s) may be provided in one prompt.', 4),
        ('You set image=2 in `--limit-mm-per-prompt`, but found 6 items in the same prompt.', 2),
        ('Too many images provided. This model supports up to 5 images', 5),
        ('Too many images in request. Max is 3.', 3),
        ('vision model only supports a single image per message', 1),
        ('this model does not support multiple images', 1),
        ('At most 9 images', 5),  # it refused six
        ('Number of images (6) exceeds the limit (1)', 1),
        ('image count 6 exceeds 4', 4),
        ('Expected 1 image but got 6', 1),
        ('requests with 6 images are refused', 1),
        ('max_num_images=2', 2),
        ("This model's maximum context length is 4096 tokens", 3),
        ('the request exceeds the available context size, try increasing the context size', 3),
        ('this model does not support images', 0),
        ('the image is damaged', 0),
    ],
)
def test_a_server_is_sent_as_many_images_as_it_takes(said: str, most: int) -> None:
    less = after_refusal(ALL, asked(images=6), 400, said)
    assert (less.images if less else 0) == most


@pytest.mark.parametrize(('most', 'kept'), [(0, '012345'), (1, '0'), (2, '03'), (3, '024'), (9, '012345')])
def test_the_images_that_are_left_are_spread_evenly(most: int, kept: str) -> None:
    request = as_taken(asked(images=6), replace(ALL, images=most))
    assert ''.join(images_of(request)) == kept
    assert request['messages'][0]['content'][-1] == {'type': 'text', 'text': 'What is there?'}


def negotiated(
    replies: list[Any], request: dict[str, Any], negotiation: Negotiation
) -> tuple[list[dict[str, Any]], Any]:
    """Return the requests that were sent, and the last reply; 'cut' is one that was cut off."""
    sent: list[dict[str, Any]] = []

    def send(body: dict[str, Any]) -> Any:
        sent.append(body)
        reply = replies[len(sent) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply

    return sent, negotiation.ask(partial(as_taken, request), send, lambda reply: reply == 'cut')


def refused(said: str) -> Refused:
    return Refused(said, 400, said, None)


def test_a_reply_that_was_cut_off_is_asked_for_with_more_tokens_from_then_on() -> None:
    known = Negotiation()
    sent, reply = negotiated(['cut', 'whole'], asked(), known)
    assert ([body['max_tokens'] for body in sent], reply) == ([1_000, MORE_TOKENS], 'whole')
    sent, _ = negotiated(['whole'], asked(), known)
    assert [body['max_tokens'] for body in sent] == [MORE_TOKENS]


def test_a_model_that_runs_on_is_not_asked_for_more_twice() -> None:
    known = Negotiation()
    sent, reply = negotiated(['cut', 'cut'], asked(), known)
    assert (len(sent), reply, known.can.longer) == (2, 'cut', False)
    sent, reply = negotiated(['cut'], asked(), known)
    assert ([body['max_tokens'] for body in sent], reply) == ([1_000], 'cut')


@pytest.mark.parametrize('failure', [TimeOver(), ChatUnavailable('gone')])
def test_where_there_is_no_time_for_more_tokens_what_was_cut_off_counts(failure: Exception) -> None:
    known = Negotiation()
    sent, reply = negotiated(['cut', failure], asked(), known)
    assert (len(sent), reply, known.can.longer) == (2, 'cut', False)
    with pytest.raises(type(failure)):
        negotiated([failure], asked(), Negotiation())


def test_a_limit_of_ones_own_that_is_larger_stays() -> None:
    sent, reply = negotiated(['cut'], asked(20_000), Negotiation())
    assert ([body['max_tokens'] for body in sent], reply) == ([20_000], 'cut')


@pytest.mark.parametrize(
    'said',
    [
        'max_tokens is too large: 8000. This model has a maximum context length of 8192 tokens',
        'max_tokens must be at most 4096',
    ],
)
def test_where_there_is_no_room_for_more_tokens_the_limit_is_left_out(said: str) -> None:
    sent, reply = negotiated(['cut', refused(said), 'whole'], asked(), Negotiation())
    assert ([body.get('max_tokens') for body in sent], reply) == ([1_000, MORE_TOKENS, None], 'whole')


def test_a_limit_that_has_no_room_for_more_is_left_out_from_then_on() -> None:
    known = Negotiation()
    negotiated(['whole'], asked(), known)
    negotiated(['cut', refused('max_tokens must be at most 4096'), 'whole'], asked(), known)
    sent, _ = negotiated(['whole'], asked(), known)
    assert [body.get('max_tokens') for body in sent] == [None]


def test_who_runs_on_without_a_limit_has_one_again() -> None:
    known = Negotiation()
    negotiated(['cut', refused('max_tokens must be at most 4096'), 'cut'], asked(), known)
    sent, _ = negotiated(['cut'], asked(), known)
    assert [body.get('max_tokens') for body in sent] == [1_000]


def test_a_request_is_tried_without_each_thing_that_is_refused() -> None:
    replies = [
        refused("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
        refused("Unsupported value: 'temperature' does not support 0.0 with this model."),
        refused("Unsupported parameter: 'frequency_penalty' is not supported with this model."),
        refused('At most 1 image(s) may be provided in one request.'),
        'whole',
    ]
    known = Negotiation()
    request = asked(images=6, temperature=0.0, frequency_penalty=0.5)
    sent, _ = negotiated(replies, request, known)
    assert sorted(sent[-1]) == ['max_completion_tokens', 'messages', 'model']
    assert len(images_of(sent[-1])) == 1
    assert negotiated(['whole'], request, known)[0] == [sent[-1]]


def test_what_nothing_is_left_of_is_refused() -> None:
    with pytest.raises(Refused, match='no'):
        negotiated([refused('no')], asked(), Negotiation())
