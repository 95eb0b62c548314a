"""The files of NaVQA and OC-NaVQA: a table of questions, and a window for each of them.

A folder holds data.csv or oc_navqa_data.csv (questions and answers) and for each sequence
N/qa_unfilled.json (the questions' windows). In upstream's `data` they are in navqa and questions/N.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from remembr_bench.evaluation.datasets.sample import LENGTHS
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.memory.exchange.captions_file import read_json
from remembr_ros.timestamps import from_seconds


@dataclass(frozen=True, slots=True)
class Edition:
    """A table of questions and what its columns mean.

    :param name: of the data set
    :param table: file in the folder
    :param corrected: questions look back to the start of the drive, not of their window, and a position is
        that of the object, in the column 'GT Response'
    """

    name: str
    table: str
    corrected: bool = False


NAVQA = Edition('navqa', 'data.csv')
OC_NAVQA = Edition('oc-navqa', 'oc_navqa_data.csv', corrected=True)
EDITIONS = {edition.name: edition for edition in (NAVQA, OC_NAVQA)}

ID, SEQUENCE, QUESTION = 'UUID', 'Seq ID', 'Question'
TIMES, KIND = 'Timestamp with answer', 'Type (binary, position, time, text)'
TEXT, PARSABLE = 'Text answer', 'Parsable answer'
_COLUMNS = (ID, SEQUENCE, QUESTION, TIMES, KIND, TEXT, PARSABLE)
OBJECT, OBJECT_FROM_START = 'GT Response', 'GT Response FullSeq'


_BY_HAND = ('human_unfilled_qa', 'human_qa', 'qa_unfilled')
WINDOWS = ('{}/qa_unfilled.json', *(f'questions/{{}}/{name}.json' for name in _BY_HAND))


def find_file(folder: Path, *names: str) -> Path:
    """Return the first file of these names that is there, else the first in a folder that is."""
    paths = [root / name for name in names for root in _roots(folder)]
    return min(paths, key=lambda path: (not path.is_file(), not path.parent.is_dir()))


def _roots(folder: Path) -> list[Path]:
    """Return the data set's folder, and upstream's below or around it."""
    around = [folder.resolve().parent] if folder.resolve().name == 'navqa' else []
    return [folder, folder / 'navqa', *around]


def find_sequences(folder: Path, edition: Edition = NAVQA) -> list[int]:
    """Return the numbers of the sequences that have a file of questions, ascending.

    :raises InvalidRequest: the folder does not hold the data set
    """
    if not find_file(folder, edition.table).is_file():
        raise InvalidRequest(f'{folder} is not the folder of {edition.name}: it has no {edition.table}')
    paths = [path for root in _roots(folder) for name in WINDOWS for path in root.glob(name.format('*'))]
    found = sorted({int(path.parent.name) for path in paths if path.parent.name.isdecimal()})
    if not found:
        raise InvalidRequest(
            f'{folder} holds no sequence: no N/qa_unfilled.json, no questions/N/human_qa.json'
        )
    return found


def read_rows(path: Path, number: int) -> Iterator[dict[str, str]]:
    """Yield the rows of a sequence, columns without the line breaks in their names."""
    try:
        with path.open(newline='', encoding='utf-8-sig') as file:
            table = list(csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BagUnreadable(f'{path} cannot be read as a CSV table: {error}') from error
    header = [' '.join(name.split()) for name in table[0]] if table else []
    missing = [column for column in _COLUMNS if column not in header]
    if missing:
        raise BagUnreadable(
            f'{path} has no column {", ".join(missing)}; take {path.name} as upstream ships it'
        )
    for line in table[1:]:
        cells = dict(zip(header, [cell.strip() for cell in line], strict=False))
        row = {column: cells.get(column, '') for column in (*_COLUMNS, OBJECT, OBJECT_FROM_START)}
        if row[SEQUENCE] == str(number) and row[ID]:
            yield row


def read_windows(path: Path) -> dict[str, tuple[str, int, int]]:
    """Return length category, start and end [ns] of each question's window, by its id."""
    content = read_json(path)
    windows = {}
    try:
        for entry in content['data']:
            start_ns, end_ns = from_seconds(entry['start_time']), from_seconds(entry['end_time'])
            length = str(entry['length_category']).upper()
            if length not in LENGTHS or start_ns > end_ns:
                raise BagUnreadable(f'{path}: the window of {entry["id"]} makes no sense')
            windows[str(entry['id'])] = (length, start_ns, end_ns)
    except (KeyError, TypeError, InvalidRequest) as error:
        raise BagUnreadable(f'{path} is not in the format of qa_unfilled.json: {error!r}') from error
    return windows
