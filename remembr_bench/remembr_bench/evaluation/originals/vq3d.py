"""Ego4D's visual queries in 3D (arXiv 2110.07058): `vq3d_SPLIT.json`, and poses as upstream computes them.

`clips_camera_poses/CLIP/egovideo` has `color/*.jpg`, 5 in a second, and `superglue_track/poses` with
cameras_pnp_triangulation.npy (n, 3, 4), world to camera, and good_pose_reprojection.npy (n,).

Asked is where the object of a title is: crops of pictures cannot be asked with. A place is where the robot
saw it, unless objects are known, so that L2 is to the camera. The angular error is not told: nothing here
looks from a frame.
"""

from collections.abc import Sequence
from functools import partial
from math import dist, exp
from pathlib import Path
from typing import Any

import numpy as np

from remembr_bench.evaluation.datasets.sample import Excluded, Truth
from remembr_bench.evaluation.originals.episodes import (
    Asked,
    EpisodeAnswer,
    Marked,
    OriginalSet,
    PicturedEpisode,
    first_of,
)
from remembr_ros.agent.model.answer import Kind
from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.exchange.captions_file import read_json

RATE_HZ = 5.0  # of the clips of visual queries
FACTOR = 6.0  # of how far both persons who marked it are apart: upstream's accuracy


def load_vq3d(folder: Path) -> OriginalSet:
    """Return the queries, by clip; of a folder with several splits those for validation.

    :raises BagUnreadable: there is no such file, or it is not in upstream's format
    """
    names = [
        f'{p}vq3d_{split}*.json' for split in ('val', 'train', '') for p in ('', 'annotations/', 'data/')
    ]
    path = first_of(folder, *names)
    root = folder if folder.is_dir() else path.parent
    places = [place for place in (root / 'clips_camera_poses', root) if place.is_dir()]
    episodes, excluded = [], []
    try:
        for video in read_json(path)['videos']:
            for clip in video['clips']:
                place = places[0] / clip['clip_uid'] / 'egovideo'
                asked, left_out = _asked_of(clip, str(video.get('scan_uid', '')))
                excluded += left_out
                if asked:
                    known = partial(_poses, place / 'superglue_track/poses')
                    name, color = str(clip['clip_uid']), place / 'color'
                    episodes.append(PicturedEpisode(name, color, asked, RATE_HZ, poses=known))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BagUnreadable(f'{path} is not in the format of vq3d_val.json: {error!r}') from error
    where = 'https://github.com/EGO4D/episodic-memory/tree/main/VQ3D (ego4d client; poses by its workflow)'
    return OriginalSet(tuple(episodes), tuple(excluded), where)


def _asked_of(clip: dict[str, Any], scan: str) -> tuple[list[Asked], list[Excluded]]:
    asked, excluded = [], []
    for number, annotation in enumerate(clip['annotations']):
        for key, query in (annotation or {}).get('query_sets', {}).items():
            name, title = f'{clip["clip_uid"][:8]}-{number}-{key}', query.get('object_title', '')
            boxes = [query.get(f'3d_annotation_{which}') for which in (1, 2)]
            if not title or not all(boxes):
                excluded.append(
                    Excluded(name, title, 'it tells no title, or not where: as of the test split')
                )
                continue
            (centre, size), (other, other_size) = map(_box, boxes)
            within_m = FACTOR * (dist(centre, other) + exp(-(size + other_size) / 2.0))
            middle = _turned([(a + b) / 2.0 for a, b in zip(centre, other, strict=True)])
            truth = Truth(Kind.POSITION, positions=(_turned(centre),), text=title, within_m=within_m)
            text = f'Where did I last see the {title.strip()}?'
            before = query.get('query_frame')
            mark = partial(_marked, middle, _turned(centre), within_m)
            asked.append(Asked(name, text, truth, scan or 'scan', mark, before=before))
    return asked, excluded


def _box(box: dict[str, dict[str, float]]) -> tuple[Point, float]:
    """Return the middle of a box and how long its diagonal is [m]."""
    centre, size = ([float(box[part][axis]) for axis in 'xyz'] for part in ('position', 'dimension'))
    return (centre[0], centre[1], centre[2]), float(np.linalg.norm(size))


def _turned(point: Sequence[float]) -> Point:
    """Return a point of an annotation in the world of the poses: a quarter of a turn about z."""
    x, y, z = point
    return (y, -x, z)


def _poses(folder: Path) -> list[Pose | None]:
    """Return the pose of the camera in each picture; None: it is not known.

    :raises BagUnreadable: they are not there, or not as upstream's workflow leaves them
    """
    try:
        matrices = np.load(folder / 'cameras_pnp_triangulation.npy')
        good = np.load(folder / 'good_pose_reprojection.npy').astype(bool).ravel()
        turns, moves = matrices[:, :3, :3], matrices[:, :3, 3]
        at = -np.einsum('nji,nj->ni', turns, moves)  # the camera's place: -R^T t
        ahead = turns[:, 2]  # its z axis in the world: the third row of R
        yaws = np.arctan2(ahead[:, 1], ahead[:, 0])
    except (OSError, ValueError, IndexError) as error:
        raise BagUnreadable(f'{folder} has no camera poses: {error}') from error
    known = zip(at.tolist(), yaws.tolist(), good.tolist(), strict=True)
    return [
        Pose(place[0], place[1], place[2], yaw) if is_good and np.isfinite(place).all() else None
        for place, yaw, is_good in known
    ]


def _marked(middle: Point, centre: Point, within_m: float, said: EpisodeAnswer) -> Marked:
    """Return whether it is found, and `l2_m` to the first person's box; what has no place has no distance."""
    if said.answer is None or said.answer.pose is None:
        return False, {'success': 0.0}, 'there is no place'
    at = said.answer.pose.position
    found = dist(at, middle) < within_m
    return found, {'success': float(found), 'l2_m': dist(at, centre)}, ''
