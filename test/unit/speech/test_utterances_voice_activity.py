import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.errors import TranscriberUnavailable
from remembr_ros.speech.sound.audio import SAMPLE_RATE
from remembr_ros.speech.utterances import WINDOW, SpeechTracker
from remembr_ros.speech.whisper import SileroStream
from test.sound import load_wav, speech_segments

SPEECH = Path(__file__).resolve().parents[3] / '../shared/data/speech'


@pytest.fixture
def vad():
    pytest.importorskip('faster_whisper', reason='needs faster-whisper: pip install "remembr_ros[speech]"')


@pytest.fixture
def sentence(vad):
    path = SPEECH / 'spk1_snt1.wav'
    if not path.exists():
        pytest.skip('needs the recorded sentences of shared/data/speech')
    return load_wav(path)


def test_silence_and_noise_hold_no_speech(vad):
    assert speech_segments(np.zeros(SAMPLE_RATE, np.float32)) == []
    noise = np.random.default_rng(0).normal(0.0, 0.05, 2 * SAMPLE_RATE).astype(np.float32)
    assert speech_segments(noise) == []
    assert speech_segments(np.full(SAMPLE_RATE, np.nan, np.float32)) == []


def test_a_long_pause_separates_two_sentences(sentence):
    pause = np.zeros(2 * SAMPLE_RATE, np.float32)
    audio = np.concatenate([pause, sentence, pause, sentence, pause])
    first, second = speech_segments(audio)
    begin = 2.0
    assert begin - 0.3 <= first.start / SAMPLE_RATE <= begin + 0.6
    assert begin + 2.0 <= first.end / SAMPLE_RATE <= begin + 3.4
    assert first.end <= second.start
    assert second.end <= audio.size
    assert second.start - first.start == pytest.approx(pause.size + sentence.size, abs=SAMPLE_RATE // 5)


def test_a_patient_detector_joins_them(sentence):
    pause = np.zeros(SAMPLE_RATE, np.float32)
    audio = np.concatenate([sentence, pause, sentence])
    assert len(speech_segments(audio, min_silence_s=0.5)) == 2
    assert len(speech_segments(audio, min_silence_s=4.0)) == 1


def test_the_recording_of_a_speech_is_mostly_speech(vad):
    path = SPEECH / 'jfk.wav'
    if not path.exists():
        pytest.skip('needs the recorded speech of shared/data/speech')
    audio = load_wav(path)
    spoken = sum(s.end - s.start for s in speech_segments(audio))
    assert 0.6 < spoken / audio.size <= 1.0


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'faster_whisper.vad', None)
    with pytest.raises(TranscriberUnavailable, match=r'pip install "remembr_ros\[speech\]"'):
        speech_segments(np.zeros(SAMPLE_RATE, np.float32))


def follow(probabilities, **options):
    tracker = SpeechTracker(**options)
    found = [*map(tracker.add, probabilities), tracker.end()]
    return [(s.start / WINDOW, s.end / WINDOW) for s in found if s]


def test_speech_begins_and_ends_with_what_may_belong_to_it():
    faint, sure, silent = [0.4] * 3, [0.9] * 20, [0.1] * 40
    assert follow([*silent, *faint, *sure, *faint, *silent], pad_s=0.0) == [(40.0, 66.0)]


def test_after_a_pause_faint_sound_is_not_speech_any_more():
    found = follow([0.9] * 20 + [0.1] * 5 + [0.4] * 100, pad_s=0.0, min_silence_s=0.6)
    assert found == [(0.0, 20.0)]


def test_faint_sound_before_speech_counts_for_half_a_second():
    assert follow([0.4] * 1_000 + [0.9] * 20, pad_s=0.0) == [(985.0, 1020.0)]


def test_two_stretches_do_not_overlap_however_wide_their_margins():
    found = follow([0.1] * 5 + ([0.9] * 20 + [0.1] * 12) * 3, pad_s=1.0, min_silence_s=0.3)
    assert len(found) == 3
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(found))


def test_the_detector_of_a_stream_finds_what_it_finds_in_a_recording(sentence):
    from faster_whisper.vad import get_vad_model

    audio = sentence[: sentence.size // WINDOW * WINDOW]
    stream = SileroStream()
    found = np.concatenate([stream(part) for part in np.split(audio, [WINDOW, 4 * WINDOW, 11 * WINDOW])])
    # Its own wrapper blanks the end of the last window.
    expected = get_vad_model()(audio.copy()).ravel()
    np.testing.assert_allclose(found[:-1], expected[:-1], atol=1e-5)


def test_a_detector_of_another_kind_is_refused(monkeypatch, vad):
    from faster_whisper import vad as module

    class Session:
        def get_inputs(self):
            return []

    class Model:
        session = Session()

    monkeypatch.setattr(module, 'get_vad_model', Model)
    with pytest.raises(TranscriberUnavailable, match=r'faster-whisper 1\.2'):
        SileroStream().load()
