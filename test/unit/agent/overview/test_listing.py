"""Counting and listing all memories that match."""

from collections.abc import Sequence

import pytest

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.same_place import USUAL
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.overview.listing import listing, naming
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

START_NS = 1_700_000_000 * NS
OTHERS = (
    'A corridor with white walls and a grey floor.',
    'An office with four desks, two monitors and a plant.',
    'A meeting room with a long table and a whiteboard.',
    'A parking lot with several cars under a cloudy sky.',
    'A person walks along a sidewalk beside a brick building.',
)


def patrol(show: Sequence[int], gap_s: int = 60) -> list[Memory]:
    """Return 200 memories of rounds of ten places, 20 m apart; a red bicycle is in those of these numbers."""
    memories = []
    for i in range(200):
        caption = OTHERS[i % len(OTHERS)]
        if i in show:
            caption += ' A red bicycle leans against the wall.'
        start_ns = START_NS + i * gap_s * NS
        pose = Pose(20.0 * (i % 10), 0.0)
        memories.append(Memory(f'p{i:03}', 'robbie', start_ns, start_ns + 3 * NS, caption, pose=pose))
    return memories


SHOWN = sorted(range(3, 200, 5))[:37]  # at two of the ten places


def test_tells_places_and_stays_apart() -> None:
    memories = patrol(SHOWN)
    found = listing(naming(memories, 'red bicycles'), USUAL)
    assert found.memories == 37
    assert (len(found.places), len(found.stays)) == (2, 37)
    starts = [stay[0].memory.start_ns for stay in found.stays]
    assert starts == sorted(starts)
    assert found.most_often() is found.places[0]  # 19 of 37
    together = listing([Hit(memory, 1.0) for memory in patrol([], gap_s=4)[:10]], USUAL)
    assert (len(together.places), len(together.stays)) == (10, 10)


def test_nothing_is_at_no_place() -> None:
    found = listing([], USUAL)
    assert (found.memories, found.places, found.stays) == (0, [], [])


@pytest.mark.parametrize('count', [1, 37, 120])
def test_the_offline_planner_counts_all_that_match(fresh, count: int) -> None:  # type: ignore[no-untyped-def]
    show = list(range(count)) if count > 100 else SHOWN[:count]
    store = fresh(*patrol(show))
    question = Question('How many times did you see a red bicycle?', START_NS + 20_000 * NS)
    answer = OfflinePlanner().answer(question, store, Run(deadline=float('inf')))
    assert answer.kind is Kind.TEXT
    assert ('once' if count == 1 else f'{count} times') in answer.text, answer.text
    assert len(answer.evidence) == min(count, 20)
