"""remembr coda."""

from remembr_ros.bags.reader import open_bag


def test_a_sequence_becomes_a_bag_and_one_line(command, coda, tmp_path):
    code, out, _ = command('coda', coda.root, '--sequence', '7', '--out', tmp_path / 'out')
    assert code == 0
    bag = tmp_path / 'out' / '7'
    assert out == f'{bag}: 12 images of 2d_rect/cam0/7, 12 poses, 1 second\n'
    with open_bag(bag) as opened:
        assert opened.frame_count == 12


def test_json_tells_the_counts(command_json, coda, tmp_path):
    (coda.root / 'calibrations' / '7' / 'calib_os1_to_base.yaml').unlink()
    coda.image_path(5).unlink()
    result = command_json('coda', coda.root, '--sequence', '7', '7', '--out', tmp_path / 'out')
    assert result == {
        'sequences': [
            {
                'sequence': 7,
                'bag': str(tmp_path / 'out' / '7'),
                'images': '2d_rect/cam0/7',
                'frames': 11,
                'poses': 12,
                'start': '2023-01-16T15:49:45.589118Z',
                'end': '2023-01-16T15:49:46.689118Z',
                'unplaced': 0,
                'left_out': {'frames without an image': 1},
                'absent': ['calib_os1_to_base.yaml'],
            }
        ],
        'failed': [],
    }


def test_a_sequence_that_fails_does_not_stop_the_next(command, coda, tmp_path):
    code, out, err = command('coda', coda.root, '--sequence', '3', '7', '--out', tmp_path / 'out')
    assert code == 1
    assert out.startswith(f'{tmp_path / "out" / "7"}: 12 images')
    assert 'remembr coda: sequence 3: ' in err
    assert 'download_split.py' in err
    assert [path.name for path in (tmp_path / 'out').iterdir()] == ['7']


def test_what_is_there_is_refused_before_anything_is_converted(command, coda, tmp_path):
    arguments = ['coda', coda.root, '--out', tmp_path / 'out', '--sequence']
    assert command(*arguments, '7')[0] == 0
    code, out, err = command(*arguments, '3', '7')
    assert (code, out) == (2, '')
    assert '--force' in err
    assert 'sequence 3' not in err
    assert command(*arguments, '7', '--force')[0] == 0


def test_wrong_usage(command, coda, tmp_path):
    out = ['--out', tmp_path / 'out']
    for arguments in (
        [coda.root, '--sequence', '7'],
        [coda.root, *out],
        [coda.root, '--sequence', 'all', *out],
        [coda.root, '--sequence', '-1', *out],
        [coda.root, '--sequence', '7', '--camera', 'cam3', *out],
        [coda.root, '--sequence', '7', '--poses', 'gps', *out],
    ):
        assert command('coda', *arguments)[0] == 2
    assert not (tmp_path / 'out').exists()
