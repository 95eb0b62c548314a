import argparse
import builtins
import json
import re
from html.parser import HTMLParser

import pytest

from remembr_bench.cli import report
from remembr_bench.evaluation.datasets.sample import Excluded
from remembr_bench.evaluation.metrics.scores import Outcome
from remembr_bench.evaluation.records.record import AnswerRecord, TruthRecord
from remembr_bench.evaluation.report.page import write_report
from remembr_bench.evaluation.report.results import results_json
from remembr_ros.agent.model.answer import Kind
from remembr_ros.errors import InvalidRequest, RemembrError

VOID = {'meta', 'br', 'link', 'img', 'hr', 'input'}
HOSTILE = (
    '</title></svg></pre><script>alert("x")</script><img src=//evil onerror=alert(1)>"\'&{{ 7*7 }}\ud800'
)


class Page(HTMLParser):
    """Checks that every tag is closed, in order; keeps the tags, the attributes and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()
        self.text = ''.join(self.said)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != 'style':
            self.said.append(f' {" ".join(data.split())}')


@pytest.fixture
def page(tmp_path):
    """Write a run, report on it, return the parsed page."""

    def make(*records, tracks=None, results=None, traces=()) -> Page:
        lines = ''.join(json.dumps(r.model_dump(mode='json')) + '\n' for r in records)
        (tmp_path / 'answers.jsonl').write_text(lines)
        (tmp_path / 'traces.jsonl').write_text(''.join(json.dumps(trace) + '\n' for trace in traces))
        if tracks is not None:
            (tmp_path / 'tracks.json').write_text(json.dumps(tracks))
        if results is not None:
            (tmp_path / 'results.json').write_text(json.dumps(results))
        return Page(write_report(tmp_path).read_text(encoding='utf-8'))

    return make


@pytest.fixture
def track(record):
    """A memory every 3 s and 10 m, the last one now."""
    now_ns = record().now_ns

    def make(n: int = 20, caption: str = 'a red fountain') -> dict:
        start = now_ns - n * 3 * 10**9
        return {
            'navqa-7': [
                {
                    'id': f'm{i}',
                    'start_ns': start + i * 3 * 10**9,
                    'end_ns': start + (i + 1) * 3 * 10**9 - 1,
                    'x': 10.0 * i,
                    'y': 5.0 * (i % 3),
                    'caption': f'{caption} {i}',
                }
                for i in range(n)
            ]
        }

    return make


@pytest.fixture
def answered(record):
    """One of each verdict, the best first."""
    text = TruthRecord(kind=Kind.TEXT, text='a blue one')
    yes = TruthRecord(kind=Kind.BINARY, binary=True)
    time = TruthRecord(kind=Kind.TIME, minutes_ago=(0.5,))
    of_time = AnswerRecord(kind=Kind.TIME, text='Then.', planner='p', minutes_ago=0.9, evidence=('m3',))
    missing = AnswerRecord(kind=Kind.NOT_SEEN, text='I have not seen it.', planner='p')
    return [
        record('right', hits=('m2', 'm4', 'm9'), relevant=('m4',), rank=2),
        record('later', truth=time, answer=of_time, error=0.4),
        record('text', truth=text, outcome=Outcome.UNSCORED, correct=None, error=None, token_f1=0.25),
        record('unseen', truth=yes, answer=missing, outcome=Outcome.NOT_SEEN, correct=False, error=None),
        record('near', correct=False, error=16.0, length='LONG', history_sec=900.0),
        record('far', correct=False, error=150.0, length='LONG', history_sec=900.0),
        record(
            'none',
            answer=None,
            outcome=Outcome.FAILED,
            correct=False,
            error=None,
            failure='ChatUnavailable: x',
        ),
    ]


def test_it_contains_what_it_must(page, answered, track):
    told = {'planner': 'offline', 'data': 'navqa 7', 'embedder': 'hashing-256'}
    recall = {'by': 'text', 'asked': 'the fountain', 'hits': [['m3', 0.5]]}
    trace = {'sequence': 'navqa-7', 'id': 'right', 'seed': 0, 'recalls': [recall], 'chat': []}
    found = page(*answered, tracks=track(), results=results_json(answered, (), **told), traces=[trace])
    for words in (
        'offline on navqa 7',
        'embedder hashing-256',
        '0.33 (2/6)',
        'recalled by text the fountain: 1 memories',
        'Positional error [m]',
        '57.0 ± 80.7 (n=3)',
        'Per kind of answer',
        'not seen',
        'recall@5',
        'latency [s]',
        'Where is right?',
        'ChatUnavailable: x',
        'I have not seen it.',
        'cited evidence',
        'a red fountain 3',
        '2 of 3 found with the raw question',
        'token F1 0.25',
    ):
        assert words in found.text, words
    assert 'results.json' not in found.text


def test_the_worst_comes_first(page, answered):
    found = page(*answered)
    order = [
        found.text.index(f'Where is {name}?') for name in ('none', 'far', 'near', 'unseen', 'text', 'later')
    ]
    assert order == sorted(order)
    assert found.text.index('Where is right?') > order[-2]


def test_it_needs_nothing_else(page, answered, track, tmp_path):
    found = page(*answered, tracks=track())
    for name, value in found.attributes:
        assert not name.startswith('on')
        assert name != 'src'
        if name == 'href':
            assert value.startswith('#')
    assert not {'script', 'link', 'img', 'iframe', 'object'} & set(found.tags)
    style = re.findall(r'<style>.*?</style>', (tmp_path / 'report.html').read_text(), re.DOTALL)
    assert len(style) == 1
    assert 'url(' not in style[0]
    ids = [value for name, value in found.attributes if name == 'id']
    assert len(ids) == len(set(ids))
    assert {value[1:] for name, value in found.attributes if name == 'href'} <= set(ids)


def test_hostile_text_is_only_text(page, record, track):
    answer = AnswerRecord(
        kind=Kind.POSITION, text=HOSTILE, planner=HOSTILE, position=(43.0, 14.0, 0.0), evidence=('m3',)
    )
    fields = {
        'question': HOSTILE,
        'answer': answer,
        'verdict': HOSTILE,
        'failure': HOSTILE,
        'hits': ('m3', HOSTILE),
        'length': HOSTILE,
    }
    # model_validate, as pydantic's JSON refuses the half character that json takes
    records = [record(HOSTILE, **fields), record('two', **fields)]
    excluded = [Excluded(HOSTILE, HOSTILE, HOSTILE)]
    results = results_json(records, excluded, planner=HOSTILE, data=HOSTILE, embedder=HOSTILE)
    found = page(*records, tracks=track(caption=HOSTILE), results=results)
    assert not {'script', 'img'} & set(found.tags)
    assert not [name for name, _ in found.attributes if name.startswith('on')]
    assert '{{ 7*7 }}' in found.text
    assert found.text.count('<script>alert("x")</script>') >= 10


def test_no_questions(page):
    found = page()
    assert 'There are none.' in found.text
    assert 'cut off' in found.text


def test_every_question_failed(page, record, track):
    failed = {
        'answer': None,
        'outcome': Outcome.FAILED,
        'correct': False,
        'error': None,
        'failure': 'no server',
    }
    found = page(record('x', **failed), record('y', **failed), tracks=track())
    assert '0.00 (0/2)' in found.text
    assert found.text.count('no server') == 2


def test_without_tracks_there_are_no_maps(page, answered):
    nowhere = [r.model_copy(update={'here': None}) for r in answered if r.id in {'later', 'unseen'}]
    found = page(*nowhere)
    assert 'Where is later?' in found.text
    assert ('class', 'map') not in found.attributes


def test_seeds_stand_under_one_question(page, record):
    seeds = [record('x', seed=seed, correct=seed > 0, error=100.0 - 40 * seed) for seed in range(3)]
    found = page(*seeds)
    assert found.text.count('Where is x?') == 1
    assert '2 of 3 seeds right' in found.text
    for error in ('100.0 m', '60.0 m', '20.0 m'):
        assert error in found.text
    # One question, however often it is asked: the interval of 2/3 of 1.
    assert '0.67 to 0.67' in found.text


def test_the_same_run_gives_the_same_page(page, answered, track, tmp_path):
    page(*answered, tracks=track())
    first = (tmp_path / 'report.html').read_bytes()
    write_report(tmp_path)
    assert (tmp_path / 'report.html').read_bytes() == first


def test_a_large_run_stays_small(page, record, track, tmp_path):
    long = {'hits': tuple(f'm{i}' for i in range(15)), 'rank': 12}
    long['window_ns'] = (0, record().now_ns)
    page(*(record(f'q{i}', **long) for i in range(90)), tracks=track(600, 'word ' * 300))
    assert (tmp_path / 'report.html').stat().st_size < 4_000_000


def test_the_command_says_where_it_is(page, record, tmp_path, capsys):
    page(record('x'))
    parser = argparse.ArgumentParser()
    report.add_arguments(parser)
    assert report.run(parser.parse_args([str(tmp_path)])) == 0
    assert capsys.readouterr().out == f'{tmp_path / "report.html"}\n'


def test_no_run(tmp_path):
    with pytest.raises(InvalidRequest, match='holds no run'):
        write_report(tmp_path)


def test_a_page_that_cannot_be_written(page, record, tmp_path):
    page(record('x'))
    (tmp_path / 'report.html').unlink()
    (tmp_path / 'report.html').mkdir()
    with pytest.raises(InvalidRequest, match='cannot be written'):
        write_report(tmp_path)


def test_without_the_extra_it_says_what_to_install(page, record, tmp_path, monkeypatch):
    page(record('x'))
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith('jinja2'):
            raise ModuleNotFoundError(f'No module named {name!r}')
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, '__import__', without)
    with pytest.raises(RemembrError, match='pip install jinja2'):
        write_report(tmp_path)
