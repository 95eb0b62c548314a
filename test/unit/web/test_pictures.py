import threading
from collections import Counter

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.keyframes.files import keyframe_name
from remembr_ros.navigation.grid import Grid
from remembr_ros.web.pictures import LONGEST_SIDE, Pictures, Width, map_png


def jpeg(width: int, grey: int = 0) -> bytes:
    noise = np.random.default_rng(grey).integers(0, 255, (width // 2, width, 3), np.uint8)
    return encode_jpeg(noise)


class Keyframes:
    """A backend's pictures, counted."""

    def __init__(self, *images: bytes) -> None:
        self.images = {keyframe_name(image): image for image in images}
        self.asked = Counter[str]()
        self.grid: Grid | None = None
        self.on_asked = lambda: None

    def picture(self, name: str) -> bytes:
        self.asked[name] += 1
        self.on_asked()
        if name not in self.images:
            raise InvalidRequest(f'there is no picture {name}')
        return self.images[name]

    def map(self) -> Grid | None:
        return self.grid


def grid(cells: np.ndarray) -> Grid:
    return Grid(cells.astype(np.int8), 0.05, Pose(0.0, 0.0))


def decoded(png: bytes) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED)


def test_a_keyframe_is_given_as_it_is() -> None:
    image = jpeg(640)
    assert Pictures(Keyframes(image)).keyframe(keyframe_name(image)) == image


@pytest.mark.parametrize('width', Width)
def test_a_thumbnail_is_made_once(width: Width) -> None:
    image = jpeg(1600)
    backend = Keyframes(image)
    pictures = Pictures(backend)
    first = pictures.keyframe(keyframe_name(image), width)
    assert pictures.keyframe(keyframe_name(image), width) is first
    assert decoded(first).shape == (width // 2, width, 3)
    assert backend.asked.total() == 1


def test_what_is_narrower_stays_as_it_is() -> None:
    image = jpeg(200)
    assert Pictures(Keyframes(image)).keyframe(keyframe_name(image), Width.SMALL) == image


@pytest.mark.parametrize(
    'name', ['', '../x', 'a' * 36, '/etc/passwd', f'{"0" * 32}.jpg\n', f'{"0" * 32}.png']
)
def test_what_is_no_name_is_never_asked_for(name: str) -> None:
    backend = Keyframes()
    for width in (None, Width.SMALL):
        with pytest.raises(InvalidRequest, match='not the name of a picture'):
            Pictures(backend).keyframe(name, width)
    assert not backend.asked


def test_what_is_missing_or_damaged_is_said_and_tried_again() -> None:
    whole = jpeg(1600)
    name = keyframe_name(whole)
    backend = Keyframes()
    pictures = Pictures(backend)
    with pytest.raises(InvalidRequest, match='no picture'):
        pictures.keyframe(name, Width.SMALL)
    for damaged in (b'', b'\xff\xd8\xff', b'no picture', whole[:300]):
        backend.images[name] = damaged
        with pytest.raises(InvalidRequest, match='is damaged'):
            pictures.keyframe(name, Width.SMALL)
    backend.images[name] = whole
    assert decoded(pictures.keyframe(name, Width.SMALL)).shape[1] == 256


def test_a_memory_out_of_reach_is_said_as_such() -> None:
    backend = Keyframes()

    def away() -> None:
        raise StoreUnavailable('the memory node is away')

    backend.on_asked = away
    with pytest.raises(StoreUnavailable, match='is away'):
        Pictures(backend).keyframe(f'{"0" * 32}.jpg', Width.SMALL)


def test_two_who_ask_at_once_have_it_made_once() -> None:
    image = jpeg(1600)
    name = keyframe_name(image)
    backend = Keyframes(image)
    pictures = Pictures(backend)
    asked, others = threading.Event(), threading.Event()

    def wait() -> None:
        asked.set()
        assert others.wait(30.0)

    backend.on_asked = wait
    found: list[bytes] = []

    def ask() -> None:
        found.append(pictures.keyframe(name, Width.SMALL))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    threads[0].start()
    assert asked.wait(30.0)
    for thread in threads[1:]:
        thread.start()
    others.set()
    for thread in threads:
        thread.join(30.0)
    assert len(found) == 4
    assert len(set(map(id, found))) == 1
    assert backend.asked[name] == 1


def test_those_asked_for_last_are_kept_within_the_bytes() -> None:
    images = [jpeg(400, grey) for grey in range(4)]
    names = list(map(keyframe_name, images))
    size = len(Pictures(Keyframes(*images)).keyframe(names[0], Width.SMALL))
    backend = Keyframes(*images)
    pictures = Pictures(backend, kept_bytes=round(3.5 * size))
    for name in (*names[:3], names[0], names[3]):
        pictures.keyframe(name, Width.SMALL)
    assert set(backend.asked.values()) == {1}
    for name in (names[0], names[2], names[3]):
        pictures.keyframe(name, Width.SMALL)
    assert set(backend.asked.values()) == {1}
    pictures.keyframe(names[1], Width.SMALL)
    assert backend.asked[names[1]] == 2


@pytest.mark.parametrize('all_of_them', [True, False])
def test_a_forgotten_picture_is_not_kept(all_of_them: bool) -> None:
    image, other = jpeg(1600), jpeg(1600, 1)
    name = keyframe_name(image)
    backend = Keyframes(image, other)
    pictures = Pictures(backend)
    pictures.keyframe(name, Width.SMALL)
    pictures.keyframe(keyframe_name(other), Width.SMALL)
    del backend.images[name]
    pictures.drop(None if all_of_them else [name, 'unknown'])
    with pytest.raises(InvalidRequest, match='no picture'):
        pictures.keyframe(name, Width.SMALL)
    pictures.keyframe(keyframe_name(other), Width.SMALL)
    assert backend.asked[keyframe_name(other)] == 1 + all_of_them
    assert list(pictures._thumbnails.values()) == [pictures.keyframe(keyframe_name(other), Width.SMALL)]


def test_a_picture_that_is_forgotten_while_it_is_made_is_not_kept() -> None:
    image = jpeg(1600)
    name = keyframe_name(image)
    backend = Keyframes(image)
    pictures = Pictures(backend)
    backend.on_asked = lambda: pictures.drop([name])
    pictures.keyframe(name, Width.SMALL)
    assert not pictures._thumbnails
    pictures.keyframe(name, Width.SMALL)
    assert backend.asked[name] == 2


def test_there_may_be_no_map() -> None:
    assert Pictures(Keyframes()).map() is None


def test_a_map_is_drawn_once_until_it_is_another() -> None:
    backend = Keyframes()
    pictures = Pictures(backend)
    backend.grid = grid(np.zeros((3, 4)))
    first = pictures.map()
    assert first is not None
    assert pictures.map() is first
    assert first.grid is backend.grid
    backend.grid = Grid(backend.grid.cells, 0.05, Pose(1.0, 0.0))
    moved = pictures.map()
    assert moved is not None
    assert moved.png == first.png
    assert moved.version != first.version


@given(arrays.arrays(np.int8, arrays.array_shapes(min_dims=2, max_dims=2, max_side=12)))
def test_a_cell_is_a_pixel_with_the_highest_row_on_top(cells: np.ndarray) -> None:
    picture = decoded(map_png(grid(cells)))
    assert picture.shape == (*cells.shape, 4)
    for (row, column), value in np.ndenumerate(cells):
        *colour, alpha = picture[len(cells) - 1 - row, column].tolist()
        if not 0 <= value <= 100:
            assert alpha == 0
        else:
            assert alpha == 255
            assert colour == [255 - int(value) * 255 // 100] * 3


@given(st.integers(1, LONGEST_SIDE * 3), st.integers(0, 10**6))
def test_a_wall_in_a_large_map_has_no_hole(width: int, place: int) -> None:
    cells = np.zeros((2, width), np.int8)
    cells[0, place % width] = 100
    picture = decoded(map_png(grid(cells)))
    shown = min(width, LONGEST_SIDE)
    assert picture.shape == (2, shown, 4)
    dark = np.flatnonzero(picture[1, :, 0] == 0)
    assert len(dark) == 1
    assert abs((dark[0] + 0.5) / shown - (place % width + 0.5) / width) < 1.0 / shown
