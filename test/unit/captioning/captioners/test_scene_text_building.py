"""What is read on the rendered building, held against what its signs say."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
import pytest

from remembr_ros.captioning.captioners.captioner import Clip, caption_clip
from remembr_ros.captioning.captioners.scene_text import SceneTextCaptioner
from remembr_ros.geometry import Pose
from remembr_ros.images import Bgr, decode_compressed, encode_jpeg

pytest.importorskip('remembr_bench', reason='needs the worlds of remembr_bench')

from remembr_bench.simulation.building import SignPanel
from remembr_bench.simulation.floor_plan import generate_building
from remembr_bench.simulation.renderer import Renderer
from remembr_bench.simulation.sight import HEIGHT, WIDTH, Sight, optical_centre, project
from remembr_bench.simulation.tour import Tour

pytest.importorskip('rapidocr', reason='needs the extra scene-text')

SEGMENT_S = 3.0
FRAMES = 6
SEEDS = [int(seed) for seed in os.environ.get('REMEMBR_SIGN_SEEDS', '0').split(',')]
"""Of buildings; reading one takes a minute."""


@dataclass(slots=True)
class Words:
    """Counts over the segments of a tour."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    readable: int = 0


def words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r'[A-Z0-9]+', text.upper())}


def is_in_view(sight: Sight, pose: Pose, sign: SignPanel) -> bool:
    """Return whether any part of a sign's text is in the image and not hidden, however small or slanted."""
    eye = optical_centre(pose)
    for across in np.linspace(-0.5, 0.5, 9):
        point = np.array(sign.point(float(across), 0.0))
        x, y, depth = project(pose, point[None, :])[0]
        inside = depth > 0.0 and 0.0 <= x < WIDTH and 0.0 <= y < HEIGHT
        if inside and sight.is_clear(eye, point, (sign.panel,)):
            return True
    return False


def shot(renderer: Renderer, pose: Pose) -> Bgr:
    """Return what the camera sends, which is JPEG."""
    return decode_compressed('jpeg', encode_jpeg(renderer.shoot(pose).bgr, 88))


@pytest.mark.timeout(400)
@pytest.mark.parametrize('seed', SEEDS)
def test_signs_along_a_tour_are_read_and_no_others(seed: int) -> None:
    """Right is a word of a sign in view; to be read are those of signs that the truth calls readable."""
    building = generate_building(seed)
    tour, sight, captioner, count = Tour(building), Sight(building), SceneTextCaptioner(), Words()
    with Renderer(building) as renderer:
        for number in range(int(tour.duration_s // SEGMENT_S)):
            times = [SEGMENT_S * (number + i / FRAMES) for i in range(FRAMES)]
            poses = [tour.pose_at(t) for t in times]
            read = words(caption_clip(captioner, Clip([shot(renderer, pose) for pose in poses])).scene_text)
            in_view = words(
                sign.text for pose in poses for sign in building.signs if is_in_view(sight, pose, sign)
            )
            readable = words(sign.text for pose in poses for sign in sight.signs(pose))
            count.right += len(read & in_view)
            count.wrong += len(read - in_view)
            count.missed += len(readable - read)
            count.readable += len(readable)
    assert count.readable >= 50
    assert count.right / (count.right + count.wrong) >= 0.9, count
    assert 1.0 - count.missed / count.readable >= 0.8, count


def test_a_tour_without_signs_in_view_is_not_read_into() -> None:
    """The same corridors, the camera covered by a grey card."""
    card = cv2.GaussianBlur(np.random.default_rng(0).integers(90, 110, (480, 640, 3), np.uint8), (5, 5), 0)
    assert caption_clip(SceneTextCaptioner(), Clip([card] * FRAMES)).scene_text == ()
