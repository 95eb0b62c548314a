"""Loading of vision language models and their processors with transformers."""

import importlib.util
import os
from types import SimpleNamespace
from typing import Any

from remembr_ros.captioning.captioners.vlm_options import VlmOptions
from remembr_ros.embedding.model_files import hub_reachable, is_cached
from remembr_ros.errors import CaptionerFailed

INSTALL = 'pip install "remembr_ros[vlm]"'

REMOTE_CLASSES = (
    'AutoModelForImageTextToText',
    'AutoModelForVision2Seq',
    'AutoModelForCausalLM',
    'AutoModel',
)
"""By which a model may offer code of its own, the best first."""


def load_vlm(name: str, options: VlmOptions) -> tuple[Any, Any]:
    """Return the processor and the model, ready to generate.

    :param name: on the Hugging Face hub, or a folder
    :raises CaptionerFailed: it cannot be loaded; what transformers raised is its cause
    """
    if missing := [p for p in ('torch', 'transformers', 'PIL') if importlib.util.find_spec(p) is None]:
        raise CaptionerFailed(f'captioning with {name} needs {", ".join(missing)}: {INSTALL}')
    try:
        processor, model = _loaded(name, options)
    # Wide on purpose: with damaged files tokenizers raises Exception itself, safetensors a child of it.
    except Exception as error:
        raise CaptionerFailed(_cannot_load(name, error)) from error
    if getattr(processor, 'chat_template', None) is None:
        # A processor of a model's own code may leave it with the tokenizer.
        processor.chat_template = getattr(processor.tokenizer, 'chat_template', None)
    if processor.chat_template is None:
        raise CaptionerFailed(
            f'{name} has no chat template, so it is no model to talk to; choose an instruct model'
        )
    return processor, model


def _loaded(name: str, options: VlmOptions) -> tuple[Any, Any]:
    import torch
    from transformers import AutoConfig
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]  # of reading the weights; a download still shows its own
    source: dict[str, Any] = {
        # Never left out: transformers would ask on the terminal.
        'trust_remote_code': options.trust_remote_code,
        'local_files_only': os.path.isdir(name) or is_cached(name) or not hub_reachable(),
    }
    processor = _load_processor(name, source)
    # A batch is padded on the left, or the model would go on from padding.
    processor.tokenizer.padding_side = 'left'
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    config = AutoConfig.from_pretrained(name, **source)
    placed: dict[str, Any] = {}
    device = options.device
    if device == 'auto' and not torch.cuda.is_available():
        device = 'cpu'
    if device == 'auto' or options.quantization != 'none':
        _require('accelerate', f'the device {options.device} or a quantization')
        placed['device_map'] = 'auto' if device == 'auto' else {'': device}
    if options.quantization != 'none':
        placed['quantization_config'] = _quantization(options.quantization)
    dtype = 'auto' if options.dtype == 'auto' else getattr(torch, options.dtype)
    model = _auto_class(config, options.trust_remote_code).from_pretrained(
        name, dtype=dtype, **placed, **source
    )
    if not placed:
        model = model.to(device)
    return processor, model.eval()


def _load_processor(name: str, source: dict[str, Any]) -> Any:
    from transformers import AutoProcessor

    auto: Any = AutoProcessor
    try:
        return auto.from_pretrained(name, **source)
    except ImportError as error:
        if source['trust_remote_code'] or 'torchvision' not in str(error).lower():
            raise
    # Only videos need torchvision, and a build that fits torch is hard to come by on a robot's computer.
    return _without_videos(name, source)


def _without_videos(name: str, source: dict[str, Any]) -> Any:
    """Return the processor of a model without the part for videos, which wants torchvision."""
    from transformers import AutoConfig
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

    base: Any = PROCESSOR_MAPPING[type(AutoConfig.from_pretrained(name, **source))]
    parts = base.get_attributes()

    class ImageProcessorOnly(base):  # type: ignore[misc]
        # SmolVLM2 asks for these whatever it is given.
        video_processor = SimpleNamespace(num_frames=0, fps=0)

        @classmethod
        def get_attributes(cls) -> list[str]:
            return [part for part in parts if part != 'video_processor']

        @classmethod
        def _get_arguments_from_pretrained(cls, *arguments: Any, **options: Any) -> list[Any]:
            loaded = list(super()._get_arguments_from_pretrained(*arguments, **options))
            loaded.insert(parts.index('video_processor'), None)
            return loaded

    return ImageProcessorOnly.from_pretrained(name, **source)


def _auto_class(config: Any, trusted: bool) -> Any:
    import transformers

    offered = (trusted and getattr(config, 'auto_map', None)) or {}
    known = (name for name in REMOTE_CLASSES if name in offered and hasattr(transformers, name))
    return getattr(transformers, next(known, 'AutoModelForImageTextToText'))


def _quantization(kind: str) -> Any:
    _require('bitsandbytes', f'{kind} quantization')
    import torch
    from transformers import BitsAndBytesConfig

    make: Any = BitsAndBytesConfig
    if kind == '8bit':
        return make(load_in_8bit=True)
    return make(
        load_in_4bit=True,
        bnb_4bit_quant_type='nf4',
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


def _require(package: str, feature: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise CaptionerFailed(f'{feature} needs {package}: pip install {package}, or leave it out')


def _cannot_load(name: str, error: BaseException) -> str:
    text = str(error)
    if 'trust_remote_code' in text or 'custom code' in text:
        return (
            f'{name} brings Python code of its own, which would run here with all rights; read it, and allow '
            'it with --trust-remote-code or the parameter captioner_trust_remote_code'
        )
    if 'Unrecognized configuration class' in text:
        return f'{name} is no model that captions images, or transformers is too old for it: {INSTALL}'
    return (
        f'{name} cannot be loaded: {short(error)}; give a folder, or a name on the Hugging Face hub that is '
        f'downloaded already or can be; for missing packages: {INSTALL}'
    )


def short(error: BaseException) -> str:
    """Return what an error says in one line."""
    return ' '.join((str(error) or type(error).__name__).split())[:300]
