"""The options of the verbs that caption."""

import argparse

from remembr_ros.captioning.captioners.by_name import DESCRIBERS
from remembr_ros.captioning.captioners.captioner import Captioner
from remembr_ros.captioning.captioners.vlm_options import VlmOptions
from remembr_ros.cli.options import add_parameters
from remembr_ros.nodes.captioner.parameters import CaptionerParameters, make_captioner

_FLAGS = {
    'captioner_model': '--vlm',
    'captioner_url': '--vlm-url',
    'captioner_captions': '--captions',
    'captioner_prompt': '--prompt',
    'captioner_images': '--vlm-frames',
    'captioner_timeout': '--caption-timeout',
    'captioner_max_tokens': '--max-tokens',
    'captioner_device': '--device',
    'captioner_dtype': '--dtype',
    'captioner_quantization': '--quantization',
    'captioner_trust_remote_code': '--trust-remote-code',
}
"""Options by the parameters of the captioner node that they are."""


def add_captioner(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add --captioner and what its models take.

    :param several: --captioner may be given several times
    """
    group = parser.add_argument_group('captioner')
    group.add_argument(
        '--captioner',
        metavar='NAME',
        action='append' if several else 'store',
        help='scene_text (what can be read), openai (any OpenAI-compatible vision server), transformers (a '
        'vision language model in this process), vila (a server with --vlm-url, else '
        'in this process), recorded (captions from a file), fused (one of these and '
        'scene_text) or none (default: openai with --vlm or --vlm-url, recorded with --captions, else '
        f'scene_text){"; may be given several times" if several else ""}',
    )
    add_parameters(group, CaptionerParameters, **_FLAGS)
    group.add_argument(
        '--describer',
        choices=DESCRIBERS,
        help='what fused joins with scene_text (default: recorded with --captions, else openai)',
    )


def default_captioner(args: argparse.Namespace) -> str:
    """Return the name of the captioner where --captioner names none."""
    if args.captioner_captions:
        return 'recorded'
    return 'openai' if args.captioner_model or args.captioner_url else 'scene_text'


def captioner_from(args: argparse.Namespace, captioner: str) -> Captioner:
    """Return the captioner of that name, made as the options say; errors as of :func:`get_captioner`."""
    given = {name: getattr(args, name) for name in _FLAGS}
    given['batch_size'] = getattr(args, 'batch_size', VlmOptions().batch_size)
    describer = args.describer or ('recorded' if args.captioner_captions else 'openai')
    return make_captioner(CaptionerParameters(**given, captioner_describer=describer, captioner=captioner))
