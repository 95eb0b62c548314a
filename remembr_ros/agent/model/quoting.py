"""Quotes text from the camera as data, so that a model cannot take it for an instruction.

A sign may say 'ignore your instructions', and a captioner repeats it. A model is shown such text in one JSON
string without line breaks, and without the characters that chat templates, tool calls, markdown and this
package's own labels are made of. Words stay words: that they are no instruction is said in the system prompt,
and whatever a model makes of them, code checks what it cites.

Also the numbers in words and the quotation marks that questions and answers have.
"""

import json
import re
import unicodedata

_ALIKE = str.maketrans(
    {
        **dict.fromkeys('<[{', '('),
        **dict.fromkeys('>]}', ')'),
        **dict.fromkeys('"`\u201c\u201d\u201e\u00ab\u00bb', "'"),
        **dict.fromkeys('|\\', '/'),
    }
)
_HIDDEN = frozenset({'Cc', 'Cf', 'Cs', 'Co', 'Cn', 'Zl', 'Zp'})
"""Control, format (zero-width, bidi, tags), surrogate, private and unassigned characters, line ends."""

_ROLE = re.compile(
    r'\b(system|assistant|user|human|developer|tool|function|model|question|now|here|results?)(\s*):',
    re.IGNORECASE,
)
_RUN = re.compile(r'([#=*_~-])\1{2,}')
_LABEL = re.compile(r'\b(m)(?=\d)', re.IGNORECASE)
_SPOKEN_LABELS = re.compile(r'\s*[(\[]\s*m\d+(?:\s*(?:,|and|&)\s*m\d+)*\s*[)\]]')
_SPOKEN_LABEL = re.compile(r'\b(?:memory |memories )?m\d+(?:(?:, | and |, and )m\d+)*\b')


def neutral(text: str) -> str:
    """Return a text on one line in which nothing looks like a role, a delimiter, a call or a label."""
    text = unicodedata.normalize('NFKC', text)
    text = ''.join(
        (' ' if character.isspace() else '') if unicodedata.category(character) in _HIDDEN else character
        for character in text
    )
    text = ' '.join(text.translate(_ALIKE).split())
    text = _RUN.sub(r'\1', text)
    text = _ROLE.sub(r'\1 -', text)
    return _LABEL.sub(r'\1-', text)


def quoted(text: str) -> str:
    """Return a text neutralised and in double quotes, of which it has none inside."""
    return json.dumps(neutral(text), ensure_ascii=False)


def without_labels(text: str) -> str:
    """Return a text as it may be spoken: labels are nothing to a person, and hidden characters to nobody."""
    text = _SPOKEN_LABELS.sub('', text)
    text = _SPOKEN_LABEL.sub('a memory', text)
    return ' '.join(''.join(c if c.isprintable() or c.isspace() else '' for c in text).split())


TO_TWENTY = (
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen '
    'seventeen eighteen nineteen twenty'
).split()
ORDINALS = (
    'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth '
    'fifteenth sixteenth seventeenth eighteenth nineteenth twentieth'
).split()
TENS = 'twenty thirty forty fifty sixty seventy eighty ninety hundred'.split()
_NTH = re.compile(r'(\d+)(?:st|nd|rd|th)')
_QUOTED = re.compile(r'["“”«»]([^"“”«»]+)["“”«»]|(?<!\w)\'([^\']+)\'(?!\w)')


def ordinal(word: str) -> int | None:
    """Return which one a word says, 1 is the first, -1 the last; None: it says none."""
    if word in ORDINALS:
        return ORDINALS.index(word) + 1
    found = _NTH.fullmatch(word)
    return int(found[1]) if found else -1 if word in ('last', 'latest', 'final') else None


def cardinal(word: str) -> int | None:
    """Return how many a word says, 'three' or '3'; None: it says none."""
    return int(word) if word.isdecimal() else TO_TWENTY.index(word) if word in TO_TWENTY else None


def quotations(text: str) -> list[str]:
    """Return the texts within quotation marks."""
    return [(a or b).strip() for a, b in _QUOTED.findall(text)]


def unquoted(text: str) -> str:
    """Return a text without what is within quotation marks."""
    return _QUOTED.sub(' ', text)


def masked(text: str) -> str:
    """Return a text of the same length in which quotations have no words."""
    return _QUOTED.sub(lambda found: '_' * len(found[0]), text)


def any_case(pattern: str) -> re.Pattern[str]:
    """Compile a pattern for letters of any case; a space in it is any white space, ' ?' at most one.

    Line breaks and the indentation after them are left out.
    """
    plain = re.sub(r'\n *', '', pattern)
    return re.compile(re.sub(r' (\??)', lambda found: r'\s?' if found[1] else r'\s+', plain), re.IGNORECASE)
