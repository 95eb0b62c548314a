"""What a notebook is shown of what was found."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from remembr_ros import RobotMemory, open_memory
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS
from test.object_room import ROOM

T0 = 1_700_000_000 * NS
RED = np.full((48, 64, 3), (0, 0, 250), np.uint8)  # blue, green, red


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[RobotMemory]:
    path = tmp_path / 'm.db'
    with open_store(str(path), HashingEmbedder()) as store:
        seen = Memory('m0', 'anna', T0, T0 + NS, 'A <b>red</b> wall.', Pose(1.0, 2.0))
        unplaced = Memory('m1', 'anna', T0 + 5 * NS, T0 + 6 * NS, 'A door.')
        store.add([Observation(seen, (encode_jpeg(RED),)), Observation(unplaced)])
        store.add([Observation(one.memory) for one in ROOM])
    with open_memory(path) as opened:
        yield opened


def test_a_row_has_its_pictures_and_all_that_it_is_of(memory: RobotMemory) -> None:
    hits = memory.recall('red wall', source='captioner')
    (red, door) = sorted(hits, key=lambda hit: str(hit.memory.id))
    image = red.image()
    assert image.shape == RED.shape
    assert image[0, 0, 0] > 200 > image[0, 0, 2]  # red, green, blue
    assert red.jpeg().startswith(b'\xff\xd8')
    assert (red.memory.caption, red.json['caption']) == ('A <b>red</b> wall.', 'A <b>red</b> wall.')
    assert np.array_equal(memory.image('m0'), image)
    for nothing in (lambda: red.image(1), door.image, lambda: memory.image('m1'), lambda: memory.image('x')):
        with pytest.raises(InvalidRequest, match=r'pictures, none with the index|no memory'):
            nothing()


def test_a_notebook_shows_pictures_a_map_and_no_markup_of_what_was_seen(memory: RobotMemory) -> None:
    html = memory.recall(source='captioner')._repr_html_()
    assert html.count('data:image/jpeg;base64,') == 1
    assert html.count('<circle') == 1
    assert 'A &lt;b&gt;red&lt;/b&gt; wall.' in html
    assert '2023-11-14T22:13:20<' in html
    assert '<svg' not in memory.recall(source='person')._repr_html_()


def test_results_are_tables_and_the_json_of_the_command_line(memory: RobotMemory) -> None:
    found = memory.objects('cup')
    table = found.to_pandas()
    assert list(table.index) == [row.json['id'] for row in found] == [row.known.id for row in found]
    assert str(table.last_seen.dtype).startswith('datetime64')
    assert tuple(table.iloc[0][['x', 'y', 'z']]) == found[0].known.position
    assert found.to_json() == {'objects': [row.json for row in found], 'total': found.total}
    assert (len(memory.objects(limit=1)), memory.objects(limit=1).total) == (1, len(ROOM))
    assert memory.recall(source='captioner').to_pandas().x.isna().tolist() == [True, False]
    assert [one.known.id for one in found[:1]] == [found[0].known.id]
    assert memory.deeds('pick').to_pandas().empty
