"""Standard output and error of the command, on a terminal that obeys nothing of what is printed."""

import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

from remembr_ros.printable import printable

_BAR = re.compile(r'\r|(\x1b\[A)+\Z')
"""How a progress bar begins what it writes: with the line's begin, or lines up alone."""


class _Plain:
    """A stream to a terminal on which nothing that was read anywhere is obeyed: see :func:`printable`.

    :param bars: progress bars may draw themselves; nothing else that is written there begins as they do
    """

    def __init__(self, stream: TextIO, *, bars: bool = False) -> None:
        self._stream = stream
        self._bars = bars

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        drawn = _BAR.match(text) if self._bars else None
        head = drawn[0] if drawn else ''
        self._stream.write(head + printable(text[len(head) :]))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)


@contextmanager
def plain_output() -> Iterator[None]:
    """Show captions, file names and servers' words on a terminal, whatever they contain.

    All that is printed, logged or refused goes through here. What is JSON stays JSON with the same meaning.
    """
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(_Plain(sys.stdout)))
        stack.enter_context(redirect_stderr(_Plain(sys.stderr, bars=True)))
        yield
