"""remembr eval findingdory: a run over homes as any other, resumed, compared, in grids; what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from remembr_bench.evaluation.datasets.sample import Excluded, Sample, Sequence, Truth
from remembr_bench.evaluation.records.config import run_config
from remembr_bench.evaluation.records.reading import read_records
from remembr_bench.evaluation.tasks.goals import Goal, Predicate, Quantifier, Task, Where
from remembr_bench.evaluation.tasks.trial import SimulatedTrial
from remembr_ros.agent.chat.client import ToolCall
from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.cli.main import main
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.recall import ANYTHING
from remembr_ros.timestamps import NS, parse_time
from test.scripted.server import ScriptedReply, ScriptedServer
from test.task_world import TaskWorld, thing

DAY_NS = parse_time('2026-03-02T09:00:00Z')
HERE = Pose(3.0, 1.0)
THINGS = (('red cup', 1.0, 3.0), ('blue book', 6.0, 3.0), ('green vase', 7.0, 2.0))


def small_home(config: object, seed: int) -> Sequence:
    """Return three tasks, of which rules fulfil two: the vase is not where it was put."""
    world = TaskWorld(*(thing(*one) for one in THINGS))
    memories = []
    for i, (name, x, y) in enumerate(THINGS):
        at = Pose(x + 1.0, y, yaw=3.14159) if name != 'green vase' else Pose(1.0, 1.0)
        start_ns = DAY_NS + i * 600 * NS
        done = deed(start_ns, start_ns + NS, kind='place', object=name, outcome='succeeded', pose=at)
        memories.append(done.memory('robot'))
    tasks = {
        name: Task(name, category, 'Go to the {o}.', f'Go to the {name.split()[1]} that you handled.', goal)
        for name, category, goal in (
            (name, 'last' if name == 'green vase' else 'first', Goal(Quantifier.EXISTS, (at_object(name),)))
            for name, _, _ in THINGS
        )
    }
    samples = tuple(
        Sample(
            name,
            'LONG',
            Question(task.instruction, DAY_NS + 3600 * NS, HERE),
            ANYTHING,
            (DAY_NS, DAY_NS + 1800 * NS),
            3,
            frozenset(),
            Truth(Kind.POSITION),
            category=task.category,
        )
        for name, task in tasks.items()
    )
    trial = SimulatedTrial(world, {name: (task, 1.0) for name, task in tasks.items()}, memories, HERE)
    unfilled = (Excluded(f'home-{seed}', 'Go to {print}.', 'attributes: nothing has one'),)
    return Sequence(f'home-{seed}', tuple(memories), samples, unfilled, trial=trial)


def at_object(name: str) -> Predicate:
    return Predicate(Where.AT_OBJECT, name)


@pytest.fixture
def homes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('remembr_bench.evaluation.run.loading.load_home', small_home)


def run(*options: object) -> int:
    return main(['eval', 'findingdory', '--homes', '1', '2', *map(str, options)])


@pytest.mark.usefixtures('homes')
def test_figures_by_category_and_what_could_not_be_filled(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    assert run('--planner', 'offline', '--out', tmp_path / 'run') == 0
    out = capsys.readouterr().out
    assert out.startswith('These homes are simpler than those of Habitat')
    assert 'nothing has one' in out
    told = json.loads((tmp_path / 'run' / 'results.json').read_text())
    overall, first, last = told['overall'], told['by_category']['first'], told['by_category']['last']
    assert (overall['n'], first['n'], last['n']) == (6, 4, 2)
    assert (first['hl_sr'], last['hl_sr']) == (1.0, 0.0)
    assert overall['hl_sr'] == overall['ALL'] == pytest.approx(4 / 6)
    assert overall['hl_sr_interval'] == pytest.approx([4 / 6, 4 / 6])  # both homes are alike
    assert 0.0 < first['hl_spl'] < 1.0
    assert (last['ll_sr'], last['ll_spl']) == (None, None)  # asked only where the high level succeeded
    assert told['unfilled'] == [
        {'template': 'Go to {print}.', 'why': 'attributes: nothing has one', 'homes': ['home-1', 'home-2']}
    ]
    page = (tmp_path / 'run' / 'report.html').read_text()
    assert page.index('simpler than those of Habitat') < page.index('<table')
    assert 'HL-SPL' in page
    (file,) = (tmp_path / 'run' / 'memories').glob('home-2_*.db')
    assert main(['deeds', '--memory', str(file), '--json']) == 0
    deeds = json.loads(capsys.readouterr().out)['deeds']
    assert [deed['object'] for deed in deeds] == [name for name, _, _ in THINGS]


@pytest.mark.usefixtures('homes')
def test_a_run_that_was_cut_off_is_resumed(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    out = tmp_path / 'run'
    assert run('--out', out) == 0
    whole = (out / 'answers.jsonl').read_text().splitlines()
    (out / 'answers.jsonl').write_text('\n'.join(whole[:4]) + '\n' + whole[4][:30])
    assert run('--out', out, '--resume', '--json') == 0
    again = (out / 'answers.jsonl').read_text().splitlines()
    assert again[:4] == whole[:4]
    assert len(again) == 6
    capsys.readouterr()
    assert run('--out', out, '--resume', '--planner', 'oracle') != 0
    assert 'planner was' in capsys.readouterr().err


@pytest.mark.usefixtures('homes')
def test_planners_are_compared_task_by_task(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert run('--out', tmp_path / 'a', '--planner', 'random') == 0
    assert run('--out', tmp_path / 'b', '--planner', 'oracle') == 0
    capsys.readouterr()
    assert main(['eval', 'compare', str(tmp_path / 'a'), str(tmp_path / 'b'), '--json']) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['correctness']['ALL']['pairs'] == 6
    assert told['correctness']['ALL']['mean_b'] == 4 / 6  # nothing leads to the vase
    grid = tmp_path / 'grid.yaml'
    grid.write_text(
        'base: {data: findingdory, homes: [1], embedder: hashing}\ngrid: {planner: [offline, random]}\n'
    )
    assert main(['eval', 'grid', str(grid), '--out', str(tmp_path / 'grid')]) == 0
    assert 'offline' in (tmp_path / 'grid' / 'grid.md').read_text()


@pytest.mark.usefixtures('homes')
def test_a_language_model_goes_where_it_cites_and_by_what_is_no_memory_the_rules_do(
    tmp_path: Path,
) -> None:
    def reply(body: dict[str, Any]) -> ScriptedReply:
        asked = next(m['content'] for m in body['messages'] if m['role'] == 'user')
        name, arguments = 'happened', {'kind': 'place', 'object': 'cup' if ' cup ' in asked else 'book'}
        if body['messages'][-1]['role'] != 'user':
            label = 'm1' if ' cup ' in asked else 'm77'
            name, arguments = 'answer', {'kind': 'position', 'text': 'There.', 'ids': [label]}
        return ScriptedReply(tool_calls=(ToolCall('call', name, json.dumps(arguments)),))

    with ScriptedServer(reply) as server:
        model = ('--llm', 'scripted', '--llm-url', server.url)
        assert run('--planner', 'agent', *model, '--out', tmp_path) == 0
    records = {record.id: record for record in read_records(tmp_path) if record.sequence == 'home-1'}
    assert records['red cup'].correct
    assert records['red cup'].llm_calls == 2
    assert records['red cup'].answer is not None
    assert records['red cup'].answer.planner == 'scripted'
    assert records['blue book'].answer is not None
    assert records['blue book'].answer.planner == 'offline'
    assert records['blue book'].llm_calls == 3


@pytest.mark.parametrize(
    ('settings', 'says'),
    [
        ({'data': 'findingdory'}, 'give their seeds'),
        ({'data': 'navqa', 'homes': (1,)}, 'no other data set'),
        ({'data': 'findingdory', 'homes': (1,), 'planner': 'top1'}, 'cannot be given tasks'),
        ({'data': 'navqa', 'planner': 'random'}, 'for tasks alone'),
        ({'data': 'findingdory', 'homes': (1,), 'planner': 'all_captions'}, 'needs a language model'),
    ],
)
def test_what_makes_no_sense_is_refused(
    settings: dict[str, object], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY'):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidRequest, match=says):
        run_config(**settings)


def test_a_level_of_noise_that_there_is_not_is_named() -> None:
    from remembr_bench.evaluation.findingdory.sequence import load_home

    config = run_config(data='findingdory', homes=(1,), detections='fog')
    with pytest.raises(InvalidRequest, match="'fog'; there are none"):
        load_home(config, 1)


@pytest.mark.timeout(300)  # it renders 3,000 pictures, on whatever processor there is
def test_a_real_home(tmp_path: Path) -> None:
    options = ('--homes', '5', '--fillings', '1', '--out', str(tmp_path))
    assert main(['eval', 'findingdory', *options]) == 0
    told = json.loads((tmp_path / 'results.json').read_text())
    assert told['overall']['n'] >= 40
    assert told['overall']['hl_sr'] >= 0.8
    assert {one['template'] for one in told['unfilled']} >= {
        'Go to an object that you handled yesterday and that is made of {value}.'
    }
