"""What a question found, as a script and a notebook have it: rows with pictures, a table, a map, JSON."""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.images import decode_compressed

_T = TypeVar('_T')
Pictures = Callable[[str], bytes]
"""Returns a keyframe by its name as JPEG."""

_SHOWN = 20  # rows of a table in a notebook
_MAP_PX = 240
_TIMES = ('start', 'end', 'first_seen', 'last_seen', 'missing_since', 'last_looked')


class Result(Generic[_T]):
    """One result: all that it has, such as `memory` of a hit, and its pictures.

    :param json: as the command line prints it
    """

    def __init__(self, item: _T, json: Mapping[str, Any], pictures: Pictures) -> None:
        self.item, self.json, self._pictures = item, json, pictures

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__') or name == 'item':  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self.item, name)

    def __repr__(self) -> str:
        return repr(self.item)

    def jpeg(self, index: int = 0) -> bytes:
        """Return one of its pictures.

        :raises InvalidRequest: it has none of that index
        """
        names = self.json.get('keyframes', ())
        if not 0 <= index < len(names):
            raise InvalidRequest(f'it has {len(names)} pictures, none with the index {index}')
        return self._pictures(names[index])

    def image(self, index: int = 0) -> NDArray[np.uint8]:
        """Return one of its pictures, shape (height, width, 3), red, green and blue; raises as jpeg."""
        return np.ascontiguousarray(decode_compressed('jpeg', self.jpeg(index))[:, :, ::-1])


class Results(Sequence[Result[_T]]):
    """The results in their order; a notebook shows them with pictures and on a map.

    :param json: of all of it, as the command line prints it; its first list are the rows
    """

    def __init__(self, items: Sequence[_T], json: Mapping[str, Any], pictures: Pictures) -> None:
        self._json = json
        rows: list[dict[str, Any]] = next(iter(json.values()))
        self._rows = [Result(item, row, pictures) for item, row in zip(items, rows, strict=True)]
        self.total: int = json.get('total', len(rows))
        """How many there are in all, whatever the limit."""

    @overload
    def __getitem__(self, index: int) -> Result[_T]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Result[_T]]: ...
    def __getitem__(self, index: int | slice) -> Result[_T] | list[Result[_T]]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Result[_T]]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return repr(self._rows)

    def to_json(self) -> dict[str, Any]:
        """Return what `remembr ... --json` prints."""
        return dict(self._json)

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with a row for each: times in UTC, x, y and z [m]; needs pandas."""
        import pandas

        table = pandas.DataFrame([_flat(row.json) for row in self])
        for name in set(_TIMES).intersection(table.columns):
            table[name] = pandas.to_datetime(table[name], utc=True, format='ISO8601')
        return table.set_index('id') if 'id' in table else table

    def _repr_html_(self) -> str:
        shown = self._rows[:_SHOWN]
        lines = ''.join(_line(number, row) for number, row in enumerate(shown, 1))
        more = f'<p>{len(shown)} of {max(self.total, len(self))}</p>'
        return f'{_map([row.json for row in shown])}<table>{lines}</table>{more}'


def _flat(json: Mapping[str, Any]) -> dict[str, Any]:
    x, y, z = (*(json.get('position') or ()), None, None, None)[:3]
    place = {'x': x, 'y': y, 'z': z} if 'position' in json else {}
    return {name: value for name, value in json.items() if name != 'position'} | place


def _line(number: int, row: Result[Any]) -> str:
    json, picture = row.json, ''
    if json.get('keyframes'):
        try:
            data = base64.b64encode(row.jpeg()).decode()
            picture = f'<img height="90" src="data:image/jpeg;base64,{data}">'
        except InvalidRequest:  # it is damaged, or another robot has it
            picture = ''
    what = json.get('caption') or json.get('name') or ''
    at = json.get('position') or json.get('center')
    where = [json.get('place', ''), f'({", ".join(f"{number:.1f}" for number in at)})' if at else '']
    when = str(json.get('start') or json.get('last_seen') or '')[:19]  # to the second
    cells = (what, when, ' '.join(filter(None, where)))
    told = ''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)
    return f'<tr><td>{number}</td><td>{picture}</td>{told}</tr>'


def _map(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return where things are as SVG, north up, each by its number; empty: nobody knows."""
    placed = [(number, row.get('position') or row.get('center')) for number, row in enumerate(rows, 1)]
    known = [(number, at) for number, at in placed if at]
    if not known:
        return ''
    xy = np.array([at[:2] for _, at in known], float)
    low, span = xy.min(0), max(float(np.ptp(xy, axis=0).max()), 1.0)
    left, down = ((xy - low) / span * (_MAP_PX - 40) + 20).T
    dots = ''.join(
        f'<circle cx="{x:.0f}" cy="{_MAP_PX - y:.0f}" r="4" fill="#2a6"/>'
        f'<text x="{x + 5:.0f}" y="{_MAP_PX - y - 4:.0f}" font-size="11">{number}</text>'
        for (number, _), x, y in zip(known, left, down, strict=True)
    )
    return f'<svg width="{_MAP_PX}" height="{_MAP_PX}" style="border:1px solid #ccc">{dots}</svg>'
