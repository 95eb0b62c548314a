import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import TranscriberUnavailable
from remembr_ros.speech.sound.audio import SAMPLE_RATE, StreamResampler
from test.sound import resample

RATES = [8_000, 11_025, 22_050, 32_000, 44_100, 48_000]


def in_pieces(sound, rate, sizes):
    resampler, found, at = StreamResampler(rate), [], 0
    while at < sound.size:
        size = sizes[len(found) % len(sizes)]
        found.append(resampler.add(sound[at : at + size]))
        at += size
    return np.concatenate([*found, resampler.flush()])


@given(st.sampled_from(RATES), st.lists(st.integers(1, 3_000), min_size=1, max_size=5), st.integers(1, 8_000))
def test_the_pieces_fit_together_as_if_the_sound_had_come_in_one(rate, sizes, length):
    sound = np.random.default_rng(0).normal(0.0, 0.1, length).astype(np.float32)
    whole = in_pieces(sound, rate, [length])
    assert whole.size == -(-length * SAMPLE_RATE // rate)
    np.testing.assert_allclose(in_pieces(sound, rate, sizes), whole, atol=1e-5)


@pytest.mark.parametrize('rate', RATES)
def test_it_is_what_a_whole_recording_becomes(rate):
    seconds = np.arange(rate) / rate
    sound = (0.5 * np.sin(2.0 * np.pi * 440.0 * seconds)).astype(np.float32)
    found = in_pieces(sound, rate, [rate // 50])
    assert found.dtype == np.float32
    # The filters differ a little, by the length that a whole delay needs.
    np.testing.assert_allclose(found[1000:15000], resample(sound, rate)[1000:15000], atol=2e-3)


def test_what_16_khz_cannot_hold_is_filtered_out():
    sound = np.sin(2.0 * np.pi * 11_000.0 * np.arange(48_000) / 48_000).astype(np.float32)
    assert np.abs(in_pieces(sound, 48_000, [960])[500:-500]).max() < 0.01


def test_it_can_be_used_again_after_the_end():
    resampler = StreamResampler(48_000)
    sound = np.random.default_rng(0).normal(0.0, 0.1, 4_800).astype(np.float32)
    first = np.concatenate([resampler.add(sound), resampler.flush()])
    np.testing.assert_array_equal(np.concatenate([resampler.add(sound), resampler.flush()]), first)


def test_sound_of_the_right_rate_is_left_as_it_is():
    resampler = StreamResampler(SAMPLE_RATE)
    sound = np.ones(100, np.float32)
    assert resampler.add(sound) is sound
    assert resampler.flush().size == 0


@pytest.mark.parametrize('rate', RATES)
def test_an_endless_stream_is_not_kept(rate):
    resampler = StreamResampler(rate)
    made = sum(resampler.add(np.zeros(rate // 10, np.float32)).size for _ in range(200))
    assert made > 20 * SAMPLE_RATE - 2_000


def test_without_soxr_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'soxr', None)
    with pytest.raises(TranscriberUnavailable, match=r'pip install "remembr_ros\[speech\]"'):
        StreamResampler(48_000).add(np.zeros(10, np.float32))
