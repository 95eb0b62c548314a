"""Waiting for a language model no longer than a question allows."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout

from remembr_ros.agent.chat.client import ChatClient, Message, Reply, Tool
from remembr_ros.agent.chat.messages_json import chat_event
from remembr_ros.agent.planner import Run, record_nothing
from remembr_ros.errors import ChatUnavailable, RemembrError

logger = logging.getLogger(__name__)

POLL_S = 0.05
"""How soon a cancelled question stops waiting for the model."""

RESERVE_S = 1.0
"""Time kept back for what follows when the model does not answer."""

CLIENTS_SHARE = 0.95
"""A little less than is waited here: the client knows better why there is no reply."""


def allowed_s(call_timeout_s: float, remaining_s: float) -> float:
    """Return the most that a call may take while a question has so much time left [s]."""
    return min(call_timeout_s, max(remaining_s - RESERVE_S, remaining_s / 2.0))


def complete(
    chat: ChatClient,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    *,
    must_call: str | None,
    run: Run,
    call_timeout_s: float,
) -> Reply:
    """Return the model's next turn, unless the question ends before.

    :param call_timeout_s: the most that this call may take; less if the question has less time left [s]
    :raises Cancelled, BudgetExceeded: the question ended meanwhile
    :raises ChatUnavailable: see :class:`remembr_ros.agent.chat.client.ChatClient`
    """
    run.check()
    allowed = allowed_s(call_timeout_s, run.remaining_s)
    messages = tuple(messages)
    began = time.monotonic()
    outcome: Reply | RemembrError | None = None
    try:
        outcome = _wait(
            lambda: chat.complete(
                messages, tools, must_call=must_call, timeout_s=CLIENTS_SHARE * allowed, cancel=run.cancel
            ),
            run,
            allowed,
            chat.model,
        )
    except RemembrError as error:
        outcome = error
        raise
    finally:
        if isinstance(outcome, Reply | ChatUnavailable):
            run.spent.add(outcome.calls, outcome.prompt_tokens, outcome.completion_tokens, outcome.estimated)
        if run.record is not record_nothing and outcome is not None:
            about = chat_event(chat.model, messages, must_call, outcome, time.monotonic() - began)
            run.record('chat', about)
    return outcome


def _wait(request: Callable[[], Reply], run: Run, timeout_s: float, name: str) -> Reply:
    """Run a request in a thread of its own, so that a server that hangs holds up nobody.

    :raises Cancelled, BudgetExceeded: the question ended meanwhile
    :raises ChatUnavailable: no reply within the time
    """
    future: Future[Reply] = Future()

    def work() -> None:
        try:
            future.set_result(request())
        except RemembrError as error:
            future.set_exception(error)
        except Exception as error:
            logger.exception('the chat client failed')
            future.set_exception(ChatUnavailable(f'{name} failed: {error!r}'))

    # Daemon: a request that nobody waits for any more must not keep the process alive.
    threading.Thread(target=work, name='chat', daemon=True).start()
    until = time.monotonic() + timeout_s
    while True:
        try:
            return future.result(POLL_S)
        except FutureTimeout:
            pass
        run.check()
        if time.monotonic() > until:
            raise ChatUnavailable(f'{name} did not answer within {timeout_s:.0f} s')
