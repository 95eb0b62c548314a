"""Calls of a language model within the time of a question, and with a second server."""

import hashlib
import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from remembr_ros.agent.chat.client import Call, ChatClient, Message, Reply, Tool
from remembr_ros.agent.model.answer import Ledger, Usage
from remembr_ros.agent.planner import Run, record_nothing
from remembr_ros.chat_endpoint import Refused
from remembr_ros.errors import ChatUnavailable, RemembrError

logger = logging.getLogger(__name__)

RESERVE_S = 3.0  # Time kept back for what follows when the model does not answer
SHARE_OF_QUESTION = 0.75  # Of the time left, for a call without a limit: a server may load its model first


def allowed_s(call_timeout_s: float, remaining_s: float) -> float:
    """Return the most that a call may take while a question has so much time left [s].

    :param call_timeout_s: its own limit [s]; 0: SHARE_OF_QUESTION
    """
    own = call_timeout_s or SHARE_OF_QUESTION * remaining_s
    return min(own, max(remaining_s - RESERVE_S, remaining_s / 2.0))


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

    :param call_timeout_s: see :func:`allowed_s`
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


SHARE = 0.6  # Of the time left, what a client may take while there is another one
REST_FACTOR = 10.0  # A client that failed is left alone so many times as long as the failure took
LONGEST_REST_S = 60.0  # But not longer [s]

OF_ALL = (401, 403, 404, 429)
"""By these a server refuses every request alike; by any other 4xx only this one, such as for its length."""


class FailoverChat:
    """Asks the first of several clients that is in reach; safe to share between threads.

    One that was out of reach rests for a while: ten times as long as it took to find out, a minute at most.
    So a server that refuses at once is asked again at once, and one that is silent does not keep every
    question waiting; where all rest, the call fails at once, and the next planner answers. Of what is one
    question's own fault, an odd request or too little time, no other has to suffer.

    :param chats: in the order of preference; one is enough to profit from the rest
    :param patience_s: a client that does not answer within less than this need not be out of reach [s]
    """

    def __init__(
        self,
        chats: Sequence[ChatClient],
        *,
        patience_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not chats:
            raise ValueError('there is no client to fail over to')
        self._chats = tuple(chats)
        self._patience_s = patience_s
        self._clock = clock
        self._lock = threading.Lock()
        self._rests = [(float('-inf'), '')] * len(self._chats)
        """Until when each is left alone, and why."""

    @property
    def model(self) -> str:
        """The model that would be asked now."""
        awake = self._awake()
        return self._chats[awake[0] if awake else 0].model

    def parameters_b(self, timeout_s: float) -> float:
        awake = self._awake()
        return self._chats[awake[0]].parameters_b(timeout_s) if awake else math.inf

    def complete(self, call: Call) -> Reply:
        deadline = self._clock() + call.timeout_s
        failure: ChatUnavailable | None = None
        awake = self._awake()
        for index in awake:
            chat, began = self._chats[index], self._clock()
            left = deadline - began
            if left <= 0.0:
                break
            allowed = left if index == awake[-1] else SHARE * left
            try:
                reply = chat.complete(replace(call, timeout_s=allowed))
            except ChatUnavailable as error:
                took = self._clock() - began
                hurried = call.timeout_s < self._patience_s and took > 0.8 * allowed
                if not (hurried or _is_of_one_request(error)):
                    self._rest(index, took, str(error))
                failure = error
                continue
            return replace(reply, model=reply.model or chat.model)
        raise failure or ChatUnavailable(self._all_rest())

    def _awake(self) -> list[int]:
        now = self._clock()
        with self._lock:
            return [index for index, (until, _) in enumerate(self._rests) if until <= now]

    def _rest(self, index: int, took_s: float, reason: str) -> None:
        seconds = min(LONGEST_REST_S, REST_FACTOR * took_s)
        with self._lock:
            self._rests[index] = self._clock() + seconds, reason
        logger.warning('%s; it is left alone for %.1f s', reason, seconds)

    def _all_rest(self) -> str:
        with self._lock:
            until, reason = min(self._rests)
        seconds = until - self._clock()
        return f'{reason} (that was a moment ago; it is tried again in {max(0.0, seconds):.0f} s)'


def _is_of_one_request(error: ChatUnavailable) -> bool:
    return isinstance(error, Refused) and 400 <= error.status < 500 and error.status not in OF_ALL
