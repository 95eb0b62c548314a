"""What the verbs print: JSON for programs, lines for people."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from datetime import timezone, tzinfo
from typing import Any, TextIO

from tqdm import tqdm

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.memory_prompt import ago
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.printable import printable
from remembr_ros.timestamps import NS, format_clock, format_iso

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


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object; where standard output cannot have a character, as its escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = json.dumps(value, allow_nan=False)
    print(text)


def print_result(as_json: bool, value: dict[str, Any], text: str) -> None:
    """Print what a verb did: for programs or, in words, for people."""
    if as_json:
        print_json(value)
    else:
        print(text)


def answer_json(question: Question, answer: Answer) -> dict[str, Any]:
    """Return an answer as `remembr ask --json` prints it."""
    time_ns = answer.time_ns
    if time_ns is None and answer.evidence:
        time_ns = answer.evidence[0].memory.end_ns
    return {
        'question': question.text,
        'kind': answer.kind.value,
        'text': answer.text,
        'binary': answer.binary,
        'position': position_json(answer.pose),
        'yaw': answer.pose.yaw if answer.pose else None,
        'time': format_iso(time_ns) if time_ns is not None else None,
        'minutes_ago': (question.now_ns - time_ns) / (60 * NS) if time_ns is not None else None,
        'duration_minutes': answer.duration_s / 60.0 if answer.duration_s is not None else None,
        'evidence': [
            {
                'id': hit.memory.id,
                'start': format_iso(hit.memory.start_ns),
                'end': format_iso(hit.memory.end_ns),
                'position': position_json(hit.memory.pose),
                'caption': hit.memory.caption,
                'scene_text': list(hit.memory.scene_text),
            }
            for hit in answer.evidence
        ],
        'confidence': answer.confidence,
        'planner': answer.planner,
        'llm_calls': answer.cost.calls,
        'prompt_tokens': answer.cost.prompt_tokens,
        'completion_tokens': answer.cost.completion_tokens,
        'latency_sec': answer.cost.seconds,
    }


def memory_json(memory: Memory) -> dict[str, Any]:
    """Return a memory as every verb prints it with --json."""
    return {
        'id': memory.id,
        'robot': memory.robot,
        'map_id': memory.map_id,
        'frame_id': memory.frame_id,
        'start': format_iso(memory.start_ns),
        'end': format_iso(memory.end_ns),
        'position': position_json(memory.pose),
        'yaw': memory.pose.yaw if memory.pose else None,
        'caption': memory.caption,
        'scene_text': list(memory.scene_text),
        'source': memory.source,
        'merged': memory.merged,
    }


def hit_json(hit: Hit) -> dict[str, Any]:
    """Return a recalled memory as `remembr recall --json` prints it."""
    return {
        **memory_json(hit.memory),
        'score': hit.score,
        'distance': hit.distance_m,
        'time_offset_sec': hit.offset_s,
    }


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


def position_json(pose: Pose | None) -> list[float] | None:
    """Return where a pose is as every verb prints it with --json [m]."""
    return list(pose.position) if pose else None
