"""Classes of English words that the rules know: read from words.yaml, which says what each is for."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files

import yaml


@cache
def word_class(name: str) -> frozenset[str]:
    """Return the words of a class, in lower case.

    :raises KeyError: there is no class of this name
    """
    listed = _listed()[name].split()
    others = [word_class(word[1:]) for word in listed if word.startswith('+')]
    return frozenset(word for word in listed if not word.startswith('+')).union(*others)


def classes_of(kind: str, form: Callable[[str], str] = str) -> dict[str, list[str]]:
    """Return the words of each class of a kind, such as 'shade' for 'shade gray', by the words that name it.

    :param form: of these words
    """
    named = [(name.split(), said.split()) for name, said in _listed().items()]
    return {form(word): known for (first, *rest), known in named if first == kind for word in rest}


@cache
def said_by(name: str) -> str:
    """Return a pattern of what the words of a class say, in which '_' is a space and '*' any ending.

    :raises KeyError: there is no class of this name
    """
    listed = '|'.join(sorted(word_class(name)))
    return rf'\b(?:{listed})\b'.replace('_', ' ').replace('*', r'\w*')


@cache
def _listed() -> dict[str, str]:
    loaded: dict[str, str] = yaml.safe_load(files(__package__).joinpath('words.yaml').read_text('utf-8'))
    return loaded
