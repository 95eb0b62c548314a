"""The memories that one question has recalled, under the short labels by which a model cites them."""

from collections.abc import Iterable, Sequence

from remembr_ros.errors import Ungrounded
from remembr_ros.memory.recall import Hit


class Evidence:
    """Recalled memories in the order in which they were found, labelled m1, m2, ..."""

    def __init__(self) -> None:
        self._labels: dict[str, str] = {}  # memory id -> label
        self._hits: dict[str, Hit] = {}  # label -> hit

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
        """Return the memory of a label; a memory's id is as good.

        :raises Ungrounded: it was never recalled
        """
        plain = label.strip().strip('[]').strip()
        hit = self._hits.get(plain) or self._hits.get(self._labels.get(plain, ''))
        if hit is None:
            known = ', '.join(self._hits) or 'none'
            raise Ungrounded(f'{label[:60]!r} is not a memory that was recalled; there are: {known}')
        return hit

    def cite_all(self, labels: Sequence[str]) -> list[Hit]:
        """Return the memories of labels, without repetitions.

        :raises Ungrounded: one of them was never recalled
        """
        return list({hit.memory.id: hit for hit in map(self.cite, labels)}.values())
