"""A Whisper of random weights, saved by transformers and converted by CTranslate2, as real ones are."""

from pathlib import Path

import pytest

WHY = 'needs faster-whisper and transformers: pip install "remembr_ros[speech,embedding]"'


def make(folder: Path) -> Path:
    """Return a folder that faster-whisper loads: a tiny model of bytes in all languages.

    :param folder: empty, for what is made on the way
    """
    pytest.importorskip('faster_whisper', reason=WHY)
    pytest.importorskip('transformers', reason=WHY)
    import torch
    from ctranslate2.converters import TransformersConverter
    from faster_whisper.tokenizer import _LANGUAGE_CODES
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import (
        GenerationConfig,
        PreTrainedTokenizerFast,
        WhisperConfig,
        WhisperFeatureExtractor,
        WhisperForConditionalGeneration,
    )

    languages = [f'<|{code}|>' for code in _LANGUAGE_CODES]
    special = ['<|endoftext|>', '<|startoftranscript|>', *languages, '<|translate|>', '<|transcribe|>']
    special += ['<|startoflm|>', '<|startofprev|>', '<|nospeech|>', '<|notimestamps|>']
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens([AddedToken(f'<|{i * 0.02:.2f}|>', special=False) for i in range(1501)])
    ids = tokenizer.get_vocab()
    end, start = ids['<|endoftext|>'], ids['<|startoftranscript|>']

    source, converted = folder / 'transformers', folder / 'ctranslate2'
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token='<|endoftext|>', unk_token='<|endoftext|>'
    ).save_pretrained(source)
    WhisperFeatureExtractor(feature_size=80).save_pretrained(source)
    torch.manual_seed(0)
    tokens = {'decoder_start_token_id': start, 'eos_token_id': end, 'bos_token_id': end, 'pad_token_id': end}
    sizes = {'encoder_layers': 1, 'decoder_layers': 1, 'encoder_ffn_dim': 32, 'decoder_ffn_dim': 32}
    heads = {'encoder_attention_heads': 2, 'decoder_attention_heads': 2}
    nothing = {'suppress_tokens': [], 'begin_suppress_tokens': []}
    config = WhisperConfig(vocab_size=len(ids), d_model=16, **tokens, **sizes, **heads, **nothing)
    model = WhisperForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        lang_to_id={language: ids[language] for language in languages},
        alignment_heads=[[0, 0]],
        **tokens,
        **nothing,
    )
    model.save_pretrained(source)
    TransformersConverter(str(source), copy_files=['tokenizer.json', 'preprocessor_config.json']).convert(
        str(converted), quantization='float32'
    )
    return converted
