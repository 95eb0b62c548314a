import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.deeds.deed import told_deed
from remembr_ros.timestamps import NS


@pytest.mark.parametrize(
    ('begin', 'end', 'times_s'),
    [('', '', (0, 0)), ('10', '', (10, 10)), ('', '20', (20, 20)), ('10', '1970-01-01T00:00:20Z', (10, 20))],
)
def test_either_time_may_be_left_out(begin: str, end: str, times_s: tuple[int, int]) -> None:
    told = told_deed(kind='dock', begin=begin, end=end)
    assert (told.begin_ns, told.end_ns) == tuple(one * NS for one in times_s)


@pytest.mark.parametrize(
    ('text', 'kind', 'known'),
    [('picked the cup', '', 'pick'), ('picked the cup', 'lift', 'lift'), ('sang', '', '')],
)
def test_what_kind_it_is_may_be_said_in_the_text(text: str, kind: str, known: str) -> None:
    assert told_deed(text=text, kind=kind).facts.kind == known


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidRequest, match='ends before'):
        told_deed(kind='dock', begin='20', end='10')
    with pytest.raises(InvalidRequest, match='needs a kind'):
        told_deed(object='cup')
