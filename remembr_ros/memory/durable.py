"""Writing so that it survives the end of the process and of the power; checksums that tell whether it did."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def checksums(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a checksum of each row: shape (rows,). At the speed of memory, unlike a CRC.

    :param rows: shape (rows, numbers), an even number of bytes each
    """
    rows = np.ascontiguousarray(rows).view(np.uint8)
    width = next(size for size in (8, 4, 2) if rows.shape[1] % size == 0)
    words = rows.view(f'<u{width}')
    factors = np.cumprod(np.full(words.shape[1], 0x9E3779B97F4A7C15, np.uint64), dtype=np.uint64)
    # Zeros that were never written are not taken for what was.
    found: NDArray[np.uint64] = np.einsum('ij,j->i', words, factors, dtype=np.uint64, casting='unsafe')
    return found + np.uint64(1)
