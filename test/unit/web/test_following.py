import math
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING, Hit, MapArea, Query, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.web.following import AGAIN_S, ANEW_S, NEWEST, Following, News, spliced
from test.unit.web.seen import memories, outlined


class Remembered:
    """A backend whose memories are a dictionary; says what it was asked."""

    def __init__(self, *seen: Memory) -> None:
        self.held = {memory.id: memory for memory in seen}
        self.asked: list[str] = []
        self.away = ''
        self.recall = self
        self.on_count: Callable[[], None] = lambda: None

    def put(self, *seen: Memory) -> None:
        self.held |= {memory.id: memory for memory in seen}

    def outline(self) -> Outline:
        self._note('outline')
        return outlined(self.held.values())

    def find(self, query: Query) -> list[Hit]:
        self._note(f'newest {query.limit}')
        newest = sorted(self.held.values(), key=lambda m: (m.end_ns, m.start_ns, m.id), reverse=True)
        return [Hit(memory, 1.0) for memory in newest[: query.limit]]

    def count(self, scope: Scope = ANYTHING) -> int:
        assert scope == ANYTHING
        self._note('count')
        count = len(self.held)
        self.on_count()
        return count

    def _note(self, what: str) -> None:
        self.asked.append(what)
        if self.away:
            raise StoreUnavailable(self.away)


class Followed:
    """Following with a clock that is set by hand; looks when it is told to."""

    def __init__(self, *seen: Memory) -> None:
        self.backend = Remembered(*seen)
        self.now = 0.0
        self.news: list[News] = []
        self.problems: list[str] = []
        self.following = Following(
            self.backend,
            self.news.append,
            on_problem=lambda: self.problems.append(self.following.contents.problem),
            clock=lambda: self.now,
            version=7,
        )

    def look(self, after_s: float = 2.0) -> list[News]:
        """Return what is told by the next look."""
        self.now += after_s
        self.backend.asked.clear()
        self.news.clear()
        self.following.look()
        assert_same(self.following.contents.outline, self.backend.held)
        return self.news


def assert_same(outline: Outline, held: dict[str, Memory]) -> None:
    rows = [
        (
            name.decode(),
            *times,
            None if math.isnan(x) else (x, y, z),
            *(outline.names[number] for number in names),
        )
        for name, times, (x, y, z), names in zip(
            outline.ids.tolist(),
            zip(outline.start_ns.tolist(), outline.end_ns.tolist(), strict=True),
            zip(outline.x.tolist(), outline.y.tolist(), outline.z.tolist(), strict=True),
            zip(outline.robot.tolist(), outline.map_id.tolist(), outline.source.tolist(), strict=True),
            strict=True,
        )
    ]
    assert rows == [
        (m.id, m.start_ns, m.end_ns, m.pose.position if m.pose else None, m.robot, m.map_id, m.source)
        for m in sorted(held.values(), key=lambda m: (m.start_ns, m.id))
    ]


def seen_at(
    number: int, *, lasts: int = 2, x: float | None = 0.0, robot: str = 'anna', camera: str = ''
) -> Memory:
    pose = None if x is None else Pose(x, 1.0, 2.0)
    return Memory(f'{number:04}{robot}', robot, 3 * number, 3 * number + lasts, '', pose, camera=camera)


def test_nothing_is_known_until_it_was_read() -> None:
    followed = Followed(seen_at(1))
    contents = followed.following.contents
    assert contents.reading
    assert (contents.version, len(contents.outline), contents.first_ns) == (7, 0, None)
    assert followed.look() == [News(8, 1, (), anew=True)]
    assert not followed.following.contents.reading
    assert followed.backend.asked == ['outline', 'count', 'newest 1000']


def test_an_empty_memory_is_read_and_then_filled() -> None:
    followed = Followed()
    assert followed.look() == [News(8, 0, (), anew=True)]
    assert not followed.following.contents.reading
    assert followed.look() == []
    followed.backend.put(seen_at(1))
    assert followed.look() == [News(9, 1, (seen_at(1),), anew=False)]


def test_where_nothing_happens_little_is_asked_and_nothing_told() -> None:
    followed = Followed(*map(seen_at, range(100)))
    followed.look()
    outline = followed.following.contents.outline
    assert followed.look() == []
    assert followed.backend.asked == ['count', f'newest {NEWEST}']
    assert followed.following.contents.outline is outline


def test_what_is_stored_is_added_without_reading_all() -> None:
    followed = Followed(*map(seen_at, range(100)))
    followed.look()
    later, late = seen_at(101, robot='bert'), seen_at(98, robot='bert')
    followed.backend.put(later, late)
    assert followed.look() == [News(9, 102, (late, later), anew=False)]
    assert 'outline' not in followed.backend.asked
    assert followed.following.contents.robots == ('anna', 'bert')


def test_a_stay_goes_on() -> None:
    followed = Followed(*map(seen_at, range(100)))
    followed.look()
    before = followed.following.contents.outline
    longer = seen_at(99, lasts=20, x=0.5)
    followed.backend.put(longer)
    assert followed.look() == [News(9, 100, (longer,), anew=False)]
    assert 'outline' not in followed.backend.asked
    after = followed.following.contents.outline
    assert before.end_ns[99] == 299  # who still draws the one before sees what was
    assert after.ids is before.ids


def test_more_than_a_look_asks_for_is_read_as_a_whole() -> None:
    followed = Followed(*map(seen_at, range(10)))
    followed.look()
    followed.backend.put(*map(seen_at, range(10, 10 + 3 * NEWEST)))
    assert followed.look(AGAIN_S) == [News(9, 10 + 3 * NEWEST, (), anew=True)]
    assert followed.backend.asked.count('outline') == 1


def test_what_was_forgotten_goes() -> None:
    followed = Followed(*map(seen_at, range(100)))
    followed.look()
    del followed.backend.held[seen_at(3).id]
    assert followed.look(AGAIN_S) == [News(9, 99, (), anew=True)]


def test_what_was_forgotten_as_something_else_came_goes() -> None:
    followed = Followed(*map(seen_at, range(100)))
    followed.look()
    del followed.backend.held[seen_at(98).id]
    followed.backend.put(seen_at(100))
    assert followed.look(AGAIN_S) == [News(9, 100, (), anew=True)]


def test_all_is_not_read_again_at_once() -> None:
    followed = Followed(*map(seen_at, range(100)))
    followed.look()
    del followed.backend.held[seen_at(3).id]
    followed.now += AGAIN_S - 0.5
    followed.following.look()
    assert followed.backend.asked.count('outline') == 1
    assert followed.look(0.5)[0].anew


def test_a_count_that_never_fits_has_all_read_ever_more_seldom() -> None:
    followed = Followed(*map(seen_at, range(100)))
    followed.backend.count = lambda: 101
    readings = 0
    for _ in range(round(ANEW_S / 2.0)):
        followed.look()
        readings += followed.backend.asked.count('outline')
    assert 1 < readings <= 11


def test_all_is_read_anew_after_a_while_and_nothing_told_if_it_is_the_same() -> None:
    followed = Followed(*map(seen_at, range(100)))
    followed.look()
    followed.backend.put(seen_at(100, robot='a robot whose name comes first'))
    followed.look()
    assert followed.look(ANEW_S) == []
    assert 'outline' in followed.backend.asked
    followed.backend.put(replace(seen_at(2), map_id='elsewhere'))
    followed.now += 2.0
    followed.following.look()
    assert followed.following.contents.maps[0].map_id == ''
    assert followed.look(ANEW_S) == [News(10, 101, (), anew=True)]
    assert [area.map_id for area in followed.following.contents.maps] == ['', 'elsewhere']


def test_what_is_stored_between_two_questions_is_no_reason_to_read_all() -> None:
    followed = Followed(*map(seen_at, range(100)))
    followed.look()
    coming = [seen_at(100)]
    followed.backend.on_count = lambda: followed.backend.put(coming.pop()) if coming else None
    assert followed.look(AGAIN_S) == [News(9, 101, (seen_at(100),), anew=False)]
    assert 'outline' not in followed.backend.asked


def test_a_memory_that_is_out_of_reach_is_tried_again() -> None:
    followed = Followed(seen_at(1))
    followed.backend.away = 'the memory node does not answer'
    followed.following.look()
    contents = followed.following.contents
    assert (contents.reading, contents.problem) == (True, 'the memory node does not answer')
    followed.backend.away = ''
    assert followed.look() == [News(8, 1, (), anew=True)]
    assert followed.following.contents.problem == ''
    followed.backend.away = 'it went away'
    followed.look()
    assert followed.following.contents.problem == 'it went away'
    assert len(followed.following.contents.outline) == 1
    followed.backend.away = ''
    followed.backend.put(seen_at(2))
    assert followed.look() == [News(9, 2, (seen_at(2),), anew=False)]
    assert followed.problems == ['the memory node does not answer', '', 'it went away', '']


def test_what_there_is_is_told() -> None:
    front, note = seen_at(5, x=3.0, camera='front'), replace(seen_at(1, x=None), source='person')
    far = replace(seen_at(2, x=9.0, lasts=100), map_id='hall', camera='rear')
    followed = Followed(front, note, far, replace(seen_at(3, x=-1.0), robot=''))
    followed.look()
    contents = followed.following.contents
    assert contents.robots == ('anna',)
    assert contents.sources == ('captioner', 'person')
    assert contents.cameras == ('front', 'rear')
    assert (contents.first_ns, contents.last_ns) == (3, 106)
    assert contents.maps == (
        MapArea('', (-1.0, 1.0, 2.0), (3.0, 1.0, 2.0), 2),
        MapArea('hall', (9.0, 1.0, 2.0), (9.0, 1.0, 2.0), 1),
    )
    followed.backend.put(seen_at(6, camera='arm'))
    followed.look()
    assert followed.following.contents.cameras == ('arm', 'front', 'rear')


@given(memories(), memories())
def test_splicing_is_storing(seen: list[Memory], more: list[Memory]) -> None:
    held = {memory.id: memory for memory in seen}
    # A memory that is replaced begins when it began.
    more = [
        replace(m, start_ns=(o := held.get(m.id, m)).start_ns, end_ns=max(m.end_ns, o.end_ns)) for m in more
    ]
    before = outlined(seen)
    outline, changed = spliced(before, more)
    assert_same(outline, held | {memory.id: memory for memory in more})
    assert_same(before, held)
    differ = [memory for memory in more if held.get(memory.id) != memory]
    assert sorted(changed, key=lambda m: m.id) == sorted(differ, key=lambda m: m.id)
    assert [m.start_ns for m in changed] == sorted(m.start_ns for m in changed)
    again, nothing = spliced(outline, more)
    assert again is outline
    assert nothing == []


@given(st.lists(st.tuples(st.sampled_from(['put', 'longer', 'forget', 'note', 'wait']), st.integers(0, 40)),
                max_size=30))  # fmt: skip
def test_whatever_happens_the_outline_is_that_of_the_memory_in_the_end(acts: list[tuple[str, int]]) -> None:
    followed = Followed(*map(seen_at, range(20)))
    held = followed.backend.held
    followed.look()
    for act, number in acts:
        one = seen_at(number)
        if act == 'put':
            followed.backend.put(one)
        elif act == 'longer' and one.id in held:
            followed.backend.put(replace(held[one.id], end_ns=held[one.id].end_ns + number))
        elif act == 'forget':
            held.pop(one.id, None)
        elif act == 'note':
            followed.backend.put(seen_at(number, robot='bert'))
        else:
            followed.following.look()
    followed.look(2 * ANEW_S)


def test_a_thread_reads_when_it_is_told_and_ends() -> None:
    backend = Remembered(seen_at(1))
    came = threading.Semaphore(0)
    found: list[News] = []

    def on_news(news: News) -> None:
        found.append(news)
        came.release()

    following = Following(backend, on_news)
    following.start()
    try:
        assert came.acquire(timeout=30.0)
        backend.put(seen_at(2))
        following.tell()
        assert came.acquire(timeout=30.0)
        assert [news.total for news in found] == [1, 2]
        assert found[0].version > 1_600_000_000_000
    finally:
        following.close()
    assert not following._thread.is_alive()


def test_a_thread_outlives_what_it_did_not_expect(caplog: pytest.LogCaptureFixture) -> None:
    backend = Remembered(seen_at(1))
    failed, came = threading.Event(), threading.Event()

    def unexpected() -> None:
        if not failed.is_set():
            failed.set()
            raise ZeroDivisionError('a mistake')

    backend.on_count = unexpected
    following = Following(backend, lambda news: came.set())
    following.start()
    try:
        assert failed.wait(30.0)
        following.tell()
        assert came.wait(30.0)
    finally:
        following.close()
    assert 'a mistake' in caplog.text
    assert following.contents.problem == ''


def test_who_never_began_can_be_closed() -> None:
    Following(Remembered(), lambda news: None).close()


def test_columns_stay_of_their_kinds() -> None:
    outline, _ = spliced(outlined([seen_at(1)]), [seen_at(2), seen_at(0)])
    kinds = {name: getattr(outline, name).dtype for name in Outline.__slots__ if name != 'names'}
    assert kinds == {
        'ids': np.dtype('S64'),
        **dict.fromkeys(('start_ns', 'end_ns'), np.dtype(np.int64)),
        **dict.fromkeys('xyz', np.dtype(np.float64)),
        **dict.fromkeys(('robot', 'map_id', 'source'), np.dtype(np.uint16)),
    }
