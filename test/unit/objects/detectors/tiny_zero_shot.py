"""Zero-shot detectors with random weights, saved as real ones are: some thousand parameters."""

import string
from pathlib import Path
from typing import Any

WORDS = 'a red green cup bowl chair table door'.split()
SMALL: dict[str, Any] = {
    'hidden_size': 16,
    'intermediate_size': 16,
    'num_hidden_layers': 1,
    'num_attention_heads': 2,
}


def save_owlv2(folder: Path) -> None:
    """Save one that pads images to a square of 48 pixels and finds 36 boxes in it."""
    from transformers import Owlv2Config, Owlv2ForObjectDetection, Owlv2ImageProcessor, Owlv2Processor

    _save_owl(folder, Owlv2Config, Owlv2ForObjectDetection, Owlv2ImageProcessor, Owlv2Processor)


def save_owlvit(folder: Path) -> None:
    """Save one that stretches images to a square of 48 pixels and finds 36 boxes in it."""
    from transformers import OwlViTConfig, OwlViTForObjectDetection, OwlViTImageProcessor, OwlViTProcessor

    _save_owl(folder, OwlViTConfig, OwlViTForObjectDetection, OwlViTImageProcessor, OwlViTProcessor)


def _save_owl(folder: Path, config: Any, model: Any, image_processor: Any, processor: Any) -> None:
    import torch
    from transformers import CLIPTokenizer

    letters = string.ascii_lowercase
    known = ['!', *letters, *(f'{letter}</w>' for letter in letters), '<|startoftext|>', '<|endoftext|>']
    vocabulary = {token: number for number, token in enumerate(known)}
    words: Any = CLIPTokenizer(vocab=vocabulary, merges=[], pad_token='!', model_max_length=16)
    torch.manual_seed(0)
    tiny = model(
        config(
            text_config={
                **SMALL,
                'vocab_size': len(known),
                'pad_token_id': words.pad_token_id,
                'bos_token_id': words.bos_token_id,
                'eos_token_id': words.eos_token_id,
            },
            vision_config={**SMALL, 'image_size': 48, 'patch_size': 8},
            projection_dim=16,
        )
    )
    with torch.no_grad():
        for weight in tiny.box_head.parameters():
            weight.mul_(0.1)  # or most boxes would have no area
    tiny.save_pretrained(folder)
    processor(image_processor(size={'height': 48, 'width': 48}), words).save_pretrained(folder)


def save_grounding_dino(folder: Path) -> None:
    """Save one that scales images to 128 to 192 pixels and finds 20 boxes in them."""
    import torch
    from transformers import (
        BertTokenizer,
        GroundingDinoConfig,
        GroundingDinoForObjectDetection,
        GroundingDinoImageProcessor,
        GroundingDinoProcessor,
        SwinConfig,
    )

    known = ['[PAD]', *(f'[unused{number}]' for number in range(1, 1100)), *WORDS, '##s']
    # Where they are in BERT's vocabulary: the model knows these numbers.
    known[100:104], known[1012] = ['[UNK]', '[CLS]', '[SEP]', '[MASK]'], '.'
    images: Any = GroundingDinoImageProcessor
    words: Any = BertTokenizer(vocab={token: number for number, token in enumerate(known)})
    torch.manual_seed(0)
    made: Any = GroundingDinoConfig(
        backbone_config=SwinConfig(
            image_size=64,
            embed_dim=8,
            depths=[1, 1, 1, 1],
            num_heads=[1, 1, 1, 1],
            window_size=2,
            out_features=['stage2', 'stage3', 'stage4'],
        ),
        text_config={**SMALL, 'model_type': 'bert', 'vocab_size': len(known)},
        d_model=32,
        num_queries=20,
        **dict.fromkeys(('encoder_layers', 'encoder_n_points', 'decoder_n_points'), 1),
        **dict.fromkeys(('decoder_layers', 'encoder_attention_heads', 'decoder_attention_heads'), 2),
        **dict.fromkeys(('encoder_ffn_dim', 'decoder_ffn_dim'), 16),
        disable_custom_kernels=True,
    )
    GroundingDinoForObjectDetection(made).save_pretrained(folder)
    processor = images(size={'shortest_edge': 128, 'longest_edge': 192})
    GroundingDinoProcessor(processor, words).save_pretrained(folder)


LAYOUTS = {'owlv2': save_owlv2, 'owlvit': save_owlvit, 'grounding-dino': save_grounding_dino}
