"""The trace of questions: a JSONL file that says what was asked, done and answered, bounded in size.

A line is an event: {"at": ISO time, "question_id": ..., "event": name, ...}. The events of a question follow
each other, in between those of others; the first is `asked`, the last `answered` or `failed`. When the file
is half as large as the trace may be, it becomes FILE.1, in place of the one before.
"""

import json
import logging
import os
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from remembr_ros.agent.chat.openai_client import secrets
from remembr_ros.agent.model.answer import Answer, Question, Usage
from remembr_ros.agent.model.answer_text import asked_of
from remembr_ros.agent.planner import Record
from remembr_ros.errors import InvalidRequest, RemembrError
from remembr_ros.geometry import Pose
from remembr_ros.timestamps import format_iso

logger = logging.getLogger(__name__)

MAX_TEXT = 20_000  # characters kept of one text
MAX_DEPTH = 12  # of what is nested in an event


class Trace:
    """A trace file; safe to share between threads. Nothing that happens to it disturbs a question.

    :param path: made with its folder when there is something to write, readable by its owner only
    :param max_mb: of the file and the one before together [MB]
    :raises InvalidRequest: the size makes no sense
    """

    def __init__(self, path: str | Path, max_mb: float = 50.0) -> None:
        if not max_mb > 0.0:
            raise InvalidRequest(f'a trace of {max_mb} MB makes no sense; the size is above 0')
        self._path = Path(path).expanduser()
        self._max_bytes = max_mb * 1e6 / 2.0
        self._lock = threading.Lock()
        self._failed = False

    def begin(self) -> Record:
        """Return what takes down the events of one question."""
        question_id = uuid.uuid4().hex[:12]

        def record(event: str, about: Mapping[str, Any]) -> None:
            head = {'at': format_iso(time.time_ns()), 'question_id': question_id, 'event': event}
            self._write({**head, **about})

        return without_repetitions(record)

    def _write(self, event: Mapping[str, Any]) -> None:
        try:
            line = json.dumps(_bounded(event), default=str)
            for secret in secrets():
                line = line.replace(json.dumps(secret)[1:-1], '***')
            with self._lock:
                self._append(f'{line}\n'.encode())
            self._failed = False
        except (OSError, ValueError, TypeError) as error:
            if not self._failed:
                logger.warning(
                    'the trace %s cannot be written: %s; questions go on without', self._path, error
                )
            self._failed = True

    def _append(self, data: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(file).st_size
            if size and size + len(data) > self._max_bytes:
                os.replace(self._path, previous(self._path))
                os.close(file)
                file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            elif self._failed and size:
                data = b'\n' + data  # after half a line, perhaps
            if os.write(file, data) < len(data):
                raise OSError('the disk is full')
        finally:
            os.close(file)


def without_repetitions(record: Record) -> Record:
    """Hand on a question's events; of a conversation, which is sent with every call, only what is new."""
    shown: list[Any] = []

    def record_new(event: str, about: Mapping[str, Any]) -> None:
        if event == 'chat' and isinstance(messages := about.get('messages'), list):
            continues = messages[: len(shown)] == shown
            about = {**about, 'messages': messages[len(shown) :] if continues else messages}
            shown[:] = messages
        record(event, about)

    return record_new


def asked(question: Question) -> dict[str, Any]:
    """Return the event `asked`."""
    return {
        'question': question.text,
        'now': format_iso(question.now_ns),
        'here': _pose(question.here),
        'frame_id': question.frame_id,
        'map_id': question.map_id,
        'asked_of': asked_of(question.scope, question.zone),
        'asker': question.asker,
    }


def answered(answer: Answer) -> dict[str, Any]:
    """Return the event `answered`."""
    return {
        'kind': answer.kind.value,
        'text': answer.text,
        'binary': answer.binary,
        'pose': _pose(answer.pose),
        'time': format_iso(answer.time_ns) if answer.time_ns is not None else None,
        'duration_sec': answer.duration_s,
        'evidence': [hit.memory.id for hit in answer.evidence],
        'confidence': answer.confidence,
        'planner': answer.planner,
        **_cost(answer.cost),
    }


def failed(error: RemembrError, cost: Usage) -> dict[str, Any]:
    """Return the event `failed`."""
    return {'error': error.kind, 'message': str(error), **_cost(cost)}


def _cost(cost: Usage) -> dict[str, Any]:
    return {
        'llm_calls': cost.calls,
        'prompt_tokens': cost.prompt_tokens,
        'completion_tokens': cost.completion_tokens,
        'tokens_estimated': cost.estimated,
        'latency_sec': round(cost.seconds, 4),
    }


def _pose(pose: Pose | None) -> list[float] | None:
    """Return x, y, z [m] and yaw [rad]."""
    return [*pose.position, pose.yaw] if pose is not None else None


def previous(path: Path) -> Path:
    """Return where a trace file goes when it is large."""
    return path.with_name(f'{path.name}.1')


def read_trace(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the events of a trace, the oldest first; lines that are none are passed over.

    :raises InvalidRequest: there is no such file
    """
    files = [file for file in (previous(path), path) if file.exists()]
    if not files:
        raise InvalidRequest(f'{path}: there is no such trace')
    for file in files:
        try:
            with file.open(encoding='utf-8', errors='replace') as lines:
                for line in lines:
                    try:
                        event = json.loads(line)
                    except (ValueError, RecursionError):
                        continue
                    if isinstance(event, dict) and isinstance(event.get('question_id'), str):
                        yield event
        except OSError as error:
            raise InvalidRequest(f'{file} cannot be read: {error.strerror}') from error


def questions(events: Iterator[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the events by question, in the order of asking."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        found.setdefault(event['question_id'], []).append(event)
    return list(found.values())


def _bounded(value: Any, depth: int = 0) -> Any:
    """Return a value with its texts cut, of what JSON has."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else f'{value[:MAX_TEXT]} ... ({len(value)} characters)'
    if depth > MAX_DEPTH:
        return '...'
    if isinstance(value, Mapping):
        return {str(name): _bounded(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_bounded(inner, depth + 1) for inner in value]
    return value
