"""Recordings as memories: captioned, and each caption kept."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from remembr_bench.evaluation.records.config import PlannerName, RunConfig
from remembr_bench.evaluation.run.caption_cache import CachingCaptioner
from remembr_ros.bags.frames import Event, FrameStream
from remembr_ros.bags.reader import open_bag
from remembr_ros.captioning.captioners.by_name import VLMS, get_captioner
from remembr_ros.captioning.captioners.captioner import Caption, Captioner, Clip
from remembr_ros.captioning.captioners.vlm_options import read_prompt
from remembr_ros.captioning.observation import Describer, Remembering, observations
from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.captioning.segmenter import SegmenterConfig
from remembr_ros.errors import BagUnreadable, CaptionerFailed
from remembr_ros.images import Frame
from remembr_ros.memory.model.record import UNCAPTIONED, Observation


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

    :param config: captioner, segment length and frames of TF count
    :param cache: folder of the captions that were made before
    :param on_frame: called with the number of frames read and of all frames
    :raises BagUnreadable: it is no recording with images
    :raises CaptionerFailed: the captioner is not installed or not configured
    """
    tf = (config.tf[0], config.tf[1]) if config.tf else None
    with open_bag(path, tf=tf) as bag:
        length_s = config.segment_length or SegmenterConfig().length_s
        events = counted(bag, on_frame)
        return remember_stream(
            bag, events, config, cache, remembering=Remembering(robot, map_id), length_s=length_s
        )


def remember_stream(
    stream: FrameStream,
    events: Iterator[Event],
    config: RunConfig,
    cache: Path,
    *,
    remembering: Remembering,
    length_s: float,
) -> list[Observation]:
    """Return the memories of a stream; see :func:`remember_bag`."""
    if config.planner is PlannerName.FRAMES:
        captioner: Captioner = _Silent()
    else:
        captioner = get_captioner(config.captioner, model=config.vlm or None, base_url=config.vlm_url or None)
    settings = f'{config.vlm} {read_prompt()}' if config.captioner in VLMS else ''
    # A memory a frame, where frames are wanted at a rate.
    length_s = 1.0 / config.frame_rate if config.frame_rate else length_s
    segments = SegmenterConfig(length_s, max(config.frame_rate, SegmenterConfig().rate_hz))
    with closing(CachingCaptioner(captioner, cache, settings)) as kept:
        describer, poses = Describer(kept, remembering), PoseBuffer(hold_s=stream.hold_s)
        found = list(observations(events, describer, segments, poses=poses))
    if not found:
        raise BagUnreadable(f'{stream.image_topic}: none of its {stream.frame_count} images can be decoded')
    return sorted(found, key=lambda observation: observation.memory.start_ns)


class _Silent:
    """Says nothing: what is shown frames needs no captions."""

    name = 'none'

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        yield from (Caption(UNCAPTIONED) for _ in clips)

    def close(self) -> None:
        """Hold nothing."""


def counted(stream: FrameStream, on_frame: Callable[[int, int], None]) -> Iterator[Event]:
    done = 0
    for event in stream.events():
        if isinstance(event, Frame):
            done += 1
            on_frame(done, stream.frame_count)
        yield event
