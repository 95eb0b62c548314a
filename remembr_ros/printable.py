"""Text from elsewhere, as it may be shown: a terminal shows it, and does not obey it."""

import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

_OBEYED = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]')
"""Control characters but for tab and new line, other line ends, and what turns the direction of writing."""

_BAR = re.compile(r'\r|(\x1b\[A)+\Z')
"""How a progress bar begins what it writes: with the line's begin, or lines up alone."""


def printable(text: str) -> str:
    r"""Return a text with what a terminal would obey as an escape, such as \u001b; it stays JSON if it is."""
    return _OBEYED.sub(lambda found: f'\\u{ord(found[0]):04x}', text)


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
