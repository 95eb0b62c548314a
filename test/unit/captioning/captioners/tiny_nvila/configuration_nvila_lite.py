"""The configuration of a tiny NVILA-Lite; like that of a real one, this code lies beside the weights."""

from typing import Any

from transformers import LlamaConfig, PretrainedConfig, SiglipVisionConfig


class NVILALiteConfig(PretrainedConfig):
    model_type = 'nvila_lite'
    sub_configs = {'text_config': LlamaConfig, 'vision_config': SiglipVisionConfig}  # noqa: RUF012

    def __init__(
        self,
        *,
        text_config: dict[str, Any] | None = None,
        vision_config: dict[str, Any] | None = None,
        image_token_id: int | None = None,
        **kwargs: Any,
    ) -> None:
        self.text_config = LlamaConfig(**(text_config or {}))
        self.vision_config = SiglipVisionConfig(**(vision_config or {}))
        self.image_token_id = image_token_id
        super().__init__(**kwargs)
