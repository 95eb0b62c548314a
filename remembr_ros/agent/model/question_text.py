"""Numbers in words, and quotation marks, as questions and answers have them."""

import re

TO_TWENTY = (
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen '
    'seventeen eighteen nineteen twenty'
).split()
ORDINALS = (
    'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth '
    'fifteenth sixteenth seventeenth eighteenth nineteenth twentieth'
).split()
TENS = 'twenty thirty forty fifty sixty seventy eighty ninety hundred'.split()
_QUOTED = re.compile(r'["“”«»]([^"“”«»]+)["“”«»]|(?<!\w)\'([^\']+)\'(?!\w)')


def quotations(text: str) -> list[str]:
    """Return the texts within quotation marks."""
    return [(a or b).strip() for a, b in _QUOTED.findall(text)]


def unquoted(text: str) -> str:
    """Return a text without what is within quotation marks."""
    return _QUOTED.sub(' ', text)


def masked(text: str) -> str:
    """Return a text of the same length in which quotations have no words."""
    return _QUOTED.sub(lambda found: '_' * len(found[0]), text)
