"""Where sound comes from, and the queue in which it waits to be understood."""

import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from remembr_ros.errors import BagUnreadable
from remembr_ros.speech.sound.audio import Block, WavFile

BLOCK_S = 0.1  # [s] read of a wav file at once

Deliver = Callable[[Block | None], None]
"""Takes the next block of a stream, from any thread; None: the stream has ended. It may wait where the source
is not live."""


@runtime_checkable
class SoundSource(Protocol):
    """A stream of sound that can be started and stopped, more than once.

    What goes wrong once it has started it says in :attr:`problem`, and goes on trying.
    """

    @property
    def name(self) -> str:
        """What sound this is, for people."""

    @property
    def live(self) -> bool:
        """True: the sound happens now, and what is not taken in time is lost."""

    @property
    def problem(self) -> str:
        """What is wrong now and what to do; empty: nothing."""

    def check(self) -> None:
        """Raise a RemembrError if it can never work as it is set up."""

    def start(self, deliver: Deliver) -> None:
        """Begin to deliver sound; returns at once."""

    def stop(self) -> None:
        """End that; nothing is delivered after the return."""


class WavSource:
    """Plays a wav file once, in real time, like a microphone.

    :param path: of PCM, any rate and number of channels
    :param real_time: false: as fast as it is taken
    """

    def __init__(self, path: str | Path, *, real_time: bool = True) -> None:
        self._path = path
        self.name = str(path)
        self.live = real_time
        self.problem = ''
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def check(self) -> None:
        """Open the file once.

        :raises BagUnreadable: it is missing, damaged or not PCM
        """
        WavFile(self._path).__exit__()

    def start(self, deliver: Deliver) -> None:
        self.problem = ''
        self._stopped.clear()
        self._thread = threading.Thread(target=self._play, args=(deliver,), name='wav', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _play(self, deliver: Deliver) -> None:
        try:
            with WavFile(self._path) as file:
                begin_ns, played = time.monotonic_ns(), 0
                while not self._stopped.is_set() and (frames := file.read(round(BLOCK_S * file.rate))).size:
                    played += len(frames)
                    due_ns = begin_ns + played * 1_000_000_000 // file.rate
                    if self.live and self._stopped.wait(max(due_ns - time.monotonic_ns(), 0) / 1e9):
                        return
                    deliver(Block(frames, file.rate, time.monotonic_ns()))
        except BagUnreadable as error:
            self.problem = str(error)
        except OSError as error:  # the file went away while it was played
            self.problem = f'{self._path} cannot be read on: {error}'
        if not self._stopped.is_set():
            deliver(None)


class SoundQueue:
    """Keeps blocks of sound in order, of a bounded length in all. May be used from several threads.

    Where a live source is faster than what takes the sound out, the oldest is lost: the present counts more.

    :param max_s: sound that may wait [s]
    """

    def __init__(self, max_s: float) -> None:
        self._max_s = max_s
        self._blocks: deque[Block | None] = deque()
        self._changed = threading.Condition()
        self._waiting_s = 0.0
        self.closed = False  # nothing more is taken in
        self.dropped_s = 0.0  # sound that was lost so far

    @property
    def waiting_s(self) -> float:
        """Sound that waits [s]."""
        with self._changed:
            return max(self._waiting_s, 0.0)

    def put(self, block: Block | None, *, wait: bool = False) -> None:
        """Add sound; None: it ends here.

        :param wait: when it is full, wait for room rather than lose the oldest
        """
        seconds = block.seconds if block is not None else 0.0
        with self._changed:
            if wait:
                self._changed.wait_for(lambda: self.closed or self._fits(seconds))
            while self._blocks and not self.closed and not self._fits(seconds):
                lost = self._taken()
                self.dropped_s += lost.seconds if lost is not None else 0.0
            if not self.closed:
                self._blocks.append(block)
                self._waiting_s += seconds
                self._changed.notify_all()

    def get(self, timeout_s: float | None = None) -> Block | None:
        """Wait for sound and take it out; None: it ended, or the queue is closed and empty.

        :raises TimeoutError: nothing came for so long
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._blocks or self.closed, timeout_s):
                raise TimeoutError(f'no sound for {timeout_s} s')
            if not self._blocks:
                return None
            block = self._taken()
            self._changed.notify_all()
            return block

    def close(self) -> None:
        """Take nothing more in; what waits can still be taken out."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def _taken(self) -> Block | None:
        block = self._blocks.popleft()
        self._waiting_s -= block.seconds if block is not None else 0.0
        return block

    def _fits(self, seconds: float) -> bool:
        return not self._blocks or self._waiting_s + seconds <= self._max_s
