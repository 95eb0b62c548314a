"""The model of a tiny NVILA-Lite: it takes the calls of the real one."""

from typing import Any

import torch
from transformers import GenerationMixin, LlamaForCausalLM, PreTrainedModel, SiglipVisionModel

from .configuration_nvila_lite import NVILALiteConfig


class NVILALiteForConditionalGeneration(PreTrainedModel, GenerationMixin):
    config_class = NVILALiteConfig
    base_model_prefix = 'llm'
    _auto_class = 'AutoModel'

    def __init__(self, config: NVILALiteConfig) -> None:
        super().__init__(config)
        self.vision_tower = SiglipVisionModel(config.vision_config)
        self.mm_projector = torch.nn.Linear(config.vision_config.hidden_size, config.text_config.hidden_size)
        self.llm = LlamaForCausalLM(config.text_config)
        self.post_init()

    def forward(
        self,
        *,
        input_ids: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
        pixel_values: torch.Tensor | None = None,
        pixel_values_videos: torch.Tensor | None = None,
        **kwargs: Any,
    ) -> Any:
        assert (input_ids is None) != (inputs_embeds is None)
        if input_ids is not None and (input_ids == self.config.image_token_id).any():
            inputs_embeds = self.llm.model.embed_tokens(input_ids)
            seen = self.mm_projector(self.vision_tower(pixel_values).last_hidden_state)
            inputs_embeds[input_ids == self.config.image_token_id] = seen.flatten(0, 1)
            input_ids = None
        return self.llm(input_ids=input_ids, inputs_embeds=inputs_embeds, **kwargs)
