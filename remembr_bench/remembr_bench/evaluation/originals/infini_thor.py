"""Needle(s) in the Embodied Haystack of infinity-THOR (arXiv 2505.16928), from the hub's files.

`qa_set_nieh_single_clue.csv` and `..._multi_clue.csv` have traj_id, question, gt_img_idx and answer (both
lists, as Python writes them); `metadata/TRAJ_ID/img/*.png` are a trajectory's pictures, which gt_img_idx
counts from 0.
"""

import ast
import re
from collections import defaultdict
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

from remembr_bench.evaluation.datasets.sample import Excluded, Truth, fifth
from remembr_bench.evaluation.metrics.scores import normalised
from remembr_bench.evaluation.originals.episodes import (
    Asked,
    EpisodeAnswer,
    Marked,
    OriginalSet,
    PicturedEpisode,
    first_of,
)
from remembr_bench.evaluation.originals.tables import read_table
from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.quoting import TO_TWENTY
from remembr_ros.memory.exchange.captions_file import read_json

IMAGE_TOKENS = 121  # upstream's, of Qwen2.5-VL for a picture of 300 x 300
_LENGTHS = (32, 64, 128, 256, 512, 1024)  # thousands of tokens
LIKE = 0.8  # from here on two words are one, as upstream's threshold of 80
_SAME = (
    {'sofa', 'couch', 'loveseat'}, {'fridge', 'refrigerator'}, {'countertop', 'counter'},
    {'table', 'desk', 'coffeetable', 'sidetable', 'diningtable'}, {'dresser', 'drawer', 'chest'},
    {'garbagecan', 'trashcan', 'bin'}, {'cellphone', 'phone', 'mobilephone', 'smartphone'},
    {'remotecontrol', 'remote'}, {'keychain', 'keys', 'key'}, {'creditcard', 'card'}, {'cd', 'disc'},
    {'pen', 'pencil', 'marker'}, {'armchair', 'chair'}, {'baseballbat', 'bat'}, {'houseplant', 'plant'},
)  # fmt: skip
_BEFORE = re.compile(r'^(?:(?:it|this|that|they|\w+) (?:is|was|are|were) )?(?:(?:in|on|at|to|from) )?')


def load_infini_thor(folder: Path) -> OriginalSet:
    """Return the questions of both files, or of one, by trajectory.

    :raises BagUnreadable: there is no such file, or it is not in upstream's format
    """
    first = first_of(folder, 'qa_set_nieh*.csv', 'data/qa_set_nieh*.csv', '*.csv')
    tables = sorted(first.parent.glob('qa_set_nieh*.csv')) if folder.is_dir() else [first]
    root = first.parent
    by_trajectory: defaultdict[str, list[Asked]] = defaultdict(list)
    pictures: dict[str, list[Path]] = {}
    excluded = []
    for table in tables or [first]:
        for number, row in enumerate(read_table(table, 'traj_id', 'question', 'gt_img_idx', 'answer')):
            trajectory, name = str(row['traj_id']), f'{table.stem}-{number}'
            place = _pictures(root, trajectory)
            files = pictures.setdefault(trajectory, sorted(place.glob('*.png')))
            try:
                _check(place.parent, len(files))
                by_trajectory[trajectory].append(_asked(name, row, len(files)))
            except ValueError as error:
                excluded.append(Excluded(name, str(row['question']), str(error)))
    episodes = tuple(
        PicturedEpisode(name, _pictures(root, name), asked, 1.0, 1.0)
        for name, asked in by_trajectory.items()
        if asked
    )
    return OriginalSet(
        episodes,
        tuple(excluded),
        'https://huggingface.co/datasets/PEARLS-Lab/infini-thor-nieh (metadata.tar)',
    )


def _pictures(root: Path, trajectory: str) -> Path:
    places = (root / 'metadata' / trajectory / name for name in ('img', 'img_768'))
    return next((place for place in places if place.is_dir()), root / 'metadata' / trajectory / 'img')


def _check(trajectory: Path, images: int) -> None:
    """Compare a trajectory's pictures with its metadata.

    :raises ValueError: there are more or fewer
    """
    metadata = trajectory / 'metadata.json'
    told = read_json(metadata).get('img_idx') if metadata.is_file() else None
    if told is not None and len(told) != images:
        raise ValueError(f'{trajectory} has {images} pictures, but metadata.json tells of {len(told)}')


def _asked(name: str, row: dict[str, Any], images: int) -> Asked:
    """Return a question.

    :param images: of its trajectory; 0: they are not there
    :raises ValueError: a list of it cannot be read, or names pictures that are not there
    """
    try:
        frames = [int(one) for one in _listed(row['gt_img_idx'])]
        answers = [str(one) for one in _listed(row['answer'])]
    except (SyntaxError, TypeError, ValueError) as error:
        raise ValueError(f'gt_img_idx or answer is no list: {error}') from error
    if not frames or not answers or (images and not 0 <= min(frames) <= max(frames) < images):
        raise ValueError(f'gt_img_idx {frames} is not among {images} pictures, or there is no answer')
    groups = {'clues': 'single' if len(frames) == 1 else 'several'}
    if images:
        thousands = images * IMAGE_TOKENS / 1000
        upto = next((most for most in _LENGTHS if thousands <= most), None)
        groups['depth'] = fifth(min(frames) / images)
        groups['length'] = f'to {upto}k' if upto else f'over {_LENGTHS[-1]}k'
    text, yes = str(row['question']), answers[0].strip().lower()
    truth = Truth(Kind.TEXT, text=', '.join(answers))
    if yes in ('yes', 'no'):
        truth = Truth(Kind.BINARY, binary=yes == 'yes')
    category = str(row.get('type') or row.get('question_type') or _type(text, answers))
    return Asked(name, text, truth, category, partial(_marked, answers), groups, frozenset(frames))


def _listed(value: Any) -> list[Any]:
    read = ast.literal_eval(value) if isinstance(value, str) else value
    return [*read] if isinstance(read, list | tuple) else [read]


def _type(text: str, answers: list[str]) -> str:
    """Return what a question is about, by what it wants: upstream tells yes or no from all others."""
    if answers[0].strip().lower() in ('yes', 'no'):
        return 'yes or no'
    first = text.lower().split()[:2]
    return 'how many' if first == ['how', 'many'] else first[0] if first else ''


def _marked(answers: list[str], said: EpisodeAnswer) -> Marked:
    """Return two figures: `score` by upstream's rule, and `named`: the right words are in the sentence.

    Upstream wants a single word or words, and matches all that is said; planners here say sentences.
    """
    if not (text := said.text):
        return False, {'score': 0.0, 'named': 0.0}, 'there is no answer'
    parts = re.split(r', *(?:and )?| and ', text) if len(answers) > 1 else [text]
    score = sum(any(is_match(part, right) for part in parts) for right in answers) / len(answers)
    whole = f' {" ".join(normalised(text))} '
    named = sum(any(f' {one} ' in whole for one in _names(right)) for right in answers) / len(answers)
    named = max(named, score)
    why = '' if named == 1.0 else f'right is {", ".join(answers)}'
    return named == 1.0, {'score': score, 'named': named}, why


def is_match(said: str, right: str) -> bool:
    """Tell whether two answers are the same: equal, nearly so, or two names of one thing."""
    a, b = _bare(said), _bare(right)
    if b in ('yes', 'no'):
        return a.startswith(b)
    one = SequenceMatcher(None, a, b).ratio() >= LIKE
    return bool(a) and (a == b or one or any({a, b} <= names for names in _SAME))


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
