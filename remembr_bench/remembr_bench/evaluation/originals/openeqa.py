"""OpenEQA (Majumdar et al., CVPR 2024): open-eqa-v0.json, and episode histories as folders of pictures.

Folders are `frames/scannet-v0/NAME` and `frames/hm3d-v0/NAME` with `*-rgb.png`; depth, intrinsics and a 4 x 4
matrix for each picture may lie beside them. An answer is marked from 1 to 5 by a judge: LLM-Match.
"""

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

from remembr_bench.evaluation.datasets.sample import Truth
from remembr_bench.evaluation.originals.episodes import Asked, Footage, Given, Marked, Original, first_of
from remembr_bench.evaluation.originals.tables import read_table
from remembr_ros.agent.model.answer import Kind

RATE_HZ = 2.0  # upstream takes frames evenly out of a scan, and keeps no times
_COLUMNS = ('question', 'answer', 'category', 'question_id', 'episode_history')


def load_openeqa(folder: Path) -> Original:
    """Return the questions, by episode history.

    :raises BagUnreadable: the file is missing, or not in upstream's format
    """
    path = first_of(folder, 'open-eqa-v0.json', 'data/open-eqa-v0.json')
    by_history: defaultdict[str, list[Asked]] = defaultdict(list)
    for row in read_table(path, *_COLUMNS):
        text, right, category, name, history = (str(row[column]) for column in _COLUMNS)
        groups, truth = {'history': history.partition('-')[0]}, Truth(Kind.TEXT, text=right)
        by_history[history].append(Asked(name, text, truth, category, partial(_marked, row), groups))
    frames = next(
        (r for r in (path.parent / 'frames', path.parent / 'data/frames') if r.is_dir()), path.parent
    )
    episodes = [
        Footage(history.replace('/', '-'), frames / history, asked, RATE_HZ)
        for history, asked in by_history.items()
    ]
    where = 'https://github.com/facebookresearch/open-eqa/tree/main/data (HM3D 12 GB, ScanNet 62 GB)'
    return Original(episodes, (), where)


def _marked(row: dict[str, Any], said: Given) -> Marked:
    """Return the mark, 1 to 5, and LLM-Match, 0 to 1; no answer is marked 1: upstream takes its 0 for 1."""
    mark, why = 1, 'there is no answer to mark'
    if said.judge is None:
        return (None, {}, '') if said.text else (False, {}, why)
    if said.answer is not None and said.text:
        also_right = row.get('extra_answers') or ()
        given, why = said.judge.mark(row['question'], row['answer'], said.answer.text, also_right)
        if given is None:
            return None, {}, why
        mark = given
    return mark == 5, {'mark': float(mark), 'llm_match': (mark - 1) / 4}, why
