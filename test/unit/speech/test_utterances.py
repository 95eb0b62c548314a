import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.speech.audio import SAMPLE_RATE
from remembr_ros.speech.utterances import UtteranceCutter
from remembr_ros.speech.voice_activity import SpeechSegment


def loud(audio):
    """Take for speech what is louder than nothing."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (audio != 0).astype(int), [0]])))
    return [SpeechSegment(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


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


@pytest.mark.parametrize('chunk', [160, 1_600, 8_000, 1_000_000])
def test_pauses_separate_utterances_whatever_the_messages(chunk):
    found, rest = hear(sound(-1.0, 1.5, -1.2, 2.0, -2.0), chunk)
    assert [len(u) / SAMPLE_RATE for u in found] == [1.5, 2.0]
    assert [float(u[0]) for u in found] == [pytest.approx(0.02), pytest.approx(0.04)]
    assert rest == []


def test_a_short_pause_does_not_end_an_utterance():
    found, _ = hear(sound(1.0, -0.5, 1.0, -1.0), 1_600)
    assert [len(u) / SAMPLE_RATE for u in found] == [2.5]


def test_what_was_said_last_is_not_lost():
    found, rest = hear(sound(-1.0, 1.0), 1_600)
    assert found == []
    assert [len(u) / SAMPLE_RATE for u in rest] == [1.0]


def test_endless_speech_is_cut():
    found, rest = hear(sound(5.0), 1_600, max_s=2.0)
    assert all(len(u) <= 2.0 * SAMPLE_RATE + 4_000 for u in [*found, *rest])
    assert sum(len(u) for u in [*found, *rest]) == 5 * SAMPLE_RATE


def test_silence_is_not_kept():
    cutter = UtteranceCutter(detector=loud)
    for _ in range(100):
        assert cutter.add(np.zeros(SAMPLE_RATE, np.float32)) == []
    assert cutter._buffer.size <= SAMPLE_RATE


@given(
    st.lists(st.floats(0.1, 2.0).map(lambda s: round(s, 1)), min_size=1, max_size=6),
    st.sampled_from([400, 4_800, 50_000]),
)
def test_no_sound_of_speech_is_lost_or_doubled(spoken, chunk):
    stream = sound(*(part for seconds in spoken for part in (seconds, -0.9)))
    found, rest = hear(stream, chunk)
    assert [len(u) for u in [*found, *rest]] == [round(seconds * SAMPLE_RATE) for seconds in spoken]
