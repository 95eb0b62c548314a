"""The verdicts of a judge in a file: one JSON object a line, only ever appended to."""

import json
import logging
import os
import threading
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from remembr_ros.errors import InvalidRequest

logger = logging.getLogger(__name__)


class Judgement(BaseModel):
    """What a judge says; anything else in its object, or in the line that keeps it, is passed over."""

    correct: bool
    reason: str = ''


class _KeptJudgement(Judgement):
    key: str


class VerdictCache:
    """Keeps verdicts by key; safe to share between threads.

    A line that a killed process left unfinished is passed over, and the next one begins on a line of its own.

    :param path: made with the first verdict
    :raises InvalidRequest: it cannot be read
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._verdicts: dict[str, Judgement] = {}
        try:
            lines = path.read_bytes().splitlines()
        except FileNotFoundError:
            lines = []
        except OSError as error:
            raise InvalidRequest(f'the cache of verdicts {path} cannot be read: {error}') from error
        damaged = 0
        for line in lines:
            try:
                verdict = _KeptJudgement.model_validate(json.loads(line))
            except (ValueError, RecursionError):
                damaged += bool(line.strip())
                continue
            self._verdicts[verdict.key] = verdict
        if damaged:
            logger.warning('%s has %d lines that are no verdicts; they are passed over', path, damaged)

    def get(self, key: str) -> Judgement | None:
        """Return the verdict of a key, if there is one."""
        return self._verdicts.get(key)

    def put(self, key: str, entry: dict[str, Any]) -> None:
        """Keep a verdict; when this returns it is on the disk.

        :param entry: with correct and reason, and what else shall stand beside them
        :raises OSError: the disk is full or not writable; it is kept in memory then
        """
        line = json.dumps({'key': key, **entry}).encode() + b'\n'
        with self._lock:
            self._verdicts[key] = Judgement.model_validate(entry)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open('a+b') as file:
                if file.tell() > 0:
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b'\n':
                        line = b'\n' + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
