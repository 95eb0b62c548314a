"""What every backend of the page does.

A test class of an implementation subclasses BackendContract and has a fixture `backend` over DRIVE, of which
the memories of PICTURED have a picture each; it may be shared, for each test leaves it as it was. One that
cannot write, or has no robot, says so by its abilities.
"""

import threading

import numpy as np
import pytest

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.agent.planner import Progress
from remembr_ros.errors import Cancelled, InvalidRequest
from remembr_ros.forms.events import NoteForm
from remembr_ros.forms.fields import Nanoseconds
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.deeds.deed import deed, facts_of
from remembr_ros.memory.model.recall import ANYTHING, Query, Scope
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.places.place import place
from remembr_ros.memory.places.places import known_places
from remembr_ros.web.backend import Ability, Backend, Listeners
from test.unit.memory.recall_contract import DRIVE
from test.unit.web.seen import outlined

PICTURED = DRIVE[:2]
OBSERVATIONS = [
    Observation(memory, (encode_jpeg(np.full((30, 40, 3), 40 * number, np.uint8)),))
    if memory in PICTURED
    else Observation(memory)
    for number, memory in enumerate(DRIVE)
]
PATIENCE_S = 20.0


class BackendContract:
    """Holds remembr_ros.web.backend.Backend."""

    def test_says_what_it_is(self, backend: Backend) -> None:
        assert backend.name
        assert Ability.ASK in backend.abilities
        assert backend.planner == 'offline'
        assert backend.now_ns() > DRIVE[0].start_ns
        assert backend.situation() == backend.situation()
        assert backend.map() is backend.map()
        parts = backend.state()
        assert parts
        assert {part.level for part in parts} <= {'ok', 'warn', 'error', 'stale'}

    def test_finds_memories(self, backend: Backend) -> None:
        assert backend.recall.count(Scope(robots=('a',))) == sum(one.robot == 'a' for one in DRIVE)
        newest = backend.recall.find(Query(limit=2))
        assert [hit.memory.id for hit in newest] == [DRIVE[-1].id, DRIVE[-2].id]
        with pytest.raises(InvalidRequest):
            backend.recall.find(Query(scope=Scope(source='nobody')))

    def test_tells_where_all_memories_are(self, backend: Backend) -> None:
        told, expected = backend.outline(), outlined(DRIVE)
        for name in ('ids', 'start_ns', 'end_ns', 'x', 'y', 'z'):
            np.testing.assert_array_equal(getattr(told, name), getattr(expected, name))
        for name in ('robot', 'map_id', 'source'):
            texts = [[one.names[number] for number in getattr(one, name)] for one in (told, expected)]
            assert texts[0] == texts[1]

    def test_returns_memories_by_their_ids_in_order(self, backend: Backend) -> None:
        found = backend.get([DRIVE[3].id, 'unknown', DRIVE[1].id])
        assert [memory.id for memory in found] == [DRIVE[3].id, DRIVE[1].id]
        assert found[0].caption == DRIVE[3].caption
        assert backend.get([]) == []

    def test_returns_pictures(self, backend: Backend) -> None:
        for memory in backend.get([one.id for one in PICTURED]):
            (name,) = memory.keyframes
            assert backend.picture(name).startswith(b'\xff\xd8\xff')

    @pytest.mark.parametrize('name', ['', '0' * 32 + '.jpg', '../../etc/passwd', 'a\nb', 'x' * 5000])
    def test_a_picture_that_is_not_there_is_refused(self, backend: Backend, name: str) -> None:
        with pytest.raises(InvalidRequest):
            backend.picture(name)

    def test_answers(self, backend: Backend) -> None:
        told: list[Progress] = []
        answer = backend.ask(
            'Where did you see a green chair?',
            asker='somebody',
            scope=ANYTHING,
            on_progress=told.append,
            cancel=threading.Event(),
        )
        assert answer.kind is Kind.POSITION
        assert 'chair' in answer.evidence[0].memory.caption
        assert told
        assert told[0].stage in ('recalling', 'thinking', 'answering')

    def test_answers_from_what_is_chosen_alone(self, backend: Backend) -> None:
        def ask(scope: Scope) -> Answer:
            question = 'Where did you see a green chair?'
            return backend.ask(
                question, asker='', scope=scope, on_progress=lambda _: None, cancel=threading.Event()
            )

        seen = ask(Scope(robots=('a', 'b'))).evidence[0].memory
        later = ask(Scope(after_ns=seen.end_ns + 1)).evidence
        assert all(hit.memory.end_ns > seen.end_ns for hit in later)
        other = next(one.robot for one in DRIVE if one.robot != seen.robot)
        missed = ask(Scope(before_ns=seen.end_ns, robots=(other,), map_id='cellar'))
        assert missed.kind is Kind.NOT_SEEN
        assert f'(asked of {other} on map cellar, until 2023-11-14 ' in missed.text

    def test_refuses_a_question_without_words(self, backend: Backend) -> None:
        with pytest.raises(InvalidRequest):
            backend.ask('  ', asker='', scope=ANYTHING, on_progress=lambda _: None, cancel=threading.Event())

    def test_a_cancelled_question_ends(self, backend: Backend) -> None:
        cancel = threading.Event()
        cancel.set()
        with pytest.raises(Cancelled):
            backend.ask(
                'Where is a chair?', asker='', scope=ANYTHING, on_progress=lambda _: None, cancel=cancel
            )

    def test_stores_a_note_and_forgets_it_and_says_so(self, backend: Backend) -> None:
        if Ability.NOTE not in backend.abilities:
            pytest.skip('it cannot write')
        told = threading.Event()

        def on_answer(_question: str, _asker: str, _answer: Answer) -> None:
            pytest.fail('nobody asked')

        backend.listen(Listeners(told.set, on_answer))
        said = NoteForm(text='The <b>fuse box</b>.', position=(1.0, 2.0, 0.0), yaw=0.5, map='cellar')
        memory_id = backend.note(said)
        try:
            assert told.wait(PATIENCE_S)
            (memory,) = backend.get([memory_id])
            assert (memory.caption, memory.source, memory.map_id) == (
                'The <b>fuse box</b>.',
                'person',
                'cellar',
            )
            assert memory.pose is not None
            assert memory.pose.position == (1.0, 2.0, 0.0)
            assert memory.pose.yaw == pytest.approx(0.5)
            told.clear()
            assert backend.doomed(ForgetForm(id=(memory_id,))) == [memory_id]
            assert backend.get([memory_id]) == [memory]
        finally:
            assert backend.forget(ForgetForm(id=(memory_id,))) == 1
        assert told.wait(PATIENCE_S)
        assert backend.get([memory_id]) == []
        assert backend.doomed(ForgetForm(id=(memory_id,))) == []
        assert backend.forget(ForgetForm(id=(memory_id,))) == 0

    def test_a_note_is_of_when_and_of_whom_it_says_and_forgotten_by_what_it_is(
        self, backend: Backend
    ) -> None:
        if Ability.NOTE not in backend.abilities:
            pytest.skip('it cannot write')
        texts = {DRIVE[0].start_ns + 7: 'Pumpkins were here.', DRIVE[0].start_ns + 9: 'Melons were here.'}
        ids = [
            backend.note(NoteForm(text=text, robot='b', time=Nanoseconds(time_ns), map='cellar'))
            for time_ns, text in texts.items()
        ]
        try:
            memories = backend.get(ids)
            assert {one.start_ns: one.caption for one in memories} == texts
            assert {(one.robot, one.map_id, one.pose) for one in memories} == {('b', 'cellar', None)}
            assert backend.doomed(ForgetForm(text='PUMPKIN', source='person', map='cellar')) == ids[:1]
            assert backend.doomed(ForgetForm(text='pumpkin', robot='a')) == []
            assert backend.forget(ForgetForm(text='pumpkin', robot='b')) == 1
            assert backend.get(ids) == memories[1:]
        finally:
            assert backend.forget(ForgetForm(id=tuple(ids))) >= 1
        for nothing in (backend.doomed, backend.forget):
            with pytest.raises(InvalidRequest, match='nothing says what to forget'):
                nothing(ForgetForm())

    def test_a_note_without_words_is_refused(self, backend: Backend) -> None:
        if Ability.NOTE not in backend.abilities:
            pytest.skip('it cannot write')
        with pytest.raises(InvalidRequest):
            backend.note(NoteForm(text=' \n'))

    def test_stores_a_deed_and_says_so(self, backend: Backend) -> None:
        if Ability.NOTE not in backend.abilities:
            pytest.skip('it cannot write')
        told = threading.Event()
        backend.listen(Listeners(told.set, lambda *_: None))
        about = {'kind': 'pick', 'object': 'cup', 'receptacle': 'table', 'outcome': 'failed', 'reason': 'wet'}
        end_ns = DRIVE[0].end_ns
        picked = deed(end_ns - 5, end_ns, pose=Pose(1.0, 2.0, 0.0, 0.5), map_id='cellar', **about)
        before_ns = backend.now_ns()
        ids = [backend.tell(one) for one in (picked, deed(0, text='watered the plants', place='hall'))]
        try:
            assert told.wait(PATIENCE_S)
            first, second = backend.get(ids)
            assert (first.caption, first.source) == ('Failed to pick the cup from the table: wet', 'agent')
            assert (first.start_ns, first.end_ns, first.map_id) == (end_ns - 5, end_ns, 'cellar')
            assert first.pose is not None
            assert first.pose.position == (1.0, 2.0, 0.0)
            assert first.pose.yaw == pytest.approx(0.5)
            facts = facts_of(first)
            assert facts is not None
            assert {name: getattr(facts, name) for name in about} == about
            assert second.caption == 'Watered the plants (hall)'
            assert second.start_ns == second.end_ns >= before_ns
            assert backend.tell(picked) == first.id
        finally:
            assert backend.forget(ForgetForm(id=tuple(ids))) == 2

    def test_names_a_place_and_takes_its_name_away(self, backend: Backend) -> None:
        if Ability.NOTE not in backend.abilities:
            pytest.skip('it cannot write')
        told = threading.Event()
        backend.listen(Listeners(told.set, lambda *_: None))
        named = place('kitchen', outline=[(-1, -1), (5, -1), (5, 9), (-1, 9)], now_ns=backend.now_ns())
        identity = backend.name_place(named)
        try:
            assert told.wait(PATIENCE_S)
            known = known_places(backend.recall).named('The Kitchen')
            assert (known.memory.id, known.outline) == (identity, named.outline)
            inside = {m.id for m in DRIVE if m.map_id == '' and m.pose and m.pose.x <= 5 and m.pose.y <= 9}
            found = backend.recall.find(Query(scope=Scope(place='kitchen'), limit=99))
            assert {hit.memory.id for hit in found} == inside
            with pytest.raises(InvalidRequest, match='already'):
                backend.name_place(place('Kitchen', center=(50, 50), radius=1.0, now_ns=backend.now_ns()))
        finally:
            assert backend.forget(ForgetForm(id=(identity,))) == 1
        with pytest.raises(InvalidRequest, match="no place called 'kitchen'"):
            backend.recall.find(Query(scope=Scope(place='kitchen')))

    def test_nothing_waits_for_a_yes(self, backend: Backend) -> None:
        with pytest.raises(InvalidRequest):
            backend.confirm(True, '1')
