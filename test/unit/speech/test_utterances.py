import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.speech.sound.audio import SAMPLE_RATE
from remembr_ros.speech.utterances import PAD_S, WINDOW, UtteranceCutter

PAD = round(PAD_S * SAMPLE_RATE)
SIZES = [320, 1_600, 8_000, 16_000, 1_000_000]


def loud(windows):
    """Take for speech what is louder than nothing."""
    return (np.abs(windows.reshape(-1, WINDOW)).mean(axis=1) > 1e-4).astype(np.float32)


def sound(*parts):
    """Return a stream: seconds of speech positive, of silence negative; each speech has its own level."""
    return np.concatenate(
        [
            np.full(round(abs(seconds) * SAMPLE_RATE), (i + 1) / 100 if seconds > 0 else 0.0, np.float32)
            for i, seconds in enumerate(parts)
        ]
    )


def hear(stream, chunk, **options):
    cutter = UtteranceCutter(detector=loud, **options)
    found = [u for start in range(0, len(stream), chunk) for u in cutter.add(stream[start : start + chunk])]
    return found, cutter.flush()


def spoken(utterance):
    """Return the seconds that are not silent."""
    return np.count_nonzero(utterance.audio) / SAMPLE_RATE


@pytest.mark.parametrize('chunk', SIZES)
def test_pauses_separate_utterances_whatever_the_messages(chunk):
    found, rest = hear(sound(-1.0, 1.5, -1.2, 2.0, -2.0), chunk)
    assert [spoken(u) for u in found] == [1.5, 2.0]
    assert [float(u.audio.max()) for u in found] == [pytest.approx(0.02), pytest.approx(0.04)]
    assert rest == []


@pytest.mark.parametrize('chunk', SIZES)
def test_an_utterance_says_where_it_was_and_has_some_silence_around_it(chunk):
    stream = sound(-1.0, 1.5, -1.2)
    (one,), _ = hear(stream, chunk)
    assert one.whole
    assert SAMPLE_RATE - PAD - WINDOW < one.start <= SAMPLE_RATE - PAD
    assert 2.5 * SAMPLE_RATE + PAD <= one.end < 2.5 * SAMPLE_RATE + PAD + WINDOW
    np.testing.assert_array_equal(one.audio, stream[one.start : one.end])


def test_a_short_pause_does_not_end_an_utterance():
    found, _ = hear(sound(1.0, -0.5, 1.0, -1.0), 1_600)
    assert [spoken(u) for u in found] == [2.0]


def test_a_click_is_no_utterance():
    found, rest = hear(sound(-1.0, 0.05, -1.0, 0.05, -0.3, 0.05, -1.0), 1_600)
    assert found == rest == []


def test_what_was_said_last_is_not_lost():
    found, rest = hear(sound(-1.0, 1.0), 1_600)
    assert found == []
    assert [spoken(u) for u in rest] == [1.0]
    assert rest[0].end == 2 * SAMPLE_RATE, 'and nothing is made up'


def test_after_the_end_the_stream_can_go_on():
    cutter = UtteranceCutter(detector=loud)
    assert cutter.add(sound(-0.3, 1.0)) == []
    (first,) = cutter.flush()
    assert cutter.flush() == []
    place = cutter.place
    (second,) = cutter.add(sound(-0.3, 1.0, -1.0))
    assert spoken(first) == spoken(second) == 1.0
    assert place <= second.start <= place + 0.3 * SAMPLE_RATE


@pytest.mark.parametrize('chunk', SIZES)
def test_endless_speech_is_cut(chunk):
    found, rest = hear(sound(11.0), chunk, max_s=2.0)
    parts = [*found, *rest]
    assert all(u.audio.size <= 2.0 * SAMPLE_RATE for u in parts)
    assert [u.whole for u in parts] == [False] * (len(parts) - 1) + [True]
    assert sum(u.audio.size for u in parts) == 11 * SAMPLE_RATE
    assert all(a.end == b.start for a, b in itertools.pairwise(parts))


@given(st.floats(5.2, 9.4), st.integers(0, 100), st.sampled_from([320, 16_000]))
def test_long_speech_is_cut_between_words(pause_at, seed, chunk):
    # Words of 0.3 s with weak ends; one pause in the second half is deep, the others are not.
    stream = np.random.default_rng(seed).normal(0.0, 0.1, 15 * SAMPLE_RATE).astype(np.float32)
    seconds = np.arange(stream.size) / SAMPLE_RATE
    stream *= np.where(seconds % 0.4 < 0.3, 1.0, 0.2).astype(np.float32)
    stream[np.abs(seconds - pause_at) < 0.06] *= 0.05
    found, _ = hear(stream, chunk, max_s=10.0)
    assert not found[0].whole
    assert abs(found[0].end / SAMPLE_RATE - pause_at) < 0.06


def test_speech_that_has_just_ended_is_not_cut_but_ended():
    found, rest = hear(sound(-1.0, 9.5, -0.5, 3.0, -1.0), 1_600, max_s=9.9, end_silence_s=2.0)
    assert [u.whole for u in found] == [True]
    assert [spoken(u) for u in [*found, *rest]] == [9.5, 3.0]


@pytest.mark.parametrize('level', [0.0, 0.4])
def test_neither_silence_nor_doubtful_noise_is_kept(level):
    cutter = UtteranceCutter(detector=lambda windows: np.full(windows.size // WINDOW, level, np.float32))
    for _ in range(100):
        assert cutter.add(np.zeros(SAMPLE_RATE, np.float32)) == []
    assert cutter.kept <= SAMPLE_RATE


def test_what_is_no_number_is_silence():
    cutter = UtteranceCutter(detector=loud)
    assert cutter.add(np.full(3 * SAMPLE_RATE, np.nan, np.float32)) == cutter.flush() == []


@given(
    st.lists(st.floats(0.4, 2.0).map(lambda s: round(s, 1)), min_size=1, max_size=6),
    st.sampled_from([400, 4_800, 50_000]),
)
def test_no_sound_of_speech_is_lost_or_doubled(lengths, chunk):
    stream = sound(*(part for seconds in lengths for part in (seconds, -1.0)))
    found, rest = hear(stream, chunk)
    assert [spoken(u) for u in [*found, *rest]] == lengths
