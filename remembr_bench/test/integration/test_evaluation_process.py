"""remembr eval as a process, with a language model that replies by script: stopped, refused, resumed."""

import csv
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.agent.chat.client import ToolCall
from test.scripted.server import ScriptedReply, ScriptedServer

REPOSITORY = Path(__file__).resolve().parents[3]
START_S = 1673884800.0
QUESTIONS = 8
COLUMNS = [
    *('UUID', 'Seq ID', 'Question', 'Timestamp \nwith answer', 'Type \n(binary, position, time, text)'),
    *('Text answer', 'Parsable answer', 'Question\nCategory'),
]


@pytest.fixture
def navqa(tmp_path: Path) -> Path:
    """A drive past numbered doors; each question asks for one of them."""
    folder = tmp_path / 'navqa'
    (folder / '7').mkdir(parents=True)
    captions = [
        {
            'id': f'{i}',
            'position': [10.0 * i, 0.0, 0.0],
            'time': START_S + 3 * i + 1.5,
            'start_time': START_S + 3 * i,
            'end_time': START_S + 3 * i + 2.9,
            'caption': f'A corridor with door {i}.',
        }
        for i in range(QUESTIONS)
    ]
    ids = [f'SHORT_{i}' for i in range(QUESTIONS)]
    window = {'start_time': START_S + 1, 'end_time': START_S + 3 * QUESTIONS, 'length_category': 'SHORT'}
    (folder / '7' / 'qa_unfilled.json').write_text(json.dumps({'data': [{'id': i, **window} for i in ids]}))
    (folder / '7' / 'captions_haystack_3_secs.json').write_text(json.dumps(captions))
    with (folder / 'data.csv').open('w', newline='') as file:
        rows = [
            [key, '7', f'Where is door {i}?', f'8:00:{3 * i + 1:02d}', 'position', '', '', '']
            for i, key in enumerate(ids[:-1])
        ]
        rows.append([ids[-1], '7', 'What is behind door 7?', '8:00:22', 'text', 'a corridor', '', ''])
        csv.writer(file).writerows([COLUMNS, *rows])
    return folder


def question(body: dict[str, Any]) -> str:
    text = next(m['content'] for m in body['messages'] if m['role'] == 'user')
    return str(text).split('Question: ')[1].splitlines()[0]


def tool_call(name: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall('call', name, json.dumps(arguments))


def agent(body: dict[str, Any]) -> ScriptedReply:
    """Recall the door, then answer with what was found."""
    asked = question(body)
    usage = {'prompt_tokens': 100, 'completion_tokens': 10}
    if body['messages'][-1]['role'] == 'user':
        query = asked.split(' is ')[1].strip('?')
        return ScriptedReply(tool_calls=(tool_call('recall_text', {'query': query}),), **usage)
    kind = 'text' if asked.startswith('What') else 'position'
    arguments = {'kind': kind, 'text': 'A corridor.', 'ids': ['m1']}
    return ScriptedReply(tool_calls=(tool_call('answer', arguments),), **usage)


def start(navqa: Path, url: str, out: Path, *options: str) -> 'subprocess.Popen[str]':
    command = [sys.executable, '-m', 'remembr_ros.cli.main', 'eval', 'navqa', '--data', str(navqa)]
    command += ['--planner', 'agent', '--llm', 'scripted', '--llm-url', url, '--embedder', 'hashing']
    command += ['--out', str(out), '--json', '--cache', str(out.parent / 'cache'), *options]
    return subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env={**os.environ, 'PYTHONPATH': str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: 'subprocess.Popen[str]') -> dict[str, Any]:
    out, err = process.communicate(timeout=100.0)
    assert process.returncode == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def answers(out: Path) -> list[str]:
    file = out / 'answers.jsonl'
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.timeout(240)
def test_a_run_that_was_killed_is_resumed_and_loses_nothing(navqa: Path, tmp_path: Path) -> None:
    out = tmp_path / 'run'
    with ScriptedServer(agent, delay_s=0.3) as server:
        process = start(navqa, server.url, out)
        deadline = time.monotonic() + 100.0
        while len(answers(out)) < 3:
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            threading.Event().wait(0.02)
        process.kill()
        process.communicate()
        kept = answers(out)
        assert 3 <= len(kept) < QUESTIONS
        before = len(server.requests)
        while True:  # the database of the killed process may still be ending
            again = start(navqa, server.url, out, '--resume', '--parallel', '2')
            stdout, stderr = again.communicate(timeout=100.0)
            if again.returncode == 0:
                break
            assert 'another process has it' in stderr
            assert time.monotonic() < deadline + 60.0
        asked_again = Counter(question(request.body) for request in server.requests[before:])
    assert answers(out)[: len(kept)] == kept
    records = [json.loads(line) for line in answers(out)]
    assert sorted(record['id'] for record in records) == [f'SHORT_{i}' for i in range(QUESTIONS)]
    done = {json.loads(line)['question'] for line in kept}
    assert not done & set(asked_again), 'what was answered costs nothing any more'
    summary = json.loads(stdout)
    assert summary == json.loads((out / 'results.json').read_text())
    assert (summary['questions'], summary['overall']['ALL']) == (QUESTIONS, 1.0)
    assert summary['overall']['scored'] == QUESTIONS - 1, 'a text without a judge is not scored'
    assert summary['cost']['llm_calls'] == 2 * QUESTIONS
    assert summary['cost']['prompt_tokens'] == 200 * QUESTIONS
    traces = [json.loads(line) for line in (out / 'traces.jsonl').read_text().splitlines()]
    assert {trace['id'] for trace in traces} == {record['id'] for record in records}
    assert all(len(trace['chat']) == 2 and trace['recalls'] for trace in traces)
    assert 'door 5' in (out / 'report.html').read_text()


@pytest.mark.timeout(120)
@pytest.mark.parametrize('options', [(), ('--resume',)])
def test_a_folder_in_which_a_run_is_under_way_is_left_alone(
    navqa: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    out = tmp_path / 'run'
    refused = threading.Event()  # the first run lasts until the second has ended

    def waiting(body: dict[str, Any]) -> ScriptedReply:
        if answers(out):
            refused.wait(100.0)
        return agent(body)

    with ScriptedServer(waiting) as server:
        first = start(navqa, server.url, out)
        deadline = time.monotonic() + 100.0
        while not answers(out):
            assert first.poll() is None, first.communicate()[1]
            assert time.monotonic() < deadline
            threading.Event().wait(0.02)
        second = start(navqa, server.url, out, *options)
        _, stderr = second.communicate(timeout=100.0)
        refused.set()
        assert (second.returncode, 'another process is writing' in stderr) == (2, True), stderr
        finish(first)
    assert len(answers(out)) == QUESTIONS
    assert not list(out.glob('earlier-*'))


@pytest.mark.timeout(120)
def test_a_server_that_refuses_for_the_rate_is_asked_again(navqa: Path, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()

    def limited(body: dict[str, Any]) -> ScriptedReply:
        key = json.dumps(body['messages'])
        seen[key] += 1
        if seen[key] == 1:
            return ScriptedReply(
                status=429, headers={'Retry-After': '0'}, body={'error': {'message': 'slow'}}
            )
        return agent(body)

    with ScriptedServer(limited) as server:
        summary = finish(start(navqa, server.url, tmp_path / 'run', '--parallel', '4', '--rate', '6000'))
    assert summary['outcomes'] == {'answered': 7, 'not_seen': 0, 'failed': 0, 'unscored': 1}
    assert summary['overall']['ALL'] == 1.0


@pytest.mark.timeout(120)
def test_waiting_for_the_own_pace_fails_no_question(navqa: Path, tmp_path: Path) -> None:
    with ScriptedServer(agent) as server:
        options = ('--parallel', '8', '--rate', '150', '--timeout', '2')
        began = time.monotonic()
        summary = finish(start(navqa, server.url, tmp_path / 'run', *options))
        assert time.monotonic() - began > 15 * 60.0 / 150, '16 calls are that far apart'
    assert summary['outcomes']['failed'] == 0


@pytest.mark.timeout(120)
def test_a_judge_scores_answers_in_words_and_is_asked_once(navqa: Path, tmp_path: Path) -> None:
    with (
        ScriptedServer(agent) as server,
        ScriptedServer([ScriptedReply('{"correct": true, "reason": "the same"}')], model='judge') as judge,
    ):
        options = ('--judge', 'judge', '--judge-url', judge.url)
        summary = finish(start(navqa, server.url, tmp_path / 'first', *options))
        again = finish(start(navqa, server.url, tmp_path / 'second', *options))
        assert len(judge.requests) == 1, 'the verdict is kept for the next run'
    for figures in (summary, again):
        assert figures['by_kind']['text']['correct'] == 1.0
        assert figures['overall']['scored'] == QUESTIONS
    record = next(json.loads(line) for line in answers(tmp_path / 'second') if 'behind' in line)
    assert (record['verdict'], record['outcome']) == ('the same', 'answered')


@pytest.mark.timeout(120)
def test_a_server_that_is_not_there_fails_every_question_and_the_run_ends(
    navqa: Path, tmp_path: Path
) -> None:
    summary = finish(
        start(navqa, 'http://127.0.0.1:9/v1', tmp_path / 'run', '--timeout', '30', '--parallel', '8')
    )
    assert summary['outcomes']['failed'] == QUESTIONS
    assert summary['overall']['ALL'] == 0.0
    assert all('ChatUnavailable' in json.loads(line)['failure'] for line in answers(tmp_path / 'run'))
