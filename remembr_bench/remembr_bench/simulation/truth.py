"""What is true about a recorded tour: where everything is, and what could be seen when."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from remembr_bench.simulation.building import Building, SignPanel, Thing
from remembr_bench.simulation.sight import Sight
from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import Point, Pose, StampedPose, mean_pose
from remembr_ros.timestamps import NS

SEGMENT_S = 3.0


@dataclass(frozen=True, slots=True)
class View:
    """An unbroken time during which a sign was readable; see :meth:`Sight.can_read` for what that means.

    :param start_ns: stamp of the first frame that shows it, nanoseconds since the Unix epoch
    :param end_ns: stamp of the last such frame
    :param poses: where base_link was at each of these frames, in the map frame
    """

    start_ns: int
    end_ns: int
    poses: tuple[Pose, ...]


@dataclass(frozen=True, slots=True)
class SignTruth:
    """A sign: what it says, where its middle is [m], which way it faces [rad], when it was readable."""

    text: str
    position: Point
    yaw: float
    place: str
    readable: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class ThingTruth:
    """A piece of furniture, a door or an appliance, and its middle [m]."""

    name: str
    position: Point
    place: str


@dataclass(frozen=True, slots=True)
class SegmentTruth:
    """What a perfect captioner would say of 3 s of the tour.

    :param start_ns: inclusive
    :param end_ns: exclusive, but for the last segment
    :param pose: mean over the segment's frames
    :param visible_signs: texts of the signs that were readable in at least one frame
    """

    start_ns: int
    end_ns: int
    pose: Pose
    caption: str
    visible_signs: tuple[str, ...]
    visible_things: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordingTruth:
    """What is true about one recording. Positions and poses are in the map frame.

    :param start_ns: stamp of the first frame
    :param end_ns: stamp of the last frame
    """

    seed: int
    start_ns: int
    end_ns: int
    signs: tuple[SignTruth, ...]
    objects: tuple[ThingTruth, ...]
    segments: tuple[SegmentTruth, ...]
    frame_id: str = 'map'


def observe(building: Building, frames: Sequence[StampedPose]) -> RecordingTruth:
    """Return what is true about a tour.

    :param frames: where base_link was at each camera frame, in the order of time
    :raises ValueError: there are no frames
    """
    if not frames:
        raise ValueError('a tour without frames')
    sight = Sight(building)
    read = [sight.signs(frame.pose) for frame in frames]
    return RecordingTruth(
        building.seed,
        frames[0].stamp_ns,
        frames[-1].stamp_ns,
        tuple(_sign(sign, frames, [sign in seen for seen in read]) for sign in building.signs),
        tuple(ThingTruth(thing.name, thing.centre, thing.place) for thing in building.things),
        tuple(_segments(building, sight, frames, read)),
    )


def _sign(sign: SignPanel, frames: Sequence[StampedPose], seen: Sequence[bool]) -> SignTruth:
    views = []
    for visible, run in groupby(zip(frames, seen, strict=True), key=itemgetter(1)):
        if visible:
            shown = [frame for frame, _ in run]
            views.append(View(shown[0].stamp_ns, shown[-1].stamp_ns, tuple(f.pose for f in shown)))
    return SignTruth(sign.text, sign.centre, sign.yaw, sign.place, tuple(views))


def _segments(
    building: Building, sight: Sight, frames: Sequence[StampedPose], read: Sequence[list[SignPanel]]
) -> list[SegmentTruth]:
    length = round(SEGMENT_S * NS)
    first_ns = frames[0].stamp_ns
    segments = []
    for number, members in groupby(range(len(frames)), lambda i: (frames[i].stamp_ns - first_ns) // length):
        indices = list(members)
        start_ns = first_ns + number * length
        end_ns = min(start_ns + length, frames[-1].stamp_ns)
        pose = mean_pose(frames[i].pose for i in indices)
        texts = tuple(dict.fromkeys(sign.text for i in indices for sign in read[i]))
        # every second frame is enough for furniture, which is in view for long
        things = list(dict.fromkeys(thing for i in indices[::2] for thing in sight.things(frames[i].pose)))
        segments.append(
            SegmentTruth(
                start_ns,
                end_ns,
                pose,
                describe(building.place_at(pose.x, pose.y), texts, things),
                texts,
                tuple(dict.fromkeys(thing.name for thing in things)),
            )
        )
    return segments


def describe(place: str, texts: Sequence[str], things: Sequence[Thing]) -> str:
    """Return a caption in sentences: the place, the things in view with their number, what the signs read."""
    named = [_counted(*item) for item in Counter(thing.name for thing in things).items()]
    sentences = [f'The robot is in the {place}.' if place else 'The robot is inside a building.']
    if named:
        sentences.append(f'It sees {_listed(named)}.')
    quoted = [f'"{text}"' for text in texts]
    if quoted:
        sentences.append(f'{"A sign reads" if len(quoted) == 1 else "Signs read"} {_listed(quoted)}.')
    return ' '.join(sentences)


def _counted(name: str, number: int) -> str:
    if number == 1:
        return f'{"an" if name[0] in "aeiou" else "a"} {name}'
    head, joint, rest = name.partition(' with ')
    plural = (
        f'{head[:-1]}ves' if head.endswith('shelf') else f'{head}es' if head.endswith('h') else f'{head}s'
    )
    words = {2: 'two', 3: 'three', 4: 'four', 5: 'five'}
    return f'{words.get(number, str(number))} {plural}{joint}{rest}'


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f'{", ".join(parts[:-1])} and {parts[-1]}'


def save_truth(truth: RecordingTruth, path: Path) -> None:
    """Write the truth as JSON."""
    path.write_text(json.dumps(asdict(truth), indent=1) + '\n', encoding='utf-8')


def load_truth(path: Path) -> RecordingTruth:
    """Return the truth of a recording.

    :param path: the truth file, or the folder of the recording with truth.json in it
    :raises BagUnreadable: there is no such file, or it is not a truth file
    """
    file = path / 'truth.json' if path.is_dir() else path
    try:
        return TypeAdapter(RecordingTruth).validate_json(file.read_bytes())
    except OSError as error:
        raise BagUnreadable(f'cannot read {file}: {error}; record the building first') from error
    except ValidationError as error:
        raise BagUnreadable(
            f'{file} is not a truth file ({error.errors()[0]["msg"]}); record the building again'
        ) from error
