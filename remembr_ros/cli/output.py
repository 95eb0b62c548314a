"""What the verbs print: JSON for programs, lines for people."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from datetime import timezone, tzinfo
from typing import Any, TextIO

from tqdm import tqdm

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.memory_prompt import ago
from remembr_ros.memory.model.record import Memory
from remembr_ros.printable import printable
from remembr_ros.timestamps import format_clock

_BAR = re.compile(r'\r|(\x1b\[A)+\Z')
"""How a progress bar begins what it writes: with the line's begin, or lines up alone."""


class _Plain:
    """A stream to a terminal on which nothing that was read anywhere is obeyed: see :func:`printable`.

    :param bars: progress bars may draw themselves; nothing else that is written there begins as they do
    """

    def __init__(self, stream: TextIO, *, bars: bool = False) -> None:
        self._stream = stream
        self._bars = bars

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        drawn = _BAR.match(text) if self._bars else None
        head = drawn[0] if drawn else ''
        self._stream.write(head + printable(text[len(head) :]))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)


@contextmanager
def plain_output() -> Iterator[None]:
    """Show captions, file names and servers' words on a terminal, whatever they contain.

    All that is printed, logged or refused goes through here. What is JSON stays JSON with the same meaning.
    """
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(_Plain(sys.stdout)))
        stack.enter_context(redirect_stderr(_Plain(sys.stderr, bars=True)))
        yield


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
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how many memories are done; call what comes with their number."""
    with tqdm(total=total, unit='memory', desc=what, disable=None) as bar:

        def show(done: int) -> None:
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


def answer_lines(question: Question, answer: Answer) -> str:
    """Return an answer for a person: the sentence, the evidence, what it took."""
    lines = [answer.text]
    evidence = (memory_line(hit.memory, question.now_ns, question.zone) for hit in answer.evidence[:3])
    lines += [f'  evidence  {line}' for line in evidence]
    cost = answer.cost
    took = f'  planner   {answer.planner}, {answer.confidence:.2f} sure, {cost.seconds:.2f} s'
    if cost.calls:
        about = 'about ' if cost.estimated else ''
        took += f', {cost.calls} calls, {about}{cost.prompt_tokens} + {cost.completion_tokens} tokens'
    if answer.kind is Kind.NOT_SEEN:
        lines[0] = f'Not seen. {lines[0]}'
    return '\n'.join([*lines, took])


def memory_line(memory: Memory, now_ns: int | None = None, zone: tzinfo = timezone.utc) -> str:
    """Return a memory on one line for a person."""
    place = 'unplaced'
    if memory.pose is not None:
        place = '({:.1f}, {:.1f}, {:.1f})'.format(*memory.pose.position)
    when = format_clock(memory.start_ns, zone)
    if now_ns is not None:  # of an answer, for which counts when it was seen last
        when = f'{format_clock(memory.end_ns, zone)}, {ago(memory.end_ns, now_ns)}'
    caption = ' '.join(memory.caption.split())
    return f'{memory.id}  {when}  {place}  {caption[:120]}'
