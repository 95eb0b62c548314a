"""The memories that one question has recalled, under the short labels by which a model cites them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from remembr_ros.errors import Ungrounded
from remembr_ros.memory.model.recall import Hit

_LABEL = re.compile(r'(?:memor(?:y|ies)\s+)?m?0*([1-9]\d{0,8})', re.IGNORECASE)
_SEPARATOR = re.compile(r'[,;&]|\band\b', re.IGNORECASE)
_AROUND = ' \t\n[](){}"\'`.:'


class Evidence:
    """Recalled memories in the order in which they were found, labelled m1, m2, ..."""

    def __init__(self) -> None:
        self._labels: dict[str, str] = {}  # memory id -> label
        self._hits: dict[str, Hit] = {}  # label -> hit
        self._same: dict[str, str] = {}  # memory id -> label of a neighbour that says the same
        self._joined: dict[str, list[Hit]] = {}  # label -> those neighbours
        self.scores: dict[str, float] = {}  # memory id -> best score of recalls by text
        self.best: Hit | None = None
        """Of all that recalls by text found, the one that fits best."""
        self.first: Hit | None = None
        """The same of the question as it was asked, which is no search of the model's own."""
        self.told: list[str] = []
        """What code measured, and what a second look saw: a model may repeat their numbers."""

        self.lasted: dict[tuple[str, str], float] = {}
        """How long it was from one label to another, where code knows better than from the memories [s]."""

    def __len__(self) -> int:
        return len(self._hits)

    def add(self, hits: Iterable[Hit]) -> list[tuple[str, Hit, bool]]:
        """Remember hits; return each with its label and whether it is new."""
        labelled = []
        for hit in hits:
            new = hit.memory.id not in self._labels
            label = self._labels.setdefault(hit.memory.id, f'm{len(self._labels) + 1}')
            self._hits.setdefault(label, hit)
            labelled.append((label, hit, new))
        return labelled

    @property
    def labels(self) -> list[str]:
        """What can be cited."""
        return [*self._hits]

    def label(self, hit: Hit) -> str:
        """Return the label of a memory that was added."""
        return self._labels[hit.memory.id]

    def has_label(self, memory_id: str) -> bool:
        """Tell whether a memory was added."""
        return memory_id in self._labels

    def shown_as(self, memory_id: str) -> str:
        """Return the label of a memory, or of a neighbour that says the same; empty: it was not shown."""
        return self._labels.get(memory_id) or self._same.get(memory_id, '')

    @property
    def shown(self) -> int:
        """How many memories were shown, or say the same as one that was."""
        return len(self._labels.keys() | self._same.keys())

    def join(self, label: str, hits: Iterable[Hit]) -> None:
        """Remember that hits say the same as a memory that was added."""
        joined = list(hits)
        self._joined[label] = joined
        self._same |= {hit.memory.id: label for hit in joined}

    def with_neighbours(self, hits: Iterable[Hit]) -> list[Hit]:
        """Return hits, and those of their stays that say the same and were shown as one with them."""
        every = (near for hit in hits for near in (hit, *self._joined.get(self.label(hit), ())))
        return list({hit.memory.id: hit for hit in every}.values())

    def keep_scores(self, hits: Iterable[Hit]) -> None:
        """Remember the best score by which a recall by text found each memory."""
        for hit in hits:
            self.scores[hit.memory.id] = max(hit.score, self.scores.get(hit.memory.id, 0.0))
            if hit.score >= max(self.scores.values()):
                self.best = hit

    def scored(self, hits: Iterable[Hit]) -> list[Hit]:
        """Return hits with the best score of recalls by text; 0 where none found it."""
        return [replace(hit, score=self.scores.get(hit.memory.id, 0.0)) for hit in hits]

    def tell(self, text: str) -> str:
        """Return what code told: a model may repeat its numbers."""
        self.told.append(text)
        return text

    def cite(self, label: str) -> Hit:
        """Return the memory of a label, however it is written: m1, [M1], "memory m1", 1; its id is as good.

        :raises Ungrounded: it was never recalled
        """
        hit = self.known(label)
        if hit is None:
            known = ', '.join(self._hits) or 'none'
            raise Ungrounded(f'{label[:60]!r} is not a memory that was recalled; there are: {known}')
        return hit

    def cite_all(self, labels: Sequence[str]) -> list[Hit]:
        """Return the memories of labels, without repetitions; one text may name several: "m1, m2 and m3".

        :raises Ungrounded: one of them was never recalled
        """
        hits: list[Hit] = []
        for label in labels:
            hit = self.known(label)
            if hit is not None:
                hits.append(hit)
            else:
                named = [part for part in _SEPARATOR.split(label) if part.strip(_AROUND)]
                hits += map(self.cite, named or [label])
        return list({hit.memory.id: hit for hit in hits}.values())

    def known(self, text: str) -> Hit | None:
        """Return the memory that a text names by its label or id; None: it names none."""
        plain = text.strip(_AROUND)
        if plain in self._labels:
            return self._hits[self._labels[plain]]
        found = _LABEL.fullmatch(plain)
        return self._hits.get(f'm{found[1]}') if found else None
