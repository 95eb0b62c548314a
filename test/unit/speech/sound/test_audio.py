import math
import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.speech.sound.audio import SAMPLE_RATE, from_pcm, load_wav, resample


def write(path: Path, data: bytes, *, channels: int = 1, width: int = 2, rate: int = SAMPLE_RATE) -> Path:
    with wave.open(str(path), 'wb') as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(data)
    return path


def tone(rate: int, hertz: float = 440.0, seconds: float = 0.5) -> np.ndarray:
    return 0.5 * np.sin(2.0 * math.pi * hertz * np.arange(round(rate * seconds)) / rate)


def pcm(samples: np.ndarray, width: int) -> bytes:
    if width == 1:
        return np.round(samples * 127.0 + 128.0).astype(np.uint8).tobytes()
    whole = np.round(samples * (2 ** (8 * width - 1) - 1)).astype('<i4')
    return whole.view(np.uint8).reshape(-1, 4)[:, :width].tobytes()


@pytest.mark.parametrize('width', [1, 2, 3, 4])
def test_every_width_of_samples_is_read_at_full_scale(tmp_path, width):
    samples = tone(SAMPLE_RATE)
    audio = load_wav(write(tmp_path / 'a.wav', pcm(samples, width), width=width))
    assert audio.dtype == np.float32
    assert audio.shape == samples.shape
    np.testing.assert_allclose(audio, samples, atol=0.01 if width == 1 else 1e-4)


@pytest.mark.parametrize('rate', [8_000, 11_025, 22_050, 44_100, 48_000])
def test_any_rate_becomes_16_khz(tmp_path, rate):
    audio = load_wav(write(tmp_path / 'a.wav', pcm(tone(rate), 2), rate=rate))
    assert audio.dtype == np.float32
    assert abs(len(audio) - SAMPLE_RATE // 2) <= 1
    inner = slice(1000, 7000)  # the ends ring
    np.testing.assert_allclose(audio[inner], tone(SAMPLE_RATE)[inner], atol=0.01)


def test_channels_are_averaged(tmp_path):
    left, right = np.full(100, 0.5), np.full(100, -0.25)
    data = pcm(np.column_stack([left, right]).ravel(), 2)
    audio = load_wav(write(tmp_path / 'a.wav', data, channels=2))
    assert audio.shape == (100,)
    np.testing.assert_allclose(audio, 0.125, atol=1e-4)


def test_a_file_without_samples_is_silence_of_no_length(tmp_path):
    assert load_wav(write(tmp_path / 'a.wav', b'', rate=44_100)).shape == (0,)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BagUnreadable, match=r'nowhere\.wav'):
        load_wav(tmp_path / 'nowhere.wav')


@pytest.mark.parametrize('data', [b'', b'RIFF', b'this is no sound at all, only text', b'RIFF\0\0\0\0WAVE'])
def test_what_is_no_wav_file_is_refused(tmp_path, data):
    path = tmp_path / 'a.wav'
    path.write_bytes(data)
    with pytest.raises(BagUnreadable, match='16-bit PCM'):
        load_wav(path)


def test_floating_point_samples_are_refused(tmp_path):
    path = write(tmp_path / 'a.wav', bytes(8), width=4)
    content = bytearray(path.read_bytes())
    content[20] = 3  # WAVE_FORMAT_IEEE_FLOAT
    path.write_bytes(content)
    with pytest.raises(BagUnreadable, match='16-bit PCM'):
        load_wav(path)


def test_a_truncated_file_gives_what_there_is(tmp_path):
    path = write(tmp_path / 'a.wav', pcm(tone(SAMPLE_RATE), 2))
    path.write_bytes(path.read_bytes()[: 44 + 2001])
    assert load_wav(path).shape == (1000,)


@pytest.mark.parametrize('odd', [{'width': 5}, {'channels': 0}, {'rate': 0}, {'rate': 10**9}])
def test_impossible_sound_is_refused(odd):
    with pytest.raises(InvalidRequest):
        from_pcm(bytes(100), **odd)


@given(st.binary(max_size=200), st.sampled_from([1, 2, 3, 4]), st.integers(1, 4))
def test_any_bytes_are_sound_within_full_scale(data, width, channels):
    audio = from_pcm(data, width=width, channels=channels)
    assert audio.shape == (len(data) // (width * channels),)
    assert np.all(np.abs(audio) <= 1.0)


def test_resampling_at_the_same_rate_changes_nothing():
    samples = np.array([0.1, -0.2], np.float32)
    assert resample(samples, SAMPLE_RATE) is samples
