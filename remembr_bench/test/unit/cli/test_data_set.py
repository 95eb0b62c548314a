import json
import sys

import pytest

from remembr_ros.cli.main import main
from test.unit.evaluation.originals import written as originals


@pytest.fixture
def folder(navqa, clock):
    navqa.ask('Where is the elevator?', 'position', clock(4))
    navqa.ask('Did you see a fountain?', 'binary', clock(6), parsable='Yes', length='LONG')
    navqa.ask('Where?', 'position', '23:00:00', length='LONG')
    return navqa.write()


@pytest.fixture
def without_llm(monkeypatch):
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY'):
        monkeypatch.delenv(name, raising=False)


def evaluate(folder, *options: str) -> int:
    return main(['eval', 'navqa', '--data', str(folder), '--embedder', 'hashing', *options])


def test_json_is_one_object_with_every_figure(folder, capsys):
    assert evaluate(folder, '--json') == 0
    result = json.loads(capsys.readouterr().out)
    assert (result['planner'], result['embedder'], result['questions']) == ('offline', 'hashing-256', 2)
    assert result['overall']['scored'] == 2
    assert set(result['overall']) >= {'ALL', 'SHORT', 'MEDIUM', 'LONG'}
    assert result['overall']['MEDIUM'] is None
    assert set(result['by_kind']) == {'position', 'time', 'duration', 'binary', 'text'}
    assert set(result['retrieval']) == {'recall@1', 'recall@5', 'recall@10', 'recall@15', 'mrr'}
    assert set(result['outcomes']) == {'answered', 'not_seen', 'failed', 'unscored'}
    assert result['cost']['llm_calls'] == 0
    assert [row['question'] for row in result['excluded']] == ['Where?']


def test_the_table_has_lengths_denominators_and_excluded_rows(folder, capsys):
    assert evaluate(folder) == 0
    out = capsys.readouterr().out
    for words in ('SHORT', 'MEDIUM', 'LONG', 'ALL', 'Positional error [m]', '/2)', 'excluded: LONG_2'):
        assert words in out


def test_a_stay_that_goes_on_after_a_window_tells_nothing_of_it(navqa, tmp_path, capsys):
    for caption in navqa.captions:
        caption |= {'position': [0.0, 0.0, 0.0], 'caption': 'I see a red fountain. The sky is grey.'}
    navqa.ask('When did you see the fountain?', 'time', '8:00:25', window=(5, 15))
    navqa.ask('When did you see the fountain?', 'time', '8:00:25', window=(0, 19))
    folder, out = navqa.write(), tmp_path / 'run'
    assert evaluate(folder, '--consolidation', '--planner', 'top1', '--out', str(out), '--json') == 0
    inside, whole = map(json.loads, (out / 'answers.jsonl').read_text().splitlines())
    assert (inside['memories'], whole['memories']) == (1, 3), 'before, in and after the narrower window'
    assert inside['answer']['evidence'] == inside['relevant']
    assert inside['answer']['minutes_ago'] >= -0.05, 'at most to the end of the last memory inside'


def test_out_keeps_results_answers_and_the_memory(navqa, folder, tmp_path, capsys):
    out = tmp_path / 'run' / 'one'
    assert evaluate(folder, '--out', str(out), '--sequences', '7', '--json') == 0
    printed = json.loads(capsys.readouterr().out)
    assert json.loads((out / 'results.json').read_text()) == printed
    answers = [json.loads(line) for line in (out / 'answers.jsonl').read_text().splitlines()]
    assert [a['question'] for a in answers] == ['Where is the elevator?', 'Did you see a fountain?']
    assert answers[0]['truth']['positions'] == [[40.0, 1.0, 0.0]]
    assert evaluate(folder, '--out', str(out), '--json') == 0
    again = json.loads(capsys.readouterr().out)
    assert again | {'cost': 0} == printed | {'cost': 0}
    (file,) = (out / 'memories').glob('navqa-7_*.db')
    memory = ['--memory', str(file), '--json']
    assert main(['info', *memory]) == 0
    info = json.loads(capsys.readouterr().out)
    assert (info['embedder'], info['memories']) == (printed['embedder'], len(navqa.captions))
    assert main(['ask', 'Where is the elevator?', *memory]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['kind'] == 'position'
    assert 'elevator' in told['evidence'][0]['caption']


def test_other_captions_in_the_same_folder_are_not_taken_for_those_before(folder, tmp_path, capsys):
    memories = tmp_path / 'run' / 'memories'
    assert evaluate(folder, '--out', str(memories.parent)) == 0
    (before,) = memories.glob('*.db')
    captions = (folder / '7' / 'captions_haystack_3_secs.json').read_text()
    (folder / '7' / 'mine.json').write_text(captions.replace('elevator', 'piano'))
    assert evaluate(folder, '--out', str(memories.parent), '--captions', 'mine') == 0
    (new,) = set(memories.glob('*.db')) - {before}
    for file, seen in ((before, 'elevator'), (new, 'piano')):
        capsys.readouterr()
        assert main(['recall', '--text', seen, '--limit', '1', '--memory', str(file), '--json']) == 0
        assert seen in json.loads(capsys.readouterr().out)['memories'][0]['caption']


def test_a_report_that_cannot_be_made_keeps_no_figures_back(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, 'jinja2', None)
    assert evaluate(folder, '--out', str(tmp_path / 'run'), '--json') == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)['questions'] == 2
    assert 'no report.html: a report needs jinja2' in printed.err


def test_half_a_character_in_a_caption_ends_no_run(navqa, folder, tmp_path, capsys):
    navqa.captions[4]['caption'] = 'I see an elevator \ud83d.'
    navqa.write()
    assert evaluate(folder, '--out', str(tmp_path / 'run'), '--json') == 0
    assert json.loads(capsys.readouterr().out)['questions'] == 2
    assert 'elevator ?.' in (tmp_path / 'run' / 'tracks.json').read_text()


@pytest.mark.parametrize(
    ('options', 'code', 'words'),
    [
        (['--sequences', '8'], 2, 'no sequence 8'),
        (
            ['--captions', 'mine'],
            1,
            'mine.json; name a captions file with --captions (there: captions_haystack',
        ),
        (['--planner', 'frames', '--llm', 'm'], 2, 'no frames of navqa-7'),
        (['--planner', 'agent'], 2, '--llm'),
    ],
)
@pytest.mark.usefixtures('without_llm')
def test_failures_say_what_is_wrong(folder, capsys, options, code, words):
    assert evaluate(folder, *options) == code
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.out == ''


def test_a_grid_says_which_run_failed_and_keeps_those_before_it(folder, tmp_path, capsys):
    grid, out = tmp_path / 'grid.yaml', tmp_path / 'out'
    grid.write_text(
        f'base: {{folder: {folder}, embedder: hashing}}\n'
        'grid: {captions: [captions_haystack_3_secs, mine], planner: [top1]}'
    )
    assert main(['eval', 'grid', str(grid), '--out', str(out)]) == 1
    said = capsys.readouterr().err
    assert 'captions=mine,planner=top1: there is no' in said
    assert 'the 1 runs before it are kept' in said
    assert (out / 'captions=captions_haystack_3_secs,planner=top1' / 'results.json').exists()


def test_a_folder_without_the_data_is_wrong_usage(tmp_path, capsys):
    assert evaluate(tmp_path) == 2
    assert 'data.csv' in capsys.readouterr().err


@pytest.mark.parametrize('wrong', [('--sequences', 'x'), ('--sequences', '-1'), ('--rounds', '0')])
def test_wrong_options_are_named(folder, capsys, wrong):
    assert evaluate(folder, *wrong) == 2
    assert wrong[0] in capsys.readouterr().err


def test_a_planner_that_there_is_not_is_wrong_usage(folder):
    with pytest.raises(SystemExit) as ended:
        evaluate(folder, '--planner', 'guess')
    assert ended.value.code == 2


def test_what_is_not_covered_is_printed_and_out_of_the_mean(navqa, clock, capsys):
    navqa.ask('Did you see a fountain?', 'binary', clock(6), parsable='Yes')
    navqa.ask('Did you see a statue?', 'binary', clock(14), parsable='Yes')
    navqa.write()
    navqa.captions = navqa.captions[4:10]
    navqa.write()
    assert evaluate(navqa.path) == 0
    out = capsys.readouterr().out
    assert '1 question' in out or '(1/1)' in out
    assert (
        "excluded: SHORT_1 'Did you see a statue?': not covered: nothing is remembered around 8:00:44" in out
    )


def test_the_questions_of_an_original_are_counted_and_refused_without_pictures(tmp_path, capsys):
    data = originals.openeqa(tmp_path / 'openeqa')
    (data / 'frames').rename(tmp_path / 'elsewhere')
    assert main(['eval', 'openeqa', '--data', str(data)]) == 1
    told = capsys.readouterr().err
    assert (
        '3 questions (attribute recognition 1, object localization 1, object recognition 1) of 2 episodes'
        in told
    )
    assert 'Get them: https://' in told


@pytest.mark.parametrize('name', ['navqa', 'openeqa'])
def test_help_offers_only_planners_that_are_taken(name, capsys):
    with pytest.raises(SystemExit):
        main(['eval', name, '--help'])
    shown = capsys.readouterr().out
    assert 'all_captions' in shown
    assert not [planner for planner in ('random', 'text_memory') if planner in shown]
    with pytest.raises(SystemExit):
        main(['eval', name, '--data', '.', '--planner', 'random'])


def test_captioners_are_compared_by_their_files_and_pictured_over_the_history(folder, tmp_path, capsys):
    (known,) = folder.glob('7/captions*.json')
    worse = json.loads(known.read_text())
    for row in worse:
        row['caption'] = 'I see nothing.'
    (folder / '7' / 'captions_VILA1.5-3b_3_secs.json').write_text(json.dumps(worse))
    grid = tmp_path / 'captioners.yaml'
    grid.write_text(
        f'base: {{folder: {folder}, planner: retrieval, embedder: hashing}}\n'
        f'grid: {{captions: [{known.stem}, captions_VILA1.5-3b_3_secs]}}\n'
    )
    out = tmp_path / 'grid'
    assert main(['eval', 'grid', str(grid), '--out', str(out), '--json']) == 0
    full, empty = json.loads(capsys.readouterr().out)['runs']
    assert full['settings'] == {'captions': known.stem}
    assert full['retrieval']['mrr'] > empty['retrieval']['mrr']
    assert (out / 'history.png').read_bytes().startswith(b'\x89PNG')
    assert 'VILA1.5-3b' in (out / 'grid.md').read_text()
