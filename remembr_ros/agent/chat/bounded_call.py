"""A call of a language model within the time of a question, and charged to it."""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.agent.chat.client import Call, ChatClient, Message, Reply, Tool
from remembr_ros.agent.chat.recording import chat_event
from remembr_ros.agent.model.usage import Ledger
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
