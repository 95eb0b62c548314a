"""Env-QA (Gao et al., ICCV 2021): `SPLIT_full_question.json`, and videos that are named as their video_id.

Upstream marks an answer by its roles (action, subjects, prep, objects, state, number, yes/no, order), of
which `answer_space.py` of https://github.com/maybelu9/env-qa lists the values. It is read, never run; without
it answers are compared word by word. Upstream's table of misspelt words is not used.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from remembr_bench.evaluation.datasets.sample import Truth
from remembr_bench.evaluation.metrics.scores import exact_match, token_f1
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
from remembr_ros.errors import BagUnreadable

Space = Mapping[str, Sequence[str]]
"""The values of each role."""
_NONE = 'NONE'


def load_env_qa(folder: Path) -> OriginalSet:
    """Return the questions, by video; of a folder with several splits those of the test.

    :raises BagUnreadable: there is no file of questions, or it is not in upstream's format
    """
    names = [
        f'{place}{split}*question*.json' for split in ('test', 'val', 'train') for place in ('', 'data/')
    ]
    path = first_of(folder, *names)
    root = folder if folder.is_dir() else path.parent
    space = _space(path.parent / 'answer_space.py')
    videos = {file.stem.lower(): file for file in root.rglob('*.mp4')}
    by_video: defaultdict[str, list[Asked]] = defaultdict(list)
    for row in read_table(path, 'question_id', 'question', 'answer', 'video_id'):
        text, right = str(row['question']), str(row['answer'])
        category = str(row.get('question_type') or row.get('type') or text.lower().partition(' ')[0])
        mark, truth = partial(_marked, text, right, space), Truth(Kind.TEXT, text=right)
        by_video[str(row['video_id'])].append(Asked(str(row['question_id']), text, truth, category, mark))
    episodes = tuple(
        PicturedEpisode(name, videos.get(name.lower(), root / f'{name}.mp4'), asked, None)
        for name, asked in by_video.items()
    )
    return OriginalSet(episodes, (), 'https://envqa.github.io')


def _space(path: Path) -> Space | None:
    """Return the values of the roles; None: the file is not there.

    :raises BagUnreadable: it is there and holds something else
    """
    if not path.is_file():
        return None
    try:
        values = ast.literal_eval(path.read_text(encoding='utf-8').partition('=')[2].strip())
        return {str(role): [str(one) for one in some] for role, some in values.items()}
    except (OSError, SyntaxError, ValueError, AttributeError, TypeError) as error:
        raise BagUnreadable(f'{path} is not answer_space.py of env-qa: {error}') from error


def _marked(text: str, right: str, space: Space | None, answer: EpisodeAnswer) -> Marked:
    """Return the figure `roles`, if their values are known, and `f1` of the words."""
    said = answer.text
    figures = {'f1': token_f1(said, right)}
    if space is None:
        return exact_match(said, right), figures, ''
    figures['roles'] = alike(roles(said, text, space), roles(right, text, space))
    return figures['roles'] == 1.0, figures, '' if said else 'there is no answer'


def alike(said: Mapping[str, str], right: Mapping[str, str]) -> float:
    """Return how many roles are the same, of those that either fills; 1 where neither fills any."""
    filled = [role for role in right if (said[role], right[role]) != (_NONE, _NONE)]
    return sum(said[role] == right[role] for role in filled) / len(filled) if filled else 1.0


def roles(answer: str, question: str, space: Space) -> dict[str, str]:
    """Return the value of each role in an answer, NONE where there is none.

    Of several the first counts, the longest of those; of objects the last, if there are two or more.
    """
    options = [part for part in question.lower().strip(' ?').split(',') if ' or ' in part]
    if options and re.search(r'later|first', question):
        answer = _which(_plain(answer), [_plain(one) for one in options[-1].split(' or ', 1)])
    text, found = f' {_plain(answer)} ', dict.fromkeys(space, _NONE)
    for role, values in space.items():
        inside = [
            (at, value) for value in values if value != _NONE and (at := _place(value, text)) is not None
        ]
        if role == 'objects':
            if len(inside) > 1:
                found[role] = max(inside, key=lambda one: (one[0] + len(one[1]), len(one[1])))[1]
        elif inside:
            found[role] = min(inside, key=lambda one: (one[0], -len(one[1])))[1]
    if found.get('prep') in ('on', 'off') and f'turning {found["prep"]}' in text:
        found['prep'] = _NONE
    if 'objects' in found and found['objects'] == found.get('subjects'):
        found['objects'] = _NONE
    return found


def _which(answer: str, options: list[str]) -> str:
    """Return which of two options is said: former, latter, or unanswerable."""
    if answer in ('unanswerable', 'nothing', ''):
        return 'unanswerable'
    shared = [len({*option.split()} & {*answer.split()}) for option in options]
    return 'former' if answer == options[0] or shared[0] > shared[1] else 'latter'


def _place(value: str, text: str) -> int | None:
    """Return where all words of a value begin in a text, written as one word or several."""
    joined = f' {value.replace(" ", "")} '
    if joined in text:
        return text.index(joined)
    words = [f' {word} ' for word in value.split()]
    return min(map(text.index, words)) if words and all(word in text for word in words) else None


def _plain(text: Any) -> str:
    return ' '.join(re.sub(r'[*().?,]', ' ', str(text).lower()).split())
