"""The captioner that runs a vision language model in this process: Qwen-VL, SmolVLM, InternVL, LLaVA, ..."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import repeat

from remembr_ros.captioning.captioners.caption_check import fault_of, settled, whole, whole_sentences
from remembr_ros.captioning.captioners.captioner import Caption, Clip
from remembr_ros.captioning.captioners.vlm_model import OutOfMemory, VlmModel, Written, free_memory
from remembr_ros.captioning.captioners.vlm_options import VlmOptions, read_prompt
from remembr_ros.captioning.frame_choice import evenly, reduced
from remembr_ros.errors import CaptionerFailed, InvalidRequest
from remembr_ros.images import Bgr

_log = logging.getLogger(__name__)

_Batch = list[list[Bgr]]
_Outcome = Caption | CaptionerFailed


class TransformersCaptioner:
    """Captions segments with any image-text-to-text model of transformers.

    It is loaded once, when the first segment comes, and never samples: the same frames give the same caption,
    alone or in a batch. Safe to share between threads, which take turns.

    :param model: a name on the Hugging Face hub, or a folder
    :param name: what memories keep as their captioner
    :raises InvalidRequest: no model is named, or the prompt cannot be read
    """

    def __init__(self, model: str, options: VlmOptions | None = None, *, name: str = 'transformers') -> None:
        self.name = name
        if not model:
            raise InvalidRequest(
                'the transformers captioner needs a model: name one with --vlm, such as '
                'Qwen/Qwen2.5-VL-3B-Instruct or HuggingFaceTB/SmolVLM-Instruct'
            )
        self._model_name = model
        self._options = options or VlmOptions()
        self._prompt = read_prompt(self._options.prompt)
        self._batch_size = self._options.batch_size
        self._model: VlmModel | None = None
        self._lock = threading.Lock()

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        left = list(clips)
        while left:
            with self._lock:
                now, left = left[: self._batch_size], left[self._batch_size :]
                shown = [self._shown(clip.images) for clip in now if clip.images]
                try:
                    described = iter(self._captions(shown))
                except CaptionerFailed as error:  # no model: it is not loaded for each batch in vain
                    now, left, described = now + left, [], repeat(error)
            yield from (next(described) if clip.images else Caption('') for clip in now)

    def close(self) -> None:
        with self._lock:
            if self._model is not None:
                self._model.close()
                self._model = None

    def _captions(self, batch: _Batch) -> list[_Outcome]:
        """Describe a batch.

        :raises CaptionerFailed: the model cannot be loaded
        """
        if not batch:
            return []
        if self._model is None:
            self._model = VlmModel(self._model_name, self._options)
        return self._described(self._model, batch, time.monotonic() + self._options.timeout_s * len(batch))

    def _shown(self, images: Sequence[Bgr]) -> list[Bgr]:
        return [reduced(image, self._options.max_side) for image in evenly(images, self._options.max_images)]

    def _described(
        self, model: VlmModel, batch: _Batch, deadline: float, *, halved: bool = False
    ) -> list[_Outcome]:
        """Describe a batch; in two halves if it is too large for the memory, as those after it will be."""
        try:
            return self._asked(model, batch, deadline)
        except OutOfMemory as error:
            failure, parts = str(error), []
            if not halved and len(batch) > 1:
                half = self._batch_size = (len(batch) + 1) // 2
                parts = [batch[:half], batch[half:]]
                _log.warning(
                    '%d segments at once do not fit into memory; from now on %d', len(batch), self._batch_size
                )
        except CaptionerFailed as error:
            # One segment that the model does not take must not cost the others their captions.
            failure, parts = str(error), [[images] for images in batch]
        # Outside of the handlers, which keep alive what is to be freed.
        free_memory()
        if len(parts) < 2:
            return [CaptionerFailed(failure) for _ in batch]
        return [outcome for part in parts for outcome in self._described(model, part, deadline, halved=True)]

    def _asked(self, model: VlmModel, batch: _Batch, deadline: float) -> list[_Outcome]:
        first = self._written(model, batch, deadline)
        faulty = [index for index, written in enumerate(first) if fault_of(written.text)]
        second: dict[int, Written] = {}
        if faulty and deadline > time.monotonic():
            _log.info('%d captions are empty or repeat themselves; the model is asked again', len(faulty))
            written = self._written(model, [batch[index] for index in faulty], deadline, again=True)
            second = dict(zip(faulty, written, strict=True))
        return [self._outcome(written, second.get(index)) for index, written in enumerate(first)]

    def _written(
        self, model: VlmModel, batch: _Batch, deadline: float, *, again: bool = False
    ) -> list[Written]:
        return model.write(batch, self._prompt, max(0.0, deadline - time.monotonic()), again=again)

    def _outcome(self, first: Written, second: Written | None) -> _Outcome:
        last = second or first
        text = whole(last.text)
        if not last.ended:
            # What was being written when the time was over is left out.
            text = whole_sentences(text)
            if not text:
                return CaptionerFailed(
                    f'{self._model_name} did not caption within {self._options.timeout_s:g} s; use a smaller '
                    'model, fewer or smaller frames, a GPU or a longer timeout'
                )
        if not fault_of(text):
            return Caption(text)
        try:
            return Caption(settled(text, first.text, self._model_name))
        except CaptionerFailed as error:
            return error
