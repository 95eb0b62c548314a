"""Episodes of pictures with questions: what the data sets of several papers have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from remembr_bench.evaluation.datasets.sample import Excluded, Marks, Trial, Truth
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import Pose

Marked = tuple[bool | None, dict[str, float], str]
"""Whether an answer is right, None: nobody can tell; figures; and why."""


@dataclass(frozen=True, slots=True)
class Given:
    """What was answered.

    :param frames: numbers of the frames that the answer cites, the best first
    :param judge: of answers in words; None: there is none
    """

    answer: Answer | None
    frames: Sequence[int]
    judge: Marks | None = None

    @property
    def text(self) -> str:
        """What is said, in words; yes or no alone, if that is asked; empty: nothing."""
        if self.answer is None or self.answer.kind is Kind.NOT_SEEN:
            return ''
        return self.answer.text if self.answer.binary is None else 'yes' if self.answer.binary else 'no'


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about an episode.

    :param groups: by which figures are told beside the category, by what they are called
    :param frames: numbers of those that show the answer
    """

    id: str
    text: str
    truth: Truth
    category: str
    mark: Callable[[Given], Marked]
    groups: Mapping[str, str] = field(default_factory=dict)
    frames: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Footage:
    """Pictures in their order, or a video, and what is asked about them.

    :param name: unique in its data set
    :param rate_hz: of the pictures; None: as a video says
    :param length_s: of a memory, unless it is told [s]
    :param poses: returns that of each picture, None: not known; without it those beside the pictures are read
    """

    name: str
    pictures: Path
    asked: Sequence[Asked]
    rate_hz: float | None = 1.0
    length_s: float = 3.0
    poses: Callable[[], Sequence[Pose | None]] | None = None


@dataclass(frozen=True, slots=True)
class Original:
    """What was found of a data set, and where its pictures are to be had."""

    episodes: Sequence[Footage]
    excluded: Sequence[Excluded]
    where: str


@dataclass(frozen=True, slots=True)
class EpisodeTrial(Trial):
    """Marks answers about an episode.

    :param frames: number of the frame that stands for each memory, by its id
    """

    asked: Mapping[str, Asked]
    frames: Mapping[str, int]

    def score(self, sample_id: str, answer: Answer | None, judge: Marks | None = None) -> Marked:
        """Return how an answer is marked."""
        cited = dict.fromkeys(hit.memory.id for hit in answer.evidence) if answer is not None else {}
        frames = [self.frames[one] for one in cited if one in self.frames]
        return self.asked[sample_id].mark(Given(answer, frames, judge))


def first_of(folder: Path, *names: str) -> Path:
    """Return the first file of these names in a folder, or the file itself.

    :raises BagUnreadable: none is there
    """
    found = [folder] if folder.is_file() else [one for name in names for one in sorted(folder.glob(name))]
    if not found:
        raise BagUnreadable(f'{folder} has no {" and no ".join(names)}')
    return found[0]
