"""Questions about a month of 5,000 deeds: what the tool tells is enough to answer every one of them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from remembr_ros.agent.chat.client import Message, Reply, ToolCall
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.planner import Run
from test.scripted.chat import ScriptedChat
from test.unit.agent.deeds_month import LOG, PLANTS
from test.unit.agent.listed_recall import ListedRecall
from test.unit.agent.questions_month import QUESTIONS

BESIDE = 'and beside these:\n'


@dataclass(frozen=True)
class Told:
    """What one call told: a summary, and lines."""

    text: str

    @property
    def head(self) -> str:
        return self.text.partition('\n')[0]

    @property
    def lines(self) -> list[str]:
        """Those of what was found, without what it is before or after."""
        found = self.text.partition(BESIDE)[2] or self.text
        return [line for line in found.split('\n') if line.startswith('[')]

    @property
    def labels(self) -> list[str]:
        return [label for line in self.lines for label in line[1 : line.index(']')].split(', ')]

    @property
    def said(self) -> str:
        """What is quoted, without times: of a day, code knows only those of the memories."""
        parts = (part for line in self.lines for part in re.findall('"([^"]*)"', line))
        return '; '.join(re.sub(r'^At [\d:]+: ', '', part) for part in parts if ' more.' not in part)

    @property
    def days(self) -> dict[str, int]:
        counts = re.findall(r'(\d{4}-\d\d-\d\d): (\d+)', self.head)
        return {day: int(count) for day, count in counts}

    def figure(self, pattern: str) -> str:
        """Return what a summary says at a pattern."""
        found = re.search(pattern, self.head)
        assert found is not None, f'{self.head} has no {pattern}'
        return found[1]


Answering = Mapping[str, object]
Read = Callable[[Sequence[Told]], Answering]


def text(said: str, told: Sequence[Told], **about: object) -> Answering:
    return {'kind': 'text', 'text': said, 'ids': [label for one in told for label in one.labels]} | about


def lines(told: Sequence[Told]) -> Answering:
    return text('; '.join(one.said for one in told), told)


def last_lines(told: Sequence[Told]) -> Answering:
    return lines(told[-1:])


def yes(told: Sequence[Told]) -> Answering:
    return text(told[0].said, told, kind='binary', binary=True)


def no(told: Sequence[Told]) -> Answering:
    assert told[0].head == 'none'
    return {'kind': 'binary', 'text': 'No', 'binary': False}


def figures(*patterns: str) -> Read:
    return lambda told: text(', '.join(map(told[0].figure, patterns)), told)


def when(told: Sequence[Told]) -> Answering:
    return {'kind': 'time', 'ids': told[0].labels}


def how_long(told: Sequence[Told]) -> Answering:
    return {'kind': 'duration', 'ids': told[0].labels}


def all_days(told: Sequence[Told]) -> dict[str, int]:
    return {day: count for one in told for day, count in one.days.items()}


def days(told: Sequence[Told]) -> Answering:
    return text(', '.join(all_days(told)), told)


def days_number(told: Sequence[Told]) -> Answering:
    return text(f'On {len(all_days(told))} days.', told)


def busiest_day(told: Sequence[Told]) -> Answering:
    counts = all_days(told)
    return text(max(counts, key=counts.__getitem__), told)


def other_days(told: Sequence[Told]) -> Answering:
    every = (f'2026-09-{day:02}' for day in range(1, 31))
    return text(', '.join(sorted(set(every) - set(all_days(told)))), told)


def other_plants(told: Sequence[Told]) -> Answering:
    return text(', '.join(name for name in PLANTS if name not in told[0].said), told)


def places(told: Sequence[Told]) -> Answering:
    return text(', '.join(re.findall(r'\((\w+)\)"', told[0].text)), told)


def thirds(**call: str) -> list[dict[str, object]]:
    """Return calls for the month, ten days each: of more, the tool tells no numbers."""
    ends = ((1, 10), (11, 20), (21, 30))
    return [{**call, 'when': f'between September {first} and September {last}'} for first, last in ends]


NUMBER = figures(r'^(\d+)')
TRIES = figures(r'^(\d+)', r'(\d+ failed)')
METRES = figures(r'([\d.]+ m)(?:;|$)')
IN_ALL, ON_AVERAGE = figures('([^;]* in all)'), figures('in all, ([^;]* on average)')
DAY: dict[str, object] = {'tool': 'day'}
LAST: dict[str, object] = {'order': 'last', 'nth': 1}
DISH: dict[str, object] = {'kind': 'load', 'object': 'dishwasher'}
CASE: dict[str, object] = {'object': 'violin case'}
CAT: dict[str, object] = {'kind': 'sight', 'object': 'orange cat'}
FAILED: dict[str, object] = {'outcome': 'failed'}

SCRIPT: list[tuple[Read, list[dict[str, object]]]] = [
    (lines, [DAY | {'when': 'yesterday'}]),
    (lines, [FAILED | {'when': 'September 17'}, {'kind': 'introduce', 'when': 'September 17'}]),
    (lines, [{'when': 'yesterday at 10:40'}]),
    (
        lines,
        [DAY | {'when': 'before noon on September 12'}, {'object': 'bread knife', 'when': 'September 12'}],
    ),
    (lines, [DAY | {'when': 'September 21 afternoon'}, {'attribute': 'parcel', 'when': 'September 21'}]),
    (lines, [{'when': 'September 20 at 10:35'}]),
    (lines, [FAILED | {'when': 'this month', 'page': page} for page in (1, 2)]),
    (lines, [FAILED | {'when': 'between September 14 and September 20'}]),
    (last_lines, [DAY | {'when': 'between September 1 and September 7'}, {'attribute': 'fire drill'}]),
    (lines, [FAILED | {'when': 'last week'}]),
    (last_lines, [DAY | {'when': 'last Saturday'}, {'kind': 'sing', 'when': 'last Saturday'}]),
    (days, [CASE]),
    (when, [CAT | {'nth': 1}]),
    (when, [CASE | LAST]),
    (days, [CAT]),
    (days_number, [{'kind': 'step back'}]),
    (when, [{'kind': 'dock', 'when': 'this month', 'nth': 1}]),
    (lines, [{'when': 'today', 'nth': 1}]),
    (lines, [{'before': 'sing', 'right': True}]),
    (lines, [{'after': 'opened the tool cabinet', 'limit': 3}]),
    (lines, [{'after': 'opened the tool cabinet', 'before': 'closed the tool cabinet'}]),
    (lines, [{'during': 'tea demo', 'when': 'September 15', 'nth': 3}]),
    (lines, [{'kind': 'place', 'when': 'yesterday'} | LAST]),
    (last_lines, [{'kind': 'step back', 'when': 'September 19'}, {'when': 'after m1', 'limit': 1}]),
    (NUMBER, [{'kind': 'introduce', 'when': 'this month'}]),
    (TRIES, [DISH | {'when': 'in September'}]),
    (NUMBER, [{'kind': 'water', 'when': 'today'}]),
    (busiest_day, thirds(kind='wave')),
    (NUMBER, [{'kind': 'dock', 'when': 'yesterday'}]),
    (NUMBER, [{'kind': 'demo', 'object': 'dance demo'}]),
    (ON_AVERAGE, [DISH]),
    (IN_ALL, [{'kind': 'charge', 'when': 'in September'}]),
    (how_long, [{'kind': 'demo', 'order': 'longest', 'nth': 1}]),
    (how_long, [{'kind': 'charge', 'when': 'yesterday', 'order': 'shortest', 'nth': 1}]),
    (how_long, [DISH | LAST]),
    (how_long, [{'kind': 'polish', 'object': 'silver tray'}]),
    (METRES, [{'when': 'yesterday'}]),
    (METRES, [{'kind': 'step back'} | LAST]),
    (METRES, [{'when': 'this month'}]),
    (lines, [CASE | LAST]),
    (METRES, [{'after': 'picked the violin case', 'before': 'put the violin case', 'when': 'September 18'}]),
    (lines, [{'kind': 'place', 'object': 'car keys'} | LAST]),
    (lines, [FAILED | {'when': 'yesterday'}]),
    (lines, [DISH | {'when': 'September 9'}]),
    (lines, [{'kind': 'demo', 'when': 'September 17'}]),
    (lines, [{'outcome': 'cancelled', 'when': 'this month'}]),
    (yes, [FAILED | {'during': 'tea demo', 'when': 'September 24'}]),
    (lines, [{'object': 'glass jug'}]),
    (other_plants, [{'kind': 'water', 'when': 'today'}]),
    (places, [{'never': 'place', 'when': 'September 20'}]),
    (no, [{'kind': 'pick', 'object': 'ladder'}, {'kind': 'pick'}]),
    (no, [{'near': 'attic'}, {'kind': 'go'}]),
    (other_days, thirds(kind='demo')),
    (yes, [{'kind': 'sing'}]),
    (lines, [{'kind': 'pick', 'receptacle': 'fridge', 'when': 'September 21'}]),
    (lines, [{'kind': 'place', 'receptacle': 'kitchen table', 'when': 'this morning'}]),
    (lines, [{'kind': 'place', 'when': 'today', 'order': 'nearest', 'nth': 1}]),
    (lines, [{'kind': 'place', 'when': 'today', 'order': 'farthest', 'nth': 1}]),
    (lines, [{'kind': 'place', 'receptacle': 'parts bin'}]),
    (lines, [{'kind': 'place', 'object': 'umbrella'} | LAST]),
]
"""Of each question how the answer is read from what was told, and the calls, one in each round."""


NOT_SEEN = {'tool': 'answer', 'kind': 'not_seen'}


def call(about: Mapping[str, object]) -> Reply:
    arguments = {name: value for name, value in about.items() if name != 'tool'}
    return Reply('', (ToolCall('c', str(about.get('tool', 'happened')), json.dumps(arguments)),))


def answering(read: Read) -> Callable[[Sequence[Message]], Reply]:
    def answer(messages: Sequence[Message]) -> Reply:
        told = [Told(str(message.content)) for message in messages if message.role == 'tool']
        return call({'tool': 'answer'} | dict(read(told)))

    return answer


def test_every_question_is_answered_from_what_the_tool_tells():
    recall = ListedRecall([one.memory for one in LOG])
    wrong = []
    for one, (read, calls) in zip(QUESTIONS, SCRIPT, strict=True):
        # What is refused would have to be answered once more.
        chat = ScriptedChat([*map(call, calls), answering(read), call(NOT_SEEN)])
        answer = LoopPlanner(chat, first_recall=False).answer(
            one.question, recall, Run(deadline=float('inf'))
        )
        if faults := one.faults(answer):
            wrong.append(f'{one.text} {answer.text} Not right: {", ".join(faults)}.')
    assert not wrong, '\n'.join(wrong)
