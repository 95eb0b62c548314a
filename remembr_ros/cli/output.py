"""Output of the verbs: JSON for programs, lines for people."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timezone, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import format_clock

if TYPE_CHECKING:
    from remembr_ros.agent.model.answer import Answer, Question


@contextmanager
def stdout_for_json(wanted: bool) -> Iterator[None]:
    """Send what libraries and child processes print meanwhile to standard error, if JSON is wanted."""
    if not wanted:
        yield
        return
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(saved, 1)
        os.close(saved)


@contextmanager
def progress(
    title: str, total: int | None = None, *, unit: str = 'memory', leave: bool = True
) -> Iterator[Callable[..., None]]:
    """Show on a terminal how much is done; call what comes with that, and with the total if new.

    :param leave: the bar stays when all is done
    """
    with tqdm(total=total, unit=unit, desc=title, disable=None, leave=leave) as bar:

        def show(done: int, total: int | None = None) -> None:
            bar.total = bar.total if total is None else total
            bar.update(done - bar.n)

        yield show


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object; where standard output cannot have a character, as its escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = json.dumps(value, allow_nan=False)
    print(text)


def print_result(as_json: bool, value: Mapping[str, Any], text: str) -> None:
    """Print what a verb did: for programs or, in words, for people."""
    if as_json:
        print_json(value)
    else:
        print(text)


def write_text(path: Path, text: str, mode: str = 'w') -> None:
    """Write a file; its folder is made, too.

    :param mode: as of open
    :raises InvalidRequest: it cannot be written
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode, encoding='utf-8') as file:
            file.write(text)
    except OSError as error:
        raise InvalidRequest(f'{path} cannot be written: {error}') from error


def answer_lines(question: 'Question', answer: 'Answer') -> str:
    """Return an answer for a person: the sentence, the evidence, what it took."""
    lines = [answer.text]
    evidence = (memory_line(hit.memory, question.now_ns, question.zone) for hit in answer.evidence[:3])
    lines += [f'  evidence  {line}' for line in evidence]
    cost = answer.cost
    took = f'  planner   {answer.planner}, {answer.confidence:.2f} sure, {cost.seconds:.2f} s'
    if cost.calls:
        about = 'about ' if cost.estimated else ''
        took += f', {cost.calls} calls, {about}{cost.prompt_tokens} + {cost.completion_tokens} tokens'
    if answer.kind.value == 'not_seen':
        lines[0] = f'Not seen. {lines[0]}'
    return '\n'.join([*lines, took])


def memory_line(memory: Memory, now_ns: int | None = None, zone: tzinfo = timezone.utc) -> str:
    """Return a memory on one line for a person."""
    place = 'unplaced'
    if memory.pose is not None:
        place = '({:.1f}, {:.1f}, {:.1f})'.format(*memory.pose.position)
    when = format_clock(memory.start_ns, zone)
    if now_ns is not None:
        from remembr_ros.agent.model.memory_prompt import ago  # late: of an answer alone

        when = f'{format_clock(memory.end_ns, zone)}, {ago(memory.end_ns, now_ns)}'
    caption = ' '.join(memory.caption.split())
    return f'{memory.id}  {when}  {place}  {caption[:120]}'
