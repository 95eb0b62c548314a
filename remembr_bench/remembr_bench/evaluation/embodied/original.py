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
from importlib import import_module
from math import dist
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from remembr_bench.evaluation.tasks.chooser import Chooser
from remembr_bench.evaluation.tasks.robot import Option
from remembr_ros.agent.chat.client import ChatClient
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
States = Mapping[str, Any]
"""The game states of a step: agent, instances, agent_grab_instance, and option_mode_info with its options."""


class OriginalTask(NamedTuple):
    """A task as it is listed.

    :param file: CATEGORY/NAME.json; content: what it holds
    """

    file: str
    content: Mapping[str, Any]

    @property
    def category(self) -> str:
        return self.file.partition('/')[0]


class Stage(Protocol):
    """A simulator: each step gives its states and what the camera shows, JPEG."""

    def reset(self, task: OriginalTask) -> tuple[States, bytes]:
        """Begin a task."""

    def step(self, choice: int) -> tuple[States, bytes]:
        """Take one of the options, by its place."""

    def close(self) -> None:
        """End the simulator."""


def read_tasks(folder: Path) -> list[OriginalTask]:
    """Return the tasks of a checkout, in their order.

    :raises BagUnreadable: a file is missing, or in another format
    """
    root = next((root for root in (folder / 'data/tasks', folder / 'tasks', folder) if root.is_dir()), folder)
    try:
        files = [str(row['task_file']) for row in read_json(root / 'tasks.json')]
        tasks = [OriginalTask(file, read_json(root / file)) for file in files]
        for task in tasks:
            _ = (task.content['task_text'], task.content['options'], task.content['predicates'])
    except (KeyError, TypeError) as error:
        raise BagUnreadable(f'{root} is not in the format of EmbodiedEval: {error!r}') from error
    return tasks


def counted(tasks: Sequence[OriginalTask]) -> dict[str, Any]:
    """Return how many tasks there are, by category and by what is demanded."""
    types = (str(p.get('predicate_type')) for task in tasks for p in task.content['predicates'])
    categories = Counter(task.category for task in tasks)
    return {'tasks': len(tasks), 'by_category': dict(categories), 'predicates': dict(Counter(types))}


class LegentStage:
    """Upstream's simulator, LEGENT, with its own settings of tasks.

    :param folder: upstream's checkout
    :raises RemembrError: it is not installed
    """

    def __init__(self, folder: Path, port: int = 50051) -> None:
        try:
            self._legent: Any = import_module('legent')
            sys.path.insert(0, str(folder))
            self._setup: Any = import_module('task_setup')
            (player, *_) = sorted(path for path in (folder / 'data/envs').iterdir() if path.is_dir())
        except (ImportError, OSError, ValueError) as error:
            raise RemembrError(f'{INSTALL} ({error})') from error
        self._folder = folder
        shown = {'camera_resolution_width': 448, 'camera_resolution_height': 448, 'camera_field_of_view': 90}
        run = {'port': port, 'width': 768, 'height': 768}
        self._env = self._legent.Environment(env_path=str(player), action_mode=1, run_options=run, **shown)

    def reset(self, task: OriginalTask) -> tuple[States, bytes]:
        path = str(self._folder / 'data/tasks' / task.file)
        setting = self._setup.create_task_setting(path, str(self._folder / 'data/scenes'))
        return self._seen(self._env.reset(self._legent.ResetInfo(scene=setting['scene'], api_calls=[])))

    def step(self, choice: int) -> tuple[States, bytes]:
        return self._seen(self._env.step(self._legent.Action(action_choice=choice)))

    def close(self) -> None:
        self._env.close()

    def _seen(self, observed: Any) -> tuple[States, bytes]:
        return observed.game_states, encode_jpeg(observed.image[..., ::-1].copy(), 90)


Watch = Callable[[str, States], int]
"""Returns 1: what is demanded holds after an option was taken; -1: it never will; else 0."""


def watched(predicate: str, before: States) -> Watch:
    """Return what looks after a predicate, such as 'agent_at 12' or 'choose answer "red"'.

    :param before: when the task begins
    :raises InvalidRequest: there is no such predicate
    """
    name, _, rest = ' '.join(predicate.split()).partition(' ')
    ids = [int(number) for number in re.findall(r'\d+', rest)]

    def metres(states: States, axes: str = 'xz') -> float:
        things = [states['instances'][one]['position'] for one in ids[:2]]
        ends = [states['agent']['position'], things[0]] if name.startswith('agent') else things
        return dist(*([end[axis] for axis in axes] for end in ends))

    def choose(chosen: str, states: States) -> int:
        return 1 if chosen == rest else -int(chosen.startswith('answer'))

    held: dict[str, Callable[[str, States], bool]] = {
        'agent_at': lambda _, s: metres(s) < 0.3, 'agent_pass': lambda _, s: metres(s) < 0.3,
        'agent_near': lambda _, s: metres(s) < 1.5, 'at': lambda _, s: metres(s) < 0.3,
        'near': lambda _, s: metres(s) < 1.5, 'not_near': lambda _, s: metres(s) > 1.5,
        'not_at': lambda _, s: metres(s, 'xyz') > 0.3,
        'closer': lambda _, s: metres(before) - metres(s) > 2.0,
        'further': lambda _, s: metres(s) - metres(before) > 1.0,
        'grab': lambda _, s: s['agent_grab_instance'] == ids[0],
        'grab_once': lambda _, s: s['agent_grab_instance'] == ids[0],
        'special_action_success': lambda chosen, s: (
            chosen == rest and s['option_mode_info']['feedback'] == 'success'
        ),
    }  # fmt: skip
    if name == 'choose':
        return choose
    if name not in held:
        raise InvalidRequest(f'{predicate!r} is no predicate of EmbodiedEval')
    once, done = name in ('agent_pass', 'grab_once', 'special_action_success'), False

    def watch(chosen: str, states: States) -> int:
        nonlocal done
        done = (once and done) or held[name](chosen, states)
        return int(done)

    return watch


def play_tasks(
    tasks: Sequence[OriginalTask], stage: Stage, chat: ChatClient | None, *, steps: int, timeout_s: float
) -> Iterator[dict[str, Any]]:
    """Yield what becomes of each task: its steps, which demands hold, success and goal-conditioned success.

    :param chat: chooses; None: chance does
    :param steps: for a task, at most; of a question the last one takes an answer
    """
    for task in tasks:
        rng, chooser = random.Random(task.file), Chooser(chat, SYSTEM, timeout_s) if chat else None
        done: list[dict[str, str]] = []
        (states, picture), failure = stage.reset(task), ''
        demands = [watched(text, states) for text in states['option_mode_info']['predicates']]
        holds, deadline = [0] * len(demands), time.monotonic() + timeout_s
        while len(done) < steps and time.monotonic() < deadline and not (-1 in holds or all(holds)):
            every = states['option_mode_info']['options']
            options = [Option('', text, str(at)) for at, text in enumerate(every)]
            if len(done) == steps - 1 and 'QA' in task.category:
                options = [one for one in options if one.text.startswith('answer')] or options
            told = f'Instruction: {task.content["task_text"]}\n{done[-1]["outcome"] if done else ""}'
            try:
                option = chooser.choose(told, options, picture)[0] if chooser else rng.choice(options)
            except ReplyInvalid as error:
                done.append({'option': '', 'outcome': str(error)})
                continue
            except RemembrError as error:
                failure = str(error)
                break
            states, picture = stage.step(int(option.of))
            holds = [watch(option.text, states) for watch in demands]
            done.append({'option': option.text, 'outcome': states['option_mode_info'].get('feedback') or ''})
        usage = chooser.ledger.usage if chooser else None
        yield {
            'home': task.file, 'category': task.category, 'instruction': task.content['task_text'],
            'steps': done, 'n_steps': len(done), 'holds': holds, 'failure': failure,
            'success': float(bool(holds) and all(one == 1 for one in holds)),
            'gcs': holds.count(1) / len(holds) if holds else 0.0,
            'calls': usage.calls if usage else 0, 'prompt_tokens': usage.prompt_tokens if usage else 0,
            'completion_tokens': usage.completion_tokens if usage else 0, 'thrown_away': 0,
        }  # fmt: skip
