"""Rows of tables as data sets come in: parquet, csv, json and jsonl."""

import csv
import json
from pathlib import Path
from typing import Any

from remembr_ros.errors import BagUnreadable


def read_table(path: Path, *columns: str) -> list[dict[str, Any]]:
    """Return the rows of a table.

    :param columns: that have to be there
    :raises BagUnreadable: it cannot be read, is empty, or lacks a column
    """
    try:
        if path.suffix == '.parquet':
            import pyarrow.parquet

            rows: Any = pyarrow.parquet.read_table(path).to_pylist()
        else:
            # As files have lines: other breaks may stand in a text.
            with path.open(encoding='utf-8-sig', newline='') as file:
                if path.suffix == '.csv':
                    rows = list(csv.DictReader(file, strict=True))
                elif path.suffix == '.jsonl':
                    rows = [json.loads(line) for line in file if line.strip()]
                else:
                    rows = json.load(file)
        if not (isinstance(rows, list) and rows):
            raise ValueError('it has no rows')
        for number, row in enumerate(rows):
            if missing := [name for name in columns if name not in dict(row)]:
                raise ValueError(f'row {number} has no {", ".join(missing)}')
        return rows
    except (OSError, ValueError, TypeError, LookupError, csv.Error) as error:
        raise BagUnreadable(f'{path} cannot be read as a table: {error}') from error
