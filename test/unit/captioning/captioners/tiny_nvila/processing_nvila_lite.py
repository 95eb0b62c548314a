"""The processor of a tiny NVILA-Lite: like the real one it sees a single picture in tiles, several whole."""

from typing import Any

from transformers import BatchFeature, ProcessorMixin

PATCHES = 4  # tokens of a picture or tile


class NVILALiteProcessor(ProcessorMixin):
    attributes = ['image_processor', 'tokenizer']  # noqa: RUF012
    image_processor_class = 'AutoImageProcessor'  # transformers 4 wants to know
    tokenizer_class = 'AutoTokenizer'
    _auto_class = 'AutoProcessor'

    def __init__(
        self, image_processor: Any, tokenizer: Any, chat_template: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(image_processor, tokenizer, chat_template=chat_template, **kwargs)

    def __call__(
        self, *, text: list[str], images: list[list[Any]], videos: Any = None, **kwargs: Any
    ) -> BatchFeature:
        pictures = [picture.convert('RGB') for of_one in images for picture in of_one]
        if len(pictures) == 1:
            width, height = pictures[0].size
            halves = ((0, 0, width // 2, height), (width // 2, 0, width, height))
            pictures = [*map(pictures[0].crop, halves), pictures[0]]
            text = [said.replace('<image>', '<image>' * len(pictures)) for said in text]
        tokens = self.tokenizer([said.replace('<image>', '<image>' * PATCHES) for said in text], **kwargs)
        seen = self.image_processor(pictures, return_tensors='pt')
        return BatchFeature({**tokens, 'pixel_values': seen['pixel_values']})
