"""CODa's folders with something missing or damaged, and places that cannot be written."""

import shutil

import pytest

from remembr_bench.coda.conversion import convert_coda
from remembr_ros.errors import BagUnreadable, InvalidRequest

COUNT = 12


@pytest.fixture
def out(tmp_path):
    return tmp_path / 'bags' / '7'


@pytest.fixture
def convert(coda, out):
    def run(**options):
        return convert_coda(coda.root, 7, out, **options)

    return run


def files_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob('*'))


def damaged(name, text):
    def damage(coda):
        coda.write(name, [text])

    return damage


STAMP = '1673884185.589118'
POSE = f'{STAMP} 1 2 3 1 0 0 0'
MISSING = {
    'no timestamps': (
        lambda coda: (coda.root / 'timestamps' / '7.txt').unlink(),
        ['timestamps/7.txt', '-se 7'],
    ),
    'no poses': (lambda coda: (coda.root / 'poses' / 'dense' / '7.txt').unlink(), ['dense/7.txt', '-se 7']),
    'no images': (lambda coda: shutil.rmtree(coda.root / '2d_rect'), ['2d_rect/cam0/7', '2d_raw', '-se 7']),
    'empty timestamps': (damaged('timestamps/7.txt', ''), ['no timestamps', '-se 7']),
    'two timestamps in a line': (damaged('timestamps/7.txt', f'{STAMP} {STAMP}'), ['line 1', '2 columns']),
    'a date': (damaged('timestamps/7.txt', '2023-01-16'), ['line 1', "'2023-01-16' is not a number"]),
    'a negative time': (damaged('timestamps/7.txt', '-5'), ['line 1', 'out of range']),
    'fewer timestamps than images': (damaged('timestamps/7.txt', 'nan'), ['none of the 12 images', '-se 7']),
    'empty poses': (damaged('poses/dense/7.txt', 'nan nan nan nan nan nan nan nan'), ['no poses', '-se 7']),
    'a cut line': (
        damaged('poses/dense/7.txt', f'{POSE}\n{STAMP} 1 2'),
        ['line 2', '3 columns', 'qw qx qy qz'],
    ),
    'a word': (damaged('poses/dense/7.txt', POSE.replace('3', 'x')), ['line 1', 'not a number']),
    'poses of another day': (damaged('poses/dense/7.txt', '5 1 2 3 1 0 0 0'), ['another sequence', '1970']),
    'no matrix': (
        damaged('calibrations/7/calib_os1_to_cam0.yaml', 'a: 1'),
        ['calib_os1_to_cam0', '16 finite'],
    ),
    'no YAML': (damaged('calibrations/7/calib_os1_to_base.yaml', '{'), ['calib_os1_to_base', 'YAML']),
    'no rotation': (
        damaged('calibrations/7/calib_os1_to_cam0.yaml', 'extrinsic_matrix: {data: [2' + ', 0' * 15 + ']}'),
        ['calib_os1_to_cam0', 'no rotation'],
    ),
    'half of the intrinsics': (
        damaged('calibrations/7/calib_cam0_intrinsics.yaml', 'image_width: 32\nimage_height: 24'),
        ['camera_matrix is not 9 finite numbers'],
    ),
}


@pytest.mark.parametrize('case', MISSING)
def test_what_is_missing_or_damaged_is_named_and_nothing_is_written(coda, convert, out, case):
    damage, words = MISSING[case]
    damage(coda)
    with pytest.raises(BagUnreadable) as raised:
        convert()
    for word in words:
        assert word in str(raised.value)
    assert not out.parent.exists()


def test_other_poses_and_other_sequences_are_pointed_out(coda, convert, tmp_path):
    (coda.root / 'poses' / 'dense').rename(coda.root / 'poses' / 'dense_global')
    with pytest.raises(BagUnreadable, match='--poses dense_global'):
        convert()
    coda.write('timestamps/3.txt', [STAMP])
    with pytest.raises(BagUnreadable, match=r'there are images of 7.*-se 3'):
        convert_coda(coda.root, 3, tmp_path / 'bags' / '3')


def test_a_folder_that_is_not_codas_is_refused_with_the_one_meant(coda, out, tmp_path):
    with pytest.raises(BagUnreadable, match=f'give {coda.root} instead'):
        convert_coda(coda.root.parent, 7, out)
    with pytest.raises(BagUnreadable, match='no folder'):
        convert_coda(tmp_path / 'nowhere', 7, out)


def test_an_error_half_way_leaves_nothing(coda, convert, out):
    for i in range(COUNT):
        coda.image(i, b'garbage')
    with pytest.raises(BagUnreadable, match='none of the 12 images'):
        convert()
    assert files_in(out.parent) == []

    def interrupted(done, total):
        if done == 5:
            raise KeyboardInterrupt

    for i in range(COUNT):
        coda.image(i, coda.files[i])
    with pytest.raises(KeyboardInterrupt):
        convert(progress=interrupted)
    assert files_in(out.parent) == []


def test_while_it_is_written_no_bag_is_at_its_place(convert, out):
    seen = []
    convert(progress=lambda done, total: seen.append(out.exists()))
    assert seen == [False] * COUNT
    assert files_in(out.parent) == ['7', '7/7.mcap', '7/metadata.yaml']


def test_a_bag_is_replaced_only_if_asked_and_by_the_same_bytes(coda, convert, out):
    convert()
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(InvalidRequest, match='--force'):
        convert()
    convert(replace=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    (coda.root / 'timestamps' / '7.txt').unlink()
    with pytest.raises(BagUnreadable):
        convert(replace=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert files_in(out.parent) == ['7', '7/7.mcap', '7/metadata.yaml']


def test_what_is_no_converted_bag_is_never_replaced(coda, convert, out):
    out.mkdir(parents=True)
    (out / 'thesis.tex').write_text('years of work')
    with pytest.raises(InvalidRequest, match=r'thesis\.tex'):
        convert(replace=True)
    assert files_in(out) == ['thesis.tex']


def test_a_place_that_cannot_be_written_is_a_stated_failure(coda, tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(InvalidRequest, match='cannot be written'):
        convert_coda(coda.root, 7, tmp_path / 'file' / '7')


@pytest.mark.parametrize('options', [{'camera': 'cam3'}, {'poses': 'gps'}])
def test_unknown_cameras_and_poses_are_wrong_usage(convert, options):
    with pytest.raises(InvalidRequest, match='choose'):
        convert(**options)
