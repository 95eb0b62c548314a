import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from remembr_ros.stop import Stop

LATE = """
import os, signal, sys
from remembr_ros.stop import stop_on_signals

class Last:
    kill, me, numbers = os.kill, os.getpid(), (signal.SIGINT, signal.SIGTERM)

    def __del__(self):
        for number in self.numbers:
            Last.kill(self.me, number)

last = Last()
stop = stop_on_signals()
os.kill(os.getpid(), getattr(signal, sys.argv[1]))
assert stop.wait(20.0)
sys.exit(int(sys.argv[2]))
"""
"""A process that is sent signals when its interpreter takes down the modules, long after its last line."""

SIGTERM_TOLD = """
import os, select, signal, subprocess, sys
from remembr_ros.stop import sigterm_file

woken, waking = os.pipe()
os.set_blocking(waking, False)
signal.set_wakeup_fd(waking)
file = sigterm_file()
os.kill(os.getpid(), signal.SIGTERM)
assert select.select([file], [], [], 20.0)[0], 'nothing was told'
assert not select.select([woken], [], [], 0.0)[0], 'somebody else was told'
child = subprocess.Popen(['sleep', '60'])
child.terminate()
assert child.wait(20.0) == -signal.SIGTERM, 'a child does not die of it'
"""


def test_a_signal_may_interrupt_the_handler_of_another_one():
    stop = Stop()
    handler = signal.signal(signal.SIGUSR1, lambda *_: stop.set())
    try:
        ended = threading.Event()
        ender = threading.Thread(target=lambda: (stop.wait(), ended.set()))
        ender.start()
        for _ in range(2_000):  # each runs wherever the last one was
            os.kill(os.getpid(), signal.SIGUSR1)
            stop.set()
        assert ended.wait(10.0)
        assert stop.is_set()
        assert stop.wait(0.0)
        assert not Stop().wait(0.01)
    finally:
        signal.signal(signal.SIGUSR1, handler)


@pytest.mark.parametrize('number', ['SIGINT', 'SIGTERM'])
def test_a_signal_while_the_interpreter_ends_changes_nothing(number: str):
    ended = subprocess.run([sys.executable, '-c', LATE, number, '3'], timeout=60.0, check=False)
    assert ended.returncode == 3


def test_a_second_ctrl_c_does_not_kill_a_verb_that_ends():
    verb = """
import os, signal, sys
from remembr_ros.cli import main
from remembr_ros.cli.verbs import info

class Last:
    kill, me, number = os.kill, os.getpid(), signal.SIGINT

    def __del__(self):
        Last.kill(self.me, self.number)

last = Last()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has it ignored by what it starts with &
info.run = lambda args: os.kill(os.getpid(), signal.SIGINT) or input()
sys.exit(main.main(['info', '--memory', 'm.db']))
"""
    ended = subprocess.run(
        [sys.executable, '-c', verb], capture_output=True, stdin=subprocess.DEVNULL, timeout=60.0, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, b'remembr info: interrupted\n')


def test_who_waits_is_woken_by_a_signal_that_another_thread_gets():
    stop, began = Stop(), time.monotonic()
    wakeup, handler = signal.set_wakeup_fd(-1), signal.signal(signal.SIGUSR1, lambda *_: stop.set())
    try:
        stop.wake_on_signals()
        other = threading.Timer(
            0.1, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        )  # the main thread is in wait() by then, or comes to it with the signal handled
        other.start()
        assert stop.wait(30.0)
        assert time.monotonic() - began < 20.0
        other.join()
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGUSR1, handler)


def test_what_else_is_handled_does_not_end_the_wait():
    stop, heard = Stop(), []
    wakeup, handler = signal.set_wakeup_fd(-1), signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
    try:
        stop.wake_on_signals()
        os.kill(os.getpid(), signal.SIGUSR1)
        assert not stop.wait(0.01)
        assert heard == [1]
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGUSR1, handler)


def test_sigterm_can_be_read_from_a_file_and_wakes_nobody_else():
    ended = subprocess.run(
        [sys.executable, '-c', SIGTERM_TOLD], capture_output=True, text=True, timeout=90.0, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, '')
