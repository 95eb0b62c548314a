import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.events import EventForm, NoteForm
from remembr_ros.forms.form import read
from remembr_ros.timestamps import NS


@pytest.mark.parametrize(
    ('begin', 'end', 'times_s'),
    [
        (None, None, (0, 0)),
        ('10', None, (10, 10)),
        (None, '20', (20, 20)),
        ('10', '1970-01-01T00:00:20Z', (10, 20)),
    ],
)
def test_either_time_may_be_left_out(begin: str | None, end: str | None, times_s: tuple[int, int]) -> None:
    told = read(EventForm, {'kind': 'dock', 'begin': begin, 'end': end}).deed()
    assert (told.begin_ns, told.end_ns) == tuple(one * NS for one in times_s)


@pytest.mark.parametrize(
    ('text', 'kind', 'known'),
    [('picked the cup', '', 'pick'), ('picked the cup', 'lift', 'lift'), ('sang', '', '')],
)
def test_what_kind_it_is_may_be_said_in_the_text(text: str, kind: str, known: str) -> None:
    assert EventForm(text=text, kind=kind).deed().facts.kind == known


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidRequest, match='ends before'):
        read(EventForm, {'kind': 'dock', 'begin': 20, 'end': 10}).deed()
    with pytest.raises(InvalidRequest, match='needs a kind'):
        EventForm(object='cup').deed()


def test_a_heading_alone_is_of_no_place() -> None:
    with pytest.raises(InvalidRequest, match='give a position, too'):
        _ = NoteForm(text='x', yaw=1.0).pose


@pytest.mark.parametrize('travelled', [True, -1, 'far', [1], float('nan'), 10**400])
def test_a_way_is_a_number_of_metres(travelled: object) -> None:
    with pytest.raises(InvalidRequest, match=r'^travelled is '):
        read(EventForm, {'kind': 'go', 'travelled': travelled})
