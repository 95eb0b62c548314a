"""How many segments captioners describe, what an idle robot saves, what becomes of what is too much."""

import sys
import threading
import time
from collections.abc import Iterator, Sequence

import numpy as np

from remembr_ros.captioning.backlog import Backlog
from remembr_ros.captioning.captioners.by_name import get_captioner
from remembr_ros.captioning.captioners.captioner import Caption, Captioner, Clip, caption_clip
from remembr_ros.captioning.observation import Describer, Remembering
from remembr_ros.captioning.placer import PlacedSegment, Placer
from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.captioning.segmenter import SampledFrame, Segment, Segmenter
from remembr_ros.captioning.still_scene import StillScene
from remembr_ros.errors import CaptionerFailed
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.images import Bgr, Frame, decode_compressed, encode_jpeg
from remembr_ros.memory.model.record import Observation
from remembr_ros.nodes.captioner.worker import CaptionWorker
from remembr_ros.timestamps import NS
from test.bench.figure import Figure
from test.bench.processes import resident_mb
from test.fake_captioner import FakeCaptioner
from test.scripted.reply import ScriptedReply
from test.scripted.server import ScriptedServer

START_NS = 1_700_000_000 * NS
SEGMENT_S = 3
FRAMES = 6

IDLE_H = 8
HAPPENING_EVERY = 400
"""Segments of 3 s: every 20 minutes somebody walks past."""

HAPPENING_FOR = 3
DUSK = 0.3
"""Of the light goes in these hours."""

MINUTES = 10
SPEED = 20
"""Simulated seconds per second of the stress run."""

TOO_SLOW = 10


def run() -> list[Figure]:
    """Measure all of it."""
    return [*_backends(), *_idle_day(), *_stress()]


class _Counting(FakeCaptioner):
    """Says which caption it is, and takes its time."""

    name = 'counting'

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__()
        self.calls = 0
        self._seconds = seconds

    def describe(self, images: Sequence[Bgr]) -> Caption:
        self.calls += 1
        threading.Event().wait(self._seconds)
        return Caption(f'Caption {self.calls} of {len(images)} frames.')


def _backends() -> list[Figure]:
    figures = []
    images = [_room() for _ in range(FRAMES)]
    with ScriptedServer([ScriptedReply('A red sofa stands beside a door.')]) as server:
        makes = {
            'scene_text': lambda: get_captioner('scene_text'),
            'openai, without the model': lambda: get_captioner('openai', model='m', base_url=server.url),
        }
        for name, make in makes.items():
            try:
                captioner: Captioner = make()
                caption_clip(captioner, Clip(images))
            except CaptionerFailed as error:
                print(f'captioner {name} left out: {error}', file=sys.stderr)
                continue
            began, count = time.perf_counter(), 0
            while time.perf_counter() - began < 4.0:
                caption_clip(captioner, Clip(images))
                count += 1
            rate = count / (time.perf_counter() - began)
            figures.append(Figure(f'captioner {name}: segments of 6 frames', rate, 1 / SEGMENT_S, '1/s'))
    return figures


def _idle_day() -> list[Figure]:
    """Stand for hours in a room that gets dark; people walk past."""
    captioner = _Counting()
    describer = Describer(captioner, Remembering('idler', keyframes=0), StillScene())
    rng = np.random.default_rng(3)
    noise = [rng.normal(0.0, 6.0, (480, 640, 3)).astype(np.float32) for _ in range(16)]
    room = _room().astype(np.float32)
    count = IDLE_H * 3600 // SEGMENT_S
    quiet = happened = quiet_calls = seen = 0
    for index in range(count):
        is_happening = index % HAPPENING_EVERY >= HAPPENING_EVERY - HAPPENING_FOR
        frames = []
        for number in range(2):
            image = room * (1.0 - DUSK * index / count) + noise[rng.integers(16)]
            if is_happening:
                left = int(rng.integers(0, 560))
                image[120:400, left : left + 60] = 30.0
            stamp_ns = START_NS + (SEGMENT_S * index + number) * NS
            frames.append(SampledFrame(stamp_ns, np.clip(image, 0, 255).astype(np.uint8), 1.0))
        before = captioner.calls
        pose = Pose(*rng.normal((1.0, 2.0), 0.03), 0.0, float(rng.normal(0.5, 0.02)))
        end_ns = frames[-1].stamp_ns + NS
        describer.observe_all([PlacedSegment(Segment(frames[0].stamp_ns, end_ns, tuple(frames)), pose)])
        if is_happening:
            happened += 1
            seen += captioner.calls - before
        else:
            quiet += 1
            quiet_calls += captioner.calls - before
    name = f'{IDLE_H} idle hours'
    return [
        Figure(
            f'{name}: quiet segments without a call of the model',
            1 - quiet_calls / quiet,
            None,
            '',
            least=0.9,
        ),
        Figure(f'{name}: segments with somebody in them captioned', seen / happened, None, '', least=1.0),
    ]


def _stress() -> list[Figure]:
    """A camera at 30 Hz; the captioner takes ten times as long as a segment lasts."""
    jpeg = encode_jpeg(_room())
    published: list[Observation] = []
    describer = Describer(_Counting(TOO_SLOW * SEGMENT_S / SPEED), Remembering('racer'))
    backlog = Backlog(8)
    worker = CaptionWorker(
        describer.observe_all, describer.keep, published.append, log=_Silent(), backlog=backlog
    )
    placer = Placer(Segmenter(), PoseBuffer())
    began, resident = time.monotonic(), []
    put = 0
    for number, event in enumerate(_drive(jpeg)):
        for placed in placer.add(event):
            worker.put(placed)
            put += 1
        if number % (30 * 60) == 0:
            due_s = (event.stamp_ns - START_NS) / NS / SPEED
            threading.Event().wait(max(0.0, began + due_s - time.monotonic()))
            resident.append(resident_mb())
    for placed in placer.flush():
        worker.put(placed)
        put += 1
    worker.close()
    wrong = sum(not _is_exact(observation) for observation in published)
    third = len(resident) // 3
    name = f'camera at 30 Hz for {MINUTES} minutes, captioner {TOO_SLOW} times too slow'
    lost = abs(put - describer.captioned - describer.uncaptioned) + abs(put - len(published))
    return [
        Figure(f'{name}: segments captioned', describer.captioned, put, ''),
        Figure(f'{name}: segments kept without a caption', describer.uncaptioned, put, ''),
        Figure(
            f'{name}: segments unaccounted for',
            lost,
            None,
            '',
            most=0,
        ),
        Figure(f'{name}: segments with a wrong stamp or pose', wrong, None, '', most=0),
        Figure(
            f'{name}: resident, last minute over the first third',
            resident[-1] / float(np.mean(resident[1 : third + 1])),
            None,
            'times',
            most=1.1,
        ),
    ]


def _drive(jpeg: bytes) -> Iterator[Frame | StampedPose]:
    """Drive along x at 1 m/s."""
    for number in range(MINUTES * 60 * 30):
        stamp_ns = START_NS + number * NS // 30
        yield StampedPose(stamp_ns, Pose((stamp_ns - START_NS) / NS, 0.0))
        yield Frame(stamp_ns, lambda: decode_compressed('jpeg', jpeg))


def _is_exact(observation: Observation) -> bool:
    """Tell whether the pose is the mean of the six frames of the segment, half a second apart."""
    memory = observation.memory
    begins_s = (memory.start_ns - START_NS) / NS
    lasts_s = (memory.end_ns - memory.start_ns) / NS
    mean_s = begins_s + np.mean([0.5 * i for i in range(FRAMES) if 0.5 * i <= lasts_s])
    on_grid = abs(begins_s / SEGMENT_S - round(begins_s / SEGMENT_S)) < 1e-6
    return on_grid and memory.pose is not None and abs(memory.pose.x - mean_s) < 0.02


class _Silent:
    def warning(self, text: str, **_: object) -> None:
        pass

    error = warning


def _room() -> Bgr:
    """Return a room with furniture, 640 x 480."""
    import cv2

    rng = np.random.default_rng(1)
    image = np.full((480, 640, 3), 150, np.uint8)
    for _ in range(14):
        x, y = (int(value) for value in rng.integers(0, 520, 2))
        cv2.rectangle(image, (x, y), (x + 110, y + 70), [int(v) for v in rng.integers(30, 230, 3)], -1)
    return image
