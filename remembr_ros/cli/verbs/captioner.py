"""remembr captioner: what captioners say of images, and what it costs."""

import argparse
import os
import resource
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from remembr_ros.captioning.captioners.captioner import Captioner, Clip, caption_clip
from remembr_ros.captioning.captioners.vlm_model import gpu_peak_bytes
from remembr_ros.cli.captioner_options import add_captioner, captioner_from, default_captioner
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import CaptionerFailed, RemembrError
from remembr_ros.images import Bgr, decode_compressed

MB = 10**6


EXAMPLES = (
    'captioner test kitchen.jpg',
    'captioner test *.jpg --captioner signs --json',
    'captioner test a.jpg b.jpg --together --captioner openai --vlm-url ollama',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest='action', metavar='ACTION', required=True)
    summary = 'caption images; show caption, scene text, time and memory use'
    test = actions.add_parser('test', help=summary, description=f'{summary.capitalize()}.')
    test.add_argument('images', metavar='IMAGE', nargs='+', help='JPEG, PNG or what else OpenCV reads')
    test.add_argument(
        '--together',
        action='store_true',
        help='the images are one segment, of which scene_text reads the sharpest closely (default: each is a '
        'segment of its own)',
    )
    add_captioner(test, several=True)
    add_json(test)


def run(args: argparse.Namespace) -> int:
    images = [_image(path) for path in args.images]
    segments = (
        [(args.images, images)]
        if args.together
        else [([p], [i]) for p, i in zip(args.images, images, strict=True)]
    )
    tested: list[dict[str, Any]] = []
    with stdout_for_json(args.json):
        for name in args.captioner or [default_captioner(args)]:
            # Closed, or the next one's memory is counted with this one's.
            with closing(captioner_from(args, name)) as captioner:
                tested.append(
                    {'captioner': name, 'segments': [_caption(captioner, *s) for s in segments], **_memory()}
                )
    print_result(args.json, {'captioners': tested}, '\n\n'.join(map(_lines, tested)))
    return int(any(segment['error'] for test in tested for segment in test['segments']))


def _image(path: str) -> Bgr:
    try:
        return decode_compressed(Path(path).suffix, Path(path).read_bytes())
    except OSError as error:
        raise RemembrError(f'{path} cannot be read: {error.strerror or error}') from error
    except ValueError as error:
        raise RemembrError(f'{path} is no image: {error}') from error


def _caption(captioner: Captioner, paths: Sequence[str], images: Sequence[Bgr]) -> dict[str, Any]:
    began = time.monotonic()
    segment: dict[str, Any] = {'images': list(paths), 'caption': '', 'scene_text': [], 'error': None}
    try:
        caption = caption_clip(captioner, Clip(images))
        segment |= {'caption': caption.text, 'scene_text': list(caption.scene_text)}
    except CaptionerFailed as error:
        segment |= {'scene_text': list(error.scene_text), 'error': str(error)}
    return {**segment, 'seconds': time.monotonic() - began}


def _memory() -> dict[str, float | None]:
    """Return the memory that this process takes, and took at most until now [MB]."""
    pages = int(Path('/proc/self/statm').read_text(encoding='ascii').split()[1])
    rss, gpu = pages * os.sysconf('SC_PAGE_SIZE'), gpu_peak_bytes()
    return {
        'rss_mb': rss / MB,
        # The kernel keeps its record up to date now and then only.
        'rss_peak_mb': max(rss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024) / MB,
        'gpu_peak_mb': None if gpu is None else gpu / MB,
    }


def _lines(test: dict[str, Any]) -> str:
    gpu = '' if test['gpu_peak_mb'] is None else f', {test["gpu_peak_mb"]:.0f} MB of GPU memory at most'
    lines = [
        f'{test["captioner"]}: {test["rss_mb"]:.0f} MB of memory, {test["rss_peak_mb"]:.0f} MB at most{gpu}'
    ]
    for number, segment in enumerate(test['segments']):
        loading = ', with loading' if number == 0 else ''
        lines.append(f'  {" ".join(segment["images"])}  {segment["seconds"]:.2f} s{loading}')
        line = f'! {segment["error"]}' if segment['error'] else segment['caption']
        lines.append(f'    caption     {line}')
        read = ', '.join(f'"{text}"' for text in segment['scene_text'])
        lines.append(f'    scene text  {read or "none"}')
    return '\n'.join(lines)
