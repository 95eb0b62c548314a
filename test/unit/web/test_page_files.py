"""The files of the page: nothing that its policy forbids, nothing missing, nothing foreign, and small."""

import gzip
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import remembr_ros

PAGE = Path(remembr_ros.__file__).parent / 'web' / 'page'
FILES = sorted(path for path in PAGE.iterdir() if path.is_file())
SCRIPTS = [path for path in FILES if path.suffix == '.js']

FORBIDDEN = re.compile(
    r'\.(inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\b'
    r'|createContextualFragment|\bjavascript:|DOMParser|srcdoc|setAttribute\(.style'
)
"""What would make text of a memory into HTML, or run text as a script."""

MOST_BYTES = 75_000  # compressed, with the types of its code in JSDoc
MOST_LINES = 320


class _Index(HTMLParser):
    """Collects what index.html refers to, and what a policy without exceptions refuses."""

    def __init__(self) -> None:
        super().__init__()
        self.referred: list[str] = []
        self.preloaded: list[str] = []
        self.refused: list[str] = []
        self.ids: list[str] = []
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self._in_script = tag == 'script'
        self.refused += [f'{tag} {name}' for name in found if name == 'style' or name.startswith('on')]
        if tag == 'style':
            self.refused.append(tag)
        if tag in ('script', 'link', 'img'):
            self.referred.append(found.get('src') or found.get('href') or '')
        if found.get('rel') == 'modulepreload':
            self.preloaded.append(found.get('href') or '')
        if found.get('id'):
            self.ids.append(found['id'] or '')

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script and data.strip():
            self.refused.append(f'script {data.strip()[:40]}')


@pytest.fixture(name='index', scope='module')
def read_index() -> _Index:
    index = _Index()
    index.feed((PAGE / 'index.html').read_text())
    return index


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_nothing_makes_html_or_code_of_text(path: Path) -> None:
    assert FORBIDDEN.findall(path.read_text()) == []


@pytest.mark.parametrize(
    'text',
    [
        'a.innerHTML = b',
        'x.insertAdjacentHTML(1)',
        "eval('1')",
        'new Function(s)',
        "e.setAttribute('style', s)",
    ],
)
def test_what_is_forbidden_would_be_found(text: str) -> None:
    assert FORBIDDEN.search(text)


def test_the_index_has_nothing_inline(index: _Index) -> None:
    assert index.refused == []


def test_every_id_is_used_once(index: _Index) -> None:
    assert sorted(index.ids) == sorted(set(index.ids))


def test_every_file_referred_to_is_there_and_every_file_is_referred_to(index: _Index) -> None:
    names = {path.name for path in FILES}
    from_index = {name.removeprefix('/page/') for name in index.referred}
    statement = re.compile(r"^(?:import|export) [^;]*?from '\./(.+?)';$", re.MULTILINE)
    imported = {name for path in SCRIPTS for name in statement.findall(path.read_text())}
    assert from_index | imported | {'index.html'} == names
    assert {
        name.removeprefix('/page/') for name in index.preloaded
    } == imported  # else each import waits for the one before


def test_nothing_is_loaded_from_elsewhere() -> None:
    addresses = {found for path in FILES for found in re.findall(r'https?://[^\s\'")]+', path.read_text())}
    assert addresses == {'http://www.w3.org/2000/svg'}  # a name, not an address


def test_every_icon_and_every_colour_is_defined() -> None:
    scripts = {path.name: path.read_text() for path in SCRIPTS}
    drawn = set(re.findall(r"^  (\w+): 'M", scripts['dom.js'], re.M))
    wanted = {name for text in scripts.values() for name in re.findall(r"\bicon\('(\w+)'\)", text)}
    assert wanted <= drawn
    styles = ''.join(path.read_text() for path in FILES if path.suffix == '.css')
    assert set(re.findall(r'var\(--([\w-]+)', styles)) <= set(re.findall(r'--([\w-]+):', styles))


@pytest.mark.parametrize('path', SCRIPTS, ids=lambda path: path.name)
def test_a_module_can_be_read_in_one_go(path: Path) -> None:
    assert len(path.read_text().splitlines()) < MOST_LINES


def test_the_page_is_small() -> None:
    assert sum(len(gzip.compress(path.read_bytes())) for path in FILES) < MOST_BYTES
