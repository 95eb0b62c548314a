"""What stands within quotation marks in a question: names, and no word that asks."""

import re

_QUOTED = re.compile(r'["“”«»]([^"“”«»]+)["“”«»]|(?<!\w)\'([^\']+)\'(?!\w)')


def quoted(text: str) -> list[str]:
    """Return the texts within quotation marks."""
    return [(a or b).strip() for a, b in _QUOTED.findall(text)]


def unquoted(text: str) -> str:
    """Return a text without what is within quotation marks."""
    return _QUOTED.sub(' ', text)


def masked(text: str) -> str:
    """Return a text of the same length in which quotations have no words."""
    return _QUOTED.sub(lambda found: '_' * len(found[0]), text)
