"""A small NaVQA folder in upstream's format, written here."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembr_bench.evaluation.metrics.scores import Outcome
from remembr_bench.evaluation.records.record import AnswerRecord, QuestionRecord, TruthRecord
from remembr_ros.agent.model.answer import Kind

COLUMNS = [
    'UUID',
    'Seq ID',
    'Question',
    'Timestamp \nwith answer',
    'Type \n(binary, position, time, text)',
    'Text answer',
    'Parsable answer',
    'Question\nCategory',
]

START_S = 1673884800.0
"""2023-01-16 08:00:00 in Los Angeles, 16:00:00 UTC."""

THINGS = ['a red fountain', 'a bicycle rack', 'the loading zone', 'a yellow pole', 'an elevator', 'a statue']


class Folder:
    """NaVQA with segments of 3 s every 3.1 s, 10 m apart; question i is about the whole drive unless told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[list[str]] = []
        self.windows: list[dict[str, Any]] = []
        self.captions = [
            {
                'id': f'{START_S + 3.1 * i}.pkl',
                'position': [10.0 * i, 1.0, 0.0],
                'time': START_S + 3.1 * i + 1.5,
                'start_time': START_S + 3.1 * i,
                'end_time': START_S + 3.1 * i + 3.0,
                'caption': f'I see {THINGS[i % len(THINGS)]}. The sky is grey.',
                'file_start': '',
                'file_end': '',
            }
            for i in range(20)
        ]

    def ask(
        self,
        question: str,
        kind: str,
        times: str,
        *,
        parsable: str = '',
        text: str = '',
        window: tuple[int, int] = (0, 19),
        length: str = 'SHORT',
    ) -> str:
        """Add a question that sees the segments of the window, both included; return its id."""
        key = f'{length}_{len(self.rows)}'
        self.rows.append([key, '7', question, times, kind, text, parsable, 'spatial'])
        first, last = window
        self.windows.append(
            {
                'id': key,
                'length_category': length,
                'length': 3.1 * (last - first),
                'start_time': self.captions[first]['time'],
                'end_time': self.captions[last]['time'],
                'file_info': {},
            }
        )
        return key

    def write(self) -> Path:
        with (self.path / 'data.csv').open('w', newline='', encoding='utf-8') as file:
            csv.writer(file).writerows([COLUMNS, *self.rows])
        sequence = self.path / '7'
        sequence.mkdir(exist_ok=True)
        (sequence / 'qa_unfilled.json').write_text(json.dumps({'version': '0.1', 'data': self.windows}))
        (sequence / 'captions_haystack_3_secs.json').write_text(json.dumps(self.captions))
        return self.path

    def write_corrected(self, objects: list[str], from_start: list[str]) -> None:
        """Write the files with OC-NaVQA's table: positions of objects, in the window and of the drive."""
        self.write()
        columns = [*COLUMNS, 'GT Response', ' GT Response FullSeq']
        rows = [[*row, *more] for row, *more in zip(self.rows, objects, from_start, strict=True)]
        with (self.path / 'oc_navqa_data.csv').open('w', newline='', encoding='utf-8') as file:
            csv.writer(file).writerows([columns, *rows])


@pytest.fixture
def record() -> Callable[..., QuestionRecord]:
    """Make a record: a position that was answered correctly, unless fields say otherwise."""

    def make(id_: str = 'q', **fields: Any) -> QuestionRecord:
        now_ns = int((START_S + 600) * 1e9)
        usual: dict[str, Any] = {
            'sequence': 'navqa-7',
            'id': id_,
            'seed': 0,
            'question': f'Where is {id_}?',
            'length': 'SHORT',
            'history_sec': 60.0,
            'window_ns': (now_ns - 60 * 10**9, now_ns),
            'memories': 20,
            'now_ns': now_ns,
            'here': (50.0, 20.0, 0.0),
            'truth': TruthRecord(kind=Kind.POSITION, positions=((40.0, 10.0, 0.0),)),
            'answer': AnswerRecord(
                kind=Kind.POSITION, text='It is there.', planner='offline', position=(43.0, 14.0, 0.0)
            ),
            'outcome': Outcome.ANSWERED,
            'correct': True,
            'error': 5.0,
        }
        return QuestionRecord(**(usual | fields))

    return make


@pytest.fixture
def navqa(tmp_path: Path) -> Folder:
    folder = tmp_path / 'navqa'
    folder.mkdir()
    return Folder(folder)


@pytest.fixture
def clock() -> Callable[[int], str]:
    """Return the time of day in the middle of a segment."""
    return lambda i: (
        f'8:00:{int(3.1 * i + 1.5):02d}' if 3.1 * i + 1.5 < 60 else f'8:01:{int(3.1 * i - 58.5):02d}'
    )
