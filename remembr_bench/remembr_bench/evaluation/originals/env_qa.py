"""Env-QA (Gao et al., ICCV 2021): `SPLIT_full_question.json`, and videos that are named as their video_id.

Upstream marks an answer by its roles (action, subjects, objects, state...), whose values are lists in its
program, not in the data: answers are compared word by word here, which figures of the paper are not.
"""

from collections import defaultdict
from functools import partial
from pathlib import Path

from remembr_bench.evaluation.datasets.sample import Truth
from remembr_bench.evaluation.metrics.scores import exact_match, token_f1
from remembr_bench.evaluation.originals.episodes import Asked, Footage, Given, Marked, Original, first_of
from remembr_bench.evaluation.originals.tables import read_table
from remembr_ros.agent.model.answer import Kind


def load_env_qa(folder: Path) -> Original:
    """Return the questions, by video; of a folder with several splits those of the test.

    :raises BagUnreadable: there is no file of questions, or it is not in upstream's format
    """
    path = first_of(folder, *(f'{split}*question*.json' for split in ('test', 'val', 'train')))
    videos = {file.stem.lower(): file for file in path.parent.rglob('*.mp4')}
    by_video: defaultdict[str, list[Asked]] = defaultdict(list)
    for row in read_table(path, 'question_id', 'question', 'answer', 'video_id'):
        text, right = str(row['question']), str(row['answer'])
        category = str(row.get('question_type') or row.get('type') or text.lower().partition(' ')[0])
        truth, mark = Truth(Kind.TEXT, text=right), partial(_marked, right)
        by_video[str(row['video_id'])].append(Asked(str(row['question_id']), text, truth, category, mark))
    episodes = [
        Footage(name, videos.get(name.lower(), path.parent / f'{name}.mp4'), asked, None)
        for name, asked in by_video.items()
    ]
    return Original(episodes, (), 'https://envqa.github.io')


def _marked(right: str, said: Given) -> Marked:
    """Return whether the words are the same, and the figure `f1`."""
    return exact_match(said.text, right), {'f1': token_f1(said.text, right)}, ''
