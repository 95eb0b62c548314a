"""Files such as a sentence-transformers model has, without one, or with one of random weights."""

import json
import os
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

PROMPT = 'Represent this sentence for searching relevant passages: '
MXBAI_TINY = {
    'hidden_size': 32,
    'num_hidden_layers': 2,
    'num_attention_heads': 2,
    'intermediate_size': 64,
    'initializer_range': 0.5,  # with 0.02 all texts would be alike
}
MXBAI_SHAPE = {
    'hidden_size': 1024,
    'num_hidden_layers': 24,
    'num_attention_heads': 16,
    'intermediate_size': 4096,
}


def make_model(
    folder: Path,
    pooling: dict[str, Any] | None = None,
    *,
    kinds: tuple[str, ...] = ('Transformer', 'Pooling', 'Normalize'),
    transformer: str = '',
) -> Path:
    """Return a folder with the files of a model whose tokens have 16 numbers.

    :param pooling: configuration of the second module; None: a plain transformer, without modules.json
    """
    home = folder / transformer
    home.mkdir(exist_ok=True)
    (home / 'config.json').write_text(json.dumps({'model_type': 'bert', 'hidden_size': 16}))
    header = json.dumps({'w': {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 8]}}).encode()
    (home / 'model.safetensors').write_bytes(len(header).to_bytes(8, 'little') + header + bytes(8))
    if pooling is not None:
        paths = [transformer, *(f'{number}_{kind}' for number, kind in enumerate(kinds[1:], 1))]
        modules = [
            {'idx': number, 'name': str(number), 'type': f'sentence_transformers.models.{kind}', 'path': path}
            for number, (kind, path) in enumerate(zip(kinds, paths, strict=True))
        ]
        (folder / 'modules.json').write_text(json.dumps(modules))
        (folder / '1_Pooling').mkdir(exist_ok=True)
        (folder / '1_Pooling' / 'config.json').write_text(json.dumps(pooling))
    return folder


def make_bert(
    folder: Path, shape: Mapping[str, float], *, words: Path | None = None, dtype: str = 'float32'
) -> Path:
    """Return a folder with a BERT of random weights, always the same, and its tokenizer.

    :param shape: as in its config.json
    :param words: folder with another tokenizer than that of single letters
    """
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    if words is None:
        letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
        listed = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', *letters, *(f'##{c}' for c in letters)]
        (folder / 'vocab.txt').write_text('\n'.join(listed))
        tokenizer = BertTokenizerFast(str(folder / 'vocab.txt'))
    else:
        tokenizer = AutoTokenizer.from_pretrained(words)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    model = BertModel(BertConfig(vocab_size=len(tokenizer), **shape))
    model.to(getattr(torch, dtype)).save_pretrained(folder)
    return folder


def make_mxbai(folder: Path, shape: Mapping[str, float], *, words: Path | None = None) -> Path:
    """Return a folder with the files of mxbai-embed-large-v1 as the hub has them, weights of 16 bits."""
    modes = {f'pooling_mode_{mode}': False for mode in ('mean_tokens', 'max_tokens', 'mean_sqrt_len_tokens')}
    pooling = {'word_embedding_dimension': shape['hidden_size'], 'pooling_mode_cls_token': True, **modes}
    folder.mkdir(parents=True, exist_ok=True)
    make_model(folder, pooling, kinds=('Transformer', 'Pooling'))
    make_bert(folder, shape, words=words, dtype='float16')
    (folder / 'sentence_bert_config.json').write_text('{"max_seq_length": 512, "do_lower_case": false}')
    prompts = {'prompts': {'query': PROMPT, 'passage': ''}, 'default_prompt_name': None}
    (folder / 'config_sentence_transformers.json').write_text(json.dumps(prompts))
    return folder


def put_in_cache(model: Path, cache: Path, name: str) -> Path:
    """Lay a model out as the hub's client does that fetched it; return the folder with its files."""
    home = cache / f'models--{name.replace("/", "--")}'
    commit = '0123456789abcdef0123456789abcdef01234567'
    for part in ('refs', 'blobs'):
        (home / part).mkdir(parents=True)
    (home / 'refs' / 'main').write_text(commit)
    snapshot = home / 'snapshots' / commit
    for file in filter(Path.is_file, model.rglob('*')):
        blob = home / 'blobs' / sha256(file.read_bytes()).hexdigest()
        shutil.copy(file, blob)
        link = snapshot / file.relative_to(model)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    return snapshot
