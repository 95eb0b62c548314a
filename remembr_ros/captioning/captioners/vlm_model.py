"""A vision language model in this process, with torch and transformers."""

import copy
import gc
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from remembr_ros.captioning.captioners.vlm_loading import load_vlm, short
from remembr_ros.captioning.captioners.vlm_options import VlmOptions
from remembr_ros.errors import CaptionerFailed
from remembr_ros.images import Bgr


class OutOfMemory(CaptionerFailed):
    """Raised when the model or what it works on does not fit into memory."""


@dataclass(frozen=True, slots=True)
class Written:
    """What the model wrote of a segment.

    :param text: as it wrote it
    :param ended: it came to an end, or to the longest caption; False: its time was over
    """

    text: str
    ended: bool


class VlmModel:
    """A model and its processor, loaded. Not safe to share between threads.

    :param name: on the Hugging Face hub, or a folder
    :raises CaptionerFailed: it cannot be loaded; :class:`OutOfMemory` if it is too large
    """

    def __init__(self, name: str, options: VlmOptions) -> None:
        self._name = name
        self._options = options
        try:
            self._processor, self._model = load_vlm(name, options)
        except CaptionerFailed as error:
            if error.__cause__ is not None and is_out_of_memory(error.__cause__):
                raise OutOfMemory(self._too_large()) from error
            raise

    def write(
        self, segments: Sequence[Sequence[Bgr]], prompt: str, timeout_s: float, *, again: bool = False
    ) -> list[Written]:
        """Return what the model writes of each segment.

        :param segments: frames in the order of time, at least one each
        :param timeout_s: no further word is written after that; the pass through the model that goes on then
            is not interrupted [s]
        :param again: keep it from repeating itself, which also makes it write something else than before
        :raises OutOfMemory: they are too many at once
        :raises CaptionerFailed: the processor does not take them, or the model fails
        """
        import torch

        ends = time.monotonic() + timeout_s
        try:
            inputs = self._inputs(segments, prompt)
            settings = self._settings(max(0.0, ends - time.monotonic()), again)
            with torch.inference_mode():
                output = self._model.generate(**inputs, generation_config=settings)
            if not getattr(self._model.config, 'is_encoder_decoder', False):
                output = output[:, inputs['input_ids'].shape[1] :]
            return self._read(output.cpu())
        # Wide on purpose: a processor, a chat template or code that comes with a model may raise anything.
        except Exception as error:
            if is_out_of_memory(error):
                raise OutOfMemory(self._too_large()) from error
            raise CaptionerFailed(f'{self._name} failed on the frames: {short(error)}') from error

    def close(self) -> None:
        """Give the memory back. The model is of no use any more."""
        self._model = self._processor = None
        free_memory()

    def _inputs(self, segments: Sequence[Sequence[Bgr]], prompt: str) -> Any:
        """Return the tensors of a batch: each segment a question with its frames before the prompt."""
        from PIL import Image

        tokenizer = self._processor.tokenizer
        request = {'type': 'text', 'text': prompt}
        pictures = [[Image.fromarray(image[..., ::-1]) for image in images] for images in segments]
        texts = [
            self._processor.apply_chat_template(
                [{'role': 'user', 'content': [*({'type': 'image'} for _ in images), request]}],
                add_generation_prompt=True,
                tokenize=False,
            )
            for images in pictures
        ]
        # A template that begins with the token of the beginning would get it twice.
        begun = bool(tokenizer.bos_token) and texts[0].startswith(tokenizer.bos_token)
        inputs = self._processor(
            text=texts,
            images=pictures,
            padding=True,
            return_tensors='pt',
            **({'add_special_tokens': False} if begun else {}),
        )
        return inputs.to(self._model.device, dtype=self._model.dtype)

    def _settings(self, timeout_s: float, again: bool) -> Any:
        # The model's own settings, but for the sampling: the same frames give the same caption.
        settings = copy.deepcopy(self._model.generation_config)
        settings.do_sample, settings.num_beams = False, 1
        # Their defaults: what is None here, generate takes from the model all the same.
        settings.temperature, settings.top_p, settings.top_k = 1.0, 1.0, 50
        settings.max_length = None
        settings.max_new_tokens = self._options.max_tokens
        settings.max_time = timeout_s
        settings.pad_token_id = self._processor.tokenizer.pad_token_id
        if again:
            settings.repetition_penalty, settings.no_repeat_ngram_size = 1.1, 8
        return settings

    def _read(self, output: Any) -> list[Written]:
        ending = self._model.generation_config.eos_token_id
        endings = {ending} if isinstance(ending, int) else set(ending or ())
        endings |= {self._processor.tokenizer.eos_token_id, self._processor.tokenizer.pad_token_id}
        texts = self._processor.tokenizer.batch_decode(output, skip_special_tokens=True)
        longest = output.shape[1] >= self._options.max_tokens
        return [
            Written(text, longest or not endings.isdisjoint(row))
            for text, row in zip(texts, output.tolist(), strict=True)
        ]

    def _too_large(self) -> str:
        return (
            f'{self._name} does not fit into memory; give it fewer or smaller frames, 4bit quantization or a '
            'smaller model'
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error is torch's way to say that there is no memory left."""
    import torch

    # On the CPU it is a RuntimeError like any other.
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def free_memory() -> None:
    """Give back to the GPU what is not used any more."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def gpu_peak_bytes() -> int | None:
    """Return the most GPU memory that was in use by torch in this process; None: it uses no GPU."""
    # Not imported for this: that alone takes 200 MB.
    torch: Any = sys.modules.get('torch')
    if torch is None or not torch.cuda.is_initialized():
        return None
    return int(sum(torch.cuda.max_memory_allocated(gpu) for gpu in range(torch.cuda.device_count())))
