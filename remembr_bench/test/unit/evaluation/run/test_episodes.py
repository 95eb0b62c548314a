import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembr_bench.evaluation.records.config import run_config
from remembr_bench.evaluation.report.page import write_report
from remembr_bench.evaluation.report.results import results_json
from remembr_bench.evaluation.report.run_tables import tables
from remembr_bench.evaluation.run.episodes import load_episodes, original
from remembr_bench.evaluation.run.execution import Execution, carry_out
from remembr_ros.errors import BagUnreadable, InvalidRequest
from test.scripted.server import ScriptedReply, ScriptedServer
from test.unit.evaluation.originals import written as originals

MAKERS: dict[str, Callable[[Path], Path]] = {
    'openeqa': originals.openeqa,
    'findingdory-hub': originals.findingdory,
    'infini-thor': originals.infini_thor,
    'env-qa': originals.env_qa,
    'vq3d': originals.vq3d,
}


@pytest.fixture(autouse=True)
def _colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        'remembr_bench.evaluation.run.recordings.get_captioner', lambda *_, **__: originals.ColourCaptioner()
    )


def _run(tmp_path: Path, data: str, **values: Any) -> tuple[Any, dict[str, Any]]:
    folder = MAKERS[data](tmp_path / data)
    config = run_config(data=data, folder=str(folder), embedder='hashing', **values)
    return carry_out(config, Execution(cache=tmp_path / 'cache', out=tmp_path / 'out'))


def _answers(tmp_path: Path) -> dict[str, Any]:
    rows = map(json.loads, (tmp_path / 'out/answers.jsonl').read_text().splitlines())
    return {row['id']: row for row in rows}


def test_openeqa_is_marked_from_1_to_5_by_a_judge_that_is_told_all_right_answers(tmp_path: Path):
    def reply(body: dict[str, Any]) -> ScriptedReply:
        asked = json.loads(body['messages'][-1]['content'])
        return ScriptedReply(json.dumps({'mark': 5 if 'also_right' in asked else 3, 'reason': 'so'}))

    with ScriptedServer(reply) as server:
        _, results = _run(tmp_path, 'openeqa', judge='judge', judge_url=server.url)
        asked = [json.loads(request.body['messages'][-1]['content']) for request in server.requests]
    assert [one['reference'] for one in asked] == ['Red', 'Yes']
    assert asked[1]['also_right'] == ['Yes, there is', 'there is one']
    overall = results['overall']
    assert (overall['n'], overall['mark'], overall['llm_match']) == (2, 4.0, 0.75)
    assert results['by_category']['object recognition']['llm_match'] == 1.0
    assert set(results['by_history']) == {'hm3d'}
    assert [row['reason'].startswith('there is no ') for row in results['excluded']] == [True], 'ScanNet'
    text = '\n'.join(table.text() for table in tables([], results))
    assert 'LLM-Match' in text
    assert 'attribute recognition' in text


def test_without_a_judge_nothing_of_openeqa_is_marked(tmp_path: Path):
    records, results = _run(tmp_path, 'openeqa')
    assert {record.outcome.value for record in records} <= {'unscored', 'not_seen'}
    assert not any(record.figures for record in records)
    text = '\n'.join(table.text() for table in tables(records, results))
    assert 'LLM-Match' not in text
    assert '95 %' not in text.partition('Cost')[0]
    assert results['outcomes']['unscored'] >= 1


def test_an_episode_has_the_pictures_and_poses_of_its_folder_and_no_depth(tmp_path: Path):
    folder = originals.openeqa(tmp_path / 'openeqa')
    config = run_config(data='openeqa', folder=str(folder))
    (sequence,) = load_episodes(config, tmp_path, lambda *_: None)
    assert [memory.caption for memory in sequence.memories] == ['I see a red wall.', 'I see a green wall.']
    first, second = (memory.pose for memory in sequence.memories)
    assert first is not None
    assert second is not None
    assert second.x - first.x == pytest.approx(3.0)
    assert not sequence.images, 'only frames are looked at'


def test_findingdory_answers_are_frames_of_the_video_and_figures_by_category_and_interactions(tmp_path: Path):
    _, results = _run(tmp_path, 'findingdory-hub')
    answers = _answers(tmp_path)
    assert answers['task_1-0']['figures'] == {'exact': 0.0, 'relaxed': 1.0}
    assert answers['task_1-1']['figures']['relaxed'] == 0.0, 'the blue wall is in other frames'
    assert answers['task_50-2']['figures']['relaxed'] == 0.0, 'one place of two'
    assert set(results['by_category']) == {'Object Recall', 'Unordered Revisitation'}
    assert results['by_interactions']['03']['n'] == 3
    assert results['by_category']['Object Recall']['relaxed'] == 0.5
    assert [row['id'] for row in results['excluded']] == ['task_2-3']
    assert results['retrieval']['recall@15'] is not None


@pytest.mark.parametrize('end', ['csv', 'json', 'jsonl'])
def test_findingdory_is_read_from_other_tables_too(tmp_path: Path, end: str):
    folder = originals.findingdory(tmp_path / 'hub', end)
    (footage,) = original(run_config(data='findingdory-hub', folder=str(folder))).episodes
    assert [asked.id for asked in footage.asked] == ['task_1-0', 'task_1-1', 'task_50-2']
    assert footage.pictures.is_file()


def test_of_a_video_that_is_subsampled_frames_keep_their_numbers(tmp_path: Path):
    folder = originals.findingdory(tmp_path / 'hub')
    for subsample, numbers in ((None, [*range(12)]), (4, [0, 4, 7, 11])):
        config = run_config(data='findingdory-hub', folder=str(folder), subsample=subsample)
        (sequence,) = load_episodes(config, tmp_path, lambda *_: None)
        assert list(sequence.trial.frames.values()) == numbers
        assert [memory.pose.x for memory in sequence.memories] == numbers, 'on a line: nobody knows where'
        places = {memory.id: frame for memory, frame in zip(sequence.memories, numbers, strict=True)}
        assert {places[one] for one in sequence.samples[0].relevant} == {3, 4, 5} & {*numbers}


def test_infinity_thor_is_told_by_type_depth_clues_and_length(tmp_path: Path):
    _, results = _run(tmp_path, 'infini-thor')
    assert results['by_clues'] == {
        'single': {**results['by_clues']['single'], 'n': 2},
        'several': {**results['by_clues']['several'], 'n': 1},
    }
    assert {name: found['n'] for name, found in results['by_depth'].items()} == {
        '0.0-0.2': 1,
        '0.4-0.6': 1,
        '0.8-1.0': 1,
    }
    assert set(results['by_length']) == {'to 32k'}
    assert results['by_cell']['to 32k']['0.4-0.6']['named'] == 1.0, 'yes, a green wall'
    assert {'yes or no', 'what'} == set(results['by_category'])
    (row,) = results['excluded']
    assert '[12] is not among 10 pictures' in row['reason']


def test_trajectories_with_other_pictures_than_their_metadata_tells_are_excluded(tmp_path: Path):
    folder = originals.infini_thor(tmp_path / 'thor')
    (folder / 'metadata/t1/metadata.json').write_text('{"img_idx": [0, 1]}')
    found = original(run_config(data='infini-thor', folder=str(folder)))
    assert not found.episodes
    assert all('metadata.json tells of others' in row.reason for row in found.excluded)


def test_env_qa_compares_words(tmp_path: Path):
    _, results = _run(tmp_path, 'env-qa')
    assert set(results['by_category']) == {'is', 'what'}
    assert _answers(tmp_path)['1']['figures'] == {'f1': 1.0}
    assert results['by_category']['is']['f1'] == 1.0


def test_vq3d_places_frames_in_the_world_of_the_annotations(tmp_path: Path):
    records, results = _run(tmp_path, 'vq3d')
    (record,) = records
    # Boxes at (0, 2, 0) and (0.2, 2, 0) are at (2, 0, 0) and (2, -0.2, 0) in the world of the poses.
    assert record.truth.positions == ((2.0, 0.0, 0.0),)
    assert record.figures['success'] == 1.0
    assert record.figures['l2_m'] == pytest.approx(abs(2.0 - record.answer.position[0]), abs=1e-6)
    assert 1.0 <= record.answer.position[0] <= 1.9, 'where the wall was green'
    assert next(row['reason'] for row in results['excluded']).startswith('it tells no title')


def test_without_pictures_the_questions_are_counted_and_refused_with_where_to_get_them(tmp_path: Path):
    folder = originals.openeqa(tmp_path / 'openeqa')
    (folder / 'frames').rename(tmp_path / 'elsewhere')
    config = run_config(data='openeqa', folder=str(folder))
    with pytest.raises(
        BagUnreadable, match=r'3 questions \(attribute recognition 1.*no pictures.*Get them: https'
    ):
        load_episodes(config, tmp_path, lambda *_: None)


def test_only_episodes_that_are_there_can_be_wanted(tmp_path: Path):
    folder = originals.openeqa(tmp_path / 'openeqa')
    wanted = run_config(data='openeqa', folder=str(folder), episodes=('hm3d-v0-000-hm3d-AAAA',))
    (footage,) = original(wanted).episodes
    assert len(footage.asked) == 2
    with pytest.raises(InvalidRequest, match="no episode 'nothing'"):
        original(run_config(data='openeqa', folder=str(folder), episodes=('nothing',)))


@pytest.mark.parametrize('data', [*MAKERS])
@pytest.mark.parametrize('content', ['', '[]', '{"a": 1}', '[{"a": 1}]', 'traj_id\n1', '\0'])
def test_files_that_are_something_else_are_refused_with_their_name(tmp_path: Path, data: str, content: str):
    names = {'openeqa': 'open-eqa-v0.json', 'findingdory-hub': 'validation.json', 'vq3d': 'vq3d_val.json'}
    name = names.get(data, 'qa_set_nieh_single_clue.csv' if data == 'infini-thor' else 'test_question.json')
    with pytest.raises(BagUnreadable, match='has no '):
        original(run_config(data=data, folder=str(tmp_path)))
    (tmp_path / name).write_text(content)
    with pytest.raises(BagUnreadable, match=name):
        original(run_config(data=data, folder=str(tmp_path)))


@pytest.mark.parametrize(('rows', 'why'), [(0, 'it has no rows'), (2, 'row 1 has no episode_history')])
def test_a_table_without_rows_or_with_a_short_one_says_so(tmp_path: Path, rows: int, why: str):
    path = originals.openeqa(tmp_path / 'openeqa') / 'open-eqa-v0.json'
    kept = json.loads(path.read_text())[:rows]
    kept[1:] = [{name: row[name] for name in row if name != 'episode_history'} for row in kept[1:]]
    path.write_text(json.dumps(kept))
    with pytest.raises(BagUnreadable, match=f'{path.name} cannot be read as a table: {why}'):
        original(run_config(data='openeqa', folder=str(path.parent)))


@pytest.mark.parametrize('name', ['', '../..', 'n' * 300])
def test_an_episode_whose_pictures_are_not_where_it_says_is_left_out(tmp_path: Path, name: str):
    path = originals.openeqa(tmp_path / 'openeqa') / 'open-eqa-v0.json'
    rows = json.loads(path.read_text())
    path.write_text(json.dumps([*rows, {**rows[0], 'question_id': 'q9', 'episode_history': name}]))
    config = run_config(data='openeqa', folder=str(path.parent))
    (sequence,) = load_episodes(config, tmp_path, lambda *_: None)
    assert len(sequence.samples) == 2
    assert sorted(row.question for row in sequence.excluded) == ['1 questions', '1 questions']
    assert all('there is no ' in row.reason for row in sequence.excluded)


def test_a_question_without_words_or_with_the_id_of_another_is_left_out(tmp_path: Path):
    path = originals.openeqa(tmp_path / 'openeqa') / 'open-eqa-v0.json'
    rows = json.loads(path.read_text())
    rows += [{**rows[0], 'question': 'What else?'}, {**rows[0], 'question': ' ', 'question_id': 'q8'}]
    path.write_text(json.dumps(rows))
    found = original(run_config(data='openeqa', folder=str(path.parent)))
    assert [asked.id for one in found.episodes for asked in one.asked] == ['q0', 'q1', 'q2']
    assert [(row.id, row.reason) for row in found.excluded] == [
        ('q0', 'another one has its id'),
        ('q8', 'it has no words'),
    ]


@pytest.mark.parametrize(
    ('data', 'right'), [('findingdory-hub', 'task_1-0'), ('infini-thor', 'qa_set_nieh_single_clue-0')]
)
def test_the_oracle_sees_only_the_pictures_that_show_the_answer(tmp_path: Path, data: str, right: str):
    records, _ = _run(tmp_path, data, planner='oracle')
    assert all(set(record.answer.evidence) <= set(record.relevant) for record in records if record.answer)
    assert next(record.correct for record in records if record.id == right)


@pytest.mark.parametrize('data', ['openeqa', 'env-qa', 'vq3d'])
def test_where_nothing_tells_what_shows_an_answer_there_is_no_oracle(tmp_path: Path, data: str):
    with pytest.raises(InvalidRequest, match=f'{data} does not tell which pictures .* no oracle'):
        _run(tmp_path, data, planner='oracle')


def test_a_table_that_names_what_no_file_is_called_is_refused(tmp_path: Path):
    path = originals.findingdory(tmp_path / 'findingdory', 'json') / 'data/validation-00000-of-00001.json'
    rows = json.loads(path.read_text())
    path.write_text(json.dumps([{**rows[0], 'video': 'n' * 300}]))
    with pytest.raises(BagUnreadable, match=r'cannot be read: .*too long'):
        original(run_config(data='findingdory-hub', folder=str(tmp_path / 'findingdory')))


def _naming(said: str) -> Callable[[dict[str, Any]], ScriptedReply]:
    def reply(body: dict[str, Any]) -> ScriptedReply:
        return ScriptedReply(said)

    return reply


def _pictures(server: ScriptedServer) -> list[int]:
    """Return how many pictures each request has."""
    contents = [request.body['messages'][-1]['content'] for request in server.requests]
    return [sum(part['type'] == 'image_url' for part in content) for content in contents]


def test_a_video_model_names_frames_and_no_captioner_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr('remembr_bench.evaluation.run.recordings.get_captioner', None)
    with ScriptedServer(_naming('{"frame_indices": [4]}')) as server:
        model = {'planner': 'frames', 'llm': 'scripted', 'llm_url': server.url}
        _run(tmp_path, 'findingdory-hub', **model, frames=96)
        assert _pictures(server) == [12, 12, 12]
    answers = _answers(tmp_path)
    assert answers['task_1-0']['figures'] == {'exact': 0.0, 'relaxed': 1.0}
    assert answers['task_1-1']['figures'] == {'exact': 1.0, 'relaxed': 1.0}
    assert answers['task_50-2']['figures'] == {'exact': 0.0, 'relaxed': 0.0}


def test_of_a_long_video_frames_are_spread_over_all_of_it(tmp_path: Path):
    with ScriptedServer(_naming('{"frame_indices": [1]}')) as server:
        model = {'planner': 'frames', 'llm': 'scripted', 'llm_url': server.url}
        records, _ = _run(tmp_path, 'findingdory-hub', **model, frames=4)
        assert _pictures(server) == [4, 4, 4]
    assert all(record.memories == 4 for record in records)
    assert _answers(tmp_path)['task_1-1']['figures']['relaxed'] == 1.0, 'frame 4 of 0, 4, 7 and 11'


def test_frames_at_a_rate_are_shown_all_or_none(tmp_path: Path):
    said = '{"calls": [{"tool": "answer", "arguments": {"kind": "text", "text": "red", "ids": ["m1"]}}]}'
    with ScriptedServer(_naming(said)) as server:
        model = {'planner': 'frames', 'llm': 'scripted', 'llm_url': server.url, 'frame_rate': 2.0}
        _run(tmp_path / 'all', 'openeqa', **model, frames=12)
        assert _pictures(server) == [12, 12], '12 pictures at 2 Hz'
        records, _ = _run(tmp_path / 'none', 'openeqa', **model, frames=11)
        assert len(server.requests) == 2
    assert all('12 frames, and 11 are shown at most' in record.failure for record in records)


def test_a_video_that_cannot_be_read_is_excluded_with_its_questions(tmp_path: Path):
    folder = originals.env_qa(tmp_path / 'env')
    rows = json.loads((folder / 'test_full_question.json').read_text())
    rows.append({**rows[0], 'question_id': '3', 'video_id': 'broken'})
    (folder / 'test_full_question.json').write_text(json.dumps(rows))
    (folder / 'broken.mp4').write_bytes(b'no video')
    (sequence,) = load_episodes(run_config(data='env-qa', folder=str(folder)), tmp_path, lambda *_: None)
    (row,) = sequence.excluded
    assert (row.id, row.question) == ('broken', '1 questions')
    assert 'no video that OpenCV can read' in row.reason


def test_retrieval_alone_is_told_without_a_heat_map(tmp_path: Path):
    records, results = _run(tmp_path, 'infini-thor', planner='retrieval')
    assert results['retrieval']['recall@15'] == 1.0
    assert 'Retrieval' in '\n'.join(table.text() for table in tables(records, results))
    write_report(tmp_path / 'out')
    assert not (tmp_path / 'out/heat_map.png').exists()


def test_of_a_run_that_was_cut_off_one_wording_may_be_all_there_is_of_a_category(tmp_path: Path):
    records, _ = _run(tmp_path, 'infini-thor')
    worded = [
        record.model_copy(update={'category': category, 'groups': {'wording': wording}})
        for record, (category, wording) in zip(
            records, [('a', 'ours'), ('a', "papers'"), ('b', 'ours')], strict=True
        )
    ]
    results = results_json(worded, (), planner='x', data='y', embedder='z')
    (both,) = (table for table in tables(worded, results) if 'in both wordings' in table.caption)
    assert [row[0] for row in both.rows] == ['a', 'b', 'all']
    assert both.rows[1][2] == '-'
