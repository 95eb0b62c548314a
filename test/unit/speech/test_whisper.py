"""The contract of a transcriber, over faster-whisper with a model of random weights that is made here."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.errors import TranscriberUnavailable
from remembr_ros.speech.audio import SAMPLE_RATE
from remembr_ros.speech.transcriber import Transcriber, Transcript
from remembr_ros.speech.whisper import WhisperTranscriber

WHY = 'needs faster-whisper: pip install "remembr_ros[speech]"'


@pytest.fixture(scope='session')
def model(tmp_path_factory) -> Path:
    """A folder with a Whisper model in the format of CTranslate2: the real sizes of nothing but the sound."""
    pytest.importorskip('faster_whisper', reason=WHY)
    from ctranslate2.specs import whisper_spec
    from faster_whisper.tokenizer import _LANGUAGE_CODES
    from tokenizers import Tokenizer, models

    special = ['<|endoftext|>', '<|startoftranscript|>']
    special += [f'<|{code}|>' for code in _LANGUAGE_CODES]
    special += ['<|translate|>', '<|transcribe|>', '<|startoflm|>', '<|startofprev|>', '<|nospeech|>']
    special += ['<|notimestamps|>', *(f'<|{i * 0.02:.2f}|>' for i in range(1501))]
    symbols = [chr(c) for c in range(33, 127)] + ['Ġ', ' ', '<unk>', '♩']
    vocabulary = [*symbols, *special]
    folder = tmp_path_factory.mktemp('whisper')
    ids = {token: i for i, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token='<unk>'))
    tokenizer.add_special_tokens(special)
    tokenizer.save(str(folder / 'tokenizer.json'))

    random = np.random.default_rng(0)
    spec = whisper_spec.WhisperSpec(1, 2, 1, 2)
    width = 8

    def fill(part, sizes):
        for name, shape in sizes.items():
            *path, last = name.split('.')
            target = part
            for step in path:
                target = target[int(step)] if step.isdecimal() else getattr(target, step)
            setattr(target, last, random.normal(0.0, 0.3, shape).astype(np.float32))

    def norm(name):
        return {f'{name}.gamma': width, f'{name}.beta': width}

    def linear(name, rows, columns=width):
        return {f'{name}.weight': (rows, columns), f'{name}.bias': rows}

    own = {**norm('self_attention.layer_norm'), **linear('self_attention.linear.0', 3 * width)}
    own |= linear('self_attention.linear.1', width)
    other = {**norm('attention.layer_norm'), **linear('attention.linear.0', width)}
    other |= {**linear('attention.linear.1', 2 * width), **linear('attention.linear.2', width)}
    forward = {**norm('ffn.layer_norm'), **linear('ffn.linear_0', 16), **linear('ffn.linear_1', width, 16)}
    fill(
        spec.encoder,
        {
            'conv1.weight': (width, 80, 3),
            'conv1.bias': width,
            'conv2.weight': (width, width, 3),
            'conv2.bias': width,
            'position_encodings.encodings': (1500, width),
            **norm('layer_norm'),
        },
    )
    fill(spec.encoder.layer[0], own | forward)
    fill(
        spec.decoder,
        {
            'embeddings.weight': (len(vocabulary), width),
            'position_encodings.encodings': (448, width),
            **norm('layer_norm'),
            'projection.weight': (len(vocabulary), width),
        },
    )
    fill(spec.decoder.layer[0], own | other | forward)
    spec.decoder.scale_embeddings = np.int8(0)
    spec.register_vocabulary(vocabulary)
    spec.config.suppress_ids = []
    spec.config.suppress_ids_begin = []
    spec.config.lang_ids = [ids[f'<|{code}|>'] for code in _LANGUAGE_CODES]
    spec.config.alignment_heads = [(0, 0)]
    spec.validate()
    spec.optimize(quantization='float32')
    spec.save(str(folder))
    assert json.loads((folder / 'config.json').read_text())
    return folder


def test_the_model_is_loaded_when_it_is_first_used(model):
    transcriber = WhisperTranscriber(str(model), device='cpu', compute_type='float32', language='en')
    assert isinstance(transcriber, Transcriber)
    assert transcriber.name == str(model)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        heard = transcriber.transcribe(np.zeros(SAMPLE_RATE, np.float32))
    assert isinstance(heard, Transcript)
    assert heard.language == 'en'
    assert heard.text == heard.text.strip()


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
