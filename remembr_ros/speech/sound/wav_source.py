"""Sound from a wav file, in real time, like a microphone."""

import threading
import time
from pathlib import Path

from remembr_ros.errors import BagUnreadable
from remembr_ros.speech.sound.audio import Block, WavFile
from remembr_ros.speech.sound.source import Deliver

BLOCK_S = 0.1


class WavSource:
    """Plays a wav file once.

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
