"""FindingDory (arXiv 2506.15635) as on the hub: videos, and answers that are numbers of their frames.

A table has `video`, `question`, `answer` such as [[12, 13], [40]] (a list for each place to go to, of all
frames that are right), `task_id`, and often `low_level_category` and `num_interactions`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from remembr_bench.evaluation.datasets.sample import Excluded, Truth
from remembr_bench.evaluation.originals.episodes import Asked, Footage, Given, Marked, Original, first_of
from remembr_bench.evaluation.originals.tables import read_table
from remembr_ros.agent.model.answer import Kind

_TABLES = [
    f'{place}{split}*.{end}'
    for split in ('val', 'test', 'train', '')
    for place in ('data/', '')
    for end in ('parquet', 'jsonl', 'json', 'csv')
]
Goals = Sequence[frozenset[int]]
"""For each place to go to, the frames that show it."""


def load_findingdory(folder: Path) -> Original:
    """Return the tasks, by video; of a folder with several splits the one for validation.

    :raises BagUnreadable: there is no table, or it is not in the hub's format
    """
    path = first_of(folder, *_TABLES)
    by_video: defaultdict[str, list[Asked]] = defaultdict(list)
    excluded = []
    for number, row in enumerate(read_table(path, 'video', 'question', 'answer', 'task_id')):
        name, text = f'{row["task_id"]}-{number}', str(row['question'])
        groups = {'task': str(row['task_id'])}
        try:
            goals = read_goals(row['answer'])
            if row.get('num_interactions'):
                groups['interactions'] = f'{int(float(row["num_interactions"])):02}'
        except (TypeError, ValueError) as error:
            excluded.append(Excluded(name, text, str(error)))
            continue
        truth = Truth(Kind.POSITION, text=str([*map(sorted, goals)]))
        columns = ('low_level_category', 'high_level_category', 'task_id')
        category = next(str(row[name]) for name in columns if row.get(name))
        right = frozenset().union(*goals)
        asked = Asked(name, text, truth, category, partial(_marked, goals), groups, right)
        by_video[str(row['video'])].append(asked)
    roots = (path.parent, path.parent.parent)
    episodes = []
    for video, tasks in by_video.items():
        file = next((root / video for root in roots if (root / video).exists()), roots[1] / video)
        episodes.append(Footage(video.rpartition('.')[0].replace('/', '-'), file, tasks, 1.0, 1.0))
    where = 'https://huggingface.co/datasets/yali30/findingdory (videos.zip), or findingdory-subsampled-96'
    return Original(episodes, excluded, where)


def read_goals(answer: Any) -> Goals:
    """Return the lists of frames of an answer; a single list is of one place.

    :raises ValueError: it is none
    """
    try:
        lists = [*(json.loads(answer) if isinstance(answer, str) else answer)]
        nested = lists if all(isinstance(one, Iterable) for one in lists) else [lists]
        goals = [frozenset(map(int, one)) for one in nested]
    except (TypeError, ValueError) as error:
        raise ValueError(f'{str(answer)[:80]!r} is no list of frames') from error
    if not goals or not all(goals):
        raise ValueError('no frame is right')
    return goals


def accuracies(said: Sequence[Sequence[int]], goals: Goals) -> tuple[float, float]:
    """Return exact and relaxed accuracy, as upstream's findingdory-train counts.

    Exact: the lists are those of the answer. Relaxed: the product, over places, of the part of the frames
    that are right; 0 if there are more or fewer places.
    """
    if len(said) != len(goals) or not all(said):
        return 0.0, 0.0
    parts = [sum(frame in goal for frame in one) / len(one) for one, goal in zip(said, goals, strict=True)]
    return float([*map(frozenset, said)] == [*goals]), prod(parts)


def _marked(goals: Goals, said: Given) -> Marked:
    """Of a task with one place the deciding frame counts; of several one frame for each, in their order."""
    several = said.answer is not None and said.answer.every_place
    exact, relaxed = accuracies([[frame] for frame in (said.frames if several else said.frames[:1])], goals)
    return relaxed == 1.0, {'exact': exact, 'relaxed': relaxed}, '' if said.frames else 'no frame is named'
