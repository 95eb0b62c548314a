"""The parameters of the captioner node."""

import dataclasses

from remembr_ros.captioning.backlog import POLICIES
from remembr_ros.captioning.captioners.by_name import CAPTIONERS, DESCRIBERS, get_captioner
from remembr_ros.captioning.captioners.captioner import Captioner
from remembr_ros.captioning.captioners.vlm_options import DTYPES, QUANTIZATIONS, VlmOptions
from remembr_ros.extensions import extensions
from remembr_ros.forms.parameter import parameter
from remembr_ros.nodes.base.parameters import NodeParameters, PoseParameters

TRANSPORTS = ('auto', 'raw', 'compressed')


@dataclasses.dataclass(frozen=True)
class CaptionerParameters(NodeParameters, PoseParameters):
    """Parameters of the captioner node."""

    robot: str = parameter('robot', 'name of the robot, kept with each memory')
    captioner: str = parameter(
        'scene_text',
        f'captioner: {", ".join(CAPTIONERS)}',
        choices=(*CAPTIONERS, *extensions('captioners')),
    )
    captioner_model: str = parameter(
        '',
        "model of the captioner; openai: empty for the server's first; transformers, vila: a name or folder",
    )
    captioner_url: str = parameter(
        '', 'server of the captioners openai and vila; the key comes from OPENAI_API_KEY'
    )
    image_transport: str = parameter(
        'auto', 'auto: whichever of image and image/compressed arrives first', choices=TRANSPORTS
    )
    segment_length: float = parameter(3.0, 'length of a segment', '0.5 to 600 s', live=True)
    sample_rate: float = parameter(2.0, 'frames looked at in a segment', '0.1 to 30 Hz', live=True)
    max_gap: float = parameter(1.5, 'a longer pause of the camera ends a segment', '0.1 to 60 s', live=True)
    keyframes: int = parameter(2, 'frames kept with each memory', '0 to 10', live=True)
    flush_after: float = parameter(
        3.0, 'end a segment when no image came for so long (wall time)', '0.1 to 600 s', live=True
    )
    pose_max_age: float = parameter(0.5, 'a pose counts that near to an image', '0.01 to 60 s')
    pose_hold: float = parameter(
        0.0,
        'a pose stays valid so long when no newer one comes (AMCL is silent while the robot stands); '
        '0: pose_max_age',
        '0 to 86400 s',
    )
    camera: str = parameter('', 'name of the camera, kept with each memory; empty if there is only one')
    skip_unchanged: bool = parameter(
        True, 'where the robot stands and nothing changes, say the last caption again: the model idles'
    )
    queue_size: int = parameter(32, 'segments that may wait for the captioner', '1 to 10000')
    queue_bytes_mb: float = parameter(
        256.0, 'frames of segments that wait may take so much memory', '1 to 100000 MB'
    )
    when_slow: str = parameter(
        'keep',
        'segments too many are kept without a caption (see remembr recaption), merged or dropped',
        choices=POLICIES,
    )
    batch_size: int = parameter(
        1, 'waiting segments that are captioned at once, where the captioner can', '1 to 64'
    )
    drain_timeout: float = parameter(
        10.0, 'on deactivation, wait so long for waiting segments', '0 to 600 s', live=True
    )
    captioner_describer: str = parameter(
        'openai', 'what the captioner fused joins with the text that is read', choices=DESCRIBERS
    )
    captioner_captions: str = parameter('', "file of the captioner recorded, in NaVQA's format")
    captioner_prompt: str = parameter('', "file of the model's prompt; empty: the package's own")
    captioner_images: int = parameter(6, 'frames of a segment that the model sees', '1 to 100')
    captioner_image_side: int = parameter(768, 'their longer side is reduced to this', '28 to 8192 px')
    captioner_max_tokens: int = parameter(512, 'a longer caption is cut', '16 to 8192')
    captioner_timeout: float = parameter(60.0, 'wait so long for the caption of a segment', '0.1 to 3600 s')
    captioner_device: str = parameter('auto', 'where transformers runs: auto, cpu, cuda, cuda:1, ...')
    captioner_dtype: str = parameter('auto', 'numbers that transformers computes with', choices=DTYPES)
    captioner_quantization: str = parameter(
        'none', 'how transformers makes the weights smaller', choices=QUANTIZATIONS
    )
    captioner_trust_remote_code: bool = parameter(
        False, 'true: Python code that comes with a model (VILA, NVILA) may run here'
    )


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
