"""BM25 over the memories' words, in memory."""

from array import array
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.matching.terms import STOP_WORDS, asked_stems, forms, stem, words

K1 = 1.2
"""How soon saying a word again adds nothing (Robertson and Zaragoza 2009, eq. 3.15)."""

B = 0.75
"""How much a long text has to say a word more often."""

_QUESTION_STEMS = frozenset(map(stem, STOP_WORDS))
_MOST = np.iinfo(np.uint16).max


class WordIndex:
    """Which words the text of each slot has. Not safe to change while another thread reads it.

    A text lives in a row of its own, the newest in the last; the rows of removed texts are swept out once
    they are the most.
    """

    def __init__(self) -> None:
        self._rows: dict[str, array[int]] = {}
        self._counts: dict[str, array[int]] = {}
        self._lengths = array('i')
        self._slots = array('i')
        """Of each row; -1: its text was removed."""
        self._row_of: dict[int, int] = {}
        self._total = 0
        """Words of all texts that are there."""

    def __len__(self) -> int:
        """Return how many texts there are."""
        return len(self._row_of)

    def add(self, slot: int, text: str) -> None:
        """Keep the words of a text; they replace those that the slot has.

        :param slot: 0 or more; scores have a place for each up to the largest
        """
        self.remove(slot)
        row = len(self._lengths)
        stems = [stem(word) for word in words(text)]
        counts: dict[str, int] = {}
        for one in stems:
            counts[one] = counts.get(one, 0) + 1
        for one, count in counts.items():
            if one not in self._rows:
                self._rows[one], self._counts[one] = array('i'), array('H')
            self._rows[one].append(row)
            self._counts[one].append(min(count, _MOST))
        self._lengths.append(len(stems))
        self._slots.append(slot)
        self._row_of[slot] = row
        self._total += len(stems)

    def remove(self, slot: int) -> None:
        """Forget the words of a slot; nothing happens if it has none."""
        row = self._row_of.pop(slot, None)
        if row is None:
            return
        self._total -= self._lengths[row]
        self._slots[row] = -1
        if len(self._slots) > 2 * len(self._row_of) + 1_000:
            self._sweep()

    def scores(self, text: str) -> NDArray[np.float32]:
        """Return the BM25 score of each slot for a text: shape (largest slot + 1,), 0 without a common word.

        Each word of the text counts once, stop words do not; frequencies are those of this moment.
        """
        return self._scored(text)[0]

    def shares(self, text: str) -> NDArray[np.float32]:
        """Return how much of a text each slot has, 0 to 1, shape (largest slot + 1,).

        1: as many points as a text of mean length that has each word once. A word that no slot has counts, as
        the rarest of all, unless it is one of which questions are made.
        """
        return _shares(*self._scored(text))

    def _scored(self, text: str) -> tuple[NDArray[np.float32], float]:
        """Return the scores, and that of a text of mean length with each of the words once."""
        slots = np.array(self._slots, np.int32)
        out = np.zeros(int(slots.max(initial=-1)) + 1, np.float32)
        n = len(self._row_of)
        if not n:
            return out, 0.0
        alive = slots >= 0
        whole = n == len(slots)
        lengths = np.array(self._lengths, np.float32)
        lengths *= np.float32(K1 * B / max(self._total / n, 1e-9))
        lengths += np.float32(K1 * (1.0 - B))
        by_row = np.zeros(len(slots), np.float32)
        most = 0.0
        for one in asked_stems(text):
            rows = np.array(self._rows.get(one, ()), np.intp)
            counts = np.array(self._counts.get(one, ()), np.float32)
            if not whole:
                there = alive[rows]
                rows, counts = rows[there], counts[there]
            idf = _idf(n, len(rows))
            if len(rows) or one not in _QUESTION_STEMS:
                most += idf
            by_row[rows] += np.float32(idf * (K1 + 1.0)) * (counts / (counts + lengths[rows]))
        if whole:
            out[slots] = by_row
        else:
            out[slots[alive]] = by_row[alive]
        return out, most

    def _sweep(self) -> None:
        """Drop the rows of removed texts."""
        alive = np.array(self._slots, np.int32) >= 0
        renumbered = np.cumsum(alive) - 1
        for one in list(self._rows):
            rows = np.array(self._rows[one], np.intp)
            there = alive[rows]
            if not there.any():
                del self._rows[one], self._counts[one]
                continue
            self._rows[one] = array('i', renumbered[rows[there]].astype(np.int32).tobytes())
            self._counts[one] = array('H', np.array(self._counts[one], np.uint16)[there].tobytes())
        self._lengths = array('i', np.array(self._lengths, np.int32)[alive].tobytes())
        self._slots = array('i', np.array(self._slots, np.int32)[alive].tobytes())
        self._row_of = {slot: row for row, slot in enumerate(self._slots)}


def shares_among(text: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the shares that a :class:`WordIndex` of these texts alone would give, sooner: shape (texts,)."""
    found = [words(one) for one in texts]
    lengths = np.array([len(one) for one in found], np.float32)
    if not lengths.any():
        return np.zeros(len(texts), np.float32)
    lengths = np.float32(K1) * (np.float32(1.0 - B) + np.float32(B) * lengths / lengths.mean())
    counted = [Counter(one) for one in found]
    scores, most = np.zeros(len(texts), np.float32), 0.0
    for one in asked_stems(text):
        written = forms(one)
        counts = np.array([sum(of[word] for word in written) for of in counted], np.float32)
        having = int(np.count_nonzero(counts))
        idf = _idf(len(texts), having)
        if having or one not in _QUESTION_STEMS:
            most += idf
        scores += np.float32(idf * (K1 + 1.0)) * (counts / (counts + lengths))
    return _shares(scores, most)


def _idf(texts: int, having: int) -> float:
    """Return what a word is worth that so many of the texts have."""
    return float(np.log1p((texts - having + 0.5) / (having + 0.5)))


def _shares(scores: NDArray[np.float32], most: float) -> NDArray[np.float32]:
    return np.minimum(scores / np.float32(most), np.float32(1.0)) if most else scores
