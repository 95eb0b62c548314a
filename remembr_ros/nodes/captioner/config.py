"""The captioner node's parameters as a captioner, and as the rule of segments."""

from remembr_ros.captioning.captioners.by_name import get_captioner
from remembr_ros.captioning.captioners.captioner import Captioner
from remembr_ros.captioning.captioners.vlm_options import VlmOptions
from remembr_ros.captioning.segmenter import SegmenterConfig
from remembr_ros.nodes.captioner.parameters import CaptionerParameters


def make_captioner(p: CaptionerParameters) -> Captioner:
    """Return the captioner that the parameters name; errors as of :func:`get_captioner`."""
    options = VlmOptions(
        prompt=p.captioner_prompt,
        max_images=p.captioner_images,
        max_side=p.captioner_image_side,
        max_tokens=p.captioner_max_tokens,
        timeout_s=p.captioner_timeout,
        device=p.captioner_device,
        dtype=p.captioner_dtype,
        quantization=p.captioner_quantization,
        trust_remote_code=p.captioner_trust_remote_code,
        batch_size=p.batch_size,
    )
    return get_captioner(
        p.captioner,
        model=p.captioner_model or None,
        base_url=p.captioner_url or None,
        captions=p.captioner_captions,
        describer=p.captioner_describer,
        options=options,
    )


def segmenter_config(p: CaptionerParameters) -> SegmenterConfig:
    """Return how frames become segments."""
    return SegmenterConfig(length_s=p.segment_length, rate_hz=p.sample_rate, max_gap_s=p.max_gap)
