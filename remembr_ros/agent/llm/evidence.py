"""The memories that one question has recalled, under the short labels by which a model cites them."""

import re
from collections.abc import Iterable, Sequence

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

    def label(self, hit: Hit) -> str:
        """Return the label of a memory that was added."""
        return self._labels[hit.memory.id]

    def cite(self, label: str) -> Hit:
        """Return the memory of a label, however it is written: m1, [M1], "memory m1", 1; its id is as good.

        :raises Ungrounded: it was never recalled
        """
        hit = self._known(label)
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
            hit = self._known(label)
            if hit is not None:
                hits.append(hit)
            else:
                named = [part for part in _SEPARATOR.split(label) if part.strip(_AROUND)]
                hits += map(self.cite, named or [label])
        return list({hit.memory.id: hit for hit in hits}.values())

    def _known(self, text: str) -> Hit | None:
        plain = text.strip(_AROUND)
        if plain in self._labels:
            return self._hits[self._labels[plain]]
        found = _LABEL.fullmatch(plain)
        return self._hits.get(f'm{found[1]}') if found else None
