"""Small files of the papers' own data sets, in their layouts, with pictures of one colour each."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from remembr_ros.captioning.captioners.captioner import Caption

COLOURS = {'red': (0, 0, 255), 'green': (0, 255, 0), 'blue': (255, 0, 0), 'white': (255, 255, 255)}


class ColourCaptioner:
    """Says of which colour the first picture of a clip is."""

    name = 'colours'

    def caption(self, clips: Any) -> Any:
        for clip in clips:
            b, g, r = (int(value) for value in clip.images[0][8, 8])
            name = min(COLOURS, key=lambda one: sum(map(abs, np.subtract(COLOURS[one], (b, g, r)))))
            yield Caption(f'I see a {name} wall.')

    def close(self) -> None:
        """Hold nothing."""


def picture(colour: str) -> np.ndarray:
    return np.full((16, 16, 3), COLOURS[colour], np.uint8)


def pictures(folder: Path, pattern: str, colours: Sequence[str]) -> None:
    """Write a picture for each colour."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, colour in enumerate(colours):
        cv2.imwrite(str(folder / pattern.format(number)), picture(colour))


def video(path: Path, colours: Sequence[str], hz: float = 10.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*'mp4v'), hz, (64, 64))
    for colour in colours:
        writer.write(np.full((64, 64, 3), COLOURS[colour], np.uint8))
    writer.release()


def openeqa(folder: Path) -> Path:
    """One history of HM3D with pictures, one of ScanNet without."""
    hm3d = 'hm3d-v0/000-hm3d-AAAA'
    asked = [
        ('What color is the first wall?', 'Red', 'attribute recognition', hm3d, None),
        ('Is there a green wall?', 'Yes', 'object recognition', hm3d, ['Yes, there is', 'there is one']),
        (
            'Where is the desk?',
            'By the door',
            'object localization',
            'scannet-v0/002-scannet-scene0709_00',
            None,
        ),
    ]
    rows = [
        {
            'question': text, 'answer': answer, 'category': category, 'question_id': f'q{number}',
            'episode_history': history, **({'extra_answers': extra} if extra else {}),
        }
        for number, (text, answer, category, history, extra) in enumerate(asked)
    ]  # fmt: skip
    folder.mkdir(parents=True)
    (folder / 'open-eqa-v0.json').write_text(json.dumps(rows))
    frames = folder / 'frames' / hm3d
    pictures(frames, '{:05}-rgb.png', ['red'] * 6 + ['green'] * 6)
    pictures(frames, '{:05}-depth.png', ['white'] * 12)
    turned = np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]])  # the camera looks along the world's x
    for number in range(12):
        matrix = np.eye(4)
        matrix[:3, :3], matrix[0, 3] = turned, 0.5 * number
        np.savetxt(frames / f'{number:05}.txt', matrix)
    np.savetxt(frames / 'intrinsic_color.txt', np.eye(4))
    return folder


def findingdory_rows() -> list[dict[str, Any]]:
    """Of a video whose frames are red, green, blue and white in turn, three of each."""
    told = {'video': 'videos/val/ep_id_7.mp4', 'num_interactions': 3}
    spatial, many = 'Single-Goal Spatial Tasks', 'Multi-Goal Tasks'
    return [
        {**told, 'question': 'Navigate to a green wall.', 'answer': '[[3, 4, 5]]', 'task_id': 'task_1',
         'high_level_category': spatial, 'low_level_category': 'Object Recall'},
        {**told, 'question': 'Navigate to a blue wall.', 'answer': '[[4]]', 'task_id': 'task_1',
         'high_level_category': spatial, 'low_level_category': 'Object Recall'},
        {**told, 'question': 'Revisit all walls.', 'answer': '[[0, 1], [6]]', 'task_id': 'task_50',
         'high_level_category': many, 'low_level_category': 'Unordered Revisitation'},
        {**told, 'question': 'Navigate to nothing.', 'answer': '[]', 'task_id': 'task_2',
         'high_level_category': spatial, 'low_level_category': 'Object Recall'},
    ]  # fmt: skip


def findingdory(folder: Path, end: str = 'parquet') -> Path:
    path = folder / 'data' / f'validation-00000-of-00001.{end}'
    path.parent.mkdir(parents=True)
    rows = findingdory_rows()
    if end == 'parquet':
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    elif end == 'csv':
        _csv(path, rows)
    else:
        path.write_text('\n'.join(map(json.dumps, rows)) if end == 'jsonl' else json.dumps(rows))
    video(folder / 'videos/val/ep_id_7.mp4', [c for c in COLOURS for _ in range(3)])
    return folder


def infini_thor(folder: Path) -> Path:
    """One trajectory of ten pictures; the last question names a picture that is not there."""
    folder.mkdir(parents=True)
    single = [
        ('t1', 'Did you see a green wall?', '[4]', "['yes']"),
        ('t1', 'What color was the wall?', '[9]', "['Blue']"),
        ('t1', 'What did you see?', '[12]', "['Apple']"),
    ]
    several = [('t1', 'What colors were there?', '[1, 5]', "['RedWall', 'green']")]
    header = ('traj_id', 'question', 'gt_img_idx', 'answer')
    for name, rows in (('single', single), ('multi', several)):
        _csv(folder / f'qa_set_nieh_{name}_clue.csv', [dict(zip(header, row, strict=True)) for row in rows])
    pictures(folder / 'metadata/t1/img', '{:09}.png', ['red'] * 4 + ['green'] * 3 + ['blue'] * 3)
    (folder / 'metadata/t1/metadata.json').write_text(json.dumps({'img_idx': list(range(10))}))
    (folder / 'metadata/t1/traj.txt').write_text('look')
    return folder


def env_qa(folder: Path) -> Path:
    folder.mkdir(parents=True)
    rows = [
        {'question_id': str(number), 'video_id': 'FloorPlan1_physics_01', 'question': text, 'answer': answer}
        for number, (text, answer) in enumerate(
            [('Is there a red wall?', 'yes'), ('What is it doing?', 'opening the fridge')], start=1
        )
    ]
    (folder / 'test_full_question.json').write_text(json.dumps(rows))
    video(folder / 'videos/FloorPlan1_physics_01.mp4', ['red'] * 30)
    return folder


def vq3d(folder: Path) -> Path:
    """A camera that drives along x past a green wall at 2 m; the second query tells nothing."""
    box = {'position': {'x': 0.0, 'y': 2.0, 'z': 0.0}, 'rotation': dict.fromkeys('xyz', 0.0),
           'dimension': dict.fromkeys('xyz', 0.5)}  # fmt: skip
    other = {**box, 'position': {'x': 0.2, 'y': 2.0, 'z': 0.0}}
    query = {'object_title': 'green wall', '3d_annotation_1': box, '3d_annotation_2': other}
    clip = {'clip_uid': 'clip-aaaa', 'annotations': [{'query_sets': {'1': query, '2': {}}}]}
    content = {'videos': [{'video_uid': 'v', 'scan_uid': 'unict_Baker_32', 'clips': [clip]}]}
    folder.mkdir(parents=True)
    (folder / 'vq3d_val.json').write_text(json.dumps(content))
    place = folder / 'clips_camera_poses/clip-aaaa/egovideo'
    pictures(place / 'color', 'color_{:07}.jpg', ['red'] * 10 + ['green'] * 10)
    turned = np.array([[0.0, -1, 0], [0, 0, -1], [1, 0, 0]])  # world to a camera that looks along x
    matrices = [np.hstack([turned, -turned @ [[0.1 * i], [0.0], [0.0]]]) for i in range(20)]
    poses = place / 'superglue_track/poses'
    poses.mkdir(parents=True)
    np.save(poses / 'cameras_pnp_triangulation.npy', np.array(matrices))
    np.save(poses / 'good_pose_reprojection.npy', np.array([i != 3 for i in range(20)]))
    return folder


def _csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open('w', newline='', encoding='utf-8') as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
