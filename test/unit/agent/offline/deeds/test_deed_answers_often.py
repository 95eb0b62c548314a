"""A thing that is put somewhere over and over again is where it was put last."""

from pathlib import Path

import pytest

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS


def hand(kind: str, number: int, second: int, receptacle: str, place: str = 'hall') -> Memory:
    begin_ns = T0 + (60 * number + second) * NS
    told = {'kind': kind, 'object': 'cup', 'receptacle': receptacle, 'place': place, 'outcome': 'succeeded'}
    return deed(begin_ns, begin_ns + NS, pose=Pose(float(number), 0.0), **told).memory('r')


@pytest.mark.parametrize(
    ('times', 'picked'), [(50, False), (50, True), (150, False), (150, True), (400, True)]
)
def test_it_is_where_it_was_put_last(tmp_path: Path, times: int, picked: bool) -> None:
    puts = [hand('place', number, 20, f'shelf {number}') for number in range(times - 1)]
    puts.append(hand('place', times - 1, 20, 'wooden bench beside the window', 'room behind the kitchen'))
    picks = [hand('pick', number, 0, f'shelf {number - 1}') for number in range(times)] if picked else []
    with open_store(str(tmp_path / 'm.db'), 'hashing') as store:
        store.add([Observation(memory) for memory in [*puts, *picks]])
        now_ns = T0 + 60 * times * NS
        answer = Agent(store, [OfflinePlanner()]).ask(
            Question('Where did you put the cup?', now_ns, Pose(0.0, 0.0))
        )
    assert answer.text.startswith('Put the cup on the wooden bench')
    assert answer.pose is not None
    assert answer.pose.x == times - 1
