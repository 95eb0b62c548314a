"""Puts a sequence into a store and asks its questions."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.answer import Answer
from remembr_ros.agent.planner import Planner
from remembr_ros.errors import RemembrError, StoreUnavailable
from remembr_ros.evaluation.metrics import Score, rank, score
from remembr_ros.evaluation.sample import Sample, Sequence
from remembr_ros.evaluation.window import WindowedRecall
from remembr_ros.memory.recall import Scope
from remembr_ros.memory.record import Observation
from remembr_ros.memory.store import MemoryStore

logger = logging.getLogger(__name__)

BATCH = 32
"""Memories embedded and stored together."""

RETRIEVED = 15
"""Memories retrieved with the raw question, before any planner."""

OnProgress = Callable[[str, int, int], None]
"""Called with what is being done ('remember' or 'ask'), how many are done and how many there are."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one question.

    :param answer: None: failed, see failure
    :param rank: place of the answer among the first RETRIEVED memories by the raw question; None: not there
    :param failure: why there is no answer
    """

    sample: Sample
    score: Score
    answer: Answer | None = None
    rank: int | None = None
    failure: str = ''


def ignore_progress(_: str, __: int, ___: int) -> None:
    """Report to nobody."""


def remember(sequence: Sequence, store: MemoryStore, on_progress: OnProgress = ignore_progress) -> None:
    """Make the store hold the sequence's memories and no others; what it holds already costs nothing.

    :raises StoreUnavailable: the database does not work
    """
    wanted = {memory.id for memory in sequence.memories}
    other = [memory.id for memory in store.all() if memory.id not in wanted]
    if other:
        store.forget(other)
    total = len(sequence.memories)
    for start in range(0, total, BATCH):
        batch = sequence.memories[start : start + BATCH]
        store.add([Observation(memory) for memory in batch])
        on_progress('remember', start + len(batch), total)


def evaluate(
    sequence: Sequence,
    store: MemoryStore,
    planner: Planner,
    *,
    timeout_s: float = 60.0,
    on_progress: OnProgress = ignore_progress,
) -> Iterator[Result]:
    """Ask each question with only its window visible.

    A question that fails is a result, too.

    :param store: holds the sequence's memories, see :func:`remember`
    :param timeout_s: for one question
    :raises StoreUnavailable: the database does not work
    """
    for done, sample in enumerate(sequence.samples, 1):
        place = _rank(sample, store)
        agent = Agent(WindowedRecall(store, sample.scope), [planner], timeout_s)
        answer, failure = None, ''
        try:
            answer = agent.ask(sample.question)
        except StoreUnavailable:  # no question can be answered
            raise
        except RemembrError as error:
            failure = f'{type(error).__name__}: {error}'
            logger.info('%s failed: %s', sample.id, failure)
        yield Result(sample, score(sample.truth, sample.length, answer), answer, place, failure)
        on_progress('ask', done, len(sequence.samples))


def _rank(sample: Sample, store: MemoryStore) -> int | None:
    scope: Scope = sample.scope
    hits = store.by_text(sample.question.text, scope, RETRIEVED, diverse=False)
    return rank([hit.memory.id for hit in hits], sample.relevant)
