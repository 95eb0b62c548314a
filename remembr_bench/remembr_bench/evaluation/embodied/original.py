"""EmbodiedEval's own tasks (arXiv 2501.11858), from its checkout, carried out in a simulator such as its own.

`data/tasks/tasks.json` lists index and task_file, CATEGORY/NAME.json, which has task_text, options and
predicates. The predicates and their distances are those of upstream's predicate.py.
"""

import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from math import dist
from pathlib import Path
from typing import Any, Protocol

from remembr_bench.evaluation.tasks.chooser import Chooser
from remembr_bench.evaluation.tasks.robot import Option
from remembr_ros.agent.chat.client import ChatClient
from remembr_ros.agent.model.answer import Usage
from remembr_ros.errors import BagUnreadable, InvalidRequest, RemembrError, ReplyInvalid
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.exchange.captions_file import read_json

INSTALL = (
    'its simulator is not installed: git clone https://github.com/thunlp/EmbodiedEval, there pip install -r '
    'requirements.txt and python download.py (20 GB; a display, or Xorg on an NVIDIA GPU); give that folder'
)
SYSTEM = (
    'You are a robot in a building. Carry out an instruction step by step: call the tool `choose` with the '
    'number of one option. You see what your camera shows now. An option that answers ends the task.'
)
Task = Mapping[str, Any]
"""What a task's file holds, with `file` and `category`."""
View = tuple[Mapping[str, Any], bytes]
"""The states of a step (agent, instances, agent_grab_instance, option_mode_info), and what is seen, JPEG."""


class Stage(Protocol):
    """A simulator, in which options are taken by their places."""

    def reset(self, task: Task) -> View: ...

    def step(self, choice: int) -> View: ...


def read_tasks(folder: Path) -> list[Task]:
    """Return the tasks of a checkout, in their order.

    :raises BagUnreadable: a file is missing, or in another format
    """
    roots = (folder / 'data/tasks', folder / 'tasks', folder)
    root = next((root for root in roots if (root / 'tasks.json').is_file()), roots[0])
    try:
        files = [str(row['task_file']) for row in read_json(root / 'tasks.json')]
        tasks = [{**read_json(root / file), 'file': file, 'category': file.split('/')[0]} for file in files]
        return [task for task in tasks if task['task_text'] and isinstance(task['predicates'], list)]
    except (KeyError, TypeError) as error:
        raise BagUnreadable(f'{root} is not in the format of EmbodiedEval: {error!r}') from error


def counted(tasks: Sequence[Task]) -> dict[str, Any]:
    """Return how many tasks there are, also by category."""
    return {'tasks': len(tasks), 'by_category': dict(Counter(task['category'] for task in tasks))}


class StageLost(RemembrError):
    """Raised when the simulator does not work, or not any more: no other task can be played."""


@contextmanager
def _working() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # LEGENT raises nothing more special
        raise StageLost(f'the simulator failed: {error}; it needs a display, or Xorg on a GPU') from error


class LegentStage:
    """Upstream's simulator, LEGENT, with its own settings of tasks.

    :param folder: upstream's checkout
    :raises RemembrError: it is not installed, or does not start
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._legent: Any = import_module('legent')
            sys.path.insert(0, str(folder))
            self._setup: Any = import_module('task_setup')
            player = min(path for path in (folder / 'data/envs').iterdir() if path.is_dir())
        except (ImportError, OSError, ValueError) as error:
            raise RemembrError(f'{INSTALL} ({error})') from error
        self._folder = folder
        camera = {'camera_resolution_width': 448, 'camera_resolution_height': 448, 'camera_field_of_view': 90}
        with _working():
            self._env = self._legent.Environment(env_path=str(player), action_mode=1, **camera)

    def reset(self, task: Task) -> View:
        path, scenes = (str(self._folder / 'data' / name) for name in (f'tasks/{task["file"]}', 'scenes'))
        scene = self._setup.create_task_setting(path, scenes)['scene']
        return self._seen(self._env.reset, self._legent.ResetInfo(scene=scene, api_calls=[]))

    def step(self, choice: int) -> View:
        return self._seen(self._env.step, self._legent.Action(action_choice=choice))

    def close(self) -> None:
        self._env.close()

    @staticmethod
    def _seen(ask: Callable[[Any], Any], said: Any) -> View:
        with _working():
            observed = ask(said)
        return observed.game_states, encode_jpeg(observed.image[..., ::-1].copy(), 90)


_BELOW_M = {'agent_at': 0.3, 'agent_pass': 0.3, 'agent_near': 1.5, 'at': 0.3, 'near': 1.5}
_ABOVE_M = {'not_at': 0.3, 'not_near': 1.5}
_CHANGED_M = {'closer': -2.0, 'further': 1.0}
_ONCE = ('agent_pass', 'grab_once', 'special_action_success')
_OTHERS = ('choose', 'grab', *_ONCE[1:])


def watched(predicate: str, before: Mapping[str, Any]) -> Callable[[str, Mapping[str, Any]], int]:
    """Return what tells after each option: 1: what is demanded holds; -1: it never will; else 0.

    :param predicate: such as 'agent_at 12' or 'choose answer "red"'
    :param before: the states when the task begins
    :raises InvalidRequest: there is no such predicate
    """
    name, _, rest = ' '.join(predicate.split()).partition(' ')
    if name not in (*_BELOW_M, *_ABOVE_M, *_CHANGED_M, *_OTHERS):
        raise InvalidRequest(f'{predicate!r} is no predicate of EmbodiedEval')
    ids, done = [int(number) for number in re.findall(r'\d+', rest)], 0

    def metres(states: Mapping[str, Any]) -> float:
        ends = [states['instances'][one]['position'] for one in ids[:2]]
        ends = [states['agent']['position'], ends[0]] if name.startswith('agent') else ends
        return dist(*([end[axis] for axis in ('xyz' if name == 'not_at' else 'xz')] for end in ends))

    def holds(chosen: str, states: Mapping[str, Any]) -> int:
        if name == 'choose':
            return 1 if chosen == rest else -int(chosen.startswith('answer'))
        if name.startswith('grab'):
            return int(states['agent_grab_instance'] == ids[0])
        if name == 'special_action_success':
            return int(chosen == rest and states['option_mode_info']['feedback'] == 'success')
        if change_m := _CHANGED_M.get(name):
            return (metres(states) - metres(before)) / change_m > 1.0
        return metres(states) < _BELOW_M[name] if name in _BELOW_M else metres(states) > _ABOVE_M[name]

    def watch(chosen: str, states: Mapping[str, Any]) -> int:
        nonlocal done
        done = done if done == 1 and name in _ONCE else holds(chosen, states)
        return done

    return watch


def play_tasks(
    tasks: Sequence[Task], stage: Stage, chat: ChatClient | None, *, steps: int, timeout_s: float
) -> Iterator[dict[str, Any]]:
    """Yield what becomes of each task: its steps, which demands hold, success and goal-conditioned success.

    :param chat: chooses; None: chance does
    :param steps: for a task, at most; of a question the last one takes an answer
    :raises StageLost: the simulator does not work any more
    """
    for task in tasks:
        chooser, failure = Chooser(chat, SYSTEM, timeout_s) if chat else None, ''
        done: list[dict[str, str]] = []
        holds: list[int] = []
        deadline = time.monotonic() + timeout_s
        try:
            for found in _played(task, stage, chooser, steps, done):
                holds = found
                if len(done) == steps or time.monotonic() >= deadline or -1 in holds or all(holds):
                    break
        except StageLost:
            raise
        except RemembrError as error:
            failure = str(error)
        except (LookupError, OSError, TypeError, ValueError) as error:  # its files are others'
            failure = f'it cannot be played: {error!r}'
        what = {'home': task['file'], 'category': task['category'], 'instruction': task['task_text']}
        met = {'success': float(bool(holds) and min(holds) == 1), 'gcs': holds.count(1) / max(len(holds), 1)}
        usage = asdict(chooser.ledger.usage if chooser else Usage())
        cost = {'n_steps': len(done), 'thrown_away': 0, **usage}
        yield {**what, 'steps': done, 'holds': holds, 'failure': failure, **met, **cost}


def _played(
    task: Task, stage: Stage, chooser: Chooser | None, steps: int, done: list[dict[str, str]]
) -> Iterator[list[int]]:
    """Yield which demands hold, before the first step and after each, which is noted in done."""
    rng, (states, picture) = random.Random(task['file']), stage.reset(task)
    demands = [watched(text, states) for text in states['option_mode_info']['predicates']]
    holds = [0] * len(demands)
    while True:
        yield holds
        options = [Option('', one, str(at)) for at, one in enumerate(states['option_mode_info']['options'])]
        if len(done) == steps - 1 and 'QA' in task['category']:
            options = [one for one in options if one.text.startswith('answer')] or options
        if not options:
            raise RemembrError('the simulator offers nothing')
        told = f'Instruction: {task["task_text"]}\n{done[-1]["outcome"] if done else ""}'
        try:
            option = chooser.choose(told, options, picture)[0] if chooser else rng.choice(options)
        except ReplyInvalid as error:
            done.append({'option': '', 'outcome': str(error)})
            continue
        states, picture = stage.step(int(option.of))
        done.append({'option': option.text, 'outcome': states['option_mode_info'].get('feedback') or ''})
        holds = [watch(option.text, states) for watch in demands]
