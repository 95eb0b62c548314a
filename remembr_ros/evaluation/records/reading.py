"""Reads the folder of a run: what was asked and answered, the tracks, the traces."""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.records.record import QuestionRecord

logger = logging.getLogger(__name__)

ANSWERS, CONFIG, RESULTS = 'answers.jsonl', 'config.json', 'results.json'
TRACES, TRACKS = 'traces.jsonl', 'tracks.json'

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


Tracks = dict[str, list[TrackPoint]]
"""By the name of the sequence, in the order of time."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """What an evaluation left in its folder.

    :param config: what it was run with: 'config', 'versions', 'prompts'; empty: not written
    :param results: its figures; empty: the run was cut off before they were written
    :param records: in the order of asking
    """

    folder: Path
    config: dict[str, Any]
    results: dict[str, Any]
    records: list[QuestionRecord]


def load_run(folder: Path) -> RecordedRun:
    """Read a run; one that was cut off is read as far as it came.

    :raises InvalidRequest: the folder holds no run, or a file in it is damaged or of another version
    """
    records = read_records(folder)
    return RecordedRun(folder, _read_object(folder / CONFIG), _read_object(folder / RESULTS), records)


def read_records(folder: Path) -> list[QuestionRecord]:
    """Read answers.jsonl, without a last line that was cut off; of two records with one key the later counts.

    :raises InvalidRequest: the folder holds no run, or a line is damaged or of another version
    """
    path = folder / ANSWERS
    if not path.is_file():
        raise InvalidRequest(f'{folder} holds no run: it has no {ANSWERS}; name the folder of an evaluation')
    records: dict[Key, QuestionRecord] = {}
    for number, value in _read_lines(path):
        try:
            record = QuestionRecord.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = '.'.join(map(str, first['loc']))
            raise InvalidRequest(
                f'{path}, line {number} is no record of this version ({where}: {first["msg"]}); '
                'run the evaluation again'
            ) from error
        records[record.key] = record
    return list(records.values())


def read_tracks(folder: Path) -> Tracks:
    """Read tracks.json; nothing if it is missing.

    :raises InvalidRequest: the file is damaged
    """
    path = folder / TRACKS
    try:
        tracks = TypeAdapter(Tracks).validate_python(_read_object(path))
    except ValidationError as error:
        raise InvalidRequest(f'{path} holds no tracks: {error.errors()[0]["msg"]}; delete it') from error
    return {name: sorted(track, key=lambda point: point.start_ns) for name, track in tracks.items()}


def read_traces(folder: Path) -> dict[Key, dict[str, Any]]:
    """Read traces.jsonl by the key of the question; nothing if it is missing.

    :raises InvalidRequest: the file is damaged
    """
    path = folder / TRACES
    if not path.is_file():
        return {}
    traces: dict[Key, dict[str, Any]] = {}
    for number, value in _read_lines(path):
        try:
            traces[str(value['sequence']), str(value['id']), int(value['seed'])] = value
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidRequest(
                f'{path}, line {number} is not a trace: {error!r}; delete the file'
            ) from error
    return traces


def _read_lines(path: Path) -> list[tuple[int, Any]]:
    """Return the number, from 1, and the value of each line, without a last one that was cut off."""
    try:
        lines = path.read_bytes().split(b'\n')
    except OSError as error:
        raise InvalidRequest(f'{path} cannot be read: {error}') from error
    values = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            values.append((number, json.loads(line)))
        except ValueError as error:  # also what is not UTF-8
            if number < len(lines):
                raise InvalidRequest(
                    f'{path}, line {number} is damaged: {error}; run the evaluation again'
                ) from error
            logger.warning('%s: the last line was cut off and is left out', path)
    return values


def _read_object(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InvalidRequest(f'{path} cannot be read as JSON: {error}; run the evaluation again') from error
    if not isinstance(value, dict):
        raise InvalidRequest(f'{path} holds no JSON object; run the evaluation again')
    return value
