"""The detector of what prompts name, with transformers: OWLv2 (2306.09683), Grounding DINO (2303.05499)."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.embedding.model_files import hub_reachable, is_cached
from remembr_ros.errors import DetectorFailed
from remembr_ros.images import Bgr
from remembr_ros.objects.detectors.detection import Detection, Floats, suppressed

MOST_PROMPTS = 80  # Grounding DINO reads 256 tokens, about three for each with its dot
LEAST_SCORE = 0.2  # these models are less sure of what they find than those of fixed classes


class OpenVocabularyDetector:
    """Finds what prompts name; each label is one of them.

    :param model: a folder, or a name on the Hugging Face hub
    :param prompts: such as 'red cup'
    :param min_score: what is less certain is left out
    """

    name = 'transformers'

    def __init__(self, model: str, prompts: Iterable[str] = (), *, min_score: float = LEAST_SCORE) -> None:
        self._source, self._min_score = os.path.expanduser(model), min_score
        self._processor: Any = None
        self._model: Any = None
        self.prompts = prompts

    @property
    def prompts(self) -> tuple[str, ...]:
        """What is looked for, in lower case, each once. Set by any thread, it holds from the next image on.

        :raises DetectorFailed: there are too many
        """
        return self._prompts

    @prompts.setter
    def prompts(self, prompts: Iterable[str]) -> None:
        # Where a dot is, a prompt of Grounding DINO ends.
        split = (prompt.lower().replace('.', ' ').split() for prompt in prompts)
        cleaned = tuple(dict.fromkeys(' '.join(words) for words in split if words))
        if len(cleaned) > MOST_PROMPTS:
            raise DetectorFailed(f'{len(cleaned)} prompts are too many; give {MOST_PROMPTS} at most')
        self._prompts = cleaned

    @property
    def classes(self) -> tuple[str, ...]:
        return self._prompts

    def detect(self, image: Bgr | None, stamp_ns: int, camera: str = '') -> list[Detection]:
        prompts = self._prompts
        if not prompts:
            raise DetectorFailed('there are no prompts; give labels, a file of one a line, or set prompts')
        if self._model is None:
            self._load()
        if image is None:
            return []
        try:
            boxes, scores = self._all_boxes(image, prompts)
            found = list(suppressed(boxes, scores, prompts, self._min_score, image.shape[:2]))
        except Exception as error:  # wide on purpose: processors and models raise anything
            raise DetectorFailed(f'{self._source} failed on {", ".join(prompts)}: {error}') from error
        return [Detection(stamp_ns, camera, box, named) for box, named in found]

    def close(self) -> None:
        self._processor = self._model = None

    def _load(self) -> None:
        source = self._source
        try:
            import torch
            from transformers import AutoModelForZeroShotObjectDetection, AutoProcessor

            auto: Any = AutoProcessor
            options: dict[str, Any] = {
                'trust_remote_code': False,  # never left out: transformers would ask on the terminal
                'local_files_only': os.path.isdir(source) or is_cached(source) or not hub_reachable(),
            }
            self._processor = auto.from_pretrained(source, **options)
            auto = AutoModelForZeroShotObjectDetection
            model = auto.from_pretrained(source, dtype=torch.float32, **options).eval()
            self._model = model.to('cuda' if torch.cuda.is_available() else 'cpu')
        except Exception as error:  # wide on purpose: of damaged files tokenizers raises Exception itself
            raise DetectorFailed(
                f'{source} cannot be loaded: {" ".join(str(error).split())[:300]}; give an OWLv2, OWL-ViT or '
                'Grounding DINO, a folder or a hub name; for missing packages: pip install "remembr_ros[vlm]"'
            ) from error

    def _all_boxes(self, image: Bgr, prompts: tuple[str, ...]) -> tuple[Floats, Floats]:
        """Return boxes as left, top, right and bottom in the image's pixels, and their scores per prompt."""
        import torch

        config, words = self._model.config, self._processor.tokenizer
        joined = 'dino' in config.model_type
        texts = ['. '.join(prompts) + '.'] if joined else list(prompts)
        longest = config.max_text_len if joined else config.text_config.max_position_embeddings
        tokens = words(texts)['input_ids']
        if max(map(len, tokens)) > longest:
            raise ValueError(f'it reads {longest} tokens; give {"fewer or " * joined}shorter prompts')
        rgb = np.ascontiguousarray(image[..., ::-1])
        inputs = self._processor(
            images=rgb, text=texts, input_data_format='channels_last', return_tensors='pt'
        )
        with torch.inference_mode():
            outputs = self._model(**inputs.to(self._model.device))
        post_process = self._processor.image_processor.post_process_object_detection
        boxes = post_process(outputs, threshold=-1.0, target_sizes=[image.shape[:2]])[0]['boxes']  # all
        scores = outputs.logits[0].sigmoid().cpu().numpy()
        if joined:
            scores = prompt_scores(scores, np.equal(tokens[0], words.convert_tokens_to_ids('.')))
        return boxes.cpu().numpy(), scores


def prompt_scores(scores: Floats, dots: NDArray[np.bool_]) -> Floats:
    """Return the score of each prompt, that of its best token, shape (boxes, prompts).

    :param scores: of tokens: one to begin with, each prompt and its dot, the rest; shape (boxes, tokens)
    :param dots: which tokens are dots, shape (tokens or fewer,)
    """
    ends = np.flatnonzero(dots)
    starts = (0, *ends[:-1])
    of_each = [scores[:, a + 1 : b].max(axis=1, initial=0.0) for a, b in zip(starts, ends, strict=True)]
    return np.stack(of_each, axis=1)
