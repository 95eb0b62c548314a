import threading

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from remembr_ros.nodes.caption_worker import CaptionWorker


class Log:
    def warning(self, text: str, **_) -> None:
        pass

    def error(self, text: str, **_) -> None:
        pass


class Work:
    """Does what it is given, when the gate is open."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.begun = threading.Event()
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, segment: str) -> None:
        self.begun.set()
        assert self.gate.wait(10)
        if segment == 'bad':
            raise ValueError('bad segment')
        self.done.append(segment)


@pytest.fixture
def work():
    return Work()


@pytest.fixture
def worker(work):
    made = CaptionWorker(work, Log(), 2)
    yield made
    work.gate.set()
    made.close()


def test_segments_are_captioned_in_order_and_failures_passed_over(work, worker):
    for segment in ('a', 'bad'):
        worker.put(segment)
    assert worker.drain(10)
    assert worker.problem == 'ValueError: bad segment'
    worker.put('b')
    assert worker.drain(10)
    assert work.done == ['a', 'b']
    assert (worker.done, worker.failed, worker.waiting, worker.problem) == (2, 1, 0, '')


def test_a_full_queue_drops_the_oldest_segment(work, worker):
    work.gate.clear()
    worker.put('first')
    assert work.begun.wait(10)
    for segment in 'abc':
        worker.put(segment)
    assert (worker.dropped, worker.waiting) == (1, 3)
    assert not worker.drain(0.01)
    work.gate.set()
    assert worker.drain(10)
    assert work.done == ['first', 'b', 'c']


def test_closing_gives_up_what_waits(work, worker):
    work.gate.clear()
    worker.put('first')
    assert work.begun.wait(10)
    worker.put('a')
    assert worker.close() == 2
