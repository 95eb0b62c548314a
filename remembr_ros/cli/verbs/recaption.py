"""remembr recaption: memories get captions from their keyframes, those first that have none."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from tqdm import tqdm

from remembr_ros.captioning.captioners.captioner import Caption, Captioner, Clip
from remembr_ros.cli.captioner_options import add_captioner, captioner_from, default_captioner
from remembr_ros.cli.options import add_json, add_memory, check_memory, count, open_memory
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import CaptionerFailed
from remembr_ros.forms.faces import add_options, from_options
from remembr_ros.forms.scope import ScopeForm
from remembr_ros.images import Bgr, decode_compressed
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.model.uri import shown
from remembr_ros.memory.store import MemoryStore

EXAMPLES = (
    'recaption --captioner openai --vlm-url ollama',
    'recaption --after 2026-11-23 --all',
    'recaption --map floor1 --place kitchen --json',
)
PATIENCE = 3  # after so many failures in a row the captioner is given up


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    add_options(parser, ScopeForm)
    parser.add_argument(
        '--all', action='store_true', help='also those that have a caption, such as after a better model came'
    )
    parser.add_argument(
        '--batch',
        dest='batch_size',
        metavar='N',
        type=count,
        default=8,
        help='described at once (default: %(default)s)',
    )
    add_captioner(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with stdout_for_json(args.json):
        result = _recaption(args)
    without = f', {result["without_images"]} have no keyframes' if result['without_images'] else ''
    failed = f', {result["failed"]} still have no new caption' if result['failed'] else ''
    text = f'{result["captioned"]} of {result["memories"]} memories captioned{without}{failed}'
    print_result(args.json, result, text)
    return 1 if result['failed'] else 0


def _recaption(args: argparse.Namespace) -> dict[str, Any]:
    check_memory(args)
    scope = from_options(ScopeForm, args).scope()
    with (
        closing(captioner_from(args, args.captioner or default_captioner(args))) as captioner,
        open_memory(args) as store,
    ):
        wanted = [
            memory
            for memory in store.matching(scope=scope)
            if memory.source == 'captioner' and (args.all or not memory.is_captioned)
        ]
        done = without_images = gone = 0
        with tqdm(total=len(wanted), unit='memory', desc='recaption', disable=None) as bar:
            # Newest first: these are asked for soonest.
            for memory, caption in _captions(captioner, wanted[::-1], store, args.batch_size):
                bar.update(1)
                if caption is None:
                    without_images += 1
                elif isinstance(caption, CaptionerFailed):
                    print(f'memory {memory.id}: {caption}', file=sys.stderr)
                else:
                    replaced = _replace(store, memory.id, caption, captioner.name)
                    bar.set_postfix_str(caption.text[:40])
                    done += replaced
                    gone += not replaced
    return {
        'memory': shown(args.memory),
        'captioner': captioner.name,
        'memories': len(wanted),
        'captioned': done,
        'without_images': without_images,
        'failed': len(wanted) - done - without_images - gone,
    }


def _captions(
    captioner: Captioner, memories: Sequence[Memory], store: MemoryStore, batch: int
) -> Iterator[tuple[Memory, Caption | CaptionerFailed | None]]:
    """Yield each memory with its caption, or why there is none; end after PATIENCE failures in a row.

    None: no image of it is here, such as of another robot, or none can be read.
    """
    failures = 0
    for start in range(0, len(memories), batch):
        group = memories[start : start + batch]
        images = {memory.id: _images(store, memory) for memory in group}
        yield from ((memory, None) for memory in group if not images[memory.id])
        pictured = [memory for memory in group if images[memory.id]]
        clips = [Clip(images[memory.id], (memory.start_ns, memory.end_ns)) for memory in pictured]
        for memory, caption in zip(pictured, captioner.caption(clips), strict=True):
            yield memory, caption
            failures = failures + 1 if isinstance(caption, CaptionerFailed) else 0
            if failures == PATIENCE:
                return


def _images(store: MemoryStore, memory: Memory) -> list[Bgr]:
    images = []
    for jpeg in store.keyframes.those_of(memory.keyframes):
        try:
            images.append(decode_compressed('jpeg', jpeg))
        except ValueError as error:
            print(f'memory {memory.id}: {error}', file=sys.stderr)
    return images


def _replace(store: MemoryStore, memory_id: str, caption: Caption, captioner: str) -> bool:
    """Describe a memory as it is now; tell whether it is still there.

    A robot may have extended it, or somebody forgotten it, since it was listed.
    """
    for memory in store.get([memory_id]):
        # What was read before, of more frames than are kept, is not forgotten.
        texts = tuple(dict.fromkeys((*memory.scene_text, *caption.scene_text)))
        described = replace(memory, caption=caption.text, scene_text=texts, captioner=captioner)
        store.add([Observation(described, store.keyframes.those_of(memory.keyframes))])
        return True
    return False
