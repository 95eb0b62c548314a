"""Messages as plain types, as in JSON, from rclpy and from recordings alike."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from remembr_ros.memory.deeds.deed import MAX_DETAILS

MOST_ITEMS = 50  # of a list; of longer ones, such as pictures and paths, it is told how long they are
DEPTH = 8


def plain(value: Any, depth: int = DEPTH) -> Any:
    """Return a message, or a part of one; what is no finite number is None."""
    found: Any = None
    if isinstance(value, (bool, np.bool_)):
        found = bool(value)
    elif isinstance(value, str):
        found = value.encode('utf-8', 'replace').decode()
    elif isinstance(value, (int, float, np.number)):
        found = value if isinstance(value, (int, float)) else value.item()
        found = found if math.isfinite(found) else None
    elif isinstance(value, (bytes, bytearray)):
        found = value.hex() if len(value) <= MOST_ITEMS else f'{len(value)} bytes'
    elif depth and (fields := _fields(value)):
        found = {name: plain(getattr(value, name), depth - 1) for name in fields}
    elif depth and hasattr(value, '__len__'):
        few = len(value) <= MOST_ITEMS
        found = [plain(item, depth - 1) for item in value] if few else f'{len(value)} items'
    return found


def clipped(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return as many of the details, in their order, as a deed holds."""
    kept: dict[str, Any] = {}
    room = MAX_DETAILS
    for name, value in details.items():
        size = len(json.dumps(value, ensure_ascii=False).encode('utf-8', 'replace'))
        if size <= room:
            kept[name] = value
            room -= size
    return kept


def _fields(message: Any) -> list[str]:
    if hasattr(message, 'get_fields_and_field_types'):
        return list(message.get_fields_and_field_types())
    return [name for name in getattr(message, '__dataclass_fields__', ()) if not name.startswith('__')]
