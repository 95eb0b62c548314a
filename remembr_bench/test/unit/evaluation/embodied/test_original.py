"""EmbodiedEval's own tasks: read from a small checkout, and carried out in a simulator made up here."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from remembr_bench.evaluation.embodied.original import LegentStage, counted, play_tasks, read_tasks, watched
from remembr_bench.evaluation.embodied.run import results
from remembr_ros.agent.chat.client import ToolCall
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.cli.main import main
from remembr_ros.errors import BagUnreadable, InvalidRequest, RemembrError
from test.scripted.server import ScriptedReply, ScriptedServer

TASKS = {
    'AttributeQA/one.json': {
        'task_text': 'Which colour is the sofa?',
        'options': [{'option_type': 'Answer', 'option_text': one} for one in ('red', 'blue')],
        'predicates': [{'predicate_type': 'choose', 'right_answer_content': 'red'}],
    },
    'Navigation/two.json': {
        'task_text': 'Go to the door.',
        'options': [],
        'predicates': [{'predicate_type': 'agent_pass'}, {'predicate_type': 'agent_at'}],
    },
}
DEMANDED = {
    'AttributeQA/one.json': ['choose answer "red"'],
    'Navigation/two.json': ['agent_pass  1 0', 'agent_at 2'],
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    tasks = tmp_path / 'EmbodiedEval/data/tasks'
    for name, task in TASKS.items():
        (tasks / name).parent.mkdir(parents=True)
        (tasks / name).write_text(json.dumps(task))
    rows = [{'index': number, 'task_file': name} for number, name in enumerate(TASKS)]
    (tasks / 'tasks.json').write_text(json.dumps(rows))
    return tmp_path / 'EmbodiedEval'


class Corridor:
    """Things at 1, 2 and 3 m; each step forward is a metre."""

    def __init__(self) -> None:
        self.at, self.closed, self.taken = 0, False, list[int]()

    def reset(self, task: Any) -> tuple[dict[str, Any], bytes]:
        self.at, self.demanded, self.taken = 0, DEMANDED[task['file']], []
        return self._states(), b'jpeg'

    def step(self, choice: int) -> tuple[dict[str, Any], bytes]:
        self.taken.append(choice)
        self.at += choice == 0
        return self._states(), b'jpeg'

    def close(self) -> None:
        self.closed = True

    def _states(self) -> dict[str, Any]:
        def place(x: float) -> dict[str, float]:
            return {'x': x, 'y': 0.0, 'z': 0.0}

        options = ['move forward', 'answer "red"', 'answer "blue"']
        info = {'options': options, 'predicates': self.demanded, 'feedback': 'success'}
        things = [{'position': place(float(x))} for x in range(4)]
        return {
            'agent': {'position': place(float(self.at))}, 'instances': things, 'agent_grab_instance': -1,
            'option_mode_info': info,
        }  # fmt: skip


def choosing(text: str) -> Any:
    def reply(body: dict[str, Any]) -> ScriptedReply:
        asked = body['messages'][-1]['content']
        assert any(part.get('type') == 'image_url' for part in asked), 'the picture is shown'
        lines = next(part['text'] for part in asked if part.get('type') == 'text').splitlines()
        number = next(int(line.partition('.')[0]) for line in lines if line.endswith(text))
        return ScriptedReply(tool_calls=(ToolCall('call', 'choose', json.dumps({'option': number})),))

    return reply


def test_tasks_are_read_and_counted(checkout: Path) -> None:
    tasks = read_tasks(checkout)
    assert [task['category'] for task in tasks] == ['AttributeQA', 'Navigation']
    assert counted(tasks) == {
        'tasks': 2,
        'by_category': {'AttributeQA': 1, 'Navigation': 1},
    }
    assert read_tasks(checkout / 'data') == tasks


@pytest.mark.parametrize('content', ['[{"index": 1}]', '{}', '[1]', 'x'])
def test_other_files_are_refused(checkout: Path, content: str) -> None:
    (checkout / 'data/tasks/tasks.json').write_text(content)
    if content == '{}':
        assert read_tasks(checkout) == []
        return
    with pytest.raises(BagUnreadable, match='tasks'):
        read_tasks(checkout)


@pytest.mark.parametrize(('says', 'success'), [('answer "red"', 1.0), ('answer "blue"', 0.0)])
def test_a_model_sees_pictures_and_chooses_until_it_answers(
    checkout: Path, says: str, success: float
) -> None:
    with ScriptedServer(choosing(says)) as server:
        chat = OpenAIChat('scripted', server.url)
        (row,) = play_tasks(read_tasks(checkout)[:1], Corridor(), chat, steps=5, timeout_s=30.0)
    assert (row['success'], row['gcs'], row['n_steps']) == (success, success, 1)
    assert row['calls'] == 1


def test_what_was_passed_counts_and_where_it_is_at_the_end(checkout: Path) -> None:
    with ScriptedServer(choosing('move forward')) as server:
        chat = OpenAIChat('scripted', server.url)
        (row,) = play_tasks(read_tasks(checkout)[1:], Corridor(), chat, steps=5, timeout_s=30.0)
        assert (row['success'], row['n_steps'], row['holds']) == (1.0, 2, [1, 1])
        (row,) = play_tasks(read_tasks(checkout)[1:], Corridor(), chat, steps=1, timeout_s=30.0)
    assert (row['success'], row['gcs']) == (0.0, 0.5), 'passed the first, is not at the second'


def test_chance_is_the_same_each_time_and_the_last_step_of_a_question_answers(checkout: Path) -> None:
    one, other = (
        list(play_tasks(read_tasks(checkout), Corridor(), None, steps=3, timeout_s=30.0)) for _ in range(2)
    )
    assert one == other
    asked = one[0]['steps'][-1]['option']
    assert asked.startswith('answer'), one
    assert results(one)['overall']['n'] == 2
    assert results(one)['overall']['spl'] is None


def test_a_model_that_is_out_of_reach_fails_the_task(checkout: Path) -> None:
    chat = OpenAIChat('x', 'http://127.0.0.1:9/v1', max_retries=0)
    row, _ = play_tasks(read_tasks(checkout), Corridor(), chat, steps=3, timeout_s=5.0)
    assert row['failure']
    assert row['success'] == 0.0


@pytest.mark.parametrize(
    ('predicate', 'before', 'after', 'holds'),
    [
        ('agent_near 0', 5.0, 1.4, 1), ('agent_near 0', 5.0, 1.6, 0), ('agent_at 0', 5.0, 0.2, 1),
        ('closer 0 1', 5.0, 2.9, 1), ('closer 0 1', 5.0, 3.1, 0), ('further 0 1', 1.0, 2.1, 1),
        ('at 0 1', 5.0, 0.2, 1), ('near 0 1', 5.0, 1.4, 1), ('not_near 0 1', 1.0, 1.6, 1),
        ('not_at 0 1', 0.0, 0.4, 1), ('grab 0', 5.0, 5.0, 0), ('grab 7', 5.0, 5.0, 1),
        ('grab_once 7 x', 5.0, 5.0, 1),
        ('special_action_success open', 5.0, 5.0, 1), ('special_action_success close', 5.0, 5.0, 0),
    ],
)  # fmt: skip
def test_predicates_hold_at_upstreams_distances(
    predicate: str, before: float, after: float, holds: int
) -> None:
    def states(metres: float) -> dict[str, Any]:
        ends = [{'position': {'x': x, 'y': 0.0, 'z': 0.0}} for x in (0.0, metres)]
        info = {'feedback': 'success'}
        return {
            'agent': ends[1], 'instances': ends, 'agent_grab_instance': 7, 'option_mode_info': info
        }  # fmt: skip

    assert watched(predicate, states(before))('open', states(after)) == holds


def test_a_task_with_a_predicate_that_there_is_not_fails_alone(checkout: Path) -> None:
    class Odd(Corridor):
        def _states(self) -> dict[str, Any]:
            self.demanded = ['fly 3']
            return super()._states()

    corridor = Odd()
    rows = list(play_tasks(read_tasks(checkout), corridor, None, steps=3, timeout_s=30.0))
    assert [(row['success'], row['n_steps']) for row in rows] == [(0.0, 0), (0.0, 0)]
    assert "'fly 3' is no predicate" in rows[0]['failure']


def test_a_task_whose_scene_is_missing_fails_alone(checkout: Path) -> None:
    class Incomplete(Corridor):
        def reset(self, task: Any) -> tuple[dict[str, Any], bytes]:
            if task['file'] == 'AttributeQA/one.json':
                raise FileNotFoundError('no scene')
            return super().reset(task)

    one, two = play_tasks(read_tasks(checkout), Incomplete(), None, steps=3, timeout_s=30.0)
    assert ('no scene' in one['failure'], one['n_steps'], one['success']) == (True, 0, 0.0)
    assert (two['failure'], two['n_steps']) == ('', 2)
    assert results([one, two])['failed'] == 1


def test_a_predicate_that_there_is_not_is_named() -> None:
    with pytest.raises(InvalidRequest, match="'fly 3' is no predicate"):
        watched('fly 3', {})


def test_without_the_simulator_tasks_are_listed_and_refused(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ('--planner', 'random', '--out', str(tmp_path / 'out'))
    assert main(['eval', 'embodied', '--data', str(checkout), *out]) == 1
    told = capsys.readouterr()
    assert 'Navigation/two.json: Go to the door.' in told.out
    assert "2 tasks ({'AttributeQA': 1, 'Navigation': 1}), but its simulator is not installed" in told.err
    assert 'python download.py' in told.err
    knowing = ('--planner', 'oracle', '--out', str(tmp_path))
    assert main(['eval', 'embodied', '--data', str(checkout), *knowing]) == 2
    assert main(['eval', 'embodied', *out]) == 2


def test_upstreams_simulator_is_driven_by_its_own_settings(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corridor, left = Corridor(), [100]

    class Environment:
        def __init__(self, **options: Any) -> None:
            assert options['env_path'] == str(checkout / 'data/envs/env-Linux')

        def reset(self, info: Any) -> Any:
            return self._seen(corridor.reset({'file': info.scene}))

        def step(self, action: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Exception('Game client exited')  # as LEGENT does
            return self._seen(corridor.step(action.action_choice))

        def close(self) -> None:
            corridor.close()

        @staticmethod
        def _seen(view: tuple[dict[str, Any], bytes]) -> Any:
            return SimpleNamespace(game_states=view[0], image=np.zeros((8, 8, 3), np.uint8))

    legent = ModuleType('legent')
    for name, value in (
        ('Environment', Environment),
        ('ResetInfo', SimpleNamespace),
        ('Action', SimpleNamespace),
    ):
        setattr(legent, name, value)
    monkeypatch.setitem(sys.modules, 'legent', legent)
    monkeypatch.setattr(sys, 'path', [*sys.path])
    (checkout / 'data/envs/env-Linux').mkdir(parents=True)
    (checkout / 'task_setup.py').write_text(
        'def create_task_setting(path, scenes):\n    return {"scene": "/".join(path.split("/")[-2:])}\n'
    )
    out = tmp_path / 'out'
    command = ['eval', 'embodied', '--data', str(checkout), '--planner', 'random', '--out', str(out)]
    assert main(command) == 0
    assert json.loads((out / 'results.json').read_text())['overall']['n'] == 2
    assert corridor.closed
    steps = [json.loads(line)['n_steps'] for line in (out / 'episodes.jsonl').read_text().splitlines()]
    for left[0], played in ((steps[0], 1), (0, 0)):  # what was played before the simulator failed is told
        assert main(command) == 1
        assert 'Game client exited' in capsys.readouterr().err
        assert json.loads((out / 'results.json').read_text())['overall']['n'] == played
    monkeypatch.delitem(sys.modules, 'task_setup')
    (checkout / 'data/envs/env-Linux').rmdir()
    with pytest.raises(RemembrError, match=r'python download\.py'):
        LegentStage(checkout)
    monkeypatch.delitem(sys.modules, 'task_setup')
