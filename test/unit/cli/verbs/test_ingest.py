from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from test.deed_bag import write_deeds

Run = Callable[..., tuple[int, str, str]]
RunJson = Callable[..., dict[str, Any]]

SHARED = Path(__file__).resolve().parents[4] / '../shared/data/bags'
QUICKLY = ['--captioner', 'none', '--embedder', 'hashing']


def test_a_recording_becomes_placed_memories_with_keyframes(
    command_json: RunJson, bag: Path, tmp_path: Path
) -> None:
    path = tmp_path / 'memory.db'
    result = command_json('ingest', bag, '--memory', path, *QUICKLY, '--robot', 'r2', '--map', 'first')
    assert result['segments'] == result['remembered'] == result['memories'] == 3
    assert (result['image_topic'], result['captioner']) == ('/camera/compressed', 'none')
    assert result['duration_sec'] == pytest.approx(7.0)
    info = command_json('info', '--memory', path)
    assert (info['memories'], info['placed'], info['embedder']) == (3, 3, 'hashing-256')
    assert (info['robots'], info['maps']) == (['r2'], ['first'])
    assert info['first'] == '2023-11-14T22:13:20.000000Z'
    assert info['last'] == '2023-11-14T22:13:27.000000Z'
    assert info['keyframes'] >= 3
    (nearest,) = command_json('recall', '--memory', path, '--time', '2023-11-14T22:13:20Z', '--limit', '1')[
        'memories'
    ]
    assert nearest['position'][0] == pytest.approx(0.7, abs=0.2)  # 0.5 m/s over 3 s


def test_one_corrupt_pose_does_not_matter(command_json: RunJson, corrupt_bag: Path, tmp_path: Path) -> None:
    path = tmp_path / 'memory.db'
    result = command_json('ingest', corrupt_bag, '--memory', path, *QUICKLY)
    assert (result['segments'], result['remembered']) == (3, 3)
    found = command_json('recall', '--memory', path)['memories']
    assert sorted(round(memory['position'][0], 1) for memory in found) == pytest.approx(
        [0.7, 2.2, 3.2], abs=0.2
    )


def test_ingesting_twice_changes_nothing(command_json: RunJson, bag: Path, tmp_path: Path) -> None:
    path = tmp_path / 'memory.db'
    command_json('ingest', bag, '--memory', path, *QUICKLY)
    before = command_json('info', '--memory', path)
    result = command_json('ingest', bag, '--memory', path, *QUICKLY)
    assert result['memories'] == 3
    assert command_json('info', '--memory', path) == before


def test_what_the_robot_did_is_remembered_once(command: Run, command_json: RunJson, tmp_path: Path) -> None:
    path, bag = tmp_path / 'memory.db', write_deeds(tmp_path)
    told = []
    for _ in range(2):
        result = command_json('ingest', bag, '--memory', path, *QUICKLY, '--map', 'first')
        assert (result['segments'], result['deeds'], result['memories']) == (7, 4, 11)
        told.append(command_json('recall', '--memory', path, '--source', 'agent', '--limit', '9')['memories'])
    assert told[0] == told[1]
    verbs = {memory['caption'].split()[0] for memory in told[0]}
    assert verbs == {'Drove', 'Failed', 'Picked', 'Began'}
    info = command_json('info', '--memory', path)
    assert (info['robots'], info['maps'], info['placed']) == (['robot'], ['first'], 11)
    assert '; 4 deeds' in command('ingest', bag, '--memory', path, *QUICKLY)[1]


@pytest.mark.parametrize(
    ('options', 'deeds'),
    [
        (['--no-deeds'], 0),
        (['--leave-out', 'navigate_*', '--leave-out', '*/follow_path'], 1),
        (['--leave-out', 'nothing'], 5),
    ],
)
def test_deeds_may_be_left_out(command_json: RunJson, tmp_path: Path, options: list[str], deeds: int) -> None:
    bag = write_deeds(tmp_path)
    result = command_json('ingest', bag, '--memory', tmp_path / 'memory.db', *QUICKLY, *options)
    assert (result['deeds'], result['memories']) == (deeds, 7 + deeds)


def test_a_robot_that_stands_has_one_memory(command_json: RunJson, still_bag: Path, tmp_path: Path) -> None:
    for options, expected in (([], 1), (['--no-consolidation'], 3)):
        path = tmp_path / f'{expected}.db'
        for _ in range(2):
            result = command_json('ingest', still_bag, '--memory', path, *QUICKLY, *options)
            assert (result['segments'], result['remembered'], result['memories']) == (3, expected, expected)


def test_a_person_is_told_what_was_done(command: Run, bag: Path, tmp_path: Path) -> None:
    code, out, err = command('ingest', bag, '--memory', tmp_path / 'memory.db', *QUICKLY)
    assert code == 0
    assert out.startswith('3 segments from 7 seconds of recording')
    assert 'remembered as 3 memories' in out
    assert 'images from /camera/compressed, poses from' in err


def test_what_is_seen_while_localisation_is_poor_has_no_place(
    command: Run, command_json: RunJson, lost_bag: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for options, places in ((['--max-position-std', '6'], 3), ([], 2)):
        path = tmp_path / f'{places}.db'
        caplog.clear()
        assert command('ingest', lost_bag, '--memory', path, *QUICKLY, *options)[0] == 0
        found = command_json('recall', '--memory', path, '--limit', '9')['memories']
        assert [memory['position'] is not None for memory in found].count(True) == places
    assert '1 of 3 segments are unplaced: /pose (PoseWithCovarianceStamped) was less certain' in caplog.text
    assert 'let them count with --max-position-std' in caplog.text


def test_segments_without_a_pose_are_told(
    command: Run, bag: Path, late_poses_bag: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert command('ingest', bag, '--memory', tmp_path / 'memory.db', *QUICKLY)[0] == 0
    assert 'unplaced' not in caplog.text
    code, out, _ = command('ingest', late_poses_bag, '--memory', tmp_path / 'late.db', *QUICKLY)
    assert (code, out[:11]) == (0, '3 segments ')
    assert '3 of 3 segments are unplaced: /pose (PoseStamped) has no pose near' in caplog.text
    assert '--pose-topic' in caplog.text


def test_a_recording_whose_images_are_garbage_is_refused(
    command: Run, garbage_bag: Path, tmp_path: Path
) -> None:
    path = tmp_path / 'memory.db'
    code, out, err = command('ingest', garbage_bag, '--memory', path, *QUICKLY)
    assert (code, out) == (1, '')
    assert 'none of the 29 images on /camera/compressed can be decoded' in err
    assert not path.exists()


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['nowhere'], 'nowhere'),
        (['{bag}', '--image-topic', '/none'], '/camera/compressed'),
        (['{bag}', '--pose-topic', '/none'], '/pose'),
    ],
)
def test_a_recording_that_cannot_be_used_makes_no_memory(
    command: Run, bag: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    path = tmp_path / 'memory.db'
    filled = [argument.format(bag=bag) for argument in arguments]
    code, out, err = command('ingest', *filled, '--memory', path, *QUICKLY, '--json')
    assert code in (1, 2)
    assert out == ''
    assert message in err
    assert not path.exists()


def test_an_unknown_captioner_is_wrong_usage(command: Run, bag: Path, tmp_path: Path) -> None:
    code, _, err = command('ingest', bag, '--memory', tmp_path / 'm.db', '--captioner', 'oracle')
    assert code == 2
    assert 'scene_text' in err


@pytest.mark.skipif(not SHARED.is_dir(), reason='the recordings of ../shared/data are not here')
def test_a_recording_without_images_is_refused_with_its_topics(command: Run, tmp_path: Path) -> None:
    bag = SHARED / 'husky_gps_odom_imu.bag'
    code, out, err = command('ingest', bag, '--memory', tmp_path / 'm.db', *QUICKLY)
    assert (code, out) == (1, '')
    for topic in ('/husky_velocity_controller/odom', '/fix', '/imu/data'):
        assert topic in err


@pytest.mark.skipif(not SHARED.is_dir(), reason='the recordings of ../shared/data are not here')
def test_a_magazine_on_a_kitchen_table_is_found(command_json: RunJson, tmp_path: Path) -> None:
    pytest.importorskip('rapidocr', reason='RapidOCR is not installed (extra scene-text)')
    path = tmp_path / 'memory.db'
    options = ['--captioner', 'scene_text', '--embedder', 'hashing']
    command_json('ingest', SHARED / 'redkitchen_6hz', '--memory', path, *options)
    answer = command_json('ask', 'Where did you see the magazine called Computer?', '--memory', path)
    assert answer['kind'] == 'position'
    assert 'computer' in str(answer['evidence'][0]['scene_text']).lower()
    assert len(answer['position']) == 3
    assert command_json('ask', 'Where is the swimming pool?', '--memory', path)['kind'] == 'not_seen'


def test_a_folder_of_pictures_with_poses_becomes_placed_memories(
    command: Run, command_json: RunJson, tmp_path: Path
) -> None:
    folder = tmp_path / 'walk'
    folder.mkdir()
    for number in range(7):
        picture = np.full((48, 64, 3), 30 * number, np.uint8)
        (folder / f'{number:06d}.jpg').write_bytes(cv2.imencode('.jpg', picture)[1].tobytes())
    rows = [f'1 0 0 0 0 1 0 0 0 0 1 {number}' for number in range(7)]
    (folder / 'poses.txt').write_text('\n'.join(rows))
    store, when = tmp_path / 'memory.db', ('--start', '2026-03-01T10:00:00Z', '--rate', '1')
    result = command_json('ingest', folder, '--memory', store, *QUICKLY, *when)
    assert (result['segments'], result['pose_source']) == (3, 'poses.txt')
    found = command_json('recall', '--memory', store, '--time', '2026-03-01T10:00:01Z')['memories'][0]
    assert found['start'].startswith('2026-03-01T10:00:0')
    assert found['position'] == pytest.approx([1.0, 0.0, 0.0])
    code, _, err = command('ingest', folder, '--memory', store, *QUICKLY, '--image-topic', '/camera')
    assert (code, '--image-topic is for a recording' in err) == (2, True)


def test_options_of_pictures_are_none_of_a_recording(command: Run, bag: Path, tmp_path: Path) -> None:
    code, _, err = command('ingest', bag, '--memory', tmp_path / 'm.db', *QUICKLY, '--rate', '2')
    assert (code, '--rate is for a folder of pictures or a video' in err) == (2, True)


def test_why_nothing_could_be_decoded_is_told(command: Run, garbage_bag: Path, tmp_path: Path) -> None:
    err = command('ingest', garbage_bag, '--memory', tmp_path / 'm.db', *QUICKLY)[2]
    assert "29 x the compressed image ('jpeg', 100 bytes) is damaged or no image" in err
