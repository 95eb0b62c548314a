"""How alike an answer in words is to the reference, where no judge reads it.

Texts are normalised as in SQuAD (arXiv 1606.05250, section 5): lower case, no punctuation, no articles.
"""

import re
import string
from collections import Counter

_ARTICLES = re.compile(r'\b(a|an|the)\b')
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + '\u2018\u2019\u201c\u201d', ' '))


def normalised(text: str) -> list[str]:
    """Return the words that count."""
    return _ARTICLES.sub(' ', text.lower().translate(_PUNCTUATION)).split()


def exact_match(answer: str, reference: str) -> bool:
    """Tell whether the texts have the same words in the same order."""
    return normalised(answer) == normalised(reference)


def token_f1(answer: str, reference: str) -> float:
    """Return the harmonic mean of precision and recall of the words, 0 to 1; 1 if both texts have none."""
    given, asked = normalised(answer), normalised(reference)
    if not given or not asked:
        return float(given == asked)
    shared = sum((Counter(given) & Counter(asked)).values())
    return 2.0 * shared / (len(given) + len(asked))
