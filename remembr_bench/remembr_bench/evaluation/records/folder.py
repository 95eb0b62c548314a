"""The folder of a run, written while it goes on.

run.lock       held by the process whose run it is
config.json    the configuration, versions of packages and hashes of prompts
answers.jsonl  a QuestionRecord per line
traces.jsonl   a line per question: what was recalled, and the talk with the language model
tracks.json    where the robot was, for the maps of the report
results.json   the figures, when all questions are done
"""

import fcntl
import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import metadata, resources
from itertools import count
from pathlib import Path
from typing import Any

from remembr_bench.evaluation.datasets.sample import Sequence
from remembr_bench.evaluation.records.config import RunConfig
from remembr_bench.evaluation.records.reading import (
    ANSWERS,
    CONFIG,
    RESULTS,
    TRACES,
    TRACKS,
    read_records,
    track_point,
)
from remembr_bench.evaluation.records.record import QuestionRecord, QuestionTrace
from remembr_bench.replaced_file import replace_file
from remembr_ros import __version__
from remembr_ros.errors import ChatUnavailable, InvalidRequest, RemembrError

LOCK = 'run.lock'

_PACKAGES = ('pymilvus', 'milvus-lite', 'sentence-transformers', 'transformers', 'torch', 'openai', 'numpy')
_PROMPTS = {
    'agent': 'remembr_ros.agent.llm',
    'evaluation': 'remembr_bench.evaluation',
    'captioning': 'remembr_ros.captioning.captioners',
}

_OUT_OF_REACH = f'{ChatUnavailable.__name__}:'
"""How the failure of a question begins that found no language model."""


class RunFolder:
    """One run on disk. What add has returned from survives whatever happens.

    Until it is closed no other process can open it.

    :param path: made if missing
    :param resume: go on with the run that is there; without it, a run that is there is put aside
    :raises InvalidRequest: the run that is there was made with another configuration, or the folder cannot be
        written, or another process is writing it
    """

    def __init__(self, path: Path, config: RunConfig, *, resume: bool = False) -> None:
        self.path = path
        described = {'config': config.model_dump(mode='json'), 'versions': versions(), 'prompts': prompts()}
        with ExitStack() as stack:
            try:
                path.mkdir(parents=True, exist_ok=True)
                lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
                stack.callback(os.close, lock)
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if resume and (path / CONFIG).exists():
                    self._check_same(described)
                else:
                    self._put_aside()
                kept = read_records(path) if (path / ANSWERS).exists() else []
                # A server that was out of reach says nothing about the planner: asked again.
                self.records = [record for record in kept if not record.failure.startswith(_OUT_OF_REACH)]
                # Without what a stop in the middle of a line has left.
                lines = ''.join(f'{_line(record)}\n' for record in self.records)
                replace_file(path / ANSWERS, lines.encode('utf-8', 'replace'))
                _drop_cut_line(path / TRACES)
                _write(path / CONFIG, described)
            except BlockingIOError as error:
                raise InvalidRequest(
                    f'another process is writing the run in {path}; '
                    'wait until it has ended, or choose another folder with --out'
                ) from error
            except (OSError, ValueError) as error:
                raise InvalidRequest(f'{path} cannot hold a run: {error}') from error
            self._open = stack.pop_all()

    def close(self) -> None:
        """Let other processes have the folder."""
        self._open.close()

    @property
    def done(self) -> set[tuple[str, str, int]]:
        """Keys of the questions that need not be asked again."""
        return {record.key for record in self.records}

    def add(self, record: QuestionRecord, trace: QuestionTrace) -> None:
        """Keep what became of a question.

        :raises RemembrError: it cannot be written
        """
        key = {'sequence': record.sequence, 'id': record.id, 'seed': record.seed}
        traced = {**key, 'recalls': trace.recalls, 'chat': trace.chat}
        with self._writing():
            _append(self.path / TRACES, json.dumps(traced, ensure_ascii=False, default=str))
            _append(self.path / ANSWERS, _line(record))
        self.records.append(record)

    def keep_tracks(self, sequences: Iterable[Sequence]) -> None:
        """Keep where the robot was and what it remembers of it.

        :raises RemembrError: it cannot be written
        """
        tracks = {
            sequence.name: [
                point.model_dump() for memory in sequence.memories if (point := track_point(memory))
            ]
            for sequence in sequences
        }
        with self._writing():
            _write(self.path / TRACKS, tracks)

    def finish(self, results: dict[str, Any]) -> None:
        """Keep the figures.

        :raises RemembrError: they cannot be written
        """
        with self._writing():
            _write(self.path / RESULTS, results)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RemembrError(
                f'{self.path} cannot be written: {error}; what was kept before is safe: '
                'mend that, and go on with --resume'
            ) from error

    def _check_same(self, described: dict[str, Any]) -> None:
        known = json.loads((self.path / CONFIG).read_text(encoding='utf-8'))
        for part in ('config', 'prompts'):
            old, new = known.get(part, {}), described[part]
            changed = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
            if changed:
                was = ', '.join(f'{name} was {old.get(name)!r}, is {new.get(name)!r}' for name in changed)
                raise InvalidRequest(
                    f'{self.path} holds a run of another {part.rstrip("s")}: {was}; '
                    'resume it as it was, or choose another folder with --out'
                )

    def _put_aside(self) -> None:
        """Move an earlier run into a folder of its own: it may have cost money."""
        if not (self.path / ANSWERS).exists():
            return
        folders = (self.path / f'earlier-{number}' for number in count(1))
        earlier = next(folder for folder in folders if not folder.exists())
        earlier.mkdir()
        for name in (ANSWERS, TRACES, RESULTS, TRACKS, CONFIG, 'report.html'):
            if (self.path / name).exists():
                (self.path / name).rename(earlier / name)


def versions() -> dict[str, str]:
    """Return the versions that a run depends on."""
    found = {'remembr_ros': __version__, 'python': platform.python_version()}
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def prompts() -> dict[str, str]:
    """Return the SHA-256 of each prompt in the package."""
    found = {}
    for package, folder_of in _PROMPTS.items():
        folder = resources.files(folder_of) / 'prompts'
        for file in sorted(folder.iterdir(), key=lambda f: f.name):
            if file.name.endswith('.md'):
                found[f'{package}/{file.name}'] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def _drop_cut_line(path: Path) -> None:
    """Drop the line that a stop has cut off; its question has no answer yet and is asked again."""
    if path.exists():
        written = path.read_bytes()
        whole = written.rfind(b'\n') + 1
        if whole < len(written):
            os.truncate(path, whole)


def _line(record: QuestionRecord) -> str:
    # Not model_dump_json: it fails at half a character in what a server or a judge said.
    return json.dumps(record.model_dump(mode='json'), ensure_ascii=False, separators=(',', ':'))


def _append(path: Path, line: str) -> None:
    with path.open('a', encoding='utf-8', errors='replace') as file:
        file.write(line.replace('\n', ' ') + '\n')
        file.flush()
        os.fsync(file.fileno())


def _write(path: Path, value: Any) -> None:
    # A caption may hold half a character, which JSON allows and UTF-8 does not.
    replace_file(path, (json.dumps(value, indent=2, ensure_ascii=False) + '\n').encode('utf-8', 'replace'))
