"""A chat client that falls back to a second one when the first is out of reach."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from remembr_ros.agent.chat.client import Call, ChatClient, Reply
from remembr_ros.chat_endpoint import Refused
from remembr_ros.errors import ChatUnavailable

logger = logging.getLogger(__name__)

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
