import contextlib
import math
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.web.map_file import read_map

shapes = arrays.array_shapes(min_dims=2, max_dims=2, max_side=9)
written = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def saved(folder: Path, picture: bytes, name: str = 'map.pgm', **described: object) -> Path:
    """Write picture and YAML; return the latter."""
    content = {'image': name, 'resolution': 0.05, 'origin': '[-1.0, 2.0, 0.5]', **described}
    (folder / name).write_bytes(picture)
    file = folder / 'map.yaml'
    file.write_text(''.join(f'{key}: {value}\n' for key, value in content.items() if value is not None))
    return file


def pgm(pixels: np.ndarray, white: int = 255, between: str = '\n') -> bytes:
    height, width = pixels.shape
    header = between.join(['P5', str(width), str(height), str(white)]).encode() + b'\n'
    return header + pixels.astype('>u2' if white > 255 else np.uint8).tobytes()


def png(pixels: np.ndarray) -> bytes:
    return cv2.imencode('.png', pixels)[1].tobytes()


def expected(light: float, *, negate: bool, low: float, high: float) -> int:
    """What the documentation says of a pixel from 0, black, to 1, white."""
    dark = light if negate else 1.0 - light
    return 100 if dark > high else 0 if dark < low else -1


@written
@given(
    pixels=arrays.arrays(np.uint8, shapes),
    mode=st.sampled_from(['trinary', None]),
    negate=st.booleans(),
    low=st.floats(0.0, 0.5),
    high=st.floats(0.51, 1.0),
    kind=st.sampled_from(['P5', 'png']),
)
def test_a_pixel_means_what_the_documentation_says(
    tmp_path: Path, *, pixels: np.ndarray, mode: str | None, negate: bool, low: float, high: float, kind: str
) -> None:
    data = {'P5': pgm(pixels), 'png': png(pixels)}[kind]
    file = saved(tmp_path, data, mode=mode, negate=int(negate), free_thresh=low, occupied_thresh=high)
    grid = read_map(file)
    assert grid.cells.shape == pixels.shape
    for (row, column), value in np.ndenumerate(pixels):
        meant = expected(int(value) / 255, negate=negate, low=low, high=high)
        assert grid.cells[len(pixels) - 1 - row, column] == meant


@written
@given(arrays.arrays(np.uint16, shapes))
def test_a_map_may_have_16_bits(tmp_path: Path, pixels: np.ndarray) -> None:
    cells = read_map(saved(tmp_path, pgm(pixels, 65535), occupied_thresh=0.5, free_thresh=0.5)).cells[::-1]
    assert (cells[pixels < 32767] == 100).all()
    assert (cells[pixels > 32768] == 0).all()


def test_resolution_and_origin_are_those_of_the_lower_left_corner(tmp_path: Path) -> None:
    pixels = np.full((3, 4), 254)
    pixels[2, 0] = 0  # the lower left one
    grid = read_map(saved(tmp_path, pgm(pixels), resolution=0.1, origin=f'[1.0, 2.0, {math.pi / 2}]'))
    assert grid.origin == Pose(1.0, 2.0, 0.0, math.pi / 2)
    assert grid.resolution == 0.1
    assert grid.values(np.array([[0.95, 2.05], [0.95, 2.15], [0.65, 2.05]])).tolist() == [100, 0, -2]


def test_what_is_transparent_counts_by_its_colour(tmp_path: Path) -> None:
    pixels = np.array([[[255, 255, 255, 255], [255, 255, 255, 254], [0, 0, 0, 0]]], np.uint8)
    assert read_map(saved(tmp_path, png(pixels), 'm.png')).cells.tolist() == [[0, 0, 100]]


def test_colours_count_by_their_mean(tmp_path: Path) -> None:
    pixels = np.array([[[0, 0, 255], [255, 255, 255], [255, 255, 0]]], np.uint8)
    assert read_map(saved(tmp_path, png(pixels), 'm.png')).cells.tolist() == [[100, 0, -1]]


def test_comments_may_stand_in_a_header(tmp_path: Path) -> None:
    data = pgm(np.zeros((2, 2)), between='\n# CREATOR: map_saver.cpp 0.050 m/pix\n')
    assert read_map(saved(tmp_path, data)).cells.tolist() == [[100, 100], [100, 100]]


def test_the_picture_may_lie_elsewhere(tmp_path: Path) -> None:
    (tmp_path / 'pictures').mkdir()
    elsewhere = tmp_path / 'pictures' / 'floor.pgm'
    elsewhere.write_bytes(pgm(np.zeros((1, 1))))
    for name in ('pictures/floor.pgm', str(elsewhere), './pictures/../pictures/floor.pgm'):
        file = tmp_path / 'map.yaml'
        file.write_text(f'image: {name}\nresolution: 1\norigin: [0, 0, 0]\n')
        assert read_map(file).cells.tolist() == [[100]]


@pytest.mark.parametrize('image', ['/home/robot/maps/map.pgm', 'C:\\maps\\map.pgm', '../elsewhere/map.pgm'])
def test_a_picture_of_another_machine_lies_beside_the_description(tmp_path: Path, image: str) -> None:
    file = saved(tmp_path, pgm(np.zeros((1, 1))))
    file.write_text(file.read_text().replace('map.pgm', f"'{image}'"))
    assert read_map(file).cells.tolist() == [[100]]
    (tmp_path / 'map.pgm').unlink()
    with pytest.raises(InvalidRequest, match=r'map\.pgm cannot be read'):
        read_map(file)


@pytest.mark.parametrize('encoding', ['utf-8-sig', 'utf-16'])
def test_a_description_may_have_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    file = saved(tmp_path, png(np.full((1, 2), 254, np.uint8)), '007.png')
    file.write_text(file.read_text(), encoding)
    assert read_map(file).cells.tolist() == [[0, 0]]


@written
@given(
    pixels=arrays.arrays(np.uint8, shapes),
    white=st.sampled_from([255, 100, 65535]),
    last=st.sampled_from(['', '\n']),
)
def test_a_pgm_in_text_is_that_in_bytes(tmp_path: Path, pixels: np.ndarray, white: int, last: str) -> None:
    light = np.minimum(pixels.astype(int) * (white // 100), white)
    height, width = pixels.shape
    rows = '\n# a comment\n'.join(' '.join(map(str, row)) for row in light)
    text = f'P2\n# CREATOR: GIMP\n{width} {height}\n{white}\n{rows}{last}'
    # Not a bound that a pixel can have: OpenCV makes 8 bits of fewer.
    grid = read_map(saved(tmp_path, text.encode(), occupied_thresh=0.653, free_thresh=0.247))
    dark = 1.0 - light[::-1] / white
    assert grid.cells.tolist() == np.where(dark > 0.653, 100, np.where(dark < 0.247, 0, -1)).tolist()


@pytest.mark.parametrize(
    ('described', 'said'),
    [
        ({'resolution': 0}, 'resolution'),
        ({'resolution': '.nan'}, 'resolution'),
        ({'resolution': None}, 'resolution'),
        ({'origin': '[0, 0]'}, 'origin'),
        ({'origin': '[0, 0, .inf]'}, 'origin'),
        ({'origin': '[1e300, 0, 0]'}, 'origin'),
        ({'negate': 'perhaps'}, 'negate'),
        ({'mode': 'raw'}, 'mode'),
        ({'mode': 'scale'}, 'mode'),
        ({'occupied_thresh': 65}, 'occupied_thresh'),
        ({'image': "''"}, 'image'),
        ({'image': 'gone.pgm'}, 'gone.pgm cannot be read'),
        ({'image': '"a\\0b"'}, 'cannot be read'),
    ],
)
def test_a_description_without_sense_is_refused(
    tmp_path: Path, described: dict[str, object], said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        read_map(saved(tmp_path, pgm(np.zeros((2, 2))), **described))


@pytest.mark.parametrize(
    'text', ['', 'image', '- 1\n- 2', '{', '\0', '!!python/object:os.system {}', '[' * 5000]
)
def test_what_is_no_description_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / 'map.yaml'
    file.write_text(text)
    with pytest.raises(InvalidRequest, match='map_saver'):
        read_map(file)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match='check its path'):
        read_map(tmp_path / 'gone.yaml')
    with pytest.raises(InvalidRequest, match='check its path'):
        read_map(tmp_path)
    (tmp_path / 'bytes.yaml').write_bytes(b'\xff\xfe\x00')
    with pytest.raises(InvalidRequest, match='map_saver'):
        read_map(tmp_path / 'bytes.yaml')
    (tmp_path / 'large.yaml').write_bytes(b' ' * 70_000)
    with pytest.raises(InvalidRequest, match='more than 65536 bytes'):
        read_map(tmp_path / 'large.yaml')


@pytest.mark.parametrize(
    ('picture', 'said'),
    [
        (b'', 'no picture'),
        (b'P5\n2 2\n255\n\0\0\0', 'damaged'),
        (b'P2\n2 2\n255\n0 0 0', 'damaged'),
        (b'P5\n0 2\n255\n', 'has some'),
        (b'P5\n99999 99999\n255\n\0', 'make it coarser'),
        (b'P5\n1 1\n100\n\0', '100 is white'),
        (b'P5\n1 1\n0\n\0\0', '0 is white'),
        (b'P5\n99999999999 1\n255\n\0', 'no picture'),
        (png(np.zeros((40, 40), np.uint8))[:60], 'no picture'),
        (cv2.imencode('.tiff', np.zeros((2, 2), np.float32))[1].tobytes(), '8 or 16 bits'),
    ],
)
def test_a_picture_that_is_none_is_refused(tmp_path: Path, picture: bytes, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        read_map(saved(tmp_path, picture))


@written
@given(st.binary(max_size=60))
def test_garbage_is_refused_or_read(tmp_path: Path, garbage: bytes) -> None:
    for picture in (garbage, pgm(np.zeros((2, 3)))[:9] + garbage, b'P5 2 2 255 ' + garbage):
        with contextlib.suppress(InvalidRequest):
            assert read_map(saved(tmp_path, picture)).cells.size
