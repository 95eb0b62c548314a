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
from remembr_bench.evaluation.originals.episodes import Asked, Footage, Given, Marked, Original, first_of
from remembr_ros.agent.model.answer import Kind
from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.exchange.captions_file import read_json

RATE_HZ = 5.0  # of the clips of visual queries
FACTOR = 6.0  # of how far both persons who marked it are apart: upstream's accuracy


def load_vq3d(folder: Path) -> Original:
    """Return the queries, by clip; of a folder with several splits those for validation.

    :raises BagUnreadable: there is no such file, or it is not in upstream's format
    """
    splits = [
        f'{place}vq3d_{split}*.json' for split in ('val', 'train', '') for place in ('', 'annotations/')
    ]
    path = first_of(folder, *splits)
    root = folder if folder.is_dir() else path.parent
    episodes, excluded = [], []
    try:
        for video in read_json(path)['videos']:
            for clip in video['clips']:
                asked: list[Asked] = []
                for number, annotation in enumerate(clip['annotations']):
                    for key, query in (annotation or {}).get('query_sets', {}).items():
                        name = f'{clip["clip_uid"]}-{number}-{key}'
                        if {'object_title', '3d_annotation_1', '3d_annotation_2'} <= query.keys():
                            asked.append(_asked(name, query, str(video.get('scan_uid') or 'scan')))
                        else:
                            why = 'it tells no title, or not where: as of the test split'
                            excluded.append(Excluded(name, query.get('object_title', ''), why))
                if asked:
                    place = root / 'clips_camera_poses' / clip['clip_uid'] / 'egovideo'
                    poses = partial(_poses, place / 'superglue_track/poses')
                    episodes.append(Footage(clip['clip_uid'], place / 'color', asked, RATE_HZ, poses=poses))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BagUnreadable(f'{path} is not in the format of vq3d_val.json: {error!r}') from error
    where = 'https://github.com/EGO4D/episodic-memory/tree/main/VQ3D (ego4d client; poses by its workflow)'
    return Original(episodes, excluded, where)


def _asked(name: str, query: dict[str, Any], scan: str) -> Asked:
    boxes = [query[f'3d_annotation_{which}'] for which in (1, 2)]
    centre, other = ([float(box['position'][axis]) for axis in 'xyz'] for box in boxes)
    diagonals = [dist((0, 0, 0), [box['dimension'][axis] for axis in 'xyz']) for box in boxes]
    within_m = FACTOR * (dist(centre, other) + exp(-sum(diagonals) / 2.0))
    middle = _turned([(a + b) / 2.0 for a, b in zip(centre, other, strict=True)])
    truth = Truth(Kind.POSITION, positions=(_turned(centre),), text=query['object_title'], within_m=within_m)
    text = f'Where did I last see the {query["object_title"].strip()}?'
    return Asked(name, text, truth, scan, partial(_marked, middle, _turned(centre), within_m))


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
        at = -np.einsum('nji,nj->ni', matrices[:, :3, :3], matrices[:, :3, 3])  # the camera's place: -R^T t
        ahead = matrices[:, 2]  # its z axis in the world is the third row of R
        yaws = np.arctan2(ahead[:, 1], ahead[:, 0])
        known = zip(at.tolist(), yaws.tolist(), (good & np.isfinite(at).all(axis=1)).tolist(), strict=True)
        return [Pose(x, y, z, yaw) if is_good else None for (x, y, z), yaw, is_good in known]
    except (OSError, TypeError, ValueError, IndexError) as error:
        raise BagUnreadable(f'{folder} has no camera poses: {error}') from error


def _marked(middle: Point, centre: Point, within_m: float, said: Given) -> Marked:
    """Return whether it is found, and `l2_m` to the first person's box; what has no place has no distance."""
    if said.answer is None or said.answer.pose is None:
        return False, {'success': 0.0}, 'there is no place'
    at = said.answer.pose.position
    found = dist(at, middle) < within_m
    return found, {'success': float(found), 'l2_m': dist(at, centre)}, ''
