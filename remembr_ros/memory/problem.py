"""A current problem: reported on request, and logged once rather than for each frame."""

import logging
import time
from collections.abc import Callable

PERIOD_S = 60.0


class Problem:
    """The state of something that may fail and recover. Not locked: its owner is.

    :param log: where a problem is logged as an error, at most once per period, and its end
    :param trouble: what is wrong; the log puts it before the text of the problem
    :param recovered: what is logged at the end
    :param clock: monotonic [s]
    """

    def __init__(
        self, log: logging.Logger, trouble: str, recovered: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log = log
        self._what = trouble
        self._recovered = recovered
        self._clock = clock
        self._logged_at = float('-inf')
        self.text = ''
        """What is wrong and what to do; empty: nothing."""

    def report(self, text: str) -> None:
        """Take over what the last attempt came to; an empty text: it worked."""
        now = self._clock()
        if text and now - self._logged_at >= PERIOD_S:
            self._logged_at = now
            self._log.error('%s: %s', self._what, text)
        elif self.text and not text:
            self._log.info('%s', self._recovered)
        self.text = text
