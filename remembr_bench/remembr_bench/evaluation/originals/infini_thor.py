"""Needle(s) in the Embodied Haystack of infinity-THOR (arXiv 2505.16928), from the hub's files.

`qa_set_nieh_single_clue.csv` and `..._multi_clue.csv` have traj_id, question, gt_img_idx and answer (both
lists, as Python writes them); `metadata/TRAJ_ID/img/*.png` are a trajectory's pictures, which gt_img_idx
counts from 0, and metadata.json tells how many they are.
"""

import ast
import re
from collections import defaultdict
from difflib import SequenceMatcher
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from remembr_bench.evaluation.datasets.sample import Excluded, Truth, fifth
from remembr_bench.evaluation.metrics.scores import normalised
from remembr_bench.evaluation.originals.episodes import Asked, Footage, Given, Marked, Original, first_of
from remembr_bench.evaluation.originals.tables import read_table
from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.quoting import TO_TWENTY
from remembr_ros.memory.exchange.captions_file import read_json

IMAGE_TOKENS = 121  # upstream's, of Qwen2.5-VL for a picture of 300 x 300
LIKE = 0.8  # from here on two words are one, as upstream's threshold of 80
_SAME = [set(names.split()) for names in (
    'sofa couch loveseat', 'fridge refrigerator', 'countertop counter', 'creditcard card', 'armchair chair',
    'table desk coffeetable sidetable diningtable', 'dresser drawer chest', 'garbagecan trashcan bin',
    'cellphone phone smartphone', 'remotecontrol remote', 'keychain keys', 'pen pencil', 'baseballbat bat',
)]  # fmt: skip
_BEFORE = re.compile(r'^(?:\w+ (?:is|was|are|were) )?(?:(?:in|on|at|to|from) )?')


def load_infini_thor(folder: Path) -> Original:
    """Return the questions of both files, or of one, by trajectory.

    :raises BagUnreadable: there is no such file, or it is not in upstream's format
    """
    first = first_of(folder, 'qa_set_nieh*.csv')
    by_trajectory: defaultdict[Path, list[Asked]] = defaultdict(list)
    excluded = []
    counted = lru_cache(None)(_count)  # a trajectory has hundreds of questions
    for table in sorted(folder.glob('qa_set_nieh*.csv')) or [first]:
        for number, row in enumerate(read_table(table, 'traj_id', 'question', 'gt_img_idx', 'answer')):
            name, trajectory = f'{table.stem}-{number}', first.parent / 'metadata' / str(row['traj_id'])
            try:
                by_trajectory[trajectory].append(_asked(name, row, counted(trajectory)))
            except (SyntaxError, TypeError, ValueError) as error:
                excluded.append(Excluded(name, str(row['question']), str(error)))
    episodes = [
        Footage(trajectory.name, _pictures(trajectory), asked, 1.0, 1.0)
        for trajectory, asked in by_trajectory.items()
        if asked
    ]
    where = 'https://huggingface.co/datasets/PEARLS-Lab/infini-thor-nieh (metadata.tar)'
    return Original(episodes, excluded, where)


def _pictures(trajectory: Path) -> Path:
    return next((p for p in (trajectory / 'img', trajectory / 'img_768') if p.is_dir()), trajectory / 'img')


def _count(trajectory: Path) -> int:
    """Return how many pictures a trajectory has; 0: they are not there.

    :raises ValueError: metadata.json tells of another number
    """
    images, metadata = len([*_pictures(trajectory).glob('*.png')]), trajectory / 'metadata.json'
    told = read_json(metadata) if metadata.is_file() else {}
    if 'img_idx' in told and len(told['img_idx']) != images:
        raise ValueError(f'{trajectory} has {images} pictures, but metadata.json tells of others')
    return images


def _asked(name: str, row: dict[str, Any], images: int) -> Asked:
    """Return a question.

    :param images: of its trajectory; 0: they are not there
    :raises ValueError: a list of it cannot be read, or it names pictures that are not there
    """
    frames, answers = (ast.literal_eval(row[column]) for column in ('gt_img_idx', 'answer'))
    frames, answers = [int(frame) for frame in frames], [str(answer) for answer in answers]
    if not (frames and answers) or (images and not 0 <= min(frames) <= max(frames) < images):
        raise ValueError(f'gt_img_idx {frames} is not among {images} pictures, or there is no answer')
    groups = {'clues': 'single' if len(frames) == 1 else 'several'}
    if images:
        upto = 2 ** max(((images * IMAGE_TOKENS - 1) // 1000).bit_length(), 5)  # thousands of tokens
        groups |= {'depth': fifth(min(frames) / images), 'length': f'to {upto}k'}
    text, yes = str(row['question']), answers[0].lower()
    binary = yes == 'yes' if yes in ('yes', 'no') else None
    truth = Truth(Kind.TEXT if binary is None else Kind.BINARY, binary=binary, text=', '.join(answers))
    asks = re.match(r'how many|\w+', text.lower())
    category = row.get('type') or ('yes or no' if binary is not None else asks[0] if asks else '')
    return Asked(name, text, truth, category, partial(_marked, answers), groups, frozenset(frames))


def _marked(answers: list[str], said: Given) -> Marked:
    """Return two figures: `score` by upstream's rule, and `named`: the right words are in the sentence.

    Upstream wants a single word or words, and matches all that is said; planners here say sentences.
    """
    parts = re.split(r', *(?:and )?| and ', said.text) if len(answers) > 1 else [said.text]
    score = sum(any(is_match(part, right) for part in parts) for right in answers) / len(answers)
    whole = f' {" ".join(normalised(said.text))} '
    named = sum(any(f' {one} ' in whole for one in _names(right)) for right in answers) / len(answers)
    named = max(named, score)
    why = '' if named == 1.0 else f'right is {", ".join(answers)}'
    return named == 1.0, {'score': score, 'named': named}, why


def is_match(said: str, right: str) -> bool:
    """Tell whether two answers are the same: equal, nearly so, or two names of one thing."""
    a, b = _bare(said), _bare(right)
    if b in ('yes', 'no') or not a:
        return bool(a) and a.startswith(b)
    return SequenceMatcher(None, a, b).ratio() >= LIKE or any({a, b} <= names for names in _SAME)


def _names(right: str) -> set[str]:
    spaced = ' '.join(normalised(re.sub(r'(?<=[a-z])(?=[A-Z])', ' ', right)))
    return {
        spaced,
        ' '.join(normalised(right)),
        *(o for names in _SAME if _bare(right) in names for o in names),
    }


def _bare(text: str) -> str:
    """Return the words that count as one, numbers in digits."""
    words = _BEFORE.sub('', ' '.join(normalised(text))).split()
    return ''.join(str(TO_TWENTY.index(word)) if word in TO_TWENTY else word for word in words)
