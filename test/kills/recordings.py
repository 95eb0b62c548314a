"""The verbs that read what a robot saw and did; each with a memory of its own."""

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from remembr_ros.cli import object_options
from remembr_ros.cli.verbs import ingest
from remembr_ros.events.recorded import RecordedDeeds
from remembr_ros.forms.events import EventForm
from remembr_ros.forms.fields import Nanoseconds
from remembr_ros.images import Bgr
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.opening import open_store
from remembr_ros.objects.detectors.by_name import get_detector
from remembr_ros.objects.detectors.detection import Detection
from remembr_ros.objects.recorded_views import RecordedViews
from test.kills.verbs import EMBEDDER, NS, START_NS, Verb, cli, look
from test.kills.verbs import VERBS as OTHERS

SHARED = Path(__file__).resolve().parents[3] / 'shared/data'
KITCHEN, MODEL = SHARED / 'bags/redkitchen_rgbd', SHARED / 'models/yolox_nano.onnx'
DEPTHS = '/camera/depth/image_raw'
HOME_SEED, RATE_HZ, ERRORS = 11, 1.0, ',misses=0.2,flipped=0.1,box_px=1.5'
"""Of the simulated home, its camera and its detector."""

_INGEST = ('--depth-topic', DEPTHS, '--captioner', 'none', '--embedder', EMBEDDER)


def _empty(root: Path) -> Path:
    """Make a memory without memories; return the folder for inputs."""
    with open_store(str(root / 'm' / 'memory.db'), EMBEDDER):
        inputs = root / 'inputs'
        inputs.mkdir()
        return inputs


class _FoundBefore:
    """A detector that finds in each image what it is told that there is."""

    name = 'found before'

    def __init__(self, path: Path) -> None:
        self._found = json.loads(path.read_text())

    def detect(self, _: Bgr, stamp_ns: int, camera: str = '') -> list[Detection]:
        found = self._found.get(str(stamp_ns), [])
        return [Detection(stamp_ns, camera, tuple(box), scores) for box, scores in found]

    def close(self) -> None:
        """Nothing is to be closed."""


def _find_in_kitchen(root: Path) -> None:
    """Look at the kitchen once with the detector, which takes most of the time."""
    detector, found = get_detector(f'onnx:{MODEL}', str(SHARED / 'models/coco_labels.txt')), {}
    for view in RecordedViews(KITCHEN, None, DEPTHS):
        things = detector.detect(view.image, view.stamp_ns)
        found[view.stamp_ns] = [(one.box, dict(one.scores)) for one in things]
    (_empty(root) / 'found.json').write_text(json.dumps(found))


def _with_deeds(names: tuple[str, ...], act: Callable[[Path, Path], int]) -> Callable[[Path, Path], int]:
    """Return an ingest of a recording that tells of a deed with each of these things, too."""

    class Deeds(RecordedDeeds):
        def end(self, robot: str) -> list[Memory]:
            at = [self._recording.start_ns // NS + 10 + 2 * number for number in range(len(names))]
            told = [
                EventForm(kind='pick', object=name, begin=Nanoseconds(s * NS)).deed()
                for name, s in zip(names, at, strict=True)
            ]
            return [*super().end(robot), *(deed.memory(robot) for deed in told)]

    def acted(folder: Path, inputs: Path) -> int:
        ingest.RecordedDeeds = Deeds  # type: ignore[misc]
        return act(folder, inputs)

    return acted


def _kitchen(folder: Path, inputs: Path) -> int:
    object_options.get_detector = lambda *_: _FoundBefore(inputs / 'found.json')
    return cli('ingest', str(KITCHEN), '--detector', 'found before', *_INGEST)(folder, inputs)


def _visit(number: int) -> Callable[[Path, Path], int]:
    detector = f'simulation:INPUTS/{number}{ERRORS}'
    return cli('ingest', f'INPUTS/{number}/bag', '--detector', detector, *_INGEST)


def _record_home(root: Path) -> None:
    """Record a home on two visits, and ingest the first."""
    from remembr_bench.simulation.homes.home_bag import record_home
    from remembr_bench.simulation.homes.layout import generate_home

    inputs, home = _empty(root), generate_home(HOME_SEED, 2)
    for number, visit in enumerate(home.visits):
        record_home(inputs / str(number), replace(home, visits=(visit,)), RATE_HZ, 0.02, 0.5)
    assert _visit(0)(root / 'm', inputs) == 0


def _tell_deeds(root: Path) -> None:
    """Look at a few things, and tell what was done to them, in and out of order, and of a patrol."""
    inputs = _empty(root)
    with open_store(str(root / 'm' / 'memory.db'), EMBEDDER) as store:
        look(store)
    lines: list[dict[str, Any]] = []
    for number in range(60):
        begin = START_NS // NS + 20_000 + 7 * (number if number % 5 else 60 - number)
        thing = ('mug', 'bowl', 'vase', 'book', 'clock')[number % 4 if number < 40 else number % 5]
        kind = ('pick', 'place', 'go', 'open', 'close')[number * 3 % 5]
        about = {'place': 'kitchen', 'position': [1, 2, 0]} if kind == 'go' else {'object': thing}
        lines.append({'kind': kind, 'begin': str(begin), 'end': str(begin + 3), **about})
    (inputs / 'deeds.jsonl').write_text('\n'.join(map(json.dumps, lines)))


VERBS = OTHERS | {
    'ingest a kitchen': Verb(
        _with_deeds(('cup', 'microwave', 'book'), _kitchen),
        'remembered as',
        prepare=_find_in_kitchen,
        needs='' if KITCHEN.exists() and MODEL.is_file() else 'redkitchen_rgbd and yolox_nano.onnx',
    ),
    'ingest a visit': Verb(
        _with_deeds(('table', 'sofa', 'fridge', 'mug', 'vase'), _visit(1)),
        'remembered as',
        prepare=_record_home,
        needs='' if find_spec('remembr_bench') and find_spec('pyvista') else 'remembr_bench and pyvista',
    ),
    'event': Verb(cli('event', '--file', 'INPUTS/deeds.jsonl'), 'deeds remembered', prepare=_tell_deeds),
}
