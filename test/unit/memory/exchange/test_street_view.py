import builtins
from pathlib import Path

import pytest

from remembr_ros.errors import BagUnreadable
from remembr_ros.memory.exchange.street_view import read_views
from remembr_ros.timestamps import NS, parse_time

pytest.importorskip('networkx', reason='graphs are read with networkx')

GRAPH = """graph [
  node [ id 0 label "0" caption "A &#34;calm&#34; road." timestamp "2023-12" position [ x -79.944 y 40.438 ] ]
  node [ id 1 label "1" caption "A park." position [ x -79.944 y 40.439 z 0.0 ] timestamp "" ]
  node [ id 2 label "2" name "an area" ]
  node [ id 3 label "3" caption "A bridge." ]
  edge [ source 0 target 1 ]
]
"""


def write(folder: Path, text: str) -> Path:
    file = folder / 'campus.gml'
    file.write_text(text)
    return file


def test_views_are_memories_placed_in_metres(tmp_path: Path) -> None:
    street, park, bridge = read_views(write(tmp_path, GRAPH))
    assert street.caption == 'A "calm" road.'
    assert (street.map_id, street.robot, street.frame_id) == ('campus', 'streetview', 'map')
    assert street.start_ns == parse_time('2023-12')
    assert street.pose is not None
    assert street.pose.position == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
    assert park.pose is not None
    assert park.pose.position == pytest.approx((0.0, 111.0, 0.0), abs=0.5)
    assert park.start_ns == 3 * NS, 'the month is not known'
    assert bridge.pose is None
    assert len({memory.id for memory in (street, park, bridge)}) == 3
    assert [street, park, bridge] == read_views(tmp_path / 'campus.gml')


@pytest.mark.parametrize('text', ['', 'graph 1', 'graph [ node 1 ]', 'graph [\n x "a\n\n"\n]'])
def test_what_is_no_graph_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BagUnreadable, match='cannot be read'):
        read_views(write(tmp_path, text))


@pytest.mark.parametrize(
    'node',
    [
        'position [ x 1.0 ]',
        'position 3',
        'position [ x "east" y 1.0 ]',
        'position [ x 1.0 y 91.0 ]',
        'timestamp "soon"',
    ],
)
def test_a_graph_of_something_else_is_refused(tmp_path: Path, node: str) -> None:
    file = write(tmp_path, f'graph [ node [ id 0 label "0" caption "A street." {node} ] ]')
    with pytest.raises(BagUnreadable, match='campus'):
        read_views(file)


def test_without_networkx_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: object) -> object:
        if name == 'networkx':
            raise ImportError(name)
        return real(name, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, '__import__', without)
    with pytest.raises(BagUnreadable, match='pip install'):
        read_views(write(tmp_path, GRAPH))
