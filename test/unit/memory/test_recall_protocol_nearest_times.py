from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.recall_protocol import nearest_in_time
from remembr_ros.timestamps import NS
from test.unit.agent.conftest import memory as make_memory
from test.unit.agent.listed_recall import ListedRecall


def test_it_is_what_comes_before_and_after() -> None:
    memories = [make_memory(i, ()) for i in (0, 1, 7, 8)]
    recall = ListedRecall(memories)
    gap = memories[1].end_ns + NS, memories[2].start_ns - NS

    def found(*edges: int | None) -> list[str]:
        return [hit.memory.id for hit in nearest_in_time(recall, Scope(*edges))]

    assert found(*gap) == ['t01', 't07']
    assert found(memories[-1].end_ns + NS, None) == ['t08']
    assert found(None, memories[0].start_ns - NS) == ['t00']
    assert found(None, None) == []
    assert nearest_in_time(ListedRecall([]), Scope(*gap)) == []


def test_the_other_conditions_hold() -> None:
    recall = ListedRecall([make_memory(0, ()), make_memory(1, (), robot='anna')])
    empty = Scope(recall.memories[1].end_ns + NS, robots=('robbie',))
    assert [hit.memory.id for hit in nearest_in_time(recall, empty)] == ['t00']
