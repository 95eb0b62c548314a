"""BM25 over the memories' words, in memory; what is kept of them on the disk is up to who asks."""

import threading
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from remembr_ros.memory.matching.terms import STOP_WORDS, words, words_without

K1 = 1.2  # how soon saying a word again adds nothing (Robertson and Zaragoza 2009, eq. 3.15)
B = 0.75  # how much a long text has to say a word more often

# Words that tell nothing in any text; of all others their frequency tells what they are worth.
COMMON_WORDS = frozenset(
    'a an and are as at be but by for if in into is it no not of on or such that the their then there these '
    'they this to was will with'.split(' ')
)
_MOST = np.iinfo(np.uint16).max
_stemmer = snowballstemmer.stemmer('english')  # keeps the word that it works on: one thread at a time
_stemming = threading.Lock()


@lru_cache(100_000)  # without PyStemmer a word takes 35 microseconds
def term_of(word: str) -> str:
    """Return what the words of one meaning have in common (Snowball): of 'painted' and 'paintings' paint.

    It also joins 'park' and 'parking': good enough to find a text by, not to say what it shows.
    """
    with _stemming:
        return str(_stemmer.stemWord(word))


_QUESTION_TERMS = frozenset(map(term_of, STOP_WORDS))


def asked_terms(text: str) -> list[str]:
    """Return the terms that are looked for, each once; of all words if all are common."""
    return list(dict.fromkeys(map(term_of, words_without(COMMON_WORDS, text))))


class WordIndex:
    """Which words the text of each slot has. Not safe to change while another thread reads it.

    A text lives in a row of its own, the newest in the last; the rows of removed texts are swept out once
    they are the most.
    """

    def __init__(self) -> None:
        self.terms: list[str] = []  # by their number; those that no text has any more are empty after purge
        self._numbers: dict[str, int] = {}
        self._rows: list[array[int]] = []
        self._counts: list[array[int]] = []
        self._lengths = array('i')
        self._slots = array('i')  # of each row; -1: its text was removed
        self._row_of: dict[int, int] = {}
        self._total = 0  # words of all texts that are there

    def dump(self) -> dict[str, NDArray[Any]]:
        """Return all there is, in the order of the slots, for :meth:`load`."""
        self.purge()
        sizes = [len(rows) for rows in self._rows]
        return {
            'terms': np.frombuffer(''.join(f'{term}\n' for term in self.terms).encode(), np.uint8),
            'having': np.array(sizes, np.int64),
            'rows': np.frombuffer(b''.join(rows.tobytes() for rows in self._rows), np.int32),
            'counts': np.frombuffer(b''.join(counts.tobytes() for counts in self._counts), np.uint16),
            'lengths': np.array(self._lengths, np.int32),
        }

    def load(self, dumped: Mapping[str, NDArray[Any]]) -> None:
        """Take back what :meth:`dump` returned, in the place of everything; slots are counted from 0."""
        self.terms = dumped['terms'].tobytes().decode().split('\n')[:-1]
        rows, counts, lengths = dumped['rows'], dumped['counts'], dumped['lengths']
        bounds = [0, *np.cumsum(dumped['having']).tolist()]
        self._numbers = {term: number for number, term in enumerate(self.terms) if term}
        self._rows = [array('i', rows[a:b].tobytes()) for a, b in pairwise(bounds)]
        self._counts = [array('H', counts[a:b].tobytes()) for a, b in pairwise(bounds)]
        self._lengths = array('i', lengths.tobytes())
        self._slots = array('i', range(len(lengths)))
        self._row_of = dict(enumerate(range(len(lengths))))
        self._total = int(lengths.sum())

    def add(self, slot: int, text: str) -> None:
        """Keep the words of a text; they replace those that the slot has.

        :param slot: 0 or more; scores have a place for each up to the largest
        """
        self.remove(slot)
        row = len(self._lengths)
        terms = [term_of(word) for word in words(text)]
        for word, count in Counter(terms).items():
            number = self._numbers.get(word)
            if number is None:
                number = self._numbers[word] = len(self.terms)
                self.terms.append(word)
                self._rows.append(array('i'))
                self._counts.append(array('H'))
            self._rows[number].append(row)
            self._counts[number].append(min(count, _MOST))
        self._lengths.append(len(terms))
        self._slots.append(slot)
        self._row_of[slot] = row
        self._total += len(terms)

    def remove(self, slot: int) -> None:
        """Forget the words of a slot; nothing happens if it has none."""
        row = self._row_of.pop(slot, None)
        if row is None:
            return
        self._total -= self._lengths[row]
        self._slots[row] = -1
        if len(self._slots) > 2 * len(self._row_of) + 1_000:
            self.purge()

    def shares(self, text: str) -> NDArray[np.float32]:
        """Return how much of a text each slot has, 0 to 1, shape (largest slot + 1,).

        1: as many points as a text of mean length that has each word once. A word that no slot has counts, as
        the rarest of all, unless it is one of which questions are made.
        """
        return _shares(*self._scored(text))

    def rarities(self, asked: Sequence[str]) -> NDArray[np.float32]:
        """Return how rare each of these words is, 0 to 1: 1: no text has it. Shape (asked,)."""
        alive = np.array(self._slots, np.int32) >= 0
        numbers = [self._numbers.get(term_of(word)) for word in asked]
        having = [0 if n is None else int(alive[np.array(self._rows[n], np.intp)].sum()) for n in numbers]
        return _rarities(having, len(self._row_of))

    def _scored(self, text: str) -> tuple[NDArray[np.float32], float]:
        """Return the BM25 score of each slot, and that of a text of mean length with each of the words once.

        Each word of the text counts once, stop words do not; frequencies are those of this moment.
        """
        slots = np.array(self._slots, np.int32)
        out = np.zeros(int(slots.max(initial=-1)) + 1, np.float32)
        n = len(self._row_of)
        if not n:
            return out, 0.0
        alive = slots >= 0

        def holding(word: str) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
            number = self._numbers.get(word)
            rows = np.array(() if number is None else self._rows[number], np.intp)
            counts = np.array(() if number is None else self._counts[number], np.float32)
            if n == len(slots):
                return rows, counts
            return rows[alive[rows]], counts[alive[rows]]

        lengths = np.array(self._lengths, np.float32)
        lengths *= np.float32(K1 * B / max(self._total / n, 1e-9))
        lengths += np.float32(K1 * (1.0 - B))
        by_row, most = _summed(text, n, lengths, holding)
        if n == len(slots):  # none was removed: half a millisecond less, of 100,000
            out[slots] = by_row
        else:
            out[slots[alive]] = by_row[alive]
        return out, most

    def purge(self) -> None:
        """Forget the words that only removed texts had."""
        alive = np.array(self._slots, np.int32) >= 0
        renumbered = np.cumsum(alive) - 1
        for number, term in enumerate(self.terms):
            rows = np.array(self._rows[number], np.intp)
            kept = alive[rows]
            if not kept.any():
                self._numbers.pop(term, None)
                self.terms[number] = ''
            counts = np.array(self._counts[number], np.uint16)[kept]
            self._rows[number] = array('i', renumbered[rows[kept]].astype(np.int32).tobytes())
            self._counts[number] = array('H', counts.tobytes())
        self._lengths = array('i', np.array(self._lengths, np.int32)[alive].tobytes())
        self._slots = array('i', np.array(self._slots, np.int32)[alive].tobytes())
        self._row_of = {slot: row for row, slot in enumerate(self._slots)}


def shares_among(text: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the shares that a :class:`WordIndex` of these texts alone would give, sooner: shape (texts,)."""
    found = [words(text) for text in texts]
    lengths = np.array([len(text_words) for text_words in found], np.float32)
    if not lengths.any():
        return np.zeros(len(texts), np.float32)
    lengths = np.float32(K1) * (np.float32(1.0 - B) + np.float32(B) * lengths / lengths.mean())
    counted = [Counter(text_words) for text_words in found]
    forms: dict[str, list[str]] = {term: [] for term in asked_terms(text)}
    for word in set[str]().union(*found):
        if (term := term_of(word)) in forms:
            forms[term].append(word)

    def holding(term: str) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        written = forms[term]
        counts = np.array([sum(counter[word] for word in written) for counter in counted], np.float32)
        rows = counts.nonzero()[0]
        return rows, counts[rows]

    return _shares(*_summed(text, len(texts), lengths, holding))


def rarities_among(asked: Sequence[str], texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the rarities that a :class:`WordIndex` of these texts alone would give."""
    have = [{term_of(word) for word in words(text)} for text in texts]
    return _rarities([sum(term_of(word) in of_one for of_one in have) for word in asked], len(texts))


def _rarities(having: Sequence[int], texts: int) -> NDArray[np.float32]:
    with_it = np.array(having, np.float32)
    return np.asarray(_idf(texts, with_it) / _idf(texts, np.float32(0.0)), np.float32)


def _idf(texts: int, having: NDArray[np.float32] | np.float32) -> NDArray[np.float32]:
    return np.asarray(np.log1p((texts - having + 0.5) / (having + 0.5)), np.float32)


def _summed(
    text: str,
    texts: int,
    norms: NDArray[np.float32],
    holding: Callable[[str], tuple[NDArray[np.intp], NDArray[np.float32]]],
) -> tuple[NDArray[np.float32], float]:
    """Return the BM25 score of each row for a text, and the most that there can be.

    :param texts: how many there are
    :param norms: what the length of each row adds to the counts
    :param holding: returns the rows that have a word, and how many times
    """
    scores, most = np.zeros(len(norms), np.float32), 0.0
    for term in asked_terms(text):
        rows, counts = holding(term)
        idf = float(_idf(texts, np.float32(len(rows))))
        if len(rows) or term not in _QUESTION_TERMS:
            most += idf
        scores[rows] += np.float32(idf * (K1 + 1.0)) * (counts / (counts + norms[rows]))
    return scores, most


def _shares(scores: NDArray[np.float32], most: float) -> NDArray[np.float32]:
    return np.minimum(scores / np.float32(most), np.float32(1.0)) if most else scores
