"""remembr ingest: a recording becomes memories."""

import argparse
import logging
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from tqdm import tqdm

from remembr_ros.bags.reader import BagReader, open_bag
from remembr_ros.captioning.captioners import get_captioner
from remembr_ros.captioning.observation import observations
from remembr_ros.cli.options import add_json, add_memory
from remembr_ros.cli.options import name as robot_name
from remembr_ros.cli.output import print_json, stdout_for_json
from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import StampedPose
from remembr_ros.images import Frame
from remembr_ros.memory.record import Observation
from remembr_ros.memory.store import MemoryStore, open_store
from remembr_ros.timestamps import NS, format_duration

_log = logging.getLogger(__name__)

BATCH = 16
"""Memories embedded and stored together."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('bag', metavar='BAG', help='rosbag2 folder or file (mcap, sqlite3), or ROS 1 .bag')
    add_memory(parser)
    parser.add_argument(
        '--captioner',
        metavar='NAME',
        help='scene_text (what can be read), openai (any OpenAI-compatible vision server) or none '
        '(default: openai if --vlm or --vlm-url is given, else scene_text)',
    )
    parser.add_argument('--vlm', metavar='MODEL', help='model of the openai captioner')
    parser.add_argument(
        '--vlm-url', metavar='URL', help='server of the openai captioner, such as http://host:8000/v1'
    )
    parser.add_argument(
        '--robot',
        type=robot_name,
        metavar='NAME',
        default='robot',
        help='whose memory (default: %(default)s)',
    )
    parser.add_argument('--map-id', metavar='ID', default='', help='the map that the poses refer to')
    parser.add_argument('--image-topic', metavar='T', help='the camera, if the bag has several')
    poses = parser.add_mutually_exclusive_group()
    poses.add_argument('--pose-topic', metavar='T', help='the pose source, if the bag has several')
    poses.add_argument(
        '--tf', nargs=2, metavar=('PARENT', 'CHILD'), help='take poses from TF between these frames'
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with stdout_for_json(args.json):
        result = _ingest(args)
    if args.json:
        print_json(result)
    else:
        if result['datum']:
            print('positions are east, north and up of {:.7f}, {:.7f}, {:.2f} m'.format(*result['datum']))
        print(
            f'{result["segments"]} segments from {format_duration(result["duration_sec"])} of recording in '
            f'{format_duration(result["elapsed_sec"])} ({result["speed"]:.1f} times real time); '
            f'{args.memory} holds {result["memories"]} memories'
        )
    return 0


def _ingest(args: argparse.Namespace) -> dict[str, Any]:
    name = args.captioner or ('openai' if args.vlm or args.vlm_url else 'scene_text')
    tf = (args.tf[0], args.tf[1]) if args.tf else None
    # The bag first: what is wrong with it is known before any model is loaded.
    with open_bag(args.bag, image_topic=args.image_topic, pose_topic=args.pose_topic, tf=tf) as bag:
        captioner = get_captioner(name, model=args.vlm, base_url=args.vlm_url)
        poses = f'poses from {bag.pose_source}' if bag.pose_source else 'no poses: memories are unplaced'
        print(f'{args.bag}: images from {bag.image_topic}, {poses}; captioner {name}', file=sys.stderr)
        began = time.monotonic()
        with tqdm(total=bag.frame_count, unit='frame', desc='ingest', disable=None) as bar:
            observed = observations(_counted(bag, bar), captioner, robot=args.robot, map_id=args.map_id)
            first = next(observed, None)
            if first is None:
                raise BagUnreadable(
                    f'none of the {bag.frame_count} images on {bag.image_topic} can be decoded; '
                    'the log above says why. Another camera: --image-topic'
                )
            # Opened only now: a recording that is of no use leaves no empty memory behind.
            opening = time.monotonic()
            with open_store(args.memory, args.embedder) as store:
                began += time.monotonic() - opening  # loading the embedder is no part of the speed
                segments, unplaced = _store(chain([first], observed), store, bar)
                elapsed = time.monotonic() - began
                memories = store.count()
        if bag.pose_source and unplaced:
            _log.warning(
                '%d of %d segments are unplaced: %s has no pose near their images; check that both have the '
                'same clock, or choose other poses with --pose-topic or --tf',
                unplaced,
                segments,
                bag.pose_source,
            )
        duration = (bag.end_ns - bag.start_ns) / NS
        return {
            'bag': str(args.bag),
            'memory': args.memory,
            'captioner': name,
            'image_topic': bag.image_topic,
            'pose_source': bag.pose_source or '',
            'datum': list(bag.datum) if bag.datum else None,
            'segments': segments,
            'memories': memories,
            'duration_sec': duration,
            'elapsed_sec': elapsed,
            'speed': duration / elapsed if elapsed > 0.0 else 0.0,
        }


def _store(observed: Iterable[Observation], store: MemoryStore, bar: 'tqdm[Any]') -> tuple[int, int]:
    """Store memories in batches; return how many, and how many of them have no pose.

    What came before an error or Ctrl-C is stored, too.
    """
    segments = unplaced = 0
    batch: list[Observation] = []
    try:
        for observation in observed:
            segments += 1
            unplaced += observation.memory.pose is None
            batch.append(observation)
            bar.set_postfix_str(observation.memory.caption[:40])
            if len(batch) == BATCH:
                store.add(batch)
                batch = []
    finally:
        store.add(batch)
    return segments, unplaced


def _counted(bag: BagReader, bar: 'tqdm[Any]') -> Iterator[Frame | StampedPose]:
    for event in bag.events():
        if isinstance(event, Frame):
            bar.update(1)
        yield event
