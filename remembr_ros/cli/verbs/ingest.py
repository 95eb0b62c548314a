"""remembr ingest: a recording becomes memories."""

import argparse
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from remembr_ros.bags.frames import FrameStream
from remembr_ros.bags.pictures import RATE_HZ, is_pictures, open_pictures
from remembr_ros.bags.poses import AMCL_HOLD_S
from remembr_ros.bags.reader import open_bag
from remembr_ros.captioning.observation import Describer, Remembering, observations
from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.captioning.still_scene import StillScene
from remembr_ros.captioning.unplaced import counted, why_unplaced
from remembr_ros.cli.captioner_options import add_captioner, captioner_from, default_captioner
from remembr_ros.cli.object_options import RecordedObjects, add_detector
from remembr_ros.cli.options import (
    add_json,
    add_map,
    add_memory,
    add_parameters,
    check_memory,
    hertz,
    open_memory,
    seconds_or_none,
)
from remembr_ros.cli.options import name as robot_name
from remembr_ros.cli.options import time as wall_time
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.events.recorded import RecordedDeeds
from remembr_ros.events.watch import LEFT_OUT
from remembr_ros.geometry import Lost, StampedPose
from remembr_ros.images import Frame
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.model.uri import shown
from remembr_ros.memory.store import MemoryStore
from remembr_ros.nodes.captioner.parameters import CaptionerParameters
from remembr_ros.timestamps import NS, format_duration

_log = logging.getLogger(__name__)

Read = Frame | StampedPose | Lost
BATCH = 16  # memories embedded and stored together


EXAMPLES = (
    'ingest drive.mcap --memory kitchen.db',
    'ingest bag_folder --image-topic /camera/image_raw/compressed --tf map camera_link --map floor1',
    'ingest tour.bag --captioner openai --vlm-url ollama --robot anna',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = 'rosbag2 folder or file (mcap, sqlite3), ROS 1 .bag, folder of pictures, or video'
    parser.add_argument('bag', metavar='RECORDING', type=Path, help=text)
    add_memory(parser)
    parser.add_argument(
        '--robot',
        type=robot_name,
        metavar='NAME',
        default='robot',
        help='whose memory (default: %(default)s)',
    )
    add_map(parser, 'the map that the poses refer to')
    add_parameters(parser, CaptionerParameters, 'camera', 'max_position_std')
    parser.add_argument('--image-topic', metavar='T', help='the camera, if the bag has several')
    poses = parser.add_mutually_exclusive_group()
    poses.add_argument('--pose-topic', metavar='T', help='the pose source, if the bag has several')
    poses.add_argument(
        '--tf', nargs=2, metavar=('PARENT', 'CHILD'), help='take poses from TF between these frames'
    )
    pictures = parser.add_argument_group('pictures', 'A folder of pictures, or a video, has no topics.')
    text = 'their poses: TUM, KITTI, ScanNet or JSON (default: what lies beside them)'
    poses.add_argument('--poses', type=Path, metavar='FILE', help=text)
    text = 'of the first, where nothing tells it (default: when it was written)'
    pictures.add_argument('--start', type=wall_time, metavar='TIME', help=text)
    text = f'of pictures that are numbered (default: {RATE_HZ:g}), or of the video'
    pictures.add_argument('--rate', type=hertz, metavar='HZ', help=text)
    parser.add_argument(
        '--pose-hold',
        type=seconds_or_none,
        metavar='S',
        help='a pose stays valid so long while no newer one comes [s] (default: '
        f'{AMCL_HOLD_S:g} for PoseWithCovarianceStamped, as AMCL is silent while the robot stands; else 0)',
    )
    parser.add_argument(
        '--no-consolidation',
        action='store_true',
        help='a memory per segment, also where the robot stands and sees the same',
    )
    parser.add_argument('--no-deeds', action='store_true', help='remember only what was seen')
    text = f'actions, services, diagnostics that are no deeds; more than once (default: {" ".join(LEFT_OUT)})'
    parser.add_argument('--leave-out', metavar='PATTERN', action='append', help=text)
    add_captioner(parser)
    add_detector(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with stdout_for_json(args.json):
        result = _ingest(args)
    if result['datum'] and not args.json:
        print('positions are east, north and up of {:.7f}, {:.7f}, {:.2f} m'.format(*result['datum']))
    text = (
        f'{result["segments"]} segments from {format_duration(result["duration_sec"])} of recording in '
        f'{format_duration(result["elapsed_sec"])} ({result["speed"]:.1f} times real time), '
        f'{result["captioned"]} captioned, remembered as {result["remembered"]} memories; '
        f'{shown(args.memory)} holds {result["memories"]} memories'
    )
    text += f'; {result["deeds"]} deeds' if result['deeds'] else ''
    if 'objects' in result:
        text += f'; {result["objects"]} objects, from {result["objects_images"]} images'
        left_out = [f'{count} {reason}' for reason, count in result['objects_left_out'].items()]
        text += f' (left out: {", ".join(left_out)})' if left_out else ''
    print_result(args.json, result, text)
    return 0


def _ingest(args: argparse.Namespace) -> dict[str, Any]:
    check_memory(args)
    name = args.captioner or default_captioner(args)
    tf = (args.tf[0], args.tf[1]) if args.tf else None
    # The bag first: what is wrong with it is known before any model is loaded.
    with (
        _opened(args, tf) as bag,
        closing(RecordedObjects(args)) as things,
        closing(captioner_from(args, name)) as captioner,
    ):
        poses = f'poses from {bag.pose_source}' if bag.pose_source else 'no poses: memories are unplaced'
        print(f'{args.bag}: images from {bag.image_topic}, {poses}; captioner {name}', file=sys.stderr)
        began = time.monotonic()
        with tqdm(total=bag.frame_count, unit='frame', desc='ingest', disable=None) as bar:
            still = None if args.no_consolidation else StillScene()
            describer = Describer(captioner, Remembering(args.robot, args.map, args.camera), still)
            left_out, frame = args.leave_out or LEFT_OUT, tf[0].strip().lstrip('/') if tf else 'map'
            recording = None if args.no_deeds else bag.recording
            deeds = RecordedDeeds(recording, left_out, args.map, frame) if recording else None
            hold_s = bag.hold_s if args.pose_hold is None else args.pose_hold
            whys = Counter[str]()
            observed = observations(
                _counted(bag, bar, deeds if deeds and deeds.topics else None),
                describer,
                poses=PoseBuffer(hold_s=hold_s),
                unplaced=lambda why: whys.update([why]),
            )
            first = next(observed, None)
            if first is None:
                raise BagUnreadable(
                    f'none of the {bag.frame_count} images on {bag.image_topic} can be decoded: '
                    f'{counted(bag.undecoded)}' + ('. Another camera: --image-topic' if bag.recording else '')
                )
            things.check(first.memory)
            # Opened only now: a recording that is of no use leaves no empty memory behind.
            opening = time.monotonic()
            with open_memory(args, create=True, consolidation=not args.no_consolidation) as store:
                began += time.monotonic() - opening  # loading the embedder is no part of the speed
                try:
                    segments, unplaced, remembered = _store(chain([first], observed), store, bar)
                    elapsed = time.monotonic() - began
                except BagUnreadable:
                    things.keep(store)
                    raise
                else:
                    objects = things.keep(store)
                finally:  # after the objects, which are the same where it runs again
                    done = deeds.end(args.robot) if deeds else []
                    _store(map(Observation, done), store, bar)
                memories = store.count()
        if bag.pose_source and unplaced:
            why = why_unplaced(bag, whys, args.max_position_std)
            _log.warning('%d of %d segments are unplaced: %s', unplaced, segments, why)
        if bag.undecoded:
            _log.warning('images on %s cannot be decoded: %s', bag.image_topic, counted(bag.undecoded))
        duration = (bag.end_ns - bag.start_ns) / NS
        return {
            'bag': str(args.bag),
            'memory': shown(args.memory),
            'captioner': name,
            'image_topic': bag.image_topic,
            'pose_source': bag.pose_source or '',
            'datum': list(bag.datum) if bag.datum else None,
            'segments': segments,
            'captioned': describer.captioned,
            'unchanged': describer.repeated,
            'uncaptioned': describer.uncaptioned,
            'remembered': remembered,
            'deeds': len(done),
            'memories': memories,
            'duration_sec': duration,
            'elapsed_sec': elapsed,
            'speed': duration / elapsed if elapsed > 0.0 else 0.0,
            **objects,
        }


def _opened(args: argparse.Namespace, tf: tuple[str, str] | None) -> FrameStream:
    if not is_pictures(args.bag):
        for name in ('poses', 'start', 'rate'):
            if getattr(args, name) is not None:
                raise InvalidRequest(f'--{name} is for a folder of pictures or a video; {args.bag} is none')
        return open_bag(
            args.bag,
            image_topic=args.image_topic,
            pose_topic=args.pose_topic,
            tf=tf,
            max_position_std_m=args.max_position_std,
        )
    for name in ('image_topic', 'pose_topic', 'tf', 'detector', 'detections'):
        if getattr(args, name):
            raise InvalidRequest(
                f'--{name.replace("_", "-")} is for a recording; {args.bag} has pictures only'
            )
    return open_pictures(args.bag, args.poses, args.start, args.rate)


def _store(observed: Iterable[Observation], store: MemoryStore, bar: 'tqdm[Any]') -> tuple[int, int, int]:
    """Store memories in batches; return how many segments there were, how many of them have
    no pose, and how many memories they are.

    What came before an error or Ctrl-C is stored, too.
    """
    segments = unplaced = 0
    batch: list[Observation] = []
    ids: set[str] = set()
    try:
        for observation in observed:
            segments += 1
            unplaced += observation.memory.pose is None
            batch.append(observation)
            bar.set_postfix_str(observation.memory.caption[:40])
            if len(batch) == BATCH:
                ids.update(memory.id for memory in store.add(batch))
                batch = []
    finally:
        ids.update(memory.id for memory in store.add(batch))
    return segments, unplaced, len(ids)


def _counted(bag: FrameStream, bar: 'tqdm[Any]', deeds: RecordedDeeds | None) -> Iterator[Read]:
    for event in bag.events(deeds.topics, deeds.hear) if deeds else bag.events():
        if isinstance(event, Frame):
            bar.update(1)
        elif deeds:
            deeds.placer.add(event)
        yield event
