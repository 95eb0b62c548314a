import array

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.images import ENCODINGS, MAX_PIXELS, decode_compressed, decode_raw, encode_jpeg

# Blue, green, red and grey quarters: any swap of channels or of a Bayer pattern's phase shows.
SCENE = np.zeros((16, 20, 3), np.uint8)
SCENE[:8, :10] = (200, 20, 30)
SCENE[:8, 10:] = (20, 180, 40)
SCENE[8:, :10] = (30, 40, 220)
SCENE[8:, 10:] = (120, 120, 120)
CENTRES = ((4, 5), (4, 15), (12, 5), (12, 15))


def padded(rows: np.ndarray, padding: int = 7) -> tuple[int, bytes]:
    """Return the step and the bytes of an image whose rows end in rubbish."""
    flat = np.ascontiguousarray(rows).reshape(rows.shape[0], -1).view(np.uint8)
    full = np.hstack([flat, np.full((flat.shape[0], padding), 0xAB, np.uint8)])
    return full.shape[1], full.tobytes()


def assert_scene(pixels: np.ndarray, tolerance: int) -> None:
    assert pixels.shape == SCENE.shape
    assert pixels.dtype == np.uint8
    for row, column in CENTRES:
        difference = np.abs(pixels[row, column].astype(int) - SCENE[row, column].astype(int))
        assert difference.max() <= tolerance, (row, column, pixels[row, column], SCENE[row, column])


def mosaic(pattern: str, image: np.ndarray) -> np.ndarray:
    """Return what a sensor with the colour filter sees; the pattern is that of the first two rows."""
    channel = {'b': 0, 'g': 1, 'r': 2}
    seen = np.zeros(image.shape[:2], image.dtype)
    for index, colour in enumerate(pattern):
        row, column = divmod(index, 2)
        seen[row::2, column::2] = image[row::2, column::2, channel[colour]]
    return seen


def luma_and_chroma(image: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """BT.601 with video range, written out, so that it is not OpenCV checking OpenCV."""
    blue, green, red = (image[..., channel].astype(float) for channel in range(3))
    y = 16 + 0.257 * red + 0.504 * green + 0.098 * blue
    u = 128 - 0.148 * red - 0.291 * green + 0.439 * blue
    v = 128 + 0.439 * red - 0.368 * green - 0.071 * blue
    return tuple(np.round(plane).astype(np.uint8) for plane in (y, u, v))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ('encoding', 'order'),
    [
        ('bgr8', [0, 1, 2]),
        ('8UC3', [0, 1, 2]),
        ('rgb8', [2, 1, 0]),
        ('bgra8', [0, 1, 2, 0]),
        ('rgba8', [2, 1, 0, 0]),
    ],
)
def test_channel_order_and_row_padding_are_respected(encoding: str, order: list[int]) -> None:
    step, data = padded(SCENE[..., order])
    assert np.array_equal(decode_raw(encoding, 20, 16, step, False, data), SCENE)


@pytest.mark.parametrize('encoding', ['mono8', '8UC1'])
def test_grey_becomes_three_equal_channels(encoding: str) -> None:
    step, data = padded(SCENE[..., 1])
    pixels = decode_raw(encoding, 20, 16, step, False, data)
    assert np.array_equal(pixels, np.repeat(SCENE[..., 1:2], 3, axis=2))


@pytest.mark.parametrize('pattern', ['rggb', 'bggr', 'gbrg', 'grbg'])
@pytest.mark.parametrize('bits', [8, 16])
@pytest.mark.parametrize('big_endian', [False, True])
def test_bayer_pattern_is_that_of_the_first_two_rows(pattern: str, bits: int, big_endian: bool) -> None:
    seen = mosaic(pattern, SCENE)
    if bits == 16:
        seen = (seen.astype(np.uint16) << 8).astype('>u2' if big_endian else '<u2')
    step, data = padded(seen, 6)
    assert_scene(decode_raw(f'bayer_{pattern}{bits}', 20, 16, step, big_endian, data), 2)


@pytest.mark.parametrize('encoding', ['yuv422', 'uyvy', 'yuv422_yuy2', 'yuyv'])
def test_yuv_with_two_pixels_per_colour(encoding: str) -> None:
    y, u, v = luma_and_chroma(SCENE)
    chroma = np.where(np.arange(20) % 2 == 0, u, v)
    pair = (chroma, y) if encoding in ('yuv422', 'uyvy') else (y, chroma)
    step, data = padded(np.stack(pair, axis=-1))
    assert_scene(decode_raw(encoding, 20, 16, step, False, data), 4)


@pytest.mark.parametrize('encoding', ['nv12', 'nv21', 'nv24'])
def test_semi_planar_yuv(encoding: str) -> None:
    y, u, v = luma_and_chroma(SCENE)
    pair = np.stack((v, u) if encoding == 'nv21' else (u, v), axis=-1)
    chroma = pair.reshape(16, 40) if encoding == 'nv24' else pair[::2, ::2].reshape(8, 20)
    assert_scene(decode_raw(encoding, 20, 16, 20, False, y.tobytes() + chroma.tobytes()), 4)


def test_nv24_takes_odd_sizes() -> None:
    y, u, v = luma_and_chroma(SCENE[:15, :19])
    data = y.tobytes() + np.stack((u, v), axis=-1).tobytes()
    pixels = decode_raw('nv24', 19, 15, 19, False, data)
    assert pixels.shape == (15, 19, 3)
    assert np.abs(pixels[4, 5].astype(int) - SCENE[4, 5]).max() <= 4


@pytest.mark.parametrize('big_endian', [False, True])
@pytest.mark.parametrize(
    ('encoding', 'order'), [('rgb16', [2, 1, 0]), ('bgr16', [0, 1, 2]), ('mono16', None)]
)
def test_16_bit_intensity_keeps_its_upper_byte(
    encoding: str, order: list[int] | None, big_endian: bool
) -> None:
    channels = SCENE[..., order] if order else SCENE[..., 2]
    values = (channels.astype(np.uint16) << 8 | 0x5A).astype('>u2' if big_endian else '<u2')
    step, data = padded(values, 4)
    expected = SCENE if order else np.repeat(SCENE[..., 2:3], 3, axis=2)
    assert np.array_equal(decode_raw(encoding, 20, 16, step, big_endian, data), expected)


@pytest.mark.parametrize('big_endian', [False, True])
def test_depth_is_stretched_and_its_holes_are_black(big_endian: bool) -> None:
    depth = np.array([[0, 1000, 2000], [3000, 1500, 0]], '>u2' if big_endian else '<u2')
    pixels = decode_raw('16UC1', 3, 2, 6, big_endian, depth.tobytes())
    assert pixels[..., 0].tolist() == [[0, 0, 128], [255, 64, 0]]


@pytest.mark.parametrize('big_endian', [False, True])
def test_float_depth_ignores_what_is_not_finite(big_endian: bool) -> None:
    depth = np.array([[np.nan, 1.0, np.inf], [3.0, 2.0, 0.0]], '>f4' if big_endian else '<f4')
    pixels = decode_raw('32FC1', 3, 2, 12, big_endian, depth.tobytes())
    assert pixels[..., 0].tolist() == [[0, 0, 0], [255, 128, 0]]


def test_depth_without_any_measurement_is_black() -> None:
    assert not decode_raw('16UC1', 4, 2, 8, False, bytes(16)).any()
    assert not decode_raw('32FC1', 2, 1, 8, False, np.full(2, np.nan, '<f4').tobytes()).any()


def test_last_row_may_lack_its_padding() -> None:
    step, data = padded(SCENE, 5)
    assert np.array_equal(decode_raw('bgr8', 20, 16, step, False, data[:-5]), SCENE)


@pytest.mark.parametrize('wrap', [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8), list])
def test_any_kind_of_buffer_is_taken(wrap: object) -> None:
    assert np.array_equal(decode_raw('bgr8', 20, 16, 60, False, wrap(SCENE.tobytes())), SCENE)  # type: ignore


def test_array_of_a_ros_message_is_taken() -> None:
    assert np.array_equal(decode_raw('bgr8', 20, 16, 60, False, array.array('B', SCENE.tobytes())), SCENE)


def test_pixels_are_a_copy() -> None:
    data = bytearray(SCENE.tobytes())
    pixels = decode_raw('bgr8', 20, 16, 60, False, data)
    data[:] = bytes(len(data))
    pixels[0, 0] = 1
    assert np.array_equal(pixels[1:], SCENE[1:])


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (('jpeg2000', 4, 4, 12, False, bytes(48)), 'not supported'),
        (('', 4, 4, 12, False, bytes(48)), 'not supported'),
        (('bgr8', 4, 4, 12, False, bytes(47)), 'needs 48 bytes'),
        (('bgr8', 4, 4, 12, False, b''), 'needs 48 bytes'),
        (('bgr8', 4, 4, 11, False, bytes(48)), 'step'),
        (('bgr8', 0, 4, 0, False, b''), 'no size'),
        (('bgr8', 4, 0, 12, False, b''), 'no size'),
        (('mono8', 2**32 - 1, 2**32 - 1, 2**32 - 1, False, b''), 'no size'),
        (('mono8', MAX_PIXELS + 1, 1, 0, False, b''), 'no size'),
        (('yuv422', 3, 2, 6, False, bytes(12)), 'two pixels'),
        (('nv21', 3, 3, 3, False, bytes(30)), 'four pixels'),
        (('nv21', 4, 4, 4, False, bytes(23)), 'needs 8 bytes'),
    ],
)
def test_raw_garbage_is_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode_raw(*arguments)  # type: ignore[arg-type]


@given(
    encoding=st.sampled_from(ENCODINGS),
    width=st.integers(0, 9),
    height=st.integers(0, 9),
    step=st.integers(0, 80),
    big_endian=st.booleans(),
    data=st.binary(max_size=400),
)
@settings(max_examples=300)
def test_raw_gives_an_image_or_a_value_error(  # noqa: PLR0917
    encoding: str, width: int, height: int, step: int, big_endian: bool, data: bytes
) -> None:
    try:
        pixels = decode_raw(encoding, width, height, step, big_endian, data)
    except ValueError:
        return
    assert pixels.shape == (height, width, 3)
    assert pixels.dtype == np.uint8


def encoded(suffix: str, pixels: np.ndarray) -> bytes:
    return cv2.imencode(suffix, pixels)[1].tobytes()


@pytest.mark.parametrize('form', ['jpeg', 'jpg', 'rgb8; jpeg compressed bgr8', ''])
def test_jpeg(form: str) -> None:
    assert_scene(decode_compressed(form, encode_jpeg(SCENE, 95)), 25)


def test_png_is_exact() -> None:
    assert np.array_equal(decode_compressed('png', encoded('.png', SCENE)), SCENE)


def test_png_with_alpha_loses_it() -> None:
    with_alpha = np.dstack([SCENE, np.full(SCENE.shape[:2], 7, np.uint8)])
    assert np.array_equal(decode_compressed('png', encoded('.png', with_alpha)), SCENE)


@pytest.mark.parametrize('suffix', ['.png', '.jpg'])
def test_grey_picture_becomes_three_channels(suffix: str) -> None:
    pixels = decode_compressed('mono8; compressed', encoded(suffix, np.full((8, 8), 77, np.uint8)))
    assert pixels.shape == (8, 8, 3)
    assert (pixels == 77).all()


def test_16_bit_png_keeps_its_upper_byte() -> None:
    deep = SCENE.astype(np.uint16) << 8 | 0x11
    assert np.array_equal(decode_compressed('png', encoded('.png', deep)), SCENE)
    assert np.array_equal(
        decode_compressed('mono16; png compressed', encoded('.png', deep[..., 0]))[..., 2], SCENE[..., 0]
    )


def test_compressed_sensor_data_gets_its_colours() -> None:
    seen = mosaic('grbg', SCENE)
    assert_scene(decode_compressed('bayer_grbg8; png compressed bayer_grbg8', encoded('.png', seen)), 2)


def test_compressed_depth_is_stretched() -> None:
    depth = encoded('.png', np.array([[0, 1000], [2000, 3000]], np.uint16))
    expected = [[0, 0], [128, 255]]
    assert decode_compressed('16UC1; png compressed', depth)[..., 0].tolist() == expected
    assert decode_compressed('16UC1; compressedDepth png', bytes(12) + depth)[..., 0].tolist() == expected


@pytest.mark.parametrize('data', [b'', b'\x00' * 100, b'\xff\xd8\xff\xe0 no picture', b'\x89PNG\r\n\x1a\n'])
def test_compressed_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match='compressed image'):
        decode_compressed('jpeg', data)


def test_compressed_picture_that_claims_to_be_huge_is_refused() -> None:
    png = bytearray(encoded('.png', SCENE))
    png[16:24] = (30_000).to_bytes(4, 'big') * 2
    with pytest.raises(ValueError, match='no size'):
        decode_compressed('png', bytes(png))
    jpeg = bytearray(encode_jpeg(SCENE))
    at = jpeg.index(b'\xff\xc0')
    jpeg[at + 5 : at + 9] = b'\xff\xff\xff\xff'
    with pytest.raises(ValueError, match='no size'):
        decode_compressed('jpeg', bytes(jpeg))


@given(st.data())
@settings(max_examples=150)
def test_damaged_pictures_give_an_image_or_a_value_error(data: st.DataObject) -> None:
    whole = bytearray(data.draw(st.sampled_from([encode_jpeg(SCENE), encoded('.png', SCENE)])))
    for _ in range(data.draw(st.integers(0, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        pixels = decode_compressed('', bytes(whole[: data.draw(st.integers(0, len(whole)))]))
    except ValueError:
        return
    assert pixels.ndim == 3
    assert pixels.shape[2] == 3


def test_encode_jpeg_refuses_what_is_no_picture() -> None:
    for wrong in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.float32), np.zeros((0, 4, 3), np.uint8)):
        with pytest.raises(ValueError, match='8-bit'):
            encode_jpeg(wrong)  # type: ignore[arg-type]


def test_higher_quality_is_closer() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3)).astype(np.uint8)
    errors = [
        np.abs(decode_compressed('jpeg', encode_jpeg(noise, q)).astype(int) - noise).mean() for q in (10, 95)
    ]
    assert errors[1] < errors[0]
