"""Upstream's own files and folders, and memories that cover a part of a question's window."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from remembr_bench.evaluation.datasets.navqa import CAPTIONS, load_captions, load_navqa
from remembr_bench.evaluation.datasets.navqa_table import OC_NAVQA, find_sequences
from remembr_bench.evaluation.datasets.sample import Sequence
from remembr_bench.evaluation.records.config import RunConfig
from remembr_bench.evaluation.run import loading
from remembr_ros.cli.main import main
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import BagUnreadable
from test.unit.evaluation import upstream
from test.unit.evaluation.upstream import as_upstream

REAL = Path(__file__).resolve().parents[5] / '../shared/data/navqa'
WINDOWS = (
    'navqa/{}/qa_unfilled.json',
    'questions/{}/qa_unfilled.json',
    'questions/{}/human_unfilled_qa.json',
)


def loaded(folder: Path, number: int, captions: str) -> Sequence:
    (sequence,) = loading.load(
        RunConfig(folder=str(folder), sequences=(number,), captions=captions), Path(), HashingEmbedder(64)
    )
    return sequence


def as_ours(sequence: Sequence) -> Sequence:
    """Return a sequence without the name of the file that it is of."""
    return replace(sequence, memories=tuple(replace(m, captioner=CAPTIONS) for m in sequence.memories))


@pytest.mark.parametrize('windows', WINDOWS)
@pytest.mark.parametrize('inner', ['', 'navqa'])
def test_upstreams_folders_hold_the_same(navqa, clock, tmp_path, windows, inner):
    for kind in ('position', 'time'):
        navqa.ask('Where?', kind, clock(4), window=(2, 9))
    data = as_upstream(navqa.write(), 7, CAPTIONS, tmp_path / 'upstream', windows.format(7))
    assert find_sequences(data / inner) == [7]
    assert as_ours(loaded(data / inner, 7, upstream.CAPTIONS)) == loaded(navqa.path, 7, CAPTIONS)
    with pytest.raises(
        BagUnreadable, match=r'name a captions file with --captions \(there: captions_VILA1.5'
    ):
        load_captions(data / inner, 7)


@pytest.mark.skipif(not REAL.exists(), reason='needs the data set of shared/data/navqa')
def test_the_first_real_sequence_has_the_same_figures_in_upstreams_format(tmp_path, capsys):
    data = as_upstream(REAL, 0, CAPTIONS, tmp_path, 'questions/0/human_unfilled_qa.json')
    figures = []
    for folder, captions in ((REAL, CAPTIONS), (data, upstream.CAPTIONS)):
        options = ('--data', str(folder), '--captions', captions, '--sequences', '0', '--embedder', 'hashing')
        assert main(['eval', 'navqa', *options, '--json']) == 0
        figures.append(json.loads(capsys.readouterr().out))
        del figures[-1]['cost'], figures[-1]['data']
    assert figures[0] == figures[1]
    assert figures[0]['questions'] == 30


def cut(navqa, first: int, last: int) -> Sequence:
    """Return what can be asked of a memory that covers the segments from first to last."""
    segments = load_captions(navqa.write(), 7)[first : last + 1]
    return load_navqa(navqa.path, 7, segments)


def test_what_is_not_covered_is_told_and_not_asked(navqa, clock):
    inside = navqa.ask('Where?', 'position', clock(6))
    before = navqa.ask('Where is it?', 'position', clock(2))
    after = navqa.ask('Was it there?', 'binary', clock(14), parsable='yes')
    either = navqa.ask('When?', 'time', f'{clock(14)},{clock(7)}')
    partly = navqa.ask('How long?', 'duration', f'{clock(7)},{clock(14)}', parsable='0.5')
    sequence = cut(navqa, 5, 9)
    assert [sample.id for sample in sequence.samples] == [inside, either]
    assert [row.id for row in sequence.excluded] == [before, after, partly]
    assert all('not covered: nothing is remembered around 8:00:' in row.reason for row in sequence.excluded)
    place, time = (sample.truth for sample in sequence.samples)
    assert place.positions == ((60.0, 1.0, 0.0),)
    assert len(time.times_ns) == 1, 'the other one cannot be known'


def test_beside_the_last_segment_is_still_covered(navqa, clock):
    navqa.ask('Where?', 'position', clock(10))
    assert cut(navqa, 5, 9).samples[0].truth.positions == ((90.0, 1.0, 0.0),), 'less than a segment away'
    assert 'not covered' in cut(navqa, 5, 8).excluded[0].reason
    assert cut(navqa, 11, 15).samples[0].truth.positions == ((110.0, 1.0, 0.0),)
    assert 'not covered' in cut(navqa, 12, 15).excluded[0].reason


def test_in_a_gap_the_next_segment_counts_if_it_is_near(navqa, clock):
    navqa.ask('Where?', 'position', clock(10))
    segments = load_captions(navqa.write(), 7)
    (sample,) = load_navqa(navqa.path, 7, segments[:6] + segments[11:]).samples
    assert sample.truth.positions == ((110.0, 1.0, 0.0),)
    assert not load_navqa(navqa.path, 7, segments[:6] + segments[13:]).samples


def test_where_the_asker_stands_is_not_known_beyond_what_is_remembered(navqa, clock):
    navqa.ask('Where?', 'position', clock(6))
    assert cut(navqa, 5, 9).samples[0].question.here is None
    assert cut(navqa, 5, 19).samples[0].question.here is not None


def test_corrected_positions_are_not_asked_of_what_is_not_covered(navqa, clock):
    navqa.ask('Where is the elevator?', 'position', clock(14))
    navqa.write_corrected(['[1 2 3]'], [''])
    segments = load_captions(navqa.path, 7)
    assert load_navqa(navqa.path, 7, segments, OC_NAVQA).samples
    (row,) = load_navqa(navqa.path, 7, segments[:6], OC_NAVQA).excluded
    assert 'not covered' in row.reason


def test_a_file_of_questions_without_windows_is_named(navqa, clock, tmp_path):
    navqa.ask('Where?', 'position', clock(4))
    data = as_upstream(navqa.write(), 7, CAPTIONS, tmp_path / 'upstream', 'questions/7/human_qa.json')
    assert len(loaded(data, 7, upstream.CAPTIONS).samples) == 1
    (data / 'questions/7/human_qa.json').write_text(json.dumps({'data': [{'id': 'a', 'question': 'Where?'}]}))
    with pytest.raises(BagUnreadable, match=r'human_qa\.json'):
        loaded(data, 7, upstream.CAPTIONS)
