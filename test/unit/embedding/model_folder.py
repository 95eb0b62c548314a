"""Files such as a sentence-transformers model has, without one."""

import json
from pathlib import Path
from typing import Any


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
            {'type': f'sentence_transformers.models.{kind}', 'path': path}
            for kind, path in zip(kinds, paths, strict=True)
        ]
        (folder / 'modules.json').write_text(json.dumps(modules))
        (folder / '1_Pooling').mkdir(exist_ok=True)
        (folder / '1_Pooling' / 'config.json').write_text(json.dumps(pooling))
    return folder
