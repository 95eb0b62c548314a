"""Reads the folder of a run: questions, answers, tracks."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from remembr_bench.evaluation.records.record import QuestionRecord
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.record import Memory

logger = logging.getLogger(__name__)

ANSWERS, CONFIG, RESULTS = 'answers.jsonl', 'config.json', 'results.json'
TRACES, TRACKS = 'traces.jsonl', 'tracks.json'
CAPTION = 300  # characters of a caption that are kept for the maps

Key = tuple[str, str, int]
"""Sequence, id and seed of a question."""


class TrackPoint(BaseModel):
    """A memory that has a place, as the map draws it.

    :param start_ns: stamp of its first frame, nanoseconds since the Unix epoch
    :param end_ns: stamp of its last frame
    :param x: [m] in the map frame
    :param y: [m]
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    id: str
    start_ns: int
    end_ns: int
    x: float
    y: float
    caption: str = ''

    @property
    def place(self) -> tuple[float, float]:
        return (self.x, self.y)


def track_point(memory: Memory) -> TrackPoint | None:
    """Return a memory as the map draws it; None: it has no place."""
    if memory.pose is None:
        return None
    x, y, _ = memory.pose.position
    return TrackPoint(
        id=memory.id,
        start_ns=memory.start_ns,
        end_ns=memory.end_ns,
        x=x,
        y=y,
        caption=memory.caption[:CAPTION],
    )


Tracks = dict[str, list[TrackPoint]]
"""By the name of the sequence, in the order of time."""


Checked = TypeVar('Checked')
_RECORD, _TRACKS = TypeAdapter(QuestionRecord), TypeAdapter(Tracks)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """What an evaluation left in its folder.

    :param results: its figures; empty: the run was cut off before they were written
    :param records: in the order of asking
    """

    folder: Path
    results: dict[str, Any]
    records: list[QuestionRecord]


def load_run(folder: Path) -> RecordedRun:
    """Read a run; one that was cut off is read as far as it came.

    :raises InvalidRequest: the folder holds no run, or a file in it is damaged or of another version
    """
    return RecordedRun(folder, _read_object(folder / RESULTS), read_records(folder))


def read_records(folder: Path) -> list[QuestionRecord]:
    """Read answers.jsonl, without a last line that was cut off; of two records with one key the later counts.

    :raises InvalidRequest: the folder holds no run, or a line is damaged or of another version
    """
    path = folder / ANSWERS
    if not path.is_file():
        raise InvalidRequest(f'{folder} holds no run: it has no {ANSWERS}; name the folder of an evaluation')
    records = (_checked(_RECORD, value, f'{path}, line {n}') for n, value in _read_lines(path))
    return list({record.key: record for record in records}.values())


def read_tracks(folder: Path) -> Tracks:
    """Read tracks.json; nothing if it is missing.

    :raises InvalidRequest: the file is damaged
    """
    tracks = _checked(_TRACKS, _read_object(folder / TRACKS), str(folder / TRACKS))
    return {name: sorted(track, key=lambda point: point.start_ns) for name, track in tracks.items()}


def read_traces(folder: Path) -> dict[Key, dict[str, Any]]:
    """Read traces.jsonl, without a last line that was cut off; nothing if it is missing.

    :raises InvalidRequest: a line is damaged
    """
    path = folder / TRACES
    lines = [trace for _, trace in _read_lines(path)] if path.is_file() else []
    return {(trace['sequence'], trace['id'], trace['seed']): trace for trace in lines}


def _checked(adapter: TypeAdapter[Checked], value: object, where: str) -> Checked:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = '.'.join(map(str, first['loc']))
        raise InvalidRequest(
            f'{where} is not of this version ({field}: {first["msg"]}); run the evaluation again'
        ) from error


def _read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the number, from 1, and the value of each line, without a last one that was cut off."""
    try:
        lines = path.read_bytes().split(b'\n')
    except OSError as error:
        raise InvalidRequest(f'{path} cannot be read: {error}') from error
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                yield number, json.loads(line)
        except ValueError as error:  # also what is not UTF-8
            if number < len(lines):
                raise InvalidRequest(
                    f'{path}, line {number} is damaged: {error}; run the evaluation again'
                ) from error
            logger.warning('%s: the last line was cut off and is left out', path)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes()) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise InvalidRequest(f'{path} cannot be read as JSON: {error}; run the evaluation again') from error
    if not isinstance(value, dict):
        raise InvalidRequest(f'{path} holds no JSON object; run the evaluation again')
    return value
