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
        elif path.suffix == '.csv':
            with path.open(newline='', encoding='utf-8-sig') as file:
                rows = list(csv.DictReader(file, strict=True))
        else:
            text = path.read_text(encoding='utf-8-sig')
            rows = (
                [json.loads(line) for line in text.splitlines() if line.strip()]
                if (path.suffix == '.jsonl')
                else json.loads(text)
            )
    except (OSError, ValueError, csv.Error) as error:
        raise BagUnreadable(f'{path} cannot be read as a table: {error}') from error
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise BagUnreadable(f'{path} is no table of rows with named columns')
    if missing := [name for name in columns if name not in rows[0]]:
        raise BagUnreadable(f'{path} has no column {", ".join(missing)}; it has {", ".join(rows[0])}')
    return rows
