"""The contract of a transcriber, over faster-whisper with a model of random weights that is made here."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import TranscriberUnavailable
from remembr_ros.speech.sound.audio import SAMPLE_RATE, load_wav
from remembr_ros.speech.transcriber import Transcriber, Transcript
from remembr_ros.speech.whisper import WhisperTranscriber, computations, confidence
from test.unit.speech import tiny_whisper

WHY = 'needs faster-whisper: pip install "remembr_ros[speech]"'
SPEECH = Path(__file__).resolve().parents[3] / '../shared/data/speech'


@pytest.fixture(scope='module')
def model(tmp_path_factory) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # of what makes it, not of what is tested
        return tiny_whisper.make(tmp_path_factory.mktemp('whisper'))


def test_the_converted_model_has_the_files_of_a_real_one(model):
    names = {path.name for path in model.iterdir()}
    assert names == {
        *('config.json', 'model.bin', 'vocabulary.json', 'tokenizer.json', 'preprocessor_config.json')
    }
    assert len(json.loads((model / 'config.json').read_text())['lang_ids']) == 100


@pytest.mark.parametrize(
    ('chosen', 'runs_on'),
    [({}, 'cpu, int8'), ({'device': 'cpu'}, 'cpu, int8'), ({'compute_type': 'float32'}, 'cpu, float32')],
    ids=['auto', 'cpu', 'float32'],
)
def test_a_model_is_loaded_by_path_when_it_is_first_used(model, monkeypatch, chosen, runs_on):
    monkeypatch.setattr('ctranslate2.get_cuda_device_count', lambda: 0)
    transcriber = WhisperTranscriber(str(model), language='en', **chosen)
    assert isinstance(transcriber, Transcriber)
    assert transcriber.name == str(model)
    assert transcriber.runs_on == ''
    heard = transcriber.transcribe(np.zeros(SAMPLE_RATE, np.float32))
    assert isinstance(heard, Transcript)
    assert heard.language == 'en'
    assert transcriber.runs_on == runs_on


def test_the_language_is_detected_where_none_is_fixed(model):
    noise = np.random.default_rng(0).normal(0.0, 0.1, SAMPLE_RATE).astype(np.float32)
    language = WhisperTranscriber(str(model), device='cpu').transcribe(noise).language
    assert 2 <= len(language) <= 3
    assert language.isalpha()


@pytest.mark.parametrize('beam_size', [1, 5])
def test_real_speech_is_transcribed(model, beam_size):
    path = SPEECH / 'jfk.wav'
    if not path.exists():
        pytest.skip('needs the recorded speech of shared/data/speech')
    transcriber = WhisperTranscriber(str(model), device='cpu', language='en', beam_size=beam_size)
    heard = transcriber.transcribe(load_wav(path))
    assert heard.text == heard.text.strip()
    # Random weights guess among 1900 tokens, and say so.
    assert 0.0 <= heard.confidence < 0.1


def test_where_cuda_does_not_work_the_cpu_does_and_the_reason_is_told(model, monkeypatch):
    import ctranslate2

    if ctranslate2.get_cuda_device_count():
        pytest.skip('this machine has a GPU that works')
    monkeypatch.setattr('ctranslate2.get_cuda_device_count', lambda: 1)
    monkeypatch.setattr('ctranslate2.get_supported_compute_types', lambda device: {'float16', 'float32'})
    transcriber = WhisperTranscriber(str(model))
    transcriber.load()
    assert transcriber.runs_on.startswith('cpu, int8 (cuda does not work: ')
    with pytest.raises(TranscriberUnavailable, match='cuda'):
        WhisperTranscriber(str(model), device='cuda').load()


@pytest.mark.parametrize(
    ('device', 'compute_type', 'on_cuda', 'tried'),
    [
        ('auto', 'auto', set(), [('cpu', 'int8')]),
        ('auto', 'auto', {'float16', 'float32'}, [('cuda', 'float16'), ('cpu', 'int8')]),
        ('auto', 'auto', {'float32'}, [('cuda', 'float32'), ('cpu', 'int8')]),
        ('auto', 'int8', {'float16'}, [('cuda', 'int8'), ('cpu', 'int8')]),
        ('cpu', 'auto', {'float16'}, [('cpu', 'int8')]),
        ('cuda', 'auto', set(), [('cuda', 'float16')]),
        ('cpu', 'float32', set(), [('cpu', 'float32')]),
    ],
    ids=['no gpu', 'gpu', 'old gpu', 'chosen', 'cpu', 'cuda', 'float32'],
)
def test_the_best_device_is_tried_first(device, compute_type, on_cuda, tried):
    assert computations(device, compute_type, on_cuda) == tried


def test_confidence_is_the_probability_of_the_tokens_and_of_speech():
    assert confidence([]) == 0.0
    assert confidence([(2.0, 0.0, 0.0)]) == 1.0
    assert confidence([(2.0, np.log(0.8), 0.25)]) == pytest.approx(0.6)
    assert confidence([(3.0, np.log(0.8), 0.0), (1.0, np.log(0.4), 0.0)]) == pytest.approx(0.7)
    assert confidence([(0.0, np.log(0.5), 0.0)]) == pytest.approx(0.5)


@given(st.lists(st.tuples(st.floats(0.0, 30.0), st.floats(-1e6, 1.0), st.floats(-0.1, 1.1)), max_size=5))
def test_confidence_lies_between_0_and_1(segments):
    assert 0.0 <= confidence(segments) <= 1.0


def test_no_audio_says_nothing_and_loads_nothing():
    transcriber = WhisperTranscriber('no-such-model', language='de')
    assert transcriber.transcribe(np.zeros(0, np.float32)) == Transcript('', 'de')


def test_an_unknown_model_is_named():
    pytest.importorskip('faster_whisper', reason=WHY)
    with pytest.raises(TranscriberUnavailable, match='no-such-model'):
        WhisperTranscriber('no-such-model').load()


def test_a_folder_without_a_model_is_named(tmp_path):
    pytest.importorskip('faster_whisper', reason=WHY)
    with pytest.raises(TranscriberUnavailable, match=tmp_path.name):
        WhisperTranscriber(str(tmp_path), device='cpu').load()


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'faster_whisper', None)
    with pytest.raises(TranscriberUnavailable, match=r'pip install "remembr_ros\[speech\]"'):
        WhisperTranscriber('tiny').load()
