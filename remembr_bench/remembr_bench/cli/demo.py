"""remembr demo: a rendered building, three nodes (or, without ROS, none), five questions, a picture."""

import argparse
import json
import math
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remembr_bench.demo.alone import DemoAlone
from remembr_bench.simulation.floor_plan import generate_building, write_floor_map
from remembr_bench.simulation.plan_picture import draw_plan
from remembr_bench.simulation.tour_bag import record_building
from remembr_bench.simulation.truth import RecordingTruth, SignTruth, load_truth
from remembr_ros import __version__
from remembr_ros.agent.build import AgentConfig, config_from_environment
from remembr_ros.agent.model.answer import Answer, Kind, Question, answer_json
from remembr_ros.cli.output import answer_lines, progress
from remembr_ros.errors import InvalidRequest, RemembrError
from remembr_ros.geometry import Pose, StampedPose, distance
from remembr_ros.memory.model.recall import Hit
from remembr_ros.timestamps import NS

if TYPE_CHECKING:
    from remembr_bench.demo.graph import DemoGraph

NEAR_M = 5.0  # a place is right if it lies this near to where the sign is readable
SOON_S = 5.0  # a time is right if it lies this near to when the sign is readable


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question with what is true.

    :param kind: of the right answer
    :param texts: of the signs it is about; none for what is not there
    """

    text: str
    kind: Kind
    texts: tuple[str, ...]
    navigate: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--out', type=Path, metavar='DIR', default=Path('demo_out'), help='(default: %(default)s)'
    )
    parser.add_argument(
        '--seed', type=int, metavar='N', default=0, help='of the building (default: %(default)s)'
    )
    parser.add_argument(
        '--rate',
        type=float,
        metavar='X',
        default=4.0,
        help='times real speed of the bag (default: %(default)s)',
    )


def run(args: argparse.Namespace) -> int:
    began = time.monotonic()
    out: Path = args.out
    out.mkdir(parents=True, exist_ok=True)
    database = out / 'memory.db'
    remove_earlier(database)
    with _graph(out, database) as graph:  # the nodes start while the building is rendered
        truth = _recording(out / f'building_{args.seed}', args.seed)
        how, through = 'read as fast as this machine can', 'without ROS'
        if not isinstance(graph, DemoAlone):
            how, through = f'played at {args.rate:g} times real speed', 'through ROS'
            _say('the nodes load their models')
        graph.bring_up()
        seconds = (truth.end_ns - truth.start_ns) / NS
        _say(f'the robot remembers its tour: {seconds:.0f} s, {how}')
        with progress('memories', unit='') as show:
            graph.play(out / f'building_{args.seed}' / 'bag', args.rate, show)
        memories = sorted(graph.memories, key=lambda memory: memory.start_ns)
        now_ns = truth.end_ns
        here = truth.segments[-1].pose
        results: list[dict[str, Any]] = []
        found: dict[str, Sequence[Hit]] = {}
        goal: StampedPose | None = None
        for asked in questions(truth):
            question = Question(asked.text, now_ns, here)
            answer, published = graph.ask(question, asked.navigate)
            right = is_right(asked, answer, truth)
            goal = published or goal
            found[asked.text] = answer.evidence[:5]
            print(f'\nQ: {asked.text}\nA: {answer_lines(question, answer)}')
            if published:
                at = published.pose
                print(f'  goal      ({at.x:.1f}, {at.y:.1f}), facing {math.degrees(at.yaw):.0f} degrees')
            print(f'  truth     {"right" if right else "WRONG"}')
            more = {'goal': _goal_json(published), 'signs': asked.texts, 'right': right}
            results.append({**answer_json(question, answer), **more})
    count = sum(result['right'] for result in results)
    track = [segment.pose.position for segment in truth.segments]
    building = generate_building(args.seed)
    floor_map = write_floor_map(out, building)
    title = f'What the robot remembers ({len(memories)} memories)'
    draw_plan(out / 'map.png', building, track, memories, found, goal.pose if goal else None, title)
    summary = {
        'planner': results[0]['planner'],
        'seed': args.seed,
        'truth': str(out / f'building_{args.seed}' / 'truth.json'),
        'memories': len(memories),
        'right': count,
        'answers': results,
    }
    (out / 'answers.json').write_text(json.dumps(summary, indent=2, ensure_ascii=False) + '\n')
    print(
        f'\n{count} of {len(results)} answers are right ({through}, planner {summary["planner"]}), '
        f'{time.monotonic() - began:.0f} s in all. See {out / "map.png"} and {out / "answers.json"}.'
    )
    # As it was called: make demo calls it where it is installed.
    web = f'{sys.argv[0]} web --memory {database} --map-file {floor_map}'
    print(f'To look at it on http://127.0.0.1:8765/: {web}')
    config = config_from_environment(AgentConfig())
    if not (config.llm or config.llm_url):
        print('For a language model: OPENAI_API_KEY, or REMEMBR_LLM_URL and REMEMBR_LLM (Ollama, vLLM, ...).')
    return 0 if count >= len(results) - 1 else 1


def questions(truth: RecordingTruth) -> list[DemoQuestion]:
    """Return five questions about a building: a room, a way, a time, something to read, something absent.

    :raises RemembrError: the building has too few signs that could be read
    """
    signs = [sign for sign in truth.signs if sign.readable]
    texts = [sign.text for sign in signs]
    rooms = [text for text in texts if text.startswith('ROOM')]
    once = [text for text in texts if texts.count(text) == 1 and text not in rooms]
    if not rooms or len(once) < 3:
        raise RemembrError('the tour shows too few signs; try another --seed')
    preferred = ['CAFETERIA', 'LIFT', 'PRINTER']
    drive, when, read = sorted(once, key=lambda text: text not in preferred)[:3]
    return [
        DemoQuestion(f'Where is {rooms[len(rooms) // 2]}?', Kind.POSITION, (rooms[len(rooms) // 2],)),
        DemoQuestion(f'Take me to the {drive.lower()}.', Kind.POSITION, (drive,), navigate=True),
        DemoQuestion(f'When did you see the {when.lower()}?', Kind.TIME, (when,)),
        DemoQuestion(f'What can be read near the {read.lower()}?', Kind.TEXT, (read,)),
        DemoQuestion('Where is the swimming pool?', Kind.NOT_SEEN, ()),
    ]


def is_right(asked: DemoQuestion, answer: Answer, truth: RecordingTruth) -> bool:
    """Tell whether an answer agrees with what is true."""
    if answer.kind is not asked.kind:
        return False
    signs = [sign for sign in truth.signs if sign.text in asked.texts]
    if asked.kind is Kind.POSITION:
        pose = answer.pose
        return pose is not None and any(_seen_from(sign, pose) <= NEAR_M for sign in signs)
    if asked.kind is Kind.TIME:
        time_ns = answer.time_ns
        return time_ns is not None and any(_seen_at(sign, time_ns) <= SOON_S for sign in signs)
    if asked.kind is Kind.TEXT:
        return all(text.lower() in answer.text.lower() for text in asked.texts)
    return True


def _seen_from(sign: SignTruth, pose: Pose) -> float:
    """Return how far a pose lies from the nearest one from which a sign is readable [m]."""
    poses = [view_pose for view in sign.readable for view_pose in view.poses]
    return min((distance(pose.position, p.position) for p in poses), default=math.inf)


def _seen_at(sign: SignTruth, time_ns: int) -> float:
    """Return how far a time lies from the nearest one at which a sign is readable [s]."""
    return min(
        (max(view.start_ns - time_ns, time_ns - view.end_ns, 0) / NS for view in sign.readable),
        default=math.inf,
    )


def _graph(out: Path, database: Path) -> 'DemoGraph | DemoAlone':
    try:
        from remembr_bench.demo.graph import DemoGraph
    except ImportError as error:
        _say(f'without ROS 2 and remembr_msgs ({error}) the recording is read here, not played to nodes')
        return DemoAlone(database)
    return DemoGraph(out / 'logs', database)


def _recording(folder: Path, seed: int) -> RecordingTruth:
    """Return the truth of the recording in the folder; render it if this version has not done so before."""
    done = folder / 'rendered_by'
    if done.exists() and done.read_text() == __version__:
        _say(f'the building is rendered already: {folder}')
        return load_truth(folder)
    _say('a building is rendered, and a robot drives through it')
    with progress('frames', unit='') as show:
        truth = record_building(folder, seed, progress=show)
    done.write_text(__version__)
    return truth


def remove_earlier(database: Path) -> None:
    """Remove the memory of an earlier demo, which such a mark lies beside; the next one finds it.

    :raises InvalidRequest: there is a memory that no demo made; it stays
    """
    mark = database.with_name(f'{database.name}.of_demo')
    existing = [old for old in (database, Path(f'{database}.keyframes')) if old.exists() or old.is_symlink()]
    if existing and not mark.exists():
        raise InvalidRequest(
            f'{existing[0]} is of no demo, and would be deleted; choose another --out, or move it away'
        )
    for old in existing:
        shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
    mark.touch()


def _goal_json(goal: StampedPose | None) -> dict[str, Any] | None:
    if goal is None:
        return None
    return {'frame_id': goal.frame_id, 'position': list(goal.pose.position), 'yaw': goal.pose.yaw}


def _say(text: str) -> None:
    print(text, file=sys.stderr)
