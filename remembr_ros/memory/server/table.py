"""A Milvus collection as a table: rows written in batches, read whole, counted, narrowed down."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remembr_ros.memory.server import filters
from remembr_ros.timestamps import NS

Row = dict[str, Any]

PAGE = 8_192  # rows fetched at once; Milvus allows 16,384
BATCH = 1_000  # rows per request that writes,
BATCH_BYTES = 4_000_000  # and their size, about
MOST = 16_384  # rows that one request can return
FEW = 1_000  # rows that cost little more than the request itself
# One's own writes are read at once, those of others a moment later. Strong would wait for the server's clock
# with every request, up to 400 ms.
CONSISTENCY = 'Session'


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a collection.

    :param client: pymilvus.MilvusClient
    """

    client: Any
    name: str
    timeout_s: float

    def upsert(self, rows: Iterable[Row]) -> None:
        """Write rows, in place of those with the same ids."""
        for batch in _batches(rows):
            self.client.upsert(self.name, batch, timeout=self.timeout_s)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete the rows of these ids; they are not seen any more when it returns."""
        for start in range(0, len(ids), PAGE):
            condition = filters.any_of('id', ids[start : start + PAGE])
            self.client.delete(self.name, filter=condition, timeout=self.timeout_s)
        if ids:
            self.settle(condition)  # unlike a write, a deletion does not tell its time, which Session goes by

    def rows(self, condition: str, fields: list[str]) -> Iterator[Row]:
        """Yield every row that meets the condition."""
        rows = self._query(condition, fields, limit=PAGE)
        if len(rows) < PAGE:
            yield from rows
            return
        pages = self.client.query_iterator(self.name, batch_size=PAGE, **self._asking(condition, fields))
        try:
            while page := pages.next():
                yield from page
        finally:
            pages.close()

    def settle(self, condition: str = filters.EVERYTHING) -> None:
        """Wait until everything that has been written is seen."""
        self._query(condition, ['id'], limit=1, consistency_level='Strong')

    def of_ids(self, key: str, ids: Sequence[str], fields: list[str]) -> Iterator[Row]:
        """Yield the rows whose key is one of these ids."""
        for start in range(0, len(ids), FEW):
            yield from self.rows(filters.any_of(key, ids[start : start + FEW]), fields)

    def count(self, condition: str) -> int:
        """Return how many rows meet the condition."""
        return int(self._query(condition, ['count(*)'])[0]['count(*)'])

    def distinct(self, field: str) -> tuple[str, ...]:
        """Return the values of a text field, sorted."""
        values: set[str] = set()
        while True:
            others = f'{field} not in [{", ".join(map(filters.quote, sorted(values)))}]'
            rows = self._query(others if values else filters.EVERYTHING, [field], limit=FEW)
            if not rows:
                return tuple(sorted(values))
            values |= {row[field] for row in rows}

    def search(self, field: str, query: Any, condition: str, limit: int, **options: Any) -> list[Row]:
        """Return the rows nearest to a query, with their distance; see :meth:`searches`."""
        return self.searches(field, [query], condition, limit, **options)[0]

    def searches(
        self,
        field: str,
        queries: Sequence[Any],
        condition: str,
        limit: int,
        *,
        params: Mapping[str, Any],
        fields: list[str],
        **options: Any,
    ) -> list[list[Row]]:
        """Return the rows nearest to each query, with their distance."""
        asked = {'data': list(queries), 'anns_field': field, 'search_params': dict(params), **options}
        found = self.client.search(self.name, limit=limit, **asked, **self._asking(condition, fields))
        return [list(of_one) for of_one in found]

    def reach(
        self,
        within: Callable[[int], str],
        admitted: Callable[[Row], bool],
        fields: list[str],
        limit: int,
        *,
        start: int,
        low: int,
        high: int,
    ) -> tuple[int, list[Row]]:
        """Return a reach with at least limit admitted rows, if there are as many, and those rows.

        Milvus cannot sort. Asking for what lies within a reach narrows down where the first rows are.

        :param within: the filter of a reach; a longer one admits what a shorter one does, high everything
        :param start: the reach to try first, between low and high
        """
        few = max(FEW, 2 * limit)
        if few >= MOST:
            return high, [row for row in self.rows(within(high), fields) if admitted(row)]
        short, long = low - 1, high
        reach, step, too_long = start, 64 * NS, False
        while True:
            rows = self._query(within(reach), fields, limit=few + 1)
            if len(rows) > few:
                long, too_long = reach, True
            else:
                near = [row for row in rows if admitted(row)]
                if len(near) >= limit or reach >= high:
                    return reach, near
                short = reach
            if too_long and long - short <= NS:  # many at one time
                return long, [row for row in self.rows(within(long), fields) if admitted(row)]
            if too_long and short >= low:
                reach = (short + long) // 2
            else:
                reach = max(reach - step, low) if too_long else min(reach + step, high)
                step *= 8

    def _query(self, condition: str, fields: list[str], **options: Any) -> list[Row]:
        return list(self.client.query(self.name, **{**self._asking(condition, fields), **options}))

    def _asking(self, condition: str, fields: list[str]) -> dict[str, Any]:
        asked = {'filter': condition, 'output_fields': fields, 'consistency_level': CONSISTENCY}
        return {**asked, 'timeout': self.timeout_s}


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows in batches that a request can carry."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        row_size = sum(getattr(value, 'nbytes', 0) or len(str(value)) for value in row.values())
        if batch and (len(batch) == BATCH or size + row_size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += row_size
    if batch:
        yield batch
