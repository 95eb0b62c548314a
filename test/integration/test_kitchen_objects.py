"""The red kitchen of 7-Scenes with a real detector: the objects that there are, and questions about them."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.cli.main import main
from remembr_ros.memory.objects.query import ObjectQuery
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import parse_time

SHARED = Path(__file__).resolve().parents[3] / 'shared/data'
KITCHEN, MODEL = SHARED / 'bags/redkitchen_rgbd', SHARED / 'models/yolox_nano.onnx'
pytestmark = pytest.mark.skipif(
    not (KITCHEN.exists() and MODEL.is_file()),
    reason='needs redkitchen_rgbd and yolox_nano.onnx of ../shared/data',
)


@pytest.fixture(scope='module')
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    memory = str(tmp_path_factory.mktemp('kitchen') / 'kitchen.db')
    labels = str(SHARED / 'models/coco_labels.txt')
    found = ('--detector', f'onnx:{MODEL}', '--labels', labels, '--depth-topic', '/camera/depth/image_raw')
    rest = ('--captioner', 'none', '--embedder', 'hashing', '--memory', memory)
    assert main(['ingest', str(KITCHEN), *found, *rest]) == 0
    with open_store(memory) as store:
        yield store


def ask(kitchen: MemoryStore, text: str) -> Answer:
    question = Question(text, parse_time('2023-11-14T22:14:30Z'))
    return OfflinePlanner().answer(question, kitchen, Run(deadline=float('inf')))


def test_each_thing_is_one_object(kitchen: MemoryStore) -> None:
    names = Counter(one.known.name for one in kitchen.find_objects(ObjectQuery()).objects)
    assert {
        name: names[name] for name in ('cup', 'chair', 'dining table', 'tv monitor', 'book', 'microwave')
    } == {
        'cup': 2,
        'chair': 3,
        'dining table': 1,
        'tv monitor': 2,
        'book': 2,
        'microwave': 1,
    }
    assert sum(names.values()) <= 14


def test_the_left_chair_is_as_large_as_a_chair_and_where_it_is(kitchen: MemoryStore) -> None:
    """Seen from above in all depth images together it goes from (-1.36, 1.27) to (-0.88, 1.97)."""
    chairs = [one.known for one in kitchen.find_objects(ObjectQuery(called='chair')).objects]
    left = min(chairs, key=lambda chair: chair.position[0])
    assert left.position[:2] == pytest.approx((-1.12, 1.62), abs=0.1)
    assert max(left.size[:2]) <= 0.65


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('Where is the mug?', r'The white cup was last seen on the dining table, one of 2: at \(.*'),
        ('How many chairs are there?', r'Chairs: 3 are known, .*'),
        ('What is on the table?', r'On the table: (?=.*2 white cups)(?=.*book).*'),
        ('What is next to the TV?', r'Next to the TV: .*tv monitor.*'),
        ('Is there a cup on the table?', r'Yes: 2 white cups are on the .*table.*'),
        ('Is there a chair on the table?', r'No: .*'),
    ],
)
def test_answers(kitchen: MemoryStore, text: str, said: str) -> None:
    assert re.fullmatch(said, ask(kitchen, text).text)
