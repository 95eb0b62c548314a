"""Why segments of a recording have no place: by the reason, with what helps against the most frequent."""

from collections import Counter
from collections.abc import Mapping

from remembr_ros.bags.frames import FrameStream
from remembr_ros.captioning.pose_buffer import BEFORE_POSES, LOST, NO_POSE, PAUSE
from remembr_ros.timestamps import format_iso

_REMEDY = {
    PAUSE: 'let a pose count until the next one with --pose-hold SECONDS, if the robot stood meanwhile',
    **dict.fromkeys((BEFORE_POSES, NO_POSE), 'localisation began later than the camera: record from then on'),
}


def counted(reasons: Mapping[str, int]) -> str:
    """Return how often what was the reason, the most frequent first."""
    most = Counter(reasons).most_common()
    listed = [f'{count} x {reason}' for reason, count in most[:3]]
    return '; '.join([*listed, *([f'{len(most) - 3} other reasons'] if len(most) > 3 else [])])


def why_unplaced(read: FrameStream, whys: Counter[str], max_std_m: float) -> str:
    """Return why segments have no place, and the option that helps.

    :param whys: of the segments, see StalePose.why
    :param max_std_m: poses that are less certain were left out [m]
    """
    source, frames, poses = read.pose_source, read.frames_ns, read.poses_ns
    left_out = f'messages of it that are no pose: {counted(read.left_out)}' if read.left_out else ''
    other = f'choose other poses with {"--pose-topic or --tf" if read.recording else "--poses"}'
    most = max(whys, key=lambda why: whys[why], default='')
    if most == LOST:
        return (
            f'{source} was less certain than {max_std_m:g} m ({left_out}); let them count with '
            f'--max-position-std, or {other}'
        )
    if poses is None:
        return f'{source} has no pose at all ({left_out or "its frames are never connected"}); {other}'
    if frames is not None and (frames[1] < poses[0] or poses[1] < frames[0]):
        first, last = (f'{format_iso(start)} to {format_iso(end)}' for start, end in (frames, poses))
        return (
            f'{source} has no pose near their images, which are of {first}, its poses of {last}; check that '
            f'both have the same clock, or {other}'
        )
    why = left_out or counted(whys)
    remedy = f'{_REMEDY[most]}, or ' if most in _REMEDY and not left_out else ''
    return f'{source} has no pose near their images: {why}; {remedy}{other}'
