"""The options of the verbs that caption."""

import argparse

from remembr_ros.captioning.captioners.by_name import DESCRIBERS, get_captioner
from remembr_ros.captioning.captioners.captioner import Captioner
from remembr_ros.captioning.captioners.vlm_options import DTYPES, QUANTIZATIONS, VlmOptions
from remembr_ros.cli.options import count, name, seconds

_DEFAULTS = VlmOptions()


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
    group.add_argument(
        '--prompt', metavar='FILE', default='', help="the model's prompt (default: the package's)"
    )
    group.add_argument(
        '--vlm-frames',
        metavar='N',
        type=count,
        default=_DEFAULTS.max_images,
        help='frames of a segment that the model sees (default: %(default)s)',
    )
    group.add_argument(
        '--caption-timeout',
        metavar='S',
        type=seconds,
        default=_DEFAULTS.timeout_s,
        help='longest wait for the caption of a segment (default: %(default)g)',
    )
    group.add_argument(
        '--max-tokens',
        metavar='N',
        type=count,
        default=_DEFAULTS.max_tokens,
        help='a longer caption is cut (default: %(default)s)',
    )
    group.add_argument(
        '--device',
        metavar='NAME',
        default=_DEFAULTS.device,
        help='of transformers: auto, cpu, cuda, cuda:1, ...',
    )
    group.add_argument('--dtype', choices=DTYPES, default=_DEFAULTS.dtype, help='of transformers')
    group.add_argument(
        '--quantization', choices=QUANTIZATIONS, default=_DEFAULTS.quantization, help='of transformers'
    )
    group.add_argument(
        '--trust-remote-code',
        action='store_true',
        help='let Python code that comes with a model (VILA, NVILA) run here',
    )


def default_captioner(args: argparse.Namespace) -> str:
    """Return the name of the captioner where --captioner names none."""
    if args.captions:
        return 'recorded'
    return 'openai' if args.vlm or args.vlm_url else 'scene_text'


def captioner_from(args: argparse.Namespace, captioner: str) -> Captioner:
    """Return the captioner of that name, made as the options say; errors as of :func:`get_captioner`."""
    options = VlmOptions(
        prompt=args.prompt,
        max_images=args.vlm_frames,
        max_tokens=args.max_tokens,
        timeout_s=args.caption_timeout,
        device=args.device,
        dtype=args.dtype,
        quantization=args.quantization,
        trust_remote_code=args.trust_remote_code,
        batch_size=getattr(args, 'batch', _DEFAULTS.batch_size),
    )
    return get_captioner(
        captioner,
        model=args.vlm,
        base_url=args.vlm_url,
        captions=args.captions,
        describer=args.describer or ('recorded' if args.captions else 'openai'),
        options=options,
    )
