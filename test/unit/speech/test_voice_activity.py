import sys
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.errors import InvalidRequest, TranscriberUnavailable
from remembr_ros.speech.audio import SAMPLE_RATE, load_wav
from remembr_ros.speech.voice_activity import SpeechSegment, speech_segments

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


def test_no_audio_holds_no_speech():
    assert speech_segments(np.zeros(0, np.float32)) == []


def test_a_long_pause_separates_two_sentences(sentence):
    pause = np.zeros(2 * SAMPLE_RATE, np.float32)
    audio = np.concatenate([pause, sentence, pause, sentence, pause])
    first, second = speech_segments(audio)
    begin = 2.0
    assert begin - 0.3 <= first.start_s <= begin + 0.6
    assert begin + 2.0 <= first.end_s <= begin + 3.4
    assert first.end_s <= second.start_s
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


def test_stereo_is_refused():
    with pytest.raises(InvalidRequest, match='one channel'):
        speech_segments(np.zeros((2, 100), np.float32))


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'faster_whisper.vad', None)
    with pytest.raises(TranscriberUnavailable, match=r'pip install "remembr_ros\[speech\]"'):
        speech_segments(np.zeros(SAMPLE_RATE, np.float32))


def test_times_are_seconds_of_16_khz():
    segment = SpeechSegment(8_000, 24_000)
    assert (segment.start_s, segment.end_s) == (0.5, 1.5)
