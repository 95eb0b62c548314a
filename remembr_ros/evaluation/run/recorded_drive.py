"""A drive out of a rosbag: what a robot would remember of it, with every caption kept for the next run."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from remembr_ros.bags.reader import BagReader, open_bag
from remembr_ros.captioning.captioners.by_name import VLMS, get_captioner
from remembr_ros.captioning.captioners.caption_cache import CachingCaptioner
from remembr_ros.captioning.captioners.vlm_options import read_prompt
from remembr_ros.captioning.observation import Describer, Remembering, observations
from remembr_ros.captioning.segmenter import SegmenterConfig
from remembr_ros.errors import BagUnreadable
from remembr_ros.evaluation.records.config import RunConfig
from remembr_ros.geometry import Lost, StampedPose
from remembr_ros.images import Frame
from remembr_ros.memory.model.record import Observation


def remember_bag(
    path: Path,
    config: RunConfig,
    cache: Path,
    *,
    robot: str,
    map_id: str,
    on_frame: Callable[[int, int], None] = lambda done, total: None,
) -> list[Observation]:
    """Return the memories of a recording, in the order of time.

    :param config: captioner, segment length and topics count
    :param cache: folder of the captions that were made before
    :param on_frame: called with the number of frames read and of all frames
    :raises BagUnreadable: it is no recording with images
    :raises CaptionerFailed: the captioner is not installed or not configured
    """
    captioner = get_captioner(config.captioner, model=config.vlm or None, base_url=config.vlm_url or None)
    settings = f'{config.vlm} {read_prompt()}' if config.captioner in VLMS else ''
    tf = (config.tf[0], config.tf[1]) if config.tf else None
    with (
        closing(CachingCaptioner(captioner, cache, settings)) as kept,
        open_bag(
            path, image_topic=config.image_topic or None, pose_topic=config.pose_topic or None, tf=tf
        ) as bag,
    ):
        events = _counted(bag, on_frame)
        segments = SegmenterConfig(length_s=config.segment_length) if config.segment_length else None
        found = list(observations(events, Describer(kept, Remembering(robot, map_id)), segments))
    if not found:
        raise BagUnreadable(f'{path}: none of its {bag.frame_count} images can be decoded')
    return sorted(found, key=lambda observation: observation.memory.start_ns)


def _counted(bag: BagReader, on_frame: Callable[[int, int], None]) -> Iterator[Frame | StampedPose | Lost]:
    done = 0
    for event in bag.events():
        if isinstance(event, Frame):
            done += 1
            on_frame(done, bag.frame_count)
        yield event
