"""OpenEQA (Majumdar et al., CVPR 2024): open-eqa-v0.json, and episode histories as folders of pictures.

Folders are `frames/scannet-v0/NAME` and `frames/hm3d-v0/NAME` with `*-rgb.png`; depth, intrinsics and a 4 x 4
matrix for each picture may lie beside them. An answer is marked from 1 to 5 by a judge: LLM-Match.
"""

from collections import defaultdict
from functools import partial
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from remembr_bench.evaluation.datasets.sample import Truth
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
from remembr_ros.memory.exchange.captions_file import read_json

RATE_HZ = 2.0  # upstream takes frames evenly out of a scan, and keeps no times
BEST = 5


class _Row(BaseModel):
    question: str
    answer: str
    category: str
    question_id: str
    episode_history: str
    extra_answers: tuple[str, ...] = ()


def load_openeqa(folder: Path) -> OriginalSet:
    """Return the questions, by episode history.

    :raises BagUnreadable: the file is missing, or not in upstream's format
    """
    path = first_of(folder, 'open-eqa-v0.json', 'data/open-eqa-v0.json', 'open-eqa*.json')
    try:
        rows = TypeAdapter(list[_Row]).validate_python(read_json(path))
    except ValidationError as error:
        raise BagUnreadable(f'{path} is not in the format of open-eqa-v0.json: {error}') from error
    by_history: defaultdict[str, list[Asked]] = defaultdict(list)
    for row in rows:
        source = row.episode_history.partition('-')[0]
        mark, truth = partial(_marked, row), Truth(Kind.TEXT, text=row.answer)
        asked = Asked(row.question_id, row.question, truth, row.category, mark, {'history': source})
        by_history[row.episode_history].append(asked)
    root = path.parent
    roots = [place for place in (root / 'frames', root / 'data/frames', root) if place.is_dir()]
    episodes = []
    for name, asked_of in by_history.items():
        pictures = next((r / name for r in roots if (r / name).is_dir()), roots[0] / name)
        episodes.append(PicturedEpisode(name.replace('/', '-'), pictures, asked_of, RATE_HZ))
    return OriginalSet(
        tuple(episodes),
        (),
        'https://github.com/facebookresearch/open-eqa/tree/main/data (HM3D 12 GB, ScanNet 62)',
    )


def _marked(row: _Row, said: EpisodeAnswer) -> Marked:
    """Return the mark, 1 to 5, and LLM-Match, 0 to 1; no answer is marked 1: upstream takes its 0 for 1."""
    if said.answer is None or not said.text:
        return False, _figures(1), 'there is no answer to mark'
    if said.judge is None:
        return None, {}, ''
    mark, why = said.judge.mark(row.question, row.answer, said.answer.text, row.extra_answers)
    return (None, {}, why) if mark is None else (mark == BEST, _figures(mark), why)


def _figures(mark: int) -> dict[str, float]:
    return {'mark': float(mark), 'llm_match': (mark - 1) / (BEST - 1)}
