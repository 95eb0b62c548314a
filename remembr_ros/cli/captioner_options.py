"""The options of the verbs that caption."""

import argparse
from dataclasses import fields
from typing import Any

from remembr_ros.captioning.captioners.by_name import DESCRIBERS, get_captioner
from remembr_ros.captioning.captioners.captioner import Captioner
from remembr_ros.captioning.captioners.vlm_options import DTYPES, QUANTIZATIONS, VlmOptions
from remembr_ros.cli.options import count, name, seconds

_VLM = {
    'prompt': ('--prompt', 'FILE', "the model's prompt (default: the package's)"),
    'max_images': ('--vlm-frames', 'N', 'frames of a segment that the model sees (default: %(default)s)'),
    'timeout_s': (
        '--caption-timeout',
        'S',
        'longest wait for the caption of a segment (default: %(default)g)',
    ),
    'max_tokens': ('--max-tokens', 'N', 'a longer caption is cut (default: %(default)s)'),
    'device': ('--device', 'NAME', 'of transformers: auto, cpu, cuda, cuda:1, ...'),
    'dtype': ('--dtype', '', 'of transformers'),
    'quantization': ('--quantization', '', 'of transformers'),
    'trust_remote_code': (
        '--trust-remote-code',
        '',
        'let Python code that comes with a model (VILA, NVILA) run here',
    ),
}
"""Options by the fields of VlmOptions: flag, what it takes, and what it is for."""

_CHOICES = {'dtype': DTYPES, 'quantization': QUANTIZATIONS}


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
    group.add_argument(
        '--vlm',
        metavar='MODEL',
        type=name,
        help='model of openai; of transformers and vila: a name or a folder',
    )
    group.add_argument(
        '--vlm-url',
        metavar='URL',
        help='server of the captioners openai and vila, such as http://host:8000/v1',
    )
    group.add_argument(
        '--describer',
        choices=DESCRIBERS,
        help='what fused joins with scene_text (default: recorded with --captions, else openai)',
    )
    group.add_argument(
        '--captions', metavar='FILE', default='', help="captions of recorded, in NaVQA's format"
    )
    for field, (flag, metavar, text) in _VLM.items():
        default = getattr(VlmOptions(), field)
        option: dict[str, Any] = {'metavar': metavar, 'type': {int: count, float: seconds}.get(type(default))}
        if field in _CHOICES:
            option = {'choices': _CHOICES[field]}
        elif default is False:
            option = {'action': 'store_true'}
        group.add_argument(flag, dest=field, default=default, help=text, **option)


def default_captioner(args: argparse.Namespace) -> str:
    """Return the name of the captioner where --captioner names none."""
    if args.captions:
        return 'recorded'
    return 'openai' if args.vlm or args.vlm_url else 'scene_text'


def captioner_from(args: argparse.Namespace, captioner: str) -> Captioner:
    """Return the captioner of that name, made as the options say; errors as of :func:`get_captioner`."""
    given = {field.name: getattr(args, field.name, None) for field in fields(VlmOptions)}
    options = VlmOptions(**{name: value for name, value in given.items() if value is not None})
    return get_captioner(
        captioner,
        model=args.vlm,
        base_url=args.vlm_url,
        captions=args.captions,
        describer=args.describer or ('recorded' if args.captions else 'openai'),
        options=options,
    )
