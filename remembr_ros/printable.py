"""Text from elsewhere, as it may be shown: a terminal shows it, and does not obey it."""

import re

_OBEYED = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]')
"""Control characters but for tab and new line, other line ends, and what turns the direction of writing."""


def printable(text: str) -> str:
    r"""Return a text with what a terminal would obey as an escape, such as \u001b; it stays JSON if it is."""
    return _OBEYED.sub(lambda found: f'\\u{ord(found[0]):04x}', text)
