"""When to ask a server again, and how long to wait before."""

import random
import time
from email.utils import parsedate_to_datetime

FIRST_S = 0.5
"""The first wait is at most so long, each further one at most twice as long as the one before [s]."""

LONGEST_S = 8.0  # [s] no wait is longer, unless the server asks for it


def may_help(status: int | None, said: str = '') -> bool:
    """Return whether the same request may succeed later.

    :param status: of the refusal; None: there was no reply
    :param said: with the refusal
    """
    if status is None:
        return True
    if status == 429:
        return 'insufficient_quota' not in said  # that is an empty account, not a busy server
    return status >= 500 and status != 501


def wait_s(attempt: int, retry_after: str | None) -> float:
    """Return how long to wait before the next attempt [s].

    Any time up to a bound that doubles (full jitter), so that robots that failed together do not come back
    together; what the server asks for, if that is longer.

    :param attempt: 0 after the first one
    :param retry_after: the server's header, seconds or an HTTP date
    """
    jittered = random.uniform(0.0, min(LONGEST_S, FIRST_S * 2.0 ** min(attempt, 10)))
    return max(jittered, _asked_s(retry_after))


def _asked_s(retry_after: str | None) -> float:
    if not retry_after:
        return 0.0
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (ValueError, OverflowError, TypeError):
            return 0.0
    return seconds if seconds > 0.0 else 0.0  # of NaN, too
