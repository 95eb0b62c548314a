"""A call of a language model within the time of a question, charged to it and written into its trace."""

import hashlib
import logging
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from remembr_ros.agent.chat.client import Call, ChatClient, Message, Reply, Tool
from remembr_ros.agent.model.answer import Ledger, Usage
from remembr_ros.agent.planner import Run, record_nothing
from remembr_ros.errors import ChatUnavailable, RemembrError

logger = logging.getLogger(__name__)

RESERVE_S = 1.0  # Time kept back for what follows when the model does not answer


def allowed_s(call_timeout_s: float, remaining_s: float) -> float:
    """Return the most that a call may take while a question has so much time left [s]."""
    return min(call_timeout_s, max(remaining_s - RESERVE_S, remaining_s / 2.0))


def complete(
    chat: ChatClient,
    messages: Sequence[Message],
    tools: Sequence[Tool] = (),
    *,
    must_call: str | None = None,
    run: Run,
    call_timeout_s: float,
) -> Reply:
    """Return the model's next turn, unless the question ends before.

    :param call_timeout_s: the most that this call may take; less if the question has less time left [s]
    :raises Cancelled, BudgetExceeded: the question ended before, or meanwhile
    :raises ChatUnavailable: see :class:`remembr_ros.agent.chat.client.ChatClient`
    """
    run.check()
    messages = tuple(messages)
    began, ledger = time.monotonic(), Ledger()
    outcome: Reply | RemembrError | None = None
    try:
        timeout_s = allowed_s(call_timeout_s, run.remaining_s)
        outcome = chat.complete(
            Call(messages, tools, must_call, timeout_s=timeout_s, ledger=ledger, cancel=run.cancel)
        )
    except RemembrError as error:
        outcome = error
        raise
    except Exception as error:  # whatever a client is, the next planner answers
        logger.exception('the chat client failed')
        outcome = ChatUnavailable(f'{chat.model} failed: {error!r}')
        raise outcome from error
    finally:
        usage = replace(ledger.usage, seconds=time.monotonic() - began)
        run.ledger.charge(usage)
        if run.record is not record_nothing and outcome is not None:
            run.record('chat', chat_event(chat.model, messages, must_call, outcome, usage))
    return outcome


def chat_event(
    model: str,
    messages: Sequence[Message],
    must_call: str | None,
    outcome: Reply | RemembrError,
    usage: Usage,
) -> dict[str, Any]:
    """Return one call of a model as JSON-ready.

    :param model: said where the reply does not say it
    :param usage: of the call, with what it lost on the way
    :return: model; messages, must_call; reply (content and tool_calls), prompt_tokens and completion_tokens,
        or error; seconds
    """
    event: dict[str, Any] = {
        'model': model,
        'messages': [_message_json(message) for message in messages],
        'must_call': must_call,
    }
    if isinstance(outcome, Reply):
        event['model'] = outcome.model or model
        event['reply'] = {'content': outcome.content, 'tool_calls': [*map(asdict, outcome.tool_calls)]}
        event['prompt_tokens'] = usage.prompt_tokens
        event['completion_tokens'] = usage.completion_tokens
        if usage.estimated:
            event['estimated'] = True
    else:
        event['error'] = f'{type(outcome).__name__}: {outcome}'
    return {**event, 'seconds': round(usage.seconds, 3)}


def _message_json(message: Message) -> dict[str, Any]:
    """Return a message without what it lacks; of an image, its text, size and SHA-256."""
    images = [
        {'text': image.text, 'bytes': len(image.jpeg), 'sha256': hashlib.sha256(image.jpeg).hexdigest()}
        for image in message.images
    ]
    written = {**asdict(message), 'tool_calls': [*map(asdict, message.tool_calls)], 'images': images}
    return {name: value for name, value in written.items() if value or name in ('role', 'content')}
