"""Episodes of pictures with questions: what the originals of several papers have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from remembr_bench.evaluation.datasets.sample import Excluded, Marks, Trial, Truth
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.agent.planner import Planner
from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import Pose

Marked = tuple[bool | None, dict[str, float], str]
"""Whether an answer is right, None: nobody can tell; figures; and why."""


@dataclass(frozen=True, slots=True)
class EpisodeAnswer:
    """What was answered.

    :param frames: numbers of the frames that the answer cites, the best first
    :param judge: of answers in words; None: there is none
    """

    answer: Answer | None
    frames: tuple[int, ...]
    judge: Marks | None = None

    @property
    def text(self) -> str:
        """What is said, in words; yes or no alone, if that is asked; empty: nothing."""
        if self.answer is None or self.answer.kind is Kind.NOT_SEEN:
            return ''
        return self.answer.text if self.answer.binary is None else 'yes' if self.answer.binary else 'no'


Mark = Callable[[EpisodeAnswer], Marked]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about an episode.

    :param category: by which figures are told; groups: more of these, by what they are called
    :param frames: numbers of those that show the answer
    :param before: what the asker knows ends before this frame; None: all is known
    """

    id: str
    text: str
    truth: Truth
    category: str
    mark: Mark
    groups: Mapping[str, str] = field(default_factory=dict)
    frames: frozenset[int] = frozenset()
    before: int | None = None


@dataclass(frozen=True, slots=True)
class PicturedEpisode:
    """Pictures in their order, or a video, and what is asked about them.

    :param name: unique in its data set
    :param rate_hz: of the pictures; None: as a video says
    :param length_s: of a memory, unless it is told [s]
    :param poses: returns that of each picture, None: not known; none: those beside the pictures, if any
    """

    name: str
    pictures: Path
    asked: Sequence[Asked]
    rate_hz: float | None = 1.0
    length_s: float = 3.0
    poses: Callable[[], Sequence[Pose | None]] | None = None


@dataclass(frozen=True, slots=True)
class OriginalSet:
    """What was found of an original.

    :param where: to get the pictures
    """

    episodes: tuple[PicturedEpisode, ...]
    excluded: tuple[Excluded, ...]
    where: str

    @property
    def pictured(self) -> list[PicturedEpisode]:
        """Those whose pictures are there."""
        return [episode for episode in self.episodes if episode.pictures.exists()]

    @property
    def missing(self) -> list[Excluded]:
        """Those whose pictures are not."""
        return [
            Excluded(one.name, f'{len(one.asked)} questions', f'there is no {one.pictures}')
            for one in self.episodes
            if not one.pictures.exists()
        ]

    def counts(self) -> dict[str, Any]:
        """Return how many questions there are, also by category and group, and how many can be asked."""
        every = [(episode, asked) for episode in self.episodes for asked in episode.asked]
        groups: dict[str, dict[str, int]] = {}
        for _, asked in every:
            for key, value in {'category': asked.category, **asked.groups}.items():
                of_key = groups.setdefault(f'by_{key}', {})
                of_key[value] = of_key.get(value, 0) + 1
        pictured = self.pictured
        return {
            'questions': len(every),
            'episodes': len(self.episodes),
            'with_pictures': sum(len(episode.asked) for episode in pictured),
            'episodes_with_pictures': len(pictured),
            'excluded': len(self.excluded),
            **{name: dict(sorted(counted.items())) for name, counted in groups.items()},
        }


@dataclass(frozen=True, slots=True)
class EpisodeTrial(Trial):
    """Marks answers about an episode.

    :param frames: number of the frame that stands for each memory, by its id
    """

    asked: Mapping[str, Asked]
    frames: Mapping[str, int]

    def planner(self, name: str, sample_id: str, seed: int) -> Planner | None:
        """Return None: what answers is told by the run."""

    def score(
        self, sample_id: str, answer: Answer | None, judge: Marks | None = None
    ) -> tuple[bool | None, dict[str, float], str]:
        """Return how an answer is marked."""
        cited = [hit.memory.id for hit in answer.evidence] if answer is not None else []
        frames = tuple(self.frames[one] for one in dict.fromkeys(cited) if one in self.frames)
        return self.asked[sample_id].mark(EpisodeAnswer(answer, frames, judge))

    def close(self) -> None:
        """Hold nothing."""


def first_of(folder: Path, *names: str) -> Path:
    """Return the first file or folder of these names that is there, in the folder or in `data`; or itself.

    :raises BagUnreadable: none is
    """
    if folder.is_file():
        return folder
    for place in (folder / name for name in names):
        for found in sorted(place.parent.glob(place.name)):
            return found
    raise BagUnreadable(f'{folder} has no {" and no ".join(names)}')
