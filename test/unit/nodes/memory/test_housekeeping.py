import threading

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.retention import RetentionPlan, RetentionPolicy
from remembr_ros.nodes.memory import housekeeping
from remembr_ros.nodes.memory.housekeeping import Housekeeping

POLICY = RetentionPolicy(max_age_s=3600.0)
SIM_NOW_NS = 12_000_000_000


class Log:
    """Keeps what is logged."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def info(self, text: str) -> None:
        self.lines.append(text)

    warning = error = info


class Store:
    """Deletes what it is told, and keeps what it was asked."""

    def __init__(self, gone: RetentionPlan | Exception) -> None:
        self.gone = gone
        self.asked: list[tuple[RetentionPolicy, int]] = []
        self.threads: list[str] = []
        self.retained = threading.Event()
        self.collected = threading.Event()

    def retain(self, policy, now_ns):
        self.asked.append((policy, now_ns))
        self.threads.append(threading.current_thread().name)
        self.retained.set()
        if isinstance(self.gone, Exception):
            raise self.gone
        return self.gone

    def collect_keyframes(self):
        self.collected.set()
        return 0


class Clock:
    """Is believed, unless it is told otherwise."""

    def __init__(self) -> None:
        self.reason = ''

    def doubt(self) -> str:
        return self.reason


CLOCK = Clock()


@pytest.fixture
def keep(monkeypatch):
    made = []

    def start(store, policy=POLICY, first_s=600.0, clock=CLOCK, **options):
        monkeypatch.setattr(housekeeping, 'RETAIN_FIRST_S', first_s)
        monkeypatch.setattr(housekeeping, 'COLLECT_FIRST_S', first_s)
        log, deleted = Log(), []
        made.append(
            Housekeeping(
                store,
                policy,
                lambda: SIM_NOW_NS,
                lambda: deleted.append(1),
                log,
                clock=clock,
                **options,
            )
        )
        return made[-1], log, deleted

    yield start
    for each in made:
        each.close(5.0)


def test_the_nodes_time_counts_and_one_line_says_what_went(keep):
    store = Store(RetentionPlan(['a', 'b', 'c'], too_old=2))
    keeping, log, deleted = keep(store)
    keeping.retain()
    assert store.asked == [(POLICY, SIM_NOW_NS)]
    assert log.lines == ['retention: 3 memories deleted, 2 for their age, 1 for want of room']
    assert (len(deleted), keeping.problem) == (1, '')
    assert keeping.last.endswith(': 3 deleted')


def test_nothing_is_logged_when_nothing_goes(keep):
    keeping, log, deleted = keep(Store(RetentionPlan([])))
    keeping.retain()
    keeping.collect()
    assert (log.lines, deleted) == ([], [])


@pytest.mark.parametrize(
    ('gone', 'problem'),
    [
        (RetentionPlan([], problem='did the clock jump?'), 'did the clock jump?'),
        (StoreUnavailable('away'), 'retention: away'),
    ],
)
def test_a_problem_is_told_once_and_ends(keep, gone, problem):
    store = Store(gone)
    keeping, log, _ = keep(store)
    keeping.retain()
    keeping.retain()
    assert (keeping.problem, log.lines) == (problem, [problem])
    store.gone = RetentionPlan([])
    keeping.retain()
    assert keeping.problem == ''


def test_both_are_done_on_threads_of_their_own(keep):
    store = Store(RetentionPlan([]))
    keep(store, first_s=0.0)
    assert store.retained.wait(10)
    assert store.collected.wait(10)
    assert store.threads == ['retention']


def test_without_a_policy_only_keyframes_are_collected(keep):
    store = Store(RetentionPlan([]))
    keeping, _, _ = keep(store, policy=None, first_s=0.0)
    assert store.collected.wait(10)
    keeping.retain()
    assert (store.asked, keeping.last) == ([], 'off')


def test_while_the_clock_is_in_doubt_nothing_goes_for_its_age(keep):
    store, clock = Store(RetentionPlan([])), Clock()
    clock.reason = 'it jumped'
    both = RetentionPolicy(max_age_s=3600.0, max_memories=5)
    keeping, _, _ = keep(store, policy=both, clock=clock)
    keeping.retain()
    assert store.asked[-1][0] == RetentionPolicy(max_memories=5)
    assert (keeping.last.endswith('0 deleted; it jumped'), keeping.problem) == (True, '')
    clock.reason = ''
    keeping.retain()
    assert store.asked[-1][0] == both


def test_a_policy_can_be_given_taken_and_given_again(keep):
    store = Store(RetentionPlan([]))
    keeping, _, _ = keep(store, policy=None)
    keeping.adjust(POLICY)
    keeping.retain()
    assert store.asked == [(POLICY, SIM_NOW_NS)]
    keeping.adjust(None)
    keeping.retain()
    assert (len(store.asked), keeping.last) == (1, 'off')


def test_where_nothing_may_be_deleted_nothing_is(keep):
    store = Store(RetentionPlan([]))
    keeping, _, _ = keep(store, first_s=0.0, deletes=False)
    keeping.close(10.0)
    assert (store.asked, store.collected.is_set(), keeping.last) == ([], False, 'off')
