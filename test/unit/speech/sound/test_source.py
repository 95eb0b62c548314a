import threading

import numpy as np
import pytest

from remembr_ros.speech.sound.audio import Block
from remembr_ros.speech.sound.source import SoundQueue


def block(number, seconds=1.0):
    return Block(np.full((round(seconds * 100), 1), number, np.float32), 100, number)


def numbers(queue):
    """Take out everything and return the blocks' numbers."""
    queue.close()
    found = []
    while (one := queue.get()) is not None:
        found.append(one.heard_ns)
    return found


def test_sound_comes_out_in_order():
    queue = SoundQueue(10.0)
    for i in range(5):
        queue.put(block(i))
    assert queue.waiting_s == pytest.approx(5.0)
    assert numbers(queue) == [0, 1, 2, 3, 4]
    assert queue.waiting_s == queue.dropped_s == 0.0


def test_when_it_is_full_the_oldest_is_lost_and_counted():
    queue = SoundQueue(3.0)
    for i in range(5):
        queue.put(block(i))
    assert queue.dropped_s == pytest.approx(2.0)
    assert queue.waiting_s == pytest.approx(3.0)
    assert numbers(queue) == [2, 3, 4]


def test_a_block_that_is_longer_than_what_may_wait_is_taken_all_the_same():
    queue = SoundQueue(1.0)
    queue.put(block(0))
    queue.put(block(1, 5.0))
    assert numbers(queue) == [1]


def test_who_can_wait_loses_nothing():
    queue = SoundQueue(2.0)
    thread = threading.Thread(target=lambda: [queue.put(block(i), wait=True) for i in range(20)])
    thread.start()
    found = [queue.get(5.0).heard_ns for _ in range(20)]
    thread.join(5.0)
    assert found == list(range(20))
    assert queue.dropped_s == 0.0


def test_closing_releases_who_waits_and_keeps_what_is_there():
    queue = SoundQueue(1.0)
    queue.put(block(0))
    thread = threading.Thread(target=queue.put, args=(block(1),), kwargs={'wait': True})
    thread.start()
    queue.close()
    thread.join(5.0)
    assert not thread.is_alive()
    assert queue.closed
    assert numbers(queue) == [0]


def test_the_end_of_the_stream_comes_after_its_sound():
    queue = SoundQueue(5.0)
    queue.put(block(0))
    queue.put(None)
    assert queue.get().heard_ns == 0
    assert queue.get() is None
    assert not queue.closed


def test_it_says_when_nothing_comes():
    with pytest.raises(TimeoutError):
        SoundQueue(1.0).get(0.01)
