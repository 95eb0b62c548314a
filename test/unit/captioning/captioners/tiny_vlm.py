"""Vision language models with random weights, saved as real ones are: some thousand parameters, any words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = (
    'a the red green blue grey door lift table chair window corridor kitchen sign person robot wall floor '
    'lamp plant stands lies open closed left right near behind one two three four shelf cup book printer'
).split()

CHATML = (
    '{% for message in messages %}<|im_start|>{{ message.role }}\n'
    '{% for part in message.content %}{% if part.type == "image" %}IMAGE{% else %}{{ part.text }}{% endif %}'
    '{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}'
)
"""IMAGE: what stands for a picture in the prompt of a family."""


def tokenizer(*special: str) -> Any:
    """Return a tokenizer of WORDS, with the special tokens of a family."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    tokens = ['<pad>', '<unk>', '<|im_start|>', '<|im_end|>', *special]
    made = Tokenizer(models.WordLevel({t: i for i, t in enumerate([*tokens, *WORDS])}, unk_token='<unk>'))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        unk_token='<unk>',
        pad_token='<pad>',
        eos_token='<|im_end|>',
        # Not what a model needs: it has to be set by whoever makes batches.
        padding_side='right',
        additional_special_tokens=['<|im_start|>', *special],
        model_input_names=['input_ids', 'attention_mask'],  # for transformers 4
    )


def save(model: Any, processor: Any, folder: Path, seed: int = 0) -> Path:
    """Give the model weights that make its words depend on what it sees, and save both."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1:
                fan_in = weight[0].numel()
                weight.copy_(torch.randn(weight.shape, generator=generator) * (1.5 / fan_in**0.5))
            elif name.endswith('bias'):
                weight.zero_()
    words = processor.tokenizer
    settings = model.generation_config
    settings.eos_token_id, settings.pad_token_id = words.eos_token_id, words.pad_token_id
    # Sampling, as many models are published, and an end to the repetitions that random weights run into.
    settings.do_sample, settings.temperature, settings.top_p = True, 0.8, 0.9
    settings.no_repeat_ngram_size, settings.min_new_tokens = 2, 6
    said = {*words.convert_tokens_to_ids(WORDS), words.eos_token_id}
    settings.suppress_tokens = [i for i in range(len(words)) if i not in said]
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def llava(folder: Path) -> Path:
    """CLIP and Llama."""
    from transformers import (
        CLIPImageProcessorPil,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    words = tokenizer('<image>')
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            image_size=28,
            patch_size=14,
        ),
        text_config=LlamaConfig(
            vocab_size=len(words),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        ),
        image_token_index=words.convert_tokens_to_ids('<image>'),
        image_seq_length=4,
        vision_feature_layer=-1,
    )
    processor = LlavaProcessor(
        CLIPImageProcessorPil(size={'shortest_edge': 28}, crop_size={'height': 28, 'width': 28}),
        words,
        patch_size=14,
        vision_feature_select_strategy='default',
        num_additional_image_tokens=1,
        chat_template=CHATML.replace('IMAGE', '<image>'),
    )
    return save(LlavaForConditionalGeneration(config), processor, folder)


def smolvlm(folder: Path) -> Path:
    """SigLIP and Llama: SmolVLM-Instruct, which is an Idefics3 and sees each frame whole and in parts."""
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3ImageProcessorPil,
        Idefics3Processor,
        LlamaConfig,
    )

    parts = [f'<row_{i}_col_{j}>' for i in range(1, 7) for j in range(1, 7)]
    words = tokenizer('<image>', '<fake_token_around_image>', '<end_of_utterance>', '<global-img>', *parts)
    processor = Idefics3Processor(
        Idefics3ImageProcessorPil(size={'longest_edge': 64}, max_image_size={'longest_edge': 32}),
        words,
        image_seq_len=4,
        chat_template=CHATML.replace('IMAGE', '<image>'),
    )
    config = Idefics3Config(
        vision_config={
            'hidden_size': 32,
            'intermediate_size': 64,
            'num_hidden_layers': 2,
            'num_attention_heads': 2,
            'image_size': 32,
            'patch_size': 8,
        },
        text_config=LlamaConfig(
            vocab_size=len(words),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        ),
        image_token_id=words.convert_tokens_to_ids('<image>'),
        scale_factor=2,
    )
    return save(Idefics3ForConditionalGeneration(config), processor, folder)


def qwen(folder: Path) -> Path:
    """Qwen2.5-VL, which sees frames in any resolution. Saved without its part for videos."""
    import json

    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration, Qwen2VLImageProcessorPil

    names = ('<|vision_start|>', '<|vision_end|>', '<|image_pad|>', '<|video_pad|>')
    words = tokenizer(*names)
    start, end, image, video = words.convert_tokens_to_ids(list(names))
    config = Qwen2_5_VLConfig(
        vision_config={
            'depth': 2,
            'hidden_size': 32,
            'intermediate_size': 64,
            'num_heads': 2,
            'out_hidden_size': 32,
            'patch_size': 14,
            'window_size': 56,
            'fullatt_block_indexes': [1],
        },
        text_config={
            'vocab_size': len(words),
            'hidden_size': 32,
            'intermediate_size': 64,
            'num_hidden_layers': 2,
            'num_attention_heads': 4,
            'num_key_value_heads': 2,
            'rope_parameters': {'rope_type': 'default', 'mrope_section': [1, 1, 2], 'rope_theta': 10000.0},
        },
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
    )

    class Saved:
        """What AutoProcessor reads; the real class cannot be made without torchvision."""

        tokenizer = words

        def save_pretrained(self, path: Path) -> None:
            words.save_pretrained(path)
            frames = Qwen2VLImageProcessorPil(size={'shortest_edge': 28 * 28, 'longest_edge': 84 * 84})
            frames.save_pretrained(path)
            template = CHATML.replace('IMAGE', '<|vision_start|><|image_pad|><|vision_end|>')
            (path / 'chat_template.jinja').write_text(template)
            (path / 'processor_config.json').write_text(
                json.dumps({'processor_class': 'Qwen2_5_VLProcessor'})
            )

    return save(Qwen2_5_VLForConditionalGeneration(config), Saved(), folder)


def smolvlm2(folder: Path) -> Path:
    """SmolVLM2, which is an Idefics3 that also takes videos. Saved without its part for them."""
    import json

    smolvlm(folder)
    config = json.loads((folder / 'config.json').read_text())
    config['model_type'], config['architectures'] = 'smolvlm', ['SmolVLMForConditionalGeneration']
    config['vision_config']['model_type'] = 'smolvlm_vision'
    (folder / 'config.json').write_text(json.dumps(config))
    (folder / 'processor_config.json').write_text(
        json.dumps({'processor_class': 'SmolVLMProcessor', 'image_seq_len': 4})
    )
    frames = {
        'image_processor_type': 'SmolVLMImageProcessor',
        'size': {'longest_edge': 64},
        'max_image_size': {'longest_edge': 32},
    }
    (folder / 'preprocessor_config.json').write_text(json.dumps(frames))
    return folder  # the weights have the same names


def nvila(folder: Path) -> Path:
    """NVILA-Lite-2B-hf: config, model and processor are classes of its own code, which auto_map names.

    Its template is where older versions of transformers left it, with the tokenizer.
    """
    import json
    import shutil

    from transformers import SiglipImageProcessorPil

    from test.unit.captioning.captioners import tiny_nvila
    from test.unit.captioning.captioners.tiny_nvila.configuration_nvila_lite import NVILALiteConfig
    from test.unit.captioning.captioners.tiny_nvila.modeling_nvila_lite import (
        NVILALiteForConditionalGeneration,
    )

    words = tokenizer('<image>')
    sizes = {'hidden_size': 32, 'intermediate_size': 64, 'num_hidden_layers': 2, 'num_attention_heads': 4}
    config = NVILALiteConfig(
        text_config={**sizes, 'vocab_size': len(words), 'num_key_value_heads': 2},
        vision_config={**sizes, 'image_size': 28, 'patch_size': 14},
        image_token_id=words.convert_tokens_to_ids('<image>'),
    )

    def written(name: str, **fields: Any) -> None:
        path = folder / name
        path.write_text(json.dumps({**(json.loads(path.read_text()) if path.exists() else {}), **fields}))

    class Saved:
        """What AutoProcessor reads."""

        tokenizer = words

        def save_pretrained(self, path: Path) -> None:
            words.save_pretrained(path)
            SiglipImageProcessorPil(size={'height': 28, 'width': 28}).save_pretrained(path)

    save(NVILALiteForConditionalGeneration(config), Saved(), folder)
    auto_map = {
        'AutoConfig': 'configuration_nvila_lite.NVILALiteConfig',
        'AutoModel': 'modeling_nvila_lite.NVILALiteForConditionalGeneration',
    }
    written('config.json', auto_map=auto_map)
    written('tokenizer_config.json', chat_template=CHATML.replace('IMAGE', '<image>'))
    processor = {'AutoProcessor': 'processing_nvila_lite.NVILALiteProcessor'}
    written('processor_config.json', auto_map=processor, processor_class='NVILALiteProcessor')
    for code in Path(tiny_nvila.__path__[0]).glob('*_nvila_lite.py'):
        shutil.copy(code, folder)
    return folder


FAMILIES: dict[str, Callable[[Path], Path]] = {
    'llava': llava,
    'smolvlm': smolvlm,
    'smolvlm2': smolvlm2,
    'qwen': qwen,
    'nvila': nvila,
}
